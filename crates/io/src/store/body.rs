//! Reading from a server that only gives whole files: one body after the other, the read part of it skipped.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::error;
use super::fetch::{Patience, ended_early};
use super::object::Object;
use super::runtime::Task;

/// So many pieces of a body, of some kilobytes each, are read ahead.
const AHEAD: usize = 64;

/// The bytes of a file, in order.
pub(super) struct Body {
    object: Arc<Object>,
    state: Transfer,
    piece: Bytes,
}

enum Transfer {
    Fresh,
    Running(Receiver<Bytes>, Task<io::Result<()>>),
    Over,
}

impl Body {
    pub(super) fn new(object: &Arc<Object>) -> Self {
        Self { object: Arc::clone(object), state: Transfer::Fresh, piece: Bytes::new() }
    }

    /// The next piece; an empty one at the end.
    fn next(&mut self) -> io::Result<Bytes> {
        if let Transfer::Fresh = self.state {
            let (sender, receiver) = channel(AHEAD);
            self.state = Transfer::Running(receiver, Task::spawn(pump(Arc::clone(&self.object), sender))?);
        }
        let Transfer::Running(receiver, _) = &mut self.state else { return Ok(Bytes::new()) };
        if let Some(piece) = receiver.blocking_recv() {
            return Ok(piece);
        }
        match std::mem::replace(&mut self.state, Transfer::Over) {
            Transfer::Running(_, task) => task.wait()?.map(|()| Bytes::new()),
            _ => Ok(Bytes::new()),
        }
    }
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            self.piece = self.next()?;
        }
        let n = self.piece.len().min(into.len());
        into[..n].copy_from_slice(&self.piece.split_to(n));
        Ok(n)
    }
}

/// Sends the whole file, beginning again where a body broke off.
async fn pump(object: Arc<Object>, sender: Sender<Bytes>) -> io::Result<()> {
    let mut sent = 0;
    let mut patience = Patience::default();
    loop {
        let got = object.store.patient.get_opts(&object.key, object.request()).await;
        let got = got.map_err(|error| error::io(&error))?;
        if got.meta.size != object.bytes {
            return Err(io::Error::other("it was changed while it was being read"));
        }
        let (mut at, mut body) = (0, got.into_stream());
        let broken = loop {
            let bytes: Bytes = match body.next().await {
                Some(Ok(bytes)) => bytes,
                Some(Err(error)) => break error::io(&error),
                None => break ended_early(),
            };
            let known = (sent - at).min(bytes.len() as u64);
            at += bytes.len() as u64;
            let new = bytes.slice(known as usize..);
            if new.is_empty() {
                continue;
            }
            sent += new.len() as u64;
            patience.reward();
            if sender.send(new).await.is_err() {
                return Ok(());
            }
        };
        if sent == object.bytes {
            return Ok(());
        }
        patience.after(broken).await?;
    }
}

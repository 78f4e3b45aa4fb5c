//! A part of an object, whatever happens to the connection.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::{GetOptions, GetRange};

use super::error;
use super::object::Object;

/// So often in a row may a body break off without a single byte.
const MAX_FAILURES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(50);

/// Counts failures in a row, and waits longer after each.
#[derive(Debug, Default)]
pub(super) struct Patience {
    failures: u32,
}

impl Patience {
    /// Something came: the count begins again.
    pub(super) fn reward(&mut self) {
        self.failures = 0;
    }

    /// Waits, or gives up.
    pub(super) async fn after(&mut self, error: io::Error) -> io::Result<()> {
        self.failures += 1;
        if self.failures > MAX_FAILURES {
            return Err(error);
        }
        tokio::time::sleep(PAUSE * 2_u32.pow(self.failures)).await;
        Ok(())
    }
}

/// Exactly the bytes of a range, which lies inside of the object.
pub(super) async fn fetch(object: Arc<Object>, range: Range<u64>) -> io::Result<Bytes> {
    let n = (range.end - range.start) as usize;
    let mut bytes = BytesMut::with_capacity(n);
    let mut patience = Patience::default();
    loop {
        let before = bytes.len();
        let missing = range.start + before as u64..range.end;
        let options = GetOptions { range: Some(GetRange::Bounded(missing)), ..object.request() };
        // The client repeats what fails before the body; what fails after that is repeated here.
        let got =
            object.store.patient.get_opts(&object.key, options).await.map_err(|error| error::io(&error))?;
        let broken = append(got.into_stream(), &mut bytes, n).await;
        if bytes.len() == n {
            return Ok(bytes.freeze());
        }
        if bytes.len() > before {
            patience.reward();
        }
        patience.after(broken).await?;
    }
}

/// Appends a body to what is there, up to `n` bytes in all; says why there are fewer, if there are.
async fn append(
    mut body: impl futures_util::Stream<Item = object_store::Result<Bytes>> + Unpin,
    into: &mut BytesMut,
    n: usize,
) -> io::Error {
    while let Some(next) = body.next().await {
        match next {
            Ok(bytes) => into.extend_from_slice(&bytes[..bytes.len().min(n - into.len())]),
            Err(error) => return error::io(&error),
        }
    }
    ended_early()
}

pub(super) fn ended_early() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server sent less than it said")
}

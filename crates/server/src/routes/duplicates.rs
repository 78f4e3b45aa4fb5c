//! The similar documents within a collection, streamed while they are found.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use benzer_index::{Error, Index};
use hyper::body::Frame;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::Failures;
use crate::access::keys::Scope;
use crate::error::{ApiError, ErrorBody, Result};
use crate::request::{Caller, PathParts};
use crate::wire::duplicates::{DuplicatesLine, DuplicatesQuery, Form, SimilarPair};

/// Bytes that are sent together.
const CHUNK: usize = 16 << 10;
/// Chunks that wait for a slow reader.
const WAITING: usize = 4;

/// Find the duplicates of a collection
///
/// Pairs, clusters or triples, one on each line: a `DuplicatesLine`. The last line is an error if something went wrong on the way.
#[utoipa::path(get, path = "/collections/{name}/duplicates", tag = "similarity", params(("name" = String, Path), DuplicatesQuery),
    responses(
        (status = 200, description = "Lines of JSON, each a `DuplicatesLine`", body = String, content_type = "application/x-ndjson"),
        Failures
))]
pub async fn duplicates(
    caller: Caller,
    PathParts(name): PathParts<String>,
    query: Result<Query<DuplicatesQuery>, QueryRejection>,
) -> Result<Response> {
    let Caller { access, state } = caller;
    access.check(Scope::Read, Some(&name))?;
    let Query(query) = query.map_err(|error| ApiError::bad(error.body_text()))?;
    if let Some(threshold) = query.threshold
        && !(threshold > 0.0 && threshold <= 1.0)
    {
        return Err(ApiError::bad(format!("`threshold` must be above 0 and at most 1, got {threshold}")));
    }
    if query.limit == Some(0) {
        return Err(ApiError::bad("`limit` must be at least 1, got 0"));
    }
    let shared = Arc::clone(&state);
    let index = state.readers.run(move || shared.collections.get(&name)).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let lines = Lines {
        sender,
        handle: Handle::current(),
        timeout: state.limits.time,
        buffer: Vec::new(),
        left: query.limit,
    };
    state.scanners.start(move || send(&index, &query, lines)).await?;
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"))];
    Ok((kind, Body::new(Chunks(receiver))).into_response())
}

struct Chunks(Receiver<Bytes>);

impl hyper::body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// Lines on their way to a reader.
struct Lines {
    sender: Sender<Bytes>,
    handle: Handle,
    /// A reader that takes nothing for so long is given up.
    timeout: Duration,
    buffer: Vec<u8>,
    left: Option<u64>,
}

/// There is nobody to send lines to, or nothing left to send: the search is over.
fn over() -> Error {
    Error::Store { backend: "stream", source: OVER.into() }
}

const OVER: &str = "the reader has all it wants";

impl Lines {
    fn push(&mut self, line: &DuplicatesLine) -> Result<(), Error> {
        if self.left == Some(0) {
            return Err(over());
        }
        self.left = self.left.map(|left| left - 1);
        self.append(line);
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn append(&mut self, line: &DuplicatesLine) {
        let before = self.buffer.len();
        match serde_json::to_writer(&mut self.buffer, line) {
            Ok(()) => self.buffer.push(b'\n'),
            Err(_) => self.buffer.truncate(before),
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let chunk = Bytes::from(std::mem::take(&mut self.buffer));
        let send = tokio::time::timeout(self.timeout, self.sender.send(chunk));
        match self.handle.block_on(send) {
            Ok(Ok(())) => Ok(()),
            _ => Err(over()),
        }
    }

    fn is_heard(&self) -> Result<(), Error> {
        if self.sender.is_closed() { Err(over()) } else { Ok(()) }
    }
}

fn send(index: &Index, query: &DuplicatesQuery, mut lines: Lines) {
    let sent = match query.form {
        Form::Pairs => index.duplicates(query.threshold, |a, b, estimate| {
            let pair = SimilarPair { a: a.to_owned(), b: b.to_owned(), estimate: (*estimate).into() };
            lines.push(&DuplicatesLine::Pair(pair))
        }),
        Form::Triples => {
            index.triples(query.threshold, |triple| lines.push(&DuplicatesLine::Triple(triple.into())))
        }
        Form::Clusters => index.clusters(query.threshold, || lines.is_heard()).and_then(|clusters| {
            clusters.into_iter().try_for_each(|cluster| lines.push(&DuplicatesLine::Cluster(cluster.into())))
        }),
    };
    match sent {
        Err(Error::Store { source, .. }) if source.to_string() == OVER => {}
        Err(error) => {
            let error = ApiError::from(error).detail.clone();
            lines.append(&DuplicatesLine::Failed(ErrorBody { error }));
        }
        Ok(()) => {}
    }
    // If nobody reads the last lines, nobody misses them.
    let _ = lines.flush();
}

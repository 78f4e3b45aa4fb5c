//! What is too much is refused, and the server goes on.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use benzer_server::Limits;
use hyper::body::Frame;
use serde_json::json;

use crate::lab::{Lab, text};

async fn lab(limits: Limits) -> Lab {
    let lab = Lab::limited(limits);
    lab.ask("PUT", "/collections/c", json!({"fields": {"body": {"kind": "text", "n": 1}}})).await.ok();
    lab
}

#[tokio::test]
async fn bodies_documents_batches_and_depth_have_limits() {
    let limits =
        Limits { body: 20_000, bodies: 1 << 22, document: 500, batch: 10, depth: 8, ..Limits::default() };
    let lab = lab(limits).await;
    let batch = |n: usize| json!((0..n).map(|i| json!({"id": i.to_string()})).collect::<Vec<_>>());
    assert_eq!(lab.ask("POST", "/collections/c/documents", batch(10)).await.ok()["inserted"], 10);
    lab.ask("POST", "/collections/c/documents", batch(11)).await.fails(
        413,
        "too_large",
        "more than 10 documents",
    );
    let lines = "{\"id\": \"x\"}\n".repeat(11);
    lab.raw("POST", "/collections/c/documents", "application/x-ndjson", lines).await.fails(
        413,
        "too_large",
        "more than 10",
    );
    let large = json!([{"id": "large", "fields": {"body": text(1).repeat(3)}}, {"id": "small"}]);
    let answer = lab.ask("POST", "/collections/c/documents", large).await.ok();
    assert_eq!(
        (&answer["inserted"], &answer["results"][0]["error"]["code"]),
        (&json!(1), &json!("too_large"))
    );
    let huge = "x".repeat(30_000);
    lab.raw("POST", "/collections/c/documents", "application/json", huge.clone()).await.fails(
        413,
        "too_large",
        "20000 bytes",
    );
    let chunks = Body::new(Chunks(40));
    lab.raw("POST", "/collections/c/documents", "application/json", chunks).await.fails(
        413,
        "too_large",
        "20000 bytes",
    );
    let deep = format!("{}{}", "[".repeat(9), "]".repeat(9));
    lab.raw("POST", "/collections/c/documents", "application/json", deep.clone()).await.fails(
        400,
        "bad_request",
        "deeper than 8",
    );
    lab.raw("POST", "/plan", "application/json", deep).await.fails(400, "bad_request", "deeper than 8");
    let bomb = zstd::encode_all(&vec![b' '; 1 << 20][..], 19).unwrap();
    let request = Request::post("/collections/c/documents")
        .header("content-type", "application/json")
        .header("content-encoding", "zstd");
    lab.send(request.body(Body::from(bomb)).unwrap()).await.fails(413, "too_large", "when decompressed");
    assert_eq!(lab.get("/collections/c").await.ok()["documents"], 11);
}

/// A body of so many chunks of 1,000 bytes, without a length.
struct Chunks(usize);

impl hyper::body::Body for Chunks {
    type Data = bytes::Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, Infallible>>> {
        let left = self.0;
        self.0 = left.saturating_sub(1);
        Poll::Ready((left > 0).then(|| Ok(Frame::data(bytes::Bytes::from(vec![b' '; 1000])))))
    }
}

#[tokio::test]
async fn the_memory_of_bodies_is_shared_and_given_back() {
    let lab = lab(Limits { body: 1 << 20, bodies: 1 << 20, ..Limits::default() }).await;
    let whole =
        || lab.raw("POST", "/collections/c/documents", "application/json", " ".repeat(900_000) + "[]");
    let mut other = lab.state.bodies.reserve();
    other.grow(500_000).unwrap();
    let refused = whole().await;
    refused.fails(503, "overloaded", "memory for bodies");
    assert_eq!(refused.headers["retry-after"], "1");
    drop(other);
    whole().await.ok();
    whole().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn more_requests_than_permits_are_told_to_come_back() {
    let lab = lab(Limits { requests: 2, ..Limits::default() }).await;
    let permits = lab.state.permits.clone().acquire_many_owned(2).await.unwrap();
    let refused = lab.get("/collections").await;
    refused.fails(503, "overloaded", "2 requests");
    assert_eq!(refused.headers["retry-after"], "1");
    // Who watches the server is not turned away.
    lab.get("/healthz").await.ok();
    lab.get("/readyz").await.ok();
    drop(permits);
    lab.get("/collections").await.ok();
    let metrics = lab.get("/metrics").await.text();
    assert!(metrics.contains("benzer_refused_total{reason=\"overloaded\"} 1"), "{metrics}");
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_ended() {
    let lab = lab(Limits { time: Duration::from_millis(40), ..Limits::default() }).await;
    let request = Request::post("/plan").header("content-type", "application/json");
    let never = Body::new(Never);
    let refused = lab.send(request.body(never).unwrap()).await;
    refused.fails(503, "timeout", "took more than");
    assert!(refused.headers.contains_key("retry-after"));
    lab.get("/healthz").await.ok();
}

/// A body that never comes.
struct Never;

impl hyper::body::Body for Never {
    type Data = bytes::Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn too_many_requests_in_a_second_are_refused() {
    let lab = Lab::limited(Limits { rate: 3.0, ..Limits::default() });
    for _ in 0..3 {
        lab.get("/collections").await.ok();
    }
    let refused = lab.get("/collections").await;
    refused.fails(429, "rate_limited", "3 requests per second");
    assert_eq!(refused.headers["retry-after"], "1");
}

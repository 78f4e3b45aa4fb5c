//! Requests.

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::Request;
use benzer_server::app::{State, app};
use benzer_server::{Config, Limits};
use http_body_util::BodyExt;
use tokio::runtime::Runtime;
use tower::ServiceExt;

const SETTINGS: &str =
    r#"{"fields": {"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}}, "keeps": "documents"}"#;
const DOCUMENTS: &str = r#"[{"id": "a", "fields": {"body": "one two three"}}, {"id": "b/c", "fields": {"body": "one two four", "tags": ["x"]}}]"#;

/// A request: in the first line method, path and type of the body (and the encoding), then the body. The server answers it, and not with an error of its own.
pub fn rest(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let Ok(line) = std::str::from_utf8(&data[..end]) else { return };
    let mut parts = line.split(' ');
    let mut next = |usual| parts.next().filter(|part| !part.is_empty()).unwrap_or(usual).to_owned();
    let (method, path, kind, encoding) =
        (next("POST"), next("/compare"), next("application/json"), next("identity"));
    ask(&method, &path, &kind, &encoding, data.get(end + 1..).unwrap_or_default());
}

/// The bytes as the query of every route that has one, and as a part of its path.
pub fn query_string(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for path in ["/collections/c/documents", "/collections/c/duplicates", "/collections/c/search", "/metrics"]
    {
        ask("GET", &format!("{path}?{text}"), "application/json", "identity", &[]);
    }
    for path in ["/collections/{}", "/collections/{}/stats", "/collections/c/documents/{}/sketch"] {
        ask("GET", &path.replace("{}", text), "application/json", "identity", &[]);
    }
}

/// Asks a server that has two documents.
fn ask(method: &str, path: &str, kind: &str, encoding: &str, body: &[u8]) {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
    });
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", kind).header("content-encoding", encoding);
    let Ok(request) = request.body(Body::from(body.to_vec())) else { return };
    let limits = Limits { threads: 1, body: 1 << 20, ..Limits::default() };
    let config = Config { limits, keys: "no-such-file".into(), ..Config::default() };
    let collections = benzer_index::store::open(&config.db).expect("memory is always there");
    let state = Arc::new(State::new(&config, collections).expect("threads can be started"));
    let router = app(state, &[]).expect("there are no origins");
    let made = |method: &str, path: &str, body: &'static str| {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        request.body(Body::from(body)).expect("the request is well-formed")
    };
    let status = runtime.block_on(async {
        for request in
            [made("PUT", "/collections/c", SETTINGS), made("POST", "/collections/c/documents", DOCUMENTS)]
        {
            let answer = router.clone().oneshot(request).await.expect("the router cannot fail");
            assert!(answer.status().is_success(), "{}", answer.status());
        }
        let answer = router.clone().oneshot(request).await.expect("the router cannot fail");
        let status = answer.status();
        let bytes = answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        if status.is_client_error() {
            let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
            assert!(json["error"]["message"].is_string() || bytes.is_empty(), "{status}: {bytes:?}");
        }
        status
    });
    assert!(status != 500, "{method} {path}: {status}");
}

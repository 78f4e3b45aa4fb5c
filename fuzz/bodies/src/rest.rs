//! Requests.

use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use benzer_server::app::app;
use benzer_server::state::State;
use benzer_server::{Config, Limits};
use http_body_util::BodyExt;
use serde_json::Value;
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
    let mut next = |default| parts.next().filter(|part| !part.is_empty()).unwrap_or(default).to_owned();
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
    static SERVER: OnceLock<Mutex<Server>> = OnceLock::new();
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", kind).header("content-encoding", encoding);
    let Ok(request) = request.body(Body::from(body.to_vec())) else { return };
    let reads = matches!(request.method(), &Method::GET | &Method::HEAD);
    // One that failed a test is not asked again.
    let mut server = SERVER.get_or_init(|| Mutex::new(Server::new())).lock().expect("no request failed yet");
    if !server.is_fresh {
        server.reset();
    }
    server.is_fresh = reads;
    let (status, bytes) = server.answer(request);
    if status.is_client_error() {
        let json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        assert!(json["error"]["message"].is_string() || bytes.is_empty(), "{status}: {bytes:?}");
    }
    assert!(status != 500, "{method} {path}: {status}");
}

/// A server for all requests: its threads would outlive one that is made for each.
struct Server {
    runtime: Runtime,
    router: Router,
    /// It has the two documents and nothing else.
    is_fresh: bool,
}

impl Server {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let limits = Limits { threads: 1, body: 1 << 20, ..Limits::default() };
        let config = Config { limits, keys: "no-such-file".into(), ..Config::default() };
        let collections = benzer_index::store::open(&config.db).expect("memory is always there");
        let state = Arc::new(State::new(&config, collections).expect("threads can be started"));
        let router = app(state, &[]).expect("there are no origins");
        Self { runtime: runtime.expect("a runtime can be made"), router, is_fresh: false }
    }

    fn answer(&self, request: Request<Body>) -> (StatusCode, Bytes) {
        self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request).await.expect("the router cannot fail");
            let status = answer.status();
            (status, answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default())
        })
    }

    /// Drops what earlier requests left, and inserts the documents.
    fn reset(&self) {
        let collections: Value = serde_json::from_slice(&self.done("GET", "/collections", "")).unwrap();
        for collection in collections["collections"].as_array().expect("there is a list") {
            let name = collection["name"].as_str().expect("collections have names");
            self.done("DELETE", &format!("/collections/{name}"), "");
        }
        self.done("PUT", "/collections/c", SETTINGS);
        self.done("POST", "/collections/c/documents", DOCUMENTS);
    }

    fn done(&self, method: &str, path: &str, body: &'static str) -> Bytes {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let (status, bytes) = self.answer(request.body(Body::from(body)).expect("it is well-formed"));
        assert!(status.is_success(), "{method} {path}: {status}");
        bytes
    }
}

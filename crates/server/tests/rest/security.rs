//! Keys, scopes, names, origins and headers.

use axum::body::Body;
use axum::http::Request;
use benzer_server::Config;
use benzer_server::access::keys::{Keys, Scope};
use serde_json::json;

use crate::lab::{Answer, Lab};

struct Guarded {
    lab: Lab,
    _folder: tempfile::TempDir,
    all: String,
    reader: String,
    limited: String,
}

impl Guarded {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let mut keys = Keys::default();
        let all = keys.create("all", &[Scope::Read, Scope::Write], &[]).unwrap();
        let reader = keys.create("reader", &[Scope::Read], &[]).unwrap();
        let limited = keys.create("limited", &[Scope::Read, Scope::Write], &["mine".into()]).unwrap();
        keys.write(&path).unwrap();
        let guarded = Self {
            lab: Lab::with(Config { keys: path, ..Config::default() }),
            _folder: folder,
            all,
            reader,
            limited,
        };
        for name in ["mine", "other"] {
            guarded
                .ask(
                    &guarded.all,
                    "PUT",
                    &format!("/collections/{name}"),
                    r#"{"fields": {"body": {"kind": "text"}}}"#,
                )
                .await
                .ok();
        }
        guarded
    }

    async fn ask(&self, key: &str, method: &str, path: &str, body: &'static str) -> Answer {
        let request =
            Request::builder().method(method).uri(path).header("authorization", format!("Bearer {key}"));
        self.lab
            .send(request.header("content-type", "application/json").body(Body::from(body)).unwrap())
            .await
    }
}

#[tokio::test]
async fn without_a_good_key_nothing_is_told() {
    let guarded = Guarded::new().await;
    for path in [
        "/collections",
        "/collections/mine",
        "/collections/mine/stats",
        "/metrics",
        "/collections/mine/duplicates",
    ] {
        let refused = guarded.lab.get(path).await;
        refused.fails(401, "unauthorized", "benzer key create");
        assert_eq!(refused.headers["www-authenticate"], "Bearer");
        guarded.ask("bz_aaaaaaaa_00", "GET", path, "").await.fails(401, "unauthorized", "no such key");
    }
    for path in ["/plan", "/compare", "/collections/mine/search"] {
        guarded.lab.ask("POST", path, json!({})).await.fails(401, "unauthorized", "send a key");
    }
    // The page, its description and the health are for everybody.
    for path in ["/", "/openapi.json", "/healthz", "/readyz", "/reference"] {
        assert_eq!(guarded.lab.get(path).await.status, 200, "{path}");
    }
    assert_eq!(guarded.lab.get("/healthz").await.ok()["needs_key"], true);
}

#[tokio::test]
async fn a_scope_is_what_a_key_may_do() {
    let guarded = Guarded::new().await;
    let reader = &guarded.reader;
    guarded.ask(reader, "GET", "/collections", "").await.ok();
    guarded.ask(reader, "GET", "/metrics", "").await.text();
    for (method, path, body) in [
        ("PUT", "/collections/new", r#"{"fields": {"body": {"kind": "text"}}}"#),
        ("DELETE", "/collections/mine", ""),
        ("POST", "/collections/mine/documents", "[]"),
        ("DELETE", "/collections/mine/documents/x", ""),
    ] {
        guarded.ask(reader, method, path, body).await.fails(403, "forbidden", "`write`");
    }
    assert_eq!(
        guarded.ask(reader, "GET", "/collections", "").await.ok()["collections"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn a_key_of_one_collection_does_not_see_the_others() {
    let guarded = Guarded::new().await;
    let limited = &guarded.limited;
    let seen = guarded.ask(limited, "GET", "/collections", "").await.ok();
    assert_eq!(
        (seen["collections"].as_array().unwrap().len(), &seen["collections"][0]["name"]),
        (1, &json!("mine"))
    );
    guarded.ask(limited, "POST", "/collections/mine/documents", r#"[{"id": "a"}]"#).await.ok();
    for (method, path, body) in [
        ("GET", "/collections/other", ""),
        ("GET", "/collections/%6fther", ""),
        ("GET", "/collections/other/stats", ""),
        ("POST", "/collections/other/search", r#"{"id": "a"}"#),
        ("POST", "/collections/other/documents", "[]"),
        ("DELETE", "/collections/other", ""),
        ("PUT", "/collections/new", r#"{"fields": {"body": {"kind": "text"}}}"#),
        ("POST", "/compare", r#"{"collection": "other", "documents": []}"#),
    ] {
        guarded.ask(limited, method, path, body).await.fails(
            404,
            "collection_not_found",
            "there is no collection",
        );
    }
    guarded.ask(limited, "GET", "/metrics", "").await.fails(403, "forbidden", "limited to some collections");
}

#[tokio::test]
async fn without_keys_only_this_machine_is_answered() {
    let lab = Lab::new();
    let from = |host: &'static str| {
        lab.send(Request::get("/collections").header("host", host).body(Body::empty()).unwrap())
    };
    from("localhost:7700").await.ok();
    from("attacker.example").await.fails(421, "wrong_host", "`localhost` only");
}

#[tokio::test]
async fn other_pages_may_ask_only_if_they_were_named() {
    let preflight = || {
        let request = Request::options("/collections").header("origin", "https://example.org");
        request.header("access-control-request-method", "GET").body(Body::empty()).unwrap()
    };
    assert!(!Lab::new().send(preflight()).await.headers.contains_key("access-control-allow-origin"));
    let open = Lab::with(Config { cors: vec!["https://example.org".into()], ..Config::default() });
    assert_eq!(open.send(preflight()).await.headers["access-control-allow-origin"], "https://example.org");
    let other = Lab::with(Config { cors: vec!["https://other.org".into()], ..Config::default() });
    assert!(!other.send(preflight()).await.headers.contains_key("access-control-allow-origin"));
}

/// A browser sends forms to any server without asking it first.
#[tokio::test]
async fn a_form_of_another_page_inserts_nothing() {
    let lab = Lab::new();
    let send = |method: &str, path: &str, kind: &str, origin: Option<&str>, body: &'static str| {
        let mut request = Request::builder().method(method).uri(path).header("content-type", kind);
        request = request.header("host", "localhost:7700");
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        lab.send(request.body(Body::from(body)).unwrap())
    };
    let settings = r#"{"fields": {"body": {"kind": "text"}}}"#;
    send("PUT", "/collections/c", "application/json", Some("http://localhost:7700"), settings).await.ok();
    let (kind, form) = (
        "multipart/form-data; boundary=x",
        "--x\r\ncontent-disposition: form-data; name=\"documents\"\r\ncontent-type: application/json\r\n\r\n[{\"id\": \"a\", \"fields\": {\"body\": \"text\"}}]\r\n--x--\r\n",
    );
    let evil = send("POST", "/collections/c/documents", kind, Some("https://evil.example"), form).await;
    evil.fails(403, "wrong_origin", "own page");
    let delete = send("DELETE", "/collections/c", kind, Some("null"), "").await;
    delete.fails(403, "wrong_origin", "--cors");
    send("GET", "/collections/c", kind, None, "").await.ok();
}

#[tokio::test]
async fn every_answer_has_the_headers_of_safety() {
    let lab = Lab::new();
    for path in ["/", "/collections", "/nowhere", "/ui/app.js"] {
        let headers = lab.get(path).await.headers;
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-frame-options"], "DENY");
        assert!(headers.contains_key("x-request-id") && headers.contains_key("referrer-policy"));
    }
}

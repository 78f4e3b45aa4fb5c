//! An application with collections in memory, asked without a network.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use benzer_server::app::app;
use benzer_server::state::{Shared, State};
use benzer_server::{Config, Limits};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

pub struct Lab {
    pub router: Router,
    pub state: Shared,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{:?}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The answer of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text());
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// Refused with this status, and a message that has all parts.
    #[track_caller]
    pub fn fails(&self, status: u16, code: &str, part: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        let error = &self.json()["error"];
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }

    pub fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Lab {
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn limited(limits: Limits) -> Self {
        Self::with(Config { limits, ..Config::default() })
    }

    pub fn with(config: Config) -> Self {
        let config = Config {
            keys: if config.keys.is_absolute() { config.keys } else { "no-such-file".into() },
            ..config
        };
        let state = Arc::new(State::new(&config, benzer_index::store::open(&config.db).unwrap()).unwrap());
        Self { router: app(Arc::clone(&state), &config.cors).unwrap(), state }
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, bytes }
    }

    pub async fn raw(&self, method: &str, path: &str, kind: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        self.send(request.body(body.into()).unwrap()).await
    }

    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        self.raw(method, path, "application/json", body.to_string()).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Request::delete(path).body(Body::empty()).unwrap()).await
    }

    /// With a collection `texts` of one field `body`, and some documents in it: `d0`, `d1`, ... of which each two neighbours share most words.
    pub async fn filled(keeps: &str) -> Self {
        let lab = Self::new();
        let settings = json!({"fields": {"body": {"kind": "text", "n": 1}}, "keeps": keeps});
        lab.ask("PUT", "/collections/texts", settings).await.ok();
        let documents: Vec<Value> =
            (0..20).map(|i| json!({"id": format!("d{i}"), "fields": {"body": text(i)}})).collect();
        assert_eq!(
            lab.ask("POST", "/collections/texts/documents", json!(documents)).await.ok()["inserted"],
            20
        );
        lab
    }
}

/// Forty words that move on by two from one text to the next.
pub fn text(i: usize) -> String {
    (2 * i..2 * i + 40).map(|word| format!("w{}", word * 7919 % 1009)).collect::<Vec<_>>().join(" ")
}

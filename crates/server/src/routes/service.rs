//! Whether the server is well, and what it has done.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::json;
use crate::access::keys::Scope;
use crate::error::{ApiError, ErrorBody, Result};
use crate::metrics::Gauges;
use crate::request::Caller;
use crate::state::Shared;

/// Those who ask whether the server is well do not wait longer.
const SOON: Duration = Duration::from_secs(2);

/// The server is up.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
    /// The version of the server.
    version: &'static str,
    /// Whether requests need a key.
    needs_key: bool,
    /// Seconds since it came up.
    uptime_s: u64,
}

/// Whether the process is alive
#[utoipa::path(get, path = "/healthz", tag = "service", security(()), responses(
        (status = 200, description = "It is", body = Health),
        (status = "4XX", description = "The request is refused; `error.code` says why", body = ErrorBody),
))]
pub async fn healthz(State(state): State<Shared>) -> Response {
    json(&health(&state))
}

fn health(state: &Shared) -> Health {
    Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        needs_key: state.authenticator.needs_key(),
        uptime_s: state.started.elapsed().as_secs(),
    }
}

/// Whether the server can answer: the store does, and the server is not going down
#[utoipa::path(get, path = "/readyz", tag = "service", security(()), responses(
        (status = 200, description = "It can", body = Health),
        (status = "4XX", description = "The request is refused; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn readyz(State(state): State<Shared>) -> Result<Response> {
    if state.stopping.load(Ordering::Relaxed) {
        return Err(ApiError::overloaded("the server is going down"));
    }
    let shared = Arc::clone(&state);
    let asked = state.readers.run(move || shared.collections.names());
    match tokio::time::timeout(SOON, asked).await {
        Ok(names) => names.map(|_| json(&health(&state))),
        Err(_) => Err(ApiError::timeout(SOON.as_secs())),
    }
}

/// Numbers for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "service", responses(
        (status = 200, description = "In the text format of Prometheus", body = String, content_type = "text/plain"),
        (status = "4XX", description = "The key may not see them", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn metrics(caller: Caller) -> Result<Response> {
    let Caller { access, state } = caller;
    access.check(Scope::Read, None)?;
    let shared = Arc::clone(&state);
    let count = move || {
        let open = shared.collections.all_open().into_iter();
        let documents = open.filter_map(|(name, index)| Some((name, index.stats().ok()?.documents)));
        Ok(documents.collect())
    };
    // A store that does not answer is a reason to look at the metrics, not to be without them.
    let counted = tokio::time::timeout(SOON, state.readers.run(count)).await;
    let mut documents: Vec<(String, u64)> = counted.unwrap_or_else(|_| Ok(Vec::new()))?;
    documents.sort();
    let in_flight = state.limits.requests.saturating_sub(state.permits.available_permits());
    let text = state.metrics.text(&Gauges { documents, in_flight });
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"))];
    Ok((kind, text).into_response())
}

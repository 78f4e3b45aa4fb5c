//! What every request goes through: it is counted, logged and answered with safe headers; those of the API need a key, a permit and an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName, InvalidHeaderValue};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use crate::error::ApiError;
use crate::state::Shared;

/// The policy of the page: its own files, its own API, nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Numbers, times, counts and logs a request, and puts the headers of safety on its answer.
pub async fn observe(State(state): State<Shared>, request: Request, next: Next) -> Response {
    let (start, id) = (Instant::now(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let path = tracing::enabled!(tracing::Level::INFO).then(|| request.uri().path().to_owned());
    let mut response = next.run(request).await;
    let (time, status) = (start.elapsed(), response.status().as_u16());
    let name = if is_known(&method) { method.as_str() } else { "OTHER" };
    state.metrics.request(name, route.as_ref().map_or("other", |route| route.as_str()), status, time);
    if let Some(path) = path {
        let ms = time.as_secs_f64() * 1000.0;
        tracing::info!(request = id, %method, path, status, ms, "request");
    }
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        (REQUEST_ID, HeaderValue::from(id)),
    ] {
        headers.insert(name, value);
    }
    response
}

fn is_known(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::PUT | Method::POST | Method::DELETE | Method::HEAD | Method::OPTIONS
    )
}

/// Lets a request in: with a good key, within its rate, if there is a permit; and ends it when its time is up.
pub async fn admit(State(state): State<Shared>, mut request: Request, next: Next) -> Response {
    let access = match state.authenticator.enter(request.headers(), request.uri()) {
        Ok(access) => access,
        Err(refused) => {
            if refused.status.as_u16() == 429 {
                state.metrics.refused("rate_limited");
            }
            return refused.into_response();
        }
    };
    let Ok(_permit) = Arc::clone(&state.permits).try_acquire_owned() else {
        state.metrics.refused("overloaded");
        let message = format!("{} requests are being served already; try again", state.limits.requests);
        return ApiError::overloaded(message).into_response();
    };
    if let Some(refused) = refuse_unread(&request) {
        return refused.into_response();
    }
    request.extensions_mut().insert(access);
    // Whoever sends faster than the server reads uses up what a connection may do at a time; the clock must be looked at nevertheless.
    let served = tokio::task::unconstrained(tokio::time::timeout(state.limits.time, next.run(request)));
    match served.await {
        Ok(response) => response,
        Err(_) => {
            state.metrics.refused("timeout");
            ApiError::timeout(state.limits.time.as_secs()).into_response()
        }
    }
}

/// The routes that take parameters behind `?`.
const WITH_PARAMETERS: [&str; 2] = ["/collections/{name}/documents", "/collections/{name}/duplicates"];

/// Refuses parameters that nobody would read.
fn refuse_unread(request: &Request) -> Option<ApiError> {
    let query = request.uri().query().filter(|query| !query.is_empty())?;
    let route = request.extensions().get::<MatchedPath>()?.as_str();
    let is_read = request.method() == Method::GET && WITH_PARAMETERS.contains(&route);
    let message = || format!("`{} {route}` takes no parameters, got `?{query}`", request.method());
    (!is_read).then(|| ApiError::bad(message()))
}

/// Pages of these origins may use the API; without any, only the server's own page. Errors: an origin that is none.
pub fn cors(origins: &[String]) -> Result<Option<CorsLayer>, InvalidHeaderValue> {
    if origins.is_empty() {
        return Ok(None);
    }
    let origin = match origins.iter().any(|origin| origin == "*") {
        true => AllowOrigin::from(Any),
        false => AllowOrigin::list(
            origins.iter().map(|origin| origin.parse()).collect::<Result<Vec<HeaderValue>, _>>()?,
        ),
    };
    let layer = CorsLayer::new()
        .allow_origin(origin)
        .allow_methods([Method::GET, Method::PUT, Method::POST, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::CONTENT_ENCODING])
        .expose_headers([header::RETRY_AFTER, REQUEST_ID]);
    Ok(Some(layer))
}

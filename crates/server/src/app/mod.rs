//! The application: the routes, and what every request goes through on the way to them.

mod guard;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;

use crate::error::ApiError;
use crate::routes;
use crate::state::Shared;

/// The whole application.
///
/// # Errors
/// An origin that is none.
pub fn app(state: Shared, cors: &[String]) -> Result<Router, axum::http::header::InvalidHeaderValue> {
    let guarded = routes::api()
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&state), guard::admit));
    let app = guarded
        .merge(routes::open())
        .fallback(routes::nothing)
        .method_not_allowed_fallback(routes::wrong_method)
        .layer(from_fn_with_state(Arc::clone(&state), guard::observe));
    let app = match guard::cors(cors)? {
        Some(cors) => app.layer(cors),
        None => app,
    };
    Ok(app.with_state(state))
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request panicked");
    ApiError::unforeseen().into_response()
}

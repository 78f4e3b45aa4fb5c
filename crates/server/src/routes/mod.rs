//! The routes: thin shells over the index, one file for each thing that they are about.

mod collections;
mod compare;
mod documents;
mod duplicates;
pub mod page;
mod plan;
mod search;
mod service;

use std::time::Instant;

use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Serialize;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{IntoResponses, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::{ApiError, ErrorBody};
use crate::state::Shared;

const ABOUT: &str = "\
Similarity search as a service: collections of documents with fields of text and values, similar ones found by sketches, every similarity with its error bar.

A key is sent as `Authorization: Bearer bz_...` (`benzer key create`); a server on this machine without keys needs none. Every error is `{\"error\": {\"code\", \"message\"}}`. \
Bodies may be compressed (`content-encoding: gzip` or `zstd`). 429 and 503 come with `retry-after`.";

/// The description of the whole API.
#[derive(Debug, OpenApi)]
#[openapi(
    info(title = "Benzer", description = ABOUT, license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    modifiers(&KeyScheme),
    security(("key" = []), ()),
    servers((url = "/", description = "This server")),
    components(schemas(ErrorBody, crate::wire::schema::FieldSchema, crate::wire::duplicates::DuplicatesLine)),
    tags(
        (name = "collections", description = "Named sets of documents with one schema"),
        (name = "documents", description = "What is in a collection"),
        (name = "similarity", description = "What is similar to what"),
        (name = "service", description = "Whether the server is well")
    )
)]
struct Api;

struct KeyScheme;

impl utoipa::Modify for KeyScheme {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("an API key")).build();
        openapi.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    }
}

/// What every route may answer instead, for the description.
#[derive(Debug, IntoResponses)]
pub enum Failures {
    /// The request cannot be served; `error.code` says why
    #[response(status = "4XX")]
    Refused(ErrorBody),
    /// The server is too busy, or failed
    #[response(status = "5XX")]
    Failed(ErrorBody),
}

fn described() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(collections::list))
        .routes(routes!(collections::create, collections::read, collections::remove))
        .routes(routes!(collections::stats))
        .routes(routes!(documents::insert, documents::list))
        .routes(routes!(documents::read, documents::remove))
        .routes(routes!(documents::sketch))
        .routes(routes!(search::search))
        .routes(routes!(duplicates::duplicates))
        .routes(routes!(compare::compare))
        .routes(routes!(plan::plan))
        .routes(routes!(service::metrics))
}

fn health() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(service::healthz)).routes(routes!(service::readyz))
}

/// The routes that need a key, where keys are needed.
pub fn api() -> Router<Shared> {
    let nameless = get(documents::read_nameless).delete(documents::remove_nameless);
    described().split_for_parts().0.route("/collections/{name}/documents/", nameless)
}

/// The routes that need none.
pub fn open() -> Router<Shared> {
    health().split_for_parts().0.route("/openapi.json", get(openapi_json)).merge(page::files())
}

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    described().merge(health()).split_for_parts().1
}

async fn openapi_json() -> Response {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    json_text(TEXT.get_or_init(|| openapi().to_json().unwrap_or_default()).clone().into_bytes())
}

/// The answer to a path that is none.
pub async fn nothing() -> ApiError {
    let message = "there is nothing at this path; /openapi.json lists all";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

/// The answer to a method that a path does not have.
pub async fn wrong_method() -> ApiError {
    let message = "this path does not have this method; /openapi.json lists all";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

fn json(answer: &impl Serialize) -> Response {
    match serde_json::to_vec(answer) {
        Ok(bytes) => json_text(bytes),
        Err(error) => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", error).into_response(),
    }
}

fn json_text(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
}

/// Milliseconds since then, with three decimals.
fn milliseconds(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

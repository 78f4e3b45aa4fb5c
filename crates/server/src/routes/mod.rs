//! The routes: thin shells over the index, one file for each thing that they are about.

pub mod at;
pub mod collections;
pub mod compare;
pub mod documents;
pub mod duplicates;
pub mod page;
pub mod plan;
pub mod search;
pub mod service;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use benzer_index::Index;
use serde::Serialize;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::Access;
use crate::app::Shared;
use crate::error::{ApiError, ErrorBody, Result};
use crate::keys::Scope;

const ABOUT: &str = "\
Similarity search as a service: collections of documents with fields of text and values, similar ones found by sketches, every similarity with its error bar.

A key is sent as `Authorization: Bearer bz_...` (`benzer key create`); a server on this machine without keys needs none. Every error is `{\"error\": {\"code\", \"message\"}}`. \
Bodies may be compressed (`content-encoding: gzip` or `zstd`). 429 and 503 come with `retry-after`.";

/// The description of the whole API.
#[derive(Debug, OpenApi)]
#[openapi(
    info(title = "Benzer", description = ABOUT, license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    modifiers(&Keys),
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

#[derive(Debug)]
struct Keys;

impl utoipa::Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let scheme =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("an API key")).build();
        openapi.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(scheme));
    }
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

/// The routes that need a key, where keys are needed.
pub fn api() -> Router<Shared> {
    let nameless = get(documents::read_nameless).delete(documents::remove_nameless);
    described().split_for_parts().0.route("/collections/{name}/documents/", nameless)
}

/// The routes that need none.
pub fn open() -> Router<Shared> {
    let health = OpenApiRouter::new().routes(routes!(service::healthz)).routes(routes!(service::readyz));
    health.split_for_parts().0.route("/openapi.json", get(openapi_json)).merge(page::files())
}

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let health: OpenApiRouter<Shared> =
        OpenApiRouter::new().routes(routes!(service::healthz)).routes(routes!(service::readyz));
    described().merge(health).split_for_parts().1
}

async fn openapi_json() -> Response {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    json_text(TEXT.get_or_init(|| openapi().to_json().unwrap_or_default()).clone().into_bytes())
}

/// The answer to a path that is none.
pub async fn nothing() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing at this path; /openapi.json lists all",
    )
}

/// The answer to a method that a path does not have.
pub async fn wrong_method() -> ApiError {
    let message = "this path does not have this method; /openapi.json lists all";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

/// An answer as JSON.
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

/// Runs work on a collection that the request may use, on the threads for quick reads.
async fn reading<T: Send + 'static>(
    state: &Shared,
    access: &Access,
    name: String,
    work: impl FnOnce(&Shared, &str, &Arc<Index>) -> Result<T> + Send + 'static,
) -> Result<T> {
    access.check(Scope::Read, Some(&name))?;
    let shared = Arc::clone(state);
    state.readers.run(move || work(&shared, &name, &shared.shelf.get(&name)?)).await
}

/// [`reading`] for changes, on the threads for writing.
async fn writing<T: Send + 'static>(
    state: &Shared,
    access: &Access,
    name: String,
    work: impl FnOnce(&Shared, &str, &Arc<Index>) -> Result<T> + Send + 'static,
) -> Result<T> {
    access.check(Scope::Write, Some(&name))?;
    let shared = Arc::clone(state);
    state.writers.run(move || work(&shared, &name, &shared.shelf.get(&name)?)).await
}

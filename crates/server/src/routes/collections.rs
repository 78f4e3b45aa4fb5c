//! Collections: made, read, listed, measured, deleted.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::at::At;
use super::{json, reading};
use crate::access::Access;
use crate::app::Shared;
use crate::body::Json;
use crate::error::{ErrorBody, Result};
use crate::keys::Scope;
use crate::wire::collection::{Collection, CollectionList, CollectionStats, NewCollection};

/// All collections that the key may see
#[utoipa::path(get, operation_id = "list_collections", path = "/collections", tag = "collections", responses(
        (status = 200, description = "The collections", body = CollectionList),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn list(State(state): State<Shared>, Extension(access): Extension<Access>) -> Result<Response> {
    access.check_read()?;
    let shared = Arc::clone(&state);
    let read = move || {
        let mut collections = Vec::new();
        for name in shared.shelf.names()?.into_iter().filter(|name| access.sees(name)) {
            match shared.shelf.get(&name).and_then(|index| Collection::of(&name, &index)) {
                Ok(collection) => collections.push(collection),
                // It was deleted meanwhile.
                Err(error) if error.status() == StatusCode::NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        Ok(CollectionList { collections })
    };
    Ok(json(&state.readers.run(read).await?))
}

/// Make a collection
///
/// One that is there with the same settings stays as it is.
#[utoipa::path(put, operation_id = "create_collection", path = "/collections/{name}", tag = "collections", request_body = NewCollection,
    params(("name" = String, Path, description = "1 to 100 of a-z, A-Z, 0-9, `-`, `_` and `.`", pattern = "^[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,99}$")),
    responses(
        (status = 201, description = "The new collection", body = Collection),
        (status = 200, description = "It was there already, with these settings", body = Collection),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn create(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Json(wanted): Json<NewCollection>,
) -> Result<Response> {
    access.check(Scope::Write, Some(&name))?;
    let shared = Arc::clone(&state);
    let make = move || {
        let (index, is_new) = shared.shelf.create(&name, wanted.settings()?)?;
        Ok((Collection::of(&name, &index)?, is_new))
    };
    let (collection, is_new) = state.writers.run(make).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, json(&collection)).into_response())
}

/// A collection
#[utoipa::path(get, operation_id = "read_collection", path = "/collections/{name}", tag = "collections", params(("name" = String, Path)), responses(
        (status = 200, description = "The collection", body = Collection),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn read(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Response> {
    let collection = reading(&state, &access, name, |_, name, index| Collection::of(name, index)).await?;
    Ok(json(&collection))
}

/// Delete a collection with all its documents
#[utoipa::path(delete, operation_id = "remove_collection", path = "/collections/{name}", tag = "collections", params(("name" = String, Path)), responses(
        (status = 204, description = "It is gone"),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn remove(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<StatusCode> {
    access.check(Scope::Write, Some(&name))?;
    let shared = Arc::clone(&state);
    state.writers.run(move || shared.shelf.remove(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How large a collection is, and how evenly it is spread
#[utoipa::path(get, operation_id = "collection_stats", path = "/collections/{name}/stats", tag = "collections", params(("name" = String, Path)), responses(
        (status = 200, description = "Numbers of the collection", body = CollectionStats),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn stats(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
) -> Result<Response> {
    let measure = |_: &Shared, _: &str, index: &Arc<benzer_index::Index>| {
        Ok(CollectionStats::of(index.stats()?, index.bucket_stats()?))
    };
    Ok(json(&reading(&state, &access, name, measure).await?))
}

//! Collections: made, read, listed, measured, deleted.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::{Failures, json};
use crate::access::keys::Scope;
use crate::error::Result;
use crate::request::{Caller, Json, Opened, PathParts};
use crate::wire::collection::{Collection, CollectionList, CollectionStats, NewCollection};

/// All collections that the key may see
#[utoipa::path(get, operation_id = "list_collections", path = "/collections", tag = "collections", responses(
        (status = 200, description = "The collections", body = CollectionList),
        Failures
))]
pub async fn list(caller: Caller) -> Result<Response> {
    let Caller { access, state } = caller;
    access.check_read()?;
    let shared = Arc::clone(&state);
    let read = move || {
        let mut collections = Vec::new();
        for name in shared.collections.names()?.into_iter().filter(|name| access.sees(name)) {
            match shared.collections.get(&name).and_then(|index| Collection::of(&name, &index)) {
                Ok(collection) => collections.push(collection),
                // It was deleted meanwhile.
                Err(error) if error.status == StatusCode::NOT_FOUND => {}
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
        Failures
))]
pub async fn create(
    caller: Caller,
    PathParts(name): PathParts<String>,
    Json(wanted): Json<NewCollection>,
) -> Result<Response> {
    caller.access.check(Scope::Write, Some(&name))?;
    let shared = Arc::clone(&caller.state);
    let make = move || {
        let (index, is_new) = shared.collections.create(&name, wanted.settings()?)?;
        Ok((Collection::of(&name, &index)?, is_new))
    };
    let (collection, is_new) = caller.state.writers.run(make).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, json(&collection)).into_response())
}

/// A collection
#[utoipa::path(get, operation_id = "read_collection", path = "/collections/{name}", tag = "collections", params(("name" = String, Path)), responses(
        (status = 200, description = "The collection", body = Collection),
        Failures
))]
pub async fn read(caller: Caller, PathParts(name): PathParts<String>) -> Result<Response> {
    Ok(json(&caller.read(name, |found| Collection::of(found.name, found.index)).await?))
}

/// Delete a collection with all its documents
#[utoipa::path(delete, operation_id = "remove_collection", path = "/collections/{name}", tag = "collections", params(("name" = String, Path)), responses(
        (status = 204, description = "It is gone"),
        Failures
))]
pub async fn remove(caller: Caller, PathParts(name): PathParts<String>) -> Result<StatusCode> {
    caller.access.check(Scope::Write, Some(&name))?;
    let shared = Arc::clone(&caller.state);
    caller.state.writers.run(move || shared.collections.remove(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How large a collection is, and how evenly it is spread
#[utoipa::path(get, operation_id = "collection_stats", path = "/collections/{name}/stats", tag = "collections", params(("name" = String, Path)), responses(
        (status = 200, description = "Numbers of the collection", body = CollectionStats),
        Failures
))]
pub async fn stats(caller: Caller, PathParts(name): PathParts<String>) -> Result<Response> {
    let measure =
        |found: Opened<'_>| Ok(CollectionStats::of(found.index.stats()?, found.index.bucket_stats()?));
    Ok(json(&caller.read(name, measure).await?))
}

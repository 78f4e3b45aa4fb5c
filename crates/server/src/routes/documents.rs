//! Documents: put in by batches, read, removed.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use axum::response::Response;
use benzer_core::field::Document;
use benzer_index::store::Cursor;
use benzer_index::{Error, Keeps};
use serde_json::value::RawValue;

use super::{Failures, json, milliseconds};
use crate::config::Limits;
use crate::error::{ApiError, ErrorDetail, Result};
#[cfg(feature = "image")]
use crate::request::multipart;
use crate::request::{Caller, Media, Opened, PathParts, Received, check_depth};
use crate::wire::document::{
    BatchAnswer, DocumentBody, DocumentList, DocumentResult, DocumentSketch, FieldRegisters, Incoming,
    ListedDocument, PageQuery,
};

/// Put documents into a collection
///
/// A JSON array of documents, or one on each line (`application/x-ndjson`), or one in parts (`multipart/form-data`): a part `document` as JSON, and files by the names of fields with pictures. A document with an id that is there replaces the old one. The batch is one durable commit; a document that cannot
/// be taken is told at its position, and the others are not touched by that.
#[utoipa::path(post, operation_id = "insert_documents", path = "/collections/{name}/documents", tag = "documents", params(("name" = String, Path)),
    request_body(description = "The batch", content((Vec<DocumentBody> = "application/json"), (String = "application/x-ndjson"))),
    responses(
        (status = 200, description = "An answer for each document, by its position", body = BatchAnswer),
        Failures
))]
pub async fn insert(
    caller: Caller,
    PathParts(name): PathParts<String>,
    received: Received,
) -> Result<Response> {
    let start = Instant::now();
    let insert = move |found: Opened<'_>| {
        let limits = &found.state.limits;
        let media = received.media;
        #[cfg(feature = "image")]
        let boundary = received.boundary.clone();
        let (bytes, _memory) = received.decompressed(limits.body)?;
        #[cfg(feature = "image")]
        if media == Media::Parts {
            let whole = multipart::document(&bytes, boundary.as_deref())?;
            drop(bytes);
            // A file is larger than any text: what a body may have is the limit.
            let limits = Limits { document: limits.body.saturating_mul(2), ..limits.clone() };
            check_depth(&whole, limits.depth)?;
            return put(&found, vec![document(&whole, &limits)]);
        }
        let batch = documents(&bytes, media, limits)?;
        drop(bytes);
        put(&found, batch)
    };
    let results = caller.write(name, insert).await?;
    let rejected = results.iter().filter(|result| matches!(result, DocumentResult::Rejected { .. })).count();
    let inserted = results.len() - rejected;
    caller.state.metrics.inserted(inserted, rejected);
    Ok(json(&BatchAnswer { inserted, rejected, results, took_ms: milliseconds(start) }))
}

/// A document and how long it lives, or why there is none.
type Parsed = Result<(Document, Option<u64>), ErrorDetail>;

fn documents(bytes: &[u8], media: Media, limits: &Limits) -> Result<Vec<Parsed>> {
    let too_many =
        || ApiError::too_large(format!("the batch has more than {} documents; send several", limits.batch));
    match media {
        Media::Json => {
            check_depth(bytes, limits.depth)?;
            let raw: Vec<&RawValue> = parse_borrowed(bytes)?;
            if raw.len() > limits.batch {
                return Err(too_many());
            }
            Ok(raw.into_iter().map(|raw| document(raw.get().as_bytes(), limits)).collect())
        }
        Media::Lines => {
            let lines = || bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            if lines().count() > limits.batch {
                return Err(too_many());
            }
            let line = |line| match check_depth(line, limits.depth) {
                Ok(()) => document(line, limits),
                Err(error) => Err(error.detail.clone()),
            };
            Ok(lines().map(line).collect())
        }
        #[cfg(feature = "image")]
        Media::Parts => Err(ApiError::bad("a document in parts comes alone")),
    }
}

fn parse_borrowed(bytes: &[u8]) -> Result<Vec<&RawValue>> {
    serde_json::from_slice(bytes).map_err(|error| {
        let message = format!("the body is not a list of documents: {error}");
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
    })
}

fn document(json: &[u8], limits: &Limits) -> Parsed {
    if json.len() > limits.document {
        let message = format!("the document is larger than {} bytes", limits.document);
        return Err(ApiError::too_large(message).detail.clone());
    }
    let incoming: Incoming = serde_json::from_slice(json).map_err(|error| {
        let message = format!("the document is not understood: {error}");
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_document", message).detail.clone()
    })?;
    Ok(incoming.document())
}

fn put(found: &Opened<'_>, batch: Vec<Parsed>) -> Result<Vec<DocumentResult>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (mut good, mut expires, mut results) = (Vec::new(), Vec::new(), Vec::with_capacity(batch.len()));
    for parsed in batch {
        results.push(match parsed {
            Ok((document, ttl)) => {
                good.push(document);
                expires.push(ttl.map(|seconds| now.saturating_add(seconds)));
                DocumentResult::Inserted
            }
            Err(error) => DocumentResult::Rejected { error },
        });
    }
    let start = Instant::now();
    let inserted = found.index.insert_until(&good, |i| expires[i])?;
    found.state.metrics.store("insert", start.elapsed());
    let mut outcomes = inserted.outcomes.into_iter();
    for result in results.iter_mut().filter(|result| matches!(result, DocumentResult::Inserted)) {
        if let Some(Err(error)) = outcomes.next() {
            *result = DocumentResult::Rejected { error: ApiError::from(error).detail.clone() };
        }
    }
    Ok(results)
}

/// The documents of a collection, a page at a time
#[utoipa::path(get, operation_id = "list_documents", path = "/collections/{name}/documents", tag = "documents", params(("name" = String, Path), PageQuery), responses(
        (status = 200, description = "A page", body = DocumentList),
        Failures
))]
pub async fn list(
    caller: Caller,
    PathParts(name): PathParts<String>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response> {
    let Query(PageQuery { from, limit }) = query.map_err(|error| ApiError::bad(error.body_text()))?;
    if !(1..=1000).contains(&limit) {
        return Err(ApiError::bad(format!("`limit` must be between 1 and 1000, got {limit}")));
    }
    let get = move |found: Opened<'_>| {
        let (documents, next) = found.index.list(Cursor(from), limit)?;
        let documents = documents.into_iter().map(ListedDocument::from).collect();
        Ok(json(&DocumentList { documents, next: next.map(|next| next.0) }))
    };
    caller.read(name, get).await
}

/// A document
///
/// Only of collections that keep documents.
#[utoipa::path(get, operation_id = "read_document", path = "/collections/{name}/documents/{id}", tag = "documents",
    params(("name" = String, Path), ("id" = String, Path)), responses(
        (status = 200, description = "The document", body = DocumentBody),
        Failures
))]
pub async fn read(caller: Caller, PathParts((name, id)): PathParts<(String, String)>) -> Result<Response> {
    let get = move |found: Opened<'_>| {
        let index = found.index;
        if let Some(document) = index.get(&id)? {
            return Ok(DocumentBody { id: document.id, fields: document.fields, ttl: None });
        }
        if index.settings().keeps == Keeps::Sketches && index.sketch(&id)?.is_some() {
            let message = format!(
                "the collection keeps sketches only, so that `{id}` cannot be read; GET .../sketch has its sketch"
            );
            return Err(ApiError::new(StatusCode::NOT_FOUND, "document_not_kept", message));
        }
        Err(Error::NoDocument { id }.into())
    };
    Ok(json(&caller.read(name, get).await?))
}

/// Remove a document
///
/// A document with the empty id, which earlier versions took, is removed by the path that ends with `documents/`.
#[utoipa::path(delete, operation_id = "remove_document", path = "/collections/{name}/documents/{id}", tag = "documents",
    params(("name" = String, Path), ("id" = String, Path)), responses(
        (status = 204, description = "It is gone"),
        Failures
))]
pub async fn remove(
    caller: Caller,
    PathParts((name, id)): PathParts<(String, String)>,
) -> Result<StatusCode> {
    let remove = move |found: Opened<'_>| {
        let start = Instant::now();
        let removed = found.index.remove(&[&id])?;
        found.state.metrics.store("remove", start.elapsed());
        if removed > 0 { Ok(StatusCode::NO_CONTENT) } else { Err(Error::NoDocument { id }.into()) }
    };
    caller.write(name, remove).await
}

/// [`read`] of the document with the empty id, which earlier versions took.
pub async fn read_nameless(caller: Caller, PathParts(name): PathParts<String>) -> Result<Response> {
    read(caller, PathParts((name, String::new()))).await
}

/// [`remove`] of the document with the empty id.
pub async fn remove_nameless(caller: Caller, PathParts(name): PathParts<String>) -> Result<StatusCode> {
    remove(caller, PathParts((name, String::new()))).await
}

/// The sketches of a document, field by field
#[utoipa::path(get, operation_id = "document_sketch", path = "/collections/{name}/documents/{id}/sketch", tag = "documents",
    params(("name" = String, Path), ("id" = String, Path)), responses(
        (status = 200, description = "The sketches", body = DocumentSketch),
        Failures
))]
pub async fn sketch(caller: Caller, PathParts((name, id)): PathParts<(String, String)>) -> Result<Response> {
    let get = move |found: Opened<'_>| {
        let Some(sketches) = found.index.sketch(&id)? else { return Err(Error::NoDocument { id }.into()) };
        let fields = sketches.into_iter().map(|(field, sketch)| FieldRegisters::of(field, &sketch)).collect();
        Ok(DocumentSketch { id, fields })
    };
    Ok(json(&caller.read(name, get).await?))
}

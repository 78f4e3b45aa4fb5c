//! Two or three documents side by side.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use benzer_index::compare::{Subject, compare as compare_subjects};
use benzer_index::{Index, Recorder, Settings};

use super::{json, milliseconds};
use crate::access::Access;
use crate::app::Shared;
use crate::body::Json;
use crate::error::{ApiError, ErrorBody, Result};
use crate::keys::Scope;
use crate::wire::compare::{Comparand, CompareAnswer, CompareRequest};

const USUAL: &str = r#"{"fields": {"text": {"kind": "text"}}}"#;

/// Compare two or three documents
///
/// Documents are given, or named by ids of a collection. Exact numbers where contents are known, estimates from sketches always.
#[utoipa::path(post, path = "/compare", tag = "similarity", request_body = CompareRequest,
    responses(
        (status = 200, description = "Similarities, intersections, the cells of the Venn diagram", body = CompareAnswer),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn compare(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    Json(request): Json<CompareRequest>,
) -> Result<Response> {
    let start = Instant::now();
    match &request.collection {
        Some(name) => access.check(Scope::Read, Some(name))?,
        None => access.check_read()?,
    }
    let shared = Arc::clone(&state);
    let work = move || {
        let CompareRequest { documents, collection, fields, passages } = request;
        let index = collection.map(|name| shared.shelf.get(&name)).transpose()?;
        let (settings, own) = match (&index, fields) {
            (Some(_), Some(_)) => return Err(ApiError::bad("give either `collection` or `fields`")),
            (Some(index), None) => (index.settings().clone(), None),
            (None, fields) => {
                let schema = match fields {
                    Some(fields) => fields.schema()?,
                    None => serde_json::from_str(USUAL).expect("the usual schema is one"),
                };
                let settings = Settings::new(schema)?;
                let recorder = Recorder::new(&settings)?;
                (settings, Some(recorder))
            }
        };
        let recorder = match (&index, &own) {
            (Some(index), _) => index.recorder(),
            (None, Some(own)) => own,
            (None, None) => return Err(ApiError::bad("give `collection` or `fields`")),
        };
        let subjects = documents
            .into_iter()
            .take(4)
            .map(|comparand| subject(comparand, index.as_deref(), recorder))
            .collect::<Result<Vec<_>>>()?;
        Ok(CompareAnswer::of(compare_subjects(&settings, &subjects, passages)?, milliseconds(start)))
    };
    Ok(json(&state.readers.run(work).await?))
}

fn subject(comparand: Comparand, index: Option<&Index>, recorder: &Recorder) -> Result<Subject> {
    match (comparand.document, comparand.id, index) {
        (Some(document), None, _) => Ok(Subject::new(recorder, document.document())?),
        (None, Some(id), Some(index)) => Ok(index.subject(&id)?),
        (None, Some(_), None) => Err(ApiError::bad("`collection` must name the collection of the ids")),
        _ => Err(ApiError::bad("each of `documents` must have either `document` or `id`")),
    }
}

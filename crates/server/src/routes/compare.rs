//! Two or three documents side by side.

use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use benzer_index::compare::{Comparison, Subject, compare as compare_subjects};
use benzer_index::{Index, Recorder, Settings};

use super::{Failures, json, milliseconds};
use crate::access::keys::Scope;
use crate::error::{ApiError, Result};
use crate::request::{Caller, Json};
use crate::state::State;
use crate::wire::compare::{Comparand, CompareAnswer, CompareRequest};
use crate::wire::schema::Fields;

const DEFAULT_SCHEMA: &str = r#"{"fields": {"text": {"kind": "text"}}}"#;

/// Compare two or three documents
///
/// Documents are given, or named by ids of a collection. Exact numbers where contents are known, estimates from sketches always.
#[utoipa::path(post, path = "/compare", tag = "similarity", request_body = CompareRequest,
    responses(
        (status = 200, description = "Similarities, intersections, the cells of the Venn diagram", body = CompareAnswer),
        Failures
))]
pub async fn compare(caller: Caller, Json(request): Json<CompareRequest>) -> Result<Response> {
    let start = Instant::now();
    match &request.collection {
        Some(name) => caller.access.check(Scope::Read, Some(name))?,
        None => caller.access.check_read()?,
    }
    let state = Arc::clone(&caller.state);
    let work = move || Ok(CompareAnswer::of(compared(&state, request)?, milliseconds(start)));
    Ok(json(&caller.state.readers.run(work).await?))
}

fn compared(state: &State, request: CompareRequest) -> Result<Comparison> {
    let CompareRequest { documents, collection, fields, passages } = request;
    let index = collection.map(|name| state.collections.get(&name)).transpose()?;
    let (own_settings, own_recorder);
    let (settings, recorder) = match (&index, fields) {
        (Some(_), Some(_)) => return Err(ApiError::bad("give either `collection` or `fields`")),
        (Some(index), None) => (index.settings(), index.recorder()),
        (None, fields) => {
            own_settings = of_fields(fields)?;
            own_recorder = Recorder::new(&own_settings)?;
            (&own_settings, &own_recorder)
        }
    };
    let subjects = documents
        .into_iter()
        .take(4)
        .map(|comparand| subject(comparand, index.as_deref(), recorder))
        .collect::<Result<Vec<_>>>()?;
    Ok(compare_subjects(settings, &subjects, passages)?)
}

/// The settings of documents that are in no collection.
fn of_fields(fields: Option<Fields>) -> Result<Settings> {
    let schema = match fields {
        Some(fields) => fields.schema()?,
        None => serde_json::from_str(DEFAULT_SCHEMA).expect("the default schema is one"),
    };
    Ok(Settings::new(schema)?)
}

fn subject(comparand: Comparand, index: Option<&Index>, recorder: &Recorder) -> Result<Subject> {
    match (comparand.document, comparand.id, index) {
        (Some(document), None, _) => Ok(Subject::new(recorder, document.document())?),
        (None, Some(id), Some(index)) => Ok(index.subject(&id)?),
        (None, Some(_), None) => Err(ApiError::bad("`collection` must name the collection of the ids")),
        _ => Err(ApiError::bad("each of `documents` must have either `document` or `id`")),
    }
}

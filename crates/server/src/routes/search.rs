//! Search by a document or by the id of one.

use std::time::Instant;

use axum::response::Response;
use benzer_index::QueryDocument;

use super::{Failures, json, milliseconds};
use crate::error::{ApiError, Result};
use crate::request::{Caller, Json, Opened, PathParts};
use crate::wire::search::{SearchAnswer, SearchRequest};

const MAX_MATCHES: usize = 1000;
const MAX_EXPLAINED: usize = 100;

/// Find similar documents
#[utoipa::path(post, path = "/collections/{name}/search", tag = "similarity", params(("name" = String, Path)), request_body = SearchRequest,
    responses(
        (status = 200, description = "The similar documents, the most similar first", body = SearchAnswer),
        Failures
))]
pub async fn search(
    caller: Caller,
    PathParts(name): PathParts<String>,
    Json(request): Json<SearchRequest>,
) -> Result<Response> {
    let start = Instant::now();
    let (query, max) = (request.query(), if request.explain { MAX_EXPLAINED } else { MAX_MATCHES });
    if query.n_wanted() > max {
        let name = if query.top.is_some() { "top" } else { "limit" };
        return Err(ApiError::bad(format!("`{name}` must be at most {max}, got {}", query.n_wanted())));
    }
    let find = move |found: Opened<'_>| {
        let begin = Instant::now();
        let document = request.document.map(|document| document.document());
        let asked = match (&document, &request.id) {
            (Some(document), None) => QueryDocument::Document(document),
            (None, Some(id)) => QueryDocument::Id(id),
            _ => return Err(ApiError::bad("give either `document` or `id`")),
        };
        let answer = match &request.with {
            Some(with) => found.index.three_way_search([asked, QueryDocument::Id(with)], &query)?,
            None => found.index.search_by(asked, &query)?,
        };
        found.state.metrics.search(answer.n_candidates, answer.n_matches, begin.elapsed());
        Ok(json(&SearchAnswer::of(answer, milliseconds(start))))
    };
    caller.read(name, find).await
}

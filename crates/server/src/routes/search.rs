//! Search by a document or by the id of one.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use benzer_index::{Index, QueryDocument};

use super::at::At;
use super::{json, milliseconds, reading};
use crate::access::Access;
use crate::app::Shared;
use crate::body::Json;
use crate::error::{ApiError, ErrorBody, Result};
use crate::wire::search::{SearchAnswer, SearchRequest};

/// Matches that one answer has at most.
const MOST: usize = 1000;
/// Matches that can be explained at a time.
const MOST_EXPLAINED: usize = 100;

/// Find similar documents
#[utoipa::path(post, path = "/collections/{name}/search", tag = "similarity", params(("name" = String, Path)), request_body = SearchRequest,
    responses(
        (status = 200, description = "The similar documents, the most similar first", body = SearchAnswer),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn search(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    At(name): At<String>,
    Json(request): Json<SearchRequest>,
) -> Result<Response> {
    let start = Instant::now();
    let most = if request.explain { MOST_EXPLAINED } else { MOST };
    if request.wanted() > most {
        let name = if request.top.is_some() { "top" } else { "limit" };
        return Err(ApiError::bad(format!("`{name}` must be at most {most}, got {}", request.wanted())));
    }
    let find = move |shared: &Shared, _: &str, index: &Arc<Index>| {
        let query = request.query();
        let begin = Instant::now();
        let document = request.document.map(|document| document.document());
        let asked = match (&document, &request.id) {
            (Some(document), None) => QueryDocument::Document(document),
            (None, Some(id)) => QueryDocument::Id(id),
            _ => return Err(ApiError::bad("give either `document` or `id`")),
        };
        let answer = match (&request.with, asked) {
            (Some(with), _) => index.three_way_search([asked, QueryDocument::Id(with)], &query)?,
            (None, QueryDocument::Document(document)) => index.search(document, &query)?,
            (None, QueryDocument::Id(id)) => index.search_id(id, &query)?,
        };
        shared.metrics.search(answer.n_candidates, answer.n_matches, begin.elapsed());
        Ok(json(&SearchAnswer::of(answer, milliseconds(start))))
    };
    reading(&state, &access, name, find).await
}

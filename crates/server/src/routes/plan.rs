//! Plans.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;

use super::json;
use crate::access::Access;
use crate::app::Shared;
use crate::body::Json;
use crate::error::{ErrorBody, Result};
use crate::wire::plan::{PlanAnswer, PlanRequest};

/// Plan a collection
///
/// Which sketch and which bands a threshold, a recall and a budget ask for, with everything else that could be kept beside it at equal error.
#[utoipa::path(post, path = "/plan", tag = "similarity", request_body = PlanRequest,
    responses(
        (status = 200, description = "The plan, or what would have to give", body = PlanAnswer),
        (status = "4XX", description = "The request cannot be served; `error.code` says why", body = ErrorBody),
        (status = "5XX", description = "The server is too busy, or failed", body = ErrorBody)
))]
pub async fn plan(
    State(state): State<Shared>,
    Extension(access): Extension<Access>,
    Json(request): Json<PlanRequest>,
) -> Result<Response> {
    access.check_read()?;
    Ok(json(&state.readers.run(move || request.answer()).await?))
}

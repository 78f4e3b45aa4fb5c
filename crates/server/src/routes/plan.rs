//! Plans.

use axum::response::Response;

use super::{Failures, json};
use crate::error::Result;
use crate::request::{Caller, Json};
use crate::wire::plan::{PlanAnswer, PlanRequest};

/// Plan a collection
///
/// Which sketch and which bands a threshold, a recall and a budget ask for, with everything else that could be kept beside it at equal error.
#[utoipa::path(post, path = "/plan", tag = "similarity", request_body = PlanRequest,
    responses(
        (status = 200, description = "The plan, or what would have to give", body = PlanAnswer),
        Failures
))]
pub async fn plan(caller: Caller, Json(request): Json<PlanRequest>) -> Result<Response> {
    caller.access.check_read()?;
    Ok(json(&caller.state.readers.run(move || request.answer()).await?))
}

//! The parts of a path.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, Result};

/// The named parts of a path; one that is not text is refused like everything else.
pub struct PathParts<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParts<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(parts)| Self(parts)).map_err(|error| ApiError::bad(error.body_text()))
    }
}

//! What a request can be answered with when it cannot be served: a status, a code for programs, a message for people.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use benzer_index::Error;
use serde::Serialize;
use utoipa::ToSchema;

/// The body of every answer that is not a success.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// For programs; it does not change between versions.
    #[schema(example = "collection_not_found")]
    pub code: String,
    /// For people: what, where, and the remedy.
    pub message: String,
}

#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub detail: ErrorDetail,
    retry_after: Option<u64>,
}

pub type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    pub fn new(status: StatusCode, code: &str, message: impl ToString) -> Self {
        let detail = ErrorDetail { code: code.to_owned(), message: message.to_string() };
        Self { status, detail, retry_after: None }
    }

    pub fn bad(message: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub fn too_large(message: impl ToString) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub fn overloaded(message: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message).after(1)
    }

    pub fn timeout(seconds: u64) -> Self {
        let message =
            format!("the request took more than {seconds} s; send less at a time, or try again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", message).after(1)
    }

    /// A request that ended by a fault of the server, which is logged.
    pub fn unforeseen() -> Self {
        let message = "the request ended in a way that was not foreseen; the server's log says how";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// A collection that is not there, or not for this key.
    pub fn no_collection(name: &str) -> Self {
        Error::NoCollection { name: name.to_owned() }.into()
    }

    /// The same with the seconds after which it is worth trying again.
    pub fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

/// The one place where errors of the index become statuses. What is the server's own fault is logged whole and told without the names of files.
impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let (status, code) = match &error {
            Error::NoCollection { .. } => (StatusCode::NOT_FOUND, "collection_not_found"),
            Error::NoDocument { .. } => (StatusCode::NOT_FOUND, "document_not_found"),
            Error::Exists { .. } => (StatusCode::CONFLICT, "collection_exists"),
            Error::Parameter { .. } | Error::Core(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            Error::Full => (StatusCode::INSUFFICIENT_STORAGE, "collection_full"),
            Error::Locked { .. } | Error::ReadOnly { .. } => {
                tracing::error!(%error, "a collection cannot be written to");
                let message = "another process writes to the collection; stop it, or use its server";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "locked", message).after(5);
            }
            Error::Disk { source, .. } if is_full(source) => {
                tracing::error!(%error, "no room left");
                let message = "there is no room left on the server's disk; nothing was changed";
                return Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", message);
            }
            Error::NoRoom { .. } => {
                tracing::error!(%error, "no room left");
                let message =
                    "there is no room left in the server's store; send the request again when there is";
                return Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", message);
            }
            Error::Unavailable { .. } => {
                tracing::error!(%error, "the store does not answer");
                let message =
                    "the server's store does not answer now; the request can be sent again without harm";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message).after(5);
            }
            _ => {
                tracing::error!(%error, "the store failed");
                let message = "the store failed; the server's log says how";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, "store_failed", message);
            }
        };
        Self::new(status, code, error)
    }
}

fn is_full(source: &std::io::Error) -> bool {
    matches!(source.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&ErrorBody { error: self.detail }).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let mut response = (self.status, kind, body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_names_of_files_stay_in_the_log() {
        let path = PathBuf::from("/secret/place");
        let source = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let errors = [
            Error::Disk { action: "write", path: path.clone(), source: source() },
            Error::Damaged { path: path.clone(), what: "torn".into() },
            Error::Locked { folder: path.clone(), pid: Some(1) },
            Error::Disk { action: "write", path, source: std::io::ErrorKind::StorageFull.into() },
            Error::NoRoom { backend: "redis", source: "secret: full".into() },
            Error::Unavailable { backend: "redis", source: "secret: gone".into() },
        ];
        let statuses = errors.map(|error| {
            let error = ApiError::from(error);
            assert!(!error.detail.message.contains("secret"), "{error:?}");
            error.status.as_u16()
        });
        assert_eq!(statuses, [500, 500, 503, 507, 507, 503]);
    }

    #[test]
    fn overload_says_when_to_come_back() {
        let response = ApiError::overloaded("busy").into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }
}

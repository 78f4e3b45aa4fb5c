//! JSON of requests, parsed up to a depth.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::body::{Media, Received, STEP, unsupported};
use crate::error::{ApiError, Result};
use crate::state::Shared;

pub struct Json<T>(pub T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<Shared> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Shared) -> Result<Self> {
        let limits = &state.limits;
        // A few documents: a batch has a route of its own.
        let limit = limits.body.min(4 * limits.document + STEP);
        let received = Received::receive(request, state, limit).await?;
        if received.media != Media::Json {
            return Err(unsupported("`content-type` must be application/json".to_owned()));
        }
        let (bytes, _memory) = received.decompressed(limit)?;
        Ok(Self(parse(&bytes, limits.depth)?))
    }
}

/// A value of JSON that is not too deep.
fn parse<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> Result<T> {
    check_depth(bytes, depth)?;
    serde_json::from_slice(bytes).map_err(|error| {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", format!("the body is not understood: {error}"))
    })
}

/// Refuses JSON that is nested deeper than so many levels. Errors: too many brackets inside of each other.
pub fn check_depth(json: &[u8], max: usize) -> Result<()> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > max {
                    return Err(ApiError::bad(format!("the JSON is nested deeper than {max} levels")));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_are_not_levels() {
        assert!(check_depth(br#"{"a": "[[[[\"[[[", "b": [1]}"#, 2).is_ok());
        assert!(check_depth(br#"{"a": [[1]]}"#, 2).is_err());
        assert!(check_depth(&[b'['; 1_000_000], 32).is_err());
        assert!(check_depth(br#"[[],[],[],"\\",[]]"#, 2).is_ok());
    }
}

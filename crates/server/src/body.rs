//! Bodies of requests: read up to a limit, decompressed up to a limit, parsed up to a depth.

use std::io::Read;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::BytesMut;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::app::Shared;
use crate::budget::Taken;
use crate::error::{ApiError, Result};

/// A decompressed body grows by so much at a time.
const STEP: usize = 1 << 20;

/// What a body holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// One JSON value.
    Json,
    /// One JSON value on each line.
    Lines,
    /// One document in parts: itself as JSON, and files.
    #[cfg(feature = "image")]
    Parts,
}

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
    Zstd,
}

/// A body that was read, and the memory that it takes.
#[derive(Debug)]
pub struct Received {
    /// As it came.
    bytes: BytesMut,
    coding: Coding,
    /// What it is.
    pub media: Media,
    /// What stands between its parts, if it has parts.
    #[cfg(feature = "image")]
    pub boundary: Option<String>,
    taken: Taken,
}

impl Received {
    /// The bytes, decompressed. It may take a while.
    ///
    /// # Errors
    /// Bytes that are not what the header says; more than the limit.
    pub fn decompressed(mut self, limit: usize) -> Result<(Vec<u8>, Taken)> {
        let bytes = self.bytes.split().freeze();
        match self.coding {
            Coding::Identity => Ok((bytes.into(), self.taken)),
            Coding::Gzip => expand(flate2::read::MultiGzDecoder::new(&bytes[..]), "gzip", limit, self.taken),
            Coding::Zstd => {
                let decoder = zstd::Decoder::with_buffer(&bytes[..]).and_then(|mut decoder| {
                    // A frame may ask for a window of gigabytes.
                    decoder.window_log_max(27)?;
                    Ok(decoder)
                });
                expand(decoder.map_err(|error| damaged("zstd", &error))?, "zstd", limit, self.taken)
            }
        }
    }
}

fn expand(mut from: impl Read, name: &str, limit: usize, mut taken: Taken) -> Result<(Vec<u8>, Taken)> {
    let mut bytes = Vec::new();
    loop {
        taken.more(STEP)?;
        let before = bytes.len();
        bytes.reserve(STEP);
        from.by_ref().take(STEP as u64).read_to_end(&mut bytes).map_err(|error| damaged(name, &error))?;
        if bytes.len() > limit {
            return Err(ApiError::too_large(format!(
                "the body is larger than {limit} bytes when decompressed"
            )));
        }
        if bytes.len() == before {
            return Ok((bytes, taken));
        }
    }
}

fn damaged(name: &str, error: &std::io::Error) -> ApiError {
    ApiError::bad(format!("the body is not what `content-encoding: {name}` says: {error}"))
}

impl FromRequest<Shared> for Received {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Shared) -> Result<Self> {
        Self::receive(request, state, state.limits.body).await
    }
}

impl Received {
    async fn receive(request: Request, state: &Shared, limit: usize) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let (media, coding) = (media(&parts.headers)?, coding(&parts.headers)?);
        #[cfg(feature = "image")]
        let boundary = crate::multipart::boundary(&parts.headers);
        let length =
            parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > limit) {
            return Err(ApiError::too_large(format!("the body is larger than {limit} bytes")));
        }
        let mut taken = state.bodies.take();
        // What is announced is taken at once, so that no half of a body is read in vain.
        let announced = length.unwrap_or_default();
        taken.more(announced)?;
        let mut bytes = BytesMut::with_capacity(announced);
        collect(body, limit, announced, &mut bytes, &mut taken).await?;
        Ok(Self {
            bytes,
            coding,
            media,
            #[cfg(feature = "image")]
            boundary,
            taken,
        })
    }
}

async fn collect(
    mut body: Body,
    limit: usize,
    mut covered: usize,
    bytes: &mut BytesMut,
    taken: &mut Taken,
) -> Result<()> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::bad(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(ApiError::too_large(format!("the body is larger than {limit} bytes")));
        }
        if bytes.len() + data.len() > covered {
            taken.more(STEP)?;
            covered += STEP.max(data.len());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(())
}

fn media(headers: &HeaderMap) -> Result<Media> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/json" => Ok(Media::Json),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => {
            Ok(Media::Lines)
        }
        #[cfg(feature = "image")]
        "multipart/form-data" => Ok(Media::Parts),
        other => Err(unsupported(format!(
            "`content-type` must be application/json (application/x-ndjson for lines of documents, multipart/form-data for one with files), got `{other}`"
        ))),
    }
}

fn coding(headers: &HeaderMap) -> Result<Coding> {
    let name = headers.get(header::CONTENT_ENCODING).map_or(Ok("identity"), |value| value.to_str());
    match name.unwrap_or("?").trim().to_ascii_lowercase().as_str() {
        "identity" | "" => Ok(Coding::Identity),
        "gzip" | "x-gzip" => Ok(Coding::Gzip),
        "zstd" => Ok(Coding::Zstd),
        other => {
            Err(unsupported(format!("`content-encoding` must be gzip, zstd or identity, got `{other}`")))
        }
    }
}

fn unsupported(message: String) -> ApiError {
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
}

/// A JSON body of a type.
#[derive(Debug)]
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
        let (bytes, _taken) = received.decompressed(limit)?;
        Ok(Self(parse(&bytes, limits.depth)?))
    }
}

/// A value of JSON that is not too deep.
///
/// # Errors
/// Other bytes; too many brackets inside of each other.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> Result<T> {
    check_depth(bytes, depth)?;
    serde_json::from_slice(bytes).map_err(|error| {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", format!("the body is not understood: {error}"))
    })
}

/// Refuses JSON that is nested deeper than so many levels.
///
/// # Errors
/// Too many brackets inside of each other.
pub fn check_depth(json: &[u8], most: usize) -> Result<()> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return Err(ApiError::bad(format!("the JSON is nested deeper than {most} levels")));
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

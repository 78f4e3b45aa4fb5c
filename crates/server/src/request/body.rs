//! Bodies of requests: read up to a limit, decompressed up to a limit.

use std::io::Read;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::BytesMut;
use http_body_util::BodyExt;

use crate::error::{ApiError, Result};
use crate::resources::Reservation;
use crate::state::Shared;

/// A decompressed body grows by so much at a time.
pub(super) const STEP: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Json,
    Lines,
    /// One document in parts: itself as JSON, and files.
    #[cfg(feature = "image")]
    Parts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
    Zstd,
}

/// A body that was read, and the memory that it takes.
pub struct Received {
    /// As it came.
    bytes: BytesMut,
    coding: Coding,
    pub media: Media,
    /// What stands between its parts, if it has parts.
    #[cfg(feature = "image")]
    pub boundary: Option<String>,
    memory: Reservation,
}

impl Received {
    /// The bytes, decompressed. It may take a while. Errors: bytes that are not what the header says; more than the limit.
    pub fn decompressed(mut self, limit: usize) -> Result<(Vec<u8>, Reservation)> {
        let bytes = self.bytes.split().freeze();
        match self.coding {
            Coding::Identity => Ok((bytes.into(), self.memory)),
            Coding::Gzip => expand(flate2::read::MultiGzDecoder::new(&bytes[..]), "gzip", limit, self.memory),
            Coding::Zstd => {
                let decoder = zstd::Decoder::with_buffer(&bytes[..]).and_then(|mut decoder| {
                    // A frame may ask for a window of gigabytes.
                    decoder.window_log_max(27)?;
                    Ok(decoder)
                });
                expand(decoder.map_err(|error| damaged("zstd", &error))?, "zstd", limit, self.memory)
            }
        }
    }
}

fn expand(
    mut from: impl Read,
    name: &str,
    limit: usize,
    mut memory: Reservation,
) -> Result<(Vec<u8>, Reservation)> {
    let mut bytes = Vec::new();
    loop {
        memory.grow(STEP)?;
        let before = bytes.len();
        bytes.reserve(STEP);
        from.by_ref().take(STEP as u64).read_to_end(&mut bytes).map_err(|error| damaged(name, &error))?;
        if bytes.len() > limit {
            return Err(ApiError::too_large(format!(
                "the body is larger than {limit} bytes when decompressed"
            )));
        }
        if bytes.len() == before {
            return Ok((bytes, memory));
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
    pub(super) async fn receive(request: Request, state: &Shared, limit: usize) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let (media, coding) = (media(&parts.headers)?, coding(&parts.headers)?);
        #[cfg(feature = "image")]
        let boundary = super::multipart::boundary(&parts.headers);
        let length =
            parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > limit) {
            return Err(ApiError::too_large(format!("the body is larger than {limit} bytes")));
        }
        let mut memory = state.bodies.reserve();
        // What is announced is reserved at once, so that no half of a body is read in vain.
        let announced = length.unwrap_or_default();
        memory.grow(announced)?;
        let mut bytes = BytesMut::with_capacity(announced);
        collect(body, limit, announced, &mut bytes, &mut memory).await?;
        Ok(Self {
            bytes,
            coding,
            media,
            #[cfg(feature = "image")]
            boundary,
            memory,
        })
    }
}

async fn collect(
    mut body: Body,
    limit: usize,
    mut covered: usize,
    bytes: &mut BytesMut,
    memory: &mut Reservation,
) -> Result<()> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::bad(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(ApiError::too_large(format!("the body is larger than {limit} bytes")));
        }
        if bytes.len() + data.len() > covered {
            memory.grow(STEP)?;
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

pub(super) fn unsupported(message: String) -> ApiError {
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
}

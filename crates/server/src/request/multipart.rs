//! Documents in parts (`multipart/form-data`): one part is the document as JSON, every other one a file for the field that it is named after.

use axum::http::{HeaderMap, header};
use benzer_core::field::image::encode;
use serde_json::{Value, json};

use crate::error::{ApiError, Result};

const DOCUMENT: &str = "document";
/// More parts than anybody has fields.
const MAX_PARTS: usize = 65;

pub fn boundary(headers: &HeaderMap) -> Option<String> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let value = kind.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?;
    Some(value.trim_matches('"').to_owned())
}

/// The document of a body as JSON, with the files in base64. Errors: a body that is not what its header says, without a document, or with a part that has no name.
pub fn document(bytes: &[u8], boundary: Option<&str>) -> Result<Vec<u8>> {
    let boundary = boundary
        .filter(|boundary| !boundary.is_empty())
        .ok_or_else(|| ApiError::bad("`content-type: multipart/form-data` must say its boundary"))?;
    let mut document = None;
    let mut files = Vec::new();
    for part in parts(bytes, boundary)? {
        let (name, content) = named(part)?;
        if name == DOCUMENT {
            let json: Value = serde_json::from_slice(content)
                .map_err(|error| ApiError::bad(format!("the part `{DOCUMENT}` is not JSON: {error}")))?;
            document = Some(json);
        } else {
            files.push((name, encode(content)));
        }
    }
    let Some(Value::Object(mut document)) = document else {
        let message = format!(
            "a part `{DOCUMENT}` is missing, such as {{\"id\": \"7\"}}; the other parts are files by the names of fields"
        );
        return Err(ApiError::bad(message));
    };
    let fields = document.entry("fields").or_insert_with(|| json!({}));
    let Value::Object(fields) = fields else {
        return Err(ApiError::bad(format!("`fields` of the part `{DOCUMENT}` must be an object")));
    };
    fields.extend(files.into_iter().map(|(name, text)| (name, Value::String(text))));
    Ok(serde_json::to_vec(&document).unwrap_or_default())
}

fn parts<'a>(bytes: &'a [u8], boundary: &str) -> Result<Vec<&'a [u8]>> {
    let broken = || ApiError::bad("the body is not `multipart/form-data`: its last boundary is missing");
    let mark = format!("--{boundary}").into_bytes();
    let mut rest = bytes.strip_prefix(&mark[..]).ok_or_else(broken)?;
    let mark = [b"\r\n", &mark[..]].concat();
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        let body = rest.strip_prefix(b"\r\n").ok_or_else(broken)?;
        let end = find(body, &mark).ok_or_else(broken)?;
        parts.push(&body[..end]);
        if parts.len() > MAX_PARTS {
            return Err(ApiError::too_large(format!("the body has more than {MAX_PARTS} parts")));
        }
        rest = &body[end + mark.len()..];
    }
    Ok(parts)
}

/// The name of a part, and what is in it.
fn named(part: &[u8]) -> Result<(String, &[u8])> {
    let nameless = || ApiError::bad("a part of the body has no name; name it after a field");
    let end = find(part, b"\r\n\r\n").ok_or_else(nameless)?;
    let head = std::str::from_utf8(&part[..end]).map_err(|_| nameless())?;
    let disposition = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"));
    let name = disposition
        .and_then(|line| line.split(';').find_map(|piece| piece.trim().strip_prefix("name=")))
        .map(|name| name.trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .ok_or_else(nameless)?;
    Ok((name, &part[end + 4..]))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"--x\r\nContent-Disposition: form-data; name=\"document\"\r\n\r\n{\"id\": \"7\"}\r\n--x\r\n\
        Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\x00\xff\r\n\x01\r\n--x--\r\n";

    #[test]
    fn files_become_fields_in_base64() {
        let json: Value = serde_json::from_slice(&document(BODY, Some("x")).unwrap()).unwrap();
        assert_eq!(json, json!({"id": "7", "fields": {"photo": "AP8NCgE="}}));
    }

    #[test]
    fn a_body_that_breaks_off_anywhere_is_refused() {
        for end in 0..BODY.len() - 4 {
            assert!(document(&BODY[..end], Some("x")).is_err(), "{end}");
        }
        assert!(document(BODY, Some("y")).is_err() && document(BODY, None).is_err());
    }
}

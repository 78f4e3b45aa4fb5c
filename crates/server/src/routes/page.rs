//! The page: static files that are part of the binary.

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::state::Shared;

/// A file of the page.
pub struct File {
    /// Where it is served.
    pub path: &'static str,
    kind: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

macro_rules! file {
    ($path:literal, $name:literal, $kind:literal) => {
        File { path: $path, kind: $kind, bytes: include_bytes!(concat!("../../ui/", $name)) }
    };
}

/// All files of the page.
pub const FILES: &[File] = &[
    file!("/", "index.html", "text/html; charset=utf-8"),
    file!("/reference", "reference.html", "text/html; charset=utf-8"),
    file!("/ui/style.css", "style.css", "text/css; charset=utf-8"),
    file!("/ui/icon.svg", "icon.svg", "image/svg+xml"),
    file!("/ui/app.js", "app.js", "text/javascript; charset=utf-8"),
    file!("/ui/api.js", "api.js", "text/javascript; charset=utf-8"),
    file!("/ui/dom.js", "dom.js", "text/javascript; charset=utf-8"),
    file!("/ui/charts.js", "charts.js", "text/javascript; charset=utf-8"),
    file!("/ui/diff.js", "diff.js", "text/javascript; charset=utf-8"),
    file!("/ui/search.js", "search.js", "text/javascript; charset=utf-8"),
    file!("/ui/collections.js", "collections.js", "text/javascript; charset=utf-8"),
    file!("/ui/fields.js", "fields.js", "text/javascript; charset=utf-8"),
    file!("/ui/upload.js", "upload.js", "text/javascript; charset=utf-8"),
    file!("/ui/uploads.js", "uploads.js", "text/javascript; charset=utf-8"),
    file!("/ui/duplicates.js", "duplicates.js", "text/javascript; charset=utf-8"),
    file!("/ui/compare.js", "compare.js", "text/javascript; charset=utf-8"),
    file!("/ui/planner.js", "planner.js", "text/javascript; charset=utf-8"),
    file!("/ui/reference.js", "reference.js", "text/javascript; charset=utf-8"),
];

/// The routes of the files.
pub fn files() -> Router<Shared> {
    FILES.iter().fold(Router::new(), |router, file| {
        router.route(file.path, get(move |headers: HeaderMap| async move { serve(file, &headers) }))
    })
}

/// A file, or the news that the browser has it already.
fn serve(file: &File, headers: &HeaderMap) -> Response {
    let tag = format!("\"{:016x}\"", benzer_core::hash::element(file.bytes));
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let common = [
        (header::ETAG, HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""))),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    if known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, [(header::CONTENT_TYPE, HeaderValue::from_static(file.kind))], file.bytes).into_response()
}

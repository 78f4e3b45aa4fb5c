//! Pictures that documents name by their files.

use std::path::Path;

use benzer_core::field::image::{Limits, encode};
use benzer_core::field::{Content, FieldSpec, Kind};

/// How a path begins that stands for the file it names.
const FILE: &str = "file:";

/// The content of a field, with the file that it names in its place. A path is relative to the folder of the input.
pub(super) fn with_file(spec: &FieldSpec, input: &Path, content: Content) -> Result<Content, String> {
    let Content::Text(text) = &content else { return Ok(content) };
    let Some(path) = text.strip_prefix(FILE).filter(|_| matches!(spec.kind, Kind::Image(_))) else {
        return Ok(content);
    };
    let path = input.parent().unwrap_or(Path::new("")).join(path);
    let fail = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    let limit = Limits::default().bytes;
    let bytes = std::fs::metadata(&path).map_err(fail)?.len();
    if bytes > limit {
        return Err(format!("`{}` has {bytes} bytes, and at most {limit} are read", path.display()));
    }
    Ok(Content::Text(encode(&std::fs::read(&path).map_err(fail)?)))
}

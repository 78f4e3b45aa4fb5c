//! Where the results of another threshold may go: to a new folder, or over what was made so before.

use std::path::Path;

use serde_json::Value;

use super::manifest::{self, Manifest};
use crate::error::{Error, Result};
use crate::tables::{Column, PairsColumn};
use benzer_io::places;

/// Refuses a folder that holds the run itself, another run, or other files.
pub(super) fn check(folder: &Path, out: &Path) -> Result<()> {
    places::check_folder(out, [folder])?;
    let occupied = |what| Err(Error::Occupied { path: out.to_owned(), what });
    if !out.exists() {
        return Ok(());
    }
    if !out.join(manifest::NAME).exists() {
        let is_empty = std::fs::read_dir(out).map_err(|error| Error::open(out, error))?.next().is_none();
        return if is_empty { Ok(()) } else { occupied("other files; name a new folder with --output") };
    }
    match Manifest::read(out)?.json["from"].is_null() {
        true => occupied("the results of a run; name a new folder with --output"),
        false => Ok(()),
    }
}

/// Of which pairs something is made, by the manifest of their run.
pub(crate) fn checksum_of_pairs(manifest: &Value) -> Value {
    let files = manifest["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pairs = files.iter().find(|file| file["name"] == PairsColumn::FILE);
    pairs.map_or(Value::Null, |file| file["checksum"].clone())
}

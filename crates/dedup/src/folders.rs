//! The names of what a run leaves in the folder of its results and in its work folder.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::results::manifest::{Manifest, NAME as MANIFEST, RUN};
use crate::tables::{Column, PlacesColumn};

/// Where the documents go.
pub(crate) const DOCUMENTS: &str = "documents";
/// Where kept documents and pictures go.
pub(crate) const DOCUMENT_FOLDERS: [&str; 2] = [DOCUMENTS, "pictures"];
/// The work folder, where none is named.
pub(crate) const WORK: &str = ".benzer-work";
/// The rejected lines, in the work folder until the results are written.
pub(crate) const REJECTS: &str = "rejects.jsonl";
/// The rejected lines of corpora of old documents.
pub(crate) const OLD_REJECTS: &str = "against-rejects.jsonl";
/// Everything a run writes to its output folder, in the order of writing.
pub(crate) const RESULTS: [&str; 9] = [
    REJECTS,
    OLD_REJECTS,
    "pairs.parquet",
    "evidence.parquet",
    "clusters.parquet",
    PlacesColumn::FILE,
    "report.html",
    RUN,
    MANIFEST,
];

/// The folders that `rethreshold` has left in that of the results.
pub(crate) fn rethresholded(output: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(output).map_err(|error| Error::open(output, error))?.flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink());
    let is_derived = |path: &PathBuf| {
        Manifest::read(path)
            .is_ok_and(|manifest| manifest.json["benzer"].is_string() && !manifest.json["from"].is_null())
    };
    Ok(folders.filter(is_derived).collect())
}

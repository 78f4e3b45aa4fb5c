//! `archive.json`: what an archive holds. It is written last, so that a folder that has one is whole, and what it does not name is left over.

use std::path::{Path, PathBuf};

use benzer_core::lsh::Banding;
use benzer_core::sketch::SketchSpec;
use serde::{Deserialize, Serialize};

use super::part::Kind;
use crate::error::{Error, Result};
use benzer_storage::{Files, Stamp, manifest};

pub(crate) const NAME: &str = "archive.json";
/// Raised when members change their meaning.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    benzer: String,
    /// What the sketches were made under.
    pub spec: SketchSpec,
    /// How the sketches are cut into keys.
    pub banding: Option<Banding>,
    /// The number of the next segment: no name is used twice.
    pub next: u32,
    /// In the order of their documents.
    pub segments: Vec<SegmentEntry>,
    /// Who added documents, in order.
    pub runs: Vec<Added>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SegmentEntry {
    pub name: String,
    pub documents: u32,
    pub rows: Stamp,
    pub contents: Stamp,
    pub keys: Stamp,
}

impl SegmentEntry {
    pub fn files(&self) -> [(String, Stamp); 3] {
        [(Kind::Rows, self.rows), (Kind::Contents, self.contents), (Kind::Keys, self.keys)]
            .map(|(kind, stamp)| (kind.name(&self.name), stamp))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Added {
    /// Names its inputs.
    pub inputs: String,
    /// Names its inputs and settings.
    pub fingerprint: String,
    /// How many documents the archive had before.
    pub first: u64,
    pub documents: u64,
}

impl Manifest {
    pub fn new(spec: &SketchSpec, banding: Option<Banding>) -> Self {
        let benzer = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            format: FORMAT,
            benzer,
            spec: spec.clone(),
            banding,
            next: 1,
            segments: Vec::new(),
            runs: Vec::new(),
        }
    }

    pub fn len(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.documents)).sum()
    }

    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let bytes = std::fs::read(&path).map_err(|error| Error::open(&path, error))?;
        let refuse = |got: String| Error::Archive {
            path: path.clone(),
            expected: format!("an archive of format {FORMAT}"),
            got,
            remedy: "use the version of benzer that wrote it, or a copy that is undamaged",
        };
        let json = manifest::unsealed(&bytes).map_err(refuse)?;
        if json["format"] != FORMAT {
            return Err(refuse(format!("format {}", json["format"])));
        }
        serde_json::from_value(json).map_err(|error| refuse(error.to_string()))
    }

    pub fn save(&self, files: &Files, folder: &Path) -> Result<(PathBuf, Stamp)> {
        let json = serde_json::to_string_pretty(self).expect("strings, numbers and lists");
        let body = json.strip_suffix("\n}").expect("an object over several lines ends so");
        let mut file = files.create(&folder.join(NAME))?;
        file.append(manifest::sealed(body).as_bytes())?;
        Ok((NAME.into(), file.commit()?))
    }
}

//! The two small files of a collection: what it is, and of which files it is made now.
//!
//! ```text
//! benzer KIND VERSION CHECKSUM      the element hash of everything after this line, in hexadecimal
//! { JSON }
//! ```

use std::fs;
use std::path::Path;

use benzer_core::hash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::{self, Files};
use super::segment::End;
use super::state::State;
use super::trouble;
use crate::error::{Error, Result};
use crate::record::DocNo;
use crate::settings::Settings;

/// What the collection is; a folder without it is not a collection.
pub(super) const COLLECTION: &str = "collection.json";
/// Of which files it is made.
pub(super) const CURRENT: &str = "current.json";
const VERSION: u32 = 1;

/// The log, and the segments that are in files. What comes later is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Current {
    /// The file of the log, and its salt.
    pub log: String,
    pub salt: u64,
    /// How far the segments cover the log.
    pub covered: End,
    /// How far all of the log was acknowledged when this was written.
    #[serde(default)]
    pub acknowledged: usize,
    /// Segments, in the order of their numbers.
    pub segments: Vec<ListedSegment>,
    /// Numbers in these segments that are removed.
    pub removed: Vec<DocNo>,
    /// [`State::has_lost`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_lost: bool,
}

/// A segment, which must be the one of this stretch of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListedSegment {
    pub file: String,
    pub from: usize,
    pub to: End,
}

impl Current {
    /// The segments that are in files, up to the first that is not.
    pub fn of(state: &State, log: String) -> Self {
        let parts = state.parts.iter().map_while(|part| Some((part, part.segment.path.as_ref()?)));
        let mut current = Self {
            log,
            salt: state.rows.salt,
            covered: End::START,
            acknowledged: state.end.place.max(state.rows.acknowledged),
            segments: Vec::new(),
            removed: Vec::new(),
            has_lost: state.has_lost,
        };
        for (part, path) in parts {
            let shape = &part.segment.shape;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            current.segments.push(ListedSegment { file, from: shape.from, to: shape.to });
            current.removed.extend(part.removed());
            current.covered = shape.to;
        }
        current
    }
}

/// Writes one of the files, durably.
pub(super) fn write(files: &dyn Files, path: &Path, kind: &str, value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(value).expect("it can always be written") + "\n";
    let text = format!("benzer {kind} {VERSION} {:016x}\n{json}", hash::element(json.as_bytes()));
    files::replace(files, path, text.as_bytes()).map_err(trouble("write", path))
}

/// Reads one of the files.
pub(super) fn read<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<T> {
    let text = fs::read_to_string(path).map_err(trouble("read", path))?;
    let damaged = |what: &str| Error::damaged(path, what);
    let (first, json) = text.split_once('\n').ok_or_else(|| damaged("it has no first line"))?;
    let parts: Vec<&str> = first.split(' ').collect();
    let [magic, found, version, checksum] = parts[..] else {
        return Err(damaged("its first line is not that of a collection"));
    };
    if (magic, found) != ("benzer", kind) {
        return Err(damaged("its first line is not that of a collection"));
    }
    if version.parse::<u32>().is_err() {
        return Err(damaged("its version is no number"));
    }
    if version != VERSION.to_string() {
        let name = path.file_name().unwrap_or_default().display();
        return Err(Error::incompatible(
            format!("{kind} of version {VERSION}"),
            format!("version {version} in `{name}`"),
        ));
    }
    if checksum != format!("{:016x}", hash::element(json.as_bytes())) {
        return Err(damaged("it does not have its checksum"));
    }
    serde_json::from_str(json).map_err(|error| damaged(&error.to_string()))
}

/// A number that settings of the same meaning share.
pub(super) fn fingerprint(settings: &Settings) -> u64 {
    hash::element(&serde_json::to_vec(settings).expect("settings can always be written"))
}

//! What a finished stage left behind, in a small file beside it.
//!
//! ```json
//! {
//!   "format": 1,
//!   "benzer": "0.1.0",
//!   "stage": "sketch",
//!   "fingerprint": "threshold=0.8 seed=42",
//!   "files": [
//!     {
//!       "name": "sketches.bsk",
//!       "bytes": 81920,
//!       "checksum": "a3f1c29b00d45e17"
//!     }
//!   ],
//!   "counts": {
//!     "documents": 512
//!   },
//!   "checksum": "5be0cd19137e2179"
//! }
//! ```
//!
//! The last member is the element hash of all bytes before the comma that precedes it; one value has one encoding, so a single
//! changed byte is noticed. The manifest is written after the files it names, which are on disk by then: whoever finds it finds them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use benzer_core::hash::element;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Files, checksum::Stamp, error::Result};

/// Version of the manifest itself.
pub const FORMAT_VERSION: u32 = 1;

/// The record of a finished stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    benzer: String,
    stage: String,
    fingerprint: String,
    files: Vec<FileEntry>,
    counts: Map<String, Value>,
}

/// A file of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path from the folder of the manifest.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// What is known of a stage. Anything but [`State::Finished`] means that it has to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// No manifest: never finished.
    Missing,
    /// Finished under other settings.
    Stale {
        /// The settings that were asked for.
        expected: String,
        /// The settings it was made with.
        found: String,
    },
    /// The manifest or a file it names is not as it was written.
    Damaged {
        /// Which.
        file: PathBuf,
        /// Expected and got.
        why: String,
    },
    /// Finished, and its files are there.
    Finished(Manifest),
}

/// How much of the files is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Their sizes.
    Sizes,
    /// Their sizes and every byte.
    Checksums,
}

impl Manifest {
    /// A stage without files and counts. The fingerprint names everything that its files depend on, the version of their layout
    /// included; the stage is part of a file name.
    pub fn new(stage: &str, fingerprint: &str) -> Self {
        Self {
            format: FORMAT_VERSION,
            benzer: env!("CARGO_PKG_VERSION").to_owned(),
            stage: stage.to_owned(),
            fingerprint: fingerprint.to_owned(),
            files: Vec::new(),
            counts: Map::new(),
        }
    }

    /// Adds a committed file, by its path from the folder of the manifest.
    pub fn add_file(&mut self, name: &str, stamp: Stamp) {
        self.files.push(FileEntry { name: name.to_owned(), stamp });
    }

    /// Adds or replaces a count.
    pub fn set_count(&mut self, name: &str, value: impl Into<Value>) {
        self.counts.insert(name.to_owned(), value.into());
    }

    /// The files, in the order in which they were added.
    pub fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// The counts by name.
    pub fn counts(&self) -> &Map<String, Value> {
        &self.counts
    }

    /// The file of a stage's manifest.
    pub fn path(folder: &Path, stage: &str) -> PathBuf {
        folder.join(format!("stage-{stage}.json"))
    }

    /// Writes it: from here on the stage is finished.
    ///
    /// # Errors
    /// What the operating system says, with the file's name.
    pub fn save(&self, files: &Files, folder: &Path) -> Result<Stamp> {
        let mut file = files.create(&Self::path(folder, &self.stage))?;
        file.append(sealed(&self.body()).as_bytes())?;
        file.commit()
    }

    /// What is known of a stage.
    pub fn load(folder: &Path, stage: &str, fingerprint: &str, check: Check) -> State {
        let path = Self::path(folder, stage);
        let manifest = match read(&path) {
            Ok(None) => return State::Missing,
            Ok(Some(manifest)) => manifest,
            Err(why) => return State::Damaged { file: path, why },
        };
        if manifest.stage != stage {
            let why = format!("expected stage `{stage}`, got `{}`", manifest.stage);
            return State::Damaged { file: path, why };
        }
        if manifest.fingerprint != fingerprint {
            return State::Stale { expected: fingerprint.to_owned(), found: manifest.fingerprint };
        }
        for FileEntry { name, stamp } in &manifest.files {
            let file = folder.join(name);
            if let Err(why) = compare(&file, stamp, check) {
                return State::Damaged { file, why };
            }
        }
        State::Finished(manifest)
    }

    /// What is wrong with the manifest of a finished stage, or with a file it names; how many files and bytes were read.
    pub fn verify(path: &Path) -> (Vec<(PathBuf, String)>, Vec<Stamp>) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let manifest = match read(path) {
            Ok(Some(manifest)) => manifest,
            Ok(None) => return (vec![(path.to_owned(), "it is not there".to_owned())], Vec::new()),
            Err(why) => return (vec![(path.to_owned(), why)], Vec::new()),
        };
        verify_files(folder, &manifest.files)
    }

    /// The JSON without its last line.
    fn body(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("strings, numbers and maps with text keys");
        json.strip_suffix("\n}").expect("an object over several lines ends so").to_owned()
    }
}

/// Appends the checksum member.
pub fn sealed(body: &str) -> String {
    format!("{body},\n  \"checksum\": \"{:016x}\"\n}}\n", element(body.as_bytes()))
}

/// The manifest in a file, nothing where there is no file, or what is wrong.
fn read(path: &Path) -> Result<Option<Manifest>, String> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
        Ok(bytes) => parse(&bytes).map(Some),
    }
}

fn parse(bytes: &[u8]) -> Result<Manifest, String> {
    let json = unsealed(bytes)?;
    if json["format"] != FORMAT_VERSION {
        return Err(format!("expected format {FORMAT_VERSION}, got {}", json["format"]));
    }
    serde_json::from_value(json).map_err(|error| error.to_string())
}

/// The JSON of a file whose checksum member holds, or what is wrong.
pub fn unsealed(bytes: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let body = text.rfind(",\n").map_or("", |end| &text[..end]);
    if sealed(body) != text {
        return Err("its checksum does not hold".to_owned());
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Reads every byte of files below a folder, and compares.
pub fn verify_files(folder: &Path, files: &[FileEntry]) -> (Vec<(PathBuf, String)>, Vec<Stamp>) {
    let wrong = |entry: &FileEntry| {
        let path = folder.join(&entry.name);
        compare(&path, &entry.stamp, Check::Checksums).err().map(|why| (path, why))
    };
    (files.iter().filter_map(wrong).collect(), files.iter().map(|entry| entry.stamp).collect())
}

fn compare(path: &Path, stamp: &Stamp, check: Check) -> Result<(), String> {
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() || found.len() != stamp.bytes {
        let got = if found.is_file() { format!("{}", found.len()) } else { "no file".to_owned() };
        return Err(format!("expected {} bytes, got {got}", stamp.bytes));
    }
    match check {
        Check::Sizes => Ok(()),
        Check::Checksums => stamp.verify(path).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests;

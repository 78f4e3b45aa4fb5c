//! `manifest.json` and `run.json`: JSON whose last member is the checksum of all bytes before it.
//!
//! Manifests of format 1 had no checksum; they are read as they are. One that says format 2, or has the member, must hold: so no single changed byte
//! makes a manifest pass for an old one.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use benzer_storage::{FileEntry, manifest};

/// The name of the file: what a finished run leaves, and nothing else does.
pub const NAME: &str = "manifest.json";
/// The file of times and memory beside it.
pub const RUN: &str = "run.json";
/// What is written now.
pub const FORMAT: u32 = 2;

/// Whether a file is the manifest of a run, also of one that is damaged.
pub fn is_manifest(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"\"benzer\"").is_some())
}

#[derive(Debug)]
pub(crate) struct Manifest {
    pub json: Value,
    pub files: Vec<FileEntry>,
    /// Whether it has a checksum of its own.
    pub is_sealed: bool,
}

/// The bytes of an object with its checksum.
pub fn sealed(object: &Value) -> Vec<u8> {
    let json = serde_json::to_string_pretty(object).expect("a value can always be written");
    let body = json.strip_suffix("\n}").expect("an object with members ends so");
    manifest::sealed(body).into_bytes()
}

impl Manifest {
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        super::check_here(&path)?;
        let bytes = std::fs::read(&path).map_err(|error| Error::open(&path, error))?;
        Self::parse(&bytes).map_err(|reason| Error::Results { path, reason })
    }

    /// What `run.json` beside it says; nothing if it is not there, as in results at another threshold.
    pub fn read_run(&self, folder: &Path) -> Result<Value> {
        let path = folder.join(RUN);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Value::Null),
            read => read.map_err(|error| Error::open(&path, error))?,
        };
        let damaged =
            |what| Error::Results { path: path.clone(), reason: format!("a damaged file ({what})") };
        check_run(&bytes, self.is_sealed).map_err(damaged)?;
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let json: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("a damaged file ({error})"))?;
        // Those of pictures did not say their format.
        let is_old = json["format"].is_null() || json["format"] == 1;
        let is_sealed = !is_old || !json["checksum"].is_null();
        if is_sealed {
            manifest::unsealed(bytes).map_err(|what| format!("a damaged file ({what})"))?;
        }
        if !is_old && json["format"] != FORMAT {
            return Err(format!("format {}, which this version does not know", json["format"]));
        }
        let files = match &json["files"] {
            Value::Null => Vec::new(),
            files => Vec::deserialize(files).map_err(|error| format!("no list of files ({error})"))?,
        };
        Ok(Self { json, files, is_sealed })
    }
}

/// What is wrong with `run.json`, whose manifest has a checksum or not.
pub(crate) fn check_run(bytes: &[u8], is_sealed: bool) -> Result<(), String> {
    match is_sealed {
        true => manifest::unsealed(bytes).map(drop),
        false => serde_json::from_slice::<Value>(bytes).map(drop).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let whole = sealed(&json!({
            "benzer": "0.1.0",
            "format": FORMAT,
            "files": [{"name": "pairs.parquet", "bytes": 12, "checksum": "00000000000000ff"}],
            "settings": {"threshold": 0.8},
        }));
        let read = Manifest::parse(&whole).unwrap();
        assert!(read.is_sealed && read.files[0].stamp.checksum == 0xff, "{read:?}");
        for place in 0..whole.len() {
            for value in 0..=255 {
                let mut changed = whole.clone();
                changed[place] = value;
                assert_eq!(Manifest::parse(&changed).is_ok(), changed == whole, "byte {place} as {value}");
            }
            assert!(Manifest::parse(&whole[..place]).is_err(), "cut at {place}");
        }
    }

    #[test]
    fn manifests_of_format_1_are_read() {
        for old in [
            &b"{\"benzer\": \"0.1.0\", \"format\": 1, \"files\": [{\"name\": \"x\", \"bytes\": 1, \"checksum\": \"0a\"}]}"[..],
            b"{\"benzer\": \"0.1.0\", \"kind\": \"images\"}",
        ] {
            assert!(!Manifest::parse(old).unwrap().is_sealed);
        }
        let error = Manifest::parse(&sealed(&json!({"format": 3, "x": 1}))).unwrap_err();
        assert!(error.contains("format 3"), "{error}");
    }
}

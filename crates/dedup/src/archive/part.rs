//! A file of a segment: magic, version, kind and spec first, then bytes that are read where they are wanted.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use benzer_core::hash::element;
use benzer_core::sketch::SketchSpec;

use crate::error::Result;
use benzer_storage::{self as files, Stamp};

/// Raised when the bytes of a segment mean something else.
const VERSION: u16 = 1;
const MAGIC: &[u8; 4] = b"BNZA";
pub(super) const HEADER: u64 = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rows = 1,
    Contents = 2,
    Keys = 3,
}

impl Kind {
    pub fn name(self, segment: &str) -> String {
        let extension = match self {
            Self::Rows => "rows",
            Self::Contents => "contents",
            Self::Keys => "keys",
        };
        format!("{segment}.{extension}")
    }

    /// `BNZA`, version, kind, element hash of the spec as JSON, checksum of all that.
    pub fn header(self, spec: &SketchSpec) -> Vec<u8> {
        let mut header = MAGIC.to_vec();
        header.extend(VERSION.to_le_bytes());
        header.extend((self as u16).to_le_bytes());
        header.extend(element(serde_json::to_string(spec).unwrap_or_default().as_bytes()).to_le_bytes());
        header.extend(element(&header).to_le_bytes());
        header
    }
}

/// True for a name that a file of an archive's segment may have.
pub(crate) fn is_segment_file(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_number = stem.len() >= 6 && stem.bytes().all(|byte| byte.is_ascii_digit());
    is_number && ["rows", "contents", "keys"].contains(&extension)
}

#[derive(Debug)]
pub(super) struct Part {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Part {
    /// Opens it, and compares header and length with what they must be.
    pub fn open(path: PathBuf, kind: Kind, spec: &SketchSpec, stamp: &Stamp) -> Result<Self> {
        let file = File::open(&path).map_err(|error| files::Error::disk("read", &path, error))?;
        let bytes = file.metadata().map_err(|error| files::Error::disk("read", &path, error))?.len();
        let part = Self { file, path, bytes };
        if bytes != stamp.bytes {
            return Err(part.damaged(format!("{} bytes", stamp.bytes), format!("{bytes} bytes")));
        }
        let (mut found, expected) = (vec![0; HEADER as usize], kind.header(spec));
        part.file
            .read_exact_at(&mut found, 0)
            .map_err(|error| files::Error::disk("read", &part.path, error))?;
        if found != expected {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let expected = format!("the header {}", hex(&expected));
            return Err(part.damaged(expected, hex(&found)));
        }
        Ok(part)
    }

    /// Reads bytes whose last eight are the checksum of those before.
    pub fn read_checked(&self, offset: u64, n: usize, into: &mut Vec<u8>) -> Result<()> {
        let at = offset.saturating_add(HEADER);
        if at.saturating_add(n as u64) > self.bytes {
            return Err(self.damaged(format!("{n} bytes at {at}"), format!("a file of {} bytes", self.bytes)));
        }
        into.clear();
        into.resize(n, 0);
        self.file.read_exact_at(into, at).map_err(|error| files::Error::disk("read", &self.path, error))?;
        let (bytes, checksum) = into.split_at(n.saturating_sub(8));
        let expected = element(bytes);
        if checksum != expected.to_le_bytes() {
            let expected = format!("the checksum {expected:016x} for the {n} bytes at {at}");
            return Err(self.damaged(expected, "another one"));
        }
        Ok(())
    }

    pub fn damaged(&self, expected: impl ToString, got: impl ToString) -> crate::Error {
        files::Error::damaged(&self.path, expected, got).into()
    }
}

/// Appends the checksum of everything from `start` on.
pub(super) fn seal(bytes: &mut Vec<u8>, start: usize) {
    let checksum = element(&bytes[start..]);
    bytes.extend(checksum.to_le_bytes());
}

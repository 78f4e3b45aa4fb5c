//! A segment, open for reading: rows and contents by number.
//!
//! ```text
//! row       words of the sketch, hash of the text (16 bytes), offset of the contents (8), bytes of the name, elements (4 each), checksum (8)
//! contents  name: line (8), bytes of the id or 2^32 - 1 (4), id, file; checksum (8).  features: sorted elements (8 each); checksum (8)
//! ```

use std::path::Path;

use benzer_core::lsh::Banding;
use benzer_core::sketch::SketchSpec;

use super::keys::Keys;
use super::manifest::SegmentEntry;
use super::part::{Kind, Part};
use crate::error::Result;

/// What marks a document without an id.
pub(super) const NO_ID: u32 = u32::MAX;

/// Bytes of a row.
pub(super) fn row_bytes(words: usize) -> usize {
    8 * words + 16 + 8 + 4 + 4 + 8
}

/// What is first looked at of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub words: Vec<u64>,
    pub hash: u128,
    pub n_features: u32,
    offset: u64,
    name_bytes: u32,
}

/// How a document is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its id, unless that is file and line.
    pub id: Option<String>,
    pub file: String,
    pub line: u64,
}

/// A segment.
#[derive(Debug)]
pub(crate) struct Segment {
    rows: Part,
    contents: Part,
    keys: Keys,
    banding: Option<Banding>,
    spec: SketchSpec,
    n: u32,
}

impl Segment {
    pub fn open(
        folder: &Path,
        entry: &SegmentEntry,
        (spec, banding): (&SketchSpec, Option<Banding>),
    ) -> Result<Self> {
        let part = |kind: Kind, stamp| Part::open(folder.join(kind.name(&entry.name)), kind, spec, stamp);
        Ok(Self {
            rows: part(Kind::Rows, &entry.rows)?,
            contents: part(Kind::Contents, &entry.contents)?,
            keys: Keys::open(&folder.join(Kind::Keys.name(&entry.name)), spec, &entry.keys)?,
            banding,
            spec: spec.clone(),
            n: entry.documents,
        })
    }

    /// Hides the documents from a number on.
    pub fn truncate(&mut self, n: u32) {
        self.n = n;
    }

    /// How many documents there are.
    pub fn len(&self) -> u32 {
        self.n
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// What the band keys are of.
    pub fn banding(&self) -> Option<&Banding> {
        self.banding.as_ref()
    }

    /// Replaces the keys.
    pub fn take_keys(&mut self, keys: Keys, banding: Banding) {
        (self.keys, self.banding) = (keys, Some(banding));
    }

    /// What the sketches were made under.
    pub fn spec(&self) -> &SketchSpec {
        &self.spec
    }

    pub fn row(&self, number: u32) -> Result<Row> {
        let n_words = self.spec.words();
        let stride = row_bytes(n_words);
        let mut bytes = Vec::new();
        self.rows.read_checked(u64::from(number) * stride as u64, stride, &mut bytes)?;
        let (words, rest) = bytes.split_at(8 * n_words);
        let long = |i: usize| u64::from_le_bytes(rest[i..i + 8].try_into().expect("eight bytes"));
        let short = |i: usize| u32::from_le_bytes(rest[i..i + 4].try_into().expect("four bytes"));
        Ok(Row {
            words: words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
            hash: u128::from(long(8)) << 64 | u128::from(long(0)),
            offset: long(16),
            name_bytes: short(24),
            n_features: short(28),
        })
    }

    pub fn name(&self, number: u32) -> Result<Name> {
        self.name_of(&self.row(number)?)
    }

    pub fn name_of(&self, row: &Row) -> Result<Name> {
        let mut bytes = Vec::new();
        self.contents.read_checked(row.offset, row.name_bytes as usize, &mut bytes)?;
        let line = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let length = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        let rest = &bytes[12..bytes.len() - 8];
        let (id, file) = match length {
            NO_ID => (None, rest),
            length => {
                let (id, file) = rest.split_at((length as usize).min(rest.len()));
                (Some(String::from_utf8_lossy(id).into_owned()), file)
            }
        };
        Ok(Name { id, file: String::from_utf8_lossy(file).into_owned(), line })
    }

    /// The elements of a document, sorted.
    pub fn features(&self, row: &Row, into: &mut Vec<u64>) -> Result<()> {
        let mut bytes = Vec::new();
        let n = 8 * row.n_features as usize;
        self.contents.read_checked(row.offset + u64::from(row.name_bytes), n + 8, &mut bytes)?;
        into.clear();
        into.extend(bytes[..n].as_chunks::<8>().0.iter().map(|element| u64::from_le_bytes(*element)));
        Ok(())
    }
}

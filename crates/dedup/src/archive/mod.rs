//! An archive: documents of earlier runs, laid out so that a new run reads only what it may match.
//!
//! ```text
//! archive.json       spec, banding, segments with sizes and checksums, the runs that were added; written last
//! 000001.rows        of each document its sketch, the hash of its text, where its contents lie
//! 000001.contents    of each document its name and its features
//! 000001.keys        the hashes of the texts and the band keys, sorted, as a tree of pages
//! ```
//!
//! A run asks the keys of every segment for the documents that share a key with a new one, and reads those documents only. Each row, name, set of features
//! and page has a checksum of its own, which is checked when it is read; the checksum of a whole file is not, because that would cost as much as the archive is large.
//!
//! A corpus that is given as it is (`--against FILE`) becomes a segment in the work folder first (the module `corpus`), so that there is one way for all: the module `probe` gives the old documents that
//! share a key with a new one, copies are set aside, and the rest is measured on saved features.
//!
//! An archive grows by segments. A new segment takes the last ones into itself as long as they have less than twice its documents, so that their number grows as
//! the logarithm of the archive's, and every document is copied that often.
//!
//! Documents are numbered by segment and place ([`OldDocument`]), which is the order in which they were added. It never changes.

mod corpus;
mod grow;
mod keys;
mod manifest;
mod part;
mod probe;
mod segment;
mod writer;

use std::path::{Path, PathBuf};

use benzer_core::lsh::Banding;
use benzer_core::sketch::SketchSpec;

use crate::error::{Error, Result};
use benzer_flow::Workspace;

pub(crate) use corpus::{read_into, sorted_elements};
pub(crate) use grow::{Growth, remove_unnamed};
pub(crate) use manifest::{Added, Manifest, NAME as MANIFEST, SegmentEntry};
pub(crate) use part::is_segment_file;
pub(crate) use probe::{Prober, intersection};
pub(crate) use segment::Segment;
pub(crate) use writer::{SegmentWriter, Shape};

/// The place of a document in its segment.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OldNumber(pub u32);

/// A document of an archive: its segment, then its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OldDocument {
    /// The number of the segment, over all archives of a run.
    pub segment: u32,
    pub number: OldNumber,
}

impl OldDocument {
    /// Both in one number of the same order.
    pub fn packed(self) -> u64 {
        u64::from(self.segment) << 32 | u64::from(self.number.0)
    }

    pub fn unpacked(packed: u64) -> Self {
        Self { segment: (packed >> 32) as u32, number: OldNumber(packed as u32) }
    }
}

/// What is added to an archive: a document that has a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub hash: u128,
    pub words: &'a [u64],
    /// Its id, unless that is file and line.
    pub id: Option<&'a [u8]>,
    pub file: &'a str,
    pub line: u64,
    /// Its elements, sorted. Without any it has no band keys, and is found by the hash of its text only.
    pub features: &'a [u64],
}

/// The archives of a run, as one list of segments.
#[derive(Debug, Default)]
pub(crate) struct Archives {
    pub segments: Vec<Segment>,
}

impl Archives {
    pub fn segment(&self, old: OldDocument) -> &Segment {
        &self.segments[old.segment as usize]
    }

    pub fn len(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.n)).sum()
    }

    /// The id of a document: that of its field, or file and line.
    pub fn id(&self, old: OldDocument) -> Result<String> {
        let name = self.segment(old).name(old.number)?;
        Ok(name.id.unwrap_or_else(|| format!("{}:{}", name.file, name.line)))
    }

    /// Band keys where a segment has other ones.
    pub fn use_banding(&mut self, banding: &Banding, workspace: Workspace<'_>) -> Result<()> {
        for (segment, i) in self.segments.iter_mut().zip(0..) {
            if segment.banding != Some(*banding) {
                segment.keys = writer::band_keys(segment, *banding, i, workspace)?;
                segment.banding = Some(*banding);
            }
        }
        Ok(())
    }
}

/// The folder of the archive that a path names: itself, or what a run with `--save` left in it.
pub(crate) fn folder_of(path: &Path) -> Option<PathBuf> {
    [path.to_owned(), path.join("saved")].into_iter().find(|folder| folder.join(MANIFEST).is_file())
}

/// Opens the archive in a folder, up to a number of its documents; what it was made under must be `spec`.
pub(crate) fn open(
    folder: &Path,
    manifest: &Manifest,
    spec: &SketchSpec,
    mut visible: u64,
) -> Result<Vec<Segment>> {
    if manifest.spec != *spec {
        let say = |spec: &SketchSpec| serde_json::to_string(spec).unwrap_or_default();
        return Err(Error::Archive {
            path: folder.to_owned(),
            expected: say(spec),
            got: say(&manifest.spec),
            remedy: "compare with the text options it was saved with, or save its documents again",
        });
    }
    let mut segments = Vec::new();
    for entry in &manifest.segments {
        let mut segment = Segment::open(folder, entry, spec, manifest.banding)?;
        segment.n = visible.min(segment.n.into()) as u32;
        visible -= u64::from(segment.n);
        segments.push(segment);
    }
    Ok(segments)
}

//! Writing a segment: documents one after the other, their keys sorted in the end.

use std::path::{Path, PathBuf};

use benzer_core::lsh::Banding;
use benzer_core::sketch::SketchSpec;

use super::keys::{HASHES, Keys, KeysWriter};
use super::manifest::SegmentEntry;
use super::part::{Kind, seal};
use super::segment::{NO_ID, Segment};
use super::{Entry, OldNumber};
use crate::error::{Error, Result};
use benzer_flow::Workspace;
use benzer_flow::sort::Sorter;
use benzer_storage::{FileWriter, Stamp};

/// What all documents of a segment have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub spec: &'a SketchSpec,
    /// How the sketches are cut into keys; nothing if nobody will look for them by key.
    pub banding: Option<Banding>,
}

pub(crate) struct SegmentWriter<'a> {
    shape: Shape<'a>,
    folder: PathBuf,
    name: String,
    workspace: Workspace<'a>,
    rows: FileWriter,
    contents: FileWriter,
    keys: KeySorter,
    n: u32,
    offset: u64,
    buffer: Vec<u8>,
}

impl<'a> SegmentWriter<'a> {
    /// Begins the segment of a name in a folder, with room to sort in.
    pub fn create(folder: &Path, name: &str, shape: Shape<'a>, workspace: Workspace<'a>) -> Result<Self> {
        let begin = |kind: Kind| -> Result<FileWriter> {
            let mut file = workspace.files.create(&folder.join(kind.name(name)))?;
            file.append(&kind.header(shape.spec))?;
            Ok(file)
        };
        Ok(Self {
            rows: begin(Kind::Rows)?,
            contents: begin(Kind::Contents)?,
            keys: KeySorter::new(shape.banding, workspace),
            shape,
            folder: folder.to_owned(),
            name: name.to_owned(),
            workspace,
            n: 0,
            offset: 0,
            buffer: Vec::new(),
        })
    }

    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        let buffer = &mut self.buffer;
        buffer.clear();
        buffer.extend(entry.line.to_le_bytes());
        buffer.extend(entry.id.map_or(NO_ID, |id| id.len() as u32).to_le_bytes());
        buffer.extend(entry.id.unwrap_or_default());
        buffer.extend(entry.file.as_bytes());
        seal(buffer, 0);
        let name_bytes = buffer.len();
        entry.features.iter().for_each(|element| buffer.extend(element.to_le_bytes()));
        seal(buffer, name_bytes);
        self.contents.append(buffer)?;
        let (offset, bytes) = (self.offset, buffer.len() as u64);
        self.offset += bytes;
        buffer.clear();
        entry.words.iter().for_each(|word| buffer.extend(word.to_le_bytes()));
        buffer.extend(entry.hash.to_le_bytes());
        buffer.extend(offset.to_le_bytes());
        buffer.extend((name_bytes as u32).to_le_bytes());
        buffer.extend((entry.features.len() as u32).to_le_bytes());
        seal(buffer, 0);
        self.rows.append(buffer)?;
        self.keys.push(entry.hash, words(entry.words, entry.features.len()), self.n)?;
        self.n = match self.n.checked_add(1) {
            Some(n) => n,
            None => return Err(Error::parameter("archive", "at most 4,294,967,295 documents", "more")),
        };
        Ok(())
    }

    pub fn copy(&mut self, segment: &Segment) -> Result<()> {
        let mut features = Vec::new();
        for number in 0..segment.n {
            let row = segment.row(OldNumber(number))?;
            let name = segment.name_of(&row)?;
            segment.features(&row, &mut features)?;
            self.push(&Entry {
                hash: row.hash,
                words: &row.words,
                id: name.id.as_deref().map(str::as_bytes),
                file: &name.file,
                line: name.line,
                features: &features,
            })?;
        }
        Ok(())
    }

    /// Sorts the keys and puts all files in their places.
    pub fn finish(self) -> Result<SegmentEntry> {
        let keys = self.workspace.files.create(&self.folder.join(Kind::Keys.name(&self.name)))?;
        Ok(SegmentEntry {
            name: self.name,
            documents: self.n,
            rows: self.rows.commit()?,
            contents: self.contents.commit()?,
            keys: self.keys.finish(keys, self.shape.spec, self.n)?,
        })
    }
}

/// The keys of a segment under another banding, in the work folder.
pub(super) fn band_keys(
    segment: &Segment,
    banding: Banding,
    i: u32,
    workspace: Workspace<'_>,
) -> Result<Keys> {
    let mut keys = KeySorter::new(Some(banding), workspace);
    for number in 0..segment.n {
        let row = segment.row(OldNumber(number))?;
        keys.push(row.hash, words(&row.words, row.n_features as usize), number)?;
    }
    let path = workspace.folder.join(Kind::Keys.name(&format!("against-keys-{i}")));
    let stamp = keys.finish(workspace.files.create(&path)?, &segment.spec, segment.n)?;
    Keys::open(&path, &segment.spec, &stamp)
}

/// The sketch of a document if it has elements: those of all others are equal.
fn words(words: &[u64], n_features: usize) -> Option<&[u64]> {
    (n_features > 0).then_some(words)
}

/// The keys of documents, on their way into order.
struct KeySorter {
    banding: Option<Banding>,
    hashes: Sorter<(u128, u32)>,
    keys: Sorter<(u16, u64, u32)>,
}

impl KeySorter {
    fn new(banding: Option<Banding>, workspace: Workspace<'_>) -> Self {
        Self { banding, hashes: workspace.sorter(4), keys: workspace.sorter(2) }
    }

    fn push(&mut self, hash: u128, words: Option<&[u64]>, number: u32) -> Result<()> {
        self.hashes.push((hash, number))?;
        if let (Some(banding), Some(words)) = (&self.banding, words) {
            for band in 0..banding.bands() {
                self.keys.push((1 + band as u16, banding.key(words, band), number))?;
            }
        }
        Ok(())
    }

    /// Writes those of `n` documents in order. Of documents of the same text only the first has band keys.
    fn finish(self, out: FileWriter, spec: &SketchSpec, n: u32) -> Result<Stamp> {
        let mut out = KeysWriter::new(out, spec)?;
        let mut repeated = vec![0u64; n as usize / 64 + 1];
        let mut last = None;
        for record in self.hashes.finish()? {
            let (hash, number) = record?;
            out.push((HASHES, (hash >> 64) as u64, number))?;
            if last == Some(hash) {
                repeated[number as usize / 64] |= 1 << (number % 64);
            }
            last = Some(hash);
        }
        for record in self.keys.finish()? {
            let (list, key, number) = record?;
            if repeated[number as usize / 64] >> (number % 64) & 1 == 0 {
                out.push((list, key, number))?;
            }
        }
        out.finish()
    }
}

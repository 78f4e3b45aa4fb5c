//! All sets of a run by their number: ids and elements, in memory as long as they fit, else in two temporary files.

use std::{borrow::Cow, fs::File, os::unix::fs::FileExt, path::PathBuf};

use benzer_flow::Workspace;
use benzer_io::{Error, Result};
use benzer_join::Rank;
use benzer_join::exact::{Elements, Source};
use benzer_storage::{self as files, Files, Scratch};

/// Bytes that are gathered before they are written to a file.
const PIECE: usize = 1 << 20;
/// Bytes of memory for each set, wherever its elements are.
pub(crate) const SET_BYTES: u64 = 16;

/// Sets with their ids. A set is its number: 0, 1, ... in the order of the input.
#[derive(Debug)]
pub struct SetStore {
    ids: Column,
    elements: Column,
    /// Bytes of memory that both columns may take together.
    max_bytes: u64,
    folder: PathBuf,
    files: Files,
}

/// Byte strings of any length, one for each set.
#[derive(Debug)]
struct Column {
    /// Where each ends.
    ends: Vec<u64>,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Ids(Vec<u8>),
    Elements(Vec<u64>),
    Disk { written: Scratch, piece: Vec<u8>, read: Option<File> },
}

impl SetStore {
    /// No sets yet; all that are added may take the memory of the workspace.
    pub(crate) fn new(workspace: Workspace<'_>) -> Self {
        let column = |kept| Column { ends: Vec::new(), kept };
        Self {
            ids: column(Kept::Ids(Vec::new())),
            elements: column(Kept::Elements(Vec::new())),
            max_bytes: workspace.bytes as u64,
            folder: workspace.folder.into(),
            files: workspace.files.clone(),
        }
    }

    /// How many sets there are.
    pub fn len(&self) -> u32 {
        self.ids.ends.len() as u32
    }

    /// True if there is no set at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the sets did not fit into memory.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.ids.kept, Kept::Disk { .. })
    }

    /// How many elements a set has.
    #[inline]
    pub fn size(&self, set: u32) -> u32 {
        let range = self.elements.range(set);
        (range.end - range.start) as u32
    }

    /// The id of a set.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    pub fn id(&self, set: u32) -> Result<Cow<'_, str>> {
        match &self.ids.kept {
            Kept::Ids(bytes) => {
                let range = self.ids.range(set);
                Ok(String::from_utf8_lossy(&bytes[range.start as usize..range.end as usize]))
            }
            _ => {
                let mut bytes = Vec::new();
                self.ids.read(set, 1, &mut bytes)?;
                Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// The elements of a set, sorted, each once; with a buffer for what must be read from disk.
    pub(crate) fn elements_of<'a>(&'a self, set: u32, buffer: &'a mut ElementBuffer) -> Result<&'a [u64]> {
        match &self.elements.kept {
            Kept::Elements(elements) => {
                let range = self.elements.range(set);
                Ok(&elements[range.start as usize..range.end as usize])
            }
            _ => {
                self.elements.read(set, 8, &mut buffer.bytes)?;
                let (words, _) = buffer.bytes.as_chunks::<8>();
                buffer.elements.clear();
                buffer.elements.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
                Ok(&buffer.elements)
            }
        }
    }

    /// Adds a set, whose elements are sorted and come once each.
    pub(crate) fn push(&mut self, id: &[u8], elements: &[u64]) -> Result<()> {
        if self.len() == u32::MAX {
            return Err(Error::parameter("input", "fewer than 4294967295 sets", "more"));
        }
        match &mut self.ids.kept {
            Kept::Ids(bytes) => bytes.extend_from_slice(id),
            kept => kept.append(id)?,
        }
        match &mut self.elements.kept {
            Kept::Elements(all) => all.extend_from_slice(elements),
            kept => {
                for element in elements {
                    kept.append(&element.to_le_bytes())?;
                }
            }
        }
        self.ids.ends.push(self.ids.end() + id.len() as u64);
        self.elements.ends.push(self.elements.end() + elements.len() as u64);
        // A vector that grows takes twice as much for a while.
        if !self.is_on_disk() && 2 * (self.ids.end() + 8 * self.elements.end()) > self.max_bytes {
            self.move_to_disk()?;
        }
        Ok(())
    }

    fn move_to_disk(&mut self) -> Result<()> {
        for (column, name) in [(&mut self.ids, "ids"), (&mut self.elements, "sets")] {
            let written = self.files.temporary(&self.folder.join(name))?;
            let mut disk = Kept::Disk { written, piece: Vec::with_capacity(PIECE), read: None };
            match &column.kept {
                Kept::Ids(bytes) => disk.append(bytes)?,
                Kept::Elements(elements) => {
                    elements.iter().try_for_each(|element| disk.append(&element.to_le_bytes()))?;
                }
                Kept::Disk { .. } => {}
            }
            column.kept = disk;
        }
        Ok(())
    }

    /// Ends the adding.
    pub(crate) fn finish(&mut self) -> Result<()> {
        for column in [&mut self.ids, &mut self.elements] {
            if let Kept::Disk { written, piece, read } = &mut column.kept {
                written.append(piece)?;
                *piece = Vec::new();
                *read = Some(written.read()?);
            }
        }
        Ok(())
    }
}

impl Column {
    fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    #[inline]
    fn range(&self, set: u32) -> std::ops::Range<u64> {
        let set = set as usize;
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        start..self.ends[set]
    }

    fn read(&self, set: u32, bytes_each: u64, into: &mut Vec<u8>) -> Result<()> {
        let range = self.range(set);
        into.resize((bytes_each * (range.end - range.start)) as usize, 0);
        let Kept::Disk { written, read: Some(file), .. } = &self.kept else { return Ok(()) };
        let read = file.read_exact_at(into, bytes_each * range.start);
        Ok(read.map_err(|error| files::Error::disk("read", written.path(), error))?)
    }
}

impl Kept {
    /// Adds bytes to a file.
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if let Self::Disk { written, piece, .. } = self {
            piece.extend_from_slice(bytes);
            if piece.len() >= PIECE {
                written.append(piece)?;
                piece.clear();
            }
        }
        Ok(())
    }
}

/// What the elements of a set are read into.
#[derive(Debug, Default)]
pub(crate) struct ElementBuffer {
    bytes: Vec<u8>,
    elements: Vec<u64>,
}

impl Source for SetStore {
    fn about(&self, set: Rank) -> benzer_flow::Result<u64> {
        Ok(self.size(set.0).into())
    }

    fn elements(&self) -> Box<dyn Elements + '_> {
        Box::new(StoredElements { store: self, buffer: ElementBuffer::default() })
    }
}

struct StoredElements<'a> {
    store: &'a SetStore,
    buffer: ElementBuffer,
}

impl Elements for StoredElements<'_> {
    fn of(&mut self, set: Rank) -> benzer_flow::Result<&[u64]> {
        Ok(self.store.elements_of(set.0, &mut self.buffer)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_same_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new();
        let workspace = |bytes| Workspace { bytes, folder: folder.path(), files: &files };
        let sets: Vec<(String, Vec<u64>)> =
            (0..3_000u64).map(|i| (format!("set {i}"), (0..i % 190).map(|j| j * i).collect())).collect();
        for (most, on_disk) in [(usize::MAX, false), (1 << 20, true), (0, true)] {
            let mut store = SetStore::new(workspace(most));
            sets.iter().for_each(|(id, elements)| store.push(id.as_bytes(), elements).unwrap());
            store.finish().unwrap();
            assert_eq!((store.len(), store.is_on_disk()), (3_000, on_disk));
            let mut buffer = ElementBuffer::default();
            for (set, (id, elements)) in (0..).zip(&sets) {
                assert_eq!(store.id(set).unwrap(), id.as_str());
                assert_eq!(store.size(set) as usize, elements.len());
                assert_eq!(store.elements_of(set, &mut buffer).unwrap(), elements);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

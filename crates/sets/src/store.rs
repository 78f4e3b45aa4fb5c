//! All sets of a run by their number: ids and elements, in memory as long as they fit, else in two temporary files.

use std::{borrow::Cow, ops::Range};

use benzer_flow::Workspace;
use benzer_io::{Error, Result};
use benzer_join::Rank;
use benzer_join::exact::{Elements, Source};

use crate::kept::{Item, Keeper, Kept};

/// Bytes of memory for each set, wherever its elements are.
pub(crate) const SET_BYTES: u64 = 16;

/// Sets with their ids. A set is its number: 0, 1, ... in the order of the input.
#[derive(Debug)]
pub struct SetStore {
    ids: Column<Kept<u8>>,
    elements: Column<Kept<u64>>,
}

/// Sets while they are added.
#[derive(Debug)]
pub(crate) struct SetWriter<'a> {
    /// Both columns may take its memory together.
    workspace: Workspace<'a>,
    ids: Column<Keeper<u8>>,
    elements: Column<Keeper<u64>>,
}

/// Rows of any length, one for each set.
#[derive(Debug, Default)]
struct Column<I> {
    /// Where each ends.
    ends: Vec<u64>,
    items: I,
}

impl SetStore {
    /// How many sets there are.
    pub fn len(&self) -> u32 {
        self.ids.ends.len() as u32
    }

    /// True if there is no set at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements a set has.
    #[inline]
    pub fn size(&self, set: u32) -> u32 {
        self.elements.range(set).len() as u32
    }

    /// The id of a set.
    pub fn id(&self, set: u32) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.ids.items[self.ids.range(set)])
    }

    /// The elements of a set, sorted, each once.
    #[inline]
    pub(crate) fn elements_of(&self, set: u32) -> &[u64] {
        &self.elements.items[self.elements.range(set)]
    }
}

impl<'a> SetWriter<'a> {
    /// No sets yet; all that are added may take the memory of the workspace.
    pub fn new(workspace: Workspace<'a>) -> Self {
        Self { workspace, ids: Column::default(), elements: Column::default() }
    }

    /// How many sets there are so far.
    pub fn len(&self) -> u32 {
        self.ids.ends.len() as u32
    }

    /// Adds a set, whose elements are sorted and come once each.
    pub fn push(&mut self, id: &[u8], elements: &[u64]) -> Result<()> {
        if self.len() == u32::MAX {
            return Err(Error::parameter("input", "fewer than 4294967295 sets", "more"));
        }
        self.ids.push(id)?;
        self.elements.push(elements)?;
        let Workspace { bytes, folder, files } = self.workspace;
        if self.ids.items.memory_bytes() + self.elements.items.memory_bytes() > bytes {
            self.ids.items.move_to_disk(files, &folder.join("ids"))?;
            self.elements.items.move_to_disk(files, &folder.join("sets"))?;
        }
        Ok(())
    }

    /// Ends the adding.
    pub fn finish(self) -> Result<SetStore> {
        Ok(SetStore { ids: self.ids.finish()?, elements: self.elements.finish()? })
    }
}

impl<I> Column<I> {
    #[inline]
    fn range(&self, set: u32) -> Range<usize> {
        let set = set as usize;
        let start = if set == 0 { 0 } else { self.ends[set - 1] };
        start as usize..self.ends[set] as usize
    }
}

impl<T: Item> Column<Keeper<T>> {
    fn push(&mut self, row: &[T]) -> Result<()> {
        self.items.append(row)?;
        self.ends.push(self.ends.last().map_or(0, |end| *end) + row.len() as u64);
        Ok(())
    }

    fn finish(self) -> Result<Column<Kept<T>>> {
        Ok(Column { ends: self.ends, items: self.items.finish()? })
    }
}

impl Source for SetStore {
    fn about(&self, set: Rank) -> benzer_flow::Result<u64> {
        Ok(self.size(set.0).into())
    }

    fn elements(&self) -> Box<dyn Elements + '_> {
        Box::new(self)
    }
}

impl Elements for &SetStore {
    fn of(&mut self, set: Rank) -> benzer_flow::Result<&[u64]> {
        Ok(self.elements_of(set.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_storage::Files;

    #[test]
    fn sets_are_the_same_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new();
        let sets: Vec<(String, Vec<u64>)> =
            (0..3_000u64).map(|i| (format!("set {i}"), (0..i % 190).map(|j| j * i).collect())).collect();
        for (bytes, on_disk) in [(usize::MAX, false), (1 << 20, true), (0, true)] {
            let mut writer = SetWriter::new(Workspace { bytes, folder: folder.path(), files: &files });
            sets.iter().for_each(|(id, elements)| writer.push(id.as_bytes(), elements).unwrap());
            let store = writer.finish().unwrap();
            assert_eq!(store.len(), 3_000);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), if on_disk { 2 } else { 0 });
            for (set, (id, elements)) in (0..).zip(&sets) {
                assert_eq!(store.id(set), id.as_str());
                assert_eq!(
                    (store.size(set) as usize, store.elements_of(set)),
                    (elements.len(), &elements[..])
                );
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

//! Items one after the other: in memory, or, when there is no more room for them, in a temporary file that is looked at as memory.

use std::ops::Deref;
use std::path::Path;

use benzer_storage::{Files, MappedFile, MappedSpill, Result, Spill};

/// What can be kept.
pub(crate) trait Item: Copy {
    /// Writes items to a file.
    fn spill(items: &[Self], file: &mut Spill) -> Result<()>;
    /// Those of a file.
    fn all(file: &MappedFile) -> &[Self];
}

/// Items while they are added.
#[derive(Debug, Default)]
pub(crate) struct Keeper<T> {
    /// Nothing any more once there is a file.
    memory: Vec<T>,
    spill: Option<Spill>,
}

/// Items that were added.
#[derive(Debug)]
pub(crate) enum Kept<T> {
    Memory(Vec<T>),
    Mapped(MappedSpill),
}

impl<T: Item> Keeper<T> {
    /// Adds the next items.
    pub fn append(&mut self, items: &[T]) -> Result<()> {
        match &mut self.spill {
            Some(file) => return T::spill(items, file),
            None => self.memory.extend_from_slice(items),
        }
        Ok(())
    }

    /// Bytes of memory they take: twice as many as there are, because a vector that grows takes that for a while.
    pub fn memory_bytes(&self) -> usize {
        2 * size_of_val(&self.memory[..])
    }

    /// Moves what there is, and all that comes, to a file.
    pub fn move_to_disk(&mut self, files: &Files, path: &Path) -> Result<()> {
        let file = self.spill.insert(files.spill(path)?);
        T::spill(&std::mem::take(&mut self.memory), file)
    }

    /// Ends the adding.
    pub fn finish(self) -> Result<Kept<T>> {
        Ok(match self.spill {
            Some(file) => Kept::Mapped(file.finish()?),
            None => Kept::Memory(self.memory),
        })
    }
}

impl<T: Item> Deref for Kept<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Memory(items) => items,
            Self::Mapped(file) => T::all(file),
        }
    }
}

impl Item for u8 {
    fn spill(items: &[Self], file: &mut Spill) -> Result<()> {
        file.append(items)
    }

    #[inline]
    fn all(file: &MappedFile) -> &[Self] {
        file.bytes()
    }
}

impl Item for u64 {
    fn spill(items: &[Self], file: &mut Spill) -> Result<()> {
        file.append_words(items)
    }

    #[inline]
    fn all(file: &MappedFile) -> &[Self] {
        file.words()
    }
}

//! What a piece of work may use of the disk and the memory.

use std::path::Path;

use benzer_storage::Files;

use crate::sort::{Record, Sorter};

/// Where to sort, and in how much memory.
#[derive(Debug, Clone, Copy)]
pub struct Workspace<'a> {
    /// The memory.
    pub bytes: usize,
    /// The folder for what does not fit.
    pub folder: &'a Path,
    /// The way to the disk.
    pub files: &'a Files,
}

impl Workspace<'_> {
    /// A sorter that takes one of so many shares of the memory.
    pub fn sorter<T: Record>(&self, shares: usize) -> Sorter<T> {
        Sorter::new(self.bytes / shares, self.folder, self.files)
    }
}

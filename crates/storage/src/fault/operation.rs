//! What is remembered of a disk.

use std::path::PathBuf;

/// An operation that succeeded. Paths are relative to the root; files are only ever appended to, so there is no truncation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A new, empty file.
    Create(PathBuf),
    /// Bytes written to a file.
    Write {
        /// Its name at that time.
        path: PathBuf,
        /// Where they begin.
        offset: u64,
        /// What was written.
        bytes: Vec<u8>,
    },
    /// The bytes of a file synced.
    SyncFile(PathBuf),
    /// Another name, which replaces the file that had it.
    Rename {
        /// The old name.
        from: PathBuf,
        /// The new one.
        to: PathBuf,
    },
    /// A file removed.
    Remove(PathBuf),
    /// A new folder.
    CreateDir(PathBuf),
    /// The names in a folder synced.
    SyncDir(PathBuf),
}

/// A file or folder that was there at the beginning.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// Nothing for a folder.
    pub(super) bytes: Option<Vec<u8>>,
}

//! Disks for tests: one that remembers, and loses power; one that fails.
//!
//! ```text
//! Files::recording(root) --> (Files, Recorder) --Recorder::power_cut(after, seed, into)--> a folder as the cut could leave it
//! Files::failing(when, kind) --> Files
//! ```
//!
//! A writer is right if, whatever power cut is replayed, what it had acknowledged is there, and anything else is either the old or
//! the new. A test of it should also fail with [`Files::recording_without`], or it tests nothing.

mod failing;
mod recorder;
mod replay;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use failing::When;
pub use recorder::Recorder;

use super::Files;
use failing::Failing;

/// A kind of fsync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Of the bytes of a file.
    File,
    /// Of the names in a folder.
    Folder,
}

/// An operation that succeeded. Paths are relative to the root; no byte of a file is written twice, and there is no truncation.
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
struct Entry {
    path: PathBuf,
    /// Nothing for a folder.
    bytes: Option<Vec<u8>>,
}

impl Files {
    /// Files whose every operation is done and recorded. All of them must be under `root`, and what is there now counts as durable.
    ///
    /// # Errors
    /// A root that cannot be read.
    pub fn recording(root: &Path) -> io::Result<(Self, Recorder)> {
        Self::recording_unless(root, |_, _| false)
    }

    /// The same with one kind of fsync left out, as if the code had forgotten it.
    ///
    /// # Errors
    /// A root that cannot be read.
    pub fn recording_without(root: &Path, forgotten: Sync) -> io::Result<(Self, Recorder)> {
        Self::recording_unless(root, move |sync, _| sync == forgotten)
    }

    /// The same without the fsyncs that `is_forgotten` is true for, by their kind and path; that of a file is a temporary one, which has its name in it.
    ///
    /// # Errors
    /// A root that cannot be read.
    pub fn recording_unless(
        root: &Path,
        is_forgotten: impl Fn(Sync, &Path) -> bool + Send + std::marker::Sync + 'static,
    ) -> io::Result<(Self, Recorder)> {
        let recorder = Recorder::new(root, is_forgotten)?;
        Ok((Self { disk: Arc::new(recorder.clone()) }, recorder))
    }

    /// Files on a disk that fails with an error of this kind.
    pub fn failing(when: When, kind: io::ErrorKind) -> Self {
        Self { disk: Arc::new(Failing::new(when, kind)) }
    }
}

#[cfg(test)]
mod tests;

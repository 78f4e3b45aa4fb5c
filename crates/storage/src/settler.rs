//! Files that are put in their places while the next ones are made: waiting for the disk is left to a thread of its own.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::checksum::Stamp;
use super::error::{Error, Result};
use super::writer::FileWriter;

/// Files that wait for the disk at a time: each is open, and may hold a block.
const WAITING: usize = 4;

/// Takes files that are whole. Dropped before [`Settler::finish`], files that it took may be in their places.
#[derive(Debug)]
pub struct Settler {
    /// Nothing in the end.
    give: Option<SyncSender<FileWriter>>,
    thread: Option<JoinHandle<Result<Vec<FileWriter>>>>,
    /// Where the system has no thread for it.
    here: Vec<FileWriter>,
}

impl Default for Settler {
    fn default() -> Self {
        let (give, take) = sync_channel(WAITING);
        let thread = thread::Builder::new().spawn(|| settle_all(take)).ok();
        Self { give: Some(give), thread, here: Vec::new() }
    }
}

impl Settler {
    /// Has a file put in its place.
    ///
    /// # Errors
    /// Why this file or one before it could not be.
    pub fn take(&mut self, mut file: FileWriter) -> Result<()> {
        if self.thread.is_none() {
            file.settle()?;
            self.here.push(file);
            return Ok(());
        }
        let path = file.path().to_owned();
        let is_taken = self.give.as_ref().is_some_and(|give| give.send(file).is_ok());
        if is_taken { Ok(()) } else { Err(self.failure(&path)) }
    }

    /// Waits until all are in their places, on disk; what there is to tell of each, in the order in which they came.
    ///
    /// # Errors
    /// As [`FileWriter::commit`].
    pub fn finish(mut self) -> Result<Vec<(PathBuf, Stamp)>> {
        let mut files = self.end()?;
        files.append(&mut self.here);
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path().to_owned()).collect();
        Ok(paths.into_iter().zip(FileWriter::commit_all(files)?).collect())
    }

    fn end(&mut self) -> Result<Vec<FileWriter>> {
        self.give = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(settled)) => settled,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(Vec::new()),
        }
    }

    /// Why the thread came to its end.
    fn failure(&mut self, path: &std::path::Path) -> Error {
        let other = || Error::disk("write", path, std::io::Error::other("an earlier write failed"));
        self.end().err().unwrap_or_else(other)
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        self.give = None;
        // Whoever drops it does not want to know how it ended.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn settle_all(files: Receiver<FileWriter>) -> Result<Vec<FileWriter>> {
    let mut settled = Vec::new();
    for mut file in files {
        file.settle()?;
        settled.push(file);
    }
    Ok(settled)
}

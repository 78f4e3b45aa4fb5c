//! A disk that remembers every operation.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use walkdir::WalkDir;

use super::{Entry, Operation, Sync, replay};
use crate::disk::{Disk, Real};
use crate::handle::Handle;

/// What was on the disk at the beginning, and every operation since; a handle that can be cloned.
#[derive(Clone)]
pub struct Recorder {
    root: PathBuf,
    is_forgotten: Arc<Forgetful>,
    start: Arc<Vec<Entry>>,
    log: Arc<Mutex<Vec<Operation>>>,
}

/// Which fsyncs are left out.
type Forgetful = dyn Fn(Sync, &Path) -> bool + Send + std::marker::Sync;

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Recorder {
    pub(super) fn new(
        root: &Path,
        is_forgotten: impl Fn(Sync, &Path) -> bool + Send + std::marker::Sync + 'static,
    ) -> io::Result<Self> {
        let mut start = Vec::new();
        for entry in WalkDir::new(root).min_depth(1) {
            let entry = entry?;
            let bytes = if entry.file_type().is_dir() { None } else { Some(fs::read(entry.path())?) };
            let path = entry.path().strip_prefix(root).expect("a walk stays under its root");
            start.push(Entry { path: path.into(), bytes });
        }
        let is_forgotten = Arc::new(is_forgotten);
        Ok(Self { root: root.into(), is_forgotten, start: Arc::new(start), log: Arc::default() })
    }

    /// How many operations there were so far.
    pub fn n_operations(&self) -> usize {
        self.log().len()
    }

    /// The operations so far, in order.
    pub fn operations(&self) -> Vec<Operation> {
        self.log().clone()
    }

    /// Builds in the empty folder `into` what a power cut after the first `after` operations could leave under the root. Different
    /// seeds give different outcomes: seed 0 loses everything that may be lost, seed 1 keeps everything.
    ///
    /// - Bytes synced before the cut are there. Others of the same file are lost, kept, cut short, or there with zeros in the
    ///   place of some pages of 4 KiB.
    /// - New, changed and removed names are there when their folder was synced since. Others are kept up to some point, which is
    ///   drawn for each folder, and lost from there on: a journal keeps the order of names in a folder, and promises nothing between
    ///   folders, nor between a name and the bytes of the file.
    ///
    /// # Errors
    /// What the operating system says about `into`.
    pub fn power_cut(&self, after: usize, seed: u64, into: &Path) -> io::Result<()> {
        replay::power_cut(&self.start, &self.log()[..after], seed, into)
    }

    fn log(&self) -> MutexGuard<'_, Vec<Operation>> {
        self.log.lock().expect("no thread panics while it records")
    }

    fn relative(&self, path: &Path) -> io::Result<PathBuf> {
        let outside = || {
            let message = format!("`{}` is not under the recorded `{}`", path.display(), self.root.display());
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        path.strip_prefix(&self.root).map(Path::to_owned).map_err(|_| outside())
    }

    /// Does it and remembers it; operations of several threads one after the other.
    fn record<T>(&self, operation: Operation, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let mut log = self.log();
        let done = act()?;
        log.push(operation);
        Ok(done)
    }
}

impl Disk for Recorder {
    fn create(&self, path: &Path) -> io::Result<Handle> {
        self.record(Operation::Create(self.relative(path)?), || Real.create(path))
    }

    fn write(&self, path: &Path, file: &Handle, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let operation = Operation::Write { path: self.relative(path)?, offset, bytes: bytes.to_vec() };
        self.record(operation, || Real.write(path, file, offset, bytes))
    }

    fn sync(&self, path: &Path, file: &Handle) -> io::Result<()> {
        match (self.is_forgotten)(Sync::File, path) {
            true => Ok(()),
            false => self.record(Operation::SyncFile(self.relative(path)?), || Real.sync(path, file)),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let operation = Operation::Rename { from: self.relative(from)?, to: self.relative(to)? };
        self.record(operation, || Real.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.record(Operation::Remove(self.relative(path)?), || Real.remove(path))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.record(Operation::CreateDir(self.relative(path)?), || Real.create_dir(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // The name of the root is not part of the recording.
        if (self.is_forgotten)(Sync::Folder, path) || self.root.parent() == Some(path) {
            return Ok(());
        }
        self.record(Operation::SyncDir(self.relative(path)?), || Real.sync_dir(path))
    }
}

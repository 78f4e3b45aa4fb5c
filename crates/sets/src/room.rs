//! What a run over sets may use: memory, threads, a folder; and the wish to stop.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::shelf::PER_SET;
use benzer_io::{Error, Result};
use benzer_storage::{self as files, Files};

/// What every run needs: the program, frequencies of elements, results being written.
const BASE: u64 = 64 << 20;
/// What a thread needs: batches on their way, the largest sets.
const PER_THREAD: u64 = 16 << 20;
/// What is remembered of each set outside the budgets: its places on the shelf, a hash of its id, what the join knows of it.
const EACH: u64 = PER_SET + 16 + 88;

/// Memory, threads and a folder of its own for temporary files, which is removed when this is dropped.
#[derive(Debug)]
pub struct Room {
    memory: u64,
    threads: usize,
    folder: PathBuf,
    files: Files,
    stop: Arc<AtomicBool>,
}

impl Room {
    /// Makes the folder inside `work_dir`. When `stop` becomes true, what is running ends with [`Error::Cancelled`].
    ///
    /// # Errors
    /// A folder that cannot be made; less memory than any run needs.
    pub fn new(memory: u64, threads: usize, work_dir: &Path, stop: Arc<AtomicBool>) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = work_dir.join(format!(".benzer-{}-{number}", std::process::id()));
        let files = Files::new();
        let room = Self { memory, threads: threads.max(1), folder, files, stop };
        room.budget(0)?;
        let made = fs::create_dir_all(&room.folder);
        made.map_err(|error| files::Error::disk("make", &room.folder, error))?;
        Ok(room)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Bytes that are left with so many sets, half of them for the sets themselves and half for sorting.
    pub(crate) fn budget(&self, n_sets: u64) -> Result<usize> {
        let fixed = self.fixed(n_sets);
        self.require(fixed + fixed / 3, n_sets)?;
        Ok(((self.memory - fixed) / 2).min(1 << 40) as usize)
    }

    /// Refuses a budget below so many bytes.
    pub(crate) fn require_budget(&self, bytes: usize, n_sets: u64) -> Result<()> {
        self.require(self.fixed(n_sets) + 2 * bytes as u64, n_sets)
    }

    fn fixed(&self, n_sets: u64) -> u64 {
        BASE + PER_THREAD * self.threads as u64 + EACH * n_sets
    }

    fn require(&self, least: u64, n_sets: u64) -> Result<()> {
        if self.memory >= least {
            return Ok(());
        }
        let (least, threads) = (least.div_ceil(1 << 20), self.threads);
        let expected = format!("at least {least}MiB for {n_sets} sets and {threads} threads");
        Err(Error::parameter("memory", expected, format!("{}MiB", self.memory >> 20)))
    }

    /// Fails if the run is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What cannot be removed has nobody to tell.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_refused_with_what_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let refused = Room::new(100 << 20, 2, folder.path(), Arc::clone(&stop)).unwrap_err().to_string();
        assert_eq!(refused, "`memory` must be at least 128MiB for 0 sets and 2 threads, got 100MiB");
        let room = Room::new(128 << 20, 2, folder.path(), Arc::clone(&stop)).unwrap();
        assert!(
            room.budget(1_000).is_err()
                && room.require_budget(17 << 20, 0).is_err()
                && room.require_budget(16 << 20, 0).is_ok()
        );
        assert!(room.budget(0).is_ok() && room.folder().is_dir() && room.check().is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(room.check(), Err(Error::Cancelled)));
        drop(room);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

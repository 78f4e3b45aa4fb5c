//! What a run over sets may use: memory, threads, a folder; and the wish to stop.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use benzer_flow::Workspace;
use benzer_io::{Error, Result};
use benzer_storage::{self as files, Files};

use crate::store::SET_BYTES;

/// What every run needs: the program, frequencies of elements, results being written.
const BASE_BYTES: u64 = 64 << 20;
/// What a thread needs: batches on their way, the largest sets.
const THREAD_BYTES: u64 = 16 << 20;
/// What is remembered of each set outside the budgets: its places in the store, a hash of its id, what the join knows of it.
const EACH_SET_BYTES: u64 = SET_BYTES + 16 + 88;

/// Memory, threads and a folder of its own for temporary files, which is removed when this is dropped.
#[derive(Debug)]
pub struct Resources {
    memory: u64,
    threads: usize,
    folder: PathBuf,
    files: Files,
    stop: Arc<AtomicBool>,
}

impl Resources {
    /// Makes the folder inside `work_dir`. When `stop` becomes true, what is running ends with [`Error::Cancelled`].
    ///
    /// # Errors
    /// A folder that cannot be made; less memory than any run needs.
    pub fn new(memory: u64, threads: usize, work_dir: &Path, stop: Arc<AtomicBool>) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = work_dir.join(format!(".benzer-{}-{number}", std::process::id()));
        let files = Files::new();
        let resources = Self { memory, threads: threads.max(1), folder, files, stop };
        resources.budget(0)?;
        let made = fs::create_dir_all(&resources.folder);
        made.map_err(|error| files::Error::disk("make", &resources.folder, error))?;
        Ok(resources)
    }

    /// How many threads there are, at least one.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The folder, and the bytes that are left for sorting with so many sets.
    pub(crate) fn workspace(&self, n_sets: u64) -> Result<Workspace<'_>> {
        Ok(Workspace { bytes: self.budget(n_sets)?, folder: &self.folder, files: &self.files })
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
        BASE_BYTES + THREAD_BYTES * self.threads as u64 + EACH_SET_BYTES * n_sets
    }

    fn require(&self, min_bytes: u64, n_sets: u64) -> Result<()> {
        if self.memory >= min_bytes {
            return Ok(());
        }
        let (mib, threads) = (min_bytes.div_ceil(1 << 20), self.threads);
        let expected = format!("at least {mib}MiB for {n_sets} sets and {threads} threads");
        Err(Error::parameter("memory", expected, format!("{}MiB", self.memory >> 20)))
    }

    /// Fails if the run is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl Drop for Resources {
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
        let refused = Resources::new(100 << 20, 2, folder.path(), Arc::clone(&stop)).unwrap_err().to_string();
        assert_eq!(refused, "`memory` must be at least 128MiB for 0 sets and 2 threads, got 100MiB");
        let resources = Resources::new(128 << 20, 2, folder.path(), Arc::clone(&stop)).unwrap();
        assert!(
            resources.budget(1_000).is_err()
                && resources.require_budget(17 << 20, 0).is_err()
                && resources.require_budget(16 << 20, 0).is_ok()
        );
        assert!(resources.budget(0).is_ok() && resources.folder.is_dir() && resources.check().is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(resources.check(), Err(Error::Cancelled)));
        drop(resources);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

//! A collection on disk.
//!
//! ```text
//! records-N.log      every batch as it came: appended, synced, acknowledged. The one truth.
//! segment-N.seg      derived: for a stretch of the log, which record has which band keys and which id
//! current.json       which log, which segments, and what is removed of them
//! collection.json    what the collection is
//! lock               held by the one writer
//! ```
//!
//! A batch costs one append and one sync. Its postings go into a small segment on the heap; a second thread merges segments that have grown alike, and puts large ones into files, which are mapped. Sketches
//! are read where they are, in the mapped log. Opening reads `current.json`, maps what it names, and takes in what the log has behind it; what is derived and missing, stale or damaged is derived again.
//! Opening looks at the ends of segments only; the thread that merges reads them whole once, and derives them again if a checksum is wrong.
//!
//! Readers in other processes do the same without the lock, and look for news whenever they make a view. Removed records stay in segments until these are merged, and in the log until the collection is
//! compacted, which writes the living records into a new log.

mod block;
mod build;
mod compact;
mod current;
mod directory;
mod files;
mod log;
mod map;
mod open;
mod part;
mod policy;
mod put;
mod row;
mod segment;
mod state;
#[cfg(test)]
mod tests;
mod verify;
mod view;
mod work;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use benzer_storage::Lock;

use crate::error::{Error, Result};
use crate::record::DocNo;
use crate::settings::Settings;
use crate::store::Report;
use current::{COLLECTION, CURRENT, Current};
use files::{Files, Real};
pub(super) use log::Access;
use log::{HEADER, Log};
use open::{Folder, Found};
use policy::Tier;
use segment::End;
use state::State;
use work::Worker;

/// When segments go where, in records.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// The unit of the second tier of segments; that of the first is one record.
    few: usize,
    /// The unit of the third tier. A writer merges up to so many itself; the rest is done behind it.
    at_once: usize,
    /// The unit of the last tier: a segment of so many is worth a file.
    file: usize,
    /// A writer waits when so many are not in files.
    backlog: usize,
}

impl Sizes {
    const DEFAULT: Self = Self { few: 1 << 6, at_once: 1 << 13, file: 1 << 18, backlog: 1 << 21 };

    /// What the tiers of segments are. There are at most so many files.
    fn tiers(&self, files: usize) -> [Tier; 4] {
        let tier = |unit, max| Tier { unit, max };
        [tier(1, 2), tier(self.few, 2), tier(self.at_once, 2), tier(self.file, files)]
    }
}

/// So many files' worth of records on the heap are told.
const LATE: usize = 8;

/// How a collection is kept; others than the default serve tests.
#[derive(Debug, Clone)]
struct DiskOptions {
    files: Arc<dyn Files>,
    sizes: Sizes,
}

impl Default for DiskOptions {
    fn default() -> Self {
        Self { files: Arc::new(Real), sizes: Sizes::DEFAULT }
    }
}

/// The store.
#[derive(Debug)]
pub(super) struct Disk {
    shared: Arc<Shared>,
    /// Merges, where we write.
    worker: Option<Worker>,
}

/// What the store and its worker share.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    folder: Folder,
    state: RwLock<Arc<State>>,
    /// Held by whoever changes the state.
    log: Mutex<Log>,
    /// Held by whoever merges.
    merging: Mutex<()>,
    /// Parts that are being merged, counted from the first.
    reserved: AtomicUsize,
    /// Why the last merge failed, if it did.
    trouble: Mutex<Option<String>>,
    /// For readers: which `current.json` they have seen.
    seen: Mutex<Option<view::Stamp>>,
    lock: Option<Lock>,
}

impl Drop for Disk {
    /// Puts what is on the heap into a file, so that it is opened at once the next time, and notes how far the log was acknowledged, so that damage to its end is told from a write that was cut off.
    fn drop(&mut self) {
        if self.worker.take().is_some() {
            // If it fails, the next opening derives it from the log.
            self.shared.flush(usize::MAX).ok();
            if let Ok(log) = self.shared.log() {
                // If it fails, the next opening takes the end for what it looks like.
                self.shared.folder.publish(&log, &self.shared.state()).ok();
            }
        }
    }
}

impl Disk {
    /// Makes a collection in a folder that has none.
    pub fn create(path: &Path, settings: &Settings) -> Result<()> {
        Self::create_with(path, settings, DiskOptions::default())
    }

    fn create_with(path: &Path, settings: &Settings, options: DiskOptions) -> Result<()> {
        settings.check()?;
        let layout = settings.layout()?;
        files::make_folders(&*options.files, path).map_err(trouble("make", path))?;
        let _lock = lock(path)?;
        if path.join(COLLECTION).exists() {
            return Err(Error::Exists { name: path.display().to_string() });
        }
        let folder = Folder::new(path, options, layout, current::fingerprint(settings), Access::Write)?;
        folder.begin()?;
        current::write(&*folder.files, &path.join(COLLECTION), "collection", settings)?;
        files::sync_folder_of(&*folder.files, path).map_err(trouble("sync", path))
    }

    /// Opens a collection.
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        Self::open_with(path, access, DiskOptions::default())
    }

    fn open_with(path: &Path, access: Access, options: DiskOptions) -> Result<Self> {
        let settings = settings(path)?;
        let lock = if access == Access::Write { Some(lock(path)?) } else { None };
        let fingerprint = current::fingerprint(&settings);
        let folder = Folder::new(path, options, settings.layout()?, fingerprint, access)?;
        let seen = Mutex::new(view::Stamp::of(&path.join(CURRENT)));
        let Found { log, state, rebuilt } = folder.load()?;
        if access == Access::Write {
            if rebuilt.is_some() {
                folder.publish(&log, &state)?;
            }
            folder.remove_others(&log, &state)?;
        }
        let shared = Arc::new(Shared {
            settings,
            folder,
            state: RwLock::new(Arc::new(state)),
            log: Mutex::new(log),
            merging: Mutex::new(()),
            reserved: AtomicUsize::new(0),
            trouble: Mutex::new(None),
            seen,
            lock,
        });
        let worker = (access == Access::Write).then(|| Worker::start(Arc::clone(&shared)));
        Ok(Self { shared, worker })
    }

    /// Checks everything: checksums, and that postings agree with records.
    pub fn verify(&self) -> Result<Report> {
        self.shared.verify()
    }

    /// Opens a collection and makes everything right that can be: derives what is derived again, and leaves damaged records out.
    pub fn repair(path: &Path) -> Result<Report> {
        let lock = lock(path)?;
        let settings = settings(path)?;
        let fingerprint = current::fingerprint(&settings);
        let folder =
            Folder::new(path, DiskOptions::default(), settings.layout()?, fingerprint, Access::Write)?;
        let lost = folder.short_log();
        let length = |log: &PathBuf| fs::metadata(log).map_or(0, |log| log.len());
        match lost.as_ref().map(length) {
            None => {}
            // Nothing is left of it.
            Some(length) if length < 8 * HEADER as u64 => folder.begin()?,
            Some(_) => {
                // Without it everything is derived from what is left of the log.
                let current = path.join(CURRENT);
                folder.files.remove(&current).map_err(trouble("remove", &current))?;
            }
        }
        drop(lock);
        let mut report = Self::open(path, Access::Write)?.shared.repair()?;
        if let Some(log) = lost {
            report.records.push(format!("the end of `{}` is missing, with all records in it", log.display()));
            report.repaired.push("the collection goes on with the records before".to_owned());
        }
        Ok(report)
    }

    /// Waits while too much is on the heap; an error if that is so because merging fails.
    fn wait_for_worker(&self) -> Result<()> {
        let Some(worker) = &self.worker else { return Ok(()) };
        let is_too_much = || self.shared.state().n_on_heap() > self.shared.folder.sizes.backlog;
        worker.wait_while(is_too_much);
        match self.shared.trouble() {
            Some(what) if is_too_much() => {
                Err(Error::Behind { folder: self.shared.folder.path.clone(), what })
            }
            _ => Ok(()),
        }
    }
}

/// Makes a folder and those it lies in, as far as they are missing, and returns when their names are on the disk.
///
/// # Errors
/// What the operating system says.
pub fn make_folders(path: &Path) -> io::Result<()> {
    files::make_folders(&Real, path)
}

/// What a collection is.
pub(super) fn settings(path: &Path) -> Result<Settings> {
    let file = path.join(COLLECTION);
    if !file.exists() {
        return Err(Error::NoCollection { name: path.display().to_string() });
    }
    let settings: Settings = current::read(&file, "collection")?;
    settings.check()?;
    Ok(settings)
}

/// The collections in a folder; none if it is not there.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(trouble("read", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(trouble("read", folder))?;
        if entry.path().join(COLLECTION).exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Removes a collection, which nobody may be writing to.
pub(super) fn remove(path: &Path) -> Result<()> {
    settings(path).map(drop).or_else(|error| match error {
        Error::NoCollection { .. } => Err(error),
        // One that cannot be read can be removed all the same.
        _ => Ok(()),
    })?;
    let _lock = lock(path)?;
    // Without this file it is not a collection any more, whatever else is left.
    let collection = path.join(COLLECTION);
    fs::remove_file(&collection).map_err(trouble("remove", &collection))?;
    files::sync_folder_of(&Real, &collection).map_err(trouble("remove", path))?;
    fs::remove_dir_all(path).map_err(trouble("remove", path))
}

impl Folder {
    /// An empty log, and no other file.
    fn begin(&self) -> Result<()> {
        let log = self.new_file("records", "log");
        let log = Log::create(&self.files, &log, &self.known(None))?;
        log.sync()?;
        let state = State::new(log.rows.clone(), End::START);
        self.remove_others(&log, &state)?;
        self.publish(&log, &state)
    }

    /// Makes a state the one that is found when the collection is opened. What its segments do not have is in the log.
    fn publish(&self, log: &Log, state: &State) -> Result<()> {
        let name = log.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        current::write(&*self.files, &self.path.join(CURRENT), "current", &Current::of(state, name))
    }
}

impl Shared {
    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_state(&self, state: State) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
    }

    /// The log, to be written.
    fn log(&self) -> Result<MutexGuard<'_, Log>> {
        if self.lock.is_none() {
            return Err(Error::ReadOnly { folder: self.folder.path.clone() });
        }
        Ok(self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What fails behind the writer, or seems to.
    fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let n = self.state().n_on_heap();
        // The writer may be another process, which cannot be asked.
        let is_late = self.lock.is_none() && n > LATE * self.folder.sizes.file;
        trouble.or_else(|| is_late.then(|| format!("{n} records are in no file yet; the writer is behind, or merging fails, or it was killed; compact the collection")))
    }

    fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    fn damaged(&self, number: DocNo) -> Error {
        let state = self.state();
        let id = |id: &[u8]| format!(" (id `{}`, unless that is damaged)", String::from_utf8_lossy(id));
        let id = state.id_of(number).map(id).unwrap_or_default();
        Error::damaged(&self.folder.path, format!("record {number}{id} does not have its checksum"))
    }
}

/// An error of the operating system, with what was tried.
fn trouble<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
    move |error| Error::Disk { action, path: path.into(), source: error }
}

/// Takes the lock of a collection, which one writer holds at a time.
fn lock(folder: &Path) -> Result<Lock> {
    Lock::acquire(folder).map_err(|error| match error {
        benzer_storage::Error::Locked { folder, pid } => Error::Locked { folder, pid },
        benzer_storage::Error::Disk { action, path, source, .. } => Error::Disk { action, path, source },
        other => {
            Error::Disk { action: "lock", path: folder.join(Lock::NAME), source: io::Error::other(other) }
        }
    })
}

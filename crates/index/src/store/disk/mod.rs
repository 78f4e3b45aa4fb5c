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
//!
//! Readers in other processes do the same without the lock, and look for news whenever they make a view. Removed records stay in segments until these are merged, and in the log until the collection is
//! compacted, which writes the living records into a new log.

mod build;
mod compact;
mod current;
mod directory;
mod files;
mod lock;
mod log;
mod map;
mod open;
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
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::record::Records;
use crate::settings::Settings;
use crate::store::{DocNo, Record, Store, View};
use current::{COLLECTION, CURRENT, Current};
use files::{Files, Real};
use lock::Lock;
pub(super) use log::Access;
use log::{Batch, Log, Next};
use open::{Folder, Found};
use state::{Limits, State};
pub use verify::Report;
use work::Worker;

/// A segment of so many records is worth a file.
const FILE_LEAST: usize = 1 << 15;
/// A writer merges up to so many records itself; the rest is done behind it.
const AT_ONCE: usize = 1 << 12;
/// A writer waits when so many records are not in files.
const BACKLOG: usize = 1 << 21;

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
    /// For readers: which `current.json` they have seen.
    seen: Mutex<Option<view::Stamp>>,
    lock: Option<Lock>,
}

impl Disk {
    /// Makes a collection in a folder that has none.
    pub fn create(path: &Path, settings: &Settings) -> Result<()> {
        Self::create_with(path, settings, Arc::new(Real))
    }

    fn create_with(path: &Path, settings: &Settings, files: Arc<dyn Files>) -> Result<()> {
        settings.check()?;
        let layout = settings.layout()?;
        fs::create_dir_all(path).map_err(trouble("make", path))?;
        let _lock = Lock::acquire(path)?;
        if path.join(COLLECTION).exists() {
            return Err(Error::Exists { name: path.display().to_string() });
        }
        let folder = Folder::new(path, files, layout, current::fingerprint(settings), Access::Write)?;
        let log = folder.new_file("records", "log");
        let log = Log::create(&folder.files, &log, &folder.known(None))?;
        log.sync()?;
        let state = State::new(log.rows.clone(), log.end);
        folder.remove_others(&log, &state)?;
        folder.publish(&log, &state)?;
        current::write(&*folder.files, &path.join(COLLECTION), "collection", settings)?;
        files::sync_folder_of(&*folder.files, path).map_err(trouble("sync", path))
    }

    /// Opens a collection.
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        Self::open_with(path, access, Arc::new(Real))
    }

    fn open_with(path: &Path, access: Access, files: Arc<dyn Files>) -> Result<Self> {
        let settings = settings(path)?;
        let lock = if access == Access::Write { Some(Lock::acquire(path)?) } else { None };
        let fingerprint = current::fingerprint(&settings);
        let folder = Folder::new(path, files, settings.layout()?, fingerprint, access)?;
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

    /// Makes everything right that can be: derives what is derived again, and leaves damaged records out.
    pub fn repair(&self) -> Result<Report> {
        self.shared.repair()
    }

    fn wait_for_worker(&self) {
        if let Some(worker) = &self.worker {
            worker.wake();
            worker.wait_while(|| self.shared.state().n_on_heap() > BACKLOG);
        }
    }
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
    let _lock = Lock::acquire(path)?;
    // Without this file it is not a collection any more, whatever else is left.
    let collection = path.join(COLLECTION);
    fs::remove_file(&collection).map_err(trouble("remove", &collection))?;
    files::sync_folder_of(&Real, &collection).map_err(trouble("remove", path))?;
    fs::remove_dir_all(path).map_err(trouble("remove", path))
}

impl Folder {
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

    /// Appends a batch to the log, and takes it in.
    fn commit(&self, log: &mut Log, batch: &Batch) -> Result<()> {
        if batch.len() == 0 && batch.removed.is_empty() {
            return Ok(());
        }
        let mut state = State::clone(&self.state());
        let at = log.append(state.next, batch)?;
        state.rows = log.rows.clone();
        let limits = Limits { first: self.reserved.load(Ordering::Acquire), most: AT_ONCE };
        let taken = match log.rows.next(at) {
            Next::Block(block) => state.apply(&block, self.folder.made(), limits),
            _ => Err(Error::Damaged {
                path: log.path.clone(),
                what: "what was written cannot be read".to_owned(),
            }),
        };
        if taken.is_err() {
            log.refuse();
        }
        taken.map(|()| self.set_state(state))
    }

    fn damaged(&self, number: DocNo) -> Error {
        let state = self.state();
        let id = state
            .id_of(number)
            .map(|id| format!(" (id `{}`, unless that is damaged)", String::from_utf8_lossy(id)));
        Error::Damaged {
            path: self.folder.path.clone(),
            what: format!("record {number}{} does not have its checksum", id.unwrap_or_default()),
        }
    }
}

impl Store for Disk {
    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    fn put(&self, records: &Records) -> Result<()> {
        check(records, self.shared.folder.layout.words())?;
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        if records.len() as u64 > u64::from(u32::MAX) - u64::from(state.next) {
            return Err(Error::Full);
        }
        let mut batch = Batch::default();
        for i in last_of_each(records) {
            let record = record(records, i, self.shared.folder.layout.words());
            batch.removed.extend(state.number(record.id));
            batch.push(&record);
        }
        self.shared.commit(&mut log, &batch)?;
        drop(log);
        self.wait_for_worker();
        Ok(())
    }

    fn remove(&self, ids: &[&[u8]]) -> Result<u64> {
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        let mut removed: Vec<DocNo> = ids.iter().filter_map(|id| state.number(id)).collect();
        removed.sort_unstable();
        removed.dedup();
        let n = removed.len() as u64;
        self.shared.commit(&mut log, &Batch::removing(removed))?;
        Ok(n)
    }

    fn expire(&self, now: u64) -> Result<u64> {
        let mut log = self.shared.log()?;
        let state = self.shared.state();
        let removed = state.gone(now);
        let n = removed.len() as u64;
        self.shared.commit(&mut log, &Batch::removing(removed))?;
        Ok(n)
    }

    fn view(&self) -> Result<Box<dyn View + '_>> {
        self.shared.refresh()?;
        Ok(Box::new(view::Snapshot { shared: &self.shared, state: self.shared.state() }))
    }

    fn compact(&self) -> Result<()> {
        self.shared.compact()
    }
}

fn check(records: &Records, stride: usize) -> Result<()> {
    if records.len() * stride != records.words.len() {
        return Err(Error::parameter(
            "words",
            format!("{stride} for each record"),
            format!("{} for {} records", records.words.len(), records.len()),
        ));
    }
    let longest = records.ids.iter().chain(records.documents.iter()).map(<[u8]>::len).max();
    if longest.is_some_and(|longest| longest > 1 << 30) {
        return Err(Error::parameter("a document", "at most 1 GiB", "one that is larger"));
    }
    Ok(())
}

fn record(records: &Records, i: usize, stride: usize) -> Record<'_> {
    Record {
        id: records.ids.get(i),
        words: &records.words[i * stride..(i + 1) * stride],
        document: records.documents.get(i),
        expires: records.expires(i),
    }
}

/// The places of records whose id does not come again after them, in order.
fn last_of_each(records: &Records) -> Vec<usize> {
    let last: std::collections::HashMap<&[u8], usize> = records.ids.iter().zip(0..).collect();
    if last.len() == records.len() {
        return (0..records.len()).collect();
    }
    let mut kept: Vec<usize> = last.into_values().collect();
    kept.sort_unstable();
    kept
}

/// An error of the operating system, with what was tried.
fn trouble<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
    move |error| Error::Disk { action, path: path.into(), source: error }
}

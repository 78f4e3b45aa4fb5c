//! Results in an object store.
//!
//! ```text
//! WORK/run/        intermediate files
//! WORK/results/    the results, as a run leaves them in a folder of this machine
//! WORK/stage-upload.json   they are whole
//! WORK/uploaded.jsonl      what of them is in the store
//! ```
//!
//! The run is the same as ever, into the work folder; then the results are sent, `manifest.json` last. So a folder of a store that has
//! a manifest is whole, too. What is interrupted while sending goes on with what is not in the store yet. The price is room on
//! this machine for the results.

mod journal;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use benzer_core::hash;
use serde::Deserialize;

use super::open::open_inputs;
use super::run::{self, Finished};
use super::setup::{Setup, check_cancelled};
use crate::error::{Error, Result};
use crate::folders::{DOCUMENTS, RESULTS, WORK};
use crate::progress::{Observer, Stage};
use crate::request::Request;
use crate::results::manifest as results;
use crate::results::manifest::NAME as MANIFEST;
use crate::summary::{Summary, Timing};
use benzer_flow::workers::in_parallel;
use benzer_io::store::{Address, Folder, Stored};
use benzer_storage::{Check, FileEntry, Files, Lock, Manifest, State, checksum_of};
use journal::Journal;

const WAITING: &str = "results";
const RUN: &str = "run";
const AT_ONCE: usize = 4;

/// A run whose results go to a store.
pub(super) fn run(
    files: &Files,
    request: &Request,
    address: Address,
    observer: &dyn Observer,
) -> Result<Summary> {
    if request.results.save.as_ref() == Some(&request.own_archive()) {
        let got =
            format!("`{}`; name a folder of this machine with --archive", request.results.folder.display());
        return Err(Error::parameter("save", "left out for results in an object store", got));
    }
    // By default a folder of the current one, the same for the same address.
    let work = request.resources.work_dir.clone().unwrap_or_else(|| {
        let number = hash::element(address.with_key(address.prefix()).url().as_bytes());
        PathBuf::from(format!(".benzer-work-{number:016x}"))
    });
    let folder = Folder::open(address)?;
    let there = folder.list()?;
    check(&folder, &there, request)?;
    let is_foreign =
        !work.join("lock").exists() && [WAITING, RUN].iter().any(|name| work.join(name).exists());
    if is_foreign {
        let what =
            "folders that a run would replace, `results` or `run`; name an empty folder with --work-dir";
        return Err(Error::Occupied { path: work, what });
    }
    files.create_dir_all(&work)?;
    let lock = Lock::acquire(&work)?;
    let local = request.clone().with(|request| {
        request.results.folder = work.join(WAITING);
        request.resources.work_dir = Some(work.join(RUN));
        request.results.overwrite = true;
    });
    let run = LocalRun { files, request: &local, target: &request.results.folder, work: &work, observer };
    let saved = if request.resources.resume { run.saved()? } else { None };
    let waiting = saved.map_or_else(|| run.make(), Ok)?;
    let mut summary: Summary = waiting
        .counts()
        .get("summary")
        .and_then(|value| Summary::deserialize(value).ok())
        .unwrap_or_default();
    let start = Instant::now();
    let journal = if request.resources.resume { Journal::open(&work)? } else { Journal::create(&work)? };
    send(&folder, &there, &work, &waiting, &journal, observer)?;
    summary.timings.push(Timing { stage: Stage::Upload, took: start.elapsed(), resumed: false });
    remove(files, &work, lock)?;
    Ok(summary)
}

fn check(folder: &Folder, there: &BTreeMap<String, Stored>, request: &Request) -> Result<()> {
    if request.results.overwrite || request.resources.resume {
        return Ok(());
    }
    let occupied = |what| Err(Error::Occupied { path: folder.url().into(), what });
    if there.contains_key(MANIFEST) {
        return occupied("the results of a finished run; name another folder, or give --overwrite");
    }
    match there.keys().all(|name| is_result(name)) {
        true => Ok(()),
        false => occupied("other files; name a new folder for the results"),
    }
}

fn is_result(name: &str) -> bool {
    RESULTS.contains(&name) || name.strip_prefix(DOCUMENTS).is_some_and(|rest| rest.starts_with('/'))
}

/// A run into the work folder, whose results are sent to another place.
struct LocalRun<'a> {
    files: &'a Files,
    request: &'a Request,
    target: &'a Path,
    work: &'a Path,
    observer: &'a dyn Observer,
}

impl LocalRun<'_> {
    fn setup(&self) -> Result<Setup<'_>> {
        Setup::new(self.files, self.request, self.target, self.observer)
    }

    /// The results that an interrupted run has left, if they are of the same run.
    fn saved(&self) -> Result<Option<Manifest>> {
        if !Manifest::path(self.work, Stage::Upload.name()).exists() {
            return Ok(None);
        }
        let setup = self.setup()?;
        let old = setup.open_old(&open_inputs(self.request, &setup.folders.work, self.target)?)?;
        let fingerprint = self.key(&old.fingerprint);
        match Manifest::load(self.work, Stage::Upload.name(), &fingerprint, Check::Checksums) {
            State::Finished(manifest) => {
                setup.folders.finish(self.files)?;
                Ok(Some(manifest))
            }
            _ => Ok(None),
        }
    }

    fn key(&self, fingerprint: &str) -> String {
        format!("{fingerprint} {:?}", self.request.results.write)
    }

    fn make(&self) -> Result<Manifest> {
        let Self { files, work, .. } = self;
        let folder = &self.request.results.folder;
        files.remove(&Manifest::path(work, Stage::Upload.name()))?;
        // What was left of results that were sent.
        if results::Manifest::read(folder).is_err() && !folder.join(WORK).exists() {
            let _ = std::fs::remove_dir_all(folder);
        }
        let Finished { summary, fingerprint } = run::run(self.setup()?)?;
        let mut waiting = Manifest::new(Stage::Upload.name(), &self.key(&fingerprint));
        for FileEntry { name, stamp } in results::Manifest::read(folder)?.files {
            waiting.add_file(&format!("{WAITING}/{name}"), stamp);
        }
        for name in [results::RUN, MANIFEST] {
            waiting.add_file(&format!("{WAITING}/{name}"), checksum_of(&folder.join(name))?);
        }
        waiting.set_count("summary", serde_json::to_value(&summary).unwrap_or_default());
        waiting.save(files, work)?;
        Ok(waiting)
    }
}

/// Sends what is not there yet. First the old manifest goes, and the new one comes last.
fn send(
    folder: &Folder,
    there: &BTreeMap<String, Stored>,
    work: &Path,
    waiting: &Manifest,
    journal: &Journal,
    observer: &dyn Observer,
) -> Result<()> {
    let name_of = |entry: &FileEntry| entry.name.strip_prefix(WAITING).map(|name| name[1..].to_owned());
    let all: Vec<(String, &FileEntry)> =
        waiting.files().iter().filter_map(|entry| Some((name_of(entry)?, entry))).collect();
    observer.begin(Stage::Upload, Some(all.iter().map(|(_, entry)| entry.stamp.bytes).sum()));
    if there.contains_key(MANIFEST) {
        folder.remove(MANIFEST)?;
    }
    let names: std::collections::HashSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    for stale in there.keys().filter(|name| is_result(name) && !names.contains(name.as_str())) {
        folder.remove(stale)?;
    }
    let (last, first): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| name == MANIFEST);
    let sent = AtomicU64::new(0);
    let put = |(name, entry): &(String, &FileEntry)| -> Result<()> {
        check_cancelled(observer)?;
        if !journal.has(name, entry, there.get(name)) {
            let mut reported = 0;
            let version = folder.put(name, &work.join(&entry.name), &mut |now| {
                observer.reached(sent.fetch_add(now - reported, Ordering::Relaxed) + now - reported);
                reported = now;
                !observer.is_cancelled()
            })?;
            return journal.add(name, entry, &version);
        }
        observer.reached(sent.fetch_add(entry.stamp.bytes, Ordering::Relaxed) + entry.stamp.bytes);
        Ok(())
    };
    for_each(&first, put)?;
    last.iter().try_for_each(put)
}

/// Does something with every item, some at a time. The first error ends it.
fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let failed = AtomicBool::new(false);
    let done = in_parallel(
        items.len(),
        AT_ONCE,
        || (),
        |i, ()| match failed.load(Ordering::Relaxed) {
            true => Ok(()),
            false => work(&items[i]).inspect_err(|_| failed.store(true, Ordering::Relaxed)),
        },
    );
    done.into_iter().collect()
}

fn remove(files: &Files, work: &Path, lock: Lock) -> Result<()> {
    // The manifest goes first: without it the other files mean nothing.
    files.remove(&Manifest::path(work, Stage::Upload.name()))?;
    journal::remove(files, work)?;
    let waiting = work.join(WAITING);
    std::fs::remove_dir_all(&waiting)
        .map_err(|error| benzer_storage::Error::disk("remove", &waiting, error))?;
    drop(lock);
    let _ = std::fs::remove_file(work.join("lock"));
    // Somebody else's files in it keep it there.
    let _ = std::fs::remove_dir(work);
    Ok(())
}

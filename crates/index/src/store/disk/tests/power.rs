//! Power cuts: every operation is recorded, and what a cut after each of them could leave is opened.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use super::fault::{Step, steps};
use super::*;

/// Where the collection is. None of these folders is there at first.
const COLLECTION_AT: &str = "new/db/c";

/// Names are those below the folder of the test.
#[derive(Debug, Clone)]
enum Operation {
    MakeFolder(PathBuf),
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Cut(PathBuf, u64),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    SyncFolder(PathBuf),
}

/// A disk that remembers every operation, or forgets to sync files of a kind. Several threads may use it: an operation is remembered and done before the next one is.
#[derive(Debug, Default)]
struct Recorder {
    root: PathBuf,
    operations: Mutex<Vec<Operation>>,
    forgets: Option<&'static str>,
    meanwhile: Mutex<Meanwhile>,
}

/// What others do while records are copied: one of it whenever the copy is synced.
#[derive(Default)]
struct Meanwhile(VecDeque<Box<dyn FnOnce() + Send>>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls", self.0.len())
    }
}

impl Recorder {
    fn name(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap().to_owned()
    }

    fn forgets(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.forgets.is_some_and(|kind| name.starts_with(kind))
    }

    /// Remembers an operation; the next one waits until what is returned is dropped.
    fn add(&self, operation: Operation) -> MutexGuard<'_, Vec<Operation>> {
        let mut operations = self.operations.lock().unwrap();
        operations.push(operation);
        operations
    }
}

impl Files for Recorder {
    fn create(&self, path: &Path) -> io::Result<File> {
        let _next = self.add(Operation::Create(self.name(path)));
        Quick.create(path)
    }

    fn write(&self, path: &Path, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _next = self.add(Operation::Write(self.name(path), at, bytes.to_vec()));
        Quick.write(path, file, at, bytes)
    }

    fn cut(&self, path: &Path, file: &File, bytes: u64) -> io::Result<()> {
        let _next = self.add(Operation::Cut(self.name(path), bytes));
        Quick.cut(path, file, bytes)
    }

    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        if !self.forgets(path) {
            drop(self.add(Operation::Sync(self.name(path))));
        }
        let is_copy = path.file_name().unwrap().to_string_lossy().starts_with("records")
            && path.extension().is_some_and(|end| end == "tmp");
        let call = is_copy.then(|| self.meanwhile.lock().unwrap().0.pop_front()).flatten();
        call.into_iter().for_each(|call| call());
        Quick.sync(path, file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _next = self.add(Operation::Rename(self.name(from), self.name(to)));
        Quick.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _next = self.add(Operation::Remove(self.name(path)));
        Quick.remove(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let _next = self.add(Operation::MakeFolder(self.name(path)));
        Quick.make_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        if !self.forgets(path) {
            drop(self.add(Operation::SyncFolder(self.name(path))));
        }
        Quick.sync_folder(path)
    }
}

/// A file, whatever its name: what is on the disk for sure, and what was written since.
#[derive(Debug, Clone, Default)]
struct Content {
    durable: Vec<u8>,
    unsynced: Vec<(u64, Option<Vec<u8>>)>,
}

fn apply(bytes: &mut Vec<u8>, at: u64, written: &Option<Vec<u8>>, kept: usize) {
    let at = at as usize;
    match written {
        None => bytes.resize(at, 0),
        Some(written) => {
            let kept = kept.min(written.len());
            bytes.resize(bytes.len().max(at + kept), 0);
            bytes[at..at + kept].copy_from_slice(&written[..kept]);
        }
    }
}

/// What a folder has, by name: a file, or a folder.
type Names = BTreeMap<PathBuf, Option<usize>>;

/// A disk as it was after some operations.
#[derive(Default)]
struct After {
    files: Vec<Content>,
    /// Of every folder the states since it was synced; the last is what a program sees.
    folders: BTreeMap<PathBuf, Vec<Names>>,
}

impl After {
    fn change(&mut self, path: &Path, change: impl FnOnce(&mut Names)) {
        let states =
            self.folders.entry(path.parent().unwrap().to_owned()).or_insert_with(|| vec![Names::new()]);
        let mut names = states.last().unwrap().clone();
        change(&mut names);
        states.push(names);
    }

    fn file(&mut self, path: &Path) -> &mut Content {
        let names = self.folders[path.parent().unwrap()].last().unwrap();
        &mut self.files[names[path].unwrap()]
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::MakeFolder(name) => self.change(name, |names| {
                names.insert(name.clone(), None);
            }),
            Operation::Create(name) => {
                let file = self.files.len();
                self.files.push(Content::default());
                self.change(name, |names| {
                    names.insert(name.clone(), Some(file));
                });
            }
            Operation::Write(name, at, bytes) => self.file(name).unsynced.push((*at, Some(bytes.clone()))),
            Operation::Cut(name, bytes) => self.file(name).unsynced.push((*bytes, None)),
            Operation::Sync(name) => {
                let Content { durable, unsynced } = self.file(name);
                unsynced.drain(..).for_each(|(at, bytes)| apply(durable, at, &bytes, usize::MAX));
            }
            Operation::Rename(from, to) => self.change(from, |names| {
                let file = names.remove(from).unwrap();
                names.insert(to.clone(), file);
            }),
            Operation::Remove(name) => self.change(name, |names| {
                names.remove(name);
            }),
            Operation::SyncFolder(name) => {
                if let Some(states) = self.folders.get_mut(name) {
                    states.drain(..states.len() - 1);
                }
            }
        }
    }
}

/// What a power cut after some operations could leave. Seed 0 loses everything that may be lost, others some of it.
fn power_cut(operations: &[Operation], seed: u64, into: &Path) {
    let mut after = After::default();
    operations.iter().for_each(|operation| after.apply(operation));
    let After { files, folders } = after;
    let mut n = 0;
    let mut draw = |below: usize| {
        n += 1;
        if seed == 0 { 0 } else { (mix(seed * 1_000_003 + n) % below as u64) as usize }
    };
    let mut left = vec![PathBuf::new()];
    let mut kept = Vec::new();
    while let Some(folder) = left.pop() {
        fs::create_dir_all(into.join(&folder)).unwrap();
        let Some(states) = folders.get(&folder) else { continue };
        for (name, what) in &states[draw(states.len())] {
            match what {
                Some(file) => kept.push((name, *file)),
                None => left.push(name.clone()),
            }
        }
    }
    for (name, file) in kept {
        let Content { mut durable, unsynced } = files[file].clone();
        let kept = draw(unsynced.len() + 1);
        for (i, (at, bytes)) in unsynced.iter().enumerate().take(kept + 1) {
            let torn = bytes.as_ref().map_or(0, Vec::len);
            let torn = if i < kept { torn } else { draw(torn + 1) };
            // The size has reached the disk, a page in the middle has not.
            let hole = draw(3) == 2 && torn > 4096;
            if i < kept || bytes.is_some() {
                apply(&mut durable, *at, bytes, torn);
            }
            if hole && i == kept {
                durable[*at as usize..][..4096].fill(0);
            }
        }
        fs::write(into.join(name), durable).unwrap();
    }
}

/// Who merges.
#[derive(Clone, Copy, PartialEq)]
enum Merging {
    /// Nobody, but where a step says so.
    InSteps,
    /// The thread behind the writer, whenever it likes.
    Behind,
    /// As in steps, but what comes after a compaction comes during it.
    WhileOthersWrite,
}

/// Cuts the power after every operation of all steps; the first outcome that is wrong.
fn first_wrong(
    forgets: Option<&'static str>,
    merging: Merging,
    seeds: std::ops::Range<u64>,
) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(COLLECTION_AT);
    let recorder = Arc::new(Recorder { root: folder.path().to_owned(), forgets, ..Recorder::default() });
    let options = DiskOptions { files: recorder.clone(), sizes: SMALL };
    let mut disk = made(&path, &options);
    if merging != Merging::Behind {
        disk.worker = None;
    }
    let moments = moments(&Arc::new(disk), &recorder, merging);
    let operations = recorder.operations.lock().unwrap().clone();
    assert!(operations.len() > 60, "{}", operations.len());
    for cut in 0..=operations.len() {
        let acknowledged = moments.iter().rposition(|(n, _)| *n <= cut);
        for seed in seeds.clone() {
            let into = tempfile::tempdir().unwrap();
            power_cut(&operations[..cut], seed, into.path());
            let path = into.path().join(COLLECTION_AT);
            // It was being made.
            if acknowledged.is_none() && !path.join(COLLECTION).exists() {
                continue;
            }
            if Disk::open_with(&path, Access::Read, quick()).is_err() {
                return Some(format!("cut after {cut} operations, seed {seed}: it does not open"));
            }
            let found = whole_content(&path);
            let is_next =
                moments.get(acknowledged.map_or(0, |now| now + 1)).is_some_and(|(_, model)| *model == found);
            if acknowledged.is_none_or(|now| found != moments[now].1) && !is_next {
                return Some(format!("cut after {cut} operations, seed {seed}: {:?}", operations.get(cut)));
            }
        }
    }
    None
}

/// Runs all steps. After each of them: how many operations there were, and what is there.
fn moments(disk: &Arc<Disk>, recorder: &Arc<Recorder>, merging: Merging) -> Vec<(usize, Model)> {
    let moments = Arc::new(Mutex::new(Vec::new()));
    let note = {
        let (moments, recorder) = (Arc::clone(&moments), Arc::clone(recorder));
        move |model: Model| {
            let n_operations = recorder.operations.lock().unwrap().len();
            moments.lock().unwrap().push((n_operations, model));
        }
    };
    note(Model::new());
    let mut steps = steps().into_iter().peekable();
    while let Some((step, mut model)) = steps.next() {
        let others = |(step, _): &(Step, Model)| matches!(step, Step::Put(_) | Step::Remove(_));
        while matches!(step, Step::Compact)
            && merging == Merging::WhileOthersWrite
            && let Some((other, after)) = steps.next_if(others)
        {
            model.clone_from(&after);
            let (disk, note) = (Arc::clone(disk), note.clone());
            let call = move || {
                other.run(&disk).unwrap();
                note(after);
            };
            recorder.meanwhile.lock().unwrap().0.push_back(Box::new(call));
        }
        step.run(disk).unwrap();
        assert!(recorder.meanwhile.lock().unwrap().0.is_empty(), "the copy was not synced often enough");
        note(model);
    }
    let moments = moments.lock().unwrap();
    moments.clone()
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    assert_eq!(first_wrong(None, Merging::InSteps, 0..3), None);
}

#[test]
fn a_power_cut_while_another_thread_merges_loses_nothing_either() {
    for first in [10, 20, 30] {
        assert_eq!(first_wrong(None, Merging::Behind, first..first + 1), None);
    }
}

#[test]
fn a_power_cut_while_others_write_during_a_compaction_loses_nothing_either() {
    assert_eq!(first_wrong(None, Merging::WhileOthersWrite, 0..3), None);
}

#[test]
fn a_copy_that_was_not_synced_would_be_noticed_too() {
    assert!(first_wrong(Some("records"), Merging::WhileOthersWrite, 0..1).is_some());
}

#[test]
fn segments_that_were_not_synced_cost_no_record() {
    assert_eq!(first_wrong(Some("segment"), Merging::Behind, 0..1), None);
}

#[test]
fn a_log_that_was_not_synced_would_be_noticed() {
    assert!(first_wrong(Some("records"), Merging::InSteps, 0..1).is_some());
}

#[test]
fn folders_that_were_not_synced_would_be_noticed() {
    for folder in ["new", "db"] {
        assert!(first_wrong(Some(folder), Merging::InSteps, 0..1).is_some(), "{folder}");
    }
}

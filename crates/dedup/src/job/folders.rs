//! The folder of the results, and the work folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use benzer_io::places;
use benzer_io::read::Input;
use benzer_storage::{Files, Lock};

use crate::error::{Error, Result};
use crate::folders::{DOCUMENTS, OLD_REJECTS, REJECTS, RESULTS, WORK, rethresholded};
use crate::request::{Request, SAVED};
use crate::results::manifest::{self, NAME as MANIFEST};

/// What is said of a folder that holds something else.
const OTHERS: &str = "other files; name a new folder for the results";
/// What a run leaves in its work folder whatever happens.
const LOCK: &str = "lock";

/// What came through standard input, in the work folder.
pub(super) const STDIN: &str = "stdin";

/// Everything a run writes to its work folder, in the order in which it is removed.
const INTERMEDIATE: [&str; 16] = [
    "stage-verify.json",
    "stage-against.json",
    "stage-read.json",
    REJECTS,
    STDIN,
    "edges.bin",
    "edges-against.bin",
    "guests.bin",
    "sketches.bin",
    "places.bin",
    "texts.bin",
    "batches.bin",
    "ids.bin",
    "ids.end",
    "keys.bin",
    "keys.end",
];

/// How the names of intermediate files of old documents begin.
pub(super) const OF_OLD: &str = "against-";

#[derive(Debug)]
pub(super) struct Folders {
    pub output: PathBuf,
    pub work: PathBuf,
    /// Whether what was there before is gone, so that what is there is of this run.
    is_cleared: AtomicBool,
    _locks: (Lock, Option<Lock>),
}

impl Folders {
    /// Makes both, and refuses what would be overwritten.
    pub fn prepare(files: &Files, request: &Request) -> Result<Self> {
        let output = request.results.folder.clone();
        let work = request.resources.work_dir.clone().unwrap_or_else(|| output.join(WORK));
        if output.exists() && !output.is_dir() {
            return Err(Error::parameter("output", "a folder", format!("the file `{}`", output.display())));
        }
        check_places(&output, &work, request)?;
        check(&output, request)?;
        // One that is not named is called as only ours are; `resume` says that a named one is.
        if request.resources.work_dir.is_some() && !request.resources.resume {
            check_work(&work)?;
        }
        files.create_dir_all(&output)?;
        files.create_dir_all(&work)?;
        // What is intermediate is removed in the end.
        if std::fs::canonicalize(&output).ok() == std::fs::canonicalize(&work).ok() {
            let got = format!("`{}` for both", work.display());
            return Err(Error::parameter("work_dir", "another folder than the output", got));
        }
        // The lock of the output is in the place of its default work folder.
        let default = output.join(WORK);
        files.create_dir_all(&default)?;
        let lock = Lock::acquire(&default)?;
        let is_default = std::fs::canonicalize(&default).ok() == std::fs::canonicalize(&work).ok();
        let other = if is_default { None } else { Some(Lock::acquire(&work)?) };
        Ok(Self { output, work, is_cleared: AtomicBool::new(false), _locks: (lock, other) })
    }

    /// Makes room for the results, which are written anew, also by a resumed run. The manifest goes first, so that a folder with one is always whole.
    pub fn clear(&self, files: &Files, inputs: &[Arc<Input>]) -> Result<()> {
        // Links inside of folders lead anywhere. Standard input was saved in the work folder.
        let stdin = self.work.join(STDIN);
        let inputs = inputs.iter().map(|input| &*input.path).filter(|path| *path != stdin);
        for folder in [&self.output, &self.work] {
            places::check_folder(folder, inputs.clone())?;
        }
        self.is_cleared.store(true, Ordering::Relaxed);
        self.remove_results(files, &[])?;
        files.remove_leftovers(&self.output)?;
        files.remove_leftovers(&self.work)?;
        Ok(())
    }

    /// Leaves nothing that looks finished of a run that failed, but the list of rejected lines. What cannot be removed has no manifest beside it.
    pub fn withdraw(&self, files: &Files) {
        if self.is_cleared.load(Ordering::Relaxed) {
            let _ = self.remove_results(files, &[REJECTS, OLD_REJECTS]);
        }
    }

    fn remove_results(&self, files: &Files, except: &[&str]) -> Result<()> {
        for name in RESULTS.iter().rev().filter(|name| !except.contains(name)) {
            let path = self.output.join(name);
            if path.exists() {
                files.remove(&path)?;
            }
        }
        // What was made of the results that were here goes with them.
        let derived = rethresholded(&self.output)?;
        for folder in [DOCUMENTS, SAVED].map(|name| self.output.join(name)).into_iter().chain(derived) {
            if folder.is_dir() {
                std::fs::remove_dir_all(&folder).map_err(|error| Error::open(folder, error))?;
            }
        }
        Ok(())
    }

    pub fn result(&self, name: &str) -> PathBuf {
        self.output.join(name)
    }

    /// Removes the work folder, if it is ours and empty but for our files.
    pub fn finish(self, files: &Files) -> Result<()> {
        files.remove_leftovers(&self.work)?;
        // Manifests go first: without them the other files mean nothing.
        for name in INTERMEDIATE {
            let path = self.work.join(name);
            if path.exists() {
                files.remove(&path)?;
            }
        }
        // Segments and keys of old documents.
        for entry in std::fs::read_dir(&self.work).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(OF_OLD) {
                files.remove(&entry.path())?;
            }
        }
        let both = [self.work.clone(), self.output.join(WORK)];
        drop(self);
        for folder in both {
            let _ = std::fs::remove_file(folder.join(LOCK));
            // Somebody else's files in it keep it there.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// Refuses places for results that lie upon what is read, before anything is made.
fn check_places(output: &Path, work: &Path, request: &Request) -> Result<()> {
    let read = || request.input.paths.iter().map(PathBuf::as_path);
    let against = || request.old.paths.iter().map(PathBuf::as_path);
    let is_archive = |path: &&Path| {
        crate::archive::folder_of(path).is_some() || request.results.save.as_deref() == Some(path)
    };
    places::check_folder(output, read().chain(against()))?;
    places::check_folder(work, read().chain(against()))?;
    // What is passed over where inputs are read would be read as old documents.
    places::check_outside(output, against().filter(|path| !is_archive(path)))?;
    match request.results.save.as_deref().filter(|folder| *folder != request.own_archive()) {
        Some(archive) => {
            places::check_folder(archive, read())?;
            Ok(places::check_outside(archive, read())?)
        }
        None => Ok(()),
    }
}

/// Refuses a folder that holds something else.
fn check(output: &Path, request: &Request) -> Result<()> {
    let occupied = |what| Err(Error::Occupied { path: output.to_owned(), what });
    if !output.exists() {
        return Ok(());
    }
    let manifest_path = output.join(MANIFEST);
    let is_finished = manifest::is_manifest(&manifest_path);
    let is_ours = is_finished || output.join(WORK).is_dir();
    if is_finished && !request.results.overwrite && !request.resources.resume {
        return occupied("the results of a finished run; name another folder, or give --overwrite");
    }
    let names = std::fs::read_dir(output).map_err(|error| Error::open(output, error))?.flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_result = |name: &str| name == DOCUMENTS || name == SAVED || RESULTS.contains(&name);
    // What nobody but a run has made is replaced, and nothing else.
    match (is_ours, request.results.overwrite || request.resources.resume) {
        (_, true) if manifest_path.exists() && !is_finished => occupied(OTHERS),
        (true, true) => Ok(()),
        (true, false) if names.any(|name| !is_result(&name) && !name.starts_with('.')) => occupied(OTHERS),
        (true, false) => Ok(()),
        (false, true) if !request.resources.resume && names.any(|name| is_result(&name)) => occupied(
            "files named like results, and no manifest.json of a run; name a new folder for the results",
        ),
        (false, true) => Ok(()),
        (false, false) if names.any(|name| !name.starts_with('.')) => occupied(OTHERS),
        (false, false) => Ok(()),
    }
}

/// Refuses a work folder in which files of somebody else would be replaced.
fn check_work(work: &Path) -> Result<()> {
    if !work.is_dir() || work.join(LOCK).exists() {
        return Ok(());
    }
    let names = std::fs::read_dir(work).map_err(|error| Error::open(work, error))?.flatten();
    let is_ours = |name: &str| INTERMEDIATE.contains(&name) || name.starts_with(OF_OLD);
    match names.map(|entry| entry.file_name()).any(|name| is_ours(&name.to_string_lossy())) {
        true => Err(Error::Occupied {
            path: work.to_owned(),
            what: "files named like those of a run, which did not make them; name an empty folder with --work-dir",
        }),
        false => Ok(()),
    }
}

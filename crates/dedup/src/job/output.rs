//! The folder of the results, and the work folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Options, old, save};
use crate::error::{Error, Result};
use crate::files::{Files, Lock};
use crate::read::Input;
pub(super) use crate::results::manifest::NAME as MANIFEST;
use crate::results::manifest::RUN;
use crate::write::PLACES;

/// Where the documents go.
pub(super) const DOCUMENTS: &str = "documents";
/// What is said of results that would replace an input.
pub(super) const AN_INPUT: &str =
    "an input, and would be replaced; name a folder for the results outside of the inputs";
/// The work folder, where none is named.
const WORK: &str = ".benzer-work";
/// Everything a run writes to its output folder, in the order of writing.
pub(super) const RESULTS: [&str; 9] = [
    "rejects.jsonl",
    old::REJECTS,
    "pairs.parquet",
    "evidence.parquet",
    "clusters.parquet",
    PLACES,
    "report.html",
    RUN,
    MANIFEST,
];

/// Everything a run writes to its work folder, in the order in which it is removed.
const INTERMEDIATE: [&str; 15] = [
    "stage-verify.json",
    "stage-against.json",
    "stage-read.json",
    "rejects.jsonl",
    "stdin",
    "edges.bin",
    "edges-against.bin",
    "guests.bin",
    "sketches.bin",
    "places.bin",
    "texts.bin",
    "ids.bin",
    "ids.end",
    "keys.bin",
    "keys.end",
];

/// How the names of intermediate files of old documents begin.
pub(super) const OF_OLD: &str = "against-";

/// Both folders, with locks on both.
#[derive(Debug)]
pub(super) struct Folders {
    pub output: PathBuf,
    pub work: PathBuf,
    /// Old documents, which must not lie in the output.
    against: Vec<PathBuf>,
    _locks: (Lock, Option<Lock>),
}

impl Folders {
    /// Makes both, and refuses what would be overwritten.
    pub fn prepare(files: &Files, options: &Options) -> Result<Self> {
        let output = options.output.clone();
        let work = options.work_dir.clone().unwrap_or_else(|| output.join(WORK));
        if output.exists() && !output.is_dir() {
            return Err(Error::parameter("output", "a folder", format!("the file `{}`", output.display())));
        }
        files.create_dir_all(&output)?;
        check(&output, options)?;
        files.create_dir_all(&work)?;
        // What is intermediate is removed in the end.
        if std::fs::canonicalize(&output).ok() == std::fs::canonicalize(&work).ok() {
            let got = format!("`{}` for both", work.display());
            return Err(Error::parameter("work_dir", "another folder than the output", got));
        }
        // The lock of the output is in the place of its usual work folder.
        let usual = output.join(WORK);
        files.create_dir_all(&usual)?;
        let lock = Lock::acquire(&usual)?;
        let is_usual = std::fs::canonicalize(&usual).ok() == std::fs::canonicalize(&work).ok();
        let other = if is_usual { None } else { Some(Lock::acquire(&work)?) };
        Ok(Self { output, work, against: options.against.clone(), _locks: (lock, other) })
    }

    /// Makes room for the results, which are written anew, also by a resumed run. The manifest goes first, so that a folder with one is always whole.
    pub fn clear(&self, files: &Files, inputs: &[Arc<Input>]) -> Result<()> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let output = real(&self.output);
        let work = real(&self.work);
        let is_inside = |path: &Path| path.starts_with(&output) && !path.starts_with(&work);
        let against = self.against.iter().map(|path| real(path));
        if against.chain(inputs.iter().map(|input| real(&input.path))).any(|path| is_inside(&path)) {
            return Err(Error::Occupied { path: self.output.clone(), what: AN_INPUT });
        }
        for name in RESULTS.iter().rev() {
            let path = self.output.join(name);
            if path.exists() {
                files.remove(&path)?;
            }
        }
        for folder in [DOCUMENTS, save::FOLDER].map(|name| self.output.join(name)) {
            if folder.is_dir() {
                std::fs::remove_dir_all(&folder).map_err(|error| Error::open(folder, error))?;
            }
        }
        files.remove_leftovers(&self.output)?;
        files.remove_leftovers(&self.work)?;
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
            let _ = std::fs::remove_file(folder.join("lock"));
            // Somebody else's files in it keep it there.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// What a run without a manifest has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remains {
    /// A work folder: it goes on with `--resume`.
    Work,
    /// Results alone.
    Results,
}

/// What a run that is not finished has left in its output folder.
pub(crate) fn remains(output: &Path) -> Option<Remains> {
    if output.join(WORK).is_dir() {
        return Some(Remains::Work);
    }
    RESULTS.iter().any(|name| output.join(name).exists()).then_some(Remains::Results)
}

/// Refuses a folder that holds something else.
fn check(output: &Path, options: &Options) -> Result<()> {
    if options.overwrite || options.resume {
        return Ok(());
    }
    if output.join(MANIFEST).exists() {
        return Err(Error::Occupied {
            path: output.to_owned(),
            what: "the results of a finished run; name another folder, or give --overwrite",
        });
    }
    let entries = std::fs::read_dir(output).map_err(|error| Error::open(output, error))?;
    let foreign = entries.flatten().map(|entry| entry.file_name()).find(|name| {
        let name = name.to_string_lossy();
        name != WORK
            && name != DOCUMENTS
            && name != save::FOLDER
            && !RESULTS.contains(&&*name)
            && !name.starts_with('.')
    });
    match foreign {
        Some(_) => Err(Error::Occupied {
            path: output.to_owned(),
            what: "other files; name a new folder for the results",
        }),
        None => Ok(()),
    }
}

//! What all stages share: what was asked, where the run works, and, once the inputs are open, what it may use.

use std::path::{Path, PathBuf};
use std::time::Duration;

use benzer_core::field::text::Shingler;
use benzer_core::lsh::Banding;
use benzer_flow::{Progress, Workers, Workspace};
use benzer_join::Estimates;
use benzer_storage::{Check, FileWriter, Files, Manifest, State};

use super::budget::Budget;
use super::folders::Folders;
use crate::error::{Error, Result};
use crate::ingest::Ingest;
use crate::progress::{Observer, Stage};
use crate::request::{Audit, Measure, Request};

/// A run before its inputs are open.
pub(super) struct Setup<'a> {
    pub files: &'a Files,
    pub request: &'a Request,
    pub observer: &'a dyn Observer,
    pub folders: Folders,
    pub ingest: Ingest,
    pub estimates: Estimates,
    /// Where the results go in the end. What is there from an earlier run is not read.
    pub target: &'a Path,
}

impl<'a> Setup<'a> {
    pub fn new(
        files: &'a Files,
        request: &'a Request,
        target: &'a Path,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        request.check()?;
        let shingler = Shingler::new(&request.compare.text)?;
        let ids = request.input.read.id_field.is_some();
        let mut ingest = Ingest::new(shingler, &request.compare.spec, &request.keep, ids)?;
        ingest.minima = request.audit == Audit::Auto && request.compare.measure == Measure::Jaccard;
        let folders = Folders::prepare(files, request)?;
        let estimates = Estimates::new(ingest.spec())?;
        Ok(Self { files, request, observer, folders, ingest, estimates, target })
    }
}

/// A run whose inputs are read.
pub(super) struct Job<'a> {
    pub files: &'a Files,
    pub request: &'a Request,
    pub observer: &'a dyn Observer,
    pub folders: &'a Folders,
    pub ingest: &'a Ingest,
    pub estimates: &'a Estimates,
    pub target: &'a Path,
    pub budget: Budget,
    pub checkpoints: Checkpoints,
}

impl<'a> Job<'a> {
    pub fn new(setup: &'a Setup<'_>, budget: Budget, checkpoints: Checkpoints) -> Self {
        let Setup { files, request, observer, folders, ingest, estimates, target } = setup;
        Self { files, request, observer: *observer, folders, ingest, estimates, target, budget, checkpoints }
    }

    pub fn workspace(&self) -> Workspace<'_> {
        Workspace { bytes: self.budget.sorting, folder: &self.folders.work, files: self.files }
    }

    pub fn workers<'b>(&self, progress: &'b Progress<'b>) -> Workers<'b> {
        Workers { threads: self.request.resources.threads, progress }
    }

    /// What keys are made of sketches.
    pub fn banding(&self) -> Option<Banding> {
        self.request.compare.search.banding()
    }

    pub fn create(&self, name: &str) -> Result<FileWriter> {
        Ok(self.files.create(&self.folders.result(name))?)
    }

    pub fn check_cancelled(&self) -> Result<()> {
        check_cancelled(self.observer)
    }
}

/// What interrupted runs leave of their stages.
pub(super) struct Checkpoints {
    folder: PathBuf,
    /// Names everything that intermediate files depend on.
    pub fingerprint: String,
    resumes: bool,
    /// Whether intermediate files are left for a resumed run, if that does not depend on how long they took.
    saves: Option<bool>,
}

/// What took less is done again sooner than it is worth saving.
const WORTH_SAVING: Duration = Duration::from_secs(10);

impl Checkpoints {
    pub fn new(folder: &Path, fingerprint: String, resumes: bool) -> Self {
        Self { folder: folder.to_owned(), fingerprint, resumes, saves: Some(false) }
    }

    /// The same for a run that leaves some, or none, or those of stages that take long.
    pub fn saving(self, saves: Option<bool>) -> Self {
        Self { saves, ..self }
    }

    /// Whether what took so long is saved.
    pub fn saves(&self, took: Duration) -> bool {
        self.saves.unwrap_or(took >= WORTH_SAVING)
    }

    /// What an interrupted run left of a stage.
    pub fn load(&self, stage: Stage) -> Option<Manifest> {
        if !self.resumes {
            return None;
        }
        match Manifest::load(&self.folder, stage.name(), &self.fingerprint, Check::Checksums) {
            State::Finished(manifest) => Some(manifest),
            _ => None,
        }
    }

    /// The list of what this run leaves of a stage.
    pub fn begin(&self, stage: Stage) -> Manifest {
        Manifest::new(stage.name(), &self.fingerprint)
    }
}

pub(super) fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

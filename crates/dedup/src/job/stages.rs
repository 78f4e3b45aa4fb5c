//! The stages one after the other.

use std::time::Instant;

use benzer_core::field::text::Shingler;

use super::memory::Memory;
use super::output::Folders;
use super::{Audit, Counts, Observer, Options, Stage, Summary, Timing};
use crate::audit::Findings;
use crate::corpus::Ranked;
use crate::error::{Error, Result};
use crate::files::{Check, Files, Manifest, State};
use crate::group::Room;
use crate::ingest::Ingest;
use crate::write::Estimates;

/// A run between its stages.
pub(super) struct Run<'a> {
    pub files: &'a Files,
    pub options: &'a Options,
    pub observer: &'a dyn Observer,
    pub folders: Folders,
    pub ingest: Ingest,
    pub estimates: Estimates,
    pub memory: Memory,
    /// Names everything that intermediate files depend on.
    pub fingerprint: String,
    /// Whether intermediate files are left for a resumed run.
    pub saves: bool,
    pub counts: Counts,
    pub timings: Vec<Timing>,
    pub rejects: Vec<String>,
    pub warnings: Vec<String>,
    pub histogram: Vec<u64>,
    pub findings: Option<Findings>,
    pub spilled: u64,
}

impl<'a> Run<'a> {
    pub fn new(files: &'a Files, options: &'a Options, observer: &'a dyn Observer) -> Result<Self> {
        let shingler = Shingler::new(&options.text)?;
        let ingest = Ingest::new(shingler, &options.spec, &options.keep, options.read.id_field.is_some())?;
        Ok(Self {
            files,
            options,
            observer,
            folders: Folders::prepare(files, options)?,
            estimates: Estimates::new(ingest.spec())?,
            ingest,
            memory: Memory { corpus: 0, sorting: 0 },
            fingerprint: String::new(),
            saves: false,
            counts: Counts::default(),
            timings: Vec::new(),
            rejects: Vec::new(),
            warnings: Vec::new(),
            histogram: Vec::new(),
            findings: None,
            spilled: 0,
        })
    }

    pub fn run(mut self) -> Result<Summary> {
        let corpus = self.timed(Stage::Read, Self::read)?;
        let (ranking, members, copies) = self.timed(Stage::Group, |run| run.group(&corpus))?;
        let ranked = Ranked { corpus: &corpus, ranking: &ranking };
        let edges = match self.saved_edges()? {
            Some(edges) => edges,
            None => {
                let candidates = self.timed(Stage::Candidates, |run| run.candidates(&ranked, &members))?;
                self.timed(Stage::Verify, |run| run.verify(&ranked, candidates))?
            }
        };
        let removals = self.timed(Stage::Resolve, |run| run.resolve(&ranked, &edges, &copies))?;
        self.findings = match self.options.audit {
            Audit::Off => None,
            _ => self.timed(Stage::Audit, |run| run.audit(&ranked, members, &edges, &removals))?,
        };
        self.timed(Stage::Write, |run| run.write(&ranked, (&edges, &copies), &removals))?;
        self.finish()
    }

    fn timed<T>(&mut self, stage: Stage, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let made = work(self)?;
        self.timings.push(Timing { stage, took: start.elapsed(), resumed: false });
        Ok(made)
    }

    pub(super) fn resumed(&mut self, stage: Stage) {
        self.timings.push(Timing { stage, took: std::time::Duration::ZERO, resumed: true });
    }

    /// What an interrupted run left of a stage.
    pub fn saved(&self, stage: Stage) -> Option<Manifest> {
        if !self.options.resume {
            return None;
        }
        match Manifest::load(&self.folders.work, stage.name(), &self.fingerprint, Check::Checksums) {
            State::Finished(manifest) => Some(manifest),
            _ => None,
        }
    }

    /// Where to sort.
    pub fn room(&self) -> Room<'_> {
        Room { bytes: self.memory.sorting, folder: &self.folders.work, files: self.files }
    }

    /// Ends the run here if it was cancelled.
    pub fn check_cancelled(observer: &dyn Observer) -> Result<()> {
        if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn finish(self) -> Result<Summary> {
        let Self { counts, timings, rejects, warnings, histogram, findings, spilled, .. } = self;
        self.folders.finish(self.files)?;
        let audit = findings.map(|findings| findings.audited);
        Ok(Summary { counts, timings, spilled_bytes: spilled, histogram, audit, warnings, rejects })
    }
}

//! The stages one after the other.

use std::path::Path;
use std::time::Instant;

use benzer_core::field::text::Shingler;

use super::memory::Memory;
use super::old::Sources;
use super::output::Folders;
use crate::audit::Findings;
use crate::corpus::CorpusView;
use crate::error::{Error, Result};
use crate::ingest::Ingest;
use crate::progress::{Observer, Stage};
use crate::request::{Audit, Measure, Request};
use crate::summary::{Counts, Summary, Timing};
use benzer_flow::Workspace;
use benzer_join::Estimates;
use benzer_storage::{Check, Files, Manifest, State};

/// A run between its stages.
pub(super) struct Run<'a> {
    pub files: &'a Files,
    pub request: &'a Request,
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
    pub matched: Vec<String>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    /// Where the results go in the end. What is there from an earlier run is not read.
    pub target: &'a Path,
    pub histogram: Vec<u64>,
    pub findings: Option<Findings>,
    pub spilled: u64,
    /// Old documents that the input is compared with.
    pub sources: Sources,
}

impl<'a> Run<'a> {
    pub fn new(files: &'a Files, request: &'a Request, observer: &'a dyn Observer) -> Result<Self> {
        request.check()?;
        let shingler = Shingler::new(&request.compare.text)?;
        let mut ingest = Ingest::new(
            shingler,
            &request.compare.spec,
            &request.keep,
            request.input.read.id_field.is_some(),
        )?;
        ingest.minima = request.audit == Audit::Auto && request.compare.measure == Measure::Jaccard;
        Ok(Self {
            files,
            request,
            observer,
            folders: Folders::prepare(files, request)?,
            estimates: Estimates::new(ingest.spec())?,
            ingest,
            memory: Memory { corpus: 0, sorting: 0, features: 0 },
            fingerprint: String::new(),
            saves: false,
            counts: Counts::default(),
            timings: Vec::new(),
            rejects: Vec::new(),
            matched: Vec::new(),
            warnings: request.compare.remark.iter().cloned().collect(),
            notes: Vec::new(),
            target: &request.results.folder,
            histogram: Vec::new(),
            findings: None,
            spilled: 0,
            sources: Sources::default(),
        })
    }

    /// Does all of it. Gives the summary, and the fingerprint of what it was made from.
    pub fn run(mut self) -> Result<(Summary, String)> {
        match self.stages() {
            Ok(()) => self.finish(),
            Err(error) => {
                self.folders.withdraw(self.files);
                Err(error)
            }
        }
    }

    fn stages(&mut self) -> Result<()> {
        let corpus = self.timed(Stage::Read, Self::read)?;
        self.check_read(&corpus.inputs)?;
        let (ranking, mut members, mut copies) = self.timed(Stage::Group, |run| run.group(&corpus))?;
        let order = (&corpus, &ranking);
        let (guests, old) = match self.request.old.paths.is_empty() {
            true => Default::default(),
            false => self.timed(Stage::Against, |run| run.against(order, &mut members, &mut copies))?,
        };
        let ranked = CorpusView { corpus: &corpus, ranking: &ranking, found_old: &guests };
        let edges = match self.saved_edges()? {
            Some(edges) => edges,
            None => {
                let candidates =
                    self.timed(Stage::Candidates, |run| run.candidates(&ranked, &members.compared))?;
                self.timed(Stage::Verify, |run| run.verify(&ranked, candidates, old))?
            }
        };
        let removals = self.timed(Stage::Resolve, |run| run.resolve(&ranked, &edges, &copies))?;
        // With containment, documents of the input are not compared with each other.
        let is_compared = self.request.compare.measure == Measure::Jaccard;
        self.findings = match self.request.audit {
            Audit::Off => None,
            _ if !is_compared => None,
            _ => self.timed(Stage::Audit, |run| run.audit(&ranked, members.compared, &edges, &removals))?,
        };
        self.timed(Stage::Write, |run| run.write(&ranked, (&edges, &copies), &removals))
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
        if !self.request.resources.resume {
            return None;
        }
        match Manifest::load(&self.folders.work, stage.name(), &self.fingerprint, Check::Checksums) {
            State::Finished(manifest) => Some(manifest),
            _ => None,
        }
    }

    /// Where to sort.
    pub fn room(&self) -> Workspace<'_> {
        Workspace { bytes: self.memory.sorting, folder: &self.folders.work, files: self.files }
    }

    /// Ends the run here if it was cancelled.
    pub fn check_cancelled(observer: &dyn Observer) -> Result<()> {
        if observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn finish(self) -> Result<(Summary, String)> {
        let Self {
            counts,
            timings,
            rejects,
            matched,
            warnings,
            notes,
            histogram,
            findings,
            spilled,
            fingerprint,
            ..
        } = self;
        self.folders.finish(self.files)?;
        let audit = findings.map(|findings| findings.audited);
        let summary = Summary {
            counts,
            timings,
            spilled_bytes: spilled,
            histogram,
            audit,
            matched,
            warnings,
            notes,
            rejects,
        };
        Ok((summary, fingerprint))
    }
}

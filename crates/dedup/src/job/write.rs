//! The results: evidence, documents, manifest.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use benzer_flow::workers::{both, in_parallel};
use benzer_io::read::{Compression, Input};
use benzer_join::Edge;
use benzer_storage::{FileWriter, Settler, Stamp};

use super::old::ArchiveGrowth;
use super::open::open_inputs;
use super::setup::Job;
use crate::audit::Findings;
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::folders::{DOCUMENTS, OLD_REJECTS, REJECTS};
use crate::outcome;
use crate::progress::Stage;
use crate::request::Output;
use crate::summary::Summary;
use crate::tables::{Column, PlacesColumn};
use crate::write::{self, DocumentWriter, PairsWriter, RunVerdicts};

pub(super) struct Decided<'a> {
    pub view: CorpusView<'a>,
    pub edges: &'a Edges,
    pub copies: &'a [Edge],
    pub removals: &'a [Removal],
}

/// Makes a file on so many threads.
type Maker<'a> = Box<dyn Fn(usize) -> Result<FileWriter> + Sync + 'a>;

/// Tables that are made at a time, at most.
const TABLES: usize = 4;

/// Makes files of what was decided.
pub(super) struct ResultWriter<'a> {
    pub job: &'a Job<'a>,
    pub view: CorpusView<'a>,
    pub decided: &'a Decided<'a>,
    /// All removals, by kept and then by removed document.
    pub by_keeper: &'a [Removal],
    pub findings: Option<&'a Findings>,
    pub summary: &'a Summary,
}

impl Job<'_> {
    pub fn write(
        &self,
        decided: &Decided<'_>,
        findings: Option<&Findings>,
        growth: &ArchiveGrowth,
        summary: &mut Summary,
    ) -> Result<()> {
        let view = decided.view;
        self.observer.begin(Stage::Write, Some(view.len().into()));
        let mut by_keeper = decided.removals.to_vec();
        by_keeper.sort_unstable_by_key(|removal| (removal.kept(), removal.removed()));
        self.summarize(&by_keeper, summary);
        let writer = ResultWriter { job: self, view, decided, by_keeper: &by_keeper, findings, summary };
        let threads = self.request.resources.threads;
        let (documents, tables) = match writer.waits_for_disk() {
            true => {
                let for_documents = (threads / 4).max(1);
                let for_tables = threads.saturating_sub(for_documents).max(1);
                // One thread, too, has something to do while the other waits.
                both(threads.max(2), || writer.documents(for_documents), || writer.tables(for_tables))
            }
            false => (writer.documents(threads), writer.tables(threads)),
        };
        let mut settled = tables?;
        settled.append(&mut documents?);
        let mut stamps = self.stamps(settled, &view.corpus.inputs);
        // Before the manifest: a run that is whole is in its archive.
        stamps.extend(self.save(&view, decided.removals, growth)?);
        writer.manifest(&stamps)
    }

    /// What was written, by its name in the results: tables as they came, then documents in the order of the inputs.
    fn stamps(&self, settled: Vec<(PathBuf, Stamp)>, inputs: &[Arc<Input>]) -> Vec<(String, Stamp)> {
        let documents = self.folders.output.join(DOCUMENTS);
        let number: HashMap<PathBuf, u32> =
            inputs.iter().map(|input| (documents.join(&input.relative), input.number)).collect();
        let name = |path: &Path| {
            path.strip_prefix(&self.folders.output).unwrap_or(path).to_string_lossy().into_owned()
        };
        let mut stamps: Vec<_> = settled
            .into_iter()
            .map(|(path, stamp)| (number.get(&path).copied(), (name(&path), stamp)))
            .collect();
        stamps.sort_by_key(|(number, _)| *number);
        stamps.into_iter().map(|(_, stamp)| stamp).collect()
    }

    /// The rejected lines, from the work folder; if there are none, no file has to be there.
    pub fn rejects_file(&self, name: &str, n: u64) -> Result<FileWriter> {
        if n == 0 {
            return self.create(name);
        }
        let path = self.folders.work.join(name);
        let fail = |error| benzer_storage::Error::disk("read", &path, error);
        let mut from = std::fs::File::open(&path).map_err(fail)?;
        let mut out = self.create(name)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = from.read(&mut buffer).map_err(fail)?;
            if n == 0 {
                return Ok(out);
            }
            out.append(&buffer[..n])?;
        }
    }

    /// Counts clusters and similarities, and warns of what looks wrong.
    fn summarize(&self, by_keeper: &[Removal], summary: &mut Summary) {
        (summary.counts.clusters, summary.counts.largest_cluster) = outcome::clusters(by_keeper);
        let similarity = |removal: &Removal| {
            write::similarity(&removal.edge, removal.rule != Rule::Estimate, self.estimates)
        };
        summary.histogram = outcome::histogram(by_keeper.iter().map(similarity));
        if let (Some(folder), Output::DryRun) = (&self.request.results.save, self.request.results.write) {
            summary.warnings.push(format!("nothing is saved in `{}`: this is a dry run", folder.display()));
        }
        if summary.counts.read == summary.counts.rejected {
            summary.warnings.push("there are no documents in the input".to_owned());
        }
        summary.warnings.extend(outcome::large_cluster(&summary.counts, self.request.cluster));
        let documents = (summary.counts.read - summary.counts.rejected).max(1);
        let share = |n: u64| n as f64 / documents as f64;
        if share(summary.counts.short) >= 0.5 {
            summary.warnings.push(format!(
                "{:.0}% of the documents are not longer than one shingle: they are duplicates only if all words agree; a smaller --ngram sees more",
                100.0 * share(summary.counts.short)
            ));
        }
        let Summary { counts, .. } = summary;
        assert_eq!(
            counts.kept + counts.removed + counts.rejected,
            counts.read,
            "every line read is accounted for"
        );
    }
}

impl ResultWriter<'_> {
    /// Whether documents are lines that are copied as they are: one thread writes more of them than the disk takes, and the others have time for tables.
    fn waits_for_disk(&self) -> bool {
        let is_copied = |input: &Arc<Input>| {
            input.compression() == Some(Compression::None)
                && input.format().is_some_and(|format| !format.is_table())
        };
        self.job.request.results.write != Output::Annotate
            && self.view.corpus.batches.len() > 0
            && self.view.corpus.inputs.iter().all(is_copied)
    }

    /// Writes everything but the documents and the manifest, several tables at a time.
    fn tables(&self, threads: usize) -> Result<Vec<(PathBuf, Stamp)>> {
        let mut makers: Vec<Maker<'_>> = vec![
            Box::new(|threads| self.pairs(threads)),
            Box::new(|threads| self.evidence(threads)),
            Box::new(|threads| self.clusters(threads)),
            Box::new(|_| self.places()),
            Box::new(|_| self.report()),
            Box::new(|_| self.job.rejects_file(REJECTS, self.summary.counts.rejected)),
        ];
        if self.summary.counts.against_rejected > 0 {
            makers
                .push(Box::new(|_| self.job.rejects_file(OLD_REJECTS, self.summary.counts.against_rejected)));
        }
        let (settler, at_once) = (Mutex::new(Settler::default()), threads.clamp(1, TABLES));
        let make = |i: usize, (): &mut ()| -> Result<PathBuf> {
            let file = makers[i](threads / at_once)?;
            let path = file.path().to_owned();
            settler.lock().unwrap_or_else(PoisonError::into_inner).take(file)?;
            Ok(path)
        };
        let made = in_parallel(makers.len(), at_once, || (), make);
        let paths = made.into_iter().collect::<Result<Vec<_>>>()?;
        let mut settled = settler.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        settled.sort_by_key(|(path, _)| paths.iter().position(|made| made == path));
        Ok(settled)
    }

    fn pairs(&self, threads: usize) -> Result<FileWriter> {
        let Self { job, view, decided, .. } = self;
        let mut pairs = PairsWriter::new(job.create("pairs.parquet")?, job.counted(), threads)?;
        decided.edges.parts(|edges| pairs.extend(edges, view, job.estimates))?;
        pairs.begin_copies();
        pairs.extend(decided.copies, view, job.estimates)?;
        pairs.finish(view, job.estimates)
    }

    fn evidence(&self, threads: usize) -> Result<FileWriter> {
        let Self { job, view, decided, .. } = self;
        let out = job.create("evidence.parquet")?;
        let span = |removal: &Removal| job.span(view, removal);
        write::evidence(out, decided.removals, view, job.estimates, threads, span)
    }

    fn clusters(&self, threads: usize) -> Result<FileWriter> {
        let Self { job, view, by_keeper, .. } = self;
        write::clusters(job.create("clusters.parquet")?, by_keeper, view, job.estimates, threads)
    }

    fn places(&self) -> Result<FileWriter> {
        let Self { job, view, decided, .. } = self;
        write::places(job.create(PlacesColumn::FILE)?, decided.edges, decided.removals, view)
    }

    /// Writes the documents of all inputs that are kept, or all of them with marks.
    fn documents(&self, threads: usize) -> Result<Vec<(PathBuf, Stamp)>> {
        let Self { job, view, decided, by_keeper, .. } = self;
        if matches!(job.request.results.write, Output::DryRun | Output::Evidence) {
            return Ok(Vec::new());
        }
        let mut settler = Settler::default();
        let annotates = job.request.results.write == Output::Annotate;
        let verdicts = RunVerdicts::new(*view, decided.removals, by_keeper, job.estimates, annotates);
        let root = job.folders.output.join(DOCUMENTS);
        job.files.create_dir_all(&root)?;
        let (corpus, listener) = (view.corpus, job.observer);
        let out = DocumentWriter { files: job.files, root, corpus, verdicts: &verdicts, threads, listener };
        let reread = match &corpus.texts {
            None => None,
            Some(_) => Some(open_inputs(job.request, &job.folders.work, job.target)?.without_tables()),
        };
        out.write(reread, &mut settler)?;
        Ok(settler.finish()?)
    }
}

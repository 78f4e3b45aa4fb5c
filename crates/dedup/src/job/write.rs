//! The results: evidence, documents, manifest.

use std::io::Read;

use benzer_flow::pipeline::{self, Work};
use benzer_io::read::{self, Batch, RawBatch};
use benzer_join::Edge;
use benzer_storage::{FileWriter, Stamp};

use super::old::ArchiveGrowth;
use super::open::open_inputs;
use super::setup::Job;
use crate::audit::Findings;
use crate::corpus::{Corpus, CorpusView};
use crate::decide::{Removal, Rule};
use crate::documents::Documents;
use crate::edges::Edges;
use crate::error::{Error, Result};
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
        // Waiting for the disk is left to another thread.
        let (documents, tables) = std::thread::scope(|scope| {
            let documents = scope.spawn(|| writer.documents());
            let tables = writer.tables();
            (documents.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), tables)
        });
        let mut stamps = tables?;
        stamps.extend(documents?);
        // Before the manifest: a run that is whole is in its archive.
        stamps.extend(self.save(&view, decided.removals, growth)?);
        writer.manifest(&stamps)
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
    /// Writes everything but the documents and the manifest.
    fn tables(&self) -> Result<Vec<(String, Stamp)>> {
        let Self { job, view, decided, by_keeper, .. } = self;
        let Decided { edges, copies, removals, .. } = decided;
        let mut written: Vec<FileWriter> = Vec::new();
        // Waits for the disk at once: whoever writes documents has enough to do meanwhile.
        let mut settled = |mut file: FileWriter| -> Result<()> {
            file.settle()?;
            written.push(file);
            Ok(())
        };
        let mut pairs = PairsWriter::new(job.create("pairs.parquet")?, job.counted())?;
        edges.parts(|edges| pairs.extend(edges, view, job.estimates))?;
        pairs.begin_copies();
        pairs.extend(copies, view, job.estimates)?;
        settled(pairs.finish(view, job.estimates)?)?;
        let span = |removal: &Removal| job.span(view, removal);
        let evidence = job.create("evidence.parquet")?;
        settled(write::evidence(evidence, removals, view, job.estimates, span)?)?;
        let clusters = job.create("clusters.parquet")?;
        settled(write::clusters(clusters, by_keeper, view, job.estimates)?)?;
        settled(write::places(job.create(PlacesColumn::FILE)?, edges, removals, view)?)?;
        settled(self.report()?)?;
        settled(job.rejects_file(REJECTS, self.summary.counts.rejected)?)?;
        if self.summary.counts.against_rejected > 0 {
            settled(job.rejects_file(OLD_REJECTS, self.summary.counts.against_rejected)?)?;
        }
        let name =
            |file: &FileWriter| file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = written.iter().map(name).collect();
        Ok(names.into_iter().zip(FileWriter::commit_all(written)?).collect())
    }

    /// Writes the documents of all inputs that are kept, or all of them with marks.
    fn documents(&self) -> Result<Vec<(String, Stamp)>> {
        let Self { job, view, decided, by_keeper, .. } = self;
        if matches!(job.request.results.write, Output::DryRun | Output::Evidence) {
            return Ok(Vec::new());
        }
        let annotates = job.request.results.write == Output::Annotate;
        let verdicts = RunVerdicts::new(*view, decided.removals, by_keeper, job.estimates, annotates);
        let root = job.folders.output.join(DOCUMENTS);
        job.files.create_dir_all(&root)?;
        let mut out = DocumentWriter::new(job.files, root, &view.corpus.inputs, &verdicts);
        let mut write = |batch: &Batch, lines: &[u8]| -> Result<()> {
            out.batch(batch, lines)?;
            job.observer.reached(out.row().into());
            job.check_cancelled()
        };
        match &view.corpus.documents {
            Documents::Memory(_) => write_held(view.corpus, !annotates, write)?,
            Documents::Disk(_) => {
                let reader = open_inputs(job.request, &job.folders.work, job.target)?;
                pipeline::run(reader, &Parse, job.request.resources.threads, |batch| {
                    write(&batch, batch.lines())
                })?;
            }
        }
        if out.row() != view.len() {
            return Err(benzer_io::Error::Changed.into());
        }
        let stamps = out.finish()?.into_iter();
        Ok(stamps.map(|(path, stamp)| (format!("{DOCUMENTS}/{}", path.display()), stamp)).collect())
    }
}

/// Hands the batches in memory to `write`, with their lines. Lines that are written as they are need not be parsed again.
fn write_held(
    corpus: &Corpus,
    is_verbatim: bool,
    mut write: impl FnMut(&Batch, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = Vec::new();
    for batch in &corpus.held.batches {
        match &corpus.rereader {
            Some(rereader) if is_verbatim && batch.is_forgotten() && batch.has_lines() => {
                write(batch, batch.reread_lines(rereader, &mut buffer)?)?;
            }
            Some(rereader) if batch.is_forgotten() => {
                let whole = batch.reread(rereader, buffer)?;
                write(&whole, whole.lines())?;
                buffer = whole.into_lines();
            }
            _ => write(batch, batch.lines())?,
        }
    }
    if let Some(rereader) = &corpus.rereader {
        rereader.check()?;
        // Now, while the disk is waited for.
        rereader.release();
    }
    Ok(())
}

struct Parse;

impl Work for Parse {
    type Batch = RawBatch;
    type Scratch = ();
    type Made = Batch;
    type Error = Error;

    fn make(&self, raw: RawBatch, (): &mut ()) -> Result<Batch> {
        Ok(read::parse(raw))
    }
}

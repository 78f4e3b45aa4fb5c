//! The results: evidence, documents, manifest.

use std::collections::HashMap;
use std::io::Read;

use serde_json::json;

use super::output::STDIN;
use super::stages::Run;
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::documents::Documents;
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::folders::{DOCUMENTS, OLD_REJECTS, REJECTS};
use crate::outcome;
use crate::progress::Stage;
use crate::request::Output;
use crate::results::{inputs, manifest};
use crate::write::{self, DocumentWriter, PairsWriter, Verdicts};
use benzer_flow::pipeline::{self, Work};
use benzer_io::read::{self, Batch, RawBatch};
use benzer_io::rewrite::Annotation;
use benzer_join::{Edge, Estimates};
use benzer_storage::{FileWriter, Stamp};

impl Run<'_> {
    pub(super) fn write(
        &mut self,
        ranked: &CorpusView<'_>,
        (edges, copies): (&Edges, &[Edge]),
        removals: &[Removal],
    ) -> Result<()> {
        self.observer.begin(Stage::Write, Some(ranked.len().into()));
        let mut by_keeper = removals.to_vec();
        by_keeper.sort_unstable_by_key(|removal| (removal.kept(), removal.removed()));
        self.look_at(&by_keeper);
        let this = &*self;
        // Waiting for the disk is left to another thread.
        let (documents, tables) = std::thread::scope(|scope| {
            let documents = scope.spawn(|| this.documents(ranked, removals, &by_keeper));
            let tables = this.tables(ranked, (edges, copies), removals, &by_keeper);
            (documents.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), tables)
        });
        let mut stamps = tables?;
        stamps.extend(documents?);
        // Before the manifest: a run that is whole is in its archive.
        stamps.extend(self.save(ranked, removals)?);
        self.manifest(&stamps, ranked)
    }

    /// Writes everything but the documents and the manifest.
    fn tables(
        &self,
        ranked: &CorpusView<'_>,
        (edges, copies): (&Edges, &[Edge]),
        removals: &[Removal],
        by_keeper: &[Removal],
    ) -> Result<Vec<(String, Stamp)>> {
        let mut written: Vec<FileWriter> = Vec::new();
        // Waits for the disk at once: whoever writes documents has enough to do meanwhile.
        let mut settled = |mut file: FileWriter| -> Result<()> {
            file.settle()?;
            written.push(file);
            Ok(())
        };
        let mut pairs = PairsWriter::new(self.create("pairs.parquet")?, self.counted())?;
        edges.parts(|edges| pairs.extend(edges, ranked, &self.estimates))?;
        pairs.begin_copies();
        pairs.extend(copies, ranked, &self.estimates)?;
        settled(pairs.finish(ranked, &self.estimates)?)?;
        let span = |removal: &Removal| self.span(ranked, removal);
        let evidence = self.create("evidence.parquet")?;
        settled(write::evidence(evidence, removals, ranked, &self.estimates, span)?)?;
        let clusters = self.create("clusters.parquet")?;
        settled(write::clusters(clusters, by_keeper, ranked, &self.estimates)?)?;
        settled(write::places(self.create(write::PLACES)?, edges, removals, ranked)?)?;
        settled(self.report(ranked, by_keeper)?)?;
        settled(self.rejects_file(REJECTS, self.counts.rejected)?)?;
        if self.counts.against_rejected > 0 {
            settled(self.rejects_file(OLD_REJECTS, self.counts.against_rejected)?)?;
        }
        let name =
            |file: &FileWriter| file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = written.iter().map(name).collect();
        Ok(names.into_iter().zip(FileWriter::commit_all(written)?).collect())
    }

    pub(super) fn create(&self, name: &str) -> Result<FileWriter> {
        Ok(self.files.create(&self.folders.result(name))?)
    }

    /// The rejected lines, from the work folder; if there are none, no file has to be there.
    pub(super) fn rejects_file(&self, name: &str, n: u64) -> Result<FileWriter> {
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
    fn look_at(&mut self, by_keeper: &[Removal]) {
        (self.counts.clusters, self.counts.largest_cluster) = outcome::clusters(by_keeper);
        let similarity = |removal: &Removal| {
            write::similarity(&removal.edge, removal.rule != Rule::Estimate, &self.estimates)
        };
        self.histogram = outcome::histogram(by_keeper.iter().map(similarity));
        if let (Some(folder), Output::DryRun) = (&self.request.results.save, self.request.results.write) {
            self.warnings.push(format!("nothing is saved in `{}`: this is a dry run", folder.display()));
        }
        if self.counts.read == self.counts.rejected {
            self.warnings.push("there are no documents in the input".to_owned());
        }
        self.warnings.extend(outcome::large_cluster(&self.counts, self.request.cluster));
        let documents = (self.counts.read - self.counts.rejected).max(1);
        let share = |n: u64| n as f64 / documents as f64;
        if share(self.counts.short) >= 0.5 {
            self.warnings.push(format!(
                "{:.0}% of the documents are not longer than one shingle: they are duplicates only if all words agree; a smaller --ngram sees more",
                100.0 * share(self.counts.short)
            ));
        }
        let Self { counts, .. } = self;
        assert_eq!(
            counts.kept + counts.removed + counts.rejected,
            counts.read,
            "every line read is accounted for"
        );
    }

    /// Writes the documents of all inputs that are kept, or all of them with marks.
    fn documents(
        &self,
        ranked: &CorpusView<'_>,
        removals: &[Removal],
        by_keeper: &[Removal],
    ) -> Result<Vec<(String, Stamp)>> {
        if matches!(self.request.results.write, Output::DryRun | Output::Evidence) {
            return Ok(Vec::new());
        }
        let verdicts = RunVerdicts::new(self, ranked, removals, by_keeper);
        let root = self.folders.output.join(DOCUMENTS);
        self.files.create_dir_all(&root)?;
        let mut out = DocumentWriter::new(self.files, root, &ranked.corpus.inputs, &verdicts);
        let mut write = |batch: &Batch, lines: &[u8]| -> Result<()> {
            out.batch(batch, lines)?;
            self.observer.reached(out.row().into());
            Self::check_cancelled(self.observer)
        };
        match &ranked.corpus.documents {
            Documents::Memory(_) => {
                let mut buffer = Vec::new();
                for batch in &ranked.corpus.held.batches {
                    match &ranked.corpus.again {
                        // Lines as they are need not be looked at.
                        Some(again) if batch.is_forgotten() && batch.has_lines() && !verdicts.annotates => {
                            write(batch, batch.lines_again(again, &mut buffer)?)?;
                        }
                        Some(again) if batch.is_forgotten() => {
                            let whole = batch.recalled(again, buffer)?;
                            write(&whole, whole.lines())?;
                            buffer = whole.into_lines();
                        }
                        _ => write(batch, batch.lines())?,
                    }
                }
                if let Some(again) = &ranked.corpus.again {
                    again.check()?;
                    // Now, while the disk is waited for.
                    again.release();
                }
            }
            Documents::Disk(_) => {
                pipeline::run(self.open()?, &Parse, self.request.resources.threads, |batch| {
                    write(&batch, batch.lines())
                })?;
            }
        }
        if out.row() != ranked.len() {
            return Err(benzer_io::Error::Changed.into());
        }
        let stamps = out.finish()?.into_iter();
        Ok(stamps.map(|(path, stamp)| (format!("{DOCUMENTS}/{}", path.display()), stamp)).collect())
    }

    fn manifest(&mut self, stamps: &[(String, Stamp)], ranked: &CorpusView<'_>) -> Result<()> {
        let request = self.request;
        let files: Vec<_> = stamps
            .iter()
            .map(|(name, stamp)| json!({"name": name, "bytes": stamp.bytes, "checksum": format!("{:016x}", stamp.checksum)}))
            .collect();
        let whole = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "format": manifest::FORMAT,
            "settings": super::fingerprint::settings(request),
            "counts": self.counts,
            "similarities": self.histogram,
            "audit": self.findings.as_ref().map(|findings| &findings.audited),
            "warnings": self.warnings,
            "files": files,
        });
        let mut run = self.create(manifest::RUN)?;
        let timings: Vec<_> = self
            .timings
            .iter()
            .map(|timing| json!({"stage": timing.stage.name(), "seconds": timing.took.as_secs_f64(), "resumed": timing.resumed}))
            .collect();
        let facts = json!({
            "command": request.results.command,
            "directory": std::env::current_dir().ok().map(|folder| folder.to_string_lossy().into_owned()),
            "given": request.input.names(),
            "inputs": inputs::named(ranked.corpus, &self.folders.work.join(STDIN))?,
            "read": inputs::how(&request.input.read),
            "threads": request.resources.threads,
            "memory": request.resources.memory,
            "spilled_bytes": self.spilled,
            "peak_memory_bytes": super::peak_memory(),
            "stages": timings,
        });
        run.append(&manifest::sealed(&facts))?;
        run.commit()?;
        let mut file = self.create(manifest::NAME)?;
        file.append(&manifest::sealed(&whole))?;
        file.commit()?;
        Ok(())
    }
}

/// Reads batches again.
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

/// What becomes of each row of a run.
struct RunVerdicts<'a> {
    ranked: CorpusView<'a>,
    /// One bit for each row.
    removed: Vec<u64>,
    annotates: bool,
    removals: &'a [Removal],
    /// Documents of each cluster, by the rank of its kept one.
    sizes: HashMap<u32, u64>,
    estimates: &'a Estimates,
}

impl<'a> RunVerdicts<'a> {
    fn new(
        run: &'a Run<'a>,
        ranked: &CorpusView<'a>,
        removals: &'a [Removal],
        by_keeper: &[Removal],
    ) -> Self {
        let mut removed = vec![0; ranked.len() as usize / 64 + 1];
        for removal in removals {
            let row = ranked.ranking.row(removal.removed()) as usize;
            removed[row / 64] |= 1 << (row % 64);
        }
        let annotates = run.request.results.write == Output::Annotate;
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept()).filter(|_| annotates);
        let sizes = clusters.map(|cluster| (cluster[0].kept(), cluster.len() as u64 + 1)).collect();
        Self { ranked: *ranked, removed, annotates, removals, sizes, estimates: &run.estimates }
    }

    /// The marks of a kept document.
    fn kept(&self, rank: u32) -> Result<Annotation> {
        let size = self.sizes.get(&rank).copied();
        let cluster_id = size.map(|_| self.ranked.id(rank)).transpose()?.map(String::from);
        Ok(Annotation {
            cluster_id,
            cluster_size: size.unwrap_or(1),
            dup_of: None,
            similarity: None,
            is_duplicate: false,
        })
    }

    /// The marks of one that would be removed.
    fn duplicate(&self, removal: &Removal) -> Result<Annotation> {
        let keeper = self.ranked.id(removal.kept())?.into_owned();
        let similarity = write::similarity(&removal.edge, removal.rule != Rule::Estimate, self.estimates);
        Ok(Annotation {
            cluster_id: Some(keeper.clone()),
            cluster_size: self.sizes.get(&removal.kept()).copied().unwrap_or(1),
            dup_of: Some(keeper),
            similarity: Some(similarity),
            is_duplicate: true,
        })
    }
}

impl Verdicts for RunVerdicts<'_> {
    fn annotates(&self) -> bool {
        self.annotates
    }

    fn is_removed(&self, row: u32) -> bool {
        !self.annotates && self.removed[row as usize / 64] >> (row % 64) & 1 == 1
    }

    fn annotation(&self, row: u32) -> Result<Option<Annotation>> {
        if !self.annotates {
            return Ok(None);
        }
        let rank = self.ranked.ranking.rank(row);
        let found = self.removals.binary_search_by_key(&rank, Removal::removed);
        found.map_or_else(|_| self.kept(rank), |i| self.duplicate(&self.removals[i])).map(Some)
    }

    fn place(&self, row: u32) -> Result<Option<(u32, u64)>> {
        if row >= self.ranked.len() {
            return Ok(None);
        }
        let place = self.ranked.corpus.documents.place(row)?;
        Ok(Some((place.input, place.line)))
    }
}

//! The results: evidence, documents, manifest.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use serde_json::json;

use super::decide::{Removal, Rule};
use super::output::MANIFEST;
use super::read::REJECTS;
use super::stages::Run;
use super::{Output, Stage, Verify};
use crate::corpus::Ranked;
use crate::documents::Documents;
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::files::{FileWriter, Stamp};
use crate::pipeline::{self, Work};
use crate::read::{self, Batch, Compression, Input, RawBatch};
use crate::resolve::Cluster;
use crate::verify::Edge;
use crate::write::{self, Annotation, LineWriter, Pairs, Verdict};

/// A cluster of more than this share of the corpus, and of so many documents, is worth a look.
const LARGE_SHARE: f64 = 0.05;
const LARGE: u64 = 100;
/// Bins of the histogram: 0.05 each from one half on, and one for equality.
const BINS: usize = 11;

impl Run<'_> {
    pub(super) fn write(
        &mut self,
        ranked: &Ranked<'_>,
        (edges, copies): (&Edges, &[Edge]),
        removals: &[Removal],
    ) -> Result<()> {
        self.observer.begin(Stage::Write, Some(ranked.len().into()));
        let mut written = Vec::new();
        let mut pairs = Pairs::new(self.create("pairs.parquet")?, self.options.verify == Verify::Exact)?;
        for edge in edges.iter()? {
            pairs.push(&edge?, false, ranked, &self.estimates)?;
        }
        for copy in copies {
            pairs.push(copy, true, ranked, &self.estimates)?;
        }
        written.push(pairs.finish()?);
        written.push(write::evidence(self.create("evidence.parquet")?, removals, ranked, &self.estimates)?);
        let mut by_keeper = removals.to_vec();
        by_keeper.sort_unstable_by_key(|removal| (removal.kept(), removal.removed()));
        written.push(write::clusters(self.create("clusters.parquet")?, &by_keeper, ranked, &self.estimates)?);
        self.look_at(&by_keeper);
        written.push(self.rejects_file()?);
        let mut stamps = Vec::new();
        for file in written {
            let name = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            stamps.push((name, file.commit()?));
        }
        if self.options.write != Output::DryRun {
            stamps.extend(self.documents(ranked, removals, &by_keeper)?);
        }
        self.manifest(&stamps)
    }

    fn create(&self, name: &str) -> Result<FileWriter> {
        Ok(self.files.create(&self.folders.result(name))?)
    }

    /// The rejected lines, from the work folder.
    fn rejects_file(&self) -> Result<FileWriter> {
        let path = self.folders.work.join(REJECTS);
        let fail = |error| crate::files::Error::disk("read", &path, error);
        let mut from = std::fs::File::open(&path).map_err(fail)?;
        let mut out = self.create(REJECTS)?;
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
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept());
        let sizes = clusters.map(|cluster| cluster.len() as u64 + 1);
        let (n, largest) = sizes.fold((0, 0), |(n, largest), size| (n + 1, largest.max(size)));
        (self.counts.clusters, self.counts.largest_cluster) = (n, largest);
        self.histogram = vec![0; BINS];
        for removal in by_keeper {
            let similarity =
                write::similarity(&removal.edge, removal.rule != Rule::Estimate, &self.estimates);
            let bin =
                if similarity >= 1.0 { BINS - 1 } else { ((similarity - 0.5).max(0.0) * 20.0) as usize };
            self.histogram[bin.min(BINS - 1)] += 1;
        }
        let documents = (self.counts.read - self.counts.rejected).max(1);
        let share = |n: u64| n as f64 / documents as f64;
        if largest >= LARGE && share(largest) >= LARGE_SHARE {
            let chains = match self.options.cluster {
                Cluster::Leaders => {
                    "every member is similar to the kept document; look at it in clusters.parquet"
                }
                Cluster::Components => {
                    "components chain documents that are not similar; try --cluster leaders"
                }
            };
            self.warnings
                .push(format!("one cluster holds {:.0}% of the corpus: {chains}", 100.0 * share(largest)));
        }
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
        ranked: &Ranked<'_>,
        removals: &[Removal],
        by_keeper: &[Removal],
    ) -> Result<Vec<(String, Stamp)>> {
        let fates = Fates::new(self, ranked, removals, by_keeper);
        let inputs = &ranked.corpus.inputs;
        let mut out = DocumentWriter {
            run: self,
            inputs,
            fates: &fates,
            row: 0,
            current: None,
            stamps: Vec::new(),
            line: Vec::new(),
        };
        match &ranked.corpus.documents {
            Documents::Memory(_) => {
                for (_, batch) in &ranked.corpus.held {
                    out.batch(batch)?;
                }
            }
            Documents::Disk(_) => {
                pipeline::run(self.open()?, &Parse, self.options.threads, |batch| out.batch(&batch))?
            }
        }
        out.finish()
    }

    fn manifest(&mut self, stamps: &[(String, Stamp)]) -> Result<()> {
        let options = self.options;
        let files: Vec<_> = stamps
            .iter()
            .map(|(name, stamp)| json!({"name": name, "bytes": stamp.bytes, "checksum": format!("{:016x}", stamp.checksum)}))
            .collect();
        let manifest = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "format": 1,
            "settings": super::fingerprint::settings(options),
            "counts": self.counts,
            "similarities": self.histogram,
            "warnings": self.warnings,
            "files": files,
        });
        let mut run = self.create("run.json")?;
        let timings: Vec<_> = self
            .timings
            .iter()
            .map(|timing| json!({"stage": timing.stage.name(), "seconds": timing.took.as_secs_f64(), "resumed": timing.resumed}))
            .collect();
        let facts = json!({
            "command": options.command,
            "threads": options.threads,
            "memory": options.memory,
            "spilled_bytes": self.spilled,
            "peak_memory_bytes": super::peak_memory(),
            "stages": timings,
        });
        run.append(&pretty(&facts))?;
        run.commit()?;
        let mut file = self.create(MANIFEST)?;
        file.append(&pretty(&manifest))?;
        file.commit()?;
        Ok(())
    }
}

fn pretty(value: &serde_json::Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("a value can always be written");
    text.push(b'\n');
    text
}

/// Reads batches again.
struct Parse;

impl Work for Parse {
    type Scratch = ();
    type Made = Batch;
    type Error = Error;

    fn make(&self, raw: RawBatch, (): &mut ()) -> Result<Batch> {
        Ok(read::parse(raw))
    }
}

/// What becomes of each row.
struct Fates<'a> {
    ranked: Ranked<'a>,
    /// One bit for each row.
    removed: Vec<u64>,
    annotates: bool,
    removals: &'a [Removal],
    /// Documents of each cluster, by the rank of its kept one.
    sizes: HashMap<u32, u64>,
    run: &'a Run<'a>,
}

impl<'a> Fates<'a> {
    fn new(run: &'a Run<'a>, ranked: &Ranked<'a>, removals: &'a [Removal], by_keeper: &[Removal]) -> Self {
        let mut removed = vec![0; ranked.len() as usize / 64 + 1];
        for removal in removals {
            let row = ranked.ranking.row(removal.removed()) as usize;
            removed[row / 64] |= 1 << (row % 64);
        }
        let annotates = run.options.write == Output::Annotate;
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept()).filter(|_| annotates);
        let sizes = clusters.map(|cluster| (cluster[0].kept(), cluster.len() as u64 + 1)).collect();
        Self { ranked: *ranked, removed, annotates, removals, sizes, run }
    }

    fn is_removed(&self, row: u32) -> bool {
        self.removed[row as usize / 64] >> (row % 64) & 1 == 1
    }

    fn verdict(&self, row: u32, line: u64) -> Result<Verdict> {
        let annotation = self.annotates.then(|| self.annotation(row)).transpose()?;
        Ok(Verdict { line, keep: self.annotates || !self.is_removed(row), annotation })
    }

    fn annotation(&self, row: u32) -> Result<Annotation> {
        let rank = self.ranked.ranking.rank(row);
        let found = self.removals.binary_search_by_key(&rank, Removal::removed);
        let Ok(i) = found else {
            let size = self.sizes.get(&rank).copied();
            let cluster_id = size.map(|_| self.ranked.id(rank)).transpose()?.map(String::from);
            return Ok(Annotation {
                cluster_id,
                cluster_size: size.unwrap_or(1),
                dup_of: None,
                similarity: None,
                is_duplicate: false,
            });
        };
        let removal = &self.removals[i];
        let keeper = self.ranked.id(removal.kept())?.into_owned();
        let similarity =
            write::similarity(&removal.edge, removal.rule != Rule::Estimate, &self.run.estimates);
        Ok(Annotation {
            cluster_id: Some(keeper.clone()),
            cluster_size: self.sizes.get(&removal.kept()).copied().unwrap_or(1),
            dup_of: Some(keeper),
            similarity: Some(similarity),
            is_duplicate: true,
        })
    }
}

/// Writes documents in the order in which they were read, one file for each input.
struct DocumentWriter<'a> {
    run: &'a Run<'a>,
    inputs: &'a [Arc<Input>],
    fates: &'a Fates<'a>,
    row: u32,
    current: Option<(u32, LineWriter)>,
    stamps: Vec<(String, Stamp)>,
    line: Vec<u8>,
}

impl DocumentWriter<'_> {
    fn batch(&mut self, batch: &Batch) -> Result<()> {
        for document in batch.documents() {
            let row = self.row;
            self.row += 1;
            self.go_to(document.input)?;
            let Some((_, out)) = &mut self.current else { continue };
            if self.fates.annotates {
                let verdict = self.fates.verdict(row, document.line)?;
                self.line.clear();
                if let Some(annotation) = &verdict.annotation {
                    write::annotate_json(document.raw, annotation, &mut self.line);
                }
                self.line.push(b'\n');
                out.append(&self.line)?;
            } else if !self.fates.is_removed(row) {
                out.append(document.raw.as_bytes())?;
                out.append(b"\n")?;
            }
        }
        self.run.observer.reached(self.row.into());
        Self::check(self.run)
    }

    fn check(run: &Run<'_>) -> Result<()> {
        Run::check_cancelled(run.observer)
    }

    /// Ends the files before an input, and begins its own; inputs without documents get an empty one.
    fn go_to(&mut self, input: u32) -> Result<()> {
        let mut next = self.current.as_ref().map_or(0, |(current, _)| current + 1);
        while next <= input {
            self.end()?;
            self.begin(next)?;
            next += 1;
        }
        Ok(())
    }

    fn begin(&mut self, number: u32) -> Result<()> {
        let input = &self.inputs[number as usize];
        let path = self.run.folders.document(&input.relative);
        self.run.files.create_dir_all(path.parent().unwrap_or(&path))?;
        let out =
            LineWriter::new(self.run.files.create(&path)?, input.compression().unwrap_or(Compression::None))?;
        self.current = Some((number, out));
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if let Some((number, out)) = self.current.take() {
            let name =
                format!("{}/{}", super::output::DOCUMENTS, self.inputs[number as usize].relative.display());
            self.stamps.push((name, out.commit()?));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(String, Stamp)>> {
        if let Some(last) = self.inputs.len().checked_sub(1) {
            let next = self.current.as_ref().map_or(0, |(current, _)| current + 1);
            if next <= last as u32 {
                self.go_to(last as u32)?;
            }
        }
        self.end()?;
        Ok(self.stamps)
    }
}

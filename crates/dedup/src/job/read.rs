//! Reading and sketching.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use benzer_flow::pipeline::{self, Collector, Position};
use benzer_io::read::{Input, Progress, Reader, Rereader};
use benzer_storage::{FileWriter, Manifest};

use super::budget::Budget;
use super::setup::{Checkpoints, Setup, check_cancelled};
use crate::corpus::{Batches, Corpus};
use crate::documents::{BATCHES, HeldRows, RowTable, RowsWriter, SavedRows, SavedTexts, TEXTS};
use crate::error::{Error, Result};
use crate::folders::REJECTS;
use crate::ingest::{Ingested, NAMED, Rejects};
use crate::progress::Stage;
use crate::summary::{Counts, Summary};

pub(super) struct ReadCorpus {
    pub corpus: Corpus,
    pub budget: Budget,
    /// Whether the stages to come leave checkpoints.
    pub saves: bool,
    /// The manifest of what is in memory, and yet to be saved.
    pub unsaved: Option<Manifest>,
}

impl Setup<'_> {
    /// Makes rows of all documents, or takes over those of an interrupted run.
    pub fn read(
        &self,
        reader: Reader,
        mut budget: Budget,
        checkpoints: &Checkpoints,
        summary: &mut Summary,
    ) -> Result<ReadCorpus> {
        if let Some(saved) = self.saved_corpus(&reader, budget, checkpoints, summary)? {
            if summary.counts.rejected > 0 {
                summary.rejects = first_rejects(&self.folders.work);
            }
            return Ok(saved);
        }
        let inputs = reader.inputs().to_vec();
        let total = reader.progress().bytes_total();
        let saves = total.is_none_or(|bytes| bytes >= self.request.resources.checkpoint);
        let rereader = self.rereader(&reader, &mut budget)?;
        if let Some(rereader) = &rereader {
            reader.use_maps(rereader);
        }
        let mut rows = RowCollector::new(self, budget, rereader, reader.progress().clone());
        self.ingest.forgets.store(rows.rereader.is_some(), Ordering::Relaxed);
        if self.request.resources.in_memory == 0 {
            rows.move_to_disk()?;
        }
        self.observer.begin(Stage::Read, total);
        let collected = pipeline::collect(reader, &self.ingest, self.request.resources.threads, &mut rows);
        self.ingest.forgets.store(false, Ordering::Relaxed);
        collected?;
        let in_memory = rows.held_bytes + rows.rows.bytes;
        let (corpus, unsaved) = rows.finish(inputs, checkpoints, summary)?;
        if unsaved.is_some() {
            budget.keep_corpus(in_memory);
        }
        let saves = saves || unsaved.is_none();
        Ok(ReadCorpus { corpus, budget, saves, unsaved: unsaved.filter(|_| saves) })
    }

    /// Where lines are found again, if they are too many to be held. Maps of them take their part of the memory.
    pub fn rereader(&self, reader: &Reader, budget: &mut Budget) -> Result<Option<Rereader>> {
        let resources = &self.request.resources;
        let total = reader.progress().bytes_total();
        let Some(bytes) = total.filter(|bytes| *bytes > resources.held) else { return Ok(None) };
        let maps = resources.maps && budget.has_room_for_maps(bytes);
        let rereader = reader.rereader(maps)?;
        if maps && rereader.is_some() {
            budget.take(bytes);
        }
        Ok(rereader)
    }
}

/// The rejects to name, of an interrupted run.
fn first_rejects(work: &Path) -> Vec<String> {
    let Ok(file) = File::open(work.join(REJECTS)) else { return Vec::new() };
    let rows = BufReader::new(file).lines().map_while(std::result::Result::ok);
    let rows = rows.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    rows.take(NAMED)
        .map(|row| format!("{}:{}: {}", text(&row["file"]), row["line"], text(&row["reason"])))
        .collect()
}

/// Where batches go: memory as long as they fit, then disk.
struct RowCollector<'a> {
    setup: &'a Setup<'a>,
    budget: Budget,
    progress: Progress,
    rows: HeldRows,
    batches: Batches,
    rereader: Option<Rereader>,
    held_bytes: u64,
    /// Where they are once they do not fit.
    table: Option<RowsWriter>,
    early: Early,
    rejects: RejectedLines,
    /// What was read so far are documents.
    counts: Counts,
}

/// Batches before which others are missing.
#[derive(Default)]
struct Early {
    batches: BTreeMap<Position, Ingested>,
    bytes: u64,
    n_documents: u64,
}

/// The rejected lines in order.
#[derive(Default)]
struct RejectedLines {
    /// Begun by the first.
    file: Option<FileWriter>,
    named: Vec<String>,
}

impl Collector<Ingested, Error> for RowCollector<'_> {
    fn take(&mut self, at: Position, made: Ingested) -> Result<()> {
        self.early.bytes += made.bytes();
        self.early.n_documents += made.rows.len() as u64;
        self.early.batches.insert(at, made);
        self.setup.observer.reached(self.progress.bytes_read());
        check_cancelled(self.setup.observer)
    }

    fn reached(&mut self, front: Position) -> Result<()> {
        while let Some(first) = self.early.batches.first_entry().filter(|first| *first.key() < front) {
            let made = first.remove();
            self.early.bytes -= made.bytes();
            self.early.n_documents -= made.rows.len() as u64;
            self.settle(made)?;
        }
        if self.table.is_some() || self.has_room() { Ok(()) } else { self.move_to_disk() }
    }

    fn wants_order(&self) -> bool {
        self.table.is_some()
    }
}

impl<'a> RowCollector<'a> {
    fn new(setup: &'a Setup<'a>, budget: Budget, rereader: Option<Rereader>, progress: Progress) -> Self {
        Self {
            setup,
            budget,
            progress,
            rows: HeldRows::new(setup.ingest.layout()),
            batches: Batches::default(),
            rereader,
            held_bytes: 0,
            table: None,
            early: Early::default(),
            rejects: RejectedLines::default(),
            counts: Counts::default(),
        }
    }

    /// Whether all that is here can stay in memory.
    fn has_room(&self) -> bool {
        let bytes = self.held_bytes + self.rows.bytes + self.early.bytes;
        let n_documents = self.counts.read + self.early.n_documents;
        let resources = &self.setup.request.resources;
        self.budget.has_room_for_corpus(n_documents, bytes) && bytes <= resources.in_memory
    }

    /// Takes the batch that comes next in the input. Its rows stay where they are.
    fn settle(&mut self, Ingested { mut batch, rows, tally, rejects }: Ingested) -> Result<()> {
        self.take_rejects(rejects)?;
        let counts = &mut self.counts;
        counts.read += rows.len() as u64;
        if counts.read > u64::from(u32::MAX) {
            return Err(Error::parameter("input", "at most 4,294,967,295 documents", "more"));
        }
        counts.text_bytes += tally.text_bytes;
        counts.empty += tally.empty;
        counts.short += tally.short;
        counts.ordered_by_text += tally.by_text;
        counts.unordered += tally.unordered;
        counts.blank += batch.n_blank();
        if rows.len() == 0 {
            return Ok(());
        }
        if let Some(table) = &mut self.table {
            table.append(&rows)?;
            table.append_contents(&batch)?;
            batch.give_buffer();
            return Ok(());
        }
        self.rows.push(rows);
        self.held_bytes += batch.bytes() as u64;
        self.batches.push(batch);
        Ok(())
    }

    fn take_rejects(&mut self, Rejects { n, named, lines }: Rejects) -> Result<()> {
        if let (true, Some(reject)) = (self.setup.request.strict, named.first()) {
            return Err(Error::Strict { reject: reject.clone() });
        }
        if n == 0 {
            return Ok(());
        }
        self.counts.rejected += n;
        let RejectedLines { file, named: all } = &mut self.rejects;
        all.extend(named.into_iter().take(NAMED.saturating_sub(all.len())));
        let file = match file {
            Some(file) => file,
            none => none.insert(self.setup.files.create(&self.setup.folders.work.join(REJECTS))?),
        };
        Ok(file.append(&lines)?)
    }

    /// From here on rows are on disk only, and so are texts that cannot be read again.
    fn move_to_disk(&mut self) -> Result<()> {
        let Setup { files, folders, ingest, .. } = self.setup;
        let rows = std::mem::replace(&mut self.rows, HeldRows::new(ingest.layout()));
        self.held_bytes = 0;
        let contents = if self.rereader.is_some() { BATCHES } else { TEXTS };
        let mut table = RowsWriter::create(files, &folders.work, ingest.layout(), contents)?;
        for (rows, batch) in rows.chunks.into_iter().zip(self.batches.take()) {
            table.append(&rows)?;
            table.append_contents(&batch)?;
        }
        self.table = Some(table);
        Ok(())
    }

    /// What was read, and if it is in memory the manifest under which it may be saved.
    fn finish(
        self,
        inputs: Vec<Arc<Input>>,
        checkpoints: &Checkpoints,
        summary: &mut Summary,
    ) -> Result<(Corpus, Option<Manifest>)> {
        let Self { setup, mut counts, rejects, table, rereader, .. } = self;
        counts.read += counts.rejected;
        let RejectedLines { file: rejects, named } = rejects;
        let mut manifest = checkpoints.begin(Stage::Read);
        counts.to_manifest(&mut manifest);
        (summary.counts, summary.rejects) = (counts, named);
        if let Some(rejects) = rejects {
            manifest.add_file(REJECTS, rejects.commit()?);
        }
        let Some(table) = table else {
            let (documents, batches) = (RowTable::Held(self.rows), self.batches);
            let corpus = Corpus { inputs, documents, batches, texts: None, rereader };
            return Ok((corpus, Some(manifest)));
        };
        table.commit(&mut manifest, || true)?;
        // So that a resumed run can take the stage over.
        let work = &setup.folders.work;
        manifest.save(setup.files, work)?;
        summary.spilled_bytes += manifest.files().iter().map(|file| file.stamp.bytes).sum::<u64>();
        let documents =
            SavedRows::open(work, setup.ingest.layout(), &manifest, setup.request.resources.threads)?;
        let documents = RowTable::Saved(documents);
        let corpus = match rereader {
            Some(_) => {
                let batches = setup.saved_batches(&manifest)?;
                Corpus { inputs, documents, batches: Batches::saved(batches), texts: None, rereader }
            }
            None => {
                let texts = Some(SavedTexts::open(work)?);
                Corpus { inputs, documents, batches: Batches::default(), texts, rereader }
            }
        };
        Ok((corpus, None))
    }
}

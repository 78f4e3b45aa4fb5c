//! Reading and sketching.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::{Arc, Mutex};

use benzer_flow::pipeline;
use benzer_io::read::{Batch, Input, Reader, Rereader};
use benzer_storage::FileWriter;

use super::budget::Budget;
use super::setup::{Checkpoints, Setup, check_cancelled};
use crate::corpus::{Corpus, HeldBatches};
use crate::documents::{DiskRowTable, DiskRowWriter, Documents, Row, RowTable};
use crate::error::{Error, Result};
use crate::folders::REJECTS;
use crate::ingest::Ingested;
use crate::keep;
use crate::progress::Stage;
use crate::summary::{Counts, Summary};

const NAMED: usize = 5;

pub(super) struct ReadCorpus {
    pub corpus: Corpus,
    pub budget: Budget,
    /// Whether the stages to come leave checkpoints.
    pub saves: bool,
}

impl Setup<'_> {
    /// Makes rows of all documents, or takes over those of an interrupted run.
    pub fn read(
        &self,
        mut reader: Reader,
        mut budget: Budget,
        checkpoints: &Checkpoints,
        summary: &mut Summary,
    ) -> Result<ReadCorpus> {
        let inputs = reader.inputs().to_vec();
        if let Some(manifest) = checkpoints.load(Stage::Read) {
            summary.counts = Counts::from_manifest(&manifest);
            summary.resumed(Stage::Read);
            summary.rejects = first_rejects(&self.folders.work);
            return Ok(ReadCorpus { corpus: self.open_table(inputs)?, budget, saves: true });
        }
        let total = reader.progress().bytes_total();
        let saves = total.is_none_or(|bytes| bytes >= self.request.resources.checkpoint);
        let rereader = self.rereader(&inputs, total, &mut budget)?;
        if let Some(rereader) = &rereader {
            reader.use_maps(rereader);
        }
        let mut rows = RowCollector::new(self, budget, rereader);
        // What can be read again is not written a second time: a resumed run reads it.
        if saves && rows.rereader.is_none() {
            rows.checkpoint = Some(rows.create_table()?);
        }
        if self.request.resources.in_memory == 0 {
            rows.move_to_disk()?;
        }
        self.observer.begin(Stage::Read, total);
        let progress = reader.progress().clone();
        pipeline::run(reader, &self.ingest, self.request.resources.threads, |made| -> Result<()> {
            rows.take(made)?;
            self.observer.reached(progress.bytes_read());
            check_cancelled(self.observer)
        })?;
        let in_memory = rows.held_bytes + rows.rows.bytes() as u64;
        let (corpus, is_on_disk) = rows.finish(inputs, checkpoints, summary)?;
        if !is_on_disk {
            budget.keep_corpus(in_memory);
        }
        Ok(ReadCorpus { corpus, budget, saves: saves || is_on_disk })
    }

    /// Where lines are found again, if they are too many to be held. Maps of them take their part of the memory.
    fn rereader(
        &self,
        inputs: &[Arc<Input>],
        total: Option<u64>,
        budget: &mut Budget,
    ) -> Result<Option<Rereader>> {
        let resources = &self.request.resources;
        let Some(bytes) = total.filter(|bytes| *bytes > resources.held) else { return Ok(None) };
        let maps = resources.maps && budget.has_room_for_maps(bytes);
        let rereader = Rereader::new(inputs, maps)?;
        if maps && rereader.is_some() {
            budget.take(bytes);
        }
        Ok(rereader)
    }

    fn open_table(&self, inputs: Vec<Arc<Input>>) -> Result<Corpus> {
        let documents = Documents::Disk(DiskRowTable::open(&self.folders.work, self.ingest.layout())?);
        Ok(Corpus { inputs, documents, held: HeldBatches::default(), rereader: None, ids: Mutex::default() })
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
    rows: RowTable,
    held: HeldBatches,
    rereader: Option<Rereader>,
    held_bytes: u64,
    /// Once they are on disk only.
    disk: Option<DiskRowWriter>,
    /// While they are in memory: the same on disk, for a run that resumes this one.
    checkpoint: Option<DiskRowWriter>,
    n: u64,
    /// The rejected lines; begun by the first.
    rejects: Option<FileWriter>,
    named: Vec<String>,
    counts: Counts,
}

impl<'a> RowCollector<'a> {
    fn new(setup: &'a Setup<'a>, budget: Budget, rereader: Option<Rereader>) -> Self {
        Self {
            setup,
            budget,
            rows: RowTable::new(setup.ingest.layout()),
            held: HeldBatches::default(),
            rereader,
            held_bytes: 0,
            disk: None,
            checkpoint: None,
            n: 0,
            rejects: None,
            named: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn take(&mut self, Ingested { mut batch, mut rows }: Ingested) -> Result<()> {
        self.take_rejects(&batch)?;
        let first = self.n;
        self.n += rows.len() as u64;
        if self.n > u64::from(u32::MAX) {
            return Err(Error::parameter("input", "at most 4,294,967,295 documents", "more"));
        }
        let shortest = self.setup.request.compare.text.n;
        for place in &mut rows.places {
            place.offset = self.counts.text_bytes;
            self.counts.text_bytes += u64::from(place.text_bytes);
            self.counts.empty += u64::from(place.shingles == 0);
            self.counts.short += u64::from(place.shingles == 1 && shortest > 1);
        }
        if self.setup.request.keep.field().is_some() {
            let (texts, missing) = keep::kinds(rows.keys.iter());
            self.counts.ordered_by_text += texts;
            self.counts.unordered += missing;
        }
        self.counts.blank += batch.n_blank();
        if batch.n_documents() == 0 {
            return Ok(());
        }
        if let Some(table) = self.disk.as_mut().or(self.checkpoint.as_mut()) {
            table.append(&rows)?;
            append_texts(&batch, table)?;
        }
        let spare = &self.setup.ingest.spare;
        if self.disk.is_some() {
            spare.give(rows);
            batch.give_buffer();
            return Ok(());
        }
        self.rows.append(&rows);
        spare.give(rows);
        if self.rereader.is_some() {
            batch.forget_lines();
        }
        self.held_bytes += batch.bytes() as u64;
        self.held.push(Row(first as u32), batch);
        let bytes = self.held_bytes + self.rows.bytes() as u64;
        let resources = &self.setup.request.resources;
        let has_room = self.budget.has_room_for_corpus(self.n, bytes);
        if has_room && bytes <= resources.in_memory { Ok(()) } else { self.move_to_disk() }
    }

    fn take_rejects(&mut self, batch: &Batch) -> Result<()> {
        if let (true, Some(reject)) = (self.setup.request.strict, batch.rejects().first()) {
            return Err(Error::Strict { reject: reject.to_string() });
        }
        if batch.rejects().is_empty() {
            return Ok(());
        }
        self.counts.rejected += batch.rejects().len() as u64;
        let left = NAMED.saturating_sub(self.named.len());
        self.named.extend(batch.rejects().iter().take(left).map(ToString::to_string));
        let mut lines = Vec::new();
        benzer_io::rewrite::reject_lines(batch, &mut lines);
        let file = match &mut self.rejects {
            Some(file) => file,
            none => none.insert(self.setup.files.create(&self.setup.folders.work.join(REJECTS))?),
        };
        Ok(file.append(&lines)?)
    }

    fn create_table(&self) -> Result<DiskRowWriter> {
        let Setup { files, folders, .. } = self.setup;
        Ok(DiskRowWriter::create(files, &folders.work, self.rows.layout)?)
    }

    /// From here on rows and texts are on disk only.
    fn move_to_disk(&mut self) -> Result<()> {
        let layout = self.rows.layout;
        let rows = std::mem::replace(&mut self.rows, RowTable::new(layout));
        if let Some(checkpoint) = self.checkpoint.take() {
            self.held = HeldBatches::default();
            self.disk = Some(checkpoint);
            return Ok(());
        }
        let mut disk = self.create_table()?;
        for chunk in &rows.chunks {
            disk.append(chunk)?;
        }
        // One buffer for all: the memory is needed elsewhere.
        let mut lines = Vec::new();
        for batch in std::mem::take(&mut self.held).batches {
            match &self.rereader {
                Some(rereader) if batch.is_forgotten() => {
                    let whole = batch.reread(rereader, lines)?;
                    append_texts(&whole, &mut disk)?;
                    lines = whole.into_lines();
                }
                _ => append_texts(&batch, &mut disk)?,
            }
        }
        self.rereader.as_ref().map_or(Ok(()), Rereader::check)?;
        self.held_bytes = 0;
        self.disk = Some(disk);
        Ok(())
    }

    fn finish(
        mut self,
        inputs: Vec<Arc<Input>>,
        checkpoints: &Checkpoints,
        summary: &mut Summary,
    ) -> Result<(Corpus, bool)> {
        self.counts.read = self.n + self.counts.rejected;
        summary.counts = self.counts;
        summary.rejects = self.named;
        let is_on_disk = self.disk.is_some();
        match self.disk.or(self.checkpoint) {
            Some(table) => {
                let Setup { files, folders, .. } = self.setup;
                let mut manifest = checkpoints.begin(Stage::Read);
                let rejects = self.rejects.map_or_else(|| files.create(&folders.work.join(REJECTS)), Ok)?;
                manifest.add_file(REJECTS, rejects.commit()?);
                table.commit(&mut manifest)?;
                summary.counts.to_manifest(&mut manifest);
                // So that a resumed run can take the stage over.
                manifest.save(files, &folders.work)?;
                let bytes: u64 = manifest.files().iter().map(|file| file.stamp.bytes).sum();
                summary.spilled_bytes += if is_on_disk { bytes } else { 0 };
            }
            None => drop(self.rejects.map(FileWriter::commit).transpose()?),
        }
        let corpus = match is_on_disk {
            true => self.setup.open_table(inputs)?,
            false => Corpus {
                inputs,
                documents: Documents::Memory(self.rows),
                held: self.held,
                rereader: self.rereader,
                ids: Mutex::default(),
            },
        };
        Ok((corpus, is_on_disk))
    }
}

fn append_texts(batch: &Batch, disk: &mut DiskRowWriter) -> Result<()> {
    for i in 0..batch.n_documents() {
        let mut outcome = Ok(());
        batch.with_text(i, &mut |text| outcome = disk.append_text(text));
        outcome?;
    }
    Ok(())
}

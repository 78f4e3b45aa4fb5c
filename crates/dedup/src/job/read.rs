//! Reading and sketching.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::memory::Memory;
use super::output::STDIN;
use super::stages::Run;
use crate::corpus::{Corpus, HeldBatches};
use crate::documents::{Documents, Memory as Rows, Table, TableWriter};
use crate::error::{Error, Result};
use crate::folders::REJECTS;
use crate::ingest::{Ingested, Spare};
use crate::keep;
use crate::progress::{Observer, Stage};
use crate::request::{Output, Request};
use crate::summary::Counts;
use benzer_flow::pipeline;
use benzer_io::places;
use benzer_io::read::{self, Again, Batch, Inputs, Reader};
use benzer_io::store::Address;
use benzer_storage::{FileWriter, Files, Manifest};

/// Rejects that are named in the summary.
const NAMED: usize = 5;

impl Run<'_> {
    pub(super) fn read(&mut self) -> Result<Corpus> {
        self.save_stdin()?;
        let mut reader = self.open()?;
        self.memory = Memory::new(self.request, &reader)?;
        self.open_old(&reader)?;
        self.saves =
            reader.progress().bytes_total().is_none_or(|bytes| bytes >= self.request.resources.checkpoint);
        let inputs = reader.inputs().to_vec();
        self.check_names(&inputs)?;
        self.check_target(&inputs)?;
        self.tell_of_inputs(&reader)?;
        if self.request.results.write == Output::Annotate {
            crate::write::check_annotation(&inputs)?;
        }
        self.folders.clear(self.files, &inputs)?;
        if let Some(manifest) = self.saved(Stage::Read) {
            self.saves = true;
            self.counts = Counts::from_manifest(&manifest);
            self.resumed(Stage::Read);
            self.rejects = self.first_rejects();
            let table = Table::open(&self.folders.work, self.ingest.layout())?;
            return Ok(Corpus {
                inputs,
                documents: Documents::Disk(table),
                held: HeldBatches::default(),
                again: None,
                ids: Mutex::default(),
            });
        }
        let again = match reader.progress().bytes_total() {
            Some(bytes) if bytes > self.request.resources.held => {
                let maps = self.request.resources.maps && self.memory.has_room_for_maps(bytes);
                let again = Again::new(&inputs, maps)?;
                if maps && again.is_some() {
                    self.memory.take(bytes);
                }
                again
            }
            _ => None,
        };
        let mut sink = Sink {
            files: self.files,
            request: self.request,
            observer: self.observer,
            folder: self.folders.work.clone(),
            memory: self.memory,
            rows: Rows::new(self.ingest.layout()),
            held: HeldBatches::default(),
            again,
            held_bytes: 0,
            disk: None,
            checkpoint: None,
            n: 0,
            text_bytes: 0,
            rejects: None,
            named: Vec::new(),
            counts: Counts::default(),
            spare: self.ingest.spare.clone(),
        };
        if let Some(again) = &sink.again {
            reader.look_at(again);
        }
        // What can be read again is not written a second time: a resumed run reads it.
        if self.saves && sink.again.is_none() {
            sink.checkpoint = Some(sink.create_table()?);
        }
        if self.request.resources.in_memory == 0 {
            sink.move_to_disk()?;
        }
        let progress = reader.progress().clone();
        self.observer.begin(Stage::Read, progress.bytes_total());
        pipeline::run(reader, &self.ingest, self.request.resources.threads, |made| -> Result<()> {
            sink.take(made)?;
            sink.observer.reached(progress.bytes_read());
            Self::check_cancelled(sink.observer)
        })?;
        self.end_reading(sink, inputs)
    }

    /// Standard input can be read once, and is needed twice.
    fn save_stdin(&self) -> Result<()> {
        let saved = self.folders.work.join(STDIN);
        let is_saved = self.request.resources.resume && saved.exists();
        if is_saved || !self.request.input.paths.iter().any(|path| path == Path::new("-")) {
            return Ok(());
        }
        let mut file = self.files.create(&saved)?;
        let mut buffer = vec![0; 1 << 18];
        let mut stdin = std::io::stdin().lock();
        loop {
            match stdin.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => file.append(&buffer[..n])?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(benzer_io::Error::Read { path: "stdin".into(), source }.into()),
            }
        }
        file.commit()?;
        Ok(())
    }

    /// The rejects to name, of an interrupted run.
    fn first_rejects(&self) -> Vec<String> {
        let Ok(file) = std::fs::File::open(self.folders.work.join(REJECTS)) else { return Vec::new() };
        let rows = std::io::BufReader::new(file).lines().map_while(std::result::Result::ok);
        let rows = rows.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        rows.take(NAMED)
            .map(|row| format!("{}:{}: {}", text(&row["file"]), row["line"], text(&row["reason"])))
            .collect()
    }

    /// Every input has an output of its own.
    fn check_names(&self, inputs: &[std::sync::Arc<read::Input>]) -> Result<()> {
        let mut seen = std::collections::HashMap::new();
        for input in inputs {
            if let Some(other) = seen.insert(&input.relative, input) {
                let (a, b) = (other.path.to_path_buf(), input.path.to_path_buf());
                return Err(Error::SameName { a, b, name: input.relative.clone() });
            }
        }
        Ok(())
    }

    /// Refuses results in a store that would lie around the inputs. Folders of this machine are checked when they are cleared.
    fn check_target(&self, inputs: &[std::sync::Arc<read::Input>]) -> Result<()> {
        let Some(target) = Address::parse(self.target)? else { return Ok(()) };
        let inside = inputs.iter().find(|input| input.path.to_str().is_some_and(|url| target.holds(url)));
        inside.map_or(Ok(()), |input| {
            Err(benzer_io::Error::overlap(self.target, places::HOLDS, &input.path).into())
        })
    }

    /// Opens the inputs for a pass over all of them.
    pub(super) fn open(&self) -> Result<Reader> {
        let saved = self.folders.work.join(STDIN);
        let path = |path: &PathBuf| if path == Path::new("-") { saved.clone() } else { path.clone() };
        let inputs: Inputs = self.request.input.paths.iter().map(path).collect();
        let order_field = self.request.keep.field().cloned();
        let options = read::ReadOptions { order_field, ..self.request.input.read.clone() };
        Ok(read::open(inputs.except(self.target).lenient(), options)?)
    }

    fn end_reading(&mut self, sink: Sink<'_>, inputs: Vec<std::sync::Arc<read::Input>>) -> Result<Corpus> {
        let Sink { rows, held, again, disk, checkpoint, n, rejects, named, mut counts, text_bytes, .. } =
            sink;
        counts.read = n + counts.rejected;
        counts.text_bytes = text_bytes;
        self.counts = counts;
        self.rejects = named;
        let is_on_disk = disk.is_some();
        match disk.or(checkpoint) {
            Some(table) => {
                let bytes = self.end_table(table, rejects)?;
                self.spilled += if is_on_disk { bytes } else { 0 };
            }
            None => drop(rejects.map(FileWriter::commit).transpose()?),
        }
        if !is_on_disk {
            return Ok(Corpus {
                inputs,
                documents: Documents::Memory(rows),
                held,
                again,
                ids: Mutex::default(),
            });
        }
        self.saves = true;
        let table = Table::open(&self.folders.work, self.ingest.layout())?;
        Ok(Corpus {
            inputs,
            documents: Documents::Disk(table),
            held: HeldBatches::default(),
            again: None,
            ids: Mutex::default(),
        })
    }

    /// Ends the stage on disk, so that a resumed run can take it over. Gives the bytes that were written.
    fn end_table(&self, table: TableWriter, rejects: Option<FileWriter>) -> Result<u64> {
        let mut manifest = Manifest::new(Stage::Read.name(), &self.fingerprint);
        let rejects = rejects.map_or_else(|| self.files.create(&self.folders.work.join(REJECTS)), Ok)?;
        manifest.add_file(REJECTS, rejects.commit()?);
        table.commit(&mut manifest)?;
        self.counts.to_manifest(&mut manifest);
        manifest.save(self.files, &self.folders.work)?;
        Ok(manifest.files().iter().map(|file| file.stamp.bytes).sum())
    }
}

/// Where batches go: memory as long as they fit, then disk.
struct Sink<'a> {
    files: &'a Files,
    request: &'a Request,
    observer: &'a dyn Observer,
    folder: std::path::PathBuf,
    memory: Memory,
    rows: Rows,
    held: HeldBatches,
    again: Option<Again>,
    held_bytes: u64,
    /// Once they are on disk only.
    disk: Option<TableWriter>,
    /// While they are in memory: the same on disk, for a run that resumes this one.
    checkpoint: Option<TableWriter>,
    n: u64,
    text_bytes: u64,
    /// Begun by the first.
    rejects: Option<FileWriter>,
    named: Vec<String>,
    counts: Counts,
    /// Takes rows back.
    spare: Spare,
}

impl Sink<'_> {
    fn take(&mut self, Ingested { mut batch, mut rows }: Ingested) -> Result<()> {
        self.take_rejects(&batch)?;
        let first = self.n;
        self.n += rows.len() as u64;
        if self.n > u64::from(u32::MAX) {
            return Err(Error::parameter("input", "at most 4,294,967,295 documents", "more"));
        }
        let shortest = self.request.compare.text.n;
        for place in &mut rows.places {
            place.offset = self.text_bytes;
            self.text_bytes += u64::from(place.text_bytes);
            self.counts.empty += u64::from(place.shingles == 0);
            self.counts.short += u64::from(place.shingles == 1 && shortest > 1);
        }
        if self.request.keep.field().is_some() {
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
        if self.disk.is_some() {
            self.spare.give(rows);
            batch.give_buffer();
            return Ok(());
        }
        self.rows.append(&rows);
        self.spare.give(rows);
        if self.again.is_some() {
            batch.forget_lines();
        }
        self.held_bytes += batch.bytes() as u64;
        self.held.push(first as u32, batch);
        let bytes = self.held_bytes + self.rows.bytes() as u64;
        let has_room = self.memory.has_room_for_corpus(self.n, bytes, self.request.resources.threads);
        if has_room && bytes <= self.request.resources.in_memory { Ok(()) } else { self.move_to_disk() }
    }

    fn take_rejects(&mut self, batch: &Batch) -> Result<()> {
        if let (true, Some(reject)) = (self.request.strict, batch.rejects().first()) {
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
        let out = match &mut self.rejects {
            Some(out) => out,
            none => none.insert(self.files.create(&self.folder.join(REJECTS))?),
        };
        Ok(out.append(&lines)?)
    }

    fn create_table(&self) -> Result<TableWriter> {
        Ok(TableWriter::create(self.files, &self.folder, self.rows.layout())?)
    }

    /// From here on rows and texts are on disk only.
    fn move_to_disk(&mut self) -> Result<()> {
        let layout = self.rows.layout();
        let rows = std::mem::replace(&mut self.rows, Rows::new(layout));
        if let Some(checkpoint) = self.checkpoint.take() {
            self.held = HeldBatches::default();
            self.disk = Some(checkpoint);
            return Ok(());
        }
        let mut disk = self.create_table()?;
        for chunk in rows.chunks() {
            disk.append(chunk)?;
        }
        // One buffer for all: the memory is needed elsewhere.
        let mut lines = Vec::new();
        for batch in std::mem::take(&mut self.held).batches {
            match &self.again {
                Some(again) if batch.is_forgotten() => {
                    let whole = batch.recalled(again, lines)?;
                    append_texts(&whole, &mut disk)?;
                    lines = whole.into_lines();
                }
                _ => append_texts(&batch, &mut disk)?,
            }
        }
        self.again.as_ref().map_or(Ok(()), Again::check)?;
        self.held_bytes = 0;
        self.disk = Some(disk);
        Ok(())
    }
}

fn append_texts(batch: &Batch, disk: &mut TableWriter) -> Result<()> {
    for i in 0..batch.n_documents() {
        let mut outcome = Ok(());
        batch.with_text(i, &mut |text| outcome = disk.append_text(text));
        outcome?;
    }
    Ok(())
}

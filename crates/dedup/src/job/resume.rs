//! What was read, for a run that resumes this one: saved beside the stages that follow, and taken over.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use benzer_io::read::{Reader, Rereader};
use benzer_storage::{Error as DiskError, Manifest};

use super::budget::Budget;
use super::read::ReadCorpus;
use super::setup::{Checkpoints, Job, Setup};
use crate::corpus::{Corpus, HeldBatches};
use crate::documents::{BATCHES, DiskRowTable, DiskRowWriter, Documents, SavedTexts, TEXTS};
use crate::error::Result;
use crate::progress::Stage;
use crate::summary::{Counts, Summary};

/// Rows that are together in memory if their batches are not known.
const CHUNK: usize = 4096;

/// Whether what is saved is still wanted.
pub(super) type IsWanted<'a> = &'a (dyn Fn() -> bool + 'a);

/// Does `work` while another thread saves something. What is not finished when the work is leaves nothing; what goes wrong with it is a warning.
pub(super) fn saving<T>(
    save: Option<impl FnOnce(IsWanted<'_>) -> Result<()> + Send>,
    summary: &mut Summary,
    work: impl FnOnce(&mut Summary) -> Result<T>,
) -> Result<T> {
    let is_done = AtomicBool::new(false);
    let is_done = &is_done;
    let (done, saved) = thread::scope(|scope| {
        // Where the system has no thread for it, nothing is saved.
        let saver = save.and_then(|save| {
            let save = move || save(&|| !is_done.load(Ordering::Relaxed));
            thread::Builder::new().spawn_scoped(scope, save).ok()
        });
        let done = work(summary);
        is_done.store(true, Ordering::Relaxed);
        (done, saver.map_or(Ok(()), |saver| saver.join().unwrap_or_else(|panic| resume_unwind(panic))))
    });
    if let Err(error) = saved {
        summary.warnings.push(format!("nothing could be saved for a resumed run: {error}"));
    }
    done
}

impl Job<'_> {
    /// Saves rows in memory, and what their texts are found by.
    pub fn save_corpus(
        &self,
        corpus: &Corpus,
        mut manifest: Manifest,
        is_wanted: IsWanted<'_>,
    ) -> Result<()> {
        let Documents::Memory(table) = &corpus.documents else { return Ok(()) };
        let contents = if corpus.rereader.is_some() { BATCHES } else { TEXTS };
        let mut rows = DiskRowWriter::create(self.files, &self.folders.work, table.layout, contents)?;
        for (chunk, batch) in table.chunks.iter().zip(&corpus.held.batches) {
            if !is_wanted() {
                return Ok(());
            }
            rows.append(chunk)?;
            match &corpus.rereader {
                Some(_) => rows.append_batch(batch)?,
                None => rows.append_texts(batch)?,
            }
        }
        if rows.commit(&mut manifest, is_wanted)? {
            manifest.save(self.files, &self.folders.work)?;
        }
        Ok(())
    }
}

impl Setup<'_> {
    /// What an interrupted run has read: in memory if it fits. Nothing if there is nothing, or the inputs have to be read again.
    pub fn saved_corpus(
        &self,
        reader: &Reader,
        mut budget: Budget,
        checkpoints: &Checkpoints,
        summary: &mut Summary,
    ) -> Result<Option<ReadCorpus>> {
        let Some(manifest) = checkpoints.load(Stage::Read) else { return Ok(None) };
        let work = &self.folders.work;
        let table = DiskRowTable::open(work, self.ingest.layout())?;
        let bytes_of =
            |name: &str| manifest.files().iter().find(|file| file.name == name).map(|file| file.stamp.bytes);
        let all: u64 = manifest.files().iter().map(|file| file.stamp.bytes).sum();
        // A batch takes a third more in memory.
        let bytes = all - bytes_of(TEXTS).unwrap_or_default() + bytes_of(BATCHES).unwrap_or_default() / 3;
        let (inputs, threads) = (reader.inputs().to_vec(), self.request.resources.threads);
        let rereader = match bytes_of(BATCHES) {
            Some(_) => self.rereader(&inputs, reader.progress().bytes_total(), &mut budget)?,
            None => None,
        };
        let has_room =
            budget.has_room_for_corpus(table.n.into(), bytes) && bytes <= self.request.resources.in_memory;
        let mut held = HeldBatches::default();
        let documents = match (bytes_of(BATCHES), &rereader) {
            (Some(_), Some(rereader)) if has_room => {
                let Some(batches) = self.saved_batches(reader, rereader, table.n)? else { return Ok(None) };
                held = batches;
                let lengths: Vec<u32> = held.batches.iter().map(|batch| batch.n_documents() as u32).collect();
                Documents::Memory(table.load(&lengths, threads)?)
            }
            (Some(_), _) => return Ok(None),
            (None, _) if has_room => {
                let starts = (0..table.n).step_by(CHUNK);
                let lengths: Vec<u32> = starts.map(|start| (table.n - start).min(CHUNK as u32)).collect();
                Documents::Memory(table.load(&lengths, threads)?)
            }
            (None, _) => Documents::Disk(table),
        };
        match &documents {
            Documents::Memory(_) => budget.keep_corpus(bytes),
            Documents::Disk(_) => summary.spilled_bytes += all,
        }
        let texts = rereader.is_none().then(|| SavedTexts::open(work)).transpose()?;
        let corpus = Corpus { inputs, documents, held, texts, rereader, ids: Mutex::default() };
        summary.counts = Counts::from_manifest(&manifest);
        summary.resumed(Stage::Read);
        Ok(Some(ReadCorpus { corpus, budget, saves: true, unsaved: None }))
    }

    /// The batches of so many rows; nothing if they are not those.
    fn saved_batches(&self, reader: &Reader, rereader: &Rereader, n: u32) -> Result<Option<HeldBatches>> {
        let path = self.folders.work.join(BATCHES);
        let bytes = std::fs::read(&path).map_err(|error| DiskError::disk("read", &path, error))?;
        let (mut rest, mut held, mut n_found) = (&bytes[..], HeldBatches::default(), 0);
        while !rest.is_empty() {
            let Some(batch) = reader.saved_batch(rereader, &mut rest) else { return Ok(None) };
            n_found += batch.n_documents();
            held.push(batch);
        }
        Ok((n_found == n as usize).then_some(held))
    }
}

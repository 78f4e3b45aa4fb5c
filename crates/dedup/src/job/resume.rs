//! What was read, for a run that resumes this one: saved beside the stages that follow, and taken over.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use benzer_io::read::{Reader, SavedBatches};
use benzer_storage::{Error as DiskError, Manifest, MappedFile};

use super::budget::Budget;
use super::read::ReadCorpus;
use super::setup::{Checkpoints, Job, Setup};
use crate::corpus::{Batches, Corpus};
use crate::documents::{BATCHES, RowTable, RowsWriter, SavedRows, SavedTexts, TEXTS};
use crate::error::Result;
use crate::progress::Stage;
use crate::summary::{Counts, Summary};

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
        let RowTable::Held(table) = &corpus.documents else { return Ok(()) };
        let contents = if corpus.rereader.is_some() { BATCHES } else { TEXTS };
        let mut rows = RowsWriter::create(self.files, &self.folders.work, table.layout, contents)?;
        for (chunk, batch) in table.chunks.iter().zip(corpus.batches.held()) {
            if !is_wanted() {
                return Ok(());
            }
            rows.append(chunk)?;
            rows.append_contents(batch)?;
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
        let threads = self.request.resources.threads;
        let rows = SavedRows::open(work, self.ingest.layout(), &manifest, threads)?;
        let all: u64 = manifest.files().iter().map(|file| file.stamp.bytes).sum();
        let has_batches = manifest.files().iter().any(|file| file.name == BATCHES);
        let (mut batches, mut texts, mut rereader) = (Batches::default(), None, None);
        if has_batches {
            rereader = self.rereader(reader, &mut budget)?;
            let saved = self.saved_batches(&manifest)?;
            if rereader.is_none() || !saved.has_documents(rows.n) {
                return Ok(None);
            }
            batches = Batches::saved(saved);
        } else {
            texts = Some(SavedTexts::open(work)?);
        }
        let has_room = budget.has_room_for_corpus(rows.n.into(), rows.bytes())
            && rows.bytes() <= self.request.resources.in_memory;
        budget.keep_corpus(if has_room { rows.bytes() } else { 0 });
        let documents = match has_room {
            true => RowTable::Held(rows.load(threads)),
            false => {
                summary.spilled_bytes += all;
                RowTable::Saved(rows)
            }
        };
        let corpus = Corpus { inputs: reader.inputs().to_vec(), documents, batches, texts, rereader };
        summary.counts = Counts::from_manifest(&manifest);
        summary.resumed(Stage::Read);
        Ok(Some(ReadCorpus { corpus, budget, saves: Some(true), unsaved: None }))
    }

    /// The batches that a manifest names.
    pub fn saved_batches(&self, manifest: &Manifest) -> Result<SavedBatches> {
        let path = self.folders.work.join(BATCHES);
        let stamp = manifest.files().iter().find(|file| file.name == BATCHES).map(|file| file.stamp);
        let damaged = || DiskError::damaged(&path, "batches of documents", "other bytes");
        let file = MappedFile::open_checked(&path, &stamp.ok_or_else(damaged)?)?;
        Ok(SavedBatches::open(file).ok_or_else(damaged)?)
    }
}

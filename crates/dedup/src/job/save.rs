//! Saving what was kept: for later runs against it.

use benzer_core::field::text::Scratch;
use benzer_flow::workers::in_parallel;
use benzer_storage::Stamp;

use super::old::ArchiveGrowth;
use super::setup::Job;
use crate::archive::{self as archives, Added, Entry, Growth, Shape, sorted_elements};
use crate::corpus::CorpusView;
use crate::decide::Removal;
use crate::documents::Row;
use crate::error::Result;
use crate::request::{Output, SAVED};

/// Documents whose features are made together, and by one thread.
const TOGETHER: usize = 4096;
const TASK: usize = 64;

impl Job<'_> {
    /// Adds the kept documents to the archive, and gives the files of one inside the output folder.
    pub fn save(
        &self,
        view: &CorpusView<'_>,
        removals: &[Removal],
        growth: &ArchiveGrowth,
    ) -> Result<Vec<(String, Stamp)>> {
        let Some(folder) = &self.request.results.save else { return Ok(Vec::new()) };
        if self.request.results.write == Output::DryRun {
            return Ok(Vec::new());
        }
        if growth.is_saved {
            archives::remove_unnamed(self.files, folder, &archives::Manifest::load(folder)?)?;
            return Ok(Vec::new());
        }
        self.files.create_dir_all(folder)?;
        let shape = Shape { spec: self.ingest.spec(), banding: self.banding() };
        let manifest = match folder.join(archives::MANIFEST).exists() {
            true => archives::Manifest::load(folder)?,
            false => archives::Manifest::new(shape.spec, shape.banding),
        };
        let rows = kept_rows(view, removals);
        let (first, documents) = (manifest.len(), rows.len() as u64);
        let mut archive = Growth::begin(folder, manifest, documents, shape, self.workspace())?;
        for rows in rows.chunks(TOGETHER) {
            self.save_rows(view, rows, &mut archive)?;
            self.check_cancelled()?;
        }
        let ArchiveGrowth { inputs, run, .. } = growth;
        let added = Added { inputs: inputs.clone(), fingerprint: run.clone(), first, documents };
        let files = archive.finish(added)?;
        if *folder != self.request.own_archive() {
            return Ok(Vec::new());
        }
        Ok(files.into_iter().map(|(name, stamp)| (format!("{SAVED}/{}", name.display()), stamp)).collect())
    }

    fn save_rows(&self, view: &CorpusView<'_>, rows: &[Row], archive: &mut Growth<'_>) -> Result<()> {
        let tasks: Vec<&[Row]> = rows.chunks(TASK).collect();
        let state = <(Scratch, Vec<u64>)>::default;
        let made = in_parallel(
            tasks.len(),
            self.request.resources.threads,
            state,
            |i, (scratch, own)| -> Result<_> {
                let mut sets = Vec::new();
                for &row in tasks[i] {
                    view.corpus.with_text(row, &mut |text| {
                        sets.push(sorted_elements(&self.ingest.shingler, text, scratch, own).to_vec());
                    })?;
                }
                Ok(sets)
            },
        );
        let sets = made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten();
        let documents = &view.corpus.documents;
        for (&row, features) in rows.iter().zip(sets) {
            let (place, id) = (documents.place(row), documents.id(row));
            let entry = Entry {
                hash: documents.hash(row),
                words: documents.words(row),
                id,
                file: &view.corpus.inputs[place.input as usize].relative.to_string_lossy(),
                line: place.line,
                features: &features,
            };
            archive.push(&entry)?;
        }
        Ok(())
    }
}

/// The rows of the kept documents that have a text, in order.
fn kept_rows(view: &CorpusView<'_>, removals: &[Removal]) -> Vec<Row> {
    let mut removed: Vec<Row> = removals.iter().map(|removal| view.ranking.row(removal.removed())).collect();
    removed.sort_unstable();
    let mut removed = removed.into_iter().peekable();
    let documents = &view.corpus.documents;
    let is_kept = |row: &Row| removed.next_if_eq(row).is_none() && documents.place(*row).text_bytes > 0;
    Row::all(documents.len()).filter(is_kept).collect()
}

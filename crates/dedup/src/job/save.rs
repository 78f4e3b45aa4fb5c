//! Saving what was kept: for later runs against it.

use benzer_core::field::text::Scratch;

use super::old::Sources;
use super::stages::Run;
use crate::archive::{self, Added, Entry, Growth, Shape, sorted_elements};
use crate::corpus::CorpusView;
use crate::decide::Removal;
use crate::error::Result;
use crate::request::{Output, SAVED};
use benzer_flow::workers::in_parallel;
use benzer_storage::Stamp;

/// Documents whose features are made together, and by one thread.
const TOGETHER: usize = 4096;
const TASK: usize = 64;

impl Run<'_> {
    /// Adds the kept documents to the archive, and gives the files of one inside the output folder.
    pub(super) fn save(&self, ranked: &CorpusView<'_>, removals: &[Removal]) -> Result<Vec<(String, Stamp)>> {
        let Some(folder) = &self.request.results.save else { return Ok(Vec::new()) };
        if self.request.results.write == Output::DryRun {
            return Ok(Vec::new());
        }
        if self.sources.is_saved {
            archive::remove_unnamed(self.files, folder, &archive::Manifest::load(folder)?)?;
            return Ok(Vec::new());
        }
        self.files.create_dir_all(folder)?;
        let shape = Shape { spec: self.ingest.spec(), banding: self.banding() };
        let manifest = match folder.join(archive::MANIFEST).exists() {
            true => archive::Manifest::load(folder)?,
            false => archive::Manifest::new(shape.spec, shape.banding),
        };
        let rows = self.kept_rows(ranked, removals)?;
        let (first, documents) = (manifest.len(), rows.len() as u64);
        let mut growth = Growth::begin(folder, manifest, documents, shape, self.room())?;
        for rows in rows.chunks(TOGETHER) {
            self.save_rows(ranked, rows, &mut growth)?;
            Self::check_cancelled(self.observer)?;
        }
        let Sources { inputs, run, .. } = &self.sources;
        let added = Added { inputs: inputs.clone(), fingerprint: run.clone(), first, documents };
        let files = growth.finish(added)?;
        if *folder != self.request.own_archive() {
            return Ok(Vec::new());
        }
        Ok(files.into_iter().map(|(name, stamp)| (format!("{SAVED}/{}", name.display()), stamp)).collect())
    }

    /// The rows of the kept documents that have a text, in order.
    fn kept_rows(&self, ranked: &CorpusView<'_>, removals: &[Removal]) -> Result<Vec<u32>> {
        let mut removed: Vec<u32> =
            removals.iter().map(|removal| ranked.ranking.row(removal.removed())).collect();
        removed.sort_unstable();
        let mut removed = removed.into_iter().peekable();
        let mut rows = Vec::new();
        for (record, row) in ranked.corpus.documents.rows()?.zip(0..) {
            let (_, place) = record?;
            if removed.next_if_eq(&row).is_none() && place.text_bytes > 0 {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn save_rows(&self, ranked: &CorpusView<'_>, rows: &[u32], growth: &mut Growth<'_>) -> Result<()> {
        let tasks: Vec<&[u32]> = rows.chunks(TASK).collect();
        let state = <(Scratch, Vec<u64>)>::default;
        let made = in_parallel(
            tasks.len(),
            self.request.resources.threads,
            state,
            |i, (scratch, own)| -> Result<_> {
                let mut sets = Vec::new();
                for &row in tasks[i] {
                    ranked.corpus.with_text(row, &mut |text| {
                        sets.push(sorted_elements(&self.ingest.shingler, text, scratch, own).to_vec());
                    })?;
                }
                Ok(sets)
            },
        );
        let sets = made.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten();
        let documents = &ranked.corpus.documents;
        for (&row, features) in rows.iter().zip(sets) {
            let (place, id) = (documents.place(row)?, documents.id(row)?);
            let entry = Entry {
                hash: documents.hash(row)?,
                words: &documents.words(row)?,
                id: id.as_deref(),
                file: &ranked.corpus.inputs[place.input as usize].relative.to_string_lossy(),
                line: place.line,
                features: &features,
            };
            growth.push(&entry)?;
        }
        Ok(())
    }
}

//! The corpus of a run: the table of documents, their texts, and how to name them.

use std::borrow::Cow;
use std::sync::Arc;

use twox_hash::XxHash3_128;

use crate::documents::{Firsts, Row, RowTable, SavedTexts};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::ranking::Ranking;
use benzer_io::read::{Batch, Input, Rereader, SavedBatches};
use benzer_join::bands::Sketches;
use benzer_join::verify::Texts;
use benzer_join::{Prefetch, Rank};

#[derive(Debug)]
pub(crate) struct Corpus {
    pub inputs: Vec<Arc<Input>>,
    pub documents: RowTable,
    /// All batches, if texts and lines are found by them.
    pub batches: Batches,
    /// Else the texts; lines are read again with the inputs.
    pub texts: Option<SavedTexts>,
    /// Where batches that gave up their lines find them again.
    pub rereader: Option<Rereader>,
}

/// The batches of the inputs in order.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    firsts: Firsts,
    kept: KeptBatches,
}

#[derive(Debug)]
pub(crate) enum KeptBatches {
    Held(Vec<Batch>),
    /// In the work folder, without their lines.
    Saved(SavedBatches),
}

impl Default for KeptBatches {
    fn default() -> Self {
        Self::Held(Vec::new())
    }
}

impl Batches {
    /// Adds a batch, whose documents have the next rows, to those in memory.
    pub fn push(&mut self, batch: Batch) {
        self.firsts.push(batch.n_documents() as u32);
        match &mut self.kept {
            KeptBatches::Held(batches) => batches.push(batch),
            KeptBatches::Saved(_) => unreachable!("saved batches are all there"),
        }
    }

    /// All of them, in the work folder.
    pub fn saved(batches: SavedBatches) -> Self {
        let mut firsts = Firsts::default();
        (0..batches.len()).for_each(|i| firsts.push(batches.n_documents(i) as u32));
        Self { firsts, kept: KeptBatches::Saved(batches) }
    }

    pub fn len(&self) -> usize {
        match &self.kept {
            KeptBatches::Held(batches) => batches.len(),
            KeptBatches::Saved(batches) => batches.len(),
        }
    }

    pub fn kept(&self) -> &KeptBatches {
        &self.kept
    }

    /// Those in memory.
    pub fn held(&self) -> &[Batch] {
        match &self.kept {
            KeptBatches::Held(batches) => batches,
            KeptBatches::Saved(_) => &[],
        }
    }

    /// Gives up those in memory.
    pub fn take(&mut self) -> Vec<Batch> {
        match std::mem::take(self).kept {
            KeptBatches::Held(batches) => batches,
            KeptBatches::Saved(_) => Vec::new(),
        }
    }

    /// The row of the first document of a batch.
    pub fn first(&self, batch: usize) -> Row {
        self.firsts.first(batch)
    }
}

impl Corpus {
    /// The id of a row: that of the id field, or file and line.
    pub fn id(&self, row: Row) -> Cow<'_, str> {
        match self.documents.id(row) {
            Some(id) => std::str::from_utf8(id).map_or_else(|_| String::from_utf8_lossy(id), Cow::Borrowed),
            None => {
                let place = self.documents.place(row);
                let input = &self.inputs[place.input as usize];
                Cow::Owned(format!("{}:{}", input.relative.display(), place.line))
            }
        }
    }

    /// The text of a row will be wanted soon.
    fn prefetch(&self, row: Row, what: Prefetch) {
        let (KeptBatches::Held(batches), Some(rereader)) = (&self.batches.kept, &self.rereader) else {
            return;
        };
        let (batch, index) = self.batches.firsts.find(row);
        match what {
            Prefetch::Place => {
                self.documents.prefetch_hash(row);
                batches[batch].prefetch_place(index);
            }
            Prefetch::Text => batches[batch].prefetch_text(index, rereader),
        }
    }

    pub fn with_text(&self, row: Row, visit: &mut dyn FnMut(&str)) -> Result<()> {
        if let Some(texts) = &self.texts {
            visit(&String::from_utf8_lossy(&texts.text(&self.documents.place(row))?));
            return Ok(());
        }
        let (i, index) = self.batches.firsts.find(row);
        let (hash, mut is_same) = (self.documents.hash(row), true);
        let mut checked = |text: &str| {
            is_same = XxHash3_128::oneshot(text.as_bytes()) == hash;
            if is_same {
                visit(text);
            }
        };
        match (&self.batches.kept, &self.rereader) {
            (KeptBatches::Held(batches), Some(rereader)) if batches[i].is_forgotten() => {
                batches[i].reread_text(index, rereader, &mut checked)?;
            }
            (KeptBatches::Held(batches), _) => batches[i].with_text(index, visit),
            (KeptBatches::Saved(batches), Some(rereader)) => {
                batches.reread_text(i, index, rereader, &mut checked)?;
            }
            (KeptBatches::Saved(_), None) => unreachable!("batches are saved for inputs that are read again"),
        }
        if is_same { Ok(()) } else { Err(benzer_io::Error::Changed.into()) }
    }
}

/// The corpus in keep order, and behind it the old documents that it matches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CorpusView<'a> {
    pub corpus: &'a Corpus,
    pub ranking: &'a Ranking,
    pub found_old: &'a FoundOld,
}

impl<'a> CorpusView<'a> {
    /// How many documents the corpus has, old ones not counted.
    pub fn len(&self) -> u32 {
        self.corpus.documents.len()
    }

    pub fn id(&self, rank: Rank) -> Result<Cow<'a, str>> {
        match self.found_old.at(rank) {
            Some(old) => Ok(Cow::Owned(self.found_old.archives.id(old)?)),
            None => Ok(self.corpus.id(self.ranking.row(rank))),
        }
    }

    /// [`CorpusView::id`] as bytes, which are UTF-8. Those of the corpus were cut out of text, and are not looked at again.
    pub fn id_bytes(&self, rank: Rank) -> Result<Cow<'a, [u8]>> {
        if !self.is_old(rank)
            && let Some(id) = self.corpus.documents.id(self.ranking.row(rank))
        {
            return Ok(Cow::Borrowed(id));
        }
        Ok(match self.id(rank)? {
            Cow::Borrowed(id) => Cow::Borrowed(id.as_bytes()),
            Cow::Owned(id) => Cow::Owned(id.into_bytes()),
        })
    }

    /// The sketch and the place of a document will be wanted soon.
    pub fn prefetch_row(&self, rank: Rank) {
        if !self.is_old(rank) {
            self.corpus.documents.prefetch_row(self.ranking.row(rank));
        }
    }

    pub fn is_old(&self, rank: Rank) -> bool {
        rank.0 >= self.len()
    }

    /// The file and the line or row of a document.
    pub fn file_and_row(&self, rank: Rank) -> Result<(Cow<'a, str>, u64)> {
        if let Some(old) = self.found_old.at(rank) {
            let name = self.found_old.archives.segment(old).name(old.number)?;
            return Ok((Cow::Owned(name.file), name.line));
        }
        let place = self.corpus.documents.place(self.ranking.row(rank));
        Ok((self.corpus.inputs[place.input as usize].relative.to_string_lossy(), place.line))
    }

    /// Documents with the same key are in the same file.
    pub fn file_key(&self, rank: Rank) -> Result<u64> {
        match self.is_old(rank) {
            true => Ok(1 << 32 | u64::from(rank.0)),
            false => Ok(self.corpus.documents.place(self.ranking.row(rank)).input.into()),
        }
    }

    pub fn words(&self, rank: Rank) -> Result<Cow<'a, [u64]>> {
        if let Some(old) = self.found_old.at(rank) {
            return Ok(Cow::Owned(self.found_old.archives.segment(old).row(old.number)?.words));
        }
        Ok(Cow::Borrowed(self.corpus.documents.words(self.ranking.row(rank))))
    }

    pub fn with_texts(&self, a: Rank, b: Rank, visit: &mut dyn FnMut(&str, &str)) -> Result<()> {
        let mut outcome = Ok(());
        self.with_text(a, &mut |a| outcome = self.with_text(b, &mut |b| visit(a, b)))?;
        Ok(outcome?)
    }
}

impl Texts for CorpusView<'_> {
    fn bytes(&self, rank: Rank) -> benzer_flow::Result<u64> {
        Ok(self.corpus.documents.place(self.ranking.row(rank)).text_bytes.into())
    }

    fn with_text(&self, rank: Rank, visit: &mut dyn FnMut(&str)) -> benzer_flow::Result<()> {
        Ok(self.corpus.with_text(self.ranking.row(rank), visit)?)
    }

    fn prefetch(&self, rank: Rank, what: Prefetch) {
        self.corpus.prefetch(self.ranking.row(rank), what);
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedSketches<'a> {
    pub table: &'a RowTable,
    pub ranking: &'a Ranking,
}

impl Sketches for RankedSketches<'_> {
    #[inline]
    fn sketch(&self, rank: Rank) -> &[u64] {
        self.table.words(self.ranking.row(rank))
    }
}

//! The corpus of a run: the table of documents, their texts, and how to name them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use twox_hash::XxHash3_128;

use crate::documents::{Documents, Firsts, Row, RowTable, SavedTexts};
use crate::error::Result;
use crate::found_old::FoundOld;
use crate::ranking::Ranking;
use benzer_io::read::{Batch, Input, Rereader};
use benzer_join::bands::Sketches;
use benzer_join::verify::Texts;
use benzer_join::{Prefetch, Rank};

#[derive(Debug)]
pub(crate) struct Corpus {
    pub inputs: Vec<Arc<Input>>,
    pub documents: Documents,
    /// All batches, if texts and lines are found in them.
    pub held: HeldBatches,
    /// Else the texts; lines are read again with the inputs.
    pub texts: Option<SavedTexts>,
    /// Where batches that gave up their lines find them again.
    pub rereader: Option<Rereader>,
    /// Ids that were read from disk lately.
    pub ids: Mutex<HashMap<Row, Arc<str>>>,
}

#[derive(Debug, Default)]
pub(crate) struct HeldBatches {
    firsts: Firsts,
    pub batches: Vec<Batch>,
}

impl HeldBatches {
    /// Adds a batch, whose documents have the next rows.
    pub fn push(&mut self, batch: Batch) {
        self.firsts.push(batch.n_documents() as u32);
        self.batches.push(batch);
    }

    /// The row of the first document of a batch.
    pub fn first(&self, batch: usize) -> Row {
        self.firsts.first(batch)
    }

    #[inline]
    fn find(&self, row: Row) -> (&Batch, usize) {
        let (batch, index) = self.firsts.find(row);
        (&self.batches[batch], index)
    }
}

/// So many ids are remembered.
const REMEMBERED: usize = 1 << 15;

impl Corpus {
    /// The id of a row: that of the id field, or file and line.
    pub fn id(&self, row: Row) -> Result<Cow<'_, str>> {
        if let Documents::Memory(table) = &self.documents
            && let Some(id) = table.id(row)
        {
            return Ok(std::str::from_utf8(id).map_or_else(|_| String::from_utf8_lossy(id), Cow::Borrowed));
        }
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = ids.get(&row) {
            return Ok(Cow::Owned(id.to_string()));
        }
        let id = match self.documents.id(row)? {
            Some(id) => String::from_utf8_lossy(&id).into_owned(),
            None => {
                let place = self.documents.place(row)?;
                format!("{}:{}", self.inputs[place.input as usize].relative.display(), place.line)
            }
        };
        if ids.len() == REMEMBERED {
            ids.clear();
        }
        ids.insert(row, id.as_str().into());
        Ok(Cow::Owned(id))
    }

    /// The text of a row will be wanted soon.
    fn prefetch(&self, row: Row, what: Prefetch) {
        let (Documents::Memory(table), Some(rereader)) = (&self.documents, &self.rereader) else { return };
        let (batch, index) = self.held.find(row);
        match what {
            Prefetch::Place => {
                table.prefetch_hash(row);
                batch.prefetch_place(index);
            }
            Prefetch::Text => batch.prefetch_text(index, rereader),
        }
    }

    pub fn with_text(&self, row: Row, visit: &mut dyn FnMut(&str)) -> Result<()> {
        if let Some(texts) = &self.texts {
            visit(&String::from_utf8_lossy(&texts.text(&self.documents.place(row)?)?));
            return Ok(());
        }
        let (batch, index) = self.held.find(row);
        let Some(rereader) = self.rereader.as_ref().filter(|_| batch.is_forgotten()) else {
            batch.with_text(index, visit);
            return Ok(());
        };
        let (hash, mut is_same) = (self.documents.hash(row)?, true);
        let mut visit = |text: &str| {
            is_same = XxHash3_128::oneshot(text.as_bytes()) == hash;
            if is_same {
                visit(text);
            }
        };
        batch.reread_text(index, rereader, &mut visit)?;
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
            None => self.corpus.id(self.ranking.row(rank)),
        }
    }

    /// [`CorpusView::id`] as bytes, which are UTF-8. Those in memory were cut out of text, and are not looked at again.
    pub fn id_bytes(&self, rank: Rank) -> Result<Cow<'a, [u8]>> {
        if !self.is_old(rank)
            && let Documents::Memory(table) = &self.corpus.documents
            && let Some(id) = table.id(self.ranking.row(rank))
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
        if let (Documents::Memory(table), false) = (&self.corpus.documents, self.is_old(rank)) {
            table.prefetch_row(self.ranking.row(rank));
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
        let place = self.corpus.documents.place(self.ranking.row(rank))?;
        Ok((self.corpus.inputs[place.input as usize].relative.to_string_lossy(), place.line))
    }

    /// Documents with the same key are in the same file.
    pub fn file_key(&self, rank: Rank) -> Result<u64> {
        match self.is_old(rank) {
            true => Ok(1 << 32 | u64::from(rank.0)),
            false => Ok(self.corpus.documents.place(self.ranking.row(rank))?.input.into()),
        }
    }

    pub fn words(&self, rank: Rank) -> Result<Cow<'a, [u64]>> {
        if let Some(old) = self.found_old.at(rank) {
            return Ok(Cow::Owned(self.found_old.archives.segment(old).row(old.number)?.words));
        }
        self.corpus.documents.words(self.ranking.row(rank))
    }

    pub fn with_texts(&self, a: Rank, b: Rank, visit: &mut dyn FnMut(&str, &str)) -> Result<()> {
        let mut outcome = Ok(());
        self.with_text(a, &mut |a| outcome = self.with_text(b, &mut |b| visit(a, b)))?;
        Ok(outcome?)
    }
}

impl Texts for CorpusView<'_> {
    fn bytes(&self, rank: Rank) -> benzer_flow::Result<u64> {
        Ok(self.corpus.documents.place(self.ranking.row(rank))?.text_bytes.into())
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

    fn place(&self, rank: Rank) -> u32 {
        self.ranking.row(rank).0
    }

    fn rank_at(&self, place: u32) -> Rank {
        self.ranking.rank(Row(place))
    }
}

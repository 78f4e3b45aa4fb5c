//! What becomes of each row of a run.

use std::collections::HashMap;
use std::ops::Range;

use benzer_io::read::Batch;
use benzer_io::rewrite::Annotation;
use benzer_join::{Estimates, Rank};

use super::evidence::similarity;
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::documents::Row;
use crate::error::Result;

pub(crate) struct RunVerdicts<'a> {
    view: CorpusView<'a>,
    /// One bit for each row.
    removed: Vec<u64>,
    /// Whether documents are marked instead of removed.
    pub annotates: bool,
    removals: &'a [Removal],
    /// Documents of each cluster, by the rank of its kept one.
    sizes: HashMap<Rank, u64>,
    estimates: &'a Estimates,
}

impl<'a> RunVerdicts<'a> {
    /// `by_keeper` has the removals by kept and then by removed document.
    pub fn new(
        view: CorpusView<'a>,
        removals: &'a [Removal],
        by_keeper: &[Removal],
        estimates: &'a Estimates,
        annotates: bool,
    ) -> Self {
        let mut removed = vec![0; view.len() as usize / 64 + 1];
        for removal in removals {
            let row = view.ranking.row(removal.removed()).index();
            removed[row / 64] |= 1 << (row % 64);
        }
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept()).filter(|_| annotates);
        let sizes = clusters.map(|cluster| (cluster[0].kept(), cluster.len() as u64 + 1)).collect();
        Self { view, removed, annotates, removals, sizes, estimates }
    }

    fn kept(&self, rank: Rank) -> Result<Annotation> {
        let size = self.sizes.get(&rank).copied();
        let cluster_id = size.map(|_| self.view.id(rank)).transpose()?.map(String::from);
        Ok(Annotation {
            cluster_id,
            cluster_size: size.unwrap_or(1),
            dup_of: None,
            similarity: None,
            is_duplicate: false,
        })
    }

    /// The marks of one that would be removed.
    fn duplicate(&self, removal: &Removal) -> Result<Annotation> {
        let keeper = self.view.id(removal.kept())?.into_owned();
        let similarity = similarity(&removal.edge, removal.rule != Rule::Estimate, self.estimates);
        Ok(Annotation {
            cluster_id: Some(keeper.clone()),
            cluster_size: self.sizes.get(&removal.kept()).copied().unwrap_or(1),
            dup_of: Some(keeper),
            similarity: Some(similarity),
            is_duplicate: true,
        })
    }

    /// Whether it is left out of the output.
    pub fn is_removed(&self, row: Row) -> bool {
        !self.annotates && self.removed[row.index() / 64] >> (row.0 % 64) & 1 == 1
    }

    /// The marks of a document, if documents are marked instead of removed.
    pub fn annotation(&self, row: Row) -> Result<Option<Annotation>> {
        if !self.annotates {
            return Ok(None);
        }
        let rank = self.view.ranking.rank(row);
        let found = self.removals.binary_search_by_key(&rank, Removal::removed);
        found.map_or_else(|_| self.kept(rank), |i| self.duplicate(&self.removals[i])).map(Some)
    }

    /// The line of a row.
    pub fn line(&self, row: Row) -> Result<u64> {
        Ok(self.view.corpus.documents.place(row).line)
    }

    /// The rows of an input.
    pub fn rows_of(&self, input: u32) -> Result<Range<u32>> {
        Ok(self.first(input, 0)?..self.first(input + 1, 0)?)
    }

    /// The rows of a batch that was read again.
    pub fn rows_of_batch(&self, batch: &Batch) -> Result<Range<u32>> {
        let n = batch.n_documents() as u32;
        let place = |i: u32| batch.document(i as usize).map(|document| (document.input, document.line));
        let Some((first, last)) = place(0).zip(place(n.wrapping_sub(1))) else { return Ok(0..0) };
        let row = self.first(first.0, first.1)?;
        let is_there = row.checked_add(n).is_some_and(|end| end <= self.view.len());
        match is_there && self.place(row)? == first && self.place(row + n - 1)? == last {
            true => Ok(row..row + n),
            false => Err(benzer_io::Error::Changed.into()),
        }
    }

    /// The first row that does not lie before an input and a line.
    fn first(&self, input: u32, line: u64) -> Result<u32> {
        let (mut from, mut to) = (0, self.view.len());
        while from < to {
            let middle = from + (to - from) / 2;
            match self.place(middle)? < (input, line) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        Ok(from)
    }

    /// The input and the line of a row.
    fn place(&self, row: u32) -> Result<(u32, u64)> {
        let place = self.view.corpus.documents.place(Row(row));
        Ok((place.input, place.line))
    }
}

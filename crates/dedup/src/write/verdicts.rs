//! What becomes of each row of a run.

use std::collections::HashMap;

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

    /// The input and the line of a row, if there is such a row.
    pub fn place(&self, row: Row) -> Result<Option<(u32, u64)>> {
        if row.0 >= self.view.len() {
            return Ok(None);
        }
        let place = self.view.corpus.documents.place(row)?;
        Ok(Some((place.input, place.line)))
    }
}

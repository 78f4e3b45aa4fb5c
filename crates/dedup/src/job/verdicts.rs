//! What becomes of each row of a run.

use std::collections::HashMap;

use benzer_io::rewrite::Annotation;
use benzer_join::{Estimates, Rank};

use super::decided::ResultWriter;
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::documents::Row;
use crate::error::Result;
use crate::request::Output;
use crate::write::{self, Verdicts};

pub(super) struct RunVerdicts<'a> {
    view: CorpusView<'a>,
    /// One bit for each row.
    removed: Vec<u64>,
    pub annotates: bool,
    removals: &'a [Removal],
    /// Documents of each cluster, by the rank of its kept one.
    sizes: HashMap<Rank, u64>,
    estimates: &'a Estimates,
}

impl<'a> RunVerdicts<'a> {
    pub fn new(writer: &ResultWriter<'a>) -> Self {
        let ResultWriter { job, view, decided, by_keeper, .. } = *writer;
        let mut removed = vec![0; view.len() as usize / 64 + 1];
        for removal in decided.removals {
            let row = view.ranking.row(removal.removed()).index();
            removed[row / 64] |= 1 << (row % 64);
        }
        let annotates = job.request.results.write == Output::Annotate;
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept()).filter(|_| annotates);
        let sizes = clusters.map(|cluster| (cluster[0].kept(), cluster.len() as u64 + 1)).collect();
        Self { view, removed, annotates, removals: decided.removals, sizes, estimates: job.estimates }
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
        let similarity = write::similarity(&removal.edge, removal.rule != Rule::Estimate, self.estimates);
        Ok(Annotation {
            cluster_id: Some(keeper.clone()),
            cluster_size: self.sizes.get(&removal.kept()).copied().unwrap_or(1),
            dup_of: Some(keeper),
            similarity: Some(similarity),
            is_duplicate: true,
        })
    }
}

impl Verdicts for RunVerdicts<'_> {
    fn annotates(&self) -> bool {
        self.annotates
    }

    fn is_removed(&self, row: Row) -> bool {
        !self.annotates && self.removed[row.index() / 64] >> (row.0 % 64) & 1 == 1
    }

    fn annotation(&self, row: Row) -> Result<Option<Annotation>> {
        if !self.annotates {
            return Ok(None);
        }
        let rank = self.view.ranking.rank(row);
        let found = self.removals.binary_search_by_key(&rank, Removal::removed);
        found.map_or_else(|_| self.kept(rank), |i| self.duplicate(&self.removals[i])).map(Some)
    }

    fn place(&self, row: Row) -> Result<Option<(u32, u64)>> {
        if row.0 >= self.view.len() {
            return Ok(None);
        }
        let place = self.view.corpus.documents.place(row)?;
        Ok(Some((place.input, place.line)))
    }
}

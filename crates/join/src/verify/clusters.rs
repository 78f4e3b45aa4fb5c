//! Pairs whose documents have the same origin: most of a cluster.
//!
//! Its documents are held as sets of bits (the module `bits`) if those are small enough, and as sets of numbers (the module `numbered`) if not.

use benzer_flow::Result;

use super::bits::Bits;
use super::documents::Documents;
use super::edges::TaskEdges;
use super::features::{FeatureSource, Features};
use super::numbered::NumberedSets;
use super::pair::{PairCount, PairFilter};
use crate::{Edge, bands::Candidates};

/// Compares the documents of clusters. Each thread has its own.
#[derive(Default)]
pub(super) struct ClusterComparer {
    features: Features,
    bits: Bits,
    numbered: NumberedSets,
    documents: Documents,
    /// The earlier documents of one later one, and what it shares with them.
    places: Vec<u32>,
    counts: Vec<u32>,
    found: Vec<Edge>,
}

impl ClusterComparer {
    /// Appends the wanted edges of each group.
    pub fn run(
        &mut self,
        groups: &[Candidates<'_>],
        sources: FeatureSource<'_>,
        wanted: PairFilter,
        edges: &mut TaskEdges,
    ) -> Result<()> {
        if let [Candidates { later, earlier: &[earlier] }] = *groups {
            let count = self.features.compare(later, earlier, sources)?;
            edges.edges.extend(wanted.keeps(count).then(|| count.edge(later, earlier)));
            edges.end_list();
            return Ok(());
        }
        self.documents.list(groups);
        if self.bits.hold(&self.documents.ranks, &mut self.features, sources)? {
            self.count(groups, wanted, edges);
            return Ok(());
        }
        let mut counts = self.numbered.count(groups, &mut self.features, sources)?.iter();
        for &Candidates { later, earlier } in groups {
            for (&earlier, &count) in earlier.iter().zip(&mut counts) {
                if wanted.keeps(count) {
                    edges.edges.push(count.edge(later, earlier));
                }
            }
            edges.end_list();
        }
        Ok(())
    }

    /// [`ClusterComparer::run`] of documents that are held as bits.
    fn count(&mut self, groups: &[Candidates<'_>], wanted: PairFilter, edges: &mut TaskEdges) {
        for &Candidates { later, earlier } in groups {
            self.places.clear();
            self.places.extend(earlier.iter().map(|rank| self.documents.place(*rank)));
            let place = self.documents.place(later);
            self.bits.count(place as usize, &self.places, &mut self.counts);
            let size = self.bits.size(place);
            // Written in any case: which pairs are wanted cannot be foretold, and guessing wrong takes longer.
            self.found.resize(self.found.len().max(earlier.len()), Edge::default());
            let mut n = 0;
            for ((&earlier, &place), &intersection) in earlier.iter().zip(&self.places).zip(&self.counts) {
                let count = PairCount { intersection, sizes: size + self.bits.size(place) };
                self.found[n] = count.edge(later, earlier);
                n += usize::from(wanted.keeps(count));
            }
            edges.edges.extend_from_slice(&self.found[..n]);
            edges.end_list();
        }
    }
}

//! Pairs whose documents have the same origin: most of a cluster.
//!
//! Its documents are held as sets of bits (the module `bits`) if those are small enough, and as sets of numbers (the module `numbered`) if not.

use benzer_flow::Result;

use super::bits::Bits;
use super::documents::Documents;
use super::edges::TaskEdges;
use super::features::{FeatureSource, Features};
use super::large::{Counter, LargeCluster};
use super::numbered::NumberedSets;
use super::pair::{PairCount, PairFilter};
use crate::{Edge, Rank, bands::Candidates};

/// Compares the documents of clusters. Each thread has its own.
#[derive(Default)]
pub(super) struct ClusterComparer {
    features: Features,
    bits: Bits,
    numbered: NumberedSets,
    documents: Documents,
    lists: ListCounter,
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
            let mut sets = TaskSets { documents: &self.documents, bits: &mut self.bits };
            groups.iter().for_each(|group| self.lists.run(*group, &mut sets, wanted, edges));
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
}

/// Compares the documents of large clusters. Each thread has its own.
#[derive(Debug, Default)]
pub(super) struct LargeComparer {
    counter: Counter,
    lists: ListCounter,
}

impl LargeComparer {
    /// Appends the wanted edges of a group.
    pub fn run(
        &mut self,
        group: Candidates<'_>,
        cluster: &LargeCluster,
        wanted: PairFilter,
        edges: &mut TaskEdges,
    ) {
        self.lists.run(group, &mut LargeSets { cluster, counter: &mut self.counter }, wanted, edges);
    }
}

/// Documents that are held as sets.
trait HeldSets {
    /// Where a document is.
    fn place(&self, rank: Rank) -> u32;
    /// How many elements a document has.
    fn size(&self, one: u32) -> u32;
    /// Of a document and some others: how many elements both have.
    fn count(&mut self, one: u32, others: &[u32], shared: &mut Vec<u32>);
}

struct TaskSets<'a> {
    documents: &'a Documents,
    bits: &'a mut Bits,
}

impl HeldSets for TaskSets<'_> {
    #[inline]
    fn place(&self, rank: Rank) -> u32 {
        self.documents.place(rank)
    }

    #[inline]
    fn size(&self, one: u32) -> u32 {
        self.bits.size(one)
    }

    fn count(&mut self, one: u32, others: &[u32], shared: &mut Vec<u32>) {
        self.bits.count(one as usize, others, shared);
    }
}

struct LargeSets<'a> {
    cluster: &'a LargeCluster,
    counter: &'a mut Counter,
}

impl HeldSets for LargeSets<'_> {
    #[inline]
    fn place(&self, rank: Rank) -> u32 {
        self.cluster.place(rank)
    }

    #[inline]
    fn size(&self, one: u32) -> u32 {
        self.cluster.size(one)
    }

    fn count(&mut self, one: u32, others: &[u32], shared: &mut Vec<u32>) {
        self.cluster.count(one, others, self.counter, shared);
    }
}

/// Counts what a later document shares with its earlier ones.
#[derive(Debug, Default)]
struct ListCounter {
    /// The earlier documents, and what they share with the later one.
    places: Vec<u32>,
    counts: Vec<u32>,
    found: Vec<Edge>,
}

impl ListCounter {
    /// Appends the wanted edges of a group.
    fn run(
        &mut self,
        Candidates { later, earlier }: Candidates<'_>,
        sets: &mut impl HeldSets,
        wanted: PairFilter,
        edges: &mut TaskEdges,
    ) {
        self.places.clear();
        self.places.extend(earlier.iter().map(|rank| sets.place(*rank)));
        let place = sets.place(later);
        sets.count(place, &self.places, &mut self.counts);
        let size = sets.size(place);
        // Written in any case: which pairs are wanted cannot be foretold, and guessing wrong takes longer.
        self.found.resize(self.found.len().max(earlier.len()), Edge::default());
        let mut n = 0;
        for ((&earlier, &place), &intersection) in earlier.iter().zip(&self.places).zip(&self.counts) {
            let count = PairCount { intersection, sizes: size + sets.size(place) };
            self.found[n] = count.edge(later, earlier);
            n += usize::from(wanted.keeps(count));
        }
        edges.edges.extend_from_slice(&self.found[..n]);
        edges.end_list();
    }
}

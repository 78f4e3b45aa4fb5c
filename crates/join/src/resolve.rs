//! Who is removed, and for whom.
//!
//! **Leaders**: the keep order is walked once. A document with an edge to one that is kept already is removed and names the most similar of those (ties by keep order);
//! every other document is kept. That is the lexicographically first maximal independent set of the graph: no chains.
//!
//! **Components**: of each connected component the first in keep order is kept.

use std::cmp::Ordering;

use crate::{Edge, Rank};

/// How the graph is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cluster {
    /// Every removed document has an edge to the kept one.
    #[default]
    Leaders,
    /// Removed documents are connected to the kept one by a chain of edges.
    Components,
}

/// Walks the keep order edge by edge, sorted by (later, earlier).
#[derive(Debug, Default)]
pub struct Leaders {
    /// Of each removed document the edge that decides, in keep order.
    removed: Vec<Edge>,
    /// A bit for each document up to the last one that is removed.
    gone: Vec<u64>,
    /// The best edge of the document at hand to a kept one.
    best: Option<Edge>,
}

impl Leaders {
    /// Takes the next edge.
    pub fn push(&mut self, edge: Edge) {
        if self.best.is_some_and(|best| best.later != edge.later) {
            self.decide();
        }
        // Of equals the first one stays, which is the first in keep order.
        // Most documents of a cluster are gone, so that is asked first.
        if self.is_kept(edge.earlier) && self.best.is_none_or(|best| similarity(&edge, &best).is_gt()) {
            self.best = Some(edge);
        }
    }

    /// The best edge of the document at hand is known.
    fn decide(&mut self) {
        let Some(edge) = self.best.take() else { return };
        let word = edge.later.index() / 64;
        if self.gone.len() <= word {
            self.gone.resize(word + 1, 0);
        }
        self.gone[word] |= 1 << (edge.later.0 % 64);
        self.removed.push(edge);
    }

    fn is_kept(&self, rank: Rank) -> bool {
        self.gone.get(rank.index() / 64).is_none_or(|word| word >> (rank.0 % 64) & 1 == 0)
    }

    /// Which edges decide, one for each removed document, in keep order.
    pub fn finish(mut self) -> Vec<Edge> {
        self.decide();
        self.removed
    }
}

fn similarity(a: &Edge, b: &Edge) -> Ordering {
    let product = |x: u32, y: u32| u64::from(x) * u64::from(y);
    product(a.intersection, b.union).cmp(&product(b.intersection, a.union))
}

/// Joins documents edge by edge, in any order.
#[derive(Debug)]
pub struct Components {
    /// Of each document one of the same component, nearer to its first.
    parents: Vec<Rank>,
}

impl Components {
    /// So many documents, each alone.
    pub fn new(n: u32) -> Self {
        Self { parents: Rank::all(n).collect() }
    }

    /// Takes an edge.
    pub fn push(&mut self, edge: Edge) {
        let (a, b) = (self.root(edge.later), self.root(edge.earlier));
        self.parents[a.max(b).index()] = a.min(b);
    }

    /// The first member of a component; shortens the way for the next one who asks.
    fn root(&mut self, mut rank: Rank) -> Rank {
        while self.parents[rank.index()] != rank {
            let parent = self.parents[rank.index()];
            self.parents[rank.index()] = self.parents[parent.index()];
            rank = self.parents[rank.index()];
        }
        rank
    }

    /// The pairs (member, first of its component), in keep order of the members.
    pub fn finish(mut self) -> Vec<(Rank, Rank)> {
        let n = self.parents.len() as u32;
        Rank::all(n).map(|rank| (rank, self.root(rank))).filter(|(member, first)| member != first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn leaders(edges: &[Edge]) -> Vec<Edge> {
        let mut leaders = Leaders::default();
        edges.iter().for_each(|edge| leaders.push(*edge));
        leaders.finish()
    }

    fn components(edges: &[Edge]) -> Vec<(Rank, Rank)> {
        let mut components = Components::new(25);
        edges.iter().for_each(|edge| components.push(*edge));
        components.finish()
    }

    fn edge(later: u32, earlier: u32, intersection: u32, union: u32) -> Edge {
        Edge { later: Rank(later), earlier: Rank(earlier), intersection, union }
    }

    #[test]
    fn a_chain_loses_only_the_middle_and_ties_go_to_the_first() {
        let chain = [edge(1, 0, 9, 10), edge(2, 1, 9, 10)];
        assert_eq!(leaders(&chain), [chain[0]]);
        assert_eq!(components(&chain), [(Rank(1), Rank(0)), (Rank(2), Rank(0))]);
        let two = [edge(2, 0, 8, 10), edge(2, 1, 4, 5), edge(3, 0, 8, 10), edge(3, 1, 9, 10)];
        assert_eq!(leaders(&two), [two[0], two[3]]);
    }

    fn graphs() -> impl Strategy<Value = Vec<Edge>> {
        prop::collection::vec((0u32..25, 0u32..25, 1u32..9, 0u32..5), 0..80).prop_map(|edges| {
            let edges = edges.into_iter().filter(|(a, b, ..)| a != b);
            let unique: BTreeMap<(u32, u32), (u32, u32)> =
                edges.map(|(a, b, both, more)| ((a.max(b), a.min(b)), (both, both + more))).collect();
            unique
                .into_iter()
                .map(|((later, earlier), (both, union))| edge(later, earlier, both, union))
                .collect()
        })
    }

    proptest! {
        #[test]
        fn leaders_are_the_first_maximal_independent_set(edges in graphs()) {
            let removed = leaders(&edges);
            let gone: BTreeSet<Rank> = removed.iter().map(|edge| edge.later).collect();
            for rank in Rank::all(25) {
                let keepers: Vec<&Edge> = edges.iter().filter(|e| e.later == rank && !gone.contains(&e.earlier)).collect();
                prop_assert_eq!(gone.contains(&rank), !keepers.is_empty());
                if let Some(chosen) = removed.iter().find(|edge| edge.later == rank) {
                    prop_assert!(keepers.iter().all(|e| similarity(e, chosen).is_lt() || (similarity(e, chosen).is_eq() && e.earlier >= chosen.earlier)));
                }
            }
        }

        #[test]
        fn components_are_what_can_be_reached(edges in graphs()) {
            let mut reach: Vec<Rank> = Rank::all(25).collect();
            for _ in 0..25 {
                for e in &edges {
                    let low = reach[e.later.index()].min(reach[e.earlier.index()]);
                    reach[e.later.index()] = low;
                    reach[e.earlier.index()] = low;
                }
            }
            let expected: Vec<(Rank, Rank)> = Rank::all(25).zip(reach).filter(|(member, first)| member != first).collect();
            prop_assert_eq!(components(&edges), expected);
        }
    }
}

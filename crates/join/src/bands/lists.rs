//! Pairs to compare, by their later document.

use crate::Rank;

/// Pairs (later, earlier), in order: of each later document the earlier ones, one list after the other.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CandidateLists {
    later: Vec<Later>,
    earlier: Vec<Rank>,
}

/// A later document, and where its list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Later {
    rank: Rank,
    end: usize,
}

/// The pairs of one later document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates<'a> {
    /// The document.
    pub later: Rank,
    /// Those it is compared with, in order, at least one.
    pub earlier: &'a [Rank],
}

impl CandidateLists {
    /// Adds the pairs of a document that is later than all before.
    pub(crate) fn push(&mut self, later: Rank, earlier: &[Rank]) {
        if !earlier.is_empty() {
            self.earlier.extend_from_slice(earlier);
            self.later.push(Later { rank: later, end: self.earlier.len() });
        }
    }

    /// Adds a pair behind all others.
    pub fn push_pair(&mut self, later: Rank, earlier: Rank) {
        self.earlier.push(earlier);
        let end = self.earlier.len();
        match self.later.last_mut() {
            Some(last) if last.rank == later => last.end = end,
            _ => self.later.push(Later { rank: later, end }),
        }
    }

    /// How many pairs there are.
    pub fn n_pairs(&self) -> usize {
        self.earlier.len()
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> u64 {
        (self.later.capacity() * size_of::<Later>() + self.earlier.capacity() * size_of::<Rank>()) as u64
    }

    /// The last later document.
    pub fn last(&self) -> Option<Rank> {
        self.later.last().map(|later| later.rank)
    }

    /// The candidates of each later document.
    pub(crate) fn lists(&self) -> impl Iterator<Item = Candidates<'_>> {
        let mut start = 0;
        self.later.iter().map(move |&Later { rank, end }| Candidates {
            later: rank,
            earlier: &self.earlier[std::mem::replace(&mut start, end)..end],
        })
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (Rank, Rank)> + '_ {
        self.lists()
            .flat_map(|Candidates { later, earlier }| earlier.iter().map(move |earlier| (later, *earlier)))
    }
}

impl FromIterator<(Rank, Rank)> for CandidateLists {
    fn from_iter<I: IntoIterator<Item = (Rank, Rank)>>(pairs: I) -> Self {
        let mut all = Self::default();
        pairs.into_iter().for_each(|(later, earlier)| all.push_pair(later, earlier));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn pairs_come_back_in_order(pairs in prop::collection::btree_set((0u32..40, 0u32..40).prop_map(|(later, earlier)| (Rank(later), Rank(earlier))), 0..200)) {
            let all: CandidateLists = pairs.iter().copied().collect();
            prop_assert_eq!(all.pairs().collect::<BTreeSet<_>>(), pairs.clone());
            prop_assert!(all.pairs().is_sorted());
            prop_assert_eq!((all.n_pairs(), all.last()), (pairs.len(), pairs.last().map(|pair| pair.0)));
            let mut again = CandidateLists::default();
            again.push(Rank(0), &[]);
            all.lists().for_each(|group| again.push(group.later, group.earlier));
            prop_assert_eq!(again, all);
        }
    }
}

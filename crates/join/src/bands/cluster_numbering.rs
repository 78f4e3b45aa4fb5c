//! Documents numbered so that those of a cluster are neighbours.
//!
//! The members of a cluster are scattered over the corpus. As sets of bits they would have a word each; by these numbers they share a few words.

use crate::Rank;

/// The number of each rank, and the rank of each number. Documents that one comes to from each other's first members of buckets are neighbours, in order of their ranks.
#[derive(Debug)]
pub(super) struct ClusterNumbering {
    numbers: Vec<u32>,
    ranks: Vec<Rank>,
}

impl ClusterNumbering {
    /// From all buckets, whose members are in order and below `n`.
    pub fn new<'a>(buckets: impl Iterator<Item = &'a [Rank]>, n: u32) -> Self {
        // The earliest document that one meets, and then the one that is met from there on.
        let mut origins: Vec<u32> = (0..n).collect();
        for bucket in buckets {
            for &rank in bucket.iter().skip(1) {
                let origin = &mut origins[rank.index()];
                *origin = bucket[0].0.min(*origin);
            }
        }
        // Where the documents of each origin begin; that of an earlier one is known.
        let mut places = vec![0; n as usize + 1];
        for rank in 0..origins.len() {
            origins[rank] = origins[origins[rank] as usize];
            places[origins[rank] as usize + 1] += 1;
        }
        for i in 1..places.len() {
            places[i] += places[i - 1];
        }
        let mut ranks = vec![Rank(0); n as usize];
        // From here on the number of each rank in the place of its origin.
        for (origin, rank) in origins.iter_mut().zip(0..) {
            let next = &mut places[*origin as usize];
            ranks[*next as usize] = Rank(rank);
            *origin = *next;
            *next += 1;
        }
        Self { numbers: origins, ranks }
    }

    #[inline]
    pub fn number(&self, rank: Rank) -> u32 {
        self.numbers[rank.index()]
    }

    #[inline]
    pub fn rank(&self, number: u32) -> Rank {
        self.ranks[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documents_of_a_cluster_are_neighbours() {
        let buckets = [vec![1, 5, 9], vec![0, 8], vec![5, 7], vec![2, 9]]
            .map(|bucket| bucket.into_iter().map(Rank).collect::<Vec<_>>());
        let numbering = ClusterNumbering::new(buckets.iter().map(Vec::as_slice), 10);
        let order: Vec<u32> = (0..10).map(|number| numbering.rank(number).0).collect();
        assert_eq!(order, [0, 8, 1, 5, 7, 9, 2, 3, 4, 6]);
    }

    proptest! {
        #[test]
        fn every_rank_has_a_number_of_its_own(buckets in prop::collection::vec(prop::collection::btree_set(0u32..90, 2..9), 0..30)) {
            let buckets: Vec<Vec<Rank>> = buckets.into_iter().map(|bucket| bucket.into_iter().map(Rank).collect()).collect();
            let numbering = ClusterNumbering::new(buckets.iter().map(Vec::as_slice), 90);
            prop_assert!(Rank::all(90).all(|rank| numbering.rank(numbering.number(rank)) == rank));
            prop_assert!((0..90).all(|number| numbering.number(numbering.rank(number)) == number));
        }
    }
}

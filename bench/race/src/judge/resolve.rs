//! The exact resolve over all edges, in file order.

use crate::overlap::Overlap;
use crate::truth::Pair;

/// Parts of one that a threshold is compared in, so that a decimal one is exact.
const PARTS: f64 = 1e6;

/// Whether J >= threshold, in whole numbers.
pub fn reaches(Overlap { intersection, union }: Overlap, threshold: f64) -> bool {
    u64::from(intersection) * PARTS as u64 >= u64::from(union) * (threshold * PARTS).round() as u64
}

/// Which documents go: those with an edge to an earlier one that stays. Edges are ordered by (a, b), so that what becomes of `a` is
/// known when its edges to later ones come.
pub fn removed(edges: &[Pair], n_docs: usize) -> Vec<bool> {
    let mut removed = vec![false; n_docs];
    for edge in edges {
        removed[edge.b as usize] |= !removed[edge.a as usize];
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(u32, u32)]) -> Vec<Pair> {
        let overlap = Overlap { intersection: 1, union: 1 };
        pairs.iter().map(|&(a, b)| Pair { a, b, overlap }).collect()
    }

    #[test]
    fn every_second_link_of_a_chain_stays() {
        let chain = edges(&[(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(removed(&chain, 5), [false, true, false, true, false]);
    }

    #[test]
    fn the_first_of_a_cluster_stays() {
        let cluster = edges(&[(1, 2), (1, 3), (2, 3)]);
        assert_eq!(removed(&cluster, 4), [false, false, true, true]);
    }

    #[test]
    fn a_threshold_is_met_exactly() {
        let overlap = |intersection, union| Overlap { intersection, union };
        assert!(reaches(overlap(4, 5), 0.8) && reaches(overlap(800_000, 1_000_000), 0.8));
        assert!(!reaches(overlap(799_999, 1_000_000), 0.8) && !reaches(overlap(6, 7), 0.9));
        assert!(reaches(overlap(7, 7), 1.0) && !reaches(overlap(6, 7), 1.0));
    }
}

//! The bucket rule: which pairs a bucket of documents with the same band key gives.
//!
//! In a bucket larger than `cap`, each member is paired only with the first `cap` members in keep order. A bucket of at most `cap` gives
//! all its pairs, which is the same rule: the earlier of any two is among the first `cap`. So a bucket of `n` gives at most `cap * n`
//! pairs, and a document that has its keeper among the first `cap` of a bucket still meets it.

/// The default of `cap`, the `C` of the candidate graph.
pub const DEFAULT_CAP: usize = 64;

/// The pairs (earlier, later) of a bucket whose members are given in keep order. Each later member in turn meets the earlier ones.
///
/// ```
/// use benzer_core::lsh::bucket;
/// let pairs: Vec<_> = bucket::pairs(&['a', 'b', 'c', 'd'], 1).collect();
/// assert_eq!(pairs, [('a', 'b'), ('a', 'c'), ('a', 'd')]);
/// ```
pub fn pairs<T: Copy>(members: &[T], cap: usize) -> impl Iterator<Item = (T, T)> + '_ {
    members
        .iter()
        .enumerate()
        .flat_map(move |(i, &later)| members[..i.min(cap)].iter().map(move |&earlier| (earlier, later)))
}

/// The number of pairs that a bucket of `n` gives.
pub fn n_pairs(n: u64, cap: u64) -> u128 {
    let (n, first) = (u128::from(n), u128::from(n.min(cap)));
    first * n - first * (first + 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rule as it is written in the definition of the candidate graph.
    fn is_paired(x: usize, y: usize, n: usize, cap: usize) -> bool {
        x != y && (n <= cap || x < cap || y < cap)
    }

    proptest! {
        #[test]
        fn the_pairs_are_those_of_the_definition(n in 0usize..90, cap in 0usize..90) {
            let members: Vec<usize> = (0..n).collect();
            let mut got: Vec<(usize, usize)> = pairs(&members, cap).collect();
            prop_assert_eq!(got.len() as u128, n_pairs(n as u64, cap as u64));
            prop_assert!(got.iter().all(|(earlier, later)| earlier < later));
            got.sort_unstable();
            let all = (0..n).flat_map(|x| (x + 1..n).map(move |y| (x, y)));
            let expected: Vec<(usize, usize)> = all.filter(|&(x, y)| is_paired(x, y, n, cap)).collect();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn a_huge_bucket_stays_linear() {
        assert_eq!(n_pairs(1_000_000, 64), 64 * 1_000_000 - 64 * 65 / 2);
        assert_eq!(n_pairs(u64::MAX, u64::MAX), u128::from(u64::MAX) * u128::from(u64::MAX - 1) / 2);
    }
}

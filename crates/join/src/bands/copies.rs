//! Exact groups: documents of the same text. The first in keep order stands for all of them.

use benzer_flow::Result;

use super::repeats::RepeatFilter;
use crate::Rank;
use crate::prefetch::{self, Prefetch};

/// The pairs (copy, representative), by rank of the copy: documents of the same hash, after `is_equal` looked at the texts themselves. `ranks` are in order. `prefetch` is told
/// of texts that will be wanted soon.
///
/// # Errors
/// What `is_equal` returns.
pub fn copies(
    ranks: &[Rank],
    hash: impl Fn(Rank) -> u128,
    prefetch: impl Fn(Rank, Prefetch),
    is_equal: impl FnMut(Rank, Rank) -> Result<bool>,
) -> Result<Vec<(Rank, Rank)>> {
    let halves: Vec<u64> = ranks.iter().map(|&rank| hash(rank) as u64).collect();
    let repeated = RepeatFilter::default().repeated(&halves, ranks);
    let mut repeated: Vec<(u128, Rank)> = repeated.members.iter().map(|&rank| (hash(rank), rank)).collect();
    repeated.sort_unstable();
    let sorted = (0..repeated.len()).map(|i| {
        for (ahead, what) in prefetch::DISTANCES {
            repeated.get(i + ahead).into_iter().for_each(|(_, rank)| prefetch(*rank, what));
        }
        Ok(repeated[i])
    });
    copies_in_order(sorted, is_equal)
}

/// The same of (hash, rank) that come sorted.
///
/// # Errors
/// A record that is one, and what `is_equal` returns.
pub fn copies_in_order(
    sorted: impl Iterator<Item = Result<(u128, Rank)>>,
    mut is_equal: impl FnMut(Rank, Rank) -> Result<bool>,
) -> Result<Vec<(Rank, Rank)>> {
    let mut pairs = Vec::new();
    // More than one representative means that different texts have one hash.
    let (mut representatives, mut last): (Vec<Rank>, _) = (Vec::new(), None);
    for record in sorted {
        let (hash, rank) = record?;
        if last != Some(hash) {
            representatives.clear();
        }
        last = Some(hash);
        let mut copy_of = None;
        for &representative in &representatives {
            if is_equal(representative, rank)? {
                copy_of = Some(representative);
                break;
            }
        }
        match copy_of {
            Some(representative) => pairs.push((rank, representative)),
            None => representatives.push(rank),
        }
    }
    pairs.sort_unstable();
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_keep_order_stands_for_its_copies_and_a_collision_is_no_copy() {
        let texts = ["a", "b", "a", "c", "b", "a", "d"];
        // "c" collides with "a", and "d" shares half of its hash.
        let hash = |rank: Rank| match texts[rank.index()] {
            "a" | "c" => 7,
            "d" => 1 << 100 | 7,
            _ => 9,
        };
        let equal = |a: Rank, b: Rank| Ok(texts[a.index()] == texts[b.index()]);
        let ranks: Vec<Rank> = Rank::all(7).collect();
        let expected = [(2, 0), (4, 1), (5, 0)].map(|(copy, first)| (Rank(copy), Rank(first)));
        assert_eq!(copies(&ranks, hash, |_, _| {}, equal).unwrap(), expected);
    }
}

//! Exact groups: documents of the same text. The first in keep order stands for all of them.

use super::buckets::Filter;
use crate::error::Result;

/// Which documents are copies of which.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// (copy, representative), by rank of the copy.
    pub pairs: Vec<(u32, u32)>,
}

/// Groups the documents of the same hash, after `is_equal` looked at the texts themselves. `ranks` are in order.
pub(crate) fn copies(
    ranks: &[u32],
    hash: impl Fn(u32) -> u128,
    mut is_equal: impl FnMut(u32, u32) -> Result<bool>,
) -> Result<Copies> {
    let keys: Vec<u64> = ranks.iter().map(|&rank| hash(rank) as u64).collect();
    let mut pairs = Vec::new();
    for bucket in Filter::default().repeated(&keys, ranks).chunk_by(|a, b| a.0 == b.0) {
        // Members come in keep order. More than one representative means that different texts have one hash.
        let mut representatives: Vec<u32> = Vec::new();
        for &(_, rank) in bucket {
            let mut copy_of = None;
            for &representative in &representatives {
                if hash(representative) == hash(rank) && is_equal(representative, rank)? {
                    copy_of = Some(representative);
                    break;
                }
            }
            match copy_of {
                Some(representative) => pairs.push((rank, representative)),
                None => representatives.push(rank),
            }
        }
    }
    pairs.sort_unstable();
    Ok(Copies { pairs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_keep_order_stands_for_its_copies_and_a_collision_is_no_copy() {
        let texts = ["a", "b", "a", "c", "b", "a", "d"];
        // "c" collides with "a", and "d" shares half of its hash.
        let hash = |rank: u32| match texts[rank as usize] {
            "a" | "c" => 7,
            "d" => 1 << 100 | 7,
            _ => 9,
        };
        let equal = |a: u32, b: u32| Ok(texts[a as usize] == texts[b as usize]);
        let ranks: Vec<u32> = (0..7).collect();
        assert_eq!(copies(&ranks, hash, equal).unwrap().pairs, [(2, 0), (4, 1), (5, 0)]);
    }
}

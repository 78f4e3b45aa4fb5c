//! The exact self-join at J >= 1/2: a prefix filter with positions (PPJoin).
//!
//! J >= 1/2 means 3 |x & y| >= |x| + |y|, in whole numbers. Documents are taken by increasing size, so a partner y of x among the earlier ones has
//! |y| >= |x| / 2 and shares with x an element of the first |x| - ceil(|x| / 2) + 1 elements of x, and of the first
//! |y| - ceil(2 |y| / 3) + 1 of y, in an order common to all documents. The order is rarest first: a template's shingles come last in every document
//! and are hardly ever looked up. A pair is dropped as soon as what is left of both cannot reach the needed overlap; the survivors are
//! compared in full.

use super::file::Pair;
use super::sets::Sets;
use crate::overlap::{Overlap, intersection};

/// Every pair with J >= 1/2, in no particular order.
pub fn similar_pairs(sets: &Sets) -> Vec<Pair> {
    let mut order: Vec<usize> = (0..sets.len()).filter(|&row| sets.size(row) > 0).collect();
    order.sort_by_key(|&row| (sets.size(row), row));
    let mut join = Join {
        sets,
        postings: vec![Vec::new(); sets.n_numbers()],
        common: vec![0; sets.len()],
        candidates: Vec::new(),
        pairs: Vec::new(),
    };
    for row in order {
        join.probe(row);
        join.index(row);
    }
    join.pairs
}

/// Marks a candidate that can no longer reach the needed overlap.
const HOPELESS: u32 = u32::MAX;

struct Join<'a> {
    sets: &'a Sets,
    /// For each shingle the earlier documents that have it in their prefix, with its position there.
    postings: Vec<Vec<(u32, u32)>>,
    /// Common prefix elements of each document with the one being probed; zero between probes.
    common: Vec<u32>,
    candidates: Vec<u32>,
    pairs: Vec<Pair>,
}

impl Join<'_> {
    fn probe(&mut self, x: usize) {
        let size_x = self.sets.size(x);
        let prefix = size_x - size_x.div_ceil(2) + 1;
        for (position, element) in positions(self.sets, x).take_while(|&(position, _)| position < prefix) {
            for &(y, position_y) in &self.postings[element as usize] {
                let size_y = self.sets.size(y as usize);
                let common = &mut self.common[y as usize];
                if 2 * size_y < size_x || *common == HOPELESS {
                    continue;
                }
                if *common == 0 {
                    self.candidates.push(y);
                }
                let rest = (size_x - position - 1).min(size_y - position_y - 1);
                let reachable = 3 * (*common + 1 + rest) >= size_x + size_y;
                *common = if reachable { *common + 1 } else { HOPELESS };
            }
        }
        for y in self.candidates.drain(..) {
            if std::mem::take(&mut self.common[y as usize]) != HOPELESS {
                let overlap = overlap(self.sets, x, y as usize);
                if 2 * overlap.intersection >= overlap.union {
                    self.pairs.push(Pair { a: y.min(x as u32), b: y.max(x as u32), overlap });
                }
            }
        }
    }

    fn index(&mut self, y: usize) {
        let size = self.sets.size(y);
        let prefix = size - (2 * size).div_ceil(3) + 1;
        for (position, element) in positions(self.sets, y).take_while(|&(position, _)| position < prefix) {
            self.postings[element as usize].push((y as u32, position));
        }
    }
}

/// Shared elements with their positions in the full set, where the shingles of this document alone come first.
fn positions(sets: &Sets, row: usize) -> impl Iterator<Item = (u32, u32)> {
    let shared = sets.shared(row);
    let alone = sets.size(row) - shared.len() as u32;
    (alone..).zip(shared.iter().copied())
}

fn overlap(sets: &Sets, x: usize, y: usize) -> Overlap {
    let intersection = intersection(sets.shared(x), sets.shared(y));
    Overlap { intersection, union: sets.size(x) + sets.size(y) - intersection }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Sets over a small universe with skewed frequencies, many of them edited copies of earlier ones.
    fn sets(seed: u64) -> Vec<Vec<u64>> {
        let mut random = Random::new(seed, 0);
        let mut sets: Vec<Vec<u64>> = Vec::new();
        for _ in 0..300 {
            let copied = if sets.is_empty() { 0 } else { random.below(sets.len()) };
            let mut set: Vec<u64> = match sets.get(copied) {
                Some(set) if random.below(3) > 0 => {
                    set.iter().copied().filter(|_| random.below(6) > 0).collect()
                }
                _ => Vec::new(),
            };
            for _ in 0..random.below(20) {
                let skewed = random.below(200) * random.below(200) / 100;
                set.push(benzer_core::hash::mix(skewed as u64));
            }
            set.sort_unstable();
            set.dedup();
            sets.push(set);
        }
        sets
    }

    #[test]
    fn the_join_finds_what_brute_force_finds() {
        for seed in 0..20 {
            let sets = sets(seed);
            let numbered = Sets::number(&sets.concat(), sets.iter().map(|set| set.len() as u32).collect());
            let mut found = similar_pairs(&numbered);
            found.sort_unstable_by_key(|pair| (pair.a, pair.b));
            let mut expected = Vec::new();
            for (b, y) in sets.iter().enumerate() {
                for (a, x) in sets[..b].iter().enumerate() {
                    let overlap = Overlap::of(x, y);
                    if overlap.union > 0 && 2 * overlap.intersection >= overlap.union {
                        expected.push(Pair { a: a as u32, b: b as u32, overlap });
                    }
                }
            }
            expected.sort_unstable_by_key(|pair| (pair.a, pair.b));
            assert!(expected.len() > 100);
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}

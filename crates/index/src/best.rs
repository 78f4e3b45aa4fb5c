//! The best matches of a query, without keeping the others.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::query::Match;

/// The most similar of what was offered: as many as are wanted.
#[derive(Debug)]
pub(crate) struct Best {
    /// The worst of them on top.
    kept: BinaryHeap<Ranked>,
    most: usize,
    /// How many were offered.
    n_offered: usize,
}

/// A match; the least similar is the greatest.
#[derive(Debug)]
struct Ranked(Match);

impl Best {
    pub fn new(most: usize) -> Self {
        Self { kept: BinaryHeap::new(), most, n_offered: 0 }
    }

    /// Counts a match, which is made only if it is among the best so far.
    pub fn offer<E>(
        &mut self,
        similarity: f64,
        id: &[u8],
        make: impl FnOnce() -> Result<Match, E>,
    ) -> Result<(), E> {
        self.n_offered += 1;
        let is_worse = |worst: &Ranked| rank((similarity, id), worst.key()) != Ordering::Less;
        if self.kept.len() == self.most && self.kept.peek().is_none_or(is_worse) {
            return Ok(());
        }
        let found = Ranked(make()?);
        if self.kept.len() == self.most {
            self.kept.pop();
        }
        self.kept.push(found);
        Ok(())
    }

    /// The least similarity that is still among the best, if there are as many as are wanted.
    pub fn worst(&self) -> Option<f64> {
        let worst = self.kept.peek().filter(|_| self.kept.len() == self.most);
        worst.map(|worst| worst.0.similarity)
    }

    /// The best, the most similar first, and how many were offered.
    pub fn into_sorted(self) -> (Vec<Match>, usize) {
        (self.kept.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect(), self.n_offered)
    }
}

/// The more similar first, then by id.
fn rank(a: (f64, &[u8]), b: (f64, &[u8])) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1))
}

impl Ranked {
    fn key(&self) -> (f64, &[u8]) {
        (self.0.similarity, self.0.id.as_bytes())
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        rank(self.key(), other.key())
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::estimate::Estimate;
    use benzer_core::hash::mix;

    fn found(i: u64) -> Match {
        let similarity = (mix(i) % 20) as f64 / 20.0;
        let estimate = Estimate::exact(similarity);
        Match { id: format!("{i:03}"), similarity, exact: None, estimate, fields: Vec::new() }
    }

    #[test]
    fn the_best_are_those_of_sorting_all() {
        let mut all: Vec<Match> = (0..200).map(found).collect();
        all.sort_by(|a, b| rank((a.similarity, a.id.as_bytes()), (b.similarity, b.id.as_bytes())));
        for most in [0, 1, 7, 199, 200, 300] {
            let (mut best, mut made) = (Best::new(most), 0);
            for i in 0..200 {
                let one = found(i);
                let make = || {
                    made += 1;
                    Ok::<_, ()>(found(i))
                };
                best.offer(one.similarity, one.id.as_bytes(), make).unwrap();
            }
            let (matches, n) = best.into_sorted();
            assert_eq!((matches.as_slice(), n), (&all[..most.min(200)], 200));
            assert!(made <= 200 && (most > 7 || made < 60), "{made} made for {most}");
        }
    }
}

//! The best matches of a query, without keeping the others.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::matches::Match;

/// The most similar of what was offered: as many as are wanted.
#[derive(Debug)]
pub(crate) struct Best {
    /// The worst of them on top.
    kept: BinaryHeap<Kept>,
    max: usize,
    /// How many were offered.
    n_offered: usize,
}

/// A match; the least similar is the greatest.
#[derive(Debug)]
struct Kept(Match);

/// What orders matches: the more similar first, then by id.
struct Key<'a> {
    similarity: f64,
    id: &'a [u8],
}

impl Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then_with(|| self.id.cmp(other.id))
    }
}

impl Best {
    pub fn new(max: usize) -> Self {
        Self { kept: BinaryHeap::new(), max, n_offered: 0 }
    }

    /// Counts a match, which is made only if it is among the best so far.
    pub fn offer<E>(
        &mut self,
        similarity: f64,
        id: &[u8],
        make: impl FnOnce() -> Result<Match, E>,
    ) -> Result<(), E> {
        self.n_offered += 1;
        let is_worse = |worst: &Kept| Key { similarity, id }.cmp(&worst.key()) != Ordering::Less;
        if self.kept.len() == self.max && self.kept.peek().is_none_or(is_worse) {
            return Ok(());
        }
        let found = Kept(make()?);
        if self.kept.len() == self.max {
            self.kept.pop();
        }
        self.kept.push(found);
        Ok(())
    }

    /// The least similarity that is still among the best, if there are as many as are wanted.
    pub fn worst(&self) -> Option<f64> {
        let worst = self.kept.peek().filter(|_| self.kept.len() == self.max);
        worst.map(|worst| worst.0.similarity)
    }

    /// The best, the most similar first, and how many were offered.
    pub fn into_sorted(self) -> (Vec<Match>, usize) {
        (self.kept.into_sorted_vec().into_iter().map(|kept| kept.0).collect(), self.n_offered)
    }
}

impl Kept {
    fn key(&self) -> Key<'_> {
        Key { similarity: self.0.similarity, id: self.0.id.as_bytes() }
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Kept {}

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
        all.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.id.cmp(&b.id)));
        for max in [0, 1, 7, 199, 200, 300] {
            let (mut best, mut made) = (Best::new(max), 0);
            for i in 0..200 {
                let one = found(i);
                let make = || {
                    made += 1;
                    Ok::<_, ()>(found(i))
                };
                best.offer(one.similarity, one.id.as_bytes(), make).unwrap();
            }
            let (matches, n) = best.into_sorted();
            assert_eq!((matches.as_slice(), n), (&all[..max.min(200)], 200));
            assert!(made <= 200 && (max > 7 || made < 60), "{made} made for {max}");
        }
    }
}

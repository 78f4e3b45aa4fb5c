//! Which documents are among some, and which minima: looked up for every document of a corpus.

use benzer_core::slots::{n_slots, probe};
use benzer_join::Rank;

/// Slots for each minimum, at least: most documents have none of them, and shall meet a free slot at once.
const SPARE: usize = 4;

/// Which documents are among some.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub fn of(ranks: &[Rank], n: u32) -> Self {
        let mut words = vec![0; n as usize / 64 + 1];
        ranks.iter().for_each(|rank| words[rank.index() / 64] |= 1 << (rank.0 % 64));
        Self(words)
    }

    #[inline]
    pub fn has(&self, rank: Rank) -> bool {
        self.0[rank.index() / 64] >> (rank.0 % 64) & 1 == 1
    }
}

/// Some minima, each with the number of its group.
pub(super) struct Minima {
    /// One more than the number of a group, behind its minimum; zero marks a free slot.
    slots: Vec<u64>,
    pub n: u32,
}

impl Minima {
    pub fn of(minima: impl ExactSizeIterator<Item = u32>) -> Self {
        let mut groups = Self { slots: vec![0; n_slots(minima.len(), SPARE)], n: 0 };
        for minimum in minima {
            if let Err(free) = groups.find(minimum) {
                groups.n += 1;
                groups.slots[free] = u64::from(minimum) << 32 | u64::from(groups.n);
            }
        }
        groups
    }

    /// The group of a minimum, or the slot that it would have. Minima are hashes already.
    #[inline]
    fn find(&self, minimum: u32) -> Result<u32, usize> {
        probe(minimum.into(), self.slots.len(), |slot| match self.slots[slot] {
            0 => Some(Err(slot)),
            found => ((found >> 32) as u32 == minimum).then_some(Ok(found as u32 - 1)),
        })
    }

    #[inline]
    pub fn group(&self, minimum: u32) -> Option<u32> {
        self.find(minimum).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::hash::split;
    use std::collections::BTreeSet;

    #[test]
    fn marks_and_minima_have_what_was_put_into_them() {
        let marks = Marks::of(&[0, 63, 64, 200].map(Rank), 201);
        let has: Vec<Rank> = Rank::all(201).filter(|rank| marks.has(*rank)).collect();
        assert_eq!(has, [0, 63, 64, 200].map(Rank));
        // Some come twice; zero is one like others.
        let numbers: Vec<u32> = (0..1000).map(|i| split(1, i % 700) as u32 & !7).chain([0]).collect();
        let minima = Minima::of(numbers.iter().copied());
        let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
        let groups: BTreeSet<u32> = distinct.iter().map(|number| minima.group(*number).unwrap()).collect();
        assert!(groups.iter().copied().eq(0..distinct.len() as u32) && minima.n == distinct.len() as u32);
        assert!((0..10_000).map(|i| split(2, i) as u32 | 1).all(|other| minima.group(other).is_none()));
    }
}

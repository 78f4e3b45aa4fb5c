//! Which pairs are wanted, and which sets can be in one.

use benzer_core::Threshold;

use super::sets::Set;
use crate::Rank;

/// What must reach the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The elements in both over the elements in either.
    #[default]
    Jaccard,
    /// The elements in both over those of the first set: how much of it is in the second. It has a direction.
    Containment,
}

/// Who is paired with whom, by rank, and how a pair is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// All with all, as (later, earlier).
    LaterFirst,
    /// All with all, as (earlier, later); of containment as (contained, containing).
    One,
    /// Those below a rank with those from it on, in this order.
    Two(Rank),
}

/// What a join is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// What must reach the threshold.
    pub measure: Measure,
    /// The threshold.
    pub threshold: Threshold,
    /// Who is paired with whom.
    pub sides: Sides,
}

/// The sets of a join, by size, and which pairs of them are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Join<'a> {
    pub sets: &'a [Set],
    pub rule: Rule,
}

impl Rule {
    /// Near-duplicates, as (later, earlier).
    pub fn duplicates(threshold: Threshold) -> Self {
        Self { measure: Measure::Jaccard, threshold, sides: Sides::LaterFirst }
    }

    /// True if a set looks for others, if it may be found by others.
    pub(super) fn roles(&self, rank: Rank) -> (bool, bool) {
        match (self.measure, self.sides) {
            (Measure::Containment, Sides::Two(split)) => (rank < split, rank >= split),
            _ => (true, true),
        }
    }

    /// The side of a set: pairs are made between different ones, or within the only one.
    pub(super) fn side(&self, rank: Rank) -> usize {
        match self.sides {
            Sides::Two(split) => usize::from(rank >= split),
            _ => 0,
        }
    }

    /// Elements of a set among which there is one that it shares with any set it makes a pair with.
    #[inline]
    pub(super) fn prefix(&self, size: u32) -> u32 {
        size - self.threshold.min_overlap(size) + 1
    }

    /// How many of its first elements a set with at least one is listed under.
    pub(super) fn listed(&self, rank: Rank, size: u32) -> u32 {
        match self.measure {
            Measure::Containment if self.roles(rank).1 => size,
            _ => self.prefix(size),
        }
    }

    /// True if a set can be found under the element at a place of it.
    #[inline]
    pub(super) fn can_be_found(&self, set: &Set, place: u32) -> bool {
        match self.measure {
            // Nobody smaller than a set looks for it: with one of the same size, what is left must be enough.
            Measure::Jaccard => {
                let left = u64::from(set.size - place);
                self.threshold.is_reached(left, 2 * u64::from(set.size) - left)
            }
            Measure::Containment => self.roles(set.rank).1,
        }
    }

    /// True if a set looks for others under the element at a place of it.
    #[inline]
    pub(super) fn looks(&self, set: &Set, place: u32) -> bool {
        match self.measure {
            Measure::Jaccard => true,
            Measure::Containment => self.roles(set.rank).0 && place < self.prefix(set.size),
        }
    }

    /// True if sets of which one looks for the other can be a pair when they share so many elements at most.
    #[inline]
    pub(super) fn is_reached(&self, shared: u64, looking: &Set, found: &Set) -> bool {
        let sizes = u64::from(looking.size) + u64::from(found.size);
        match self.measure {
            Measure::Jaccard => self.threshold.is_reached(shared, sizes - shared),
            Measure::Containment => self.threshold.is_reached(shared, looking.size.into()),
        }
    }

    /// How a pair is told, by ranks.
    #[inline]
    pub(super) fn pair(&self, looking: Rank, found: Rank) -> (Rank, Rank) {
        match (self.measure, self.sides) {
            (Measure::Containment, _) => (looking, found),
            (Measure::Jaccard, Sides::LaterFirst) => (looking.max(found), looking.min(found)),
            (Measure::Jaccard, _) => (looking.min(found), looking.max(found)),
        }
    }
}

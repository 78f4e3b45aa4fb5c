//! The documents of a cluster as sets of numbers.
//!
//! The elements of the earlier documents, which the later ones share, are numbered; each document looks its elements up once. From there on sets are lists of numbers:
//! 64 or 512 earlier documents at a time go into an index, and each later document counts what it shares with all of them, whatever the number of its pairs.

use benzer_flow::Result;

use super::documents::{list_earlier, n_pairs};
use super::features::{FeatureSource, Features};
use super::id_map::IdMap;
use super::lanes::{Counts, LaneIndex};
use super::pair::PairCount;
use crate::Rank;
use crate::bands::Candidates;

/// Elements of earlier documents that are numbered together, if one document does not have more.
const NUMBERED: usize = 1 << 20;

/// Counts what pairs share, by numbers.
#[derive(Default)]
pub(super) struct NumberedSets {
    numbers: IdMap,
    few: Lanes<1>,
    many: Lanes<8>,
    /// All earlier documents, in order.
    earlier: Vec<Rank>,
    /// Some of them as sets, and the later ones.
    earlier_sets: NumberLists,
    later_sets: NumberLists,
    counts: GroupCounts,
}

/// Sets of numbers, one after the other.
#[derive(Debug, Default)]
struct NumberLists {
    numbers: Vec<u32>,
    ends: Vec<usize>,
    /// How many elements each has, also such without a number.
    sizes: Vec<u32>,
}

impl NumberLists {
    fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.sizes.clear();
    }

    fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }

    fn push(&mut self, elements: &[u64], number: impl FnOnce(&[u64], &mut Vec<u32>)) {
        number(elements, &mut self.numbers);
        self.ends.push(self.numbers.len());
        self.sizes.push(elements.len() as u32);
    }
}

/// What the pairs of groups share, one group after the other.
#[derive(Debug, Default)]
struct GroupCounts {
    pairs: Vec<PairCount>,
    /// How many pairs of each group are counted.
    done: Vec<u32>,
}

impl GroupCounts {
    fn clear(&mut self, groups: &[Candidates<'_>]) {
        self.pairs.clear();
        self.pairs.resize(n_pairs(groups), PairCount::default());
        self.done.clear();
        self.done.resize(groups.len(), 0);
    }
}

impl NumberedSets {
    /// What all pairs of some groups share, in order.
    pub fn count(
        &mut self,
        groups: &[Candidates<'_>],
        features: &mut Features,
        sources: FeatureSource<'_>,
    ) -> Result<&[PairCount]> {
        list_earlier(groups, &mut self.earlier);
        self.counts.clear(groups);
        let mut counted = 0;
        while counted < self.earlier.len() {
            counted += self.count_some(counted, groups, features, sources)?;
        }
        Ok(&self.counts.pairs)
    }

    /// Counts the pairs with as many earlier documents as may be numbered together, from one of them on; their number.
    fn count_some(
        &mut self,
        from: usize,
        groups: &[Candidates<'_>],
        features: &mut Features,
        sources: FeatureSource<'_>,
    ) -> Result<usize> {
        let Self { numbers, earlier_sets, later_sets, counts, .. } = self;
        earlier_sets.clear();
        later_sets.clear();
        for &rank in &self.earlier[from..] {
            let elements = features.of(rank, sources)?;
            if earlier_sets.ends.is_empty() {
                numbers.clear(elements.len());
            }
            earlier_sets.push(elements, |elements, into| numbers.number(elements, into));
            if earlier_sets.numbers.len() > NUMBERED {
                break;
            }
        }
        for group in groups {
            let elements = features.of(group.later, sources)?;
            later_sets.push(elements, |elements, into| numbers.find(elements, into));
        }
        let n = earlier_sets.ends.len();
        let ranks = &self.earlier[from..from + n];
        let all = LaneSets { ranks, first: 0, sets: earlier_sets, n_numbers: numbers.n_numbers() };
        if n <= LaneIndex::<1>::LANES {
            self.few.count(all, groups, later_sets, counts);
        } else {
            for (ranks, i) in ranks.chunks(LaneIndex::<8>::LANES).zip(0..) {
                let some = LaneSets { ranks, first: i * LaneIndex::<8>::LANES, ..all };
                self.many.count(some, groups, later_sets, counts);
            }
        }
        Ok(n)
    }
}

/// Earlier documents that get a lane each.
#[derive(Clone, Copy)]
struct LaneSets<'a> {
    ranks: &'a [Rank],
    /// Where their sets begin.
    first: usize,
    sets: &'a NumberLists,
    /// Numbers of elements go up to this.
    n_numbers: usize,
}

/// An index of earlier documents, and counters.
struct Lanes<const W: usize> {
    index: LaneIndex<W>,
    counts: Counts<W>,
}

impl<const W: usize> Default for Lanes<W> {
    fn default() -> Self {
        Self { index: LaneIndex::default(), counts: Counts::new() }
    }
}

impl<const W: usize> Lanes<W> {
    /// Counts all pairs whose earlier document has a lane.
    fn count(
        &mut self,
        lanes: LaneSets<'_>,
        groups: &[Candidates<'_>],
        later: &NumberLists,
        GroupCounts { pairs, done }: &mut GroupCounts,
    ) {
        let Self { index, counts } = self;
        let LaneSets { ranks, first, sets, n_numbers } = lanes;
        index.clear(n_numbers);
        for lane in 0..ranks.len() {
            index.insert(lane, sets.get(first + lane));
        }
        let sizes = &sets.sizes[first..];
        let (last, mut end) = (ranks[ranks.len() - 1], 0);
        for (i, (group, done)) in groups.iter().zip(done).enumerate() {
            let start = end + *done as usize;
            end += group.earlier.len();
            // Pairs are sorted, and so are the lanes.
            let rest = &group.earlier[*done as usize..];
            if rest.first().is_none_or(|rank| *rank > last) {
                continue;
            }
            index.count(later.get(i), counts);
            let mut lane = 0;
            let here = rest.iter().take_while(|rank| **rank <= last);
            for (&rank, pair) in here.zip(&mut pairs[start..end]) {
                lane += ranks[lane..]
                    .iter()
                    .position(|other| *other == rank)
                    .expect("every earlier document has a lane");
                *pair = PairCount { intersection: counts.get(lane), sizes: later.sizes[i] + sizes[lane] };
                *done += 1;
            }
        }
    }
}

//! Which of many sets have an element, as a bit mask; and counting in as many lanes at once.

use benzer_core::Level;

/// Elements of up to 64 W sets. Elements are numbers of an [`IdMap`](super::id_map::IdMap).
#[derive(Debug, Default)]
pub(super) struct LaneIndex<const W: usize> {
    /// The sets that have each element.
    lanes: Vec<[u64; W]>,
}

impl<const W: usize> LaneIndex<W> {
    /// Sets of an index.
    pub const LANES: usize = 64 * W;

    /// Empties it; numbers go up to `max`.
    pub fn clear(&mut self, max: usize) {
        self.lanes.clear();
        self.lanes.resize(max + 1, [0; W]);
    }

    /// Adds the elements of a set.
    pub fn insert(&mut self, lane: usize, elements: &[u32]) {
        for &element in elements {
            self.lanes[element as usize][lane / 64] |= 1 << (lane % 64);
        }
    }

    /// How many of some distinct elements each set has. The loops are plain; compiled for wide vectors they take a whole mask at a time.
    pub fn count(&self, elements: &[u32], counts: &mut Counts<W>) {
        #[cfg(target_arch = "x86_64")]
        match Level::best() {
            // SAFETY: the level is only the best one if the CPU has it, and it includes the feature.
            Level::Avx512 if W > 1 => return unsafe { self.count_avx512(elements, counts) },
            // SAFETY: as above.
            Level::Avx2 if W > 1 => return unsafe { self.count_avx2(elements, counts) },
            _ => {}
        }
        self.count_plainly(elements, counts);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn count_avx512(&self, elements: &[u32], counts: &mut Counts<W>) {
        self.count_plainly(elements, counts);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn count_avx2(&self, elements: &[u32], counts: &mut Counts<W>) {
        self.count_plainly(elements, counts);
    }

    #[inline(always)]
    fn count_plainly(&self, elements: &[u32], counts: &mut Counts<W>) {
        counts.clear(elements.len());
        for elements in elements.chunks(Counts::<W>::BATCH) {
            let mut small = [[0; W]; 4];
            for &element in elements {
                let mut carry = self.lanes[element as usize];
                for plane in &mut small {
                    for (bits, carry) in plane.iter_mut().zip(&mut carry) {
                        (*bits, *carry) = (*bits ^ *carry, *bits & *carry);
                    }
                }
            }
            counts.add(small);
        }
    }
}

/// 64 W counters, bit by bit: plane `i` holds bit `i` of each.
#[derive(Debug)]
pub(super) struct Counts<const W: usize> {
    planes: [[u64; W]; 32],
    /// Planes in use.
    n: usize,
}

impl<const W: usize> Counts<W> {
    /// What four bits can count.
    const BATCH: usize = 15;

    pub fn new() -> Self {
        Self { planes: [[0; W]; 32], n: 0 }
    }

    /// Sets all counters to zero; they can count up to `max`.
    #[inline(always)]
    fn clear(&mut self, max: usize) {
        let bits = (usize::BITS - max.leading_zeros()) as usize;
        self.n = bits.clamp(4, 32);
        self.planes[..self.n].fill([0; W]);
    }

    /// Adds counters of four bits.
    #[inline(always)]
    fn add(&mut self, small: [[u64; W]; 4]) {
        let mut carry = [0; W];
        for (plane, more) in self.planes.iter_mut().zip(small) {
            for ((bits, more), carry) in plane.iter_mut().zip(more).zip(&mut carry) {
                let sum = *bits ^ more ^ *carry;
                *carry = (*bits & more) | (*carry & (*bits ^ more));
                *bits = sum;
            }
        }
        for plane in &mut self.planes[4..self.n] {
            for (bits, carry) in plane.iter_mut().zip(&mut carry) {
                (*bits, *carry) = (*bits ^ *carry, *bits & *carry);
            }
        }
    }

    /// The counter of a lane.
    #[inline]
    pub fn get(&self, lane: usize) -> u32 {
        let bits = self.planes[..self.n].iter().enumerate();
        bits.map(|(i, plane)| ((plane[lane / 64] >> (lane % 64) & 1) as u32) << i).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn check<const W: usize>(sets: &[BTreeSet<u32>], queries: &[BTreeSet<u32>]) {
        let list = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<u32>>();
        let mut index = LaneIndex::<W>::default();
        for _ in 0..2 {
            index.clear(300);
            // The last lanes too.
            let lanes = (0..sets.len()).map(|i| if i % 2 == 0 { i } else { LaneIndex::<W>::LANES - i });
            let lanes: Vec<usize> = lanes.collect();
            sets.iter().zip(&lanes).for_each(|(set, &lane)| index.insert(lane, &list(set)));
            let mut counts = Counts::new();
            for query in queries {
                index.count(&list(query), &mut counts);
                for (set, &lane) in sets.iter().zip(&lanes) {
                    assert_eq!(counts.get(lane) as usize, query.intersection(set).count());
                }
            }
        }
    }

    fn elements() -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(1u32..=300, 0..200)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_sets(sets in prop::collection::vec(elements(), 1..40), queries in prop::collection::vec(elements(), 1..4)) {
            check::<1>(&sets, &queries);
            check::<8>(&sets, &queries);
        }
    }

    #[test]
    fn counters_carry_far() {
        let mut index = LaneIndex::<8>::default();
        index.clear(100_000);
        let elements: Vec<u32> = (1..=100_000).collect();
        index.insert(511, &elements);
        index.insert(0, &elements[..70_000]);
        let mut counts = Counts::new();
        index.count(&elements, &mut counts);
        assert_eq!((counts.get(511), counts.get(0), counts.get(7)), (100_000, 70_000, 0));
    }
}

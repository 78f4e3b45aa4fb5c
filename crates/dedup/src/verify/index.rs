//! Which of many sets have an element, as a bit mask; and counting in as many lanes at once.

use benzer_core::Level;

/// Elements of up to 64 W sets. Open addressing without hashing, because elements are hashes already; it grows, so that sets that share most elements stay in the cache.
#[derive(Debug, Default)]
pub(super) struct Index<const W: usize> {
    /// The element of each slot. Zero marks an empty one; the element zero has the place behind the last slot.
    elements: Vec<u64>,
    /// The sets that have it.
    lanes: Vec<[u64; W]>,
    n: usize,
}

impl<const W: usize> Index<W> {
    /// Sets of an index.
    pub const LANES: usize = 64 * W;

    /// Empties it.
    pub fn clear(&mut self) {
        self.resize(64);
        self.n = 0;
    }

    fn resize(&mut self, slots: usize) {
        self.elements.clear();
        self.elements.resize(slots, 0);
        self.lanes.clear();
        self.lanes.resize(slots + 1, [0; W]);
    }

    /// Adds the distinct elements of a set.
    pub fn insert(&mut self, lane: usize, elements: &[u64]) {
        for &element in elements {
            let mut slot = self.slot(element);
            if element != 0 && self.elements[slot] == 0 {
                if 2 * self.n >= self.elements.len() {
                    self.grow();
                    slot = self.slot(element);
                }
                self.elements[slot] = element;
                self.n += 1;
            }
            self.lanes[slot][lane / 64] |= 1 << (lane % 64);
        }
    }

    /// Where an element is, or would be.
    #[inline(always)]
    fn slot(&self, element: u64) -> usize {
        if element == 0 {
            return self.elements.len();
        }
        let mask = self.elements.len() - 1;
        let mut slot = element as usize & mask;
        while self.elements[slot] != element && self.elements[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let (elements, lanes) = (std::mem::take(&mut self.elements), std::mem::take(&mut self.lanes));
        self.resize(4 * elements.len());
        for (element, lanes) in elements.iter().zip(&lanes).filter(|(element, _)| **element != 0) {
            let slot = self.slot(*element);
            (self.elements[slot], self.lanes[slot]) = (*element, *lanes);
        }
        let zero = self.slot(0);
        self.lanes[zero] = lanes[elements.len()];
    }

    /// How many of some distinct elements each set has. The loops are plain; compiled for wide vectors they take a whole mask at a time.
    pub fn count(&self, elements: &[u64], counts: &mut Counts<W>) {
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
    fn count_avx512(&self, elements: &[u64], counts: &mut Counts<W>) {
        self.count_plainly(elements, counts);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn count_avx2(&self, elements: &[u64], counts: &mut Counts<W>) {
        self.count_plainly(elements, counts);
    }

    #[inline(always)]
    fn count_plainly(&self, elements: &[u64], counts: &mut Counts<W>) {
        counts.clear(elements.len());
        for elements in elements.chunks(Counts::<W>::BATCH) {
            let mut small = [[0; W]; 4];
            for &element in elements {
                let mut carry = self.lanes[self.slot(element)];
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

    /// Sets all counters to zero; they can count up to `most`.
    #[inline(always)]
    fn clear(&mut self, most: usize) {
        let bits = (usize::BITS - most.leading_zeros()) as usize;
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

    fn elements() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![0u64..60, (0u64..60).prop_map(|x| x << 40), any::<u64>()], 0..200)
    }

    fn check<const W: usize>(sets: &[Vec<u64>], queries: &[Vec<u64>]) {
        let distinct =
            |set: &Vec<u64>| set.iter().copied().collect::<BTreeSet<u64>>().into_iter().collect::<Vec<u64>>();
        let sets: Vec<Vec<u64>> = sets.iter().map(distinct).collect();
        let mut index = Index::<W>::default();
        for _ in 0..2 {
            index.clear();
            // The last lanes too.
            let lanes = (0..sets.len()).map(|i| if i % 2 == 0 { i } else { Index::<W>::LANES - i });
            let lanes: Vec<usize> = lanes.collect();
            sets.iter().zip(&lanes).for_each(|(set, &lane)| index.insert(lane, set));
            let mut counts = Counts::new();
            for query in queries.iter().map(distinct) {
                index.count(&query, &mut counts);
                for (set, &lane) in sets.iter().zip(&lanes) {
                    let expected = query.iter().filter(|x| set.contains(x)).count();
                    assert_eq!(counts.get(lane) as usize, expected);
                }
            }
        }
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
        let mut index = Index::<8>::default();
        index.clear();
        let elements: Vec<u64> = (0..100_000).collect();
        index.insert(511, &elements);
        index.insert(0, &elements[..70_000]);
        let mut counts = Counts::new();
        index.count(&elements, &mut counts);
        assert_eq!((counts.get(511), counts.get(0), counts.get(7)), (100_000, 70_000, 0));
    }
}

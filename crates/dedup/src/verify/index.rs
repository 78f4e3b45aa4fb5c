//! Which of many sets have an element, as a bit mask; and counting in as many lanes at once.

/// Elements of up to 64 W sets. Open addressing without hashing, because elements are hashes already; it grows, so that sets that share most elements stay in the cache.
#[derive(Debug)]
pub(super) struct Index<const W: usize> {
    /// (element, sets that have it); no sets mark an empty slot.
    slots: Vec<(u64, [u64; W])>,
    n: usize,
}

impl<const W: usize> Default for Index<W> {
    fn default() -> Self {
        Self { slots: Vec::new(), n: 0 }
    }
}

impl<const W: usize> Index<W> {
    /// Sets of an index.
    pub const LANES: usize = 64 * W;

    /// Empties it.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(64, (0, [0; W]));
        self.n = 0;
    }

    /// Adds the distinct elements of a set.
    pub fn insert(&mut self, lane: usize, elements: &[u64]) {
        for &element in elements {
            if 2 * self.n >= self.slots.len() {
                self.grow();
            }
            let slot = self.slot(element);
            let (found, lanes) = &mut self.slots[slot];
            self.n += usize::from(*lanes == [0; W]);
            *found = element;
            lanes[lane / 64] |= 1 << (lane % 64);
        }
    }

    /// Where an element is, or would be.
    #[inline]
    fn slot(&self, element: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = element as usize & mask;
        while self.slots[slot].0 != element && self.slots[slot].1 != [0; W] {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let bigger = vec![(0, [0; W]); 4 * self.slots.len()];
        for entry in std::mem::replace(&mut self.slots, bigger) {
            if entry.1 != [0; W] {
                let slot = self.slot(entry.0);
                self.slots[slot] = entry;
            }
        }
    }

    /// How many of some distinct elements each set has.
    pub fn count(&self, elements: &[u64], counts: &mut Counts<W>) {
        counts.clear();
        for elements in elements.chunks(Counts::<W>::BATCH) {
            let mut small = [[0; W]; 4];
            for &element in elements {
                let mut carry = self.slots[self.slot(element)].1;
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
}

impl<const W: usize> Counts<W> {
    /// What four bits can count.
    const BATCH: usize = 15;

    pub fn new() -> Self {
        Self { planes: [[0; W]; 32] }
    }

    fn clear(&mut self) {
        self.planes = [[0; W]; 32];
    }

    /// Adds counters of four bits.
    fn add(&mut self, small: [[u64; W]; 4]) {
        let mut carry = [0; W];
        for (plane, more) in self.planes.iter_mut().zip(small) {
            for ((bits, more), carry) in plane.iter_mut().zip(more).zip(&mut carry) {
                let sum = *bits ^ more ^ *carry;
                *carry = (*bits & more) | (*carry & (*bits ^ more));
                *bits = sum;
            }
        }
        for plane in &mut self.planes[4..] {
            if carry == [0; W] {
                return;
            }
            for (bits, carry) in plane.iter_mut().zip(&mut carry) {
                (*bits, *carry) = (*bits ^ *carry, *bits & *carry);
            }
        }
    }

    /// The counter of a lane, whose value is at most `most`.
    #[inline]
    pub fn get(&self, lane: usize, most: usize) -> u32 {
        let n_planes = (usize::BITS - most.leading_zeros()) as usize;
        let bits = self.planes[..n_planes.min(32)].iter().enumerate();
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
                    assert_eq!(counts.get(lane, query.len()) as usize, expected);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn counts_are_those_of_sets(sets in prop::collection::vec(elements(), 1..40), queries in prop::collection::vec(elements(), 1..4)) {
            check::<1>(&sets, &queries);
            check::<4>(&sets, &queries);
        }
    }

    #[test]
    fn counters_carry_far() {
        let mut index = Index::<4>::default();
        index.clear();
        let elements: Vec<u64> = (0..100_000).collect();
        index.insert(255, &elements);
        index.insert(0, &elements[..70_000]);
        let mut counts = Counts::new();
        index.count(&elements, &mut counts);
        let most = elements.len();
        assert_eq!((counts.get(255, most), counts.get(0, most), counts.get(7, most)), (100_000, 70_000, 0));
    }
}

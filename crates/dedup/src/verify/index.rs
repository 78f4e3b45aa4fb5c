//! Which of up to 64 sets have an element, as a bit mask; and counting in 64 lanes at once.

/// Sets of an index.
pub(super) const LANES: usize = 64;

/// Elements of up to 64 sets. Open addressing without hashing, because elements are hashes already; it grows, so that sets that share most elements stay in the cache.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// (element, sets that have it); no sets mark an empty slot.
    slots: Vec<(u64, u64)>,
    n: usize,
}

impl Index {
    /// Empties it.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(64, (0, 0));
        self.n = 0;
    }

    /// Adds the elements of a set, which may repeat, and gives the number of distinct ones.
    pub fn insert(&mut self, lane: usize, elements: &[u64]) -> usize {
        let bit = 1u64 << lane;
        let mut n_distinct = 0;
        for &element in elements {
            if 2 * self.n >= self.slots.len() {
                self.grow();
            }
            let slot = self.slot(element);
            let (found, lanes) = &mut self.slots[slot];
            self.n += usize::from(*lanes == 0);
            n_distinct += usize::from(*lanes & bit == 0);
            *found = element;
            *lanes |= bit;
        }
        n_distinct
    }

    /// Where an element is, or would be.
    #[inline]
    fn slot(&self, element: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = element as usize & mask;
        while self.slots[slot].1 != 0 && self.slots[slot].0 != element {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let bigger = vec![(0, 0); 4 * self.slots.len()];
        for entry in std::mem::replace(&mut self.slots, bigger) {
            if entry.1 != 0 {
                let slot = self.slot(entry.0);
                self.slots[slot] = entry;
            }
        }
    }

    /// How many of some distinct elements each set has.
    pub fn count(&self, elements: &[u64], counts: &mut Counts) {
        counts.clear();
        for elements in elements.chunks(Counts::BATCH) {
            let mut small = [0; 4];
            for &element in elements {
                let mut carry = self.slots[self.slot(element)].1;
                for plane in &mut small {
                    (*plane, carry) = (*plane ^ carry, *plane & carry);
                }
            }
            counts.add(small);
        }
    }
}

/// 64 counters, bit by bit: plane `i` holds bit `i` of each.
#[derive(Debug)]
pub(super) struct Counts {
    planes: [u64; 32],
}

impl Counts {
    /// What four bits can count.
    const BATCH: usize = 15;

    pub fn new() -> Self {
        Self { planes: [0; 32] }
    }

    fn clear(&mut self) {
        self.planes = [0; 32];
    }

    /// Adds counters of four bits.
    fn add(&mut self, small: [u64; 4]) {
        let mut carry = 0;
        for (plane, more) in self.planes.iter_mut().zip(small) {
            let sum = *plane ^ more ^ carry;
            carry = (*plane & more) | (carry & (*plane ^ more));
            *plane = sum;
        }
        for plane in &mut self.planes[4..] {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    /// The counter of a lane, whose value is at most `most`.
    pub fn get(&self, lane: usize, most: usize) -> u32 {
        let n_planes = (usize::BITS - most.leading_zeros()) as usize;
        let bits = self.planes[..n_planes.min(32)].iter().enumerate();
        bits.map(|(i, plane)| ((plane >> lane & 1) as u32) << i).sum()
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

    proptest! {
        #[test]
        fn counts_are_those_of_sets(sets in prop::collection::vec(elements(), 1..LANES), queries in prop::collection::vec(elements(), 1..4)) {
            let mut index = Index::default();
            for _ in 0..2 {
                index.clear();
                let distinct: Vec<BTreeSet<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
                for (lane, set) in sets.iter().enumerate() {
                    prop_assert_eq!(index.insert(lane, set), distinct[lane].len());
                }
                let mut counts = Counts::new();
                for query in &queries {
                    let query: BTreeSet<u64> = query.iter().copied().collect();
                    let query: Vec<u64> = query.into_iter().collect();
                    index.count(&query, &mut counts);
                    for (lane, set) in distinct.iter().enumerate() {
                        let expected = query.iter().filter(|x| set.contains(x)).count();
                        prop_assert_eq!(counts.get(lane, query.len()) as usize, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn counters_carry_far() {
        let mut index = Index::default();
        index.clear();
        let elements: Vec<u64> = (0..100_000).collect();
        index.insert(63, &elements);
        index.insert(0, &elements[..70_000]);
        let mut counts = Counts::new();
        index.count(&elements, &mut counts);
        let most = elements.len();
        assert_eq!((counts.get(63, most), counts.get(0, most), counts.get(7, most)), (100_000, 70_000, 0));
    }
}

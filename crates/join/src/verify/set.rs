//! Distinct elements, by open addressing without hashing, because elements are hashes already.

/// Slots per element, at least.
const SPARE: usize = 2;

/// The set. Zero marks an empty slot, so the element zero has a flag of its own.
#[derive(Debug, Default)]
pub struct ElementSet {
    slots: Vec<u64>,
    mask: usize,
    has_zero: bool,
}

impl ElementSet {
    /// Empties it, with room for `n` elements.
    fn reset(&mut self, n: usize) {
        let size = (SPARE * n).next_power_of_two().max(16);
        if self.slots.len() < size {
            self.slots = vec![0; size];
        } else {
            self.slots[..size].fill(0);
        }
        self.mask = size - 1;
        self.has_zero = false;
    }

    /// True if the element is new.
    #[inline]
    fn insert(&mut self, element: u64) -> bool {
        if element == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        let mut slot = element as usize & self.mask;
        loop {
            match self.slots[slot] {
                0 => {
                    self.slots[slot] = element;
                    return true;
                }
                found if found == element => return false,
                _ => slot = (slot + 1) & self.mask,
            }
        }
    }

    /// Moves the distinct elements to the front and gives their number.
    pub fn distinct(&mut self, elements: &mut [u64]) -> usize {
        self.reset(elements.len());
        let mut n = 0;
        for i in 0..elements.len() {
            elements[n] = elements[i];
            n += usize::from(self.insert(elements[i]));
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn distinct_elements_are_left(elements in prop::collection::vec(prop_oneof![0u64..30, any::<u64>(), (0u64..30).prop_map(|x| x << 40)], 0..200)) {
            let expected: BTreeSet<u64> = elements.iter().copied().collect();
            let mut set = ElementSet::default();
            for _ in 0..2 {
                let mut distinct = elements.clone();
                let n = set.distinct(&mut distinct);
                prop_assert_eq!(distinct[..n].iter().copied().collect::<BTreeSet<_>>(), expected.clone());
                prop_assert_eq!(n, expected.len());
            }
        }
    }
}

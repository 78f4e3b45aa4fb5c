//! Open addressing: tables in which an entry lies in the slot that its hash says, or in the first free one behind it.
//!
//! What a slot holds is the matter of each table: [`probe`] asks a closure. Elements are hashes already, so that their lowest bits say
//! where to begin. [`ElementSet`] is the simplest table.

/// Slots per element of an [`ElementSet`], at least.
const SPARE: usize = 2;

/// How many slots a table for `n` entries has, `spare` for each at least: a power of two.
#[inline]
pub fn n_slots(n: usize, spare: usize) -> usize {
    (spare * n).next_power_of_two().max(16)
}

/// Shows the slots of a table of `n_slots` (a power of two) to `visit`, in a circle from the one that `hash` says, until it has an answer: at the entry, or at a free slot.
///
/// ```
/// use benzer_core::slots;
/// let table = [0, 9, 17, 0];
/// let place = |element| {
///     let ends = |slot: usize| table[slot] == element || table[slot] == 0;
///     slots::probe(element, table.len(), |slot| ends(slot).then_some(slot))
/// };
/// assert_eq!([place(9), place(17), place(25)], [1, 2, 3]);
/// ```
#[inline(always)]
pub fn probe<T>(hash: u64, n_slots: usize, mut visit: impl FnMut(usize) -> Option<T>) -> T {
    let mask = n_slots - 1;
    let mut slot = hash as usize & mask;
    loop {
        if let Some(answer) = visit(slot) {
            return answer;
        }
        slot = (slot + 1) & mask;
    }
}

/// A set of elements.
///
/// ```
/// use benzer_core::slots::ElementSet;
/// let mut set = ElementSet::default();
/// let mut elements = [7, 5, 7, 0, 5];
/// let n = set.distinct(&mut elements);
/// assert_eq!(elements[..n], [7, 5, 0]);
/// assert!(set.contains(5) && !set.contains(6));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ElementSet {
    /// Zero marks a free slot, so the element zero has a flag of its own.
    slots: Vec<u64>,
    n_slots: usize,
    has_zero: bool,
}

impl ElementSet {
    /// Empties it, with slots for `n` elements.
    pub fn reset(&mut self, n: usize) {
        self.n_slots = n_slots(n, SPARE);
        if self.slots.len() < self.n_slots {
            self.slots = vec![0; self.n_slots];
        } else {
            self.slots[..self.n_slots].fill(0);
        }
        self.has_zero = false;
    }

    /// Adds an element, for which [`ElementSet::reset`] made a slot; true if it is new.
    #[inline]
    pub fn insert(&mut self, element: u64) -> bool {
        if element == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        probe(element, self.n_slots, |slot| match self.slots[slot] {
            0 => {
                self.slots[slot] = element;
                Some(true)
            }
            found => (found == element).then_some(false),
        })
    }

    /// True if an element is in it.
    ///
    /// # Panics
    /// A set that was never [`reset`](ElementSet::reset).
    #[inline]
    pub fn contains(&self, element: u64) -> bool {
        if element == 0 {
            return self.has_zero;
        }
        probe(element, self.n_slots, |slot| match self.slots[slot] {
            0 => Some(false),
            found => (found == element).then_some(true),
        })
    }

    /// Makes it the set of some elements, moves the distinct ones of them to the front, in order, and gives their number.
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
                prop_assert!((0..60).all(|x| set.contains(x) == expected.contains(&x)));
            }
        }
    }
}

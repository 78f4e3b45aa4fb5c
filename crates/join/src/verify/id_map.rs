//! Elements numbered as they come: 1, 2, 3.

use benzer_core::slots::{n_slots, probe};

/// Numbers of elements. It grows, so that sets that share most elements stay in the cache.
#[derive(Debug, Default)]
pub struct IdMap {
    slots: Vec<Slot>,
    /// Where they were before they grew.
    outgrown: Vec<Slot>,
    n: u32,
}

/// Number 0 marks an empty slot.
#[derive(Debug, Default, Clone, Copy)]
struct Slot {
    element: u64,
    number: u32,
}

/// Slots per element when it begins, and when it grows.
const SPARE: usize = 4;

impl IdMap {
    /// Forgets all; about so many elements will come, or some times more.
    pub fn clear(&mut self, expected: usize) {
        self.n = 0;
        self.slots.clear();
        self.slots.resize(n_slots(expected, SPARE).max(64), Slot::default());
    }

    /// How many elements have a number.
    pub(super) fn n_numbers(&self) -> usize {
        self.n as usize
    }

    /// Appends the number of each element; new ones get the next.
    pub fn number(&mut self, elements: &[u64], numbers: &mut Vec<u32>) {
        for &element in elements {
            let mut at = self.slot(element);
            if self.slots[at].number == 0 {
                if 2 * self.n_numbers() >= self.slots.len() {
                    self.grow();
                    at = self.slot(element);
                }
                self.n += 1;
                self.slots[at] = Slot { element, number: self.n };
            }
            numbers.push(self.slots[at].number);
        }
    }

    /// Appends the numbers of those elements that have one.
    pub fn find(&self, elements: &[u64], numbers: &mut Vec<u32>) {
        let mut end = numbers.len();
        numbers.resize(end + elements.len(), 0);
        for &element in elements {
            let number = self.slots[self.slot(element)].number;
            numbers[end] = number;
            end += usize::from(number != 0);
        }
        numbers.truncate(end);
    }

    /// Where an element is, or would be.
    #[inline(always)]
    fn slot(&self, element: u64) -> usize {
        probe(element, self.slots.len(), |at| {
            let slot = &self.slots[at];
            (slot.element == element || slot.number == 0).then_some(at)
        })
    }

    fn grow(&mut self) {
        std::mem::swap(&mut self.slots, &mut self.outgrown);
        self.slots.clear();
        self.slots.resize(SPARE * self.outgrown.len(), Slot::default());
        for i in 0..self.outgrown.len() {
            let old = self.outgrown[i];
            if old.number != 0 {
                let at = self.slot(old.element);
                self.slots[at] = old;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn elements() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![0u64..60, (0u64..60).prop_map(|x| x << 40), any::<u64>()], 0..300)
    }

    proptest! {
        #[test]
        fn equal_elements_have_equal_numbers(first in elements(), second in elements(), expected in 0usize..50) {
            let mut numbers = IdMap::default();
            for _ in 0..2 {
                numbers.clear(expected);
                let (mut known, mut given, mut found) = (HashMap::new(), Vec::new(), Vec::new());
                numbers.number(&first, &mut given);
                for (element, number) in first.iter().zip(&given) {
                    let next = known.len() as u32 + 1;
                    prop_assert_eq!(*known.entry(*element).or_insert(next), *number);
                }
                prop_assert_eq!(numbers.n_numbers(), known.len());
                numbers.find(&second, &mut found);
                let expected: Vec<u32> = second.iter().filter_map(|element| known.get(element).copied()).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

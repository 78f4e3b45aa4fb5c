//! How many sets have an element, about.
//!
//! Counters that elements share, by the bits of the element. A counter is never less than the truth, so one that says 1 is exact: nobody
//! else has the element. Any fixed order of the elements is right for the join; this one keeps what is common out of the prefixes.

use std::sync::atomic::{AtomicU16, Ordering};

/// Counters at most, 32 MiB of them, whatever the corpus and the budget.
const MAX_COUNTERS: usize = 1 << 24;
/// Counts above this are all the same. The rest of the type is room for threads that pass it together.
const MAX_COUNT: u16 = 60_000;

/// The counters.
#[derive(Debug)]
pub struct Frequencies {
    counters: Vec<AtomicU16>,
}

impl Frequencies {
    /// Counters for about so many elements.
    pub fn new(n_elements: u64) -> Self {
        let n = n_elements.clamp(1 << 10, MAX_COUNTERS as u64).next_power_of_two();
        Self { counters: (0..n).map(|_| AtomicU16::new(0)).collect() }
    }

    /// Counts the distinct elements of a set.
    pub fn add(&self, elements: &[u64]) {
        let has_room = |element: u64| self.counter(element).load(Ordering::Relaxed) < MAX_COUNT;
        // Counters are far apart. Looking at all of them first lets the CPU wait for many at once, which changing them does not.
        let n_open = elements.iter().filter(|&&element| has_room(element)).count();
        if n_open == 0 {
            return;
        }
        for &element in elements {
            if has_room(element) {
                self.counter(element).fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// The order of elements: rarest first, then by the element.
    #[inline]
    pub fn key(&self, element: u64) -> u128 {
        let count = self.counter(element).load(Ordering::Relaxed).min(MAX_COUNT);
        u128::from(count) << 64 | u128::from(element)
    }

    #[inline]
    fn counter(&self, element: u64) -> &AtomicU16 {
        &self.counters[element as usize & (self.counters.len() - 1)]
    }
}

/// The element of a key.
#[inline]
pub(super) fn element(key: u128) -> u64 {
    key as u64
}

/// True if the element of a key may be in a second set.
#[inline]
pub(super) fn is_shared(key: u128) -> bool {
    key >> 64 > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_flow::workers::on_threads;

    #[test]
    fn a_counter_is_never_less_than_the_truth_and_threads_do_not_change_it() {
        let frequencies = Frequencies::new(0);
        let sets: Vec<Vec<u64>> = (0..300u64).map(|i| (i..i + 7).map(|x| x << 9 | 5).collect()).collect();
        on_threads(&mut [0, 1, 2], |third| {
            sets.iter().skip(*third).step_by(3).for_each(|set| frequencies.add(set));
            Ok(())
        })
        .unwrap();
        // Two slots take all of them in turn.
        let count = |element: u64| frequencies.key(element) >> 64;
        assert_eq!(count(5) + count(1 << 9 | 5), 300 * 7);
        assert_eq!((count(5), count(6)), (300 * 7 / 2, 0));
    }

    #[test]
    fn a_count_stops_at_the_most() {
        let frequencies = Frequencies::new(0);
        let same = [77; 1000];
        for _ in 0..70 {
            frequencies.add(&same);
        }
        assert_eq!(frequencies.key(77), u128::from(MAX_COUNT) << 64 | 77);
        assert!(is_shared(frequencies.key(77)) && !is_shared(frequencies.key(78)));
        assert_eq!(element(frequencies.key(77)), 77);
    }
}

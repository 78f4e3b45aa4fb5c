//! Numbers of records that came before: of one list, and of a whole search.

use std::collections::HashSet;

use crate::record::DocNo;

/// Numbers that are remembered, a power of two.
const REMEMBERED: usize = 1024;

/// Remembers some of the numbers that came lately.
#[derive(Debug)]
pub(super) struct RecentNumbers {
    /// (round, number).
    slots: Vec<u64>,
    round: u32,
}

impl Default for RecentNumbers {
    fn default() -> Self {
        Self { slots: vec![0; REMEMBERED], round: 0 }
    }
}

impl RecentNumbers {
    /// Appends numbers, most of those that come again once only: a similar record comes in many bands.
    pub fn add_new(&mut self, given: &[DocNo], numbers: &mut Vec<DocNo>) {
        self.forget();
        let mut kept = numbers.len();
        numbers.resize(kept + given.len(), 0);
        for &number in given {
            // Whether a number is new cannot be foretold: every one is written, and a new one stays.
            numbers[kept] = number;
            kept += usize::from(self.is_new(number));
        }
        numbers.truncate(kept);
    }

    fn forget(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill(0);
            self.round = 1;
        }
    }

    /// False only for a number that came since [`RecentNumbers::forget`].
    #[inline]
    fn is_new(&mut self, number: DocNo) -> bool {
        let entry = u64::from(self.round) << 32 | u64::from(number);
        let slot = &mut self.slots[number as usize % REMEMBERED];
        std::mem::replace(slot, entry) != entry
    }
}

/// Numbers that came before. Most stores number documents one after the other, so that a bit for each is enough.
#[derive(Debug, Default)]
pub(crate) struct SeenNumbers {
    bits: Vec<u64>,
    others: HashSet<DocNo>,
}

/// Numbers below this have a bit.
const BITS: DocNo = 1 << 26;

impl SeenNumbers {
    /// Those of `given` that did not come before, each once; `new` is overwritten.
    pub fn add_new(&mut self, given: &[DocNo], new: &mut Vec<DocNo>) {
        new.clear();
        let largest = given.iter().copied().filter(|number| *number < BITS).max().unwrap_or(0);
        let words = largest as usize / 64 + 1;
        if words > self.bits.len() {
            self.bits.resize(words, 0);
        }
        new.extend(given.iter().copied().filter(|number| {
            if *number >= BITS {
                return self.others.insert(*number);
            }
            let (word, bit) = (&mut self.bits[*number as usize / 64], 1 << (number % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        }));
    }

    /// As if a number had not come.
    pub fn forget(&mut self, number: DocNo) {
        match self.bits.get_mut(number as usize / 64).filter(|_| number < BITS) {
            Some(word) => *word &= !(1 << (number % 64)),
            None => {
                self.others.remove(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_once_until_they_are_forgotten() {
        let (mut seen, mut new) = (SeenNumbers::default(), Vec::new());
        seen.add_new(&[5, u32::MAX, 5, 70, u32::MAX], &mut new);
        assert_eq!(new, [5, u32::MAX, 70]);
        seen.forget(u32::MAX);
        seen.forget(70);
        seen.add_new(&[5, u32::MAX, 70, 6], &mut new);
        assert_eq!(new, [u32::MAX, 70, 6]);
    }
}

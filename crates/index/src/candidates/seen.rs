//! Numbers of records that came before: of one list, and of a whole search.

use std::collections::HashSet;

use crate::bit_set::BitSet;
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
        numbers.resize(kept + given.len(), DocNo::default());
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
        let entry = u64::from(self.round) << 32 | u64::from(number.0);
        let slot = &mut self.slots[number.0 as usize % REMEMBERED];
        std::mem::replace(slot, entry) != entry
    }
}

/// Numbers that came before. Most stores number documents one after the other, so that a bit for each is enough.
#[derive(Debug, Default)]
pub(crate) struct SeenNumbers {
    bits: BitSet,
    others: HashSet<DocNo>,
}

/// Numbers below this have a bit.
const BITS: DocNo = DocNo(1 << 26);

impl SeenNumbers {
    /// Those of `given` that did not come before, each once; `new` is overwritten.
    pub fn add_new(&mut self, given: &[DocNo], new: &mut Vec<DocNo>) {
        new.clear();
        new.extend(given.iter().copied().filter(|number| match *number < BITS {
            true => self.bits.insert(number.0 as usize),
            false => self.others.insert(*number),
        }));
    }

    /// As if a number had not come.
    pub fn forget(&mut self, number: DocNo) {
        self.bits.remove(number.0 as usize);
        self.others.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_once_until_they_are_forgotten() {
        let (mut seen, mut new) = (SeenNumbers::default(), Vec::new());
        seen.add_new(&[5, u32::MAX, 5, 70, u32::MAX].map(DocNo), &mut new);
        assert_eq!(new, [5, u32::MAX, 70].map(DocNo));
        seen.forget(DocNo(u32::MAX));
        seen.forget(DocNo(70));
        seen.add_new(&[5, u32::MAX, 70, 6].map(DocNo), &mut new);
        assert_eq!(new, [u32::MAX, 70, 6].map(DocNo));
    }
}

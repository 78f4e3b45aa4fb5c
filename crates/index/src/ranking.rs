//! Candidates of a search for the best, by their estimates.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

use crate::score::Rank;
use crate::store::DocNo;

/// A document by its estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub rank: Rank,
    pub number: DocNo,
}

/// Standard errors by which an estimate may be below the last of the best and the document still be better.
const MARGIN: f64 = 6.0;

/// Those that can be among the best.
#[derive(Debug)]
pub(crate) struct Ranking {
    most: usize,
    /// The values of the best so far, the worst of them on top.
    best: BinaryHeap<Reverse<Value>>,
    all: Vec<Ranked>,
}

/// A number that has an order.
#[derive(Debug, PartialEq)]
struct Value(f64);

impl Eq for Value {}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ranking {
    /// For the best so many.
    pub fn new(most: usize) -> Self {
        Self { most, best: BinaryHeap::new(), all: Vec::new() }
    }

    /// False if so many are better in any case. The last of the best has an error, too, and is the luckiest of many: hence the wide margin.
    #[inline]
    pub fn may_be_among(&self, rank: &Rank) -> bool {
        self.last().is_none_or(|last| rank.value + MARGIN * rank.error >= last)
    }

    pub fn push(&mut self, ranked: Ranked) {
        self.best.push(Reverse(Value(ranked.rank.value)));
        if self.best.len() > self.most {
            self.best.pop();
        }
        self.all.push(ranked);
    }

    /// The value of the last of the best, if there are as many.
    #[inline]
    pub fn last(&self) -> Option<f64> {
        let last = self.best.peek().filter(|_| self.best.len() == self.most);
        last.map(|last| last.0.0)
    }

    /// The most similar first.
    pub fn sorted(self) -> Vec<Ranked> {
        let mut all = self.all;
        all.sort_unstable_by(|a, b| b.rank.value.total_cmp(&a.rank.value).then(a.number.cmp(&b.number)));
        all
    }
}

/// Numbers that came before. Most stores number documents one after the other, so that a bit for each is enough.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    bits: Vec<u64>,
    others: HashSet<DocNo>,
}

/// Numbers below this have a bit.
const BITS: DocNo = 1 << 26;

impl Seen {
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
        let (mut seen, mut new) = (Seen::default(), Vec::new());
        seen.add_new(&[5, u32::MAX, 5, 70, u32::MAX], &mut new);
        assert_eq!(new, [5, u32::MAX, 70]);
        seen.forget(u32::MAX);
        seen.forget(70);
        seen.add_new(&[5, u32::MAX, 70, 6], &mut new);
        assert_eq!(new, [u32::MAX, 70, 6]);
    }

    #[test]
    fn what_cannot_be_among_the_best_is_known() {
        let rank = |value: f64| Rank { value, error: 0.01, highest: value + 0.04 };
        let mut ranking = Ranking::new(2);
        assert!(ranking.may_be_among(&rank(0.0)) && ranking.last().is_none());
        for (value, number) in [(0.3, 1), (0.9, 2), (0.5, 3)] {
            ranking.push(Ranked { rank: rank(value), number });
        }
        assert_eq!(ranking.last(), Some(0.5));
        assert!(ranking.may_be_among(&rank(0.45)) && !ranking.may_be_among(&rank(0.43)));
        assert_eq!(ranking.sorted().iter().map(|ranked| ranked.number).collect::<Vec<_>>(), [2, 3, 1]);
    }
}

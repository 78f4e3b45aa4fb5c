//! Candidates of a search for the best, by their estimates.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Rank;
use crate::record::DocNo;

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
    n_best: usize,
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
    pub fn new(n_best: usize) -> Self {
        Self { n_best, best: BinaryHeap::new(), all: Vec::new() }
    }

    /// False if so many are better in any case. The last of the best has an error, too, and is the luckiest of many: hence the wide margin.
    #[inline]
    pub fn may_be_among(&self, rank: &Rank) -> bool {
        self.last().is_none_or(|last| rank.value + MARGIN * rank.error >= last)
    }

    pub fn push(&mut self, ranked: Ranked) {
        self.best.push(Reverse(Value(ranked.rank.value)));
        if self.best.len() > self.n_best {
            self.best.pop();
        }
        self.all.push(ranked);
    }

    /// The value of the last of the best, if there are as many.
    #[inline]
    pub fn last(&self) -> Option<f64> {
        let last = self.best.peek().filter(|_| self.best.len() == self.n_best);
        last.map(|last| last.0.0)
    }

    /// The most similar first.
    pub fn sorted(self) -> Vec<Ranked> {
        let mut all = self.all;
        all.sort_unstable_by(|a, b| b.rank.value.total_cmp(&a.rank.value).then(a.number.cmp(&b.number)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_among_the_best_is_known() {
        let rank = |value: f64| Rank { value, error: 0.01, highest: value + 0.04 };
        let mut ranking = Ranking::new(2);
        assert!(ranking.may_be_among(&rank(0.0)) && ranking.last().is_none());
        for (value, number) in [(0.3, 1), (0.9, 2), (0.5, 3)] {
            ranking.push(Ranked { rank: rank(value), number: DocNo(number) });
        }
        assert_eq!(ranking.last(), Some(0.5));
        assert!(ranking.may_be_among(&rank(0.45)) && !ranking.may_be_among(&rank(0.43)));
        assert_eq!(ranking.sorted().iter().map(|ranked| ranked.number.0).collect::<Vec<_>>(), [2, 3, 1]);
    }
}

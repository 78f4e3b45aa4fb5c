//! Shares of pairs with an interval that knows that pairs of one document are alike.
//!
//! Pairs are not drawn one by one: documents are, `a` with probability p and `b` with probability q. With d = x - R for each pair, where x is 1 or 0 and R the share,
//!
//! ```text
//! V = ((1-p) sum_a (sum of d of a's pairs)^2 + (1-q) sum_b (sum of d of b's pairs)^2 - (1-p)(1-q) sum d^2) / n^2
//! ```
//!
//! is the variance of the share, clustered by both documents (Cameron, Gelbach and Miller 2011) with the correction for draws from few. It is not taken to be less than that of
//! independent pairs. R (1-R) / V is the number of independent pairs that know as much; with it the interval is Wilson's, which does not collapse near 1. Where all pairs or none are
//! found, V says nothing; then all pairs of a document are taken for one (d = 1), which is the worst case. Where everything was compared with everything, the share is exact.

use benzer_core::estimate::interval::{Quadratic, score};
use serde::{Deserialize, Serialize};

use super::Pair;

/// A share with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// The interval begins here,
    pub low: f64,
    /// and ends here.
    pub high: f64,
}

/// How the pairs were met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Design {
    /// Between two draws, which have these shares of all documents.
    Draws([f64; 2]),
    /// By documents drawn with this probability, with others that have the same minimum.
    Twins(f64),
}

/// Pairs whose documents are numbered.
#[derive(Debug)]
pub(super) struct Shares<'a> {
    pairs: &'a [Pair],
    /// Of each pair the number of the document that was drawn, and that of the other.
    numbers: [Vec<u32>; 2],
    /// How many documents there are on each side.
    n: [usize; 2],
    design: Design,
}

impl<'a> Shares<'a> {
    pub fn new(pairs: &'a [Pair], design: Design) -> Self {
        let rank = |pair: &Pair, side: usize| match pair.later_is_drawn == (side == 0) {
            true => pair.edge.later,
            false => pair.edge.earlier,
        };
        let mut n = [0; 2];
        let numbers = [0, 1].map(|side| {
            let mut ranks: Vec<u32> = pairs.iter().map(|pair| rank(pair, side)).collect();
            ranks.sort_unstable();
            ranks.dedup();
            n[side] = ranks.len();
            pairs.iter().map(|pair| ranks.partition_point(|other| *other < rank(pair, side)) as u32).collect()
        });
        Self { pairs, numbers, n, design }
    }

    /// The same for some of the pairs.
    pub fn part<'b>(&self, pairs: &'b [Pair]) -> Shares<'b> {
        Shares::new(pairs, self.design)
    }

    /// The share of the pairs for which something is true.
    pub fn of(&self, is: impl Fn(&Pair) -> bool) -> Option<Share> {
        if self.pairs.is_empty() {
            return None;
        }
        let n = self.pairs.len() as f64;
        let all: f64 = self.pairs.iter().map(|pair| pair.weight).sum();
        let value = self.pairs.iter().filter(|pair| is(pair)).map(|pair| pair.weight).sum::<f64>() / all;
        let [p, q] = self.drawn();
        let independent = (1.0 - p * q) / n;
        let variance = match value > 0.0 && value < 1.0 {
            true => {
                let deviation = |pair: &Pair| f64::from(u8::from(is(pair))) - value;
                self.variance(deviation) / (value * (1.0 - value))
            }
            false => self.variance(|_| 1.0),
        };
        let variance = variance.max(independent);
        if variance <= 0.0 {
            return Some(Share { value, low: value, high: value });
        }
        let [low, high] = score(value, 1.0 / variance, Quadratic::BINOMIAL);
        Some(Share { value, low: low.clamp(0.0, value), high: high.clamp(value, 1.0) })
    }

    /// The shares of all documents that were drawn, and that they were compared with.
    fn drawn(&self) -> [f64; 2] {
        match self.design {
            Design::Draws(drawn) => drawn,
            Design::Twins(_) => [0.0, 1.0],
        }
    }

    fn variance(&self, deviation: impl Fn(&Pair) -> f64) -> f64 {
        let squares = |side: usize| {
            let mut sums = vec![0.0; self.n[side]];
            for (pair, &number) in self.pairs.iter().zip(&self.numbers[side]) {
                sums[number as usize] += pair.weight * deviation(pair);
            }
            sums.iter().map(|sum| sum * sum).sum::<f64>()
        };
        let each: f64 = self.pairs.iter().map(|pair| (pair.weight * deviation(pair)).powi(2)).sum();
        let [rest_p, rest_q] = self.drawn().map(|share| 1.0 - share);
        let n: f64 = self.pairs.iter().map(|pair| pair.weight).sum();
        (rest_p * squares(0) + rest_q * squares(1) - rest_p * rest_q * each) / (n * n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::Edge;
    use benzer_core::hash::split;

    fn pair(drawn: u32, other: u32, found: bool) -> Pair {
        let later = drawn.max(other);
        let edge = Edge { later, earlier: drawn.min(other), intersection: 1, union: 1 };
        Pair { found, ..Pair::new(edge, drawn == later) }
    }

    fn found(pairs: &[Pair], drawn: [f64; 2]) -> Share {
        Shares::new(pairs, Design::Draws(drawn)).of(|pair| pair.found).unwrap()
    }

    #[test]
    fn independent_pairs_have_the_interval_of_wilson() {
        let pairs: Vec<Pair> = (0..500).map(|i| pair(2 * i, 2 * i + 1, i % 50 != 0)).collect();
        let share = found(&pairs, [0.0; 2]);
        let [low, high] = score(0.98, 500.0, Quadratic::BINOMIAL);
        assert!((share.value - 0.98).abs() < 1e-12);
        assert!((share.low - low).abs() < 1e-9 && (share.high - high).abs() < 1e-9, "{share:?}");
        // Half of all documents with everyone leaves less to chance, and everything leaves nothing.
        let half = found(&pairs, [0.5, 1.0]);
        assert!(half.low > share.low && half.high < share.high);
        assert_eq!(found(&pairs, [1.0; 2]), Share { value: 0.98, low: 0.98, high: 0.98 });
        assert_eq!(Shares::new(&[], Design::Draws([0.5; 2])).of(|_| true), None);
    }

    #[test]
    fn pairs_that_share_their_fate_count_once() {
        // Ten pairs of each drawn document, all found or none.
        let pairs: Vec<Pair> = (0..1000).map(|i| pair(i / 10, 1000 + i, (i / 10) % 20 != 0)).collect();
        let share = found(&pairs, [0.0; 2]);
        let [low, high] = score(0.95, 100.0, Quadratic::BINOMIAL);
        assert!((share.low - low).abs() < 1e-9 && (share.high - high).abs() < 1e-9, "{share:?}");
        // Also if none is missed.
        let all: Vec<Pair> = pairs.iter().map(|pair| Pair { found: true, ..*pair }).collect();
        let share = found(&all, [0.0; 2]);
        assert!((share.low - score(1.0, 100.0, Quadratic::BINOMIAL)[0]).abs() < 1e-9, "{share:?}");
        assert_eq!(share.high, 1.0);
    }

    /// Draws from a graph of clusters, in which a cluster's pairs are found together or not: the interval must hold the share of the whole graph about 95 times of 100.
    #[test]
    fn the_interval_covers_the_truth() {
        const N: u64 = 3000;
        let cluster = |rank: u64| rank / (2 + split(1, rank / 6) % 3).min(3) / 2;
        let is_found = |a: u64, b: u64| {
            let together = !split(2, cluster(a)).is_multiple_of(10);
            together && !split(split(3, a.min(b)), a.max(b)).is_multiple_of(20)
        };
        let all: Vec<(u64, u64)> = (0..N)
            .flat_map(|a| (a.saturating_sub(8)..a).map(move |b| (a, b)))
            .filter(|&(a, b)| cluster(a) == cluster(b))
            .collect();
        let truth = all.iter().filter(|(a, b)| is_found(*a, *b)).count() as f64 / all.len() as f64;
        for (p, q) in [(0.2, 1.0), (0.4, 0.5), (0.7, 0.7)] {
            let (rounds, mut covered) = (400, 0);
            for round in 0..rounds {
                let is = |rank: u64, role: u64, share: f64| {
                    (split(split(round, role), rank) as f64) < share * u64::MAX as f64
                };
                let mut pairs = Vec::new();
                for &(a, b) in &all {
                    let role = |drawn, other| is(drawn, 10, p) && is(other, 11, q);
                    if role(a, b) {
                        pairs.push(pair(a as u32, b as u32, is_found(a, b)));
                    } else if role(b, a) {
                        pairs.push(pair(b as u32, a as u32, is_found(a, b)));
                    }
                }
                let share = found(&pairs, [p, q]);
                covered += u64::from(share.low <= truth && truth <= share.high);
            }
            let share = covered as f64 / rounds as f64;
            assert!((0.92..=0.995).contains(&share), "{p} {q}: {share}");
        }
    }
}

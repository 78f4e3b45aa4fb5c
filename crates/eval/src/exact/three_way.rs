//! How often the three-way estimate (8) of 000 reaches a threshold: the exact sum over the counts of `k` independent registers.
//!
//! A register is equal in all three sets, in exactly one pair, or in none, so the counts are trinomial and (8) is linear in them. For
//! `x` registers that are equal in all three, the estimate falls with the number `y` of registers that are equal in one pair: it reaches the threshold
//! up to some `y`, whose probability is a binomial sum. The probability is a polynomial in the similarities; for hundreds of thousands of groups it is
//! interpolated between points at which it was summed.

use std::collections::HashMap;

use benzer_core::estimate::three_way;

use super::binomial;

/// What equals a threshold must not miss it by rounding; different estimates and similarities are further apart.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Steps between similarities 0 and 1, and between the least and the most that the pairs can add.
const STEPS: [usize; 2] = [500, 50];
/// What pairs may add, as a share of the most they can, for interpolation.
const LARGEST_EXCESS: f64 = 0.6;

/// The probabilities that a register of `b` bits is equal in all three sets, and that it is equal in exactly one pair.
pub(crate) fn chances(jaccard: f64, pairs: f64, b: u32) -> [f64; 2] {
    let q = (-f64::from(b)).exp2();
    let all = three_way::probability(jaccard, pairs, b).clamp(0.0, 1.0);
    [all, (3.0 * q + (1.0 - q) * pairs - 3.0 * all).clamp(0.0, 1.0 - all)]
}

/// The probability that (8) from `k` registers of `b` bits reaches each of `N` thresholds.
pub(crate) struct Reach<const N: usize> {
    b: u32,
    k: usize,
    thresholds: [f64; N],
    points: HashMap<[usize; 2], [f64; N]>,
}

impl<const N: usize> Reach<N> {
    pub fn new(b: u32, k: usize, thresholds: [f64; N]) -> Self {
        Self { b, k, thresholds, points: HashMap::new() }
    }

    /// For three-way similarity `jaccard` and the sum `pairs` of the pair similarities: interpolated by cubics, to about 1e-5.
    pub fn at(&mut self, jaccard: f64, pairs: f64) -> [f64; N] {
        // What pairs can add to three times the similarity is between 0 and 1 - R.
        let excess = if jaccard < 1.0 { (pairs - 3.0 * jaccard) / (1.0 - jaccard) } else { 0.0 };
        // If every element lies in two sets, no register differs in all three and fewer sums are possible: near there nothing is smooth.
        if excess > LARGEST_EXCESS {
            return self.summed(jaccard, pairs);
        }
        let [(i, across), (j, along)] = [stencil(jaccard, STEPS[0]), stencil(excess, STEPS[1])];
        let mut sum = [0.0; N];
        for (di, x) in across.iter().enumerate() {
            for (dj, y) in along.iter().enumerate() {
                let point = self.point([i + di, j + dj]);
                sum.iter_mut().zip(point).for_each(|(sum, p)| *sum += x * y * p);
            }
        }
        sum.map(|p| p.clamp(0.0, 1.0))
    }

    /// The same, summed and not interpolated.
    pub fn summed(&self, jaccard: f64, pairs: f64) -> [f64; N] {
        let [all, one] = chances(jaccard, pairs, self.b);
        let n = f64::from(self.b).exp2();
        let [pair, none] = [-1.0 / (n - 1.0), 2.0 / ((n - 1.0) * (n - 2.0))];
        let (k, share) = (self.k as f64, if all < 1.0 { one / (1.0 - all) } else { 0.0 });
        let mut sum = [0.0; N];
        for (x, weight) in binomial(self.k, all).into_iter().enumerate().filter(|(_, w)| *w > 1e-14) {
            let rest = self.k - x;
            let mut others = Vec::new();
            for (sum, threshold) in sum.iter_mut().zip(self.thresholds) {
                let spare = x as f64 + none * rest as f64 - k * (threshold - ROUNDING);
                let max = (spare / (none - pair)) as usize;
                if spare >= 0.0 && max >= rest {
                    *sum += weight;
                } else if spare >= 0.0 {
                    if others.is_empty() {
                        others = binomial(rest, share.min(1.0));
                    }
                    *sum += weight * others[..=max].iter().sum::<f64>();
                }
            }
        }
        sum
    }

    fn point(&mut self, place: [usize; 2]) -> [f64; N] {
        if let Some(point) = self.points.get(&place) {
            return *point;
        }
        let [jaccard, excess] = [0, 1].map(|i| place[i] as f64 / STEPS[i] as f64);
        let point = self.summed(jaccard, 3.0 * jaccard + excess * (1.0 - jaccard));
        self.points.insert(place, point);
        point
    }
}

/// The first of four neighbouring places for a value from 0 to 1, and their weights in the cubic through them.
fn stencil(value: f64, steps: usize) -> (usize, [f64; 4]) {
    let place = value.clamp(0.0, 1.0) * steps as f64;
    let first = (place as usize).saturating_sub(1).min(steps - 3);
    let x = place - first as f64;
    let weight = |i: usize| {
        let others = (0..4).filter(|&j| j != i);
        others.map(|j| (x - j as f64) / (i as f64 - j as f64)).product()
    };
    (first, std::array::from_fn(weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::estimate::three_way::{Agreement, ThreeWayBits};

    /// Over every outcome of seven registers, with the estimator itself.
    fn brute_force(b: u32, jaccard: f64, pairs: f64, threshold: f64) -> f64 {
        let q = (-f64::from(b)).exp2();
        let all = three_way::probability(jaccard, pairs, b);
        let one = 3.0 * q + (1.0 - q) * pairs - 3.0 * all;
        let chances = [all, one, 1.0 - all - one];
        let (k, mut sum) = (7, 0.0);
        for outcome in 0..3usize.pow(k) {
            let (mut counts, mut p, mut rest) = ([0usize; 3], 1.0, outcome);
            for _ in 0..k {
                counts[rest % 3] += 1;
                p *= chances[rest % 3];
                rest /= 3;
            }
            let agreement = Agreement { all: counts[0], only: [counts[1], 0, 0], none: counts[2] };
            let estimate = three_way::raw(agreement.rates().unwrap(), ThreeWayBits::new(b).unwrap());
            sum += if estimate >= threshold - ROUNDING { p } else { 0.0 };
        }
        sum
    }

    #[test]
    fn the_sum_is_that_over_all_outcomes() {
        for b in [2, 4, 64] {
            for (jaccard, pairs) in [(0.0, 0.0), (0.1, 0.5), (0.3, 0.9), (0.3, 1.6), (0.9, 2.75)] {
                let got = Reach::new(b, 7, [0.1, 3.0 / 7.0]).summed(jaccard, pairs);
                for (got, threshold) in got.into_iter().zip([0.1, 3.0 / 7.0]) {
                    let expected = brute_force(b, jaccard, pairs, threshold);
                    assert!((got - expected).abs() < 1e-12, "{b} {jaccard} {pairs}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn between_points_it_is_right_to_a_hundred_thousandth() {
        for (b, k) in [(2, 500), (4, 100), (64, 500), (2, 50)] {
            let mut reach = Reach::new(b, k, [0.1, 0.2, 0.3]);
            for (jaccard, excess) in
                [(0.0, 0.03), (0.0953, 0.31), (0.2121, 0.59), (0.2121, 0.86), (0.3337, 0.02), (0.71, 1.0)]
            {
                let pairs = 3.0 * jaccard + excess * (1.0 - jaccard);
                let (near, exact) = (reach.at(jaccard, pairs), reach.summed(jaccard, pairs));
                for (near, exact) in near.into_iter().zip(exact) {
                    assert!((near - exact).abs() < 1e-5, "{b} {k} {jaccard}: {near} {exact}");
                }
            }
        }
    }
}

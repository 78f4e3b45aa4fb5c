//! Three-way similarity from b-bit registers of dense sets (three-way b-bit hashing, Theorem 1 and section 4), in
//! closed form.
//!
//! With `A_i = A(r_i, b)`, `G_ij = A(u_ij, b)` for the pair union `u_ij = r_i + r_j - s_ij`, and
//! `W_ij = G_ij (s_ij + (r_i - s_ij) A_j + (r_j - s_ij) A_i) / u_ij`:
//!
//! ```text
//! P  = (Z + s)/u,      Z = Z0 + Z1 s,      u = u0 + s
//! Z0 = s12 A_3 + s13 A_2 + s23 A_1 + (r1-s12-s13) W_23 + (r2-s12-s23) W_13 + (r3-s13-s23) W_12
//! Z1 = W_12 + W_13 + W_23 - A_1 - A_2 - A_3
//! R  = (P - Z0/u0) / (1 + Z1 - Z0/u0)
//! ```
//!
//! Reading: the first hit of the union lies in all three sets (`s`), in two (then wait for the third: `A`), or in one
//! (wait for the union of the other two: `G`). The paper iterates `s <- P u - Z`; that is affine in `s`, so it is
//! solved in one step. In the sparse limit this equals (8).
//!
//! Pairs are always in the order 12, 13, 23.

use super::input;
use super::{
    Estimate,
    collision::{Collision, accident},
    interval::{self, Cell},
    size,
    three_way::{self, Agreement, Rates, ThreeWayBits},
};
use crate::Result;

/// Theorem 1 with fixed pair intersections: everything that is left is affine in `s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theorem {
    /// `Z` at `s = 0`.
    pub z0: f64,
    /// Slope of `Z` in `s`, never positive.
    pub z1: f64,
    /// The union at `s = 0`.
    pub u0: f64,
}

impl Theorem {
    /// For densities `r` and pair intersections `s12, s13, s23`, as shares of the universe. Any `b`.
    pub fn new(r: [f64; 3], pairs: [f64; 3], b: u32) -> Self {
        let ([r1, r2, r3], [s12, s13, s23]) = (r, pairs);
        let [a1, a2, a3] = r.map(|r| accident(r, b));
        let w = |ri: f64, rj: f64, s: f64, ai: f64, aj: f64| {
            let union = ri + rj - s;
            if union <= 0.0 {
                return 0.0;
            }
            accident(union, b) * (s + (ri - s) * aj + (rj - s) * ai) / union
        };
        let (w12, w13, w23) = (w(r1, r2, s12, a1, a2), w(r1, r3, s13, a1, a3), w(r2, r3, s23, a2, a3));
        let singles = (r1 - s12 - s13) * w23 + (r2 - s12 - s23) * w13 + (r3 - s13 - s23) * w12;
        Self {
            z0: s12 * a3 + s13 * a2 + s23 * a1 + singles,
            z1: w12 + w13 + w23 - a1 - a2 - a3,
            u0: r1 + r2 + r3 - s12 - s13 - s23,
        }
    }

    /// `Z` at three-way intersection `s`.
    pub fn z(&self, s: f64) -> f64 {
        self.z0 + self.z1 * s
    }

    /// The union at three-way intersection `s`.
    pub fn union(&self, s: f64) -> f64 {
        self.u0 + s
    }

    /// The probability that three b-bit registers agree at three-way intersection `s`.
    pub fn probability(&self, s: f64) -> f64 {
        (self.z(s) + s) / self.union(s)
    }

    /// The raw three-way similarity at which the share `all` of equal registers is expected.
    pub fn jaccard(&self, all: f64) -> f64 {
        let share = self.z0 / self.u0;
        (all - share) / (1.0 + self.z1 - share)
    }

    /// The raw three-way intersection for the share `all`; worse conditioned than [`Theorem::jaccard`] near 1.
    pub fn intersection(&self, all: f64) -> f64 {
        (all * self.u0 - self.z0) / (1.0 - all + self.z1)
    }

    /// Slope of the paper's iteration `s <- P u - Z`: from 1 on it does not converge.
    pub fn iteration_slope(&self, all: f64) -> f64 {
        all - self.z1
    }
}

/// Which way a precise estimate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solution {
    /// The closed form.
    Closed,
    /// The three sets look identical: the equation is 0 = 0 and the answer is 1.
    Identical,
    /// The denominator vanishes in the noise: the sparse formula (8), which is biased for dense sets.
    Sparse,
}

/// The raw precise estimate, clamped only to what the estimated pair intersections allow.
pub fn raw(rates: Rates, bits: ThreeWayBits, densities: [f64; 3]) -> Result<(f64, Solution)> {
    let pairs = Pairs::new(rates, bits, densities)?;
    let theorem = Theorem::new(densities, pairs.intersections(), bits.get());
    if theorem.u0 <= 1e-9 * densities.iter().sum::<f64>() {
        return Ok((1.0, Solution::Identical));
    }
    if 1.0 + theorem.z1 - theorem.z0 / theorem.u0 <= 1e-6 {
        return Ok((three_way::raw(rates, bits), Solution::Sparse));
    }
    let [low, high] =
        size::triple_range(densities, pairs.intersections()).map(|s| s / theorem.union(s).max(1e-300));
    Ok((theorem.jaccard(rates.all).max(low).min(high), Solution::Closed))
}

/// Three-way similarity of sets that fill the shares `densities` of a permuted universe. The registers are independent.
///
/// The standard error is the delta method through the pair rates; the interval tilts the observed patterns by their
/// influence.
pub fn jaccard(agreement: Agreement, bits: ThreeWayBits, densities: [f64; 3]) -> Result<Estimate> {
    let rates = agreement.rates()?;
    let range = size::jaccard_range(Some(densities))?;
    let (value, solution) = raw(rates, bits, densities)?;
    let cells: Vec<Cell> = match solution {
        Solution::Closed => influence(agreement, bits, densities)?.to_vec(),
        _ => {
            three_way::cells(agreement, 3.0 / densities.map(|r| accident(r, bits.get())).iter().sum::<f64>())
                .to_vec()
        }
    };
    let k = agreement.registers() as f64;
    let standard_error = (spread(&cells) / k).sqrt();
    Ok(Estimate::clamped(value, standard_error, interval::tilted(&cells, |_| 1.0), range))
}

/// The delta-method variance of [`jaccard`] for one register at expected rates; divide by `k`.
pub fn variance(rates: Rates, bits: ThreeWayBits, densities: [f64; 3]) -> Result<f64> {
    let gradient = Pairs::new(rates, bits, densities)?.gradient(rates.all);
    let [p12, p13, p23] = rates.pairs.map(|p| p - rates.all);
    let none = 1.0 - rates.all - p12 - p13 - p23;
    let shares = [rates.all, p12, p13, p23, none];
    let cells: Vec<Cell> =
        contributions(gradient).iter().zip(shares).map(|(&value, count)| Cell { value, count }).collect();
    Ok(spread(&cells))
}

/// Variance of the value over the cells.
fn spread(cells: &[Cell]) -> f64 {
    let total: f64 = cells.iter().map(|c| c.count).sum();
    let mean = cells.iter().map(|c| c.count * c.value).sum::<f64>() / total;
    cells.iter().map(|c| c.count * (c.value - mean) * (c.value - mean)).sum::<f64>() / total
}

/// What one register of each pattern adds to the estimate, so that the mean over the observed ones is the raw estimate.
fn influence(agreement: Agreement, bits: ThreeWayBits, densities: [f64; 3]) -> Result<[Cell; 5]> {
    let rates = agreement.rates()?;
    let pairs = Pairs::new(rates, bits, densities)?;
    let values = contributions(pairs.gradient(rates.all));
    let [n12, n13, n23] = agreement.only;
    let counts = [agreement.all, n12, n13, n23, agreement.none].map(|n| n as f64);
    let k: f64 = counts.iter().sum();
    let mean: f64 = values.iter().zip(counts).map(|(v, n)| v * n / k).sum();
    let shift = pairs.solve(rates.all, pairs.jaccards) - mean;
    Ok(std::array::from_fn(|i| Cell { value: values[i] + shift, count: counts[i] }))
}

/// Influence of the patterns all, 12, 13, 23, none, from the gradient in `P, P12, P13, P23`.
fn contributions([all, p12, p13, p23]: [f64; 4]) -> [f64; 5] {
    [all + p12 + p13 + p23, p12, p13, p23, 0.0]
}

/// The pair similarities, clamped to what the densities allow, and the way from them to the three-way one.
struct Pairs {
    bits: ThreeWayBits,
    densities: [f64; 3],
    lines: [Collision; 3],
    jaccards: [f64; 3],
}

impl Pairs {
    fn new(rates: Rates, bits: ThreeWayBits, densities: [f64; 3]) -> Result<Self> {
        input::densities(&densities)?;
        let (mut lines, mut jaccards) = ([Collision::sparse(bits.get()); 3], rates.pairs);
        for ((line, jaccard), pair) in lines.iter_mut().zip(&mut jaccards).zip(size::pairs(densities)) {
            *line = Collision::dense(bits.get(), pair)?;
            let [low, high] = size::jaccard_range_dense(pair)?;
            *jaccard = line.jaccard(*jaccard).clamp(low, high);
        }
        Ok(Self { bits, densities, lines, jaccards })
    }

    fn intersections(&self) -> [f64; 3] {
        self.intersections_at(self.jaccards)
    }

    fn intersections_at(&self, jaccards: [f64; 3]) -> [f64; 3] {
        let pairs = size::pairs(self.densities);
        std::array::from_fn(|i| size::intersection_at(jaccards[i], pairs[i]))
    }

    fn solve(&self, all: f64, jaccards: [f64; 3]) -> f64 {
        Theorem::new(self.densities, self.intersections_at(jaccards), self.bits.get()).jaccard(all)
    }

    /// Derivatives of the three-way similarity in `P, P12, P13, P23`.
    fn gradient(&self, all: f64) -> [f64; 4] {
        const STEP: f64 = 1e-6;
        let slope = |up: f64, down: f64| (up - down) / (2.0 * STEP);
        let in_all = slope(self.solve(all + STEP, self.jaccards), self.solve(all - STEP, self.jaccards));
        let in_pair = |i: usize| {
            let moved = |step: f64| {
                let mut jaccards = self.jaccards;
                jaccards[i] += step;
                self.solve(all, jaccards)
            };
            slope(moved(STEP), moved(-STEP)) / (1.0 - self.lines[i].c2)
        };
        [in_all, in_pair(0), in_pair(1), in_pair(2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 3] = [37336.0, 36287.0, 23357.0];
    const PAIRS: [f64; 3] = [32052.0, 20972.0, 20972.0];
    const COMMON: f64 = 20382.0;

    /// Densities, rates and similarity of the OF/AND/OR-like sets in a universe of that many elements.
    fn example(universe: f64, b: u32) -> ([f64; 3], Rates, f64) {
        let (r, s) = (SIZES.map(|f| f / universe), PAIRS.map(|a| a / universe));
        let theorem = Theorem::new(r, s, b);
        let pair = |i: usize, j: usize, s: f64| {
            let line = Collision::dense(b, [r[i], r[j]]).unwrap();
            line.probability(size::jaccard_of_intersection(s, [r[i], r[j]]))
        };
        let rates = Rates {
            all: theorem.probability(COMMON / universe),
            pairs: [pair(0, 1, s[0]), pair(0, 2, s[1]), pair(1, 2, s[2])],
        };
        (r, rates, COMMON / (SIZES.iter().sum::<f64>() - PAIRS.iter().sum::<f64>() + COMMON))
    }

    #[test]
    fn the_closed_form_is_the_fixed_point_of_the_iteration() {
        for b in [2, 3, 4] {
            let (r, rates, expected) = example(65536.0, b);
            let theorem = Theorem::new(r, PAIRS.map(|a| a / 65536.0), b);
            let mut s = 0.0;
            for _ in 0..500 {
                s = rates.all * theorem.union(s) - theorem.z(s);
            }
            assert!((s / theorem.union(s) - expected).abs() < 1e-12);
            assert!((theorem.intersection(rates.all) - s).abs() < 1e-12);
            let (value, solution) = raw(rates, ThreeWayBits::new(b).unwrap(), r).unwrap();
            assert!((value - expected).abs() < 1e-12 && solution == Solution::Closed);
        }
    }

    #[test]
    fn the_delta_variance_is_the_published_one() {
        for (b, expected) in [(2, 0.2849), (3, 0.2528), (4, 0.2492)] {
            let (r, rates, _) = example(65536.0, b);
            let got = variance(rates, ThreeWayBits::new(b).unwrap(), r).unwrap();
            assert!((got - expected).abs() < 6e-5, "{b}: {got}");
        }
    }

    #[test]
    fn sparse_sets_give_the_simple_estimate_and_its_variance() {
        let rates = Rates { all: 0.5, pairs: [0.7, 0.65, 0.6] };
        for b in [2, 4] {
            let bits = ThreeWayBits::new(b).unwrap();
            let densities = [1.2e-9, 1.1e-9, 1e-9];
            let pairs = Pairs::new(rates, bits, densities).unwrap();
            let simple = three_way::raw(rates, bits);
            assert!((pairs.solve(rates.all, pairs.jaccards) - simple).abs() < 1e-6);
            let total = pairs.jaccards.iter().sum();
            let expected = three_way::variance(simple, total, bits);
            assert!((variance(rates, bits, densities).unwrap() / expected - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn the_simple_estimate_is_biased_for_dense_sets() {
        for (b, expected) in [(2, 0.386), (3, 0.418), (4, 0.442)] {
            let (_, rates, _) = example(65536.0, b);
            assert!((three_way::raw(rates, ThreeWayBits::new(b).unwrap()) - expected).abs() < 1e-3);
        }
    }

    #[test]
    fn identical_sets_are_one_with_an_interval() {
        let agreement = Agreement { all: 100, only: [0; 3], none: 0 };
        let bits = ThreeWayBits::new(2).unwrap();
        let densities = [0.5; 3];
        assert_eq!(raw(agreement.rates().unwrap(), bits, densities).unwrap(), (1.0, Solution::Identical));
        let measured = *jaccard(agreement, bits, densities).unwrap().measured().unwrap();
        assert_eq!(measured.value, 1.0);
        assert!(measured.low > 0.85 && measured.low < 0.99, "{measured:?}");
    }

    #[test]
    fn noise_near_one_never_leaves_the_feasible_range() {
        let bits = ThreeWayBits::new(2).unwrap();
        for all in 0..=12usize {
            for pair in 0..=(12 - all) {
                let agreement = Agreement { all, only: [pair, 0, 0], none: 12 - all - pair };
                for densities in [[0.5, 0.5, 0.5], [0.9, 0.2, 0.05], [1e-9, 1e-9, 1e-9], [1.0, 1.0, 1.0]] {
                    let estimate = jaccard(agreement, bits, densities).unwrap();
                    let measured = estimate.measured().expect("a value");
                    assert!(measured.low <= measured.value && measured.value <= measured.high);
                    assert!(measured.low >= 0.0 && measured.high <= 1.0);
                }
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let bits = ThreeWayBits::new(2).unwrap();
        let agreement = Agreement { all: 1, only: [0; 3], none: 0 };
        assert!(jaccard(agreement, bits, [0.5, 0.0, 0.5]).is_err());
        assert!(jaccard(Agreement { all: 0, ..agreement }, bits, [0.5; 3]).is_err());
    }
}

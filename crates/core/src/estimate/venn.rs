//! Every cell of the Venn diagram of n sets, from full registers.
//!
//! At each position the sets that hold the smallest of the n minima are the sets of one uniformly random element of
//! the union. So the counts of these patterns are a multinomial sample of the cells' shares, and with known set sizes
//!
//! ```text
//! union = sum f_i / mean |M|,      cell = share * union
//! ```
//!
//! where `|M|` is the number of sets in the pattern. The share `p` of a cell of `c` sets has variance `p (1-p)`; its
//! size, in units of the union, `p + p^2 (1 - 2c/mean + spread)` with `spread = Var|M| / mean^2`: estimating the
//! union with the same registers cancels part of the error.

use super::{
    Estimate, Registers, input, interval,
    interval::{Cell, Quadratic},
};
use crate::{Error, Result};

/// One cell: the elements that lie in exactly these sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VennCell {
    /// Bit `i` is set when the cell lies in set `i`.
    pub members: u32,
    /// Its share of the union.
    pub share: Estimate,
    /// Its number of elements, if the set sizes are known.
    pub size: Option<Estimate>,
}

/// The whole diagram.
#[derive(Debug, Clone, PartialEq)]
pub struct Venn {
    /// All `2^n - 1` cells, by ascending `members`.
    pub cells: Vec<VennCell>,
    /// Number of elements of the union, if the set sizes are known.
    pub union: Option<Estimate>,
}

/// Every cell from `counts[members]`, the number of registers whose smallest minimum is held by exactly those sets
/// (`counts[0]` is zero). `sizes` are the set sizes, or empty.
pub fn cells(counts: &[usize], scheme: super::Scheme, sizes: &[f64]) -> Result<Venn> {
    let n = sets(counts)?;
    let registers = Registers { k: counts.iter().sum(), scheme };
    let k = input::registers(registers.k)?;
    if !sizes.is_empty() {
        input::sizes(sizes)?;
        if sizes.len() != n {
            return Err(Error::parameter("set sizes", format!("{n}, one per set"), sizes.len()));
        }
    }
    let spread = Spread::new(counts, k);
    let total: f64 = sizes.iter().sum();
    let union = (!sizes.is_empty()).then(|| total / spread.mean);
    let sample = PatternSample { k, factor: registers.factor(union), spread, union };
    let cells =
        (1..counts.len()).map(|members| sample.cell(members as u32, counts[members] as f64 / k)).collect();
    Ok(Venn { cells, union: union.map(|union| sample.union_of(union, counts, sizes)) })
}

/// The number of sets for which `counts` has a place for every pattern.
fn sets(counts: &[usize]) -> Result<usize> {
    let n = counts.len().trailing_zeros() as usize;
    if !counts.len().is_power_of_two() || !(2..=16).contains(&n) {
        return Err(Error::parameter("patterns", "2^n counts for 2 to 16 sets", counts.len()));
    }
    if counts[0] != 0 {
        return Err(Error::parameter("registers in no set", "0", counts[0]));
    }
    Ok(n)
}

/// Mean and relative variance of the number of sets in a pattern.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    relative: f64,
}

impl Spread {
    fn new(counts: &[usize], k: f64) -> Self {
        let moment = |f: fn(f64) -> f64| {
            counts.iter().enumerate().map(|(m, &n)| n as f64 * f(f64::from(m.count_ones()))).sum::<f64>() / k
        };
        let mean = moment(|c| c);
        Self { mean, relative: (moment(|c| c * c) / (mean * mean) - 1.0).max(0.0) }
    }
}

struct PatternSample {
    k: f64,
    factor: f64,
    spread: Spread,
    union: Option<f64>,
}

impl PatternSample {
    fn cell(&self, members: u32, share: f64) -> VennCell {
        let estimate = self.estimate(share, Quadratic::BINOMIAL);
        let size = self.union.map(|union| {
            let sets = f64::from(members.count_ones()) / self.spread.mean;
            let square = 1.0 - 2.0 * sets + self.spread.relative;
            let in_units = self.estimate(share, Quadratic { constant: 0.0, linear: 1.0, square });
            in_units.map_monotone(|p| p * union, |_| union)
        });
        VennCell { members, share: estimate, size }
    }

    fn estimate(&self, share: f64, variance: Quadratic) -> Estimate {
        let variance = variance.scaled(self.factor);
        let ends = interval::score(share, self.k, variance);
        Estimate::clamped(share, (variance.at(share) / self.k).sqrt(), ends, [0.0, 1.0])
    }

    /// The union is the inverse of the mean number of sets, so its interval is the inverse of the mean's.
    fn union_of(&self, union: f64, counts: &[usize], sizes: &[f64]) -> Estimate {
        // Dependent registers count for fewer or more of them: the factor scales the whole variance.
        let cells: Vec<Cell> = (1..=sizes.len() as u32)
            .map(|held| {
                let of_held = (0..counts.len()).filter(|m| m.count_ones() == held).map(|m| counts[m]);
                Cell { value: f64::from(held), count: of_held.sum::<usize>() as f64 / self.factor }
            })
            .collect();
        let total: f64 = sizes.iter().sum();
        let [low, high] = interval::tilted(&cells, |_| 1.0).map(|mean| total / mean);
        let standard_error = union * (self.spread.relative * self.factor / self.k).sqrt();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        Estimate::clamped(union, standard_error, [high, low], [largest, total])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Scheme, size};

    #[test]
    fn two_sets_reproduce_jaccard_and_intersection() {
        // 30 registers only in the first set, 20 only in the second, 50 in both.
        let sizes = [160.0, 140.0];
        let venn = cells(&[0, 30, 20, 50], Scheme::Independent, &sizes).unwrap();
        let both = venn.cells[2];
        assert_eq!((both.members, both.share.value()), (3, Some(0.5)));
        let expected = size::intersection_at(0.5, sizes);
        assert!((both.size.unwrap().value().unwrap() - expected).abs() < 1e-9);
        assert!((venn.union.unwrap().value().unwrap() - 200.0).abs() < 1e-9);
        // The delta method through a = J/(1+J) (f1+f2) must agree with the ratio estimator.
        let through_jaccard = (0.25f64 / 100.0).sqrt() * 300.0 / 2.25;
        let direct = both.size.unwrap().measured().unwrap().standard_error;
        assert!((direct - through_jaccard).abs() < 1e-9, "{direct} {through_jaccard}");
    }

    #[test]
    fn shares_add_up_and_empty_cells_have_an_upper_end() {
        let venn = cells(&[0, 10, 20, 0, 30, 5, 5, 30], Scheme::Independent, &[]).unwrap();
        let sum: f64 = venn.cells.iter().filter_map(|c| c.share.value()).sum();
        assert!((sum - 1.0).abs() < 1e-12 && venn.union.is_none());
        let empty = venn.cells[2].share.measured().unwrap();
        assert!(empty.value == 0.0 && empty.high > 0.02);
    }

    #[test]
    fn identical_sets_are_known_exactly_but_for_the_interval() {
        let venn = cells(&[0, 0, 0, 64], Scheme::Independent, &[90.0, 90.0]).unwrap();
        let both = venn.cells[2].size.unwrap();
        let measured = both.measured().unwrap();
        assert!(
            (measured.value - 90.0).abs() < 1e-9 && measured.standard_error < 1e-6 && measured.low < 87.0
        );
    }

    #[test]
    fn nonsense_is_refused() {
        let scheme = Scheme::Independent;
        assert!(cells(&[0, 1, 2], scheme, &[]).is_err() && cells(&[0, 1], scheme, &[]).is_err());
        assert!(cells(&[1, 1, 1, 1], scheme, &[]).is_err() && cells(&[0; 4], scheme, &[]).is_err());
        assert!(cells(&[0, 1, 1, 1], scheme, &[1.0]).is_err());
        assert!(cells(&[0, 1, 1, 1], scheme, &[1.0, 0.0]).is_err());
    }
}

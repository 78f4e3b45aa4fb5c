//! Three-way similarity `R = |S1 n S2 n S3| / |S1 u S2 u S3|` from b-bit registers of 64-bit hashes (three-way b-bit
//! hashing, (7) to (9)).
//!
//! Different minima get independent b-bit labels, so with `T = R12 + R13 + R23`:
//!
//! ```text
//! P   = [ (N-1)(N-2) R + (N-1) T + 1 ] / N^2                                            (7)
//! R^  = [ N^2 P - N (P12+P13+P23) + 2 ] / [ (N-1)(N-2) ]                                (8)
//!     = mean over registers of { 1 all equal;  -1/(N-1) one pair equal;  2/((N-1)(N-2)) none }
//! Var = [ 1 + (N-3) T + (N^2-6N+10) R - (N-1)(N-2) R^2 ] / [ k (N-1)(N-2) ]             (9)
//! ```
//!
//! One bit cannot do it at any density: of three bits one or three pairs agree, so `P` is a function of the pair
//! rates. [`ThreeWayBits`] makes that a matter of types. For dense sets (8) is biased: use
//! [`super::three_way_dense`].

use super::{Estimate, Registers, collision::values, input, interval, interval::Cell, size};
use crate::{Error, Result};

/// A number of bits that can tell a three-way similarity: at least 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreeWayBits(u32);

impl ThreeWayBits {
    /// `b` from 2 to 16, 32 or 64.
    pub fn new(b: u32) -> Result<Self> {
        if b == 1 {
            let expected = "at least 2: one bit per register carries no three-way information";
            return Err(Error::parameter("bits", expected, b));
        }
        Ok(Self(input::bits(b)?))
    }

    /// The number of bits.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// How the registers of three sets agree, position by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// All three are equal.
    pub all: usize,
    /// Exactly one pair is equal: 12, 13, 23.
    pub only: [usize; 3],
    /// All three differ.
    pub none: usize,
}

/// The same as shares: all three equal, and each pair equal (including all three).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Share of registers with all three equal.
    pub all: f64,
    /// Shares with equal pair 12, 13, 23.
    pub pairs: [f64; 3],
}

impl Agreement {
    /// Number of registers.
    pub fn registers(&self) -> usize {
        self.all + self.only.iter().sum::<usize>() + self.none
    }

    /// The shares of equal registers.
    pub fn rates(&self) -> Result<Rates> {
        let k = input::registers(self.registers())?;
        Ok(Rates { all: self.all as f64 / k, pairs: self.only.map(|n| (n + self.all) as f64 / k) })
    }
}

/// The probability (7) that three b-bit registers agree; `pairs` is the sum of the three pair similarities. Any `b`.
pub fn probability(jaccard: f64, pairs: f64, b: u32) -> f64 {
    let q = libm::exp2(-f64::from(b));
    jaccard + q * (pairs - 3.0 * jaccard) + q * q * (1.0 - pairs + 2.0 * jaccard)
}

/// The raw estimate (8).
pub fn raw(rates: Rates, bits: ThreeWayBits) -> f64 {
    let [_, pair, none] = weights(values(bits.0));
    let any_pair: f64 = rates.pairs.iter().sum();
    let one_pair = any_pair - 3.0 * rates.all;
    rates.all + pair * one_pair + none * (1.0 - rates.all - one_pair)
}

/// The variance (9) for one register; divide by `k`. `pairs` is the sum of the three pair similarities.
pub fn variance(jaccard: f64, pairs: f64, bits: ThreeWayBits) -> f64 {
    let n = values(bits.0);
    // Divided by N^2 throughout, so that 64 bits do not overflow the precision.
    let scale = (1.0 - 1.0 / n) * (1.0 - 2.0 / n);
    let constant = (1.0 + (n - 3.0) * pairs) / (n * n);
    (constant + (1.0 - 6.0 / n + 10.0 / (n * n)) * jaccard - scale * jaccard * jaccard) / scale
}

/// Three-way similarity from b-bit registers of 64-bit hashes. With `sizes`, it is at most `min / max`, and the
/// dependence of the registers is taken into account.
pub fn jaccard(
    agreement: Agreement,
    bits: ThreeWayBits,
    scheme: super::Scheme,
    sizes: Option<[f64; 3]>,
) -> Result<Estimate> {
    let rates = agreement.rates()?;
    let registers = Registers { k: agreement.registers(), scheme };
    let range = size::jaccard_range(sizes)?;
    let line = super::collision::Collision::sparse(bits.0);
    let pairs = rates.pairs.map(|p| line.jaccard(p).clamp(0.0, 1.0));
    let factor = |j: f64| registers.factor(sizes.map(|f| union(j, pairs, f)));
    let ends = interval::tilted(&cells(agreement, values(bits.0)), factor);
    let raw = raw(rates, bits);
    let value = raw.clamp(range[0], range[1]);
    let variance =
        variance(value, feasible_pairs(value, pairs), bits) + (factor(value) - 1.0) * value * (1.0 - value);
    let standard_error = (variance.max(0.0) / registers.k as f64).sqrt();
    Ok(Estimate::clamped(raw, standard_error, ends, range))
}

/// The kinds of registers with their weights in (8), for an effective number of values `n`.
pub(crate) fn cells(agreement: Agreement, n: f64) -> [Cell; 3] {
    let one_pair: usize = agreement.only.iter().sum();
    let counts = [agreement.all, one_pair, agreement.none].map(|c| c as f64);
    let [all, pair, none] = weights(n);
    [
        Cell { value: all, count: counts[0] },
        Cell { value: pair, count: counts[1] },
        Cell { value: none, count: counts[2] },
    ]
}

fn weights(n: f64) -> [f64; 3] {
    [1.0, -1.0 / (n - 1.0), 2.0 / ((n - 1.0) * (n - 2.0))]
}

/// The sum of pair similarities, moved to where it is possible together with `jaccard`.
fn feasible_pairs(jaccard: f64, pairs: [f64; 3]) -> f64 {
    pairs.iter().sum::<f64>().clamp(3.0 * jaccard, 1.0 + 2.0 * jaccard)
}

/// Elements of the union: the pair intersections are held, the common elements follow from `jaccard`.
fn union(jaccard: f64, pairs: [f64; 3], sizes: [f64; 3]) -> f64 {
    let [f1, f2, f3] = sizes;
    let shared = |(&j, f): (&f64, [f64; 2])| size::intersection_at(j, f).min(f[0].min(f[1]));
    let overlap: f64 = pairs.iter().zip(size::pairs(sizes)).map(shared).sum();
    let max = f1 + f2 + f3;
    ((max - overlap) / (1.0 - jaccard).max(1e-9)).clamp(f1.max(f2).max(f3), max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Scheme;

    #[test]
    fn one_bit_is_refused_by_type() {
        let error = ThreeWayBits::new(1).unwrap_err().to_string();
        assert!(error.contains("no three-way information"), "{error}");
        assert!(ThreeWayBits::new(0).is_err() && ThreeWayBits::new(17).is_err());
        assert!([2, 3, 16, 32, 64].into_iter().all(|b| ThreeWayBits::new(b).is_ok()));
    }

    #[test]
    fn one_bit_rates_are_a_function_of_the_pair_rates() {
        for (r, t) in [(0.1, 0.5), (0.47, 1.84), (0.9, 2.8)] {
            let pair_rates = 1.5 + 0.5 * t;
            assert!((probability(r, t, 1) - (pair_rates - 1.0) / 2.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_estimate_inverts_the_probability() {
        for b in [2, 3, 4, 8, 16, 32, 64] {
            let (bits, q) = (ThreeWayBits::new(b).unwrap(), libm::exp2(-f64::from(b)));
            let (r, pairs) = (0.3, [0.5, 0.4, 0.35]);
            let rates =
                Rates { all: probability(r, pairs.iter().sum(), b), pairs: pairs.map(|j| q + (1.0 - q) * j) };
            assert!((raw(rates, bits) - r).abs() < 1e-12);
        }
    }

    #[test]
    fn the_variance_is_that_of_the_weights() {
        let (r, t) = (0.3, 1.25);
        for b in [2, 3, 4, 8] {
            let (bits, n) = (ThreeWayBits::new(b).unwrap(), values(b));
            let [_, pair, none] = weights(n);
            let all = probability(r, t, b);
            let one_pair = 3.0 / n + (1.0 - 1.0 / n) * t - 3.0 * all;
            let mean_square = all + pair * pair * one_pair + none * none * (1.0 - all - one_pair);
            assert!((variance(r, t, bits) - (mean_square - r * r)).abs() < 1e-12);
        }
        let two = ThreeWayBits::new(2).unwrap();
        assert!((variance(r, t, two) - (1.0 + t + 2.0 * r - 6.0 * r * r) / 6.0).abs() < 1e-14);
        assert!((variance(r, t, ThreeWayBits::new(64).unwrap()) - r * (1.0 - r)).abs() < 1e-14);
        assert!(variance(1.0, 3.0, two).abs() < 1e-14);
    }

    #[test]
    fn identical_sets_have_an_interval_below_one() {
        let agreement = Agreement { all: 128, only: [0; 3], none: 0 };
        for b in [2, 4, 64] {
            let bits = ThreeWayBits::new(b).unwrap();
            let estimate = jaccard(agreement, bits, Scheme::Independent, None).unwrap();
            let measured = estimate.measured().unwrap();
            assert_eq!((measured.value, measured.high), (1.0, 1.0));
            assert!(
                measured.standard_error < 1e-7 && measured.low > 0.9 && measured.low < 0.98,
                "{measured:?}"
            );
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let bits = ThreeWayBits::new(2).unwrap();
        let none = Agreement { all: 0, only: [0; 3], none: 0 };
        assert!(jaccard(none, bits, Scheme::Independent, None).is_err());
        let some = Agreement { all: 1, ..none };
        assert!(jaccard(some, bits, Scheme::Independent, Some([1.0, 0.0, 1.0])).is_err());
    }
}

//! How much the dependence between registers changes the variance.
//!
//! Let `X_j` be the element of the union (of `U` elements) that register `j` chose, and `c = Pr(X_i = X_j)` for two
//! registers. By symmetry between elements, for any function of the chosen element (equal or not, any Venn cell),
//!
//! ```text
//! Var(mean over k registers) = alpha * Var(one register) / k,      alpha = 1 + (k-1)(c U - 1)/(U - 1)
//! ```
//!
//! - independent permutations: `c = 1/U`, `alpha = 1`.
//! - fast similarity sketching, scatter rounds bounded by `T`: two registers filled in the same scatter round hold
//!   different elements, all others are independent, so `c = (1 - P_same)/U`.
//! - one permutation with optimal densification: of `m` filled bins, two filled ones differ and a copy equals any
//!   other register with probability `1/m`, so `c = 1/m - (m-1)/(k(k-1))`, averaged over the occupancy of `k` bins by
//!   `U` elements.
//! - SuperMinHash: the formula of its paper.
//!
//! Truncation to b bits adds `(1-J)/(2^b-1)` outside of `alpha`, provided that each register is rehashed on its own.

use serde::{Deserialize, Serialize};

use crate::sketch::Family;

/// How the registers of a family are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// One hash function or permutation per register.
    Independent,
    /// Fast similarity sketching.
    Fast {
        /// Scatter rounds `T`; afterwards every register has a round of its own.
        rounds: u32,
    },
    /// One hash, k bins, optimal densification.
    OnePermutation,
    /// SuperMinHash.
    SuperMinHash,
}

impl From<Family> for Scheme {
    /// How a sketch family fills its registers; families without aligned registers count as independent.
    fn from(family: Family) -> Self {
        match family {
            Family::Fast { rounds } => Self::Fast { rounds: u32::from(rounds) },
            Family::OnePermutation => Self::OnePermutation,
            _ => Self::Independent,
        }
    }
}

/// `k` registers and how they are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registers {
    /// Number of registers.
    pub k: usize,
    /// How they are filled.
    pub scheme: Scheme,
}

impl Registers {
    /// `k` independent registers.
    pub fn independent(k: usize) -> Self {
        Self { k, scheme: Scheme::Independent }
    }

    /// The variance factor `alpha` for a union of that many elements; 1 if it is not known.
    ///
    /// 1 is too large for `Fast` and `SuperMinHash`, whose intervals are then wider than need be. For
    /// `OnePermutation` of fewer elements than registers it is too small, by at most a factor of 1.5 for k = 128.
    pub fn factor(&self, union: Option<f64>) -> f64 {
        let k = self.k as f64;
        match (self.scheme, union) {
            (_, Some(u)) if u <= 1.0 || k <= 1.0 => 1.0,
            (Scheme::Independent, _) | (_, None) => 1.0,
            (Scheme::Fast { rounds }, Some(u)) => fast(k, f64::from(rounds), u),
            (Scheme::OnePermutation, Some(u)) => one_permutation(k, u),
            (Scheme::SuperMinHash, Some(u)) => super_minhash(self.k, u),
        }
    }
}

/// The factor of fast similarity sketching: `k` registers, `rounds` scatter rounds, `union` elements.
pub fn fast(k: f64, rounds: f64, union: f64) -> f64 {
    // Per round: a register stays empty with `one`, both of a pair with `both`.
    let one = libm::exp(union * libm::log1p(-1.0 / k));
    let both = if k <= 2.0 { 0.0 } else { libm::exp(union * libm::log1p(-2.0 / k)) };
    let hit_together = 1.0 - 2.0 * one + both;
    let rounds_empty = (1.0 - libm::pow(both, rounds)) / (1.0 - both);
    1.0 - (k - 1.0) * hit_together * rounds_empty / (union - 1.0)
}

/// The factor of one permutation hashing with optimal densification: `k` bins, `union` elements.
///
/// The mean of `1/m` over the occupancy is taken to second order; the occupancy's spread is far below its mean.
pub fn one_permutation(k: f64, union: f64) -> f64 {
    let one = libm::exp(union * libm::log1p(-1.0 / k));
    let both = if k <= 2.0 { 0.0 } else { libm::exp(union * libm::log1p(-2.0 / k)) };
    let filled = k * (1.0 - one);
    let spread = (k * (k - 1.0) * both + k * one - k * k * one * one).max(0.0);
    let inverse = 1.0 / filled + spread / (filled * filled * filled);
    let same = inverse - (filled - 1.0) / (k * (k - 1.0));
    1.0 + (k - 1.0) * (same * union - 1.0) / (union - 1.0)
}

/// The factor of SuperMinHash: `k` registers, `union` elements.
pub fn super_minhash(k: usize, union: f64) -> f64 {
    let n = k as f64;
    let share = |l: f64, of: f64| libm::pow(l / of, union);
    let sum: f64 = (1..k)
        .map(|l| {
            let l = l as f64;
            share(l, n - 1.0) * (share(l + 1.0, n) + share(l - 1.0, n) - 2.0 * share(l, n))
        })
        .sum();
    1.0 - (n - 1.0) * sum / (union - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn super_minhash_has_the_published_values() {
        for (union, expected) in [(11.0, 0.4785), (67.0, 0.5091), (133.0, 0.5405), (1333.0, 0.9047)] {
            assert!((super_minhash(128, union) - expected).abs() < 5e-5);
        }
    }

    #[test]
    fn the_geometric_series_is_the_sum_over_rounds() {
        let (k, union) = (64.0f64, 20.0);
        let p = 1.0 / k;
        let sum: f64 = (0..7)
            .map(|s| {
                (1.0 - 2.0 * p).powf(union * f64::from(s))
                    * (1.0 - 2.0 * (1.0 - p).powf(union) + (1.0 - 2.0 * p).powf(union))
            })
            .sum();
        let expected = 1.0 - (k - 1.0) * sum / (union - 1.0);
        assert!((fast(k, 7.0, union) - expected).abs() < 1e-12);
    }

    #[test]
    fn more_scatter_rounds_never_hurt_and_huge_sets_do_not_care() {
        for union in [10.0, 100.0, 1000.0] {
            let factors: Vec<f64> = [0.0, 1.0, 2.0, 8.0, 128.0].map(|t| fast(128.0, t, union)).to_vec();
            assert!(factors.windows(2).all(|w| w[1] <= w[0]) && factors[0] == 1.0);
        }
        assert!((fast(128.0, 128.0, 1e9) - 1.0).abs() < 1e-5);
        assert!((one_permutation(128.0, 1e9) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_occupancy_average_is_right_where_it_can_be_enumerated() {
        let (k, balls) = (16usize, 9usize);
        let mut share = vec![0.0f64; k + 1];
        share[0] = 1.0;
        for _ in 0..balls {
            for m in (1..=k).rev() {
                share[m] = share[m] * m as f64 / 16.0 + share[m - 1] * (k - m + 1) as f64 / 16.0;
            }
            share[0] = 0.0;
        }
        let same: f64 = (1..=k).map(|m| share[m] * (1.0 / m as f64 - (m as f64 - 1.0) / (16.0 * 15.0))).sum();
        let exact = 1.0 + 15.0 * (same * 9.0 - 1.0) / 8.0;
        assert!((one_permutation(16.0, 9.0) / exact - 1.0).abs() < 0.005);
    }

    #[test]
    fn tiny_inputs_stay_finite() {
        for scheme in [Scheme::Fast { rounds: 4 }, Scheme::OnePermutation, Scheme::SuperMinHash] {
            for k in [1, 2, 3, 128] {
                for union in [None, Some(0.0), Some(1.0), Some(1.0 + 1e-9), Some(2.0), Some(1e18)] {
                    let factor = Registers { k, scheme }.factor(union);
                    assert!(factor.is_finite() && factor > -1e-6, "{scheme:?} {k} {union:?} {factor}");
                }
            }
        }
    }
}

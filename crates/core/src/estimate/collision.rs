//! The probability that two b-bit registers agree (b-bit minwise hashing, Theorem 1).
//!
//! Walk through the permuted universe. The first element of the union is common with probability `J`; then both
//! registers agree. Otherwise one set is hit first, and the gap to the first element of the other is geometric with
//! that set's density `r`; the lowest `b` bits agree by accident when the gap is a multiple of `N = 2^b`. That is
//! [`accident`], the building block `A(r, b)`:
//!
//! ```text
//! A(r, b) = r (1-r)^(N-1) / (1 - (1-r)^N),      A(0, b) = 2^-b
//! P_b     = C1 + (1 - C2) J,      C1 = A1 w2 + A2 w1,    C2 = A1 w1 + A2 w2,    w_i = r_i / (r1 + r2)
//! ```

use super::{input, interval::Quadratic};
use crate::Result;

/// `A(r, b)`: the probability that a geometric gap of density `r` is a multiple of `2^b`. For `b` from 1 to 64; 14
/// digits for every `r`.
pub fn accident(r: f64, b: u32) -> f64 {
    if r <= 0.0 {
        return libm::exp2(-f64::from(b));
    }
    if r >= 1.0 {
        return 0.0;
    }
    let n = values(b);
    let log = libm::log1p(-r);
    r * libm::exp((n - 1.0) * log) / -libm::expm1(n * log)
}

/// `N = 2^b` as a number.
pub(crate) fn values(b: u32) -> f64 {
    libm::exp2(f64::from(b))
}

/// The line `P = c1 + (1 - c2) J` on which b-bit registers agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collision {
    /// `C1`, the probability of agreement at `J = 0`.
    pub c1: f64,
    /// `C2`; `1 - C2` is at least one half, so dividing by it is safe.
    pub c2: f64,
}

impl Collision {
    /// For 64-bit hashes: `C1 = C2 = 2^-b`.
    pub fn sparse(b: u32) -> Self {
        let q = libm::exp2(-f64::from(b));
        Self { c1: q, c2: q }
    }

    /// For sets that fill shares `densities` of the permuted universe.
    pub fn dense(b: u32, densities: [f64; 2]) -> Result<Self> {
        input::bits(b)?;
        input::densities(&densities)?;
        let [r1, r2] = densities;
        let (a1, a2) = (accident(r1, b), accident(r2, b));
        let (w1, w2) = (r1 / (r1 + r2), r2 / (r1 + r2));
        Ok(Self { c1: a1 * w2 + a2 * w1, c2: a1 * w1 + a2 * w2 })
    }

    /// The probability that one register agrees at similarity `jaccard`.
    pub fn probability(&self, jaccard: f64) -> f64 {
        self.c1 + (1.0 - self.c2) * jaccard
    }

    /// The raw similarity at which `rate` is expected: estimator (9). Negative when `rate < C1`.
    pub fn jaccard(&self, rate: f64) -> f64 {
        (rate - self.c1) / (1.0 - self.c2)
    }

    /// Variance of [`Collision::jaccard`] for one register, as a function of `J`: (11) at `k = 1`.
    ///
    /// `factor` is the variance factor of the registers ([`super::factor`]); it multiplies the `J (1 - J)` part only.
    pub fn variance(&self, factor: f64) -> Quadratic {
        let slope = 1.0 - self.c2;
        let extra = factor - 1.0;
        Quadratic {
            constant: self.c1 * (1.0 - self.c1) / (slope * slope),
            linear: (1.0 - 2.0 * self.c1) / slope + extra,
            square: -1.0 - extra,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_has_a_short_form() {
        for r in [1e-12, 0.01, 0.3, 0.9, 1.0] {
            assert!((accident(r, 1) - (1.0 - r) / (2.0 - r)).abs() < 1e-15);
        }
    }

    #[test]
    fn accidents_are_rarer_in_denser_sets() {
        for b in [1, 2, 8, 16, 64] {
            let values: Vec<f64> = (0..=100).map(|i| accident(f64::from(i) / 100.0, b)).collect();
            assert!(values.windows(2).all(|w| w[1] <= w[0]) && values[0] <= libm::exp2(-f64::from(b)));
        }
    }

    #[test]
    fn the_line_equals_the_derivation_by_cells() {
        let (r1, r2, s) = (0.4, 0.25, 0.15);
        let union = r1 + r2 - s;
        for b in [1, 2, 4] {
            let direct = s / union + ((r1 - s) * accident(r2, b) + (r2 - s) * accident(r1, b)) / union;
            let line = Collision::dense(b, [r1, r2]).unwrap().probability(s / union);
            assert!((direct - line).abs() < 1e-15);
        }
    }

    #[test]
    fn the_variance_is_that_of_a_binomial_rate() {
        let collision = Collision::dense(2, [0.3, 0.1]).unwrap();
        let p = collision.probability(0.2);
        let expected = p * (1.0 - p) / (1.0 - collision.c2).powi(2);
        assert!((collision.variance(1.0).at(0.2) - expected).abs() < 1e-14);
    }

    #[test]
    fn the_sparse_line_is_the_limit_of_the_dense_one() {
        let (dense, sparse) = (Collision::dense(4, [1e-15, 2e-15]).unwrap(), Collision::sparse(4));
        assert!((dense.c1 - sparse.c1).abs() < 1e-14 && (dense.c2 - sparse.c2).abs() < 1e-14);
    }
}

//! The S-curve: probability of becoming a candidate, as a function of similarity.
//!
//! ```text
//! S(p)       = 1 - (1 - p^rows)^bands          p = J (full registers) or C1 + (1-C2) J (b-bit)
//! threshold  = (1/bands)^(1/rows)              S is about 1 - 1/e there
//! half       = (1 - 2^(-1/bands))^(1/rows)     S is 1/2 there
//! steepest   = ((rows-1)/(rows bands-1))^(1/rows)
//! rho        = ln p(d0) / ln p(c d0)           exponent of the query time for distances d0 and c d0, (30), (31)
//! ```
//!
//! The parameters that users see must be the same on every machine, so all powers go through `libm`.

use serde::{Deserialize, Serialize};

use crate::{Error, Result, estimate::collision::Collision};

/// A cut of the registers into bands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of bands.
    pub bands: usize,
    /// Registers per band.
    pub rows: usize,
}

/// Probability of becoming a candidate when each register agrees with probability `p`.
///
/// ```
/// let recall = benzer_core::lsh::curve::probability(0.8, 18, 7);
/// assert!((recall - 0.985).abs() < 0.001);
/// ```
pub fn probability(p: f64, bands: usize, rows: usize) -> f64 {
    of_bands(libm::pow(p, rows as f64), bands)
}

/// Probability of becoming a candidate at similarity `jaccard`, from b-bit registers that agree on `line`.
pub fn probability_b_bit(jaccard: f64, line: Collision, bands: usize, rows: usize) -> f64 {
    probability(line.probability(jaccard), bands, rows)
}

/// The customary threshold `(1/bands)^(1/rows)`, where the probability is about 63%.
pub fn threshold(bands: usize, rows: usize) -> f64 {
    libm::pow(1.0 / bands as f64, 1.0 / rows as f64)
}

/// The agreement at which half of the pairs become candidates.
pub fn half(bands: usize, rows: usize) -> f64 {
    let band = -libm::expm1(-std::f64::consts::LN_2 / bands as f64);
    libm::pow(band, 1.0 / rows as f64)
}

/// The agreement at which the curve is steepest; 0 for a single row.
pub fn steepest(bands: usize, rows: usize) -> f64 {
    let (bands, rows) = (bands as f64, rows as f64);
    if rows <= 1.0 {
        return 0.0;
    }
    libm::pow((rows - 1.0) / (rows * bands - 1.0), 1.0 / rows)
}

/// The exponent of the query time for near distance `near` and far distance `ratio * near`, full registers (30).
pub fn rho(near: f64, ratio: f64) -> f64 {
    libm::log1p(-near) / libm::log1p(-ratio * near)
}

/// The same for b-bit registers (31).
pub fn rho_b_bit(near: f64, ratio: f64, line: Collision) -> f64 {
    libm::log(line.probability(1.0 - near)) / libm::log(line.probability(1.0 - ratio * near))
}

/// The bands and rows, `bands * rows <= k`, with the least weighted error around `threshold`, all similarities being
/// equally frequent. `w_fp` weighs candidates below the threshold, `w_fn` pairs above it that are missed:
///
/// ```text
/// w_fp * (integral of S from 0 to t) + w_fn * (integral of 1 - S from t to 1)
/// ```
pub fn optimal(k: usize, threshold: f64, w_fp: f64, w_fn: f64) -> Result<Shape> {
    check(k, threshold, [w_fp, w_fn])?;
    let below = Quadrature::new(0.0, threshold);
    let above = Quadrature::new(threshold, 1.0);
    let mut best = (f64::INFINITY, Shape { bands: 1, rows: 1 });
    for rows in 1..=k {
        let (low, high) = (below.powers(rows), above.powers(rows));
        for bands in 1..=k / rows {
            let wrong = below.integral(&low, |band| of_bands(band, bands));
            let missed = above.integral(&high, |band| 1.0 - of_bands(band, bands));
            let cost = w_fp * wrong + w_fn * missed;
            if cost < best.0 {
                best = (cost, Shape { bands, rows });
            }
        }
    }
    Ok(best.1)
}

/// Probability that one of `bands` agrees, when one agrees with probability `band`.
pub(crate) fn of_bands(band: f64, bands: usize) -> f64 {
    if band >= 1.0 {
        return 1.0;
    }
    -libm::expm1(bands as f64 * libm::log1p(-band))
}

fn check(k: usize, threshold: f64, weights: [f64; 2]) -> Result<()> {
    if k == 0 {
        return Err(Error::parameter("registers", "at least 1", k));
    }
    if !(threshold > 0.0 && threshold < 1.0) {
        return Err(Error::parameter("threshold", "above 0 and below 1", threshold));
    }
    for weight in weights {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::parameter("weight", "not negative and finite", weight));
        }
    }
    Ok(())
}

/// Gauss-Legendre quadrature with 64 points: 12 digits for these integrands.
pub(super) struct Quadrature {
    points: Vec<f64>,
    weights: Vec<f64>,
}

impl Quadrature {
    const N: usize = 64;

    pub(super) fn new(from: f64, to: f64) -> Self {
        let (centre, radius) = (0.5 * (from + to), 0.5 * (to - from));
        let (points, weights) = (0..Self::N)
            .map(|i| {
                let x = Self::root(i);
                let slope = legendre(Self::N, x).1;
                (centre + radius * x, radius * 2.0 / ((1.0 - x * x) * slope * slope))
            })
            .unzip();
        Self { points, weights }
    }

    /// Root number `i` of the Legendre polynomial, by Newton's method from Tricomi's approximation.
    fn root(i: usize) -> f64 {
        let n = Self::N as f64;
        let mut x = libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5));
        for _ in 0..8 {
            let (value, slope) = legendre(Self::N, x);
            x -= value / slope;
        }
        x
    }

    fn powers(&self, rows: usize) -> Vec<f64> {
        self.powers_of(rows, |p| p)
    }

    /// `jaccard(p)` to the power of `rows`, at each point.
    pub(super) fn powers_of(&self, rows: usize, jaccard: impl Fn(f64) -> f64) -> Vec<f64> {
        self.points.iter().map(|&p| libm::pow(jaccard(p), rows as f64)).collect()
    }

    pub(super) fn integral(&self, bands: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        bands.iter().zip(&self.weights).map(|(&band, w)| w * f(band)).sum()
    }
}

/// The Legendre polynomial of degree `n` at `x`, and its derivative.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut previous, mut value) = (1.0, x);
    for i in 2..=n {
        let i = i as f64;
        (previous, value) = (value, ((2.0 * i - 1.0) * x * value - (i - 1.0) * previous) / i);
    }
    (value, n as f64 * (x * value - previous) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_pairs_are_candidates_at_the_half_point() {
        for (bands, rows) in [(1, 1), (20, 5), (14, 8), (9, 13), (1, 128), (128, 1)] {
            assert!((probability(half(bands, rows), bands, rows) - 0.5).abs() < 1e-12);
        }
    }

    #[test]
    fn the_steepest_point_is_the_steepest() {
        let slope = |p: f64| (probability(p + 1e-6, 20, 5) - probability(p - 1e-6, 20, 5)) / 2e-6;
        let at = steepest(20, 5);
        assert!(slope(at) > slope(at - 0.01) && slope(at) > slope(at + 0.01));
        assert_eq!(steepest(20, 1), 0.0);
    }

    #[test]
    fn the_ends_of_the_curve_are_fixed() {
        assert_eq!((probability(0.0, 20, 5), probability(1.0, 20, 5)), (0.0, 1.0));
        let line = Collision::sparse(1);
        assert!((probability_b_bit(0.0, line, 20, 5) - 0.47).abs() < 1e-3);
    }

    #[test]
    fn quadrature_integrates_powers() {
        let q = Quadrature::new(0.0, 0.8);
        for rows in [1, 5, 40] {
            let exact = 0.8f64.powi(rows + 1) / f64::from(rows + 1);
            assert!((q.integral(&q.powers(rows as usize), |x| x) / exact - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn optimal_shapes_of_the_reference() {
        let table = [
            (64, 0.5, [(14, 4), (21, 3), (9, 7)]),
            (128, 0.3, [(37, 3), (32, 2), (25, 5)]),
            (128, 0.8, [(9, 13), (14, 9), (6, 21)]),
            (256, 0.5, [(42, 6), (42, 4), (32, 8)]),
            (256, 0.8, [(17, 15), (23, 11), (11, 23)]),
        ];
        for (k, threshold, shapes) in table {
            for (fp, (bands, rows)) in [0.5, 0.1, 0.9].into_iter().zip(shapes) {
                assert_eq!(
                    optimal(k, threshold, fp, 1.0 - fp).unwrap(),
                    Shape { bands, rows },
                    "{k} {threshold} {fp}"
                );
            }
        }
    }

    #[test]
    fn more_rows_make_up_for_fewer_bits() {
        let rows = 5.0 * libm::log(0.5) / libm::log(Collision::sparse(1).probability(0.5));
        assert!((rows - 12.05).abs() < 0.005);
        assert!((rho(0.5, 1.5) - 0.5).abs() < 1e-12);
        assert!((rho_b_bit(0.5, 1.5, Collision::sparse(1)) - 0.612085).abs() < 1e-6);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(optimal(0, 0.5, 0.5, 0.5).is_err());
        for threshold in [0.0, 1.0, f64::NAN] {
            assert!(optimal(8, threshold, 0.5, 0.5).is_err());
        }
        assert!(optimal(8, 0.5, -1.0, 0.5).is_err() && optimal(8, 0.5, 0.5, f64::INFINITY).is_err());
    }
}

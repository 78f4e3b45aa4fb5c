//! Hamming distance, and the two 1-bit methods that b-bit hashing is compared with (b-bit minwise hashing, (16) to (25)).
//!
//! The distance from registers is [`super::size::difference`]. Here are its variance, coordinate sampling, and random
//! projection modulo 2 with entries that are 1 with probability `beta / 2`:
//!
//! ```text
//! Var(H_b) = Var(R_b) 4 (f1+f2)^2/(1+R)^4                                             (17)
//! H_s      = (D/k) mismatches            Var = (D^2/k)(h - h^2),   h = H/D            (18), (19)
//! E        = (1-(1-beta)^H)/2            H_rp = ln(1-2E)/ln(1-beta)                   (22), (23)
//! Var(H_rp)= (H^2/k)(exp(2y)-1)/y^2,     y = -H ln(1-beta)                            (24)
//! ```

use super::{Estimate, collision::Collision, input, interval};
use crate::{Error, Result};

/// `y = -H ln(1-beta)` with the least variance: the solution of `y = 1 - exp(-2y)`.
pub const BEST_EXPONENT: f64 = 0.796_812_130_020_02;

/// Two sets of a universe, for comparing the methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Their Jaccard similarity.
    pub jaccard: f64,
    /// Their sizes.
    pub sizes: [f64; 2],
    /// Number of elements of the universe.
    pub universe: f64,
}

impl Pair {
    /// The Hamming distance.
    pub fn distance(&self) -> f64 {
        super::size::difference_at(self.jaccard, self.sizes)
    }

    /// Variance (17) of the distance from one b-bit register; divide by `k`.
    pub fn variance(&self, b: u32) -> Result<f64> {
        let line = Collision::dense(b, self.sizes.map(|f| f / self.universe))?;
        let slope = 2.0 * (self.sizes[0] + self.sizes[1]) / ((1.0 + self.jaccard) * (1.0 + self.jaccard));
        Ok(line.variance(1.0).at(self.jaccard) * slope * slope)
    }

    /// Variance (19) of the distance from one sampled coordinate; divide by `k`.
    pub fn sampling_variance(&self) -> f64 {
        let share = self.distance() / self.universe;
        self.universe * self.universe * (share - share * share)
    }

    /// Storage of coordinate sampling over storage of b-bit registers at equal precision (20).
    pub fn sampling_ratio(&self, b: u32) -> Result<f64> {
        let density = (self.sizes[0] + self.sizes[1]) / (2.0 * self.universe);
        Ok(self.sampling_variance() * density * 64.0 / (self.variance(b)? * f64::from(b)))
    }
}

/// The limit (21) of [`Pair::sampling_ratio`] for sparse sets.
pub fn sampling_ratio_sparse(jaccard: f64, b: u32) -> f64 {
    let others = libm::exp2(f64::from(b)) - 1.0;
    let cube = (1.0 + jaccard) * (1.0 + jaccard) * (1.0 + jaccard);
    8.0 / f64::from(b) * others * cube / (1.0 + others * jaccard)
}

/// The Hamming distance from `mismatches` among `k` sampled coordinates of a universe (18).
pub fn sampled(mismatches: usize, k: usize, universe: f64) -> Result<Estimate> {
    input::sizes(&[universe])?;
    let n = input::registers(k)?;
    let share = input::count("mismatches", mismatches, k)? / n;
    let ends = interval::score(share, n, interval::Quadratic::BINOMIAL);
    let estimate = Estimate::clamped(share, (share * (1.0 - share) / n).sqrt(), ends, [0.0, 1.0]);
    Ok(estimate.map_monotone(|h| h * universe, |_| universe))
}

/// Probability (22) that one random projection modulo 2 differs, at Hamming distance `distance`.
pub fn projection_probability(distance: f64, beta: f64) -> f64 {
    -0.5 * libm::expm1(distance * libm::log1p(-beta))
}

/// The raw distance (23) from the share of projections that differ; infinite from one half on.
pub fn projection_raw(share: f64, beta: f64) -> f64 {
    if share >= 0.5 { f64::INFINITY } else { libm::log1p(-2.0 * share) / libm::log1p(-beta) }
}

/// Variance (24) of [`projection_raw`] for one projection; divide by `k`.
pub fn projection_variance(distance: f64, beta: f64) -> f64 {
    let y = -distance * libm::log1p(-beta);
    distance * distance * libm::expm1(2.0 * y) / (y * y)
}

/// The `beta` with the least variance at distance `distance`. Overestimating the distance is the safe side.
pub fn best_beta(distance: f64) -> f64 {
    -libm::expm1(-BEST_EXPONENT / distance)
}

/// The Hamming distance from `differing` among `k` random projections modulo 2 (23).
///
/// From one half on there is no finite estimate. The distance is then at most the whole `universe`.
pub fn projected(differing: usize, k: usize, beta: f64, universe: f64) -> Result<Estimate> {
    input::sizes(&[universe])?;
    if !(beta > 0.0 && beta < 1.0) {
        return Err(Error::parameter("beta", "above 0 and below 1", beta));
    }
    let n = input::registers(k)?;
    let share = input::count("differing projections", differing, k)? / n;
    if 2 * differing >= k {
        return Ok(Estimate::Saturated { at_most: universe });
    }
    let ends = interval::score(share, n, interval::Quadratic::BINOMIAL);
    let distance = |share: f64| projection_raw(share, beta).min(universe);
    let slope = 2.0 / ((1.0 - 2.0 * share) * -libm::log1p(-beta));
    let standard_error = slope * (share * (1.0 - share) / n).sqrt();
    Ok(Estimate::clamped(distance(share), standard_error, ends.map(distance), [0.0, universe]))
}

/// Storage of random projection at its best `beta` over storage of b-bit registers, at equal precision (25).
pub fn projection_ratio(pair: &Pair, b: u32) -> Result<f64> {
    let distance = pair.distance();
    Ok(projection_variance(distance, best_beta(distance)) / (f64::from(b) * pair.variance(b)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_exponent_is_a_fixed_point() {
        assert!((BEST_EXPONENT - (1.0 - libm::exp(-2.0 * BEST_EXPONENT))).abs() < 1e-14);
    }

    #[test]
    fn the_best_beta_is_the_best() {
        let best = best_beta(50.0);
        let at = |beta| projection_variance(50.0, beta);
        assert!(at(best) < at(best * 1.05) && at(best) < at(best * 0.95));
        assert!((at(best) / 2500.0 - 6.176554609483).abs() < 1e-9);
    }

    #[test]
    fn the_sampling_ratio_tends_to_its_sparse_limit() {
        let pair = Pair { jaccard: 0.4, sizes: [100.0, 100.0], universe: 1e12 };
        for b in [1, 2, 4] {
            let ratio = pair.sampling_ratio(b).unwrap() / sampling_ratio_sparse(0.4, b);
            assert!((ratio - 1.0).abs() < 1e-6);
        }
        assert!((sampling_ratio_sparse(1.0, 2) - 24.0).abs() < 1e-12);
    }

    #[test]
    fn a_projection_estimates_back_and_saturates() {
        let beta = best_beta(100.0);
        let share = projection_probability(100.0, beta);
        assert!((projection_raw(share, beta) - 100.0).abs() < 1e-9);
        let differing = (share * 1000.0).round() as usize;
        let measured = *projected(differing, 1000, beta, 1e6).unwrap().measured().unwrap();
        assert!(measured.low < 100.0 && measured.high > 100.0 && (measured.value - 100.0).abs() < 1.0);
        assert_eq!(projected(500, 1000, beta, 1e6).unwrap(), Estimate::Saturated { at_most: 1e6 });
        assert!(projected(499, 1000, beta, 1e6).unwrap().measured().unwrap().high == 1e6);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(sampled(1, 0, 10.0).is_err() && sampled(3, 2, 10.0).is_err() && sampled(1, 2, 0.0).is_err());
        assert!(projected(1, 2, 0.0, 10.0).is_err() && projected(1, 2, 1.0, 10.0).is_err());
    }
}

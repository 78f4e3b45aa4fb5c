//! Less than one bit per register: m one-bit samples combined by exclusive or (b-bit minwise hashing, section 5).
//!
//! One bit of two sets agrees with probability `P1`, a stored bit with `T`, where `2T - 1 = (2 P1 - 1)^m`. For 64-bit
//! hashes `2 P1 - 1 = R`:
//!
//! ```text
//! R_m    = max(2T-1, 0)^(1/m)                          Var = (R^(2-2m) - R^2) / (m^2 k)
//! R_half = (sqrt(max(2T-1, 0)) + 1 - 2 C1)/(2 - 2 C2)  Var = T(1-T) / (4 k (1-C2)^2 (2T-1))      (27), (28); m = 2
//! ```
//!
//! Best for high similarities, `m = 0.797 / -ln R`. The dense form picks the right root only while `P1 >= 1/2`.

use super::{Estimate, Registers, collision::Collision, hamming, input, interval, size};
use crate::{Error, Result};

/// Probability (26) that a stored bit of `m` samples agrees, each of which agrees with probability `one`.
pub fn agreement(one: f64, m: u32) -> f64 {
    0.5 + 0.5 * libm::pow(2.0 * one - 1.0, f64::from(m))
}

/// The raw estimate for 64-bit hashes, `rate` being the share of equal stored bits.
pub fn raw(rate: f64, m: u32) -> f64 {
    libm::pow((2.0 * rate - 1.0).max(0.0), 1.0 / f64::from(m))
}

/// Variance of [`raw`] for one stored bit; divide by `k`.
pub fn variance(jaccard: f64, m: u32) -> f64 {
    let m = f64::from(m);
    (libm::pow(jaccard, 2.0 - 2.0 * m) - jaccard * jaccard) / (m * m)
}

/// The raw estimate (27) for two samples per stored bit and dense sets, where `line` is [`Collision::dense`] at one bit.
pub fn raw_half(rate: f64, line: Collision) -> f64 {
    ((2.0 * rate - 1.0).max(0.0).sqrt() + 1.0 - 2.0 * line.c1) / (2.0 - 2.0 * line.c2)
}

/// Variance (28) of [`raw_half`] for one stored bit; divide by `k`.
pub fn variance_half(jaccard: f64, line: Collision) -> f64 {
    let t = agreement(line.probability(jaccard), 2);
    let slope = 1.0 - line.c2;
    t * (1.0 - t) / (4.0 * slope * slope * (2.0 * t - 1.0))
}

/// The number of samples per stored bit with the least variance at similarity `jaccard`.
pub fn best_samples(jaccard: f64) -> Result<u32> {
    input::below_one("similarity", jaccard)?;
    let best = hamming::BEST_EXPONENT / -libm::log(jaccard);
    Ok((best.round() as u32).max(1))
}

/// Jaccard similarity from `equal` of `stored` bits, each of `m` samples of 64-bit hashes.
///
/// `registers` describes the `m * stored` samples. The interval is that of the rate, carried over by the monotone map.
pub fn jaccard(equal: usize, m: u32, registers: Registers, sizes: Option<[f64; 2]>) -> Result<Estimate> {
    let stored = stored(m, registers.k)?;
    let k = input::registers(stored)?;
    let rate = input::count("equal bits", equal, stored)? / k;
    let range = size::jaccard_range(sizes)?;
    let extra = |j: f64| (registers.factor(sizes.map(|f| size::union_at(j, f))) - 1.0) * j * (1.0 - j);
    // Per stored bit: the binomial part, and what the dependence of the samples adds, by the delta method.
    let spread = |j: f64| {
        let t = agreement(0.5 + 0.5 * j, m);
        let slope = 0.5 * f64::from(m) * libm::pow(j, f64::from(m) - 1.0);
        t * (1.0 - t) + slope * slope * extra(j) / f64::from(m)
    };
    let raw = raw(rate, m);
    let accepts = |j: f64| {
        let distance = rate - agreement(0.5 + 0.5 * j, m);
        distance * distance <= interval::Z95 * interval::Z95 * spread(j).max(0.0) / k
    };
    let ends = [0.0, 1.0].map(|end| interval::edge(raw, end, accepts));
    let value = raw.clamp(range[0], range[1]);
    let variance = variance(value, m) + extra(value) / f64::from(m);
    // At similarity 0 the standard error is infinite; the width of the interval stands in for it.
    let standard_error = (variance.max(0.0) / k).sqrt().min(ends[1] - ends[0]);
    Ok(Estimate::clamped(raw, standard_error, ends, range))
}

fn stored(m: u32, samples: usize) -> Result<usize> {
    match usize::try_from(m) {
        Ok(m) if m > 0 && samples.is_multiple_of(m) => Ok(samples / m),
        _ => Err(Error::parameter("registers", format!("a multiple of {m} samples per bit"), samples)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_are_the_half_bit_of_the_paper() {
        let line = Collision::sparse(1);
        for j in [0.3, 0.6, 0.95] {
            let t = agreement(line.probability(j), 2);
            assert!((raw_half(t, line) - j).abs() < 1e-12 && (raw(t, 2) - j).abs() < 1e-12);
            assert!((variance_half(j, line) / variance(j, 2) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn half_a_bit_beats_one_bit_from_the_root_of_a_third() {
        let one = |j: f64| Collision::sparse(1).variance(1.0).at(j);
        let crossing = 1.0 / 3f64.sqrt();
        assert!((variance(crossing, 2) - one(crossing)).abs() < 1e-12);
        assert!(variance(0.7, 2) < one(0.7) && variance(0.5, 2) > one(0.5));
    }

    #[test]
    fn the_best_number_of_samples_has_the_least_variance() {
        for j in [0.8, 0.9, 0.95, 0.99] {
            let best = best_samples(j).unwrap();
            assert!(variance(j, best) <= variance(j, best + 1) && variance(j, best) <= variance(j, best - 1));
        }
        assert_eq!(best_samples(0.0).unwrap(), 1);
    }

    #[test]
    fn the_wrong_root_of_dense_sets_is_the_documented_one() {
        let line = Collision::dense(1, [0.57, 0.554]).unwrap();
        let t = agreement(line.probability(0.10), 2);
        assert!((raw_half(t, line) - 0.46).abs() < 0.01);
    }

    #[test]
    fn one_sample_per_bit_is_one_bit_hashing() {
        let registers = Registers::independent(128);
        let (a, b) = (
            jaccard(96, 1, registers, None).unwrap(),
            crate::estimate::two_way::jaccard(96, 1, registers, None).unwrap(),
        );
        let (a, b) = (a.measured().unwrap(), b.measured().unwrap());
        assert!((a.low - b.low).abs() < 1e-9 && (a.high - b.high).abs() < 1e-9);
        assert!((a.standard_error - b.standard_error).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused_and_noise_stays_finite() {
        assert!(jaccard(1, 0, Registers::independent(8), None).is_err());
        assert!(jaccard(1, 3, Registers::independent(8), None).is_err());
        assert!(jaccard(9, 1, Registers::independent(8), None).is_err());
        let low = jaccard(10, 8, Registers::independent(256), None).unwrap();
        assert_eq!(low.value(), Some(0.0));
    }
}

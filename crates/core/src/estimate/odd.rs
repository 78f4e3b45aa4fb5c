//! Parity sketches (Odd Sketch): `n` bits, each the parity of the elements hashed to it.
//!
//! The exclusive or of two sketches is the sketch of the symmetric difference, of `m` elements; `Z` is its number of
//! ones. Sketches of registers tagged with their position have `m = 2 * mismatching registers`; sketches of elements
//! directly give set sizes and differences.
//!
//! ```text
//! E[Z]   = n (1-(1-2/n)^m)/2                                                      exact (Markov)
//! Var[Z] = n^2 [(1-4/n)^m - (1-2/n)^(2m)]/4 + n [1-(1-4/n)^m]/4                   exact
//! m^     = ln(1-2Z/n)/ln(1-2/n)            J^ = 1 - m^/(2k)
//! Var(J^)= J(1-J)/k + n/(4k^2) [(e^(4c)-1)/4 - c],      c = 2k(1-J)/n
//! ```
//!
//! From `2Z >= n` on there is no finite estimate: the answer is [`Estimate::Saturated`]. The Poisson forms of the
//! slides are here for comparison.

use super::{Estimate, Registers, input, interval, size};
use crate::{Error, Result};

/// No set of 64-bit elements is larger.
const MAX_SIZE: f64 = 18_446_744_073_709_551_616.0;

/// Probability that a bit is one after `m` elements, exactly.
pub fn probability(m: f64, n: f64) -> f64 {
    -0.5 * libm::expm1(m * libm::log1p(-2.0 / n))
}

/// Probability that a bit is one if every bit received a Poisson number of elements.
pub fn probability_poisson(m: f64, n: f64) -> f64 {
    -0.5 * libm::expm1(-2.0 * m / n)
}

/// Variance of the number of ones after `m` elements, exactly. For `n >= 4`.
pub fn variance_of_ones(m: f64, n: f64) -> f64 {
    ones_variance(n, libm::pow(1.0 - 2.0 / n, m), libm::pow(1.0 - 4.0 / n, m))
}

/// Variance of the number of ones in the Poisson model, which overstates it.
pub fn variance_of_ones_poisson(m: f64, n: f64) -> f64 {
    let p = probability_poisson(m, n);
    n * p * (1.0 - p)
}

/// The number of elements at which `ones` are expected; `None` when saturated.
pub fn elements(ones: f64, n: f64) -> Option<f64> {
    (2.0 * ones < n).then(|| libm::log1p(-2.0 * ones / n) / libm::log1p(-2.0 / n))
}

/// The raw similarity of `k` registers that differ in `elements / 2` positions.
pub fn jaccard_of_elements(elements: f64, k: f64) -> f64 {
    1.0 - elements / (2.0 * k)
}

/// Variance of the similarity estimate from `n` bits over `k` independent registers.
pub fn variance(jaccard: f64, n: f64, k: f64) -> f64 {
    let c = 2.0 * k * (1.0 - jaccard) / n;
    jaccard * (1.0 - jaccard) / k + n / (4.0 * k * k) * (0.25 * libm::expm1(4.0 * c) - c)
}

/// The number of registers for `n` bits that is best at similarity `target`: `n / (4 (1 - target))`.
pub fn best_registers(n: usize, target: f64) -> Result<usize> {
    bits(n)?;
    let target = input::below_one("similarity", target)?;
    Ok(((n as f64 / (4.0 * (1.0 - target))).round() as usize).max(1))
}

/// Jaccard similarity from the number of ones in the exclusive or of two `n`-bit sketches of tagged registers.
pub fn jaccard(ones: usize, n: usize, registers: Registers, sizes: Option<[f64; 2]>) -> Result<Estimate> {
    let bits = bits(n)?;
    let k = input::registers(registers.k)?;
    let ones = input::count("ones", ones, n)?;
    let range = size::jaccard_range(sizes)?;
    let factor = |j: f64| registers.factor(sizes.map(|f| size::union_at(j, f)));
    let accepts = |j: f64| {
        let (mean, variance) = moments(j, bits, k, factor(j));
        (ones - mean) * (ones - mean) <= interval::Z95 * interval::Z95 * variance
    };
    let Some(m) = elements(ones, bits) else {
        return Ok(Estimate::Saturated { at_most: interval::edge(range[0], range[1], accepts) });
    };
    let raw = jaccard_of_elements(m, k);
    let value = raw.clamp(range[0], range[1]);
    let ends = [0.0, 1.0].map(|end| interval::edge(value, end, accepts));
    let variance = variance(value, bits, k) + (factor(value) - 1.0) * value * (1.0 - value) / k;
    // Deep in saturation the formula explodes; an error of the whole range says as much.
    let standard_error = variance.max(0.0).sqrt().min(1.0);
    Ok(Estimate::clamped(raw, standard_error, ends, range))
}

/// The number of elements of a set from the ones of its own `n`-bit sketch, built over the elements directly; that of a symmetric difference from the exclusive or
/// of two.
///
/// ```
/// use benzer_core::estimate::{Estimate, odd};
/// assert!((odd::set_size(90, 512)?.value().unwrap() - 110.7).abs() < 0.1);
/// assert!(matches!(odd::set_size(256, 512)?, Estimate::Saturated { .. }));
/// # Ok::<(), benzer_core::Error>(())
/// ```
pub fn set_size(ones: usize, n: usize) -> Result<Estimate> {
    let bits = bits(n)?;
    let ones = input::count("ones", ones, n)?;
    let Some(raw) = elements(ones, bits) else {
        return Ok(Estimate::Saturated { at_most: MAX_SIZE });
    };
    let accepts = |m: f64| {
        let distance = ones - bits * probability(m, bits);
        distance * distance <= interval::Z95 * interval::Z95 * variance_of_ones(m, bits)
    };
    // Beyond this many elements every bit is a fair coin, and more make no difference.
    let fair = 20.0 * bits;
    let high = interval::edge(raw, fair, accepts);
    let low = interval::edge(raw, 0.0, accepts);
    let c = raw / bits;
    let standard_error = (bits * (0.25 * libm::expm1(4.0 * c) - c)).max(0.0).sqrt();
    let ends = [low, if high >= fair { MAX_SIZE } else { high }];
    Ok(Estimate::clamped(raw, standard_error, ends, [0.0, MAX_SIZE]))
}

fn bits(n: usize) -> Result<f64> {
    if n < 4 {
        return Err(Error::parameter("sketch bits", "at least 4", n));
    }
    Ok(n as f64)
}

/// Exact mean and variance of the ones at similarity `jaccard`: the number of mismatching registers is binomial, and
/// both moments are linear in powers of it. Dependent registers change the variance by the delta method.
fn moments(jaccard: f64, n: f64, k: f64, factor: f64) -> (f64, f64) {
    let average = |base: f64| libm::exp(k * libm::log1p((1.0 - jaccard) * (base * base - 1.0)));
    let (two, four) = (average(1.0 - 2.0 / n), average(1.0 - 4.0 / n));
    let mean = 0.5 * n * (1.0 - two);
    let variance = ones_variance(n, two, four);
    let base = (1.0 - 2.0 / n) * (1.0 - 2.0 / n) - 1.0;
    let slope = 0.5 * n * k * two * base / (1.0 + (1.0 - jaccard) * base);
    (mean, (variance + (factor - 1.0) * slope * slope * jaccard * (1.0 - jaccard) / k).max(0.0))
}

/// Variance of the ones, given the mean of `(1-2/n)^m` and of `(1-4/n)^m`.
fn ones_variance(n: f64, two: f64, four: f64) -> f64 {
    (0.25 * n * n * (four - two * two) + 0.25 * n * (1.0 - four)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_formula_is_the_markov_chain() {
        // The number of ones after each element: up with probability (n - z)/n, else down.
        let (n, elements) = (12usize, 9);
        let mut chance = vec![0.0f64; n + 1];
        chance[0] = 1.0;
        for _ in 0..elements {
            let mut next = vec![0.0; n + 1];
            for z in 0..=n {
                if z < n {
                    next[z + 1] += chance[z] * (n - z) as f64 / n as f64;
                }
                if z > 0 {
                    next[z - 1] += chance[z] * z as f64 / n as f64;
                }
            }
            chance = next;
        }
        let mean: f64 = chance.iter().enumerate().map(|(z, p)| z as f64 * p).sum();
        let square: f64 = chance.iter().enumerate().map(|(z, p)| (z * z) as f64 * p).sum();
        assert!((mean - 12.0 * probability(9.0, 12.0)).abs() < 1e-12);
        assert!((square - mean * mean - variance_of_ones(9.0, 12.0)).abs() < 1e-12);
    }

    #[test]
    fn the_moments_average_over_the_mismatches() {
        let (n, k, j) = (64.0, 10u32, 0.7);
        let (mut mean, mut square) = (0.0, 0.0);
        let mut chance = 0.7f64.powi(10);
        for mismatches in 0..=k {
            let m = 2.0 * f64::from(mismatches);
            let ones = n * probability(m, n);
            mean += chance * ones;
            square += chance * (variance_of_ones(m, n) + ones * ones);
            chance *= f64::from(k - mismatches) / f64::from(mismatches + 1) * 0.3 / 0.7;
        }
        let got = moments(j, n, f64::from(k), 1.0);
        assert!((got.0 - mean).abs() < 1e-10 && (got.1 - (square - mean * mean)).abs() < 1e-9);
    }

    #[test]
    fn the_published_choice_of_registers() {
        let chosen = [0.5, 0.7, 0.75, 0.85, 0.9, 0.95, 0.99].map(|j| best_registers(512, j).unwrap());
        assert_eq!(chosen, [256, 427, 512, 853, 1280, 2560, 12800]);
    }

    #[test]
    fn saturation_is_a_bound_and_never_a_number() {
        let registers = Registers::independent(1280);
        let Estimate::Saturated { at_most } = jaccard(256, 512, registers, None).unwrap() else { panic!() };
        assert!(at_most > 0.6 && at_most < 0.85, "{at_most}");
        assert_eq!(jaccard(512, 512, registers, None).unwrap().value(), None);
        assert_eq!(set_size(300, 512).unwrap(), Estimate::Saturated { at_most: MAX_SIZE });
    }

    #[test]
    fn equal_sketches_are_one_with_an_interval() {
        let measured = *jaccard(0, 512, Registers::independent(1280), None).unwrap().measured().unwrap();
        assert!(measured.value == 1.0 && measured.high == 1.0 && measured.low > 0.995 && measured.low < 1.0);
    }

    #[test]
    fn sizes_near_saturation_have_no_upper_end_below_the_universe() {
        let measured = *set_size(250, 512).unwrap().measured().unwrap();
        assert!(measured.high == MAX_SIZE && measured.low > 300.0 && measured.standard_error.is_finite());
        let small = *set_size(40, 512).unwrap().measured().unwrap();
        assert!(small.low > 38.0 && small.high < 60.0 && small.value > 42.0, "{small:?}");
        let empty = *set_size(0, 512).unwrap().measured().unwrap();
        assert!(empty.value == 0.0 && empty.high < 1e-6, "two elements rarely cancel: {empty:?}");
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(jaccard(1, 3, Registers::independent(4), None).is_err());
        assert!(jaccard(9, 8, Registers::independent(4), None).is_err());
        assert!(jaccard(1, 8, Registers::independent(0), None).is_err());
        assert!(set_size(9, 8).is_err() && best_registers(512, 1.0).is_err());
    }
}

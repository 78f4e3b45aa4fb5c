//! Jaccard similarity of two sets from the number of equal registers.
//!
//! ```text
//! full:   R_M = equal / k                      Var = R (1-R) / k
//! b-bit:  R_b = (equal / k - C1) / (1 - C2)    Var = P (1-P) / (k (1-C2)^2)          (9), (11)
//! sparse: R_b = (N equal / k - 1) / (N - 1)    Var = (1-R)(R + 1/(N-1)) / k
//! ```
//!
//! Registers that depend on each other have `alpha R (1-R) + (1-R)/(N-1)` instead ([`super::factor`]).

use super::{Estimate, Registers, collision::Collision, input, interval, size};
use crate::Result;

/// The raw estimate (9) of 64-bit hashes: `rate` is the share of equal b-bit registers. It may be negative.
pub fn raw(rate: f64, b: u32) -> f64 {
    Collision::sparse(b).jaccard(rate)
}

/// The variance (11) of [`raw`] at similarity `jaccard`, for `k` independent registers.
pub fn variance(jaccard: f64, b: u32, k: f64) -> f64 {
    Collision::sparse(b).variance(1.0).at(jaccard) / k
}

/// Jaccard similarity from the number of equal b-bit registers of 64-bit hashes.
///
/// With `sizes`, the similarity is at most `min / max`, and the dependence of the registers is taken into account.
///
/// ```
/// use benzer_core::estimate::{Registers, two_way};
/// let estimate = two_way::jaccard(96, 1, Registers::independent(128), None)?;
/// assert_eq!(estimate.value(), Some(0.5));
/// # Ok::<(), benzer_core::Error>(())
/// ```
pub fn jaccard(equal: usize, b: u32, registers: Registers, sizes: Option<[f64; 2]>) -> Result<Estimate> {
    let line = Collision::sparse(input::bits(b)?);
    let k = input::registers(registers.k)?;
    let equal = input::count("equal registers", equal, registers.k)?;
    let range = size::jaccard_range(sizes)?;
    let at = |j: f64| {
        let union = sizes.map(|f| size::union_at(j.clamp(range[0], range[1]), f));
        line.variance(registers.factor(union))
    };
    let raw = line.jaccard(equal / k);
    let value = raw.clamp(range[0], range[1]);
    let ends = interval::score_moving(raw, k, at);
    Ok(Estimate::clamped(raw, (at(value).at(value) / k).sqrt(), ends, range))
}

/// Jaccard similarity from equal b-bit registers, where the minima were taken over true permutations of a universe of
/// which the sets fill the shares `densities`. The registers are independent.
pub fn jaccard_dense(equal: usize, k: usize, b: u32, densities: [f64; 2]) -> Result<Estimate> {
    let line = Collision::dense(b, densities)?;
    let n = input::registers(k)?;
    let raw = line.jaccard(input::count("equal registers", equal, k)? / n);
    let range = size::jaccard_range_dense(densities)?;
    let variance = line.variance(1.0);
    let standard_error = (variance.at(raw.clamp(range[0], range[1])) / n).sqrt();
    Ok(Estimate::clamped(raw, standard_error, interval::score(raw, n, variance), range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Scheme;

    #[test]
    fn the_sparse_forms_are_the_short_ones() {
        for b in [1u32, 2, 4, 8, 16] {
            let n = libm::exp2(f64::from(b));
            assert!((raw(0.7, b) - (n * 0.7 - 1.0) / (n - 1.0)).abs() < 1e-15);
            assert!((variance(0.3, b, 10.0) - 0.7 * (0.3 + 1.0 / (n - 1.0)) / 10.0).abs() < 1e-15);
        }
    }

    #[test]
    fn sixty_four_bits_are_full_minwise_hashing() {
        let estimate = jaccard(32, 64, Registers::independent(128), None).unwrap();
        let measured = estimate.measured().unwrap();
        assert_eq!(measured.value, 0.25);
        assert!((measured.standard_error - (0.25f64 * 0.75 / 128.0).sqrt()).abs() < 1e-15);
        assert!(measured.low < 0.25 && measured.high > 0.25);
    }

    #[test]
    fn sizes_bound_the_similarity() {
        let estimate = jaccard(128, 8, Registers::independent(128), Some([1000.0, 300.0])).unwrap();
        let measured = estimate.measured().unwrap();
        assert_eq!((measured.value, measured.high), (0.3, 0.3));
    }

    #[test]
    fn small_sets_in_fast_registers_have_narrower_intervals() {
        let width = |scheme| {
            let estimate = jaccard(64, 64, Registers { k: 128, scheme }, Some([50.0, 50.0])).unwrap();
            let m = *estimate.measured().unwrap();
            m.high - m.low
        };
        let ratio = width(Scheme::Fast { rounds: 128 }) / width(Scheme::Independent);
        assert!((ratio - 0.517f64.sqrt()).abs() < 0.02, "{ratio}");
        assert!(width(Scheme::OnePermutation) > width(Scheme::Independent));
    }

    #[test]
    fn no_register_is_equal_and_still_there_is_an_upper_end() {
        let estimate = jaccard(0, 1, Registers::independent(64), None).unwrap();
        assert_eq!(estimate.value(), Some(0.0));
        let full = jaccard(0, 64, Registers::independent(64), None).unwrap();
        assert!(full.measured().unwrap().high > 0.03);
    }

    #[test]
    fn dense_and_sparse_agree_for_sparse_sets() {
        let dense = jaccard_dense(90, 128, 2, [1e-12, 1e-12]).unwrap();
        let sparse = jaccard(90, 2, Registers::independent(128), None).unwrap();
        let (a, b) = (dense.measured().unwrap(), sparse.measured().unwrap());
        assert!((a.value - b.value).abs() < 1e-9 && (a.low - b.low).abs() < 1e-9);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(jaccard(0, 1, Registers::independent(0), None).is_err());
        assert!(jaccard(5, 1, Registers::independent(4), None).is_err());
        assert!(jaccard(1, 17, Registers::independent(4), None).is_err());
        assert!(jaccard(1, 1, Registers::independent(4), Some([0.0, 1.0])).is_err());
        assert!(jaccard_dense(1, 4, 1, [0.0, 0.5]).is_err());
    }
}

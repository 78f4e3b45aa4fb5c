//! Bits needed for equal precision (b-bit minwise hashing, (12) to (15); three-way b-bit hashing, figure 6).
//!
//! The storage factor `B(b) = b * k * Var` says how many bits buy one unit of precision; only ratios of it mean anything.

use super::{collision::Collision, collision::accident, three_way, three_way::ThreeWayBits};
use crate::Result;

/// `B(b) = b P (1-P) / (1-C2)^2` (12).
pub fn factor(jaccard: f64, b: u32, line: Collision) -> f64 {
    f64::from(b) * line.variance(1.0).at(jaccard)
}

/// Lemma 1: `B(b1) / B(b2)` for two sets of equal density `r`.
pub fn ratio_equal_density(bits: [u32; 2], r: f64, jaccard: f64) -> f64 {
    let [b1, b2] = bits;
    let (a1, a2) = (accident(r, b1), accident(r, b2));
    let agreement = |a: f64| a * (1.0 - jaccard) + jaccard;
    f64::from(b1) / f64::from(b2) * agreement(a1) / agreement(a2) * (1.0 - a2) / (1.0 - a1)
}

/// `B(64) / B(1)`: how many times less storage one bit needs than 64 (Table 1).
pub fn ratio_64_to_1(jaccard: f64, densities: [f64; 2]) -> Result<f64> {
    let of = |b| Collision::dense(b, densities).map(|line| factor(jaccard, b, line));
    Ok(of(64)? / of(1)?)
}

/// The similarity below which `b + 1` bits need less storage than `b`, for 64-bit hashes.
pub fn crossover(b: u32) -> f64 {
    let share = |b: u32| f64::from(b) / (libm::exp2(f64::from(b)) - 1.0);
    share(b) - share(b + 1)
}

/// Three-way: 64-bit registers over b-bit registers at similarity `jaccard` with pair similarities adding up to
/// `pairs` (figure 6).
pub fn three_way_ratio(jaccard: f64, pairs: f64, bits: ThreeWayBits) -> f64 {
    let full = 64.0 * jaccard * (1.0 - jaccard);
    full / (f64::from(bits.get()) * three_way::variance(jaccard, pairs, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_1_is_the_recomputed_column() {
        let table = [
            ([0.0145, 0.0143], 0.925, 30.985320),
            ([0.570, 0.554], 0.771, 40.842142),
            ([0.0031, 0.0028], 0.712, 26.663473),
            ([0.062, 0.061], 0.591, 24.729904),
            ([0.045, 0.043], 0.112, 6.711786),
            ([0.596, 0.035], 0.052, 6.207439),
        ];
        for (densities, jaccard, expected) in table {
            let got = ratio_64_to_1(jaccard, densities).unwrap();
            assert!((got - expected).abs() < 1e-6, "{densities:?} {got}");
        }
    }

    #[test]
    fn one_bit_against_64_has_a_short_form() {
        for (r, j) in [(1e-9, 0.5), (0.3, 0.8), (0.5, 0.2)] {
            assert!((ratio_equal_density([64, 1], r, j) - 64.0 * j / (1.0 + j - r)).abs() < 1e-9);
        }
        assert!((ratio_equal_density([64, 1], 0.0, 1.0) - 32.0).abs() < 1e-9);
    }

    /// The number of bits, 1 to 16, with the least storage at similarity `jaccard`, for 64-bit hashes.
    fn best_bits(jaccard: f64) -> u32 {
        (1..16).find(|&b| jaccard >= crossover(b)).unwrap_or(16)
    }

    #[test]
    fn the_best_number_of_bits_follows_the_crossovers() {
        assert!((crossover(1) - 1.0 / 3.0).abs() < 1e-15 && (crossover(3) - 17.0 / 105.0).abs() < 1e-15);
        assert_eq!([0.9, 0.34, 0.33, 0.2, 0.12, 0.1, 0.0].map(best_bits), [1, 1, 2, 3, 4, 5, 16]);
    }

    #[test]
    fn the_best_number_of_bits_has_the_smallest_factor() {
        for step in 1..100 {
            let j = f64::from(step) / 100.0;
            let least = (1..=16u32)
                .min_by(|&x, &y| {
                    factor(j, x, Collision::sparse(x)).total_cmp(&factor(j, y, Collision::sparse(y)))
                })
                .unwrap();
            assert_eq!(best_bits(j), least, "{j}");
        }
    }

    #[test]
    fn three_way_storage_table() {
        let table = [
            (3.0, 0.10, [12.00, 17.23, 15.27, 10.64]),
            (3.0, 0.50, [24.00, 20.36, 15.85, 10.66]),
            (4.0, 0.375, [18.70, 17.01, 14.39, 10.40]),
            (6.0, 0.25, [13.71, 13.58, 12.63, 10.03]),
            (10.0, 0.15, [9.19, 9.97, 10.38, 9.44]),
            (20.0, 0.075, [5.09, 6.09, 7.27, 8.27]),
            (50.0, 0.03, [2.19, 2.82, 3.85, 6.04]),
            (50.0, 0.06, [2.64, 2.90, 3.83, 5.98]),
        ];
        for (alpha, jaccard, row) in table {
            for (b, expected) in [2, 3, 4, 6].into_iter().zip(row) {
                let got = three_way_ratio(jaccard, alpha * jaccard, ThreeWayBits::new(b).unwrap());
                assert!((got - expected).abs() < 0.006, "alpha {alpha} R {jaccard} b {b}: {got}");
            }
        }
    }
}

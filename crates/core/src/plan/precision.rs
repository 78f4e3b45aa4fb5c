//! How many registers give a standard error, for everything that can be kept of them.
//!
//! ```text
//! b bits   k Var = alpha J (1-J) + (1-J)/(2^b-1)                          estimate::two_way
//! xor      stored Var = (J^(2-2m) - J^2)/m^2 + (alpha-1) J (1-J)/m         estimate::xor, m best at J
//! odd      Var = alpha J (1-J)/k + n/(4k^2) [(e^(4c)-1)/4 - c]             estimate::odd, k = n / (4 (1-J))
//! ```
//!
//! `alpha` is the variance factor of the family for two sets of the mean size at similarity `J` ([`crate::estimate::factor`]); it
//! depends on `k`, so the number of registers is found by bisection.
//!
//! The formulas are asymptotic: no fewer than 16 registers, and for merged registers (xor, odd) no fewer than 64 stored bits, are ever
//! proposed.

use crate::estimate::collision::Collision;
use crate::estimate::{Registers, Scheme, odd, size, xor};
use crate::sketch::{Bits, MAX_REGISTERS, Packing, SketchSpec};

const MIN_REGISTERS: u32 = 16;
const MIN_MERGED_BITS: u32 = 64;

/// What is kept of the registers: a packing before its size is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PackingKind {
    Bits(Bits),
    Xor,
    Odd,
}

impl PackingKind {
    /// Whole registers, fewer and fewer bits, then merged ones: the rows of the table.
    pub(super) fn all() -> [Self; 8] {
        let bits = |b| Self::Bits(Bits::new(b).expect("an allowed width"));
        [bits(64), bits(16), bits(8), bits(4), bits(2), bits(1), Self::Xor, Self::Odd]
    }

    /// The smallest spec of the default family whose standard error is at most `error`; else the largest, and its error.
    pub(super) fn reaching(self, error: f64, sets: Sets) -> Precision {
        let (mut low, mut high) = (self.min_size(), self.max_size(sets.jaccard));
        let at = |n| Precision::new(self.spec(n, sets.jaccard), sets);
        while low < high {
            let middle = low + (high - low) / 2;
            // A target that was computed from a number of registers must be reached by that number.
            if at(middle).error <= error * (1.0 + 1e-12) { high = middle } else { low = middle + 1 }
        }
        at(high)
    }

    /// The spec of size `n`: registers for bits, stored bits otherwise.
    fn spec(self, n: u32, jaccard: f64) -> SketchSpec {
        let (registers, packing) = match self {
            Self::Bits(bits) => (n, Packing::Bits(bits)),
            Self::Xor => (n * samples(jaccard), Packing::Xor { samples: samples(jaccard) }),
            Self::Odd => (odd_registers(n, jaccard), Packing::Odd { bits: n }),
        };
        SketchSpec { registers, packing, ..SketchSpec::default() }
    }

    fn min_size(self) -> u32 {
        if matches!(self, Self::Bits(_)) { MIN_REGISTERS } else { MIN_MERGED_BITS }
    }

    fn max_size(self, jaccard: f64) -> u32 {
        match self {
            Self::Bits(_) => MAX_REGISTERS,
            Self::Xor => MAX_REGISTERS / samples(jaccard),
            Self::Odd => ((f64::from(MAX_REGISTERS) * 4.0 * (1.0 - jaccard)) as u32).min(1 << 24),
        }
    }
}

/// A spec and the spread of its estimates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Precision {
    pub(super) spec: SketchSpec,
    /// Standard error of the similarity at the planned one.
    pub(super) error: f64,
    /// The variance factor of the family.
    pub(super) factor: f64,
}

impl Precision {
    pub(super) fn new(spec: SketchSpec, sets: Sets) -> Self {
        let k = f64::from(spec.registers);
        let scheme = Scheme::from(spec.family);
        let union = size::union_at(sets.jaccard, [sets.size; 2]);
        let factor = Registers { k: spec.registers as usize, scheme }.factor(Some(union));
        let j = sets.jaccard;
        let extra = (factor - 1.0) * j * (1.0 - j) / k;
        let variance = match spec.packing {
            Packing::Bits(bits) => Collision::sparse(bits.get()).variance(factor).at(j) / k,
            Packing::Xor { samples } => xor::variance(j, samples) * f64::from(samples) / k + extra,
            Packing::Odd { bits } => odd::variance(j, f64::from(bits), k) + extra,
        };
        Self { spec, error: variance.max(0.0).sqrt(), factor }
    }
}

/// Two sets of equal size at the similarity at which errors are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sets {
    pub(super) jaccard: f64,
    pub(super) size: f64,
}

fn samples(jaccard: f64) -> u32 {
    xor::best_samples(jaccard).expect("a similarity inside (0, 1)").max(2)
}

fn odd_registers(bits: u32, jaccard: f64) -> u32 {
    let best =
        odd::best_registers(bits as usize, jaccard).expect("enough bits, and a similarity inside (0, 1)");
    (best as u32).clamp(MIN_REGISTERS, MAX_REGISTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SETS: Sets = Sets { jaccard: 0.8, size: 500.0 };

    proptest! {
        #[test]
        fn no_smaller_sketch_would_do(jaccard in 0.05f64..0.99, size in 1.0f64..1e5, error in 0.005f64..0.2) {
            let sets = Sets { jaccard, size };
            for kind in PackingKind::all() {
                let found = kind.reaching(error, sets);
                prop_assert!(found.spec.validate().is_ok() && found.error.is_finite(), "{:?}", found);
                let n = match found.spec.packing {
                    Packing::Bits(_) => found.spec.registers,
                    Packing::Xor { samples } => found.spec.registers / samples,
                    Packing::Odd { bits } => bits,
                };
                let is_largest = n == kind.max_size(jaccard);
                prop_assert!(found.error <= error * (1.0 + 1e-12) || is_largest, "{:?}", found);
                if n > kind.min_size() {
                    prop_assert!(Precision::new(kind.spec(n - 1, jaccard), sets).error > error, "{:?}", found);
                }
            }
        }
    }

    #[test]
    fn equal_error_in_bits_is_that_of_the_papers() {
        // Large sets, where alpha is 1: 64 bits against 1 is 64 R / (1 + R).
        let sets = Sets { size: 1e9, ..SETS };
        let stored = |kind: PackingKind| kind.reaching(0.01, sets).spec.bytes() as f64;
        let [full, .., one, _, _] = PackingKind::all();
        assert!((stored(full) / stored(one) / (64.0 * 0.8 / 1.8) - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_default_sketch_reaches_its_own_error() {
        let own = Precision::new(SketchSpec::default(), SETS);
        let found = PackingKind::Bits(Bits::new(8).unwrap()).reaching(own.error, SETS);
        assert_eq!(found.spec, SketchSpec::default());
        assert!(own.factor < 0.9 && own.factor > 0.5, "fast spreads less than 1: {}", own.factor);
    }

    #[test]
    fn what_cannot_be_reached_gives_the_largest() {
        let found = PackingKind::all()[0].reaching(1e-9, SETS);
        assert_eq!(found.spec.registers, MAX_REGISTERS);
        assert!(found.error > 1e-9);
    }
}

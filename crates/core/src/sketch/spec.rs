//! What a sketch was made under: family, registers, packing, seed and pipeline.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Registers that a sketch may have, at most. Bins are drawn from 16 bits of a hash, and no use of more is known.
pub const MAX_REGISTERS: u32 = 1 << 16;

/// Scatter rounds of the default family, chosen by measurement (`docs/decisions/001-fast-with-two-scatter-rounds-is-the-default-family.md`).
pub const DEFAULT_ROUNDS: u16 = 2;

/// Entries of the table of ranks of [`Scheme::Exact`], at most.
const MAX_TABLE: u64 = 1 << 28;

/// Everything two sketches must share to be comparable.
///
/// ```
/// use benzer_core::sketch::{Packing, SketchSpec};
/// let spec = SketchSpec::default();
/// assert_eq!(spec.to_string(), "fast:2 x 128, 8 bits, seed 42, pipeline raw");
/// assert_eq!(spec.bytes(), 128);
/// let half_the_size = SketchSpec { packing: Packing::bits(4).unwrap(), ..spec };
/// assert_eq!(half_the_size.bytes(), 64);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SketchSpec {
    /// How registers are made.
    pub family: Family,
    /// Number of registers (samples, minima, bins); for [`Family::Odd`] the number of bits.
    pub registers: u32,
    /// What is kept of the registers.
    pub packing: Packing,
    /// The one seed, from which every hash function is derived by [`crate::hash::split`].
    pub seed: u64,
    /// Id of the pipeline that made the elements; `raw` when the caller hands over elements directly.
    pub pipeline: String,
}

impl Default for SketchSpec {
    fn default() -> Self {
        Self {
            family: Family::Fast { rounds: DEFAULT_ROUNDS },
            registers: 128,
            packing: Packing::Bits(Bits(8)),
            seed: 42,
            pipeline: "raw".to_owned(),
        }
    }
}

impl SketchSpec {
    /// A spec with full 64-bit registers, seed 42 and raw elements.
    pub fn full(family: Family, registers: u32) -> Self {
        Self { family, registers, packing: Packing::FULL, ..Self::default() }
    }

    /// Checks every parameter without building anything.
    ///
    /// # Errors
    /// The first parameter out of range, or a packing the family does not allow.
    pub fn validate(&self) -> Result<()> {
        if self.registers == 0 || self.registers > MAX_REGISTERS {
            let expected = format!("between 1 and {MAX_REGISTERS}");
            return Err(Error::parameter("registers", expected, self.registers));
        }
        if self.pipeline.len() > 255 {
            return Err(Error::parameter("pipeline", "at most 255 bytes", self.pipeline.len()));
        }
        self.family.validate(self.registers)?;
        self.validate_packing()
    }

    fn validate_packing(&self) -> Result<()> {
        let &Self { family, registers, packing, .. } = self;
        let unsupported = |remedy| Err(self.unsupported("this packing", remedy));
        match packing {
            Packing::Bits(Bits(1)) if family == Family::Odd => Ok(()),
            _ if family == Family::Odd => {
                unsupported("an odd sketch of a set is one bit per position: use 1 bit")
            }
            Packing::FULL => Ok(()),
            _ if !family.is_aligned() => unsupported(
                "its registers are not aligned; keep 64 bits, or use an aligned family such as fast",
            ),
            Packing::Xor { samples }
                if samples < 2 || samples > registers || !registers.is_multiple_of(samples) =>
            {
                let expected = format!("at least 2 and a divisor of {registers} registers");
                Err(Error::parameter("samples", expected, samples))
            }
            Packing::Odd { bits } if !(8..=1 << 24).contains(&bits) => {
                Err(Error::parameter("odd bits", "between 8 and 16777216", bits))
            }
            _ => Ok(()),
        }
    }

    /// Bytes of one sketch of this spec as packed (without spec and checksum).
    pub fn bytes(&self) -> usize {
        let k = self.registers as usize;
        match self.packing {
            Packing::Bits(_) if self.family == Family::Odd => k.div_ceil(8),
            Packing::Bits(Bits(64)) => 8 * self.words(),
            Packing::Bits(Bits(b)) => (k * b as usize).div_ceil(8),
            Packing::Xor { samples } => (k / samples as usize).div_ceil(8),
            Packing::Odd { bits } => (bits as usize).div_ceil(8),
        }
    }

    /// 64-bit words a sketch of this spec occupies in memory.
    pub fn words(&self) -> usize {
        let k = self.registers as usize;
        match self.packing {
            Packing::Bits(Bits::FULL) if self.family == Family::OnePermutation => k + k.div_ceil(64),
            Packing::Bits(_) if self.family == Family::Odd => k.div_ceil(64),
            Packing::Bits(bits) => bits.words(k),
            Packing::Xor { samples } => (k / samples as usize).div_ceil(64),
            Packing::Odd { bits } => (bits as usize).div_ceil(64),
        }
    }

    /// Refuses a sketch of another spec, saying expected and got.
    pub(crate) fn must_equal(&self, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::SpecMismatch { expected: self.to_string(), got: other.to_string() })
    }

    /// An operation that does not exist for this family and packing.
    pub(crate) fn unsupported(&self, operation: &'static str, remedy: &'static str) -> Error {
        Error::Unsupported { operation, sketch: format!("{} with {}", self.family, self.packing), remedy }
    }
}

impl fmt::Display for SketchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, registers, packing, seed, pipeline } = self;
        write!(f, "{family} x {registers}, {packing}, seed {seed}, pipeline {pipeline}")
    }
}

/// How registers are made from elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// k hash functions, one minimum each.
    Permutations(Scheme),
    /// Fast Similarity Sketching with bounded scatter rounds.
    Fast {
        /// Scatter rounds before empty bins are filled directly; part of the definition.
        rounds: u16,
    },
    /// One permutation hashing with optimal densification.
    OnePermutation,
    /// The k smallest hashes of one function.
    BottomK,
    /// Consistent weighted sampling for the weighted Jaccard similarity.
    Weighted,
    /// Parity of the elements themselves; registers are bits.
    Odd,
}

impl Family {
    /// One of each, for tests and listings.
    pub const ALL: &'static [Self] = &[
        Self::Permutations(Scheme::Native),
        Self::Permutations(Scheme::Linear),
        Self::Permutations(Scheme::Legacy),
        Self::Permutations(Scheme::Affine32),
        Self::Permutations(Scheme::Affine64),
        Self::Permutations(Scheme::Exact { universe: 4096 }),
        Self::Fast { rounds: DEFAULT_ROUNDS },
        Self::OnePermutation,
        Self::BottomK,
        Self::Weighted,
        Self::Odd,
    ];

    /// True if register j of one sketch may be compared with register j of another: what b-bit, xor, odd and bands need.
    pub const fn is_aligned(self) -> bool {
        !matches!(self, Self::BottomK | Self::Odd)
    }

    fn validate(self, registers: u32) -> Result<()> {
        match self {
            Self::Fast { rounds: 0 } => Err(Error::parameter("rounds", "at least 1", 0)),
            Self::Permutations(Scheme::Exact { universe }) => {
                let max = MAX_TABLE / u64::from(registers);
                if universe == 0 || u64::from(universe) > max {
                    let allowed = format!("between 1 and {max} for {registers} registers");
                    return Err(Error::parameter("universe", allowed, universe));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permutations(scheme) => write!(f, "permutations:{scheme}"),
            Self::Fast { rounds } => write!(f, "fast:{rounds}"),
            Self::OnePermutation => f.write_str("one_permutation"),
            Self::BottomK => f.write_str("bottom_k"),
            Self::Weighted => f.write_str("weighted"),
            Self::Odd => f.write_str("odd"),
        }
    }
}

/// The hash functions of a `permutations` sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// `mix(mix(x ^ s) ^ s_i)`: a strong mixer per register.
    Native,
    /// The report's linear family (002): `a_i x + b_i mod 2^61-1`. Only approximately minwise; kept for its experiments.
    Linear,
    /// datasketch 1.x, and `legacy` of 2.x: `((a x + b) mod 2^64) mod 2^61-1`, lowest 32 bits.
    Legacy,
    /// datasketch 2.x's default: `a fmix32(x) + b mod 2^32`.
    Affine32,
    /// datasketch 2.x: `a fmix64(x) + b mod 2^64`.
    Affine64,
    /// True random permutations of `0..universe`: the setting of the papers' dense formulas.
    Exact {
        /// Size D of the universe; every element must be below it.
        universe: u32,
    },
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Native => f.write_str("native"),
            Self::Linear => f.write_str("linear"),
            Self::Legacy => f.write_str("legacy"),
            Self::Affine32 => f.write_str("affine32"),
            Self::Affine64 => f.write_str("affine64"),
            Self::Exact { universe } => write!(f, "exact:{universe}"),
        }
    }
}

/// What is kept of each register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// The lowest `b` bits of every register (papers 004 and 000); 64 keeps registers whole.
    Bits(Bits),
    /// One bit for each group of `samples` one-bit registers, combined by xor (004, section 5).
    Xor {
        /// Registers per stored bit; 2 is the paper's "b = 1/2".
        samples: u32,
    },
    /// An Odd Sketch of `bits` bits over the position-tagged registers (003).
    Odd {
        /// Length of the parity array.
        bits: u32,
    },
}

impl Packing {
    /// Whole registers: the only packing that keeps order, so that merging and known-size estimates work.
    pub const FULL: Self = Self::Bits(Bits::FULL);

    /// The lowest `b` bits of every register.
    ///
    /// # Errors
    /// `b` is not in 1..=16, 32 or 64.
    pub fn bits(b: u32) -> Result<Self> {
        Bits::new(b).map(Self::Bits)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(Bits(1)) => f.write_str("1 bit"),
            Self::Bits(bits) => write!(f, "{} bits", bits.get()),
            Self::Xor { samples } => write!(f, "xor of {samples}"),
            Self::Odd { bits } => write!(f, "odd sketch of {bits} bits"),
        }
    }
}

/// Bits kept of a register: 1 to 16, 32, or 64 (all of it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Bits(u32);

impl Bits {
    /// All 64 bits.
    pub const FULL: Self = Self(64);

    /// Every allowed width, in increasing order.
    pub const ALL: [Self; 18] = {
        let mut all = [Self(64); 18];
        let mut b = 1;
        while b <= 16 {
            all[b as usize - 1] = Self(b);
            b += 1;
        }
        all[16] = Self(32);
        all
    };

    /// Checks the width.
    ///
    /// # Errors
    /// `b` is not in 1..=16, 32 or 64.
    pub fn new(b: u32) -> Result<Self> {
        match b {
            1..=16 | 32 | 64 => Ok(Self(b)),
            _ => Err(Error::parameter("bits", "1 to 16, 32 or 64", b)),
        }
    }

    /// The width.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Registers that fit a 64-bit word; none straddles two words.
    pub const fn lanes(self) -> usize {
        64 / self.0 as usize
    }

    /// Words that `k` registers need.
    pub const fn words(self, k: usize) -> usize {
        k.div_ceil(self.lanes())
    }

    /// A value with the lowest `b` bits set.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.0)
    }
}

impl TryFrom<u32> for Bits {
    type Error = Error;

    fn try_from(b: u32) -> Result<Self> {
        Self::new(b)
    }
}

impl From<Bits> for u32 {
    fn from(bits: Bits) -> Self {
        bits.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_parameters_say_expected_and_got() {
        let refuse = |spec: SketchSpec| spec.sketcher().unwrap_err().to_string();
        assert_eq!(
            refuse(SketchSpec { registers: 0, ..SketchSpec::default() }),
            "`registers` must be between 1 and 65536, got 0"
        );
        assert!(Bits::new(0).is_err() && Bits::new(17).is_err() && Bits::new(65).is_err());
        let b_bit_of_bottom_k = SketchSpec { family: Family::BottomK, ..SketchSpec::default() };
        assert!(refuse(b_bit_of_bottom_k).contains("not aligned"));
        let uneven = SketchSpec { packing: Packing::Xor { samples: 3 }, ..SketchSpec::default() };
        assert_eq!(refuse(uneven), "`samples` must be at least 2 and a divisor of 128 registers, got 3");
        let no_rounds = SketchSpec { family: Family::Fast { rounds: 0 }, ..SketchSpec::default() };
        assert!(refuse(no_rounds).starts_with("`rounds` must be"));
        let huge = SketchSpec::full(Family::Permutations(Scheme::Exact { universe: u32::MAX }), 65_536);
        assert!(refuse(huge).starts_with("`universe` must be"));
    }

    #[test]
    fn a_spec_survives_json() {
        for family in Family::ALL {
            let packing = if *family == Family::Odd { Packing::bits(1).unwrap() } else { Packing::FULL };
            let spec = SketchSpec { family: *family, packing, ..SketchSpec::default() };
            let json = serde_json::to_string(&spec).unwrap();
            assert_eq!(serde_json::from_str::<SketchSpec>(&json).unwrap(), spec, "{json}");
        }
        let bad = r#"{"family":"bottom_k","registers":8,"packing":{"bits":17},"seed":1,"pipeline":"raw"}"#;
        assert!(
            serde_json::from_str::<SketchSpec>(bad).unwrap_err().to_string().contains("1 to 16, 32 or 64")
        );
    }
}

//! The names of sketches: `fast`, `b8`, `permutations:b2`, ...
//!
//! ```text
//! NAME = FAMILY | KEPT | FAMILY:KEPT
//! ```
//!
//! A family alone keeps whole registers; what is kept, alone, is of the family `fast`. So `b8` is `fast:b8`, the default of Benzer.

use std::fmt;
use std::str::FromStr;

use benzer_core::sketch::{Family, MAX_REGISTERS, Packing, Scheme, SketchSpec, Sketcher, fast};
use clap::Args;

use crate::Usage;

/// What every command says about the names.
pub const HELP: &str = "\
Sketch names are FAMILY, KEPT or FAMILY:KEPT, such as b8, bottom_k or fast:b2:
  FAMILY  fast, permutations, one_permutation, bottom_k, weighted,
          odd_set (parity of the elements), and the hash functions of other
          tools: linear, legacy, affine32, affine64
  KEPT    full (all 64 bits of a register), b1 to b16, b32 (its lowest bits),
          xor2, xor4, ... (one bit for several registers),
          odd (an Odd Sketch of as many bits as registers), odd256, ...
  FAMILY alone keeps full registers; KEPT alone is of fast.";

const FAMILIES: &str = "fast, permutations, linear, legacy, affine32, affine64, one_permutation, bottom_k, \
                        weighted, odd_set";
const KEPT: &str = "full, b1 to b16, b32, xor2, xor4, ..., odd, odd256, ...";

/// The options of sketches.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sketches")]
pub struct SketchArguments {
    /// Registers of a sketch: four times as many halve the error
    #[arg(long, value_name = "K", default_value = "128", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_REGISTERS)))]
    pub registers: u32,
    /// The seed of all hash functions; only sketches of the same seed can be compared
    #[arg(long, value_name = "SEED", default_value = "42")]
    pub seed: u64,
}

/// A kind of sketch, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SketchName {
    name: String,
    family: Family,
    kept: Kept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Packing(Packing),
    /// An Odd Sketch with as many bits as registers.
    Odd,
}

impl SketchArguments {
    /// The sketcher of a name, for elements of this pipeline.
    ///
    /// # Errors
    /// A combination that does not exist, such as b-bit registers of bottom_k.
    pub fn sketcher(&self, name: &SketchName, pipeline: &str) -> Result<Box<dyn Sketcher>, Usage> {
        let spec = name.spec(self, pipeline);
        spec.sketcher().map_err(|error| Usage::new(format!("--sketch {name}: {error}")))
    }
}

impl SketchName {
    /// What is used unless something else is asked for: 8 bits of each register, of weighted registers if repetitions count.
    pub fn default_for(bag: bool) -> Self {
        let name = if bag { "weighted:b8" } else { "b8" };
        name.parse().expect("a name from the list")
    }

    /// True if the sketch tells repetitions.
    pub fn is_weighted(&self) -> bool {
        self.family == Family::Weighted
    }

    /// The spec, with these registers and this seed.
    pub fn spec(&self, arguments: &SketchArguments, pipeline: &str) -> SketchSpec {
        let packing = match self.kept {
            Kept::Packing(packing) => packing,
            Kept::Odd => Packing::Odd { bits: arguments.registers },
        };
        let family = match self.family {
            // As many rounds as there are registers is the most that means anything.
            Family::Fast { rounds } => {
                Family::Fast { rounds: rounds.min(u16::try_from(arguments.registers).unwrap_or(u16::MAX)) }
            }
            other => other,
        };
        let (registers, seed) = (arguments.registers, arguments.seed);
        SketchSpec { family, registers, packing, seed, pipeline: pipeline.to_owned() }
    }
}

impl fmt::Display for SketchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for SketchName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "expected FAMILY, KEPT or FAMILY:KEPT, where FAMILY is one of {FAMILIES}, and KEPT one of {KEPT}"
            )
        };
        let fast = Family::Fast { rounds: fast::DEFAULT_ROUNDS };
        let (family, kept) = match (name.split_once(':'), family(name)) {
            (Some((of, what)), _) => (family(of).ok_or_else(unknown)?, kept(what).ok_or_else(unknown)?),
            (None, Some(Family::Odd)) => {
                (Family::Odd, Kept::Packing(Packing::bits(1).expect("one bit is allowed")))
            }
            (None, Some(family)) => (family, Kept::Packing(Packing::FULL)),
            (None, None) => (fast, kept(name).ok_or_else(unknown)?),
        };
        Ok(Self { name: name.to_owned(), family, kept })
    }
}

fn family(name: &str) -> Option<Family> {
    Some(match name {
        "fast" => Family::Fast { rounds: fast::DEFAULT_ROUNDS },
        "permutations" => Family::Permutations(Scheme::Native),
        "linear" => Family::Permutations(Scheme::Linear),
        "legacy" => Family::Permutations(Scheme::Legacy),
        "affine32" => Family::Permutations(Scheme::Affine32),
        "affine64" => Family::Permutations(Scheme::Affine64),
        "one_permutation" => Family::OnePermutation,
        "bottom_k" => Family::BottomK,
        "weighted" => Family::Weighted,
        "odd_set" => Family::Odd,
        _ => return None,
    })
}

fn kept(name: &str) -> Option<Kept> {
    let number =
        |digits: &str| digits.parse::<u32>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    match name {
        "full" => Some(Kept::Packing(Packing::FULL)),
        "odd" => Some(Kept::Odd),
        _ => {
            let b_bit = name.strip_prefix('b').and_then(number).and_then(|b| Packing::bits(b).ok());
            let xor = name.strip_prefix("xor").and_then(number).map(|samples| Packing::Xor { samples });
            let odd = name.strip_prefix("odd").and_then(number).map(|bits| Packing::Odd { bits });
            b_bit.or(xor).or(odd).map(Kept::Packing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str) -> String {
        let arguments = SketchArguments { registers: 128, seed: 42 };
        name.parse::<SketchName>().unwrap().spec(&arguments, "raw").to_string()
    }

    #[test]
    fn names_become_specs() {
        assert_eq!(spec("b8"), SketchSpec::default().to_string());
        assert_eq!(spec("fast"), "fast:2 x 128, 64 bits, seed 42, pipeline raw");
        assert_eq!(spec("permutations:b2"), "permutations:native x 128, 2 bits, seed 42, pipeline raw");
        assert_eq!(spec("odd"), "fast:2 x 128, odd sketch of 128 bits, seed 42, pipeline raw");
        assert_eq!(spec("weighted:xor4"), "weighted x 128, xor of 4, seed 42, pipeline raw");
        assert_eq!(spec("odd_set"), "odd x 128, 1 bit, seed 42, pipeline raw");
    }

    #[test]
    fn unknown_names_are_answered_with_the_list() {
        for name in ["", "b", "b17", "b+8", "minhash", "fast:", ":b8", "b8:fast", "fast:b8:b8", "xor"] {
            let error = name.parse::<SketchName>().unwrap_err();
            assert!(error.contains("one_permutation") && error.contains("b1 to b16"), "{name}: {error}");
        }
    }

    #[test]
    fn one_register_is_enough_for_every_family() {
        let arguments = SketchArguments { registers: 1, seed: 42 };
        for name in FAMILIES.split(", ") {
            let name: SketchName = name.trim().parse().unwrap();
            arguments.sketcher(&name, "raw").unwrap();
        }
    }
}

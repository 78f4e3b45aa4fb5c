//! What sketches say about the similarity of two sets.

use benzer_core::Result;
use benzer_core::estimate::{Measured, Registers, Scheme, two_way};
use benzer_core::sketch::{Bits, Packing, SketchSpec, count};

/// The estimate of a similarity, by the number of registers that two sketches share.
#[derive(Debug)]
pub struct Estimates {
    bits: Bits,
    registers: u32,
    by_equal: Vec<Option<Measured>>,
}

impl Estimates {
    /// Those of all sketches of a spec.
    ///
    /// # Errors
    /// A spec that has no estimator.
    pub fn new(spec: &SketchSpec) -> Result<Self> {
        let bits = if let Packing::Bits(bits) = spec.packing { bits } else { Bits::FULL };
        let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
        let estimate = |equal| Ok(two_way::jaccard(equal, bits.get(), registers, None)?.measured().copied());
        let by_equal = (0..=registers.k).map(estimate).collect::<Result<_>>()?;
        Ok(Self { bits, registers: spec.registers, by_equal })
    }

    /// How many registers two sketches share.
    pub fn equal(&self, a: &[u64], b: &[u64]) -> u32 {
        self.registers - count::mismatches(a, b, self.bits).min(self.registers)
    }

    /// What so many equal registers say.
    pub fn of(&self, equal: u32) -> Option<&Measured> {
        self.by_equal.get(equal as usize).and_then(Option::as_ref)
    }

    /// The smallest number of equal registers whose estimate reaches a similarity.
    pub fn min_equal(&self, similarity: f64) -> u32 {
        let reaches = |equal: &u32| self.of(*equal).is_some_and(|measured| measured.value >= similarity);
        (0..=self.registers).find(reaches).unwrap_or(self.registers)
    }
}

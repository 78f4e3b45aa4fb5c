//! What all aligned families share: from registers to packed words, merging, and bulk.
//!
//! A family says how elements lower the registers ([`Registers::accumulate`]); everything after that is the same for all.

use std::{fmt, sync::Arc};

use super::{Bits, Family, Packing, Scheme, Sketch, SketchSpec, Sketcher, check_bulk, odd, packed};
use crate::{Features, Result, hash::mix};

/// A family whose register j is the minimum over the set of one fixed function of the element.
pub(super) trait Registers: fmt::Debug + Send + Sync {
    /// Buffers that one thread reuses for all its sets.
    type Scratch: Default;

    /// The value of a register that no element has lowered.
    fn empty(&self) -> u64 {
        u64::MAX
    }

    /// Refuses elements that the family cannot take.
    fn check(&self, _elements: &[u64]) -> Result<()> {
        Ok(())
    }

    /// Lowers empty registers by the elements of a set, in any order, with or without repetitions. The vector may grow on the way, for
    /// padding, but has its length again at the end.
    fn accumulate(&self, elements: &[u64], registers: &mut Vec<u64>, scratch: &mut Self::Scratch);

    /// True if the family has a shorter way to 8-bit registers than through full ones: [`Registers::bytes_of_many`].
    fn has_bytes(&self) -> bool {
        false
    }

    /// Writes the 8-bit registers of each set straight to its words; a set without the shortcut goes the `long_way`.
    fn bytes_of_many<'a>(
        &self,
        sets: &mut dyn Iterator<Item = (&'a [u64], &'a mut [u64])>,
        _scratch: &mut Self::Scratch,
        long_way: &mut dyn FnMut(&[u64], &mut [u64]),
    ) {
        sets.for_each(|(set, words)| long_way(set, words));
    }

    /// Turns accumulated registers into final ones, appending what a later merge needs.
    fn complete(&self, _registers: &mut Vec<u64>) {}

    /// Turns final words back into what [`Registers::accumulate`] left.
    fn reopen(&self, words: &[u64]) -> Vec<u64> {
        words.to_vec()
    }
}

/// The sketcher of an aligned family.
#[derive(Debug)]
pub struct Aligned<F> {
    spec: Arc<SketchSpec>,
    family: F,
}

impl<F: Registers> Aligned<F> {
    pub(super) fn new(spec: Arc<SketchSpec>, family: F) -> Self {
        Self { spec, family }
    }

    /// Replaces the content of `registers` by the final words of the set.
    fn registers(&self, elements: &[u64], registers: &mut Vec<u64>, scratch: &mut F::Scratch) {
        registers.clear();
        registers.resize(self.spec.registers as usize, self.family.empty());
        self.family.accumulate(elements, registers, scratch);
        if !elements.is_empty() {
            self.family.complete(registers);
        } else {
            registers.resize(full_words(&self.spec), 0);
        }
    }

    fn finish(&self, size: Option<f64>, registers: Vec<u64>) -> Sketch {
        if self.spec.packing == Packing::FULL {
            return Sketch::new(self.spec.clone(), size, registers);
        }
        let words = pack(&self.spec, &registers[..self.spec.registers as usize]);
        Sketch::new(self.spec.clone(), size, words)
    }
}

impl<F: Registers> Sketcher for Aligned<F> {
    fn spec(&self) -> &Arc<SketchSpec> {
        &self.spec
    }

    fn sketch(&self, features: &Features) -> Result<Sketch> {
        self.family.check(features.elements())?;
        let mut registers = Vec::with_capacity(full_words(&self.spec));
        self.registers(features.elements(), &mut registers, &mut F::Scratch::default());
        Ok(self.finish(Some(features.len() as f64), registers))
    }

    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        merged(&self.spec, a, b, || {
            let mut registers = self.family.reopen(a.words());
            lower(&mut registers, &self.family.reopen(b.words()));
            self.family.complete(&mut registers);
            self.finish(None, registers)
        })
    }

    fn sketch_many(&self, elements: &[u64], offsets: &[usize], out: &mut [u64]) -> Result<()> {
        let sets = check_bulk(&self.spec, elements, offsets, out.len())?;
        if let [first, .., last] = *offsets {
            self.family.check(&elements[first..last])?;
        }
        let (mut registers, mut scratch) =
            (Vec::with_capacity(full_words(&self.spec)), F::Scratch::default());
        let mut long_way = |set: &[u64], words: &mut [u64]| {
            self.registers(set, &mut registers, &mut scratch);
            pack_into(&self.spec, &registers, words);
        };
        let mut sets = sets.zip(out.chunks_exact_mut(self.spec.words()));
        if self.family.has_bytes() && matches!(self.spec.packing, Packing::Bits(bits) if bits.get() == 8) {
            self.family.bytes_of_many(&mut sets, &mut F::Scratch::default(), &mut long_way);
        } else {
            sets.for_each(|(set, words)| long_way(set, words));
        }
        Ok(())
    }
}

/// The sketch of a union, which `merge` makes of two sets that are not empty.
pub(super) fn merged(
    spec: &SketchSpec,
    a: &Sketch,
    b: &Sketch,
    merge: impl FnOnce() -> Sketch,
) -> Result<Sketch> {
    spec.must_equal(a.spec())?;
    spec.must_equal(b.spec())?;
    if spec.packing != Packing::FULL {
        let remedy = "the union needs full registers: sketch with 64 bits, merge, then pack";
        return Err(spec.unsupported("merging", remedy));
    }
    Ok(match (a.is_empty(), b.is_empty()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => merge(),
    })
}

/// Lowers each register to the smaller of two.
pub(super) fn lower(registers: &mut [u64], others: &[u64]) {
    for (register, &other) in registers.iter_mut().zip(others) {
        *register = (*register).min(other);
    }
}

/// Packs full registers as the spec says.
pub(super) fn pack(spec: &SketchSpec, registers: &[u64]) -> Vec<u64> {
    let mut words = vec![0; spec.words()];
    pack_into(spec, registers, &mut words);
    words
}

fn pack_into(spec: &SketchSpec, registers: &[u64], words: &mut [u64]) {
    let k = spec.registers as usize;
    match spec.packing {
        Packing::Bits(Bits::FULL) => words.copy_from_slice(registers),
        Packing::Bits(bits) if has_plain_labels(spec.family) => packed::pack(&registers[..k], bits, words),
        Packing::Bits(bits) => packed::pack_labels(labels(spec, &registers[..k]), bits, words),
        Packing::Xor { samples } => packed::pack_xor(labels(spec, &registers[..k]), samples as usize, words),
        Packing::Odd { bits } => odd::of_registers(labels(spec, &registers[..k]), bits, spec.seed, words),
    }
}

fn full_words(spec: &SketchSpec) -> usize {
    let k = spec.registers as usize;
    if spec.family == Family::OnePermutation { k + k.div_ceil(64) } else { k }
}

/// What truncation sees of each register: two different minima must get independent, uniform low bits at every position.
///
/// Densified registers repeat a value in several bins; the registers of `weighted` are times; the low bits of a linear or affine function of a hash
/// depend on few of its bits, so two elements that agree there would agree in many registers at once. All of these are hashed with their
/// position first. The others have independent low bits of their own.
fn labels(spec: &SketchSpec, registers: &[u64]) -> impl Iterator<Item = u64> {
    let plain = has_plain_labels(spec.family);
    registers.iter().enumerate().map(move |(j, &r)| if plain { r } else { mix(r ^ mix(j as u64 + 1)) })
}

const fn has_plain_labels(family: Family) -> bool {
    // The ranks of a small universe keep their own low bits, because the dense formulas are about those.
    matches!(family, Family::Fast { .. } | Family::Permutations(Scheme::Native | Scheme::Exact { .. }))
}

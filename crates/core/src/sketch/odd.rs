//! Odd Sketches (003): an array of n bits; every element flips the bit it hashes to.
//!
//! The xor of two sketches is the sketch of the symmetric difference, and its number of ones tells how large that is. Over *registers* (a
//! [`super::Packing`]) each register is tagged with its position first, so that equal values in different registers do not cancel;
//! 2 x (mismatching registers) is the symmetric difference, hence the Jaccard similarity. Over *elements* (the family
//! [`super::Family::Odd`]) it estimates set sizes and symmetric differences directly, and an element can be added and taken away again by the
//! same flip ([`toggle`]).

use std::sync::Arc;

use super::{Family, Packing, Sketch, SketchSpec, Sketcher};
use crate::hash::{mix, split};
use crate::{Error, Features, Result};

const TAG: u64 = 1 << 33;

/// The Odd Sketch of registers: flips one bit per position-tagged label in `words`, which become an array of `bits` bits.
///
/// # Panics
/// If `words` holds fewer than `bits` bits.
pub fn of_registers(labels: impl Iterator<Item = u64>, bits: u32, seed: u64, words: &mut [u64]) {
    words.fill(0);
    let tags = split(seed, TAG);
    for (i, label) in labels.enumerate() {
        flip(words, bits, mix(label ^ mix(tags ^ i as u64)));
    }
}

/// Adds an element to, or takes it away from, a sketch of [`super::Family::Odd`]. The size is adjusted by `change` where it is known.
///
/// # Errors
/// The sketch is of another family.
pub fn toggle(sketch: &mut Sketch, element: u64, change: Change) -> Result<()> {
    if sketch.spec.family != Family::Odd {
        let remedy = "only the odd family keeps elements as flips: sketch with family odd";
        return Err(sketch.spec.unsupported("toggling", remedy));
    }
    let (bits, seed) = (sketch.spec.registers, split(sketch.spec.seed, 0));
    flip(&mut sketch.words, bits, mix(element ^ seed));
    sketch.size = match (sketch.size, change) {
        (Some(size), Change::Insert) => Some(size + 1.0),
        (Some(size), Change::Remove) if size >= 1.0 => Some(size - 1.0),
        _ => None,
    };
    Ok(())
}

/// What a flip means; the bits do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The element was not in the set.
    Insert,
    /// The element was in the set.
    Remove,
}

#[inline]
fn flip(words: &mut [u64], bits: u32, h: u64) {
    let position = ((u128::from(h) * u128::from(bits)) >> 64) as usize;
    words[position / 64] ^= 1 << (position % 64);
}

/// The sketcher over elements.
#[derive(Debug)]
pub(super) struct Odd {
    spec: Arc<SketchSpec>,
    seed: u64,
}

impl Odd {
    pub(super) fn new(spec: Arc<SketchSpec>) -> Self {
        Self { seed: split(spec.seed, 0), spec }
    }
}

impl Sketcher for Odd {
    fn spec(&self) -> &Arc<SketchSpec> {
        &self.spec
    }

    fn sketch(&self, features: &Features) -> Result<Sketch> {
        let mut words = vec![0; self.spec.words()];
        for &element in features.elements() {
            flip(&mut words, self.spec.registers, mix(element ^ self.seed));
        }
        Ok(Sketch::new(self.spec.clone(), Some(features.len() as f64), words))
    }

    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        self.spec.must_equal(a.spec())?;
        self.spec.must_equal(b.spec())?;
        let remedy =
            "parities combine to the symmetric difference, not to the union: sketch the union itself";
        Err(self.spec.unsupported("merging", remedy))
    }
}

/// The sketch of the symmetric difference: the xor of two odd sketches over elements.
///
/// # Errors
/// Different specs, or another family.
pub fn symmetric_difference(a: &Sketch, b: &Sketch) -> Result<Sketch> {
    a.spec().must_equal(b.spec())?;
    if a.spec().family != Family::Odd {
        return Err(a.spec().unsupported("the symmetric difference", "sketch with family odd"));
    }
    let words = a.words().iter().zip(b.words()).map(|(x, y)| x ^ y).collect();
    Ok(Sketch::new(a.spec().clone(), None, words))
}

/// Number of ones in the xor of two odd sketches (of registers or of elements) of one spec.
///
/// # Errors
/// Different specs, or sketches that are not odd sketches.
pub fn distance(a: &Sketch, b: &Sketch) -> Result<u32> {
    a.spec().must_equal(b.spec())?;
    if a.spec().family != Family::Odd && !matches!(a.spec().packing, Packing::Odd { .. }) {
        return Err(Error::Unsupported {
            operation: "an odd distance",
            sketch: a.spec().to_string(),
            remedy: "use the odd packing or the odd family",
        });
    }
    Ok(a.words().iter().zip(b.words()).map(|(x, y)| (x ^ y).count_ones()).sum())
}

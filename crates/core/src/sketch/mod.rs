//! Sketches: a set of any size as a few registers, and the families that make them.
//!
//! A [`SketchSpec`] says how a sketch is made; [`SketchSpec::sketcher`] gives the [`Sketcher`]; a [`Sketch`] is the result, with its
//! spec. In an *aligned* family, register `j` is the minimum over the set of one fixed function of the element, so two sketches
//! compare register by register, the equal share estimates the Jaccard similarity, and the element-wise minimum is the sketch of the union.
//! What is kept of aligned registers is the [`Packing`]: all 64 bits, the lowest b, an xor of several, or an Odd Sketch.
//!
//! | family | from | registers |
//! |---|---|---|
//! | [`Family::Permutations`] | 001, 002 | k hash functions, one minimum each |
//! | [`Family::Fast`] | Fast Similarity Sketching, bounded | one pass; variance at most, and for small sets half of, the above |
//! | [`Family::OnePermutation`] | OPH with optimal densification | one hash, k bins, empty bins borrow |
//! | [`Family::BottomK`] | 002; CRS of 000 and 004 | one hash, the k smallest; not aligned |
//! | [`Family::Weighted`] | bags of 001 | weighted Jaccard |
//! | [`Family::Odd`] | 003 | parity of the elements themselves: set size and symmetric difference |

mod aligned;
pub mod bottom_k;
mod builder;
pub mod count;
mod encode;
pub mod fast;
pub mod odd;
pub mod one_permutation;
pub mod packed;
pub mod permutations;
mod spec;
pub mod weighted;

use std::{fmt, sync::Arc};

pub use builder::Builder;
pub use encode::FORMAT_VERSION;
pub use spec::{Bits, Family, MAX_REGISTERS, Packing, Scheme, SketchSpec};

use crate::{Error, Features, Level, Result};
use aligned::Aligned;

impl SketchSpec {
    /// The sketcher of this spec.
    ///
    /// # Errors
    /// A parameter out of range, or a packing the family does not allow.
    pub fn sketcher(&self) -> Result<Box<dyn Sketcher>> {
        self.validate()?;
        let spec = Arc::new(self.clone());
        Ok(match self.family {
            Family::Permutations(scheme) => {
                let family = permutations::Permutations::new(scheme, self.registers, self.seed)?;
                Box::new(Aligned::new(spec, family))
            }
            Family::Fast { rounds } => {
                Box::new(Aligned::new(spec, fast::Fast::new(self, rounds, Level::best())))
            }
            Family::OnePermutation => {
                Box::new(Aligned::new(spec, one_permutation::OnePermutation::new(self)))
            }
            Family::BottomK => Box::new(bottom_k::BottomK::new(spec)),
            Family::Weighted => Box::new(weighted::Weighted::new(spec)),
            Family::Odd => Box::new(odd::Odd::new(spec)),
        })
    }
}

/// Makes sketches of one spec.
pub trait Sketcher: fmt::Debug + Send + Sync {
    /// The spec of every sketch this sketcher makes.
    fn spec(&self) -> &Arc<SketchSpec>;

    /// The sketch of a set of features. Set families read the elements and ignore weights; [`Family::Weighted`] takes an element without
    /// a weight as weight 1.
    ///
    /// # Errors
    /// An element outside the universe of [`Scheme::Exact`], or a weight that [`Family::Weighted`] cannot take; nothing else.
    fn sketch(&self, features: &Features) -> Result<Sketch>;

    /// The sketch of the union of the two sketched sets (for weights: of the larger weight of each element).
    ///
    /// # Errors
    /// Different specs, or a packing from which the union cannot be known.
    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch>;

    /// A sketch from words that [`Sketcher::sketch_many`] wrote or that [`Sketch::words`] gave, and the size of its set.
    ///
    /// # Errors
    /// Words that no sketch of this spec can have.
    fn restore(&self, words: &[u64], size: f64) -> Result<Sketch> {
        let kept = match self.spec().family {
            Family::BottomK => words.len().min(size as usize),
            _ => words.len(),
        };
        Sketch::from_parts(self.spec().clone(), size, words[..kept].to_vec())
    }

    /// Writes the words of the sketch of each set `elements[offsets[i]..offsets[i + 1]]` to `out`, one sketch of
    /// [`SketchSpec::words`] words after the other. Elements need not be distinct or sorted. This is the fast way for many sets: `fast` and
    /// `permutations` allocate nothing per set.
    ///
    /// # Errors
    /// As [`Sketcher::sketch`]; offsets that do not increase or leave `elements`; `out` of another length than needed.
    fn sketch_many(&self, elements: &[u64], offsets: &[usize], out: &mut [u64]) -> Result<()> {
        let sets = check_bulk(self.spec(), elements, offsets, out.len())?;
        for (set, words) in sets.zip(out.chunks_exact_mut(self.spec().words())) {
            let sketch = self.sketch(&Features::set(set.iter().copied()))?;
            words.fill(u64::MAX);
            words[..sketch.words.len()].copy_from_slice(&sketch.words);
        }
        Ok(())
    }
}

fn check_bulk<'a>(
    spec: &SketchSpec,
    elements: &'a [u64],
    offsets: &'a [usize],
    out: usize,
) -> Result<impl Iterator<Item = &'a [u64]> + use<'a>> {
    let n_sets = offsets.len().saturating_sub(1);
    if offsets.windows(2).any(|w| w[0] > w[1]) || offsets.last().is_some_and(|&end| end > elements.len()) {
        let expected = format!("increasing and at most {}", elements.len());
        return Err(Error::parameter("offsets", expected, "others"));
    }
    let n_words = n_sets * spec.words();
    if out != n_words {
        return Err(Error::parameter("out", format!("{n_words} words ({n_sets} sketches)"), out));
    }
    Ok(offsets.windows(2).map(|w| &elements[w[0]..w[1]]))
}

/// Registers, with the spec they were made under and the size of the set where it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Sketch {
    spec: Arc<SketchSpec>,
    size: Option<f64>,
    words: Vec<u64>,
}

impl Sketch {
    pub(crate) fn new(spec: Arc<SketchSpec>, size: Option<f64>, words: Vec<u64>) -> Self {
        Self { spec, size, words }
    }

    /// A sketch from its parts, as a file or a store keeps them.
    ///
    /// # Errors
    /// A size or words that no sketch of this spec can have.
    pub fn from_parts(spec: Arc<SketchSpec>, size: f64, words: Vec<u64>) -> Result<Self> {
        let sketch = Self::new(spec, None, words).with_size(size)?;
        sketch.check_words()?;
        Ok(sketch)
    }

    /// The spec it was made under.
    pub fn spec(&self) -> &Arc<SketchSpec> {
        &self.spec
    }

    /// Number of elements (or sum of weights) of the sketched set; `None` after a merge or a stream with possible repetitions.
    pub fn size(&self) -> Option<f64> {
        self.size
    }

    /// The same sketch with a size that the caller knows.
    ///
    /// # Errors
    /// A size that is negative, infinite or not a number.
    pub fn with_size(mut self, size: f64) -> Result<Self> {
        if !(size.is_finite() && size >= 0.0) {
            return Err(Error::parameter("size", "finite and not negative", size));
        }
        self.size = Some(size);
        Ok(self)
    }

    /// True if the sketched set is empty: it matches nothing.
    pub fn is_empty(&self) -> bool {
        self.size == Some(0.0)
    }

    /// The stored words: full registers, packed lanes, parity bits, or sorted hashes of a bottom-k sketch.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Full 64-bit registers, or `None` if the packing kept less, or the family is not aligned.
    pub fn registers(&self) -> Option<&[u64]> {
        let full = self.spec.family.is_aligned() && self.spec.packing == Packing::FULL;
        full.then(|| &self.words[..self.spec.registers as usize])
    }

    /// The stored bits of register `j` (for xor and odd packings and the odd family: stored bit `j`).
    pub fn register(&self, j: usize) -> Option<u64> {
        let (bits, n) = match self.spec.packing {
            Packing::Bits(bits) => (bits, self.spec.registers),
            Packing::Xor { samples } => (Bits::ALL[0], self.spec.registers / samples),
            Packing::Odd { bits } => (Bits::ALL[0], bits),
        };
        (j < n as usize).then(|| packed::get(&self.words, bits, j)).flatten()
    }

    /// The same sketch kept in fewer bits. Only full registers can be packed.
    ///
    /// # Errors
    /// The sketch is packed already, or its family does not allow the packing.
    pub fn pack(&self, packing: Packing) -> Result<Self> {
        if self.spec.packing == packing {
            return Ok(self.clone());
        }
        let spec = SketchSpec { packing, ..(*self.spec).clone() };
        spec.validate()?;
        let Some(registers) = self.registers() else {
            let remedy = "it no longer has full registers: sketch again with the packing wanted";
            return Err(self.spec.unsupported("packing", remedy));
        };
        let words = aligned::pack(&spec, registers);
        Ok(Self::new(Arc::new(spec), self.size, words))
    }
}

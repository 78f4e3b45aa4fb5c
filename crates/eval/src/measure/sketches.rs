//! Sketches of the sets of an experiment, and how their registers agree.

use benzer_core::Features;
use benzer_core::estimate::bottom_k::Sample;
use benzer_core::estimate::three_way::Agreement;
use benzer_core::sketch::{self, Bits, Family, Packing, Scheme, Sketch, SketchSpec, count};

use crate::Result;

pub(crate) const INDEPENDENT: Family = Family::Permutations(Scheme::Native);
/// One pass over the elements for all registers, as users get it.
pub(crate) const FAST: Family = Family::Fast { rounds: sketch::fast::DEFAULT_ROUNDS };

pub(crate) fn of<'a>(spec: &SketchSpec, sets: impl IntoIterator<Item = &'a Features>) -> Result<Vec<Sketch>> {
    let sketcher = spec.sketcher()?;
    Ok(sets.into_iter().map(|set| sketcher.sketch(set)).collect::<benzer_core::Result<_>>()?)
}

pub(crate) fn of_pair(spec: &SketchSpec, [a, b]: [&Features; 2]) -> Result<[Sketch; 2]> {
    let sketcher = spec.sketcher()?;
    Ok([sketcher.sketch(a)?, sketcher.sketch(b)?])
}

/// The words of the packed sketches of a collection, one after the other.
pub(crate) struct Words {
    words: Vec<u64>,
    each: usize,
}

impl Words {
    /// `k` independent registers of every set.
    pub fn new(sets: &[Features], k: u32, packing: Packing, seed: u64) -> Result<Self> {
        let spec = SketchSpec { packing, seed, ..SketchSpec::full(INDEPENDENT, k) };
        let sketcher = spec.sketcher()?;
        let mut elements = Vec::new();
        let mut offsets = vec![0];
        for set in sets {
            elements.extend_from_slice(set.elements());
            offsets.push(elements.len());
        }
        let mut words = vec![0; sets.len() * spec.words()];
        sketcher.sketch_many(&elements, &offsets, &mut words)?;
        Ok(Self { words, each: spec.words() })
    }

    pub fn len(&self) -> usize {
        self.words.len() / self.each.max(1)
    }

    pub fn of(&self, i: usize) -> &[u64] {
        &self.words[i * self.each..(i + 1) * self.each]
    }

    pub fn after(&self, i: usize) -> &[u64] {
        &self.words[(i + 1) * self.each..]
    }
}

/// How the `k` registers of three sketches agree.
pub(crate) fn agreement(words: [&[u64]; 3], bits: Bits, k: u32) -> Agreement {
    let triple = count::triple(words, bits, k);
    let only = [triple.only_12, triple.only_13, triple.only_23].map(|n| n as usize);
    Agreement { all: triple.all as usize, only, none: triple.none as usize }
}

/// The share of common elements of a sample.
pub(crate) fn share(sample: Sample) -> f64 {
    sample.common as f64 / sample.kept.max(1) as f64
}

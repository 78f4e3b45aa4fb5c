//! What sketches say of three sets.

use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::estimate::{Measured, Scheme};
use benzer_core::sketch::{Bits, count};
use benzer_flow::workers::in_parallel;
use benzer_io::Result;

use super::Wanted;
use crate::{Resources, SetStore};

/// Standard deviations below the threshold at which a triple is ruled out.
const FAR: f64 = 4.0;
/// Sets that are sketched together.
const RUN: usize = 256;

/// The sketches of all sets.
#[derive(Debug)]
pub(super) struct Sketches {
    words: Vec<u64>,
    n_words: usize,
    bits: ThreeWayBits,
    lanes: Bits,
    registers: u32,
    scheme: Scheme,
    threshold: f64,
}

impl Sketches {
    /// Sketches all sets.
    pub fn new(store: &SetStore, wanted: &Wanted, resources: &Resources) -> Result<Self> {
        let (bits, sketcher) = (wanted.bits()?, wanted.spec.sketcher()?);
        let n_words = wanted.spec.words();
        let bytes = 8 * n_words * store.len() as usize;
        // A quarter for the sketches; the rest is for the edges and the triples.
        resources.require_budget(4 * bytes, store.len().into())?;
        let runs = store.len().div_ceil(RUN as u32);
        let made = in_parallel(
            runs as usize,
            resources.threads(),
            || (),
            |run, ()| -> Result<Vec<u64>> {
                let (mut elements, mut offsets) = (Vec::new(), vec![0]);
                let first = (run * RUN) as u32;
                for set in first..store.len().min(first + RUN as u32) {
                    elements.extend_from_slice(store.elements_of(set));
                    offsets.push(elements.len());
                }
                let mut words = vec![0; (offsets.len() - 1) * n_words];
                sketcher.sketch_many(&elements, &offsets, &mut words)?;
                Ok(words)
            },
        );
        let words = made.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let (lanes, scheme) = (Bits::new(bits.get())?, Scheme::from(wanted.spec.family));
        let (registers, threshold) = (wanted.spec.registers, wanted.threshold.value());
        Ok(Self { words, n_words, bits, lanes, registers, scheme, threshold })
    }

    fn agreement(&self, sets: [u32; 3]) -> Agreement {
        let words = sets.map(|set| &self.words[set as usize * self.n_words..][..self.n_words]);
        let triple = count::triple(words, self.lanes, self.registers);
        let only = [triple.only_12, triple.only_13, triple.only_23].map(|n| n as usize);
        Agreement { all: triple.all as usize, only, none: triple.none as usize }
    }

    /// False if three sets, whose pair similarities add up to `pairs`, are almost certainly below the threshold.
    pub fn may_reach(&self, sets: [u32; 3], pairs: f64) -> Result<bool> {
        let raw = three_way::raw(self.agreement(sets).rates()?, self.bits);
        // The sum of the pair similarities lies between three times the resemblance and one more than twice.
        let pairs = pairs.clamp(3.0 * self.threshold, 1.0 + 2.0 * self.threshold);
        let variance = three_way::variance(self.threshold, pairs, self.bits).max(0.0);
        Ok(raw >= self.threshold - FAR * (variance / f64::from(self.registers)).sqrt())
    }

    /// The estimate with its interval.
    pub fn estimate(&self, sets: [u32; 3], sizes: [u32; 3]) -> Result<Option<Measured>> {
        let estimate =
            three_way::jaccard(self.agreement(sets), self.bits, self.scheme, Some(sizes.map(f64::from)))?;
        Ok(estimate.measured().copied())
    }

    /// True if the value of the estimate reaches the threshold.
    pub fn reaches(&self, sets: [u32; 3], sizes: [u32; 3]) -> Result<bool> {
        let raw = three_way::raw(self.agreement(sets).rates()?, self.bits);
        let (min, max) = (sizes.iter().min().copied(), sizes.iter().max().copied());
        let highest = f64::from(min.unwrap_or(0)) / f64::from(max.unwrap_or(1));
        Ok(raw.min(highest) >= self.threshold)
    }
}

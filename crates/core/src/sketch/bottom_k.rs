//! One hash function, the k smallest values (002; conditional random sampling of 000 and 004, on sets).
//!
//! Words are the sorted hashes, fewer than k when the set is smaller. A sketch whose size equals its number of hashes holds the whole set and
//! its estimates are exact. Two sketches are compared by the tau-strict rule (`estimate::bottom_k`), never by the report's
//! `|Z_A n Z_B| / k`, which estimates something else. Registers are not aligned: no b-bit, no odd, no bands.

use std::sync::Arc;

use super::{Sketch, SketchSpec, Sketcher, aligned::merged};
use crate::hash::{mix, split};
use crate::{Features, Result};

/// The sketcher, see the module's text.
#[derive(Debug)]
pub(super) struct BottomK {
    spec: Arc<SketchSpec>,
    seed: u64,
}

impl BottomK {
    pub(super) fn new(spec: Arc<SketchSpec>) -> Self {
        Self { seed: split(spec.seed, 0), spec }
    }
}

impl Sketcher for BottomK {
    fn spec(&self) -> &Arc<SketchSpec> {
        &self.spec
    }

    fn sketch(&self, features: &Features) -> Result<Sketch> {
        let k = self.spec.registers as usize;
        let mut hashes: Vec<u64> = features.elements().iter().map(|&x| mix(x ^ self.seed)).collect();
        if hashes.len() > k {
            hashes.select_nth_unstable(k - 1);
            hashes.truncate(k);
            hashes.shrink_to_fit();
        }
        hashes.sort_unstable();
        Ok(Sketch::new(self.spec.clone(), Some(features.len() as f64), hashes))
    }

    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        merged(&self.spec, a, b, || {
            let mut hashes: Vec<u64> = a.words().iter().chain(b.words()).copied().collect();
            hashes.sort_unstable();
            hashes.dedup();
            let size = (is_whole(a) && is_whole(b)).then_some(hashes.len() as f64);
            hashes.truncate(self.spec.registers as usize);
            hashes.shrink_to_fit();
            Sketch::new(self.spec.clone(), size, hashes)
        })
    }
}

/// True if the sketch holds a hash of every element of its set.
pub fn is_whole(sketch: &Sketch) -> bool {
    sketch.size() == Some(sketch.words().len() as f64)
        || sketch.words().len() < sketch.spec().registers as usize
}

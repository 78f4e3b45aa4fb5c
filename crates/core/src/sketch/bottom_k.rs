//! One hash function, the k smallest values (002; conditional random sampling of 000 and 004, on sets).
//!
//! Words are the sorted hashes, fewer than k when the set is smaller. A sketch whose size equals its number of hashes holds the whole set and
//! its estimates are exact. Two sketches are compared by the tau-strict rule (`estimate::bottom_k`), never by the report's
//! `|Z_A n Z_B| / k`, which estimates something else. Registers are not aligned: no b-bit, no odd, no bands.

use std::sync::Arc;

use super::aligned::check_merge;
use super::{Sketch, SketchSpec, Sketcher};
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

    /// The k smallest distinct values, sorted.
    fn smallest(&self, mut hashes: Vec<u64>) -> Vec<u64> {
        let k = self.spec.registers as usize;
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(k);
        hashes.shrink_to_fit();
        hashes
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
        }
        Ok(Sketch::new(self.spec.clone(), Some(features.len() as f64), self.smallest(hashes)))
    }

    fn merge(&self, a: &Sketch, b: &Sketch) -> Result<Sketch> {
        let Some((a, b)) = check_merge(&self.spec, a, b)? else {
            return Ok(if a.is_empty() { b.clone() } else { a.clone() });
        };
        let all: Vec<u64> = a.words().iter().chain(b.words()).copied().collect();
        let whole = is_whole(a) && is_whole(b);
        let distinct = {
            let mut all = all.clone();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        Ok(Sketch::new(self.spec.clone(), whole.then_some(distinct as f64), self.smallest(all)))
    }
}

/// True if the sketch holds a hash of every element of its set.
pub fn is_whole(sketch: &Sketch) -> bool {
    sketch.size() == Some(sketch.words().len() as f64)
        || sketch.words().len() < sketch.spec().registers as usize
}

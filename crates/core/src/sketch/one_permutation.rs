//! One permutation hashing with optimal densification: one hash per element, k bins, empty bins borrow from full ones.
//!
//! An empty bin j asks the bins `s(j, 1), s(j, 2), ...` (the same sequence for every set) until one was filled *originally*, and copies its
//! value. So register j is the minimum over the set of the pair (first attempt that names the element's bin, hash): a MinHash, unbiased.
//! Which bins were filled originally is kept apart, as a bitmap behind the registers: copying copies would bias the choice, and the sketch
//! of a union needs the original bins. Cost: n hashes and about k log k probes for nearly empty sketches. Variance over J(1-J)/k: up to 1.5
//! for sets much smaller than k, about 1 otherwise (`estimate::factor`).

use super::{SketchSpec, aligned::Registers};
use crate::hash::{mix, split};

/// The family, see the module's text.
#[derive(Debug)]
pub(super) struct OnePermutation {
    registers: usize,
    seed: u64,
    probes: u64,
}

impl OnePermutation {
    pub(super) fn new(spec: &SketchSpec) -> Self {
        let [seed, probes] = [0, 1].map(|stream| split(spec.seed, stream));
        Self { registers: spec.registers as usize, seed, probes }
    }

    /// The bin that bin `j` asks at its `attempt`-th try.
    fn probe(&self, j: usize, attempt: u64) -> usize {
        let h = mix(self.probes ^ mix(((j as u64) << 32) + attempt));
        ((u128::from(h) * self.registers as u128) >> 64) as usize
    }

    fn is_filled(occupancy: &[u64], j: usize) -> bool {
        occupancy[j / 64] >> (j % 64) & 1 == 1
    }
}

impl Registers for OnePermutation {
    type Scratch = ();

    fn accumulate(&self, elements: &[u64], registers: &mut Vec<u64>, (): &mut ()) {
        let k = self.registers as u64;
        for &element in elements {
            let h = mix(element ^ self.seed);
            let register = &mut registers[(((h >> 48) * k) >> 16) as usize];
            *register = (*register).min(h & ((1 << 48) - 1));
        }
    }

    fn complete(&self, registers: &mut Vec<u64>) {
        let k = self.registers;
        let mut occupancy = vec![0u64; k.div_ceil(64)];
        for (j, _) in registers.iter().enumerate().filter(|(_, r)| **r != self.empty()) {
            occupancy[j / 64] |= 1 << (j % 64);
        }
        if occupancy.iter().all(|&word| word == 0) {
            // Nothing to borrow from.
            registers.extend(occupancy);
            return;
        }
        for j in (0..k).filter(|&j| !Self::is_filled(&occupancy, j)) {
            let source = (1..).map(|t| self.probe(j, t)).find(|&s| Self::is_filled(&occupancy, s));
            registers[j] =
                registers[source.expect("some bin is filled, and every bin is named sooner or later")];
        }
        registers.extend(occupancy);
    }

    fn reopen(&self, words: &[u64]) -> Vec<u64> {
        let (registers, occupancy) = words.split_at(self.registers);
        let original = |(j, &r): (usize, &u64)| if Self::is_filled(occupancy, j) { r } else { self.empty() };
        registers.iter().enumerate().map(original).collect()
    }
}

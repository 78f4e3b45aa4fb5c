//! Fast Similarity Sketching with bounded scatter rounds: one pass, mergeable, variance at most J(1-J)/k.
//!
//! In round t = 0, 1, ..., T-1 every element is thrown into one of the k bins; a bin keeps the smallest (round, hash). A bin that is still empty
//! after T rounds is filled directly with the smallest `g_j(x)` over the set. Register j is therefore the minimum over the set of one fixed
//! function of the element, whatever T is: an unbiased MinHash, and the element-wise minimum of two sketches is the sketch of the
//! union. Because a round gives one element to one bin, registers repeat an element less often than independent
//! hash functions would, which is where the smaller variance comes from (`estimate::factor`). T = k is the original algorithm, but
//! its late rounds are spent on few empty bins; T = 2 keeps most of the gain at a fraction of the cost. **T is part of the definition.**
//!
//! ```text
//! h    = mix(x ^ split(seed, 0))
//! h_0  = h;  h_t = p ^ (p >> 32) with p = h * (split(seed, t) | 1)
//! bin  = (top 16 bits of h_t) * k >> 16
//! v    = t << 48 | low 48 bits of h_t
//! g_j  = low 32 bits of (h >> 32) * (split(seed, 2^32 + j) | 1)
//! fill = T << 48 | g_j << 16 | low 16 bits of mix(g_j ^ split(seed, 2^32 + j))       // fresh low bits for every bin
//! ```

use std::sync::Arc;

use super::SketchSpec;
use super::aligned::{Aligned, Registers};
use crate::hash::{mix, split};

/// Scatter rounds of the default family, chosen by measurement (ARCHITECTURE.md).
pub const DEFAULT_ROUNDS: u16 = 2;

const VALUE: u64 = (1 << 48) - 1;

/// The family, see the module's text.
#[derive(Debug)]
pub(super) struct Fast {
    rounds: u64,
    seed: u64,
    /// Odd multipliers of the rounds; the first one is not used.
    scatter: Vec<u64>,
    /// Seeds of the bins' fill functions.
    fill: Vec<u64>,
}

pub(super) fn sketcher(spec: Arc<SketchSpec>) -> Aligned<impl Registers> {
    let super::Family::Fast { rounds } = spec.family else {
        unreachable!("the constructor matches the family")
    };
    let family = Fast {
        rounds: u64::from(rounds),
        seed: split(spec.seed, 0),
        scatter: (0..u64::from(rounds)).map(|t| split(spec.seed, t) | 1).collect(),
        fill: (0..u64::from(spec.registers)).map(|j| split(spec.seed, (1 << 32) + j)).collect(),
    };
    Aligned::new(spec, family)
}

impl Fast {
    fn scatter(&self, round: u64, hashes: &[u64], registers: &mut [u64]) {
        let (k, multiplier) = (registers.len() as u64, self.scatter[round as usize]);
        for &h in hashes {
            let h = if round == 0 { h } else { rehash(h, multiplier) };
            let register = &mut registers[(((h >> 48) * k) >> 16) as usize];
            *register = (*register).min(round << 48 | h & VALUE);
        }
    }

    fn fill(&self, hashes: &[u64], registers: &mut [u64]) {
        for (register, &seed) in
            registers.iter_mut().zip(&self.fill).filter(|(r, _)| **r >= self.rounds << 48)
        {
            let multiplier = seed as u32 | 1;
            let smallest = hashes.iter().map(|h| ((h >> 32) as u32).wrapping_mul(multiplier)).min();
            if let Some(g) = smallest.map(u64::from) {
                *register = (*register).min(self.rounds << 48 | g << 16 | mix(g ^ seed) & 0xffff);
            }
        }
    }
}

impl Registers for Fast {
    fn accumulate(&self, elements: &[u64], registers: &mut [u64]) {
        let hashes: Vec<u64> = elements.iter().map(|&x| mix(x ^ self.seed)).collect();
        for round in 0..self.rounds {
            self.scatter(round, &hashes, registers);
            if registers.iter().all(|&r| r < (round + 1) << 48) {
                return;
            }
        }
        self.fill(&hashes, registers);
    }
}

#[inline(always)]
fn rehash(h: u64, multiplier: u64) -> u64 {
    let p = h.wrapping_mul(multiplier);
    p ^ (p >> 32)
}

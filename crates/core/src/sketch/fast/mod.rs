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
//! h     = mix(x ^ split(seed, 0))
//! h_0   = h;  h_t = p ^ (p >> 32) with p = h * (split(seed, t) | 1)
//! bin   = (h_t * k) >> 64                                 so a bin is an interval of hashes
//! value = t << 48 | h_t >> 16
//! g_j   = low 32 bits of (h >> 32) * (split(seed, 2^32 + j) | 1)
//! label = low 16 bits of swap_bytes(low 32 bits of g_j * M)         so low bits differ between bins even for one element
//! fill  = T << 48 | g_j << 16 | label
//! ```
//!
//! Cost at k = 128, T = 2: n hashes, n scattered minima (twice that when bins stay empty), and n multiplications for each bin that two rounds
//! leave empty, which vector registers do 8 or 16 at a time. `kernel` has the three paths; registers are the same on all of them.

#[cfg(target_arch = "x86_64")]
mod bytes;
mod kernel;

use super::{SketchSpec, aligned::Registers};
use crate::{Level, hash::split};
use kernel::{Kernel, Plain};

pub use super::spec::DEFAULT_ROUNDS;

/// An empty bin of a scatter round. A hash of exactly this value is not kept; all paths agree on that.
const EMPTY: u64 = u64::MAX;
/// Registers of the widest vector path.
const LANES: usize = 16;
/// Elements hashed at a time: their hashes stay in the first-level cache.
const BLOCK: usize = 1024;
/// The multiplier of `label`.
const LABEL: u32 = 0x9e37_79b1;

/// The family, see the module's text.
#[derive(Debug)]
pub(super) struct Fast {
    registers: usize,
    rounds: u16,
    seed: u64,
    /// Odd multipliers of the rounds; the first one is not used.
    scatter: Vec<u64>,
    /// Odd multipliers of the bins' fill functions, as many as padded bins.
    fill: Vec<u32>,
    level: Level,
}

/// Buffers that one thread reuses for all its sets.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    hashes: Vec<u64>,
    rehashed: Vec<u64>,
    /// The smallest hash of each bin in the first round, and in the round at hand.
    first: Vec<u64>,
    later: Vec<u64>,
    multipliers: Vec<u32>,
    minima: Vec<u32>,
    positions: Vec<u32>,
    #[cfg(target_arch = "x86_64")]
    pipeline: bytes::Pipeline,
}

impl Fast {
    pub(super) fn new(spec: &SketchSpec, rounds: u16, level: Level) -> Self {
        Self {
            registers: spec.registers as usize,
            rounds,
            seed: split(spec.seed, 0),
            scatter: (0..u64::from(rounds)).map(|t| split(spec.seed, t) | 1).collect(),
            fill: (0..u64::from(spec.registers.next_multiple_of(LANES as u32)))
                .map(|j| split(spec.seed, (1 << 32) + j) as u32 | 1)
                .collect(),
            level,
        }
    }

    /// True for a set that fits one block and will surely leave bins empty after the first round.
    fn is_small(&self, elements: &[u64]) -> bool {
        self.rounds > 1 && elements.len() <= max_small(self.registers)
    }

    /// All stages, with the kernels of one path. Registers and bins are padded to whole vectors with lanes that count as filled.
    #[inline(always)]
    fn run<K: Kernel>(&self, elements: &[u64], registers: &mut Vec<u64>, scratch: &mut Scratch) {
        let k = registers.len();
        let (mut n_empty, first) = if self.is_small(elements) {
            (self.two_rounds::<K>(elements, registers, scratch), 2)
        } else {
            (self.first_round::<K>(elements, registers, scratch), 1)
        };
        for round in first..self.rounds {
            if n_empty == 0 {
                break;
            }
            self.scatter_again::<K>(round, elements, k, scratch);
            n_empty = K::keep_round(round, &scratch.later, registers);
        }
        if n_empty > 0 {
            self.fill::<K>(elements, n_empty, registers, scratch);
        }
        registers.truncate(k);
    }

    /// The first two rounds of a set that will surely need both: everything is hashed and scattered once, and read once.
    #[inline(always)]
    fn two_rounds<K: Kernel>(
        &self,
        elements: &[u64],
        registers: &mut Vec<u64>,
        scratch: &mut Scratch,
    ) -> usize {
        let k = registers.len();
        registers.resize(k.next_multiple_of(LANES), 0);
        K::clear(&mut scratch.first, k);
        K::clear(&mut scratch.later, k);
        scratch.hashes.resize(elements.len(), 0);
        scratch.rehashed.resize(elements.len(), 0);
        let Scratch { hashes, rehashed, first, later, .. } = &mut *scratch;
        K::hash_twice(elements, self.seed, self.scatter[1], hashes, rehashed);
        K::scatter_twice(hashes, rehashed, &mut first[..k], &mut later[..k]);
        K::keep_two_rounds(&scratch.first, &scratch.later, registers)
    }

    #[inline(always)]
    fn first_round<K: Kernel>(
        &self,
        elements: &[u64],
        registers: &mut Vec<u64>,
        scratch: &mut Scratch,
    ) -> usize {
        let k = registers.len();
        K::clear(registers, k);
        K::clear(&mut scratch.first, k);
        let mut limit = u64::MAX;
        for block in elements.chunks(BLOCK) {
            K::hash(block, self.seed, &mut scratch.hashes);
            if limit < u64::MAX {
                K::drop_above(limit, k, &mut scratch.hashes);
            }
            K::scatter(&scratch.hashes, &mut scratch.first[..k]);
            limit = highest(&scratch.first[..k]);
        }
        K::keep_round(0, &scratch.first, registers)
    }

    #[inline(always)]
    fn scatter_again<K: Kernel>(&self, round: u16, elements: &[u64], k: usize, scratch: &mut Scratch) {
        K::clear(&mut scratch.later, k);
        for block in elements.chunks(BLOCK) {
            if elements.len() > BLOCK {
                K::hash(block, self.seed, &mut scratch.hashes);
            }
            K::rehash(&scratch.hashes, self.scatter[round as usize], &mut scratch.rehashed);
            K::scatter(&scratch.rehashed, &mut scratch.later[..k]);
        }
    }

    /// Fills what the rounds left empty. Where that is most of the registers, all of them are computed and the empty ones taken; otherwise
    /// the empty ones are selected first.
    #[inline(always)]
    fn fill<K: Kernel>(
        &self,
        elements: &[u64],
        n_empty: usize,
        registers: &mut [u64],
        scratch: &mut Scratch,
    ) {
        let Scratch { hashes, multipliers, minima, positions, .. } = scratch;
        let is_most = 2 * n_empty > self.registers;
        let multipliers = if is_most {
            &self.fill
        } else {
            K::select_empty(registers, &self.fill, multipliers, positions);
            &*multipliers
        };
        minima.clear();
        minima.resize(multipliers.len(), u32::MAX);
        for block in elements.chunks(BLOCK) {
            if elements.len() > BLOCK {
                K::hash(block, self.seed, hashes);
            }
            K::lower(hashes, multipliers, minima);
        }
        if is_most {
            K::take_empty(self.rounds, minima, registers);
        } else {
            K::put_back(self.rounds, minima, positions, registers);
        }
    }
}

/// How far into its bin the worst minimum lies: a hash that lies farther into its bin cannot lower any. The largest value while a bin is empty.
fn highest(bins: &[u64]) -> u64 {
    let k = bins.len() as u64;
    bins.iter().map(|&h| if h == EMPTY { EMPTY } else { h.wrapping_mul(k) }).max().unwrap_or(EMPTY)
}

impl Registers for Fast {
    type Scratch = Scratch;

    fn accumulate(&self, elements: &[u64], registers: &mut Vec<u64>, scratch: &mut Scratch) {
        if elements.is_empty() {
            return;
        }
        match self.level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => self.run::<kernel::Avx512>(elements, registers, scratch),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => self.run::<kernel::Avx2>(elements, registers, scratch),
            _ => self.run::<Plain>(elements, registers, scratch),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn has_bytes(&self) -> bool {
        self.level == Level::Avx512 && self.rounds == 2 && self.registers.is_multiple_of(LANES)
    }

    #[cfg(target_arch = "x86_64")]
    fn bytes_of_many<'a>(
        &self,
        sets: &mut dyn Iterator<Item = (&'a [u64], &'a mut [u64])>,
        scratch: &mut Scratch,
        long_way: &mut dyn FnMut(&[u64], &mut [u64]),
    ) {
        Fast::bytes_of_many(self, sets, &mut scratch.pipeline, long_way);
    }
}

/// Elements of a small set ([`Fast::is_small`]), at most.
fn max_small(registers: usize) -> usize {
    BLOCK.min(4 * registers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{mix, stream};
    use crate::sketch::Family;
    use proptest::prelude::*;

    /// The definition, word for word.
    fn by_definition(spec: &SketchSpec, rounds: u64, elements: &[u64]) -> Vec<u64> {
        let k = u64::from(spec.registers);
        let mut registers = vec![u64::MAX; k as usize];
        for &x in elements {
            let h = mix(x ^ split(spec.seed, 0));
            for t in 0..rounds {
                let p = h.wrapping_mul(split(spec.seed, t) | 1);
                let h_t = if t == 0 { h } else { p ^ (p >> 32) };
                let bin = ((u128::from(h_t) * u128::from(k)) >> 64) as usize;
                registers[bin] = registers[bin].min(t << 48 | h_t >> 16);
            }
            for (j, register) in registers.iter_mut().enumerate() {
                let g = ((h >> 32) as u32).wrapping_mul(split(spec.seed, (1 << 32) + j as u64) as u32 | 1);
                let label = u64::from(g.wrapping_mul(LABEL).swap_bytes() & 0xffff);
                *register = (*register).min(rounds << 48 | u64::from(g) << 16 | label);
            }
        }
        registers
    }

    proptest! {
        #[test]
        fn every_path_gives_the_registers_of_the_definition(n in 0usize..400, k in prop_oneof![1u32..300, Just(128), Just(256)], rounds in 1u16..5, seed: u64) {
            let spec = SketchSpec { seed, ..SketchSpec::full(Family::Fast { rounds: rounds.min(k as u16) }, k) };
            let elements: Vec<u64> = stream(seed).take(n).collect();
            let expected = by_definition(&spec, u64::from(rounds.min(k as u16)), &elements);
            for level in Level::available() {
                let mut registers = vec![u64::MAX; k as usize];
                let fast = Fast::new(&spec, rounds.min(k as u16), level);
                fast.accumulate(&elements, &mut registers, &mut Scratch::default());
                prop_assert_eq!(&registers, &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn many_sets_straight_to_bytes_keep_the_definition() {
        for k in [16u32, 128, 256, 100] {
            let spec = SketchSpec { registers: k, ..SketchSpec::default() };
            let sizes = [3usize, 0, 122, 1, 40, 4 * k as usize, 4 * k as usize + 1, 700, 9, 2_000, 122];
            let elements: Vec<u64> = stream(9).take(sizes.iter().sum()).collect();
            let offsets: Vec<usize> = sizes
                .iter()
                .scan(0, |end, n| {
                    *end += n;
                    Some(*end)
                })
                .collect();
            let offsets = [vec![0], offsets].concat();
            let mut out = vec![0; sizes.len() * spec.words()];
            spec.sketcher().unwrap().sketch_many(&elements, &offsets, &mut out).unwrap();
            for (i, words) in out.chunks_exact(spec.words()).enumerate() {
                let expected = by_definition(&spec, 2, &elements[offsets[i]..offsets[i + 1]]);
                let bytes: Vec<u8> =
                    words.iter().flat_map(|word| word.to_le_bytes()).take(k as usize).collect();
                assert!(
                    bytes.iter().zip(&expected).all(|(byte, register)| *byte == *register as u8),
                    "{k} registers, set {i}"
                );
            }
        }
    }

    #[test]
    fn sets_of_several_blocks_keep_the_definition() {
        for (n, k) in
            [(BLOCK + 1, 4096), (3 * BLOCK, 1000), (5_000, 128), (2 * BLOCK, 8192), (20_003, 100), (9_000, 1)]
        {
            let spec = SketchSpec::full(Family::Fast { rounds: 2.min(k as u16) }, k);
            let elements: Vec<u64> = stream(3).take(n).collect();
            let expected = by_definition(&spec, u64::from(2.min(k)), &elements);
            for level in Level::available() {
                let mut registers = vec![u64::MAX; k as usize];
                let fast = Fast::new(&spec, 2.min(k as u16), level);
                fast.accumulate(&elements, &mut registers, &mut Scratch::default());
                assert_eq!(registers, expected, "{level:?}, {n} elements, {k} registers");
            }
        }
    }
}

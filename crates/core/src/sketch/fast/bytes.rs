//! The shortest way from many small sets to 8-bit registers, the default packing, with AVX-512.
//!
//! The same stages as [`Fast::run`] for two rounds, with two savings. Full registers are never made: the kept byte of a scattered value is a byte of
//! its hash, the kept byte of a filled register is the top byte of its label's product. And four sets are under way at a time, each at another stage: vector
//! loads of words that were just written one by one, or at other places, would wait for the last of them to arrive.

use std::arch::x86_64::*;

use super::kernel::{Avx512, Kernel};
use super::{EMPTY, Fast, LABEL, LANES, max_small};
use crate::{hint::prefetch_to_write, lines::Lines};

/// Sets that are under way at a time: one is scattered, one is kept, one is lowered, one is finished.
const STAGES: usize = 4;

/// Buffers that one thread reuses for all its sets.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    slots: [Slot; STAGES],
    bins: [Bins; 2],
    rehashed: Lines<u64>,
}

/// A set under way.
#[derive(Debug, Default)]
struct Slot {
    /// The hashes, and behind them what is left of other sets.
    hashes: Lines<u64>,
    n: usize,
    /// The empty bins of each group of sixteen, and how many there are.
    open: Vec<u16>,
    n_open: usize,
    multipliers: Vec<u32>,
    minima: Vec<u32>,
}

/// A set between scattering and reading. The bins are emptied while they are read, so that the next set finds them clean.
#[derive(Debug, Default)]
struct Bins {
    first: Lines<u64>,
    later: Lines<u64>,
}

impl Fast {
    /// Writes the 8-bit registers of each set that has the shortcut to its words, and hands the others to `long_way`.
    pub(super) fn bytes_of_many<'a>(
        &self,
        sets: &mut dyn Iterator<Item = (&'a [u64], &'a mut [u64])>,
        pipeline: &mut Pipeline,
        long_way: &mut dyn FnMut(&[u64], &mut [u64]),
    ) {
        pipeline.fit(self.registers);
        let mut under_way: [Option<&mut [u64]>; STAGES] = Default::default();
        let mut n = 0;
        for (set, words) in sets {
            if set.is_empty() || !self.is_small(set) {
                long_way(set, words);
                continue;
            }
            // They are written when the next set is scattered.
            (0..words.len()).step_by(8).for_each(|word| prefetch_to_write(words, word));
            pipeline.scatter(self, set, n);
            under_way[n % STAGES] = Some(words);
            // SAFETY: the caller chose this path on a CPU that has these features.
            unsafe { pipeline.advance(self, n, &mut under_way) };
            n += 1;
        }
        for i in n..n + STAGES - 1 {
            // Nothing was scattered here: whatever is in this place is over.
            under_way[i % STAGES] = None;
            // SAFETY: as above.
            unsafe { pipeline.advance(self, i, &mut under_way) };
        }
    }
}

impl Pipeline {
    /// Room for so many registers.
    fn fit(&mut self, registers: usize) {
        for bins in &mut self.bins {
            if bins.first.len() != registers {
                *bins = Bins { first: Lines::new(EMPTY, registers), later: Lines::new(EMPTY, registers) };
            }
        }
        // Vectors written across two lines take twice as long.
        let max = max_small(registers);
        for hashes in self.slots.iter_mut().map(|slot| &mut slot.hashes).chain([&mut self.rehashed]) {
            if hashes.len() != max {
                *hashes = Lines::new(0, max);
            }
        }
        for slot in &mut self.slots {
            slot.open.resize(registers / LANES, 0);
            slot.multipliers.resize(registers + 2 * LANES, 0);
            slot.minima.resize(registers + 2 * LANES, u32::MAX);
        }
    }

    /// The first stage of set `i`.
    fn scatter(&mut self, family: &Fast, set: &[u64], i: usize) {
        let (slot, bins) = (&mut self.slots[i % STAGES], &mut self.bins[i % 2]);
        slot.n = set.len();
        let (hashes, rehashed) = (&mut slot.hashes[..set.len()], &mut self.rehashed[..set.len()]);
        Avx512::hash_twice(set, family.seed, family.scatter[1], hashes, rehashed);
        Avx512::scatter_twice(hashes, rehashed, &mut bins.first, &mut bins.later);
    }

    /// The next stage of each of the three sets before set `i`, the oldest first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
    fn advance(&mut self, family: &Fast, i: usize, under_way: &mut [Option<&mut [u64]>; STAGES]) {
        let place = |back: usize| (i + STAGES - back) % STAGES;
        if let Some(words) = under_way[place(3)].take() {
            let slot = &self.slots[place(3)];
            if slot.n_open > 0 {
                put_back(&slot.open, &slot.minima, words);
            }
        }
        if under_way[place(2)].is_some() {
            let slot = &mut self.slots[place(2)];
            let n = slot.n_open.next_multiple_of(LANES);
            Avx512::lowest(&slot.hashes[..slot.n], &slot.multipliers[..n], &mut slot.minima[..n]);
        }
        if let Some(words) = &mut under_way[place(1)] {
            let (slot, bins) = (&mut self.slots[place(1)], &mut self.bins[(i + 1) % 2]);
            slot.n_open = keep(bins, &family.fill, words, &mut slot.open, &mut slot.multipliers);
        }
    }
}

/// Writes the bytes of both rounds, empties the bins, and selects the multipliers of those that were empty; gives their number.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn keep(bins: &mut Bins, fill: &[u32], words: &mut [u64], open: &mut [u16], selected: &mut [u32]) -> usize {
    let rounds = bins.first.as_chunks_mut::<16>().0.iter_mut().zip(bins.later.as_chunks_mut::<16>().0);
    let rest = open.iter_mut().zip(fill.as_chunks::<16>().0).zip(words.as_chunks_mut::<2>().0);
    let mut n = 0;
    for ((first, later), ((open, fill), words)) in rounds.zip(rest) {
        let (low, low_open) = keep_eight(first, later, 0);
        let (high, high_open) = keep_eight(first, later, 8);
        let mask = u16::from(low_open) | u16::from(high_open) << 8;
        *open = mask;
        // SAFETY: the chunks hold sixteen bytes and sixteen words, and so does the rest of `selected`: `n` is at most the number of bins seen.
        unsafe {
            _mm_storeu_si128(words.as_mut_ptr().cast(), _mm_unpacklo_epi64(low, high));
            let compressed = _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(fill.as_ptr().cast()));
            _mm512_storeu_si512(selected[n..n + 16].as_mut_ptr().cast(), compressed);
        }
        n += mask.count_ones() as usize;
    }
    n
}

/// The bytes of bins `i..i + 8`, zero for the empty ones, and which of them are empty in both rounds; empties them.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn keep_eight(first: &mut [u64; 16], later: &mut [u64; 16], i: usize) -> (__m128i, u8) {
    let empty = _mm512_set1_epi64(EMPTY as i64);
    let (first, later) = (first[i..i + 8].as_mut_ptr(), later[i..i + 8].as_mut_ptr());
    // SAFETY: eight words are there.
    unsafe {
        let (a, b) = (_mm512_loadu_si512(first.cast()), _mm512_loadu_si512(later.cast()));
        _mm512_storeu_si512(first.cast(), empty);
        _mm512_storeu_si512(later.cast(), empty);
        let none = _mm512_cmpeq_epi64_mask(a, empty);
        let open = _mm512_mask_cmpeq_epi64_mask(none, b, empty);
        let value = _mm512_mask_blend_epi64(none, a, b);
        (_mm512_maskz_cvtepi64_epi8(!open, _mm512_srli_epi64(value, 16)), open)
    }
}

/// Writes the bytes of the filled registers, which are zero so far.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn put_back(open: &[u16], minima: &[u32], words: &mut [u64]) {
    let multiplier = _mm512_set1_epi32(LABEL as i32);
    let mut used = 0;
    for (&open, words) in open.iter().zip(words.as_chunks_mut::<2>().0) {
        // SAFETY: `minima` has a vector of padding behind the ones in use, and the chunk holds sixteen bytes.
        unsafe {
            let g =
                _mm512_maskz_expand_epi32(open, _mm512_loadu_si512(minima[used..used + 16].as_ptr().cast()));
            let label = _mm512_cvtepi32_epi8(_mm512_srli_epi32(_mm512_mullo_epi32(g, multiplier), 24));
            let kept = _mm_loadu_si128(words.as_ptr().cast());
            _mm_storeu_si128(words.as_mut_ptr().cast(), _mm_or_si128(kept, label));
        }
        used += open.count_ones() as usize;
    }
}

//! The shortest way from many small sets to 8-bit registers, the default packing, with AVX-512.
//!
//! The same stages as [`Fast::run`] for two rounds, with two savings. Full registers are never made: the kept byte of a scattered value is a byte of
//! its hash, the kept byte of a filled register is the top byte of its label's product. And the bins of a set are read only after the
//! next set was scattered: vector loads of words that were just written one by one would wait for the last of them to arrive.

use std::arch::x86_64::*;

use super::kernel::{Avx512, Kernel};
use super::{EMPTY, Fast, LABEL, LANES};
use crate::lines::Lines;

/// Buffers that one thread reuses for all its sets: two sets are under way at a time.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    slots: [Slot; 2],
    /// The empty bins of each group of sixteen.
    open: Vec<u16>,
    multipliers: Vec<u32>,
    minima: Vec<u32>,
}

/// A set between scattering and reading. The bins are emptied while they are read, so that the next set finds them clean.
#[derive(Debug, Default)]
struct Slot {
    hashes: Vec<u64>,
    rehashed: Vec<u64>,
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
        let Pipeline { slots: [even, odd], open, multipliers, minima } = pipeline;
        let (mut current, mut before) = (even, odd);
        let mut waiting: Option<&mut [u64]> = None;
        let mut finish = |slot: &mut Slot, words: &mut [u64]| {
            // SAFETY: the caller chose this path on a CPU that has these features.
            unsafe { finish(self, slot, words, (open, multipliers, minima)) }
        };
        for (set, words) in sets {
            if set.is_empty() || !self.is_small(set) {
                long_way(set, words);
                continue;
            }
            self.scatter_into(set, current);
            if let Some(words) = waiting.replace(words) {
                finish(before, words);
            }
            std::mem::swap(&mut current, &mut before);
        }
        if let Some(words) = waiting {
            finish(before, words);
        }
    }

    fn scatter_into(&self, set: &[u64], slot: &mut Slot) {
        let Slot { hashes, rehashed, first, later } = slot;
        if first.len() != self.registers {
            *first = Lines::new(EMPTY, self.registers);
            *later = Lines::new(EMPTY, self.registers);
        }
        Avx512::hash_twice(set, self.seed, self.scatter[1], (hashes, rehashed));
        Avx512::scatter_twice((hashes, rehashed), (first, later));
    }
}

type Buffers<'a> = (&'a mut Vec<u16>, &'a mut Vec<u32>, &'a mut Vec<u32>);

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn finish(family: &Fast, slot: &mut Slot, words: &mut [u64], (open, multipliers, minima): Buffers<'_>) {
    open.resize(family.registers / LANES, 0);
    multipliers.resize(family.registers + 2 * LANES, 0);
    minima.resize(family.registers + 2 * LANES, u32::MAX);
    let n_open = keep(slot, &family.fill, words, (open, multipliers));
    if n_open > 0 {
        let n = n_open.next_multiple_of(LANES);
        minima[..n].fill(u32::MAX);
        Avx512::lower(&slot.hashes, &multipliers[..n], &mut minima[..n]);
        put_back(open, minima, words);
    }
}

/// Writes the bytes of both rounds, empties the bins, and selects the multipliers of those that were empty; gives their number.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,popcnt")]
fn keep(
    slot: &mut Slot,
    fill: &[u32],
    words: &mut [u64],
    (open, selected): (&mut [u16], &mut [u32]),
) -> usize {
    let rounds = slot.first.as_chunks_mut::<16>().0.iter_mut().zip(slot.later.as_chunks_mut::<16>().0);
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

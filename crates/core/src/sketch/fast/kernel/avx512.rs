//! The stages with 512-bit vectors.
//!
//! Stores are never masked: a select and a whole store is several times faster on some CPUs.

use std::arch::x86_64::*;

use super::{EMPTY, Kernel, LABEL, LANES, Plain};

/// 512-bit vectors.
pub(in super::super) struct Avx512;

impl Avx512 {
    /// [`Kernel::lower`] of minima that hold nothing yet, whatever is there.
    #[inline]
    pub fn lowest(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) {
        // SAFETY: this path is only chosen on a CPU that has these features (`Level::best`, `Level::available`).
        unsafe { lower::<true>(hashes, multipliers, minima) }
    }
}

impl Kernel for Avx512 {
    compiled! {
        "avx512f,avx512dq" fn hash(elements: &[u64], seed: u64, hashes: &mut Vec<u64>) = Plain::hash;
        "avx512f,avx512dq" fn rehash(hashes: &[u64], multiplier: u64, rehashed: &mut Vec<u64>) = Plain::rehash;
        "avx512f,avx512dq" fn hash_twice(elements: &[u64], seed: u64, multiplier: u64, hashes: &mut [u64], rehashed: &mut [u64]) = Plain::hash_twice;
        "avx512f,avx512dq,popcnt" fn drop_above(limit: u64, k: usize, hashes: &mut Vec<u64>) = drop_above;
        "avx512f,avx512dq,popcnt" fn keep_two_rounds(first: &[u64], later: &[u64], registers: &mut [u64]) -> usize = keep_two_rounds;
        "avx512f,avx512dq,popcnt" fn keep_round(round: u16, bins: &[u64], registers: &mut [u64]) -> usize = keep_round;
        "avx512f,avx512dq,popcnt" fn select_empty(registers: &[u64], multipliers: &[u32], selected: &mut Vec<u32>, positions: &mut Vec<u32>) = select_empty;
        "avx512f,avx512dq" fn lower(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) = lower::<false>;
        "avx512f,avx512dq,avx512bw,popcnt" fn put_back(rounds: u16, minima: &[u32], positions: &[u32], registers: &mut [u64]) = put_back;
        "avx512f,avx512dq,avx512bw" fn take_empty(rounds: u16, minima: &[u32], registers: &mut [u64]) = Plain::take_empty;
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
fn drop_above(limit: u64, k: usize, hashes: &mut Vec<u64>) {
    let (limit_lanes, k_lanes) = (_mm512_set1_epi64(limit as i64), _mm512_set1_epi64(k as i64));
    let (mut kept, whole) = (0, hashes.len() / 8 * 8);
    for i in (0..whole).step_by(8) {
        // SAFETY: eight words are there at `i`; `kept <= i`, so what is written was read before.
        unsafe {
            let h = _mm512_loadu_si512(hashes.as_ptr().add(i).cast());
            let near = _mm512_cmple_epu64_mask(_mm512_mullo_epi64(h, k_lanes), limit_lanes);
            _mm512_storeu_si512(hashes.as_mut_ptr().add(kept).cast(), _mm512_maskz_compress_epi64(near, h));
            kept += near.count_ones() as usize;
        }
    }
    for i in whole..hashes.len() {
        hashes[kept] = hashes[i];
        kept += 1;
    }
    hashes.truncate(kept);
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
fn keep_two_rounds(first: &[u64], later: &[u64], registers: &mut [u64]) -> usize {
    let empty = _mm512_set1_epi64(EMPTY as i64);
    let tag = _mm512_set1_epi64(1 << 48);
    let mut n_empty = 0;
    let chunks = first.as_chunks::<8>().0.iter().zip(later.as_chunks::<8>().0);
    for (registers, (first, later)) in registers.as_chunks_mut::<8>().0.iter_mut().zip(chunks) {
        // SAFETY: all three chunks hold eight words.
        unsafe {
            let first = _mm512_loadu_si512(first.as_ptr().cast());
            let later = _mm512_loadu_si512(later.as_ptr().cast());
            let open = _mm512_cmpeq_epi64_mask(first, empty);
            let still_open = _mm512_mask_cmpeq_epi64_mask(open, later, empty);
            let value = _mm512_srli_epi64(first, 16);
            let value = _mm512_mask_or_epi64(value, open, tag, _mm512_srli_epi64(later, 16));
            let value = _mm512_mask_blend_epi64(still_open, value, empty);
            _mm512_storeu_si512(registers.as_mut_ptr().cast(), value);
            n_empty += still_open.count_ones();
        }
    }
    n_empty as usize
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
fn keep_round(round: u16, bins: &[u64], registers: &mut [u64]) -> usize {
    let empty = _mm512_set1_epi64(EMPTY as i64);
    let tag = _mm512_set1_epi64((u64::from(round) << 48) as i64);
    let mut n_empty = 0;
    let (registers, bins) = (registers.as_chunks_mut::<8>().0, bins.as_chunks::<8>().0);
    for (registers, bins) in registers.iter_mut().zip(bins) {
        // SAFETY: both chunks hold eight words.
        unsafe {
            let register = _mm512_loadu_si512(registers.as_ptr().cast());
            let bin = _mm512_loadu_si512(bins.as_ptr().cast());
            let open = _mm512_cmpeq_epi64_mask(register, empty);
            let filled = _mm512_mask_cmpneq_epi64_mask(open, bin, empty);
            let value = _mm512_or_si512(tag, _mm512_srli_epi64(bin, 16));
            _mm512_storeu_si512(
                registers.as_mut_ptr().cast(),
                _mm512_mask_blend_epi64(filled, register, value),
            );
            n_empty += (open & !filled).count_ones();
        }
    }
    n_empty as usize
}

/// The empty ones of sixteen registers, as a mask.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn empty_16(registers: &[u64; 16]) -> u16 {
    let empty = _mm512_set1_epi64(EMPTY as i64);
    // SAFETY: there are sixteen words.
    unsafe {
        let low = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(registers.as_ptr().cast()), empty);
        let high = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(registers.as_ptr().add(8).cast()), empty);
        u16::from(low) | u16::from(high) << 8
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,popcnt")]
fn select_empty(registers: &[u64], multipliers: &[u32], selected: &mut Vec<u32>, _: &mut Vec<u32>) {
    selected.resize(registers.len() + 2 * LANES, 0);
    let mut n = 0;
    for (registers, multipliers) in registers.as_chunks::<16>().0.iter().zip(multipliers.as_chunks::<16>().0)
    {
        let mask = empty_16(registers);
        // SAFETY: the chunk holds sixteen words, and so does the rest of `selected`: `n` is at most the number of registers seen.
        unsafe {
            let m = _mm512_loadu_si512(multipliers.as_ptr().cast());
            _mm512_storeu_si512(
                selected[n..n + 16].as_mut_ptr().cast(),
                _mm512_maskz_compress_epi32(mask, m),
            );
        }
        n += mask.count_ones() as usize;
    }
    // What lies behind the last one is a product that nobody reads.
    selected.truncate(n.next_multiple_of(LANES) + LANES);
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn lower<const FRESH: bool>(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) {
    for (multipliers, minima) in multipliers.chunks(64).zip(minima.chunks_mut(64)) {
        match multipliers.len() / LANES {
            1 => lower_lanes_avx512::<1, FRESH>(hashes, multipliers, minima),
            2 => lower_lanes_avx512::<2, FRESH>(hashes, multipliers, minima),
            3 => lower_lanes_avx512::<3, FRESH>(hashes, multipliers, minima),
            _ => lower_lanes_avx512::<4, FRESH>(hashes, multipliers, minima),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn lower_lanes_avx512<const V: usize, const FRESH: bool>(
    hashes: &[u64],
    multipliers: &[u32],
    minima: &mut [u32],
) {
    assert!(multipliers.len() == 16 * V && minima.len() == 16 * V);
    // SAFETY: the assertion says that there are V vectors of sixteen lanes in both.
    unsafe {
        let m: [__m512i; V] =
            std::array::from_fn(|i| _mm512_loadu_si512(multipliers.as_ptr().add(16 * i).cast()));
        let mut low: [__m512i; V] = std::array::from_fn(|i| match FRESH {
            true => _mm512_set1_epi32(-1),
            false => _mm512_loadu_si512(minima.as_ptr().add(16 * i).cast()),
        });
        for h in hashes {
            let key = _mm512_set1_epi32(std::ptr::from_ref(h).cast::<i32>().add(1).read());
            for i in 0..V {
                low[i] = _mm512_min_epu32(low[i], _mm512_mullo_epi32(key, m[i]));
            }
        }
        for (i, low) in low.into_iter().enumerate() {
            _mm512_storeu_si512(minima.as_mut_ptr().add(16 * i).cast(), low);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,popcnt")]
fn put_back(rounds: u16, minima: &[u32], _: &[u32], registers: &mut [u64]) {
    let tag = _mm512_set1_epi64((u64::from(rounds) << 48) as i64);
    let multiplier = _mm512_set1_epi32(LABEL as i32);
    // Bytes 3 and 2 of each 32-bit lane become its low half; the index 0x80 gives zeros.
    let swap = _mm_set_epi8(-128, -128, 14, 15, -128, -128, 10, 11, -128, -128, 6, 7, -128, -128, 2, 3);
    let swap = _mm512_broadcast_i32x4(swap);
    let mut used = 0;
    for registers in registers.as_chunks_mut::<16>().0 {
        let mask = empty_16(registers);
        // SAFETY: `minima` has a vector of padding behind the ones in use, and the chunk holds sixteen words.
        unsafe {
            let g =
                _mm512_maskz_expand_epi32(mask, _mm512_loadu_si512(minima[used..used + 16].as_ptr().cast()));
            let label = _mm512_shuffle_epi8(_mm512_mullo_epi32(g, multiplier), swap);
            let low = (_mm512_castsi512_si256(g), _mm512_castsi512_si256(label));
            let high = (_mm512_extracti64x4_epi64::<1>(g), _mm512_extracti64x4_epi64::<1>(label));
            for (half, (g, label)) in [low, high].into_iter().enumerate() {
                let g = _mm512_slli_epi64(_mm512_cvtepu32_epi64(g), 16);
                let value = _mm512_or_si512(tag, _mm512_or_si512(g, _mm512_cvtepu32_epi64(label)));
                let place: *mut __m512i = registers.as_mut_ptr().add(8 * half).cast();
                let kept = _mm512_loadu_si512(place);
                _mm512_storeu_si512(place, _mm512_mask_blend_epi64((mask >> (8 * half)) as u8, kept, value));
            }
        }
        used += mask.count_ones() as usize;
    }
}

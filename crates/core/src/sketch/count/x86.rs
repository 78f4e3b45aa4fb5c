//! The vector paths. Each has its scalar twin in the parent module, which a property test compares it with.

use std::arch::x86_64::*;

use super::fold::Fold;
use super::{mismatches_scalar, triple_words};
use crate::sketch::Bits;

/// True if the CPU has every feature that the AVX-512 kernels are compiled with.
#[inline(always)]
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
}

/// Words `i..i + 8` of a slice, zeros past its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn load(words: &[u64], i: usize) -> __m512i {
    let rest = &words[i..];
    if rest.len() >= 8 {
        // SAFETY: eight words are there.
        return unsafe { _mm512_loadu_si512(rest.as_ptr().cast()) };
    }
    let mask = (1u8 << rest.len()) - 1;
    // SAFETY: masked lanes are not read, and the mask covers only words that are there.
    unsafe { _mm512_maskz_loadu_epi64(mask, rest.as_ptr().cast()) }
}

/// Mismatching lanes of eight words, as counts in eight 64-bit lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn folded(difference: __m512i, fold: &Fold) -> __m512i {
    let mut v = difference;
    for shift in fold.shifts {
        if shift != 0 {
            v = _mm512_or_si512(v, _mm512_srl_epi64(v, _mm_cvtsi32_si128(shift as i32)));
        }
    }
    _mm512_and_si512(v, _mm512_set1_epi64(fold.mask as i64))
}

/// Mismatching lanes of eight words, counted by a lane-wise compare where the CPU has one for the width.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn count(x: __m512i, y: __m512i, bits: Bits, fold: &Fold) -> u32 {
    match bits.get() {
        8 => _mm512_cmpneq_epi8_mask(x, y).count_ones(),
        16 => _mm512_cmpneq_epi16_mask(x, y).count_ones(),
        32 => u32::from(_mm512_cmpneq_epi32_mask(x, y)).count_ones(),
        64 => u32::from(_mm512_cmpneq_epi64_mask(x, y)).count_ones(),
        _ => _mm512_reduce_add_epi64(_mm512_popcnt_epi64(folded(_mm512_xor_si512(x, y), fold))) as u32,
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn mismatches_avx512(a: &[u64], b: &[u64], bits: Bits) -> u32 {
    let fold = Fold::new(bits);
    (0..a.len()).step_by(8).map(|i| count(load(a, i), load(b, i), bits, &fold)).sum()
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn many_avx512(query: &[u64], rows: &[u64], bits: Bits, out: &mut [u32]) {
    let fold = Fold::new(bits);
    if query.len() == 8 {
        let query = load(query, 0);
        for (row, out) in rows.chunks_exact(8).zip(out) {
            *out = count(query, load(row, 0), bits, &fold);
        }
        return;
    }
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *out = (0..query.len()).step_by(8).map(|i| count(load(query, i), load(row, i), bits, &fold)).sum();
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn triple_avx512(a: &[u64], b: &[u64], c: &[u64], bits: Bits) -> [u32; 4] {
    let fold = Fold::new(bits);
    let mut sums = [_mm512_setzero_si512(); 4];
    for i in (0..a.len()).step_by(8) {
        let (x, y, z) = (load(a, i), load(b, i), load(c, i));
        let d12 = folded(_mm512_xor_si512(x, y), &fold);
        let d13 = folded(_mm512_xor_si512(x, z), &fold);
        let d23 = folded(_mm512_xor_si512(y, z), &fold);
        for (sum, d) in sums.iter_mut().zip([d12, d13, d23, _mm512_or_si512(d12, d13)]) {
            *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(d));
        }
    }
    sums.map(|sum| _mm512_reduce_add_epi64(sum) as u32)
}

/// The lane-wise compare, or xor, fold and popcount, of four words at a time.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn mismatches_avx2(a: &[u64], b: &[u64], bits: Bits) -> u32 {
    let fold = Fold::new(bits);
    let (chunks_a, rest_a) = a.as_chunks::<4>();
    let (chunks_b, rest_b) = b.as_chunks::<4>();
    let vectors: u32 =
        chunks_a.iter().zip(chunks_b).map(|(x, y)| count_avx2(load_avx2(x), load_avx2(y), bits, &fold)).sum();
    vectors + mismatches_scalar(rest_a, rest_b, bits)
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn many_avx2(query: &[u64], rows: &[u64], bits: Bits, out: &mut [u32]) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *out = mismatches_avx2(query, row, bits);
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn triple_avx2(a: &[u64], b: &[u64], c: &[u64], bits: Bits) -> [u32; 4] {
    triple_words(a, b, c, bits)
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn load_avx2(words: &[u64; 4]) -> __m256i {
    // SAFETY: four words are there.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn count_avx2(x: __m256i, y: __m256i, bits: Bits, fold: &Fold) -> u32 {
    match bits.get() {
        8 => 32 - (_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)) as u32).count_ones(),
        16 => 16 - (_mm256_movemask_epi8(_mm256_cmpeq_epi16(x, y)) as u32).count_ones() / 2,
        32 => 8 - (_mm256_movemask_epi8(_mm256_cmpeq_epi32(x, y)) as u32).count_ones() / 4,
        64 => 4 - (_mm256_movemask_epi8(_mm256_cmpeq_epi64(x, y)) as u32).count_ones() / 8,
        _ => {
            let mut v = _mm256_xor_si256(x, y);
            for shift in fold.shifts {
                v = _mm256_or_si256(v, _mm256_srl_epi64(v, _mm_cvtsi32_si128(shift as i32)));
            }
            let v = _mm256_and_si256(v, _mm256_set1_epi64x(fold.mask as i64));
            let mut words = [0u64; 4];
            // SAFETY: the array holds exactly the vector's 32 bytes.
            unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) };
            words.iter().map(|word| word.count_ones()).sum()
        }
    }
}

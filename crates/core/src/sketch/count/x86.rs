//! The vector paths. Each has its scalar twin in the parent module, which a property test compares it with.
//!
//! Lanes of 8 bits and more are compared directly into a mask; narrower ones go through xor, fold and popcount. Counting against many
//! sketches of eight words with AVX-512 sums eight of them at once, because summing one vector across costs more than everything before it.

use std::arch::x86_64::*;

use super::{common_words, fold::Fold, mismatches_words, not_all_equal_words, set_at, triple_words};

/// Bytes of a page of memory.
const PAGE: usize = 4096;

/// Eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: eight words are there.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Fewer than eight words, zeros behind them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn load_tail(words: &[u64]) -> __m512i {
    let mask = (1u8 << words.len()) - 1;
    // SAFETY: masked lanes are not read, and the mask covers only words that are there.
    unsafe { _mm512_maskz_loadu_epi64(mask, words.as_ptr().cast()) }
}

/// The lowest bit of each lane in which `x` and `y` differ.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn differing<const B: u32>(x: __m512i, y: __m512i) -> __m512i {
    let fold = const { Fold::new(B) };
    let mut v = _mm512_xor_si512(x, y);
    for shift in fold.shifts {
        if shift != 0 {
            v = _mm512_or_si512(v, _mm512_srl_epi64(v, _mm_cvtsi32_si128(shift as i32)));
        }
    }
    if B == 1 { v } else { _mm512_and_si512(v, _mm512_set1_epi64(fold.mask as i64)) }
}

/// Mismatches of eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn count<const B: u32>(x: __m512i, y: __m512i) -> u32 {
    match B {
        8 => _mm512_cmpneq_epi8_mask(x, y).count_ones(),
        16 => _mm512_cmpneq_epi16_mask(x, y).count_ones(),
        32 => u32::from(_mm512_cmpneq_epi32_mask(x, y)).count_ones(),
        64 => u32::from(_mm512_cmpneq_epi64_mask(x, y)).count_ones(),
        _ => _mm512_reduce_add_epi64(_mm512_popcnt_epi64(differing::<B>(x, y))) as u32,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn mismatches_avx512<const B: u32>(a: &[u64], b: &[u64]) -> u32 {
    let (a, a_tail) = a.as_chunks::<8>();
    let (b, b_tail) = b.as_chunks::<8>();
    let whole: u32 = a.iter().zip(b).map(|(x, y)| count::<B>(load(x), load(y))).sum();
    if a_tail.is_empty() { whole } else { whole + count::<B>(load_tail(a_tail), load_tail(b_tail)) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn many_avx512<const B: u32>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    match query.len() {
        8 if B < 8 => many_of_eight::<B>(query, rows, out),
        8 => many_of::<B, 1>(query, rows, out),
        16 => many_of::<B, 2>(query, rows, out),
        _ => {
            for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
                *out = mismatches_avx512::<B>(query, row);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn each_avx512<'a, const B: u32>(
    query: &[u64],
    others: impl Iterator<Item = &'a [u64]>,
    mut visit: impl FnMut(u32),
) {
    let ([first, second], []) = query.as_chunks::<8>() else {
        for other in others {
            visit(mismatches_avx512::<B>(query, &other[..query.len()]));
        }
        return;
    };
    // The most frequent length: the query stays in registers.
    let query = [load(first), load(second)];
    for other in others {
        let other = other.as_chunks::<8>().0;
        visit(count::<B>(query[0], load(&other[0])) + count::<B>(query[1], load(&other[1])));
    }
}

/// Sketches of exactly V vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn many_of<const B: u32, const V: usize>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    let query: [__m512i; V] = std::array::from_fn(|i| load(&query.as_chunks::<8>().0[i]));
    for (row, out) in rows.as_chunks::<8>().0.as_chunks::<V>().0.iter().zip(out) {
        *out = query.iter().zip(row).map(|(&query, words)| count::<B>(query, load(words))).sum();
    }
}

/// Sketches of eight words, eight at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn many_of_eight<const B: u32>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    let query = load(&query.as_chunks::<8>().0[0]);
    let count_eight = |row: &[u64; 8]| _mm512_popcnt_epi64(differing::<B>(query, load(row)));
    let (eights, rest) = rows.as_chunks::<8>().0.as_chunks::<8>();
    let (out_eights, out_rest) = out.as_chunks_mut::<8>();
    for (rows, out) in eights.iter().zip(out_eights) {
        // The CPU's own prefetcher stops at the end of a page: one line in eight is asked for a page ahead. More of them cost more than they give.
        _mm_prefetch::<_MM_HINT_T1>(rows.as_ptr().cast::<i8>().wrapping_add(PAGE));
        // Two sketches share each 64-bit lane.
        let pairs = [0, 2, 4, 6].map(|i: usize| {
            _mm512_or_si512(count_eight(&rows[i]), _mm512_slli_epi64(count_eight(&rows[i + 1]), 32))
        });
        // SAFETY: `out` is eight counts of four bytes.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum_across(pairs)) };
    }
    for (row, out) in rest.iter().zip(out_rest) {
        *out = count::<B>(query, load(row));
    }
}

/// Sets of whole vectors, eight at a time; others by the plain loop.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn common_avx512(query: &[u64], rows: &[u64], which: &[u32], out: &mut [u32]) {
    let (vectors, []) = query.as_chunks::<8>() else { return common_words(query, rows, which, out) };
    let common = |place: u32| {
        let row = set_at(rows, place, query.len()).as_chunks::<8>().0;
        let add = |sum, (x, y): (&[u64; 8], &[u64; 8])| {
            _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(load(x), load(y))))
        };
        vectors.iter().zip(row).fold(_mm512_setzero_si512(), add)
    };
    let (eights, rest) = which.as_chunks::<8>();
    let (out_eights, out_rest) = out.as_chunks_mut::<8>();
    for (places, out) in eights.iter().zip(out_eights) {
        // Two sets share each 64-bit lane.
        let pairs = [0, 2, 4, 6]
            .map(|i: usize| _mm512_or_si512(common(places[i]), _mm512_slli_epi64(common(places[i + 1]), 32)));
        // SAFETY: `out` is eight counts of four bytes.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sum_across(pairs)) };
    }
    for (&place, out) in rest.iter().zip(out_rest) {
        *out = _mm512_reduce_add_epi64(common(place)) as u32;
    }
}

/// The plain loop, compiled for wide vectors.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn common_avx2(query: &[u64], rows: &[u64], which: &[u32], out: &mut [u32]) {
    common_words(query, rows, which, out);
}

/// The sum of the eight lanes of each of four vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
fn sum_across([a, b, c, d]: [__m512i; 4]) -> __m256i {
    let halves = |x, y| _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
    let quarters = |x, y| {
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(x, y);
        _mm512_add_epi64(even, _mm512_shuffle_i64x2::<0b11_01_11_01>(x, y))
    };
    let sums = quarters(halves(a, b), halves(c, d));
    _mm512_castsi512_si256(quarters(sums, sums))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn triple_avx512<const B: u32>(a: &[u64], b: &[u64], c: &[u64]) -> [u32; 4] {
    let mut sums = [_mm512_setzero_si512(); 4];
    let mut add = |x: __m512i, y: __m512i, z: __m512i| {
        let (d12, d13, d23) = (differing::<B>(x, y), differing::<B>(x, z), differing::<B>(y, z));
        for (sum, d) in sums.iter_mut().zip([d12, d13, d23, _mm512_or_si512(d12, d13)]) {
            *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(d));
        }
    };
    let (a, a_tail) = a.as_chunks::<8>();
    let (b, b_tail) = b.as_chunks::<8>();
    let (c, c_tail) = c.as_chunks::<8>();
    for ((x, y), z) in a.iter().zip(b).zip(c) {
        add(load(x), load(y), load(z));
    }
    if !a_tail.is_empty() {
        add(load_tail(a_tail), load_tail(b_tail), load_tail(c_tail));
    }
    sums.map(|sum| _mm512_reduce_add_epi64(sum) as u32)
}

/// The plain loop, compiled for wide vectors.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn not_all_equal_avx512<const B: u32>(sketches: &[&[u64]]) -> u32 {
    not_all_equal_words::<B>(sketches)
}

/// The plain loop, compiled for wide vectors.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn not_all_equal_avx2<const B: u32>(sketches: &[&[u64]]) -> u32 {
    not_all_equal_words::<B>(sketches)
}

/// The lane-wise compare, or xor, fold and popcount, of four words at a time.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn mismatches_avx2<const B: u32>(a: &[u64], b: &[u64]) -> u32 {
    if !matches!(B, 8 | 16 | 32 | 64) {
        return mismatches_words::<B>(a, b);
    }
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let vectors: u32 = a.iter().zip(b).map(|(x, y)| count_avx2::<B>(load_avx2(x), load_avx2(y))).sum();
    vectors + mismatches_words::<B>(a_rest, b_rest)
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn many_avx2<const B: u32>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    match query.len() {
        8 => many_of_avx2::<B, 8>(query, rows, out),
        16 => many_of_avx2::<B, 16>(query, rows, out),
        n => {
            for (row, out) in rows.chunks_exact(n.max(1)).zip(out) {
                *out = mismatches_avx2::<B>(query, row);
            }
        }
    }
}

/// Sketches of exactly W words.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn many_of_avx2<const B: u32, const W: usize>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    let query: &[u64; W] = query.try_into().expect("the caller looked at the length");
    for (row, out) in rows.as_chunks::<W>().0.iter().zip(out) {
        *out = mismatches_avx2::<B>(query, row);
    }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn triple_avx2<const B: u32>(a: &[u64], b: &[u64], c: &[u64]) -> [u32; 4] {
    triple_words::<B>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn load_avx2(words: &[u64; 4]) -> __m256i {
    // SAFETY: four words are there.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn count_avx2<const B: u32>(x: __m256i, y: __m256i) -> u32 {
    let equal = match B {
        8 => _mm256_cmpeq_epi8(x, y),
        16 => _mm256_cmpeq_epi16(x, y),
        32 => _mm256_cmpeq_epi32(x, y),
        _ => _mm256_cmpeq_epi64(x, y),
    };
    (!_mm256_movemask_epi8(equal) as u32).count_ones() / (B / 8)
}

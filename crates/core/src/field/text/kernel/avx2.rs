//! 256-bit vectors: a block of 64 bytes is two registers, and the positions of the set bits of a mask come
//! from a table for each of its bytes.

use std::arch::x86_64::*;

use super::edges::{Edge, Found, Masks, first_after};
use super::scalar;
use crate::hash;

/// True if the CPU has every feature that these kernels are compiled with.
#[inline(always)]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn copy_ascii<const LOWER: bool>(from: &[u8], to: &mut [u8]) -> usize {
    let (blocks, tail) = from.as_chunks::<32>();
    for (i, (block, copy)) in blocks.iter().zip(to.as_chunks_mut::<32>().0).enumerate() {
        let other = copy_block::<LOWER>(block, copy);
        if other != 0 {
            return i * 32 + other.trailing_zeros() as usize;
        }
    }
    let start = from.len() - tail.len();
    if tail.is_empty() {
        return start;
    }
    let mut padded = [0; 32];
    padded[..tail.len()].copy_from_slice(tail);
    let copy = to[start..].first_chunk_mut().expect("the slack of `to` holds a block");
    let other = copy_block::<LOWER>(&padded, copy);
    start + (other.trailing_zeros() as usize).min(tail.len())
}

/// Copies one block and returns the mask of its bytes that are not ASCII.
#[inline]
#[target_feature(enable = "avx2")]
fn copy_block<const LOWER: bool>(block: &[u8; 32], copy: &mut [u8; 32]) -> u32 {
    // SAFETY: a block is 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
    let case = _mm256_and_si256(in_range(bytes, b'A', 26), _mm256_set1_epi8(0x20));
    let copied = if LOWER { _mm256_or_si256(bytes, case) } else { bytes };
    // SAFETY: `copy` is 32 bytes.
    unsafe { _mm256_storeu_si256(copy.as_mut_ptr().cast(), copied) };
    _mm256_movemask_epi8(bytes) as u32
}

/// All ones where a byte is one of the `n` from `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn in_range(bytes: __m256i, first: u8, n: u8) -> __m256i {
    let offset = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
    _mm256_cmpeq_epi8(_mm256_min_epu8(offset, _mm256_set1_epi8(n as i8 - 1)), offset)
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8))
}

#[inline]
#[target_feature(enable = "avx2")]
fn half_masks(half: &[u8; 32]) -> [u32; 5] {
    // SAFETY: half a block is 32 bytes.
    let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
    let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    let both = _mm256_or_si256(equal(bytes, b'.'), equal(bytes, b'\''));
    let mid_num = _mm256_or_si256(equal(bytes, b','), equal(bytes, b';'));
    [
        _mm256_or_si256(in_range(folded, b'a', 26), bytes),
        in_range(bytes, b'0', 10),
        equal(bytes, b'_'),
        _mm256_or_si256(both, equal(bytes, b':')),
        _mm256_or_si256(both, mid_num),
    ]
    .map(|mask| _mm256_movemask_epi8(mask) as u32)
}

#[inline]
#[target_feature(enable = "avx2")]
fn masks(block: &[u8; 64]) -> Masks {
    let [low, high] = block.as_chunks::<32>().0 else { unreachable!("64 bytes are two halves") };
    let (low, high) = (half_masks(low), half_masks(high));
    let [letter, digit, underscore, joins_letters, joins_digits] =
        std::array::from_fn(|i| u64::from(high[i]) << 32 | u64::from(low[i]));
    Masks { letter, digit, underscore, joins_letters, joins_digits }
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn edges(blocks: &[[u8; 64]], bounds: &mut [u32]) -> Found {
    let (mut before, mut n) = (Edge::default(), 0);
    for (i, block) in blocks.iter().enumerate() {
        let changes = before.changes(&masks(block), first_after(blocks, i));
        let places: &mut [u32; 72] = bounds[n..].first_chunk_mut().expect("bounds hold 72 for each block");
        push(changes, i as u32 * 64, places);
        n += changes.count_ones() as usize;
    }
    before.found(n)
}

/// Writes the positions of the set bits of `changes`, each plus `base`, and anything behind them.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn push(changes: u64, base: u32, places: &mut [u32; 72]) {
    let mut n = 0;
    for (i, byte) in changes.to_le_bytes().into_iter().enumerate() {
        let base = _mm256_set1_epi32((base + 8 * i as u32) as i32);
        let bits = _mm_cvtsi64_si128(i64::from_le_bytes(POSITIONS[usize::from(byte)]));
        let wide = _mm256_add_epi32(_mm256_cvtepu8_epi32(bits), base);
        // SAFETY: at most eight positions were counted for each byte before this one, so at most 56, and
        // eight more fit.
        unsafe { _mm256_storeu_si256(places.as_mut_ptr().add(n).cast(), wide) };
        n += byte.count_ones() as usize;
    }
}

/// For each byte the numbers of its set bits.
static POSITIONS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[target_feature(enable = "avx2")]
pub(super) fn shingles(tokens: &[u64], n: usize, shift: u32, out: &mut [u64]) {
    let (length, shift_by) = (_mm256_set1_epi64x(n as i64), _mm_cvtsi32_si128(shift as i32));
    let mut done = 0;
    for elements in out.as_chunks_mut::<4>().0 {
        let mut state = _mm256_setzero_si256();
        for four in tokens[done..done + n + 3].array_windows::<4>() {
            // SAFETY: `four` is four tokens.
            let token = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
            state = _mm256_xor_si256(rotate(state), token);
        }
        let element = _mm256_srl_epi64(finish(_mm256_xor_si256(state, length)), shift_by);
        // SAFETY: `elements` is four elements.
        unsafe { _mm256_storeu_si256(elements.as_mut_ptr().cast(), element) };
        done += 4;
    }
    scalar::shingles(&tokens[done..], n, shift, &mut out[done..]);
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate(state: __m256i) -> __m256i {
    const LEFT: i32 = hash::ROTATION as i32;
    _mm256_or_si256(_mm256_slli_epi64::<LEFT>(state), _mm256_srli_epi64::<{ 64 - LEFT }>(state))
}

/// `hash::finish` of four: the low 64 bits of each product from three products of halves.
#[inline]
#[target_feature(enable = "avx2")]
fn finish(h: __m256i) -> __m256i {
    let low = _mm256_set1_epi64x(hash::FINISH as u32 as i64);
    let high = _mm256_set1_epi64x((hash::FINISH >> 32) as i64);
    let cross =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64::<32>(h), low), _mm256_mul_epu32(h, high));
    let product = _mm256_add_epi64(_mm256_mul_epu32(h, low), _mm256_slli_epi64::<32>(cross));
    _mm256_xor_si256(product, _mm256_srli_epi64::<32>(product))
}

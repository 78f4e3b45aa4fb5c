//! 512-bit vectors: a block of 64 bytes is one register, its masks come from compares, and the positions of
//! the set bits from compressing the numbers 0 to 63.

use std::arch::x86_64::*;

use super::edges::{Edge, Found, Masks, first_after};
use super::scalar::{CLASSES, DIGIT, JOINS_DIGITS, JOINS_LETTERS, LETTER, UNDERSCORE};
use super::{Pairs, scalar};
use crate::hash;

/// True if the CPU has every feature that these kernels are compiled with.
#[inline(always)]
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
pub(super) fn copy_ascii<const LOWER: bool>(from: &[u8], to: &mut [u8]) -> usize {
    let mut at = 0;
    while at < from.len() {
        let rest = &from[at..];
        let left = u64::MAX >> (64 - rest.len().min(64));
        // SAFETY: lanes past the end of `rest` are masked and not read.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(left, rest.as_ptr().cast()) };
        let copy: &mut [u8; 64] = to[at..].first_chunk_mut().expect("the slack of `to` holds a block");
        // SAFETY: `copy` is 64 bytes.
        unsafe { _mm512_storeu_si512(copy.as_mut_ptr().cast(), if LOWER { lower(bytes) } else { bytes }) };
        let other = _mm512_movepi8_mask(bytes);
        if other != 0 {
            return at + other.trailing_zeros() as usize;
        }
        at += 64;
    }
    from.len()
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
pub(super) fn copy_pairs<const LOWER: bool>(pairs: &Pairs, from: &[u8], to: &mut [u8]) -> usize {
    let mut at = 0;
    while at < from.len() {
        let rest = &from[at..];
        let left = u64::MAX >> (64 - rest.len().min(64));
        // SAFETY: lanes past the end of `rest` are masked and not read.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(left, rest.as_ptr().cast()) };
        let first = in_range(bytes, 0xc2, 0xe0 - 0xc2);
        let copied = replace::<LOWER>(pairs, rest, bytes, first);
        let copy: &mut [u8; 64] = to[at..].first_chunk_mut().expect("the slack of `to` holds a block");
        // SAFETY: `copy` is 64 bytes.
        unsafe { _mm512_storeu_si512(copy.as_mut_ptr().cast(), copied) };
        let longer = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xe0u8 as i8));
        let not_a_pair = first & _mm512_testn_epi8_mask(copied, copied);
        // The last byte may be half a character, which is then left for the next block.
        let half = first >> 63;
        let obstacle = longer | not_a_pair & u64::MAX >> half;
        if obstacle != 0 {
            return at + obstacle.trailing_zeros() as usize;
        }
        at += 64 - half as usize;
    }
    from.len()
}

/// What the first 64 bytes of a text become, with zeros for pairs that have no replacement; `first` is the
/// mask of the first bytes of pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1")]
fn replace<const LOWER: bool>(pairs: &Pairs, text: &[u8], bytes: __m512i, first: u64) -> __m512i {
    let following = _mm512_permutexvar_epi8(_mm512_add_epi8(numbers(), _mm512_set1_epi8(1)), bytes);
    let mut copied = if LOWER { lower(bytes) } else { bytes };
    let mut todo = first;
    // Most blocks have pairs with one first byte or none, so one round is made without asking.
    loop {
        let byte = text[todo.trailing_zeros() as usize % 64];
        let same = equal(bytes, byte) & todo;
        let row = usize::from(byte & 0x1f);
        // SAFETY: a row is 64 bytes.
        let becomes = unsafe { _mm512_loadu_si512(pairs.first[row].as_ptr().cast()) };
        copied = _mm512_mask_permutexvar_epi8(copied, same, following, becomes);
        // SAFETY: as above.
        let becomes = unsafe { _mm512_loadu_si512(pairs.second[row].as_ptr().cast()) };
        copied = _mm512_mask_permutexvar_epi8(copied, same << 1, bytes, becomes);
        todo &= !same;
        if todo == 0 {
            return copied;
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn lower(bytes: __m512i) -> __m512i {
    let upper = in_range(bytes, b'A', 26);
    _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(0x20))
}

/// The bytes from `first` on, `n` of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn in_range(bytes: __m512i, first: u8, n: u8) -> u64 {
    let offset = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
    _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(n as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn masks(block: &[u8; 64]) -> Masks {
    // One look-up and a test for each class: half of what it takes to compare with every byte of it.
    // SAFETY: a block is 64 bytes, and the table more than twice that.
    let (bytes, low, high) = unsafe {
        (
            _mm512_loadu_si512(block.as_ptr().cast()),
            _mm512_loadu_si512(CLASSES.as_ptr().cast()),
            _mm512_loadu_si512(CLASSES.as_ptr().add(64).cast()),
        )
    };
    // Looked up by seven bits; bytes with the eighth are letters.
    let classes = _mm512_permutex2var_epi8(low, bytes, high);
    let other = _mm512_movepi8_mask(bytes);
    let has = |class: u8| _mm512_test_epi8_mask(classes, _mm512_set1_epi8(class as i8));
    Masks {
        letter: has(LETTER) | other,
        digit: has(DIGIT) & !other,
        underscore: has(UNDERSCORE) & !other,
        joins_letters: has(JOINS_LETTERS) & !other,
        joins_digits: has(JOINS_DIGITS) & !other,
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn edges(blocks: &[[u8; 64]], bounds: &mut [u32]) -> Found {
    let numbers = numbers();
    let (mut before, mut n) = (Edge::default(), 0);
    for (i, block) in blocks.iter().enumerate() {
        let changes = before.changes(&masks(block), first_after(blocks, i));
        let places: &mut [u32; 64] = bounds[n..].first_chunk_mut().expect("bounds hold 64 for each block");
        push(_mm512_maskz_compress_epi8(changes, numbers), changes.count_ones(), i as u32 * 64, places);
        n += changes.count_ones() as usize;
    }
    before.found(n)
}

/// The bytes 0 to 63.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbers() -> __m512i {
    let numbers: [u8; 64] = std::array::from_fn(|i| i as u8);
    // SAFETY: `numbers` is 64 bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Writes the first `n` bytes of `positions`, each plus `base`, and anything behind them. Words of English
/// leave about 22 edges in a block, so 32 are written without asking.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn push(positions: __m512i, n: u32, base: u32, places: &mut [u32; 64]) {
    let base = _mm512_set1_epi32(base as i32);
    let quarters = [
        _mm512_castsi512_si128(positions),
        _mm512_extracti32x4_epi32::<1>(positions),
        _mm512_extracti32x4_epi32::<2>(positions),
        _mm512_extracti32x4_epi32::<3>(positions),
    ];
    for (i, (quarter, place)) in quarters.into_iter().zip(places.as_chunks_mut::<16>().0).enumerate() {
        if i == 2 && n <= 32 {
            return;
        }
        let wide = _mm512_add_epi32(_mm512_cvtepu8_epi32(quarter), base);
        // SAFETY: `place` is sixteen positions of four bytes.
        unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), wide) };
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn shingles(tokens: &[u64], n: usize, shift: u32, out: &mut [u64]) {
    let multiplier = _mm512_set1_epi64(hash::FINISH as i64);
    let (length, shift_by) = (_mm512_set1_epi64(n as i64), _mm_cvtsi32_si128(shift as i32));
    let mut done = 0;
    for elements in out.as_chunks_mut::<8>().0 {
        let window = &tokens[done..done + n + 7];
        let state = match window.try_into() {
            Ok(twelve) => five_each(twelve),
            Err(_) => {
                let mut state = _mm512_setzero_si512();
                for eight in window.array_windows::<8>() {
                    // SAFETY: `eight` is eight tokens.
                    let token = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
                    state = _mm512_xor_si512(_mm512_rol_epi64::<{ hash::ROTATION as i32 }>(state), token);
                }
                state
            }
        };
        let product = _mm512_mullo_epi64(_mm512_xor_si512(state, length), multiplier);
        let element = _mm512_xor_si512(product, _mm512_srli_epi64::<32>(product));
        let element = _mm512_srl_epi64(element, shift_by);
        // SAFETY: `elements` is eight elements.
        unsafe { _mm512_storeu_si512(elements.as_mut_ptr().cast(), element) };
        done += 8;
    }
    scalar::shingles(&tokens[done..], n, shift, &mut out[done..]);
}

/// The states of eight shingles of five tokens, the usual ones: two loads and shifts across lanes instead of five loads across cache lines.
#[inline]
#[target_feature(enable = "avx512f")]
fn five_each(tokens: &[u64; 12]) -> __m512i {
    const TURN: i32 = hash::ROTATION as i32;
    const XOR: i32 = 0x96;
    // SAFETY: eight tokens, and the four after them.
    let (low, high) = unsafe {
        (
            _mm512_loadu_si512(tokens.as_ptr().cast()),
            _mm512_castsi256_si512(_mm256_loadu_si256(tokens.as_ptr().add(8).cast())),
        )
    };
    let first = _mm512_rol_epi64::<{ 4 * TURN }>(low);
    let second = _mm512_rol_epi64::<{ 3 * TURN }>(_mm512_alignr_epi64::<1>(high, low));
    let third = _mm512_rol_epi64::<{ 2 * TURN }>(_mm512_alignr_epi64::<2>(high, low));
    let fourth = _mm512_rol_epi64::<TURN>(_mm512_alignr_epi64::<3>(high, low));
    let fifth = _mm512_alignr_epi64::<4>(high, low);
    _mm512_ternarylogic_epi64::<XOR>(_mm512_ternarylogic_epi64::<XOR>(first, second, third), fourth, fifth)
}

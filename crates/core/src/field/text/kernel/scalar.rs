//! The plain level: 64-bit words, no vectors. It defines what the other levels give.

use super::edges::{Edge, Found, Masks, first_after};
use crate::hash;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

pub(super) fn copy_ascii<const LOWER: bool>(from: &[u8], to: &mut [u8]) -> usize {
    let (words, tail) = from.as_chunks::<8>();
    for (i, (&bytes, copy)) in words.iter().zip(to.as_chunks_mut::<8>().0).enumerate() {
        let word = u64::from_le_bytes(bytes);
        *copy = if LOWER { lower(word & !HIGH).to_le_bytes() } else { bytes };
        if word & HIGH != 0 {
            return i * 8 + (word & HIGH).trailing_zeros() as usize / 8;
        }
    }
    let start = from.len() - tail.len();
    let n_ascii = tail.iter().take_while(|b| b.is_ascii()).count();
    for (&byte, copy) in tail[..n_ascii].iter().zip(&mut to[start..]) {
        *copy = if LOWER { byte.to_ascii_lowercase() } else { byte };
    }
    start + n_ascii
}

/// Lower case of eight ASCII bytes: bit 7 of each sum tells `>= 'A'` and `> 'Z'`; where they differ, bit 5 is
/// set.
#[inline(always)]
const fn lower(word: u64) -> u64 {
    let from_a = word + ONES * (0x80 - b'A' as u64);
    let beyond_z = word + ONES * (0x7f - b'Z' as u64);
    word | ((from_a ^ beyond_z) & HIGH) >> 2
}

pub(super) fn edges(blocks: &[[u8; 64]], bounds: &mut [u32]) -> Found {
    let (mut before, mut n) = (Edge::default(), 0);
    for (i, block) in blocks.iter().enumerate() {
        let mut changes = before.changes(&masks(block), first_after(blocks, i));
        while changes != 0 {
            bounds[n] = i as u32 * 64 + changes.trailing_zeros();
            changes &= changes - 1;
            n += 1;
        }
    }
    before.found(n)
}

// One bit per class, in the order of the masks.
pub(super) const LETTER: u8 = 1;
pub(super) const DIGIT: u8 = 1 << 1;
pub(super) const UNDERSCORE: u8 = 1 << 2;
pub(super) const JOINS_LETTERS: u8 = 1 << 3;
pub(super) const JOINS_DIGITS: u8 = 1 << 4;

pub(super) static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => JOINS_LETTERS | JOINS_DIGITS,
            b':' => JOINS_LETTERS,
            b',' | b';' => JOINS_DIGITS,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

#[inline(always)]
pub(super) fn masks(block: &[u8; 64]) -> Masks {
    let mut rows = [0; 8];
    for (row, bytes) in rows.iter_mut().zip(block.as_chunks::<8>().0) {
        *row = transpose(u64::from_le_bytes(bytes.map(|b| CLASSES[usize::from(b)])));
    }
    let column = |class: u32| {
        let byte = |(i, row): (usize, &u64)| (row >> (8 * class) & 0xff) << (8 * i);
        rows.iter().enumerate().map(byte).fold(0, |mask, byte| mask | byte)
    };
    Masks {
        letter: column(0),
        digit: column(1),
        underscore: column(2),
        joins_letters: column(3),
        joins_digits: column(4),
    }
}

/// Transposes an 8 x 8 bit matrix: bit `i` of byte `j` becomes bit `j` of byte `i` (Hacker's Delight, 7-3).
#[inline(always)]
const fn transpose(mut x: u64) -> u64 {
    let mut t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x = x ^ t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x = x ^ t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

/// Keeps the state of `combine` from one window to the next: the oldest token leaves by the same rotation and
/// xor by which it came, so the cost does not grow with `n`.
pub(super) fn shingles(tokens: &[u64], n: usize, shift: u32, out: &mut [u64]) {
    let (first, rest) = tokens.split_at(n - 1);
    let mut state = first.iter().fold(0u64, |state, token| state.rotate_left(hash::ROTATION) ^ token);
    let leaving = hash::ROTATION * (n as u32 - 1) % 64;
    for (element, (newest, oldest)) in out.iter_mut().zip(rest.iter().zip(tokens)) {
        let full = state.rotate_left(hash::ROTATION) ^ newest;
        state = full ^ oldest.rotate_left(leaving);
        *element = hash::finish(full ^ n as u64) >> shift;
    }
}

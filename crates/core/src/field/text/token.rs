//! The hash of a token in the middle of a text.
//!
//! `hash::token` copies a short token to pad it with zeros. Inside a text it is faster to load the 16 bytes
//! from the token's start, whatever they are, and to mask what lies behind its end.

use std::ops::Range;

use crate::hash;

/// `hash::token` of `text[word]`; `LOWER` folds ASCII case first, for words that are ASCII. `long` is a
/// buffer.
#[inline(always)]
pub(super) fn hash<const LOWER: bool>(text: &[u8], word: Range<usize>, long: &mut Vec<u8>) -> u64 {
    let length = word.len();
    if length > 16 {
        return long_token::<LOWER>(&text[word], long);
    }
    let (a, b) = match text.get(word.start..word.start + 16) {
        Some(loaded) => words(loaded.try_into().expect("16 bytes were cut")),
        None => {
            let mut padded = [0; 16];
            padded[..length].copy_from_slice(&text[word]);
            words(&padded)
        }
    };
    let (a, b) = (a & KEEP[length], b & KEEP[length.saturating_sub(8)]);
    if LOWER {
        hash::token_words(lower(a), lower(b), length as u64)
    } else {
        hash::token_words(a, b, length as u64)
    }
}

#[cold]
fn long_token<const LOWER: bool>(word: &[u8], long: &mut Vec<u8>) -> u64 {
    long.clear();
    long.extend_from_slice(word);
    if LOWER {
        long.make_ascii_lowercase();
    }
    hash::token(long)
}

/// Masks that keep the first 0 to 8 bytes, and all eight for any longer word.
const KEEP: [u64; 17] = {
    let mut keep = [u64::MAX; 17];
    let mut length = 0;
    while length < 8 {
        keep[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    keep
};

#[inline(always)]
fn words(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// Lower case of eight ASCII bytes: bit 7 of each sum tells `>= 'A'` and `> 'Z'`; where they differ, bit 5 is
/// set.
#[inline(always)]
const fn lower(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let from_a = word + ONES * (0x80 - b'A' as u64);
    let beyond_z = word + ONES * (0x7f - b'Z' as u64);
    word | ((from_a ^ beyond_z) & (ONES << 7)) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_in_the_register_is_that_of_the_standard_library() {
        for byte in 0..128u8 {
            let spread = u64::from_le_bytes([byte; 8]);
            assert_eq!(lower(spread), u64::from_le_bytes([byte.to_ascii_lowercase(); 8]), "{byte}");
        }
    }

    #[test]
    fn a_token_hashes_alike_at_any_length_and_place() {
        for length in 1..40 {
            for tail in ["", " ", "é and much more text after the word"] {
                let word = "AbCdEfGhIj".repeat(4)[..length].to_owned();
                let text = format!("x {word}{tail}");
                let at = |lower| {
                    let (bytes, range) = (text.as_bytes(), 2..2 + length);
                    let long = &mut Vec::new();
                    if lower { hash::<true>(bytes, range, long) } else { hash::<false>(bytes, range, long) }
                };
                assert_eq!(at(true), hash::token(word.to_lowercase().as_bytes()), "{length} {tail}");
                assert_eq!(at(false), hash::token(word.as_bytes()), "{length} {tail}");
            }
        }
    }
}

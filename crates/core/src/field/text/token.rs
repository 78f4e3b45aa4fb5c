//! The hash of a token in the middle of a text.
//!
//! `hash::token` copies a short token to pad it with zeros. Inside a text it is faster to load the 16 bytes
//! from the token's start, whatever they are, and to mask what lies behind its end.

use std::ops::Range;

use crate::hash;

/// `hash::token` of `text[word]`.
#[inline(always)]
pub(super) fn hash(text: &[u8], word: Range<usize>) -> u64 {
    let length = word.end.wrapping_sub(word.start);
    let Some(loaded) = text.get(word.start..word.start + 16).filter(|_| length <= 16) else {
        return unusual(&text[word]);
    };
    let both = u128::from_le_bytes(loaded.try_into().expect("16 bytes were cut"));
    let [a, b] = KEEP[length];
    hash::token_words(both as u64 & a, (both >> 64) as u64 & b, length as u64)
}

/// A long token, or one at the end of the text.
#[cold]
fn unusual(word: &[u8]) -> u64 {
    hash::token(word)
}

/// Masks that keep the first 0 to 16 of 16 bytes.
const KEEP: [[u64; 2]; 17] = {
    let mut keep = [[u64::MAX; 2]; 17];
    let mut length = 0;
    while length < 16 {
        let mask = (1u128 << (8 * length)) - 1;
        keep[length] = [mask as u64, (mask >> 64) as u64];
        length += 1;
    }
    keep
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_hashes_alike_at_any_length_and_place() {
        for length in 1..40 {
            for tail in ["", " ", "é and much more text after the word"] {
                let word = &"AbCdEfGhIj".repeat(4)[..length];
                let text = format!("x {word}{tail}");
                assert_eq!(
                    hash(text.as_bytes(), 2..2 + length),
                    hash::token(word.as_bytes()),
                    "{length} {tail}"
                );
            }
        }
    }
}

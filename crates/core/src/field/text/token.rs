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

/// Where a word ends in a text that [`hash_each`] takes, at most.
pub(super) const REACH: usize = 4096;

/// Appends `hash::token` of words, given by start and end, that lie within [`REACH`]. A text of known length needs no test for each word whether it has 16 bytes behind its start.
#[inline]
pub(super) fn hash_each(text: &[u8; REACH + 16], words: &[[u32; 2]], tokens: &mut Vec<u64>) {
    // In registers all the time, and not loaded anew for each word.
    let keys = std::hint::black_box(hash::TOKEN_KEYS);
    tokens.extend(words.iter().map(|&[start, end]| {
        let length = end.wrapping_sub(start) as usize;
        let start = start as usize % REACH;
        let Some(&[a, b]) = KEEP.get(length) else { return unusual(&text[start..end as usize]) };
        let loaded = text[start..start + 16].first_chunk().expect("16 bytes are behind every start");
        let both = u128::from_le_bytes(*loaded);
        hash::token_words_keyed(both as u64 & a, (both >> 64) as u64 & b, length as u64, keys)
    }));
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
                for start in [0, 1, 2000, REACH - length - 3, REACH - length] {
                    let mut long = [b'x'; REACH + 16];
                    long[start..start + length].copy_from_slice(word.as_bytes());
                    let mut tokens = vec![7];
                    hash_each(&long, &[[start as u32, (start + length) as u32]], &mut tokens);
                    assert_eq!(tokens, [7, hash::token(word.as_bytes())], "{length} at {start}");
                }
            }
        }
    }
}

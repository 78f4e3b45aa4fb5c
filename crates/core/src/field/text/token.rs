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
        return of_any_length(&text[word]);
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
    tokens.extend(words.iter().map(|&[start, end]| {
        let length = end.wrapping_sub(start) as usize;
        let start = start as usize % REACH;
        let Some(short) = SHORT.get(length) else { return of_any_length(&text[start..end as usize]) };
        let loaded = text[start..start + 16].first_chunk().expect("16 bytes are behind every start");
        let [a, b] = short.keyed(loaded);
        hash::fold(a, b)
    }));
}

/// A long token, or one at the end of the text.
#[cold]
fn of_any_length(word: &[u8]) -> u64 {
    hash::token(word)
}

/// What is done to both words of a token of some length before they are multiplied.
#[repr(align(32))]
struct Short {
    /// Keeps its bytes.
    keep: [u64; 2],
    /// What they are mixed with, its length included.
    keys: [u64; 2],
}

impl Short {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn keyed(&self, loaded: &[u8; 16]) -> [u64; 2] {
        use std::arch::x86_64::*;
        // Both words in one register: half of the instructions, of which the loop has its fill.
        // SAFETY: all three are sixteen bytes, and every CPU of this architecture has these instructions.
        unsafe {
            let loaded = _mm_loadu_si128(loaded.as_ptr().cast());
            let kept = _mm_and_si128(loaded, _mm_load_si128(self.keep.as_ptr().cast()));
            let both = _mm_xor_si128(kept, _mm_load_si128(self.keys.as_ptr().cast()));
            [_mm_cvtsi128_si64(both) as u64, _mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both)) as u64]
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn keyed(&self, loaded: &[u8; 16]) -> [u64; 2] {
        let both = u128::from_le_bytes(*loaded);
        [both as u64 & self.keep[0] ^ self.keys[0], (both >> 64) as u64 & self.keep[1] ^ self.keys[1]]
    }
}

/// By length.
static SHORT: [Short; 17] = {
    let mut short = [const { Short { keep: [0; 2], keys: [0; 2] } }; 17];
    let mut length = 0;
    while length <= 16 {
        let keys = [hash::TOKEN_KEYS[0], hash::TOKEN_KEYS[1] ^ length as u64];
        short[length] = Short { keep: KEEP[length], keys };
        length += 1;
    }
    short
};

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

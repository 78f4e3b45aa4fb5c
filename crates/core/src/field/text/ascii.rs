//! Words of ASCII text, 64 bytes at a time.
//!
//! Gives exactly the tokens of the general path (property-tested), without normalizing or copying: bytes are classified by a table, class
//! masks of 64 bytes give the word boundaries by bit operations, and each token is hashed from two loaded words, lower-cased in the register.
//!
//! Of UAX #29 only these rules concern ASCII, with L = letters, D = digits, `_` = ExtendNumLet:
//!
//! ```text
//! no break between any of L, D, _                               WB5, WB8-10, WB13a, WB13b
//! no break around . ' :  between two letters                    WB6, WB7
//! no break around . ' , ; between two digits                    WB11, WB12
//! everything else is a boundary, and no word                    WB3, WB3a, WB3b, WB3d, WB999
//! ```
//!
//! A word of underscores alone has no letter or number and is dropped.

use std::ops::Range;

use crate::hash;

/// Positions of word starts and ends and a buffer for long words, kept between calls.
#[derive(Debug, Default)]
pub(super) struct AsciiScratch {
    bounds: Vec<usize>,
    long: Vec<u8>,
}

/// Appends the token hashes of `text[range]` to `tokens`. The range must be ASCII and be cut at white space; the bytes around it may be
/// anything. `LOWER` folds case.
pub(super) fn tokens<const LOWER: bool>(
    text: &[u8],
    range: Range<usize>,
    scratch: &mut AsciiScratch,
    tokens: &mut Vec<u64>,
) {
    debug_assert!(text[range.clone()].is_ascii());
    let AsciiScratch { bounds, long } = scratch;
    bounds.clear();
    boundaries(&text[range.clone()], bounds);
    tokens.reserve(bounds.len() / 2);
    for bound in bounds.chunks_exact(2) {
        let word = range.start + bound[0]..range.start + bound[1];
        if text[word.start] == b'_' && text[word.clone()].iter().all(|&b| b == b'_') {
            continue;
        }
        tokens.push(token::<LOWER>(text, word, long));
    }
}

// One bit per class, in the order of the masks.
const LETTER: u8 = 1;
const DIGIT: u8 = 1 << 1;
const UNDERSCORE: u8 = 1 << 2;
const MID_NUM_LET: u8 = 1 << 3;
const MID_LETTER: u8 = 1 << 4;
const MID_NUM: u8 = 1 << 5;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => MID_NUM_LET,
            b':' => MID_LETTER,
            b',' | b';' => MID_NUM,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// Pushes the start and the end of each word in turn.
fn boundaries(text: &[u8], bounds: &mut Vec<usize>) {
    let mut before = Edge::default();
    let mut blocks = text.chunks_exact(64);
    let mut base = 0;
    for block in &mut blocks {
        let next = text.get(base + 64).map_or(0, |&b| CLASSES[usize::from(b)]);
        let block = block.try_into().expect("chunks_exact gives 64 bytes");
        push_edges(before.changes(&masks(block), next), base, bounds);
        base += 64;
    }
    let tail = blocks.remainder();
    if !tail.is_empty() {
        let mut block = [0; 64];
        block[..tail.len()].copy_from_slice(tail);
        push_edges(before.changes(&masks(&block), 0), base, bounds);
    }
    if bounds.len() % 2 == 1 {
        bounds.push(text.len());
    }
}

#[inline]
fn push_edges(mut edges: u64, base: usize, bounds: &mut Vec<usize>) {
    bounds.reserve(64);
    while edges != 0 {
        bounds.push(base + edges.trailing_zeros() as usize);
        edges &= edges - 1;
    }
}

/// For each class the bit mask of the bytes that have it.
#[inline]
fn masks(block: &[u8; 64]) -> [u64; 8] {
    let mut rows = [0u64; 8];
    for (row, bytes) in rows.iter_mut().zip(block.chunks_exact(8)) {
        let classes: [u8; 8] = std::array::from_fn(|i| CLASSES[usize::from(bytes[i])]);
        *row = transpose(u64::from_le_bytes(classes));
    }
    std::array::from_fn(|class| {
        rows.iter().enumerate().fold(0, |mask, (i, row)| mask | (row >> (8 * class) & 0xff) << (8 * i))
    })
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

/// What the last byte of the previous block was, in bit 0.
#[derive(Default)]
struct Edge {
    letter: u64,
    digit: u64,
    word: u64,
}

impl Edge {
    /// The positions where a word starts or ends, given the class of the byte after the block.
    #[inline]
    fn changes(&mut self, masks: &[u64; 8], next: u8) -> u64 {
        let [letter, digit, underscore, mid_num_let, mid_letter, mid_num, ..] = *masks;
        let next_letter = u64::from(next & LETTER != 0) << 63;
        let next_digit = u64::from(next & DIGIT != 0) << 63;
        let in_word = (letter << 1 | self.letter) & (letter >> 1 | next_letter);
        let in_number = (digit << 1 | self.digit) & (digit >> 1 | next_digit);
        let inside = (mid_num_let | mid_letter) & in_word | (mid_num_let | mid_num) & in_number;
        let word = letter | digit | underscore | inside;
        let changes = word ^ (word << 1 | self.word);
        *self = Self { letter: letter >> 63, digit: digit >> 63, word: word >> 63 };
        changes
    }
}

/// The hash of one word.
#[inline(always)]
fn token<const LOWER: bool>(text: &[u8], word: Range<usize>, long: &mut Vec<u8>) -> u64 {
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

/// Lower case of eight ASCII bytes: bit 7 of each sum tells `>= 'A'` and `> 'Z'`; where they differ, bit 5 is set.
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

    fn words_of(text: &str) -> Vec<&str> {
        let mut bounds = Vec::new();
        boundaries(text.as_bytes(), &mut bounds);
        bounds.chunks_exact(2).map(|b| &text[b[0]..b[1]]).collect()
    }

    #[test]
    fn the_traps_of_uax_29() {
        assert_eq!(words_of("don't 'quoted' rock'n'roll ''"), ["don't", "quoted", "rock'n'roll"]);
        assert_eq!(
            words_of("U.S.A. 3.14 v1.2 e.g. a..b .5"),
            ["U.S.A", "3.14", "v1.2", "e.g", "a", "b", "5"]
        );
        assert_eq!(
            words_of("1,000 1;2 1:2 a,b a;b a:b 1,a"),
            ["1,000", "1;2", "1", "2", "a", "b", "a", "b", "a:b", "1", "a"]
        );
        assert_eq!(words_of("snake_case __x__ a_'b \"q\"\r\n-"), ["snake_case", "__x__", "a_", "b", "q"]);
    }

    #[test]
    fn words_cross_blocks_wherever_the_edge_falls() {
        for padding in 0..140 {
            let text = format!("{}it's 1,5 U.S. end", " ".repeat(padding));
            assert_eq!(words_of(&text), ["it's", "1,5", "U.S", "end"], "{padding}");
        }
    }

    #[test]
    fn lower_case_in_the_register_is_that_of_the_standard_library() {
        for byte in 0..128u8 {
            let spread = u64::from_le_bytes([byte; 8]);
            assert_eq!(lower(spread), u64::from_le_bytes([byte.to_ascii_lowercase(); 8]), "{byte}");
        }
    }

    #[test]
    fn tokens_hash_as_their_lower_case_bytes_at_any_length_and_place() {
        for length in 1..40 {
            for tail in ["", " ", " and much more text after the word"] {
                let word = "AbCdEfGhIj".repeat(4)[..length].to_owned();
                let text = format!("{word}{tail}");
                let (mut scratch, mut found) = (AsciiScratch::default(), Vec::new());
                tokens::<true>(text.as_bytes(), 0..length, &mut scratch, &mut found);
                assert_eq!(found, [hash::token(word.to_lowercase().as_bytes())], "{length} {tail}");
                found.clear();
                tokens::<false>(text.as_bytes(), 0..length, &mut scratch, &mut found);
                assert_eq!(found, [hash::token(word.as_bytes())], "{length} {tail}");
            }
        }
    }
}

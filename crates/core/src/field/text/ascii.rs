//! Words of ASCII text, 64 bytes at a time.
//!
//! Gives exactly the tokens of the general path (property-tested), without normalizing or copying: bytes are
//! classified by a table, class masks of 64 bytes give the word boundaries by bit operations, and each token
//! is lower-cased and hashed where it stands.
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

use super::{Scratch, token};

/// Appends the token hashes of `text[range]` to `scratch.tokens`. The range must be ASCII and be cut at white
/// space; the bytes around it may be anything. `LOWER` folds case.
pub(super) fn tokens<const LOWER: bool>(text: &[u8], range: Range<usize>, scratch: &mut Scratch) {
    debug_assert!(text[range.clone()].is_ascii());
    let Scratch { bounds, long, tokens, .. } = scratch;
    bounds.clear();
    boundaries(&text[range.clone()], bounds);
    tokens.reserve(bounds.len() / 2);
    for bound in bounds.chunks_exact(2) {
        let word = range.start + bound[0]..range.start + bound[1];
        if text[word.start] == b'_' && text[word.clone()].iter().all(|&b| b == b'_') {
            continue;
        }
        tokens.push(token::hash::<LOWER>(text, word, long));
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
#[inline(always)]
fn masks(block: &[u8; 64]) -> [u64; 6] {
    let mut rows = [[0u8; 8]; 8];
    for (row, bytes) in rows.iter_mut().zip(block.chunks_exact(8)) {
        let classes: [u8; 8] = std::array::from_fn(|i| CLASSES[usize::from(bytes[i])]);
        *row = transpose(u64::from_le_bytes(classes)).to_le_bytes();
    }
    std::array::from_fn(|class| u64::from_le_bytes(std::array::from_fn(|i| rows[i][class])))
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
    fn changes(&mut self, masks: &[u64; 6], next: u8) -> u64 {
        let [letter, digit, underscore, mid_num_let, mid_letter, mid_num] = *masks;
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
}

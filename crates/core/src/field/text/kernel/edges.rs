//! Word boundaries by bit operations on masks of 64 bytes.
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
//! The bytes of a letter that is not ASCII are letters each.

/// For each class of bytes in a block the mask of those that have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Masks {
    pub letter: u64,
    pub digit: u64,
    pub underscore: u64,
    /// `.` `'` `:`
    pub joins_letters: u64,
    /// `.` `'` `,` `;`
    pub joins_digits: u64,
}

/// What was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Found {
    /// How many starts and ends of words.
    pub n_bounds: usize,
    /// Whether there is an underscore, so that a word may have no letter or number.
    pub underscore: bool,
}

/// What the last byte of the previous block was, in bit 0.
#[derive(Default)]
pub(super) struct Edge {
    underscores: u64,
    letter: u64,
    digit: u64,
    word: u64,
}

impl Edge {
    /// The positions where a word starts or ends, given the first byte after the block.
    #[inline(always)]
    pub fn changes(&mut self, masks: &Masks, next: u8) -> u64 {
        let Masks { letter, digit, underscore, joins_letters, joins_digits } = *masks;
        let next_letter = u64::from(next.is_ascii_alphabetic() || !next.is_ascii()) << 63;
        let next_digit = u64::from(next.is_ascii_digit()) << 63;
        let in_word = (letter << 1 | self.letter) & (letter >> 1 | next_letter);
        let in_number = (digit << 1 | self.digit) & (digit >> 1 | next_digit);
        let inside = joins_letters & in_word | joins_digits & in_number;
        let word = letter | digit | underscore | inside;
        let changes = word ^ (word << 1 | self.word);
        let underscores = self.underscores | underscore;
        *self = Self { underscores, letter: letter >> 63, digit: digit >> 63, word: word >> 63 };
        changes
    }

    /// The result, after all blocks.
    #[inline(always)]
    pub fn found(&self, n_bounds: usize) -> Found {
        Found { n_bounds, underscore: self.underscores != 0 }
    }
}

/// The first byte of the block after number `i`; nothing follows the last one.
#[inline(always)]
pub(super) fn first_after(blocks: &[[u8; 64]], i: usize) -> u8 {
    blocks.get(i + 1).map_or(0, |block| block[0])
}

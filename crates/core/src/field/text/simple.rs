//! Simple characters: those whose part in the words of a text does not depend on the characters around them.
//!
//! Most characters of most texts are simple once they stand between other simple ones: they normalize to a
//! few bytes on their own, and those bytes are letters, ASCII, or a separator. A text of simple characters is
//! normalized by table lookup and cut by the rules for ASCII. Everything else (marks, invisible characters,
//! digits of other scripts, Hebrew letters, characters beyond U+FFFF) is left to the general path.
//!
//! The tables are derived from the general path, in pages of 256 characters that are filled on first use.

use std::sync::OnceLock;

use unicode_segmentation::UnicodeSegmentation;

use super::{class::Class, kernel::Pairs, normalize::Normalizer};

/// What a character that is not ASCII becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Simple(u32);

impl Simple {
    /// The general path must look at it.
    pub const COMPLEX: Self = Self(0);
    /// It stays as it is and belongs to a run of an unsegmented script.
    pub const RUN: Self = Self(1 << 31);
    /// A boundary that is part of no word.
    pub const SEPARATOR: Self = Self(1 << 24 | b'-' as u32);

    /// One to three bytes.
    fn bytes(bytes: &[u8]) -> Self {
        let mut padded = [0; 4];
        padded[..bytes.len()].copy_from_slice(bytes);
        Self((bytes.len() as u32) << 24 | u32::from_le_bytes(padded))
    }

    /// A boundary that is part of no word, if no digit stands before it.
    pub const COMMA: Self = Self(1 << 31 | 1);

    /// True if it becomes [`bytes`](Self::word) in any place.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0.wrapping_sub(1) < Self::RUN.0 - 1
    }

    /// The bytes that it becomes, little-endian and with anything behind them.
    #[inline(always)]
    pub fn word(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// How many bytes it becomes.
    #[inline(always)]
    pub fn length(self) -> usize {
        (self.0 >> 24) as usize
    }
}

/// The simple characters under one normalizer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    normalizer: Normalizer,
    pages: &'static [OnceLock<Box<Page>>; 256],
}

type Page = [Simple; 256];

impl Table {
    pub fn new(normalizer: Normalizer) -> Self {
        static PAGES: [[OnceLock<Box<Page>>; 256]; 8] = [const { [const { OnceLock::new() }; 256] }; 8];
        Self { normalizer, pages: &PAGES[normalizer.number()] }
    }

    /// What characters of two bytes become, as far as that is two bytes.
    pub fn pairs(&self) -> &'static Pairs {
        static PAIRS: [OnceLock<Pairs>; 8] = [const { OnceLock::new() }; 8];
        let becomes = |code: u32| match self.of(code) {
            Simple::SEPARATOR => Some([b'-'; 2]),
            simple if simple.is_plain() && simple.length() == 2 => simple.word().first_chunk().copied(),
            _ => None,
        };
        PAIRS[self.normalizer.number()].get_or_init(|| Pairs::new(becomes))
    }

    /// The character at the start of `rest`, which must not be ASCII, and the length of its UTF-8.
    #[inline(always)]
    pub fn first(&self, rest: &[u8]) -> (Simple, usize) {
        let bits = |byte: u8| u32::from(byte & 0x3f);
        match *rest {
            [lead @ ..0xe0, second, ..] => (self.of(u32::from(lead & 0x1f) << 6 | bits(second)), 2),
            [lead @ ..0xf0, second, third, ..] => {
                (self.of(u32::from(lead & 0xf) << 12 | bits(second) << 6 | bits(third)), 3)
            }
            _ => (Simple::COMPLEX, 4),
        }
    }

    #[inline(always)]
    fn of(&self, code: u32) -> Simple {
        let page = (code >> 8) as usize;
        self.pages[page].get_or_init(|| self.page(page as u32))[(code & 0xff) as usize]
    }

    #[cold]
    fn page(&self, number: u32) -> Box<Page> {
        let entry = |i: usize| match char::from_u32(number << 8 | i as u32) {
            // A page of ideographs is made in no time.
            Some(c) if is_common_run(c as usize) => Simple::RUN,
            Some(c) => self.describe(c),
            None => Simple::COMPLEX,
        };
        Box::new(std::array::from_fn(entry))
    }

    fn describe(&self, c: char) -> Simple {
        let (class, mut normal) = (Class::of(c), String::new());
        if !class.has(Class::BOUNDARY) || class.has(Class::MARK) {
            return Simple::COMPLEX;
        }
        self.normalizer.push(c.encode_utf8(&mut [0; 4]), &mut normal, &mut ());
        let single = normal.chars().next().filter(|first| first.len_utf8() == normal.len());
        match single {
            Some(same) if class.has(Class::UNSEGMENTED) && same == c && c.len_utf8() == 3 => Simple::RUN,
            Some(other) if other == ' ' || is_separator(other, "a1_אア") => Simple::SEPARATOR,
            Some(other) if is_separator(other, "a_אア") => Simple::COMMA,
            _ if normal.len() <= c.len_utf8()
                && !normal.is_empty()
                && normal.chars().all(cuts_like_ascii) =>
            {
                Simple::bytes(normal.as_bytes())
            }
            _ => Simple::COMPLEX,
        }
    }
}

/// The length of the longest prefix of a text made of characters of runs that are known beforehand:
/// ideographs of the first block, hiragana and katakana.
#[inline]
pub(super) fn common_run(text: &[u8]) -> usize {
    let is_common = |&&[a, b, c]: &&[u8; 3]| {
        let row = usize::from(a).wrapping_sub(0xe0) << 6 | usize::from(b & 0x3f);
        is_common_run(row << 6 | usize::from(c & 0x3f))
    };
    3 * text.as_chunks::<3>().0.iter().take_while(is_common).count()
}

#[inline(always)]
fn is_common_run(code: usize) -> bool {
    COMMON_RUN.get(code >> 6).is_some_and(|bits| bits >> (code & 0x3f) & 1 == 1)
}

/// One bit for each character of three bytes: a lookup, where ranges would be branches that text of mixed
/// scripts mispredicts.
static COMMON_RUN: [u64; 1024] = {
    let mut bits = [0; 1024];
    let mut code = 0x3041;
    while code < 0xa000 {
        if matches!(code, 0x3041..=0x3096 | 0x30a1..=0x30fa | 0x30fc | 0x4e00..) {
            bits[code >> 6] |= 1 << (code & 0x3f);
        }
        code += 1;
    }
    bits
};

/// True if the rules for ASCII, with the bytes of other letters as letters, cut a text at `c` as they should.
fn cuts_like_ascii(c: char) -> bool {
    let class = Class::of(c);
    let is_letter = class.has(Class::LETTER) && !class.has(Class::UNSEGMENTED);
    if c.is_ascii() { !c.is_ascii_whitespace() && c != '\u{b}' } else { is_letter }
}

/// True if `c` makes no word and UAX #29 breaks before and after it if it stands between two of the same of
/// `others`. With one character of each kind that joins others, this finds Word_Break=Other and newlines;
/// without the digit, MidNum too.
fn is_separator(c: char, others: &str) -> bool {
    let class = Class::of(c);
    let parts = |x: char| format!("{x}{c}{x}").split_word_bounds().count() == 3;
    !c.is_ascii() && !class.has(Class::ALPHANUMERIC) && !class.has(Class::MARK) && others.chars().all(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::text::TextOptions;

    #[test]
    fn runs_without_a_table_are_those_of_the_table() {
        for number in 0..8 {
            let [nfkc, lower, strip_diacritics] = [1, 2, 4].map(|bit| number & bit != 0);
            let options = TextOptions { nfkc, lower, strip_diacritics, ..Default::default() };
            let table = Table::new(Normalizer::new(&options, true));
            for c in ('\u{800}'..='\u{ffff}').filter(|c| common_run(c.to_string().as_bytes()) == 3) {
                assert_eq!(table.describe(c), Simple::RUN, "{c:?} {options:?}");
            }
        }
        assert_eq!(common_run("漢字カナーひら。漢".as_bytes()), 21);
        assert_eq!(common_run(b"d\x41\x42dd") + common_run("é𝒜中".as_bytes()), 0);
    }
}

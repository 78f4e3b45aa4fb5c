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

use super::class::Class;
use super::normalize::Normalizer;

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

    /// The character at the start of `rest`, which must not be ASCII, and the length of its UTF-8.
    #[inline(always)]
    pub fn first(&self, rest: &[u8]) -> (Simple, usize) {
        let bits = |byte: u8| u32::from(byte & 0x3f);
        match *rest {
            [lead @ ..0xe0, second, ..] => (self.of(u32::from(lead & 0x1f) << 6 | bits(second)), 2),
            [lead @ ..0xf0, second, third, ..] => {
                let code = u32::from(lead & 0xf) << 12 | bits(second) << 6 | bits(third);
                (if is_common_run(code) { Simple::RUN } else { self.of(code) }, 3)
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
        let entry =
            |i: usize| char::from_u32(number << 8 | i as u32).map_or(Simple::COMPLEX, |c| self.describe(c));
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
            Some(other) if other == ' ' || is_separator(other) => Simple::SEPARATOR,
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

/// True for the many characters of runs that need no table: ideographs of the first block, hiragana and
/// katakana. The conditions are joined without branches, which mixed text would mispredict.
#[inline(always)]
fn is_common_run(code: u32) -> bool {
    let from = |first: u32, n: u32| code.wrapping_sub(first) < n;
    from(0x4e00, 0x5200) | from(0x3041, 0x56) | from(0x30a1, 0x5a)
}

/// True if the rules for ASCII, with the bytes of other letters as letters, cut a text at `c` as they should.
fn cuts_like_ascii(c: char) -> bool {
    let class = Class::of(c);
    let is_letter = class.has(Class::LETTER) && !class.has(Class::UNSEGMENTED);
    if c.is_ascii() { !c.is_ascii_whitespace() && c != '\u{b}' } else { is_letter }
}

/// True if UAX #29 always breaks before and after `c`, and it makes no word: Word_Break=Other or a newline,
/// found by probing with a character of each kind that joins others.
fn is_separator(c: char) -> bool {
    let class = Class::of(c);
    let parts = |x: char| format!("{x}{c}{x}").split_word_bounds().count() == 3;
    !c.is_ascii() && !class.has(Class::ALPHANUMERIC) && !class.has(Class::MARK) && "a1_אア".chars().all(parts)
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
            for code in (0x800..0x10000).filter(|&code| is_common_run(code)) {
                assert_eq!(
                    table.describe(char::from_u32(code).unwrap()),
                    Simple::RUN,
                    "{code:x} {options:?}"
                );
            }
        }
    }
}

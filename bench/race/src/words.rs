//! What a word is, and the set of word 5-grams of a text.
//!
//! The race's definition is [`Words::Ascii`]: every peer's language can express it in one line. [`Words::Uax29`] is the words of
//! Unicode's text segmentation, nearer to what Benzer does by default; on this corpus the two differ in words such as
//! `don't` and `3.14`. A text of fewer than five words, but at least one, is one shingle.

use benzer_core::hash;
use clap::ValueEnum;
use unicode_segmentation::UnicodeSegmentation;

/// Words in a shingle.
pub const SHINGLE: usize = 5;

/// The definition of a word; all are lower-cased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Words {
    /// Maximal runs of ASCII letters and digits
    Ascii,
    /// Words of UAX #29 with at least one letter or digit
    Uax29,
}

impl Words {
    /// The words of a text in order, lower-cased.
    pub fn of(self, text: &str) -> Vec<String> {
        match self {
            Self::Ascii => ascii(text).map(str::to_ascii_lowercase).collect(),
            Self::Uax29 => text.unicode_words().map(str::to_lowercase).collect(),
        }
    }

    /// The set of hashed shingles of a text: increasing, without repetitions.
    pub fn shingles(self, text: &str) -> Vec<u64> {
        let tokens: Vec<u64> = match self {
            Self::Ascii => ascii(text).map(lower_case_token).collect(),
            Self::Uax29 => {
                text.unicode_words().map(|word| hash::token(word.to_lowercase().as_bytes())).collect()
            }
        };
        let mut shingles: Vec<u64> = windows(&tokens).map(hash::combine).collect();
        shingles.sort_unstable();
        shingles.dedup();
        shingles
    }
}

/// The shingles of a sequence of words, with repetitions: one if there are fewer than five words, none if there is no word.
pub fn windows<T>(words: &[T]) -> std::slice::Windows<'_, T> {
    words.windows(SHINGLE.min(words.len()).max(1))
}

fn ascii(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn lower_case_token(word: &str) -> u64 {
    let mut buffer = [0u8; 64];
    match buffer.get_mut(..word.len()) {
        Some(short) => {
            short.copy_from_slice(word.as_bytes());
            short.make_ascii_lowercase();
            hash::token(short)
        }
        None => hash::token(word.to_ascii_lowercase().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(Words::Ascii.of("Don't use 3.14, ÄB!"), ["don", "t", "use", "3", "14", "b"]);
        assert_eq!(Words::Uax29.of("Don't use 3.14, ÄB!"), ["don't", "use", "3.14", "äb"]);
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_is_none() {
        assert_eq!(Words::Ascii.shingles("one two").len(), 1);
        assert_eq!(Words::Ascii.shingles("a b c d e f").len(), 2);
        assert!(Words::Ascii.shingles("... !").is_empty());
        assert_eq!(Words::Ascii.shingles("One, two"), Words::Ascii.shingles("ONE two!"));
    }
}

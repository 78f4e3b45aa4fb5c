//! Text: shingles of words, characters or bytes.
//!
//! ```text
//! text --normalize--> --cut--> tokens --hash::token--> --hash::combine over n--> elements
//! ```
//!
//! - **Words** (the default, with n = 5): words by UAX #29, scripts without spaces as character bigrams,
//!   punctuation dropped; the module `words` has the exact rules. The token is the word's normalized UTF-8.
//! - **Characters**: the Unicode scalar values of the normalized text, punctuation included, with each run of
//!   white space as one space and none at the ends.
//! - **Bytes**: the bytes as they are, not normalized.
//!
//! Normalization is NFKC and lower case by default; the module `normalize` has the exact rules. All tables
//! come from pinned crates at Unicode 16.0, none from the standard library.
//!
//! A shingle is [`hash::combine`](crate::hash::combine) of n token hashes. A text of fewer than n tokens is
//! one shingle of all of them. A text without tokens has no features.
//!
//! **The way** is [`Shingler::elements`]: a text is cut at its boundaries into tokens, tokens are hashed, and neighbours combined. ASCII and other pieces take different paths to the same tokens, most
//! text a fast one (the modules `plain`, `simple` and `kernel`); property tests hold them all against a reference that reads the text as a whole.
//!
//! **Limits.** There is no dictionary: Thai or Chinese words are not found, only their characters. There is
//! no stemming. Lower case knows no language, so the Turkish I and ı stay apart. White space inside Chinese
//! or Thai text, such as a line break in the middle of a word, ends a run of bigrams.

mod characters;
mod class;
mod explain;
mod fold;
mod kernel;
mod normalize;
mod options;
mod plain;
mod shingle;
mod simple;
mod stop;
mod token;
mod trace;
mod words;

use std::ops::Range;

pub use explain::{Shingle, Token};
pub use options::{Bits, Punctuation, TextOptions, Unit};
pub use stop::stop_word_languages;

use self::class::{Class, is_ascii_space};
use self::normalize::Normalizer;
use self::stop::StopWords;
use super::PipelineId;
use crate::{Features, Level, Result, lines::Lines};

/// Turns text into elements under fixed [`TextOptions`].
///
/// ```
/// use benzer_core::field::text::{Scratch, Shingler, TextOptions};
/// let shingler = Shingler::new(&TextOptions { n: 2, ..Default::default() })?;
/// let mut scratch = Scratch::default();
/// let first = shingler.elements("To be, or NOT to be!", &mut scratch).to_vec();
/// assert_eq!(first.len(), 5);
/// assert_eq!(first[0], first[4]); // "to be"
/// assert_eq!(shingler.features("To be, or NOT to be!").len(), 4);
/// # Ok::<(), benzer_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shingler {
    options: TextOptions,
    normalizer: Normalizer,
    stop: Option<StopWords>,
    pipeline: PipelineId,
    path: kernel::Path,
}

/// Buffers that [`Shingler::elements`] works in; keep one per thread, and no shingle costs an allocation.
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: Lines<u8>,
    bounds: Lines<u32>,
    detours: Vec<plain::Detour>,
    normalized: String,
    tokens: Vec<u64>,
    elements: Vec<u64>,
}

impl Shingler {
    /// A shingler for these options.
    ///
    /// # Errors
    /// n = 0; a language without a list of stop words; stop words with a unit other than words.
    pub fn new(options: &TextOptions) -> Result<Self> {
        options.check()?;
        let clean = options.unit == Unit::Words && options.punctuation == Punctuation::Drop;
        let normalizer = Normalizer::new(options, clean);
        let pipeline = options.pipeline(None);
        let mut shingler = Self {
            options: options.clone(),
            normalizer,
            stop: None,
            pipeline,
            path: kernel::Path::new(Level::best()),
        };
        if !options.stop_words.is_empty() {
            let tokenize = |word: &str| shingler.tokens(word).iter().map(|token| token.hash).collect();
            let stop = StopWords::new(&options.stop_words, tokenize)?;
            shingler.pipeline = options.pipeline(Some(&stop.name));
            shingler.stop = Some(stop);
        }
        Ok(shingler)
    }

    /// The same shingler on a given kernel path, or on the best one below it that this CPU has; every path
    /// gives the same elements.
    #[must_use]
    pub fn at_level(self, level: Level) -> Self {
        Self { path: kernel::Path::new(level), ..self }
    }

    /// The options in use.
    pub fn options(&self) -> &TextOptions {
        &self.options
    }

    /// Names the rules that decide the elements.
    pub fn pipeline(&self) -> &PipelineId {
        &self.pipeline
    }

    /// The features of a text: its elements as a set, or as a bag if the options say so.
    pub fn features(&self, text: &str) -> Features {
        let elements = self.elements(text, &mut Scratch::default()).to_vec();
        if self.options.bag { Features::bag(elements) } else { Features::from_vec(elements) }
    }

    /// The elements of a text in the order of the text, repetitions included.
    pub fn elements<'s>(&self, text: &str, scratch: &'s mut Scratch) -> &'s [u64] {
        let mut elements = std::mem::take(&mut scratch.elements);
        let end = self.write_elements(text, scratch, &mut elements, 0);
        scratch.elements = elements;
        &scratch.elements[..end]
    }

    /// Writes the elements of a text to `out[start..]`, in the order of the text, and returns where they end. `out` grows as needed and never shrinks,
    /// so that a buffer for many texts is filled without clearing or copying.
    pub fn write_elements(
        &self,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Vec<u64>,
        start: usize,
    ) -> usize {
        self.hash_tokens(text, scratch);
        shingle::write(self.path, &scratch.tokens, self.options.n, self.options.bits.dropped(), out, start)
    }

    /// Fills `scratch.tokens`.
    fn hash_tokens(&self, text: &str, scratch: &mut Scratch) {
        scratch.tokens.clear();
        match self.options.unit {
            Unit::Bytes => scratch.tokens.extend(text.bytes().map(characters::byte)),
            Unit::Characters => characters::tokens(text, &self.normalizer, scratch),
            Unit::Words if self.options.punctuation == Punctuation::Keep => {
                pieces(text).for_each(|piece| self.hash_words(&text[piece], scratch));
            }
            Unit::Words => self.hash_plain_words(text, scratch),
        }
        if let Some(stop) = &self.stop {
            scratch.tokens.retain(|&token| !stop.contains(token));
        }
    }

    /// The general path, for a piece without ASCII white space.
    fn hash_words(&self, piece: &str, scratch: &mut Scratch) {
        let Scratch { normalized, tokens, .. } = scratch;
        normalized.clear();
        self.normalizer.push(piece, normalized, &mut ());
        words::tokens::<true>(normalized, self.counts(), &mut |range| {
            tokens.push(token::hash(normalized.as_bytes(), range));
        });
    }

    /// What a word must have to count.
    fn counts(&self) -> Class {
        match self.options.punctuation {
            Punctuation::Drop => Class::ALPHANUMERIC,
            Punctuation::Keep => Class::VISIBLE,
        }
    }
}

/// The pieces of a text between ASCII white space, none of them empty.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|&b| !is_ascii_space(b))?;
        let length = bytes[start..].iter().position(|&b| is_ascii_space(b));
        at = length.map_or(bytes.len(), |length| start + length);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn shingler(options: TextOptions) -> Shingler {
        Shingler::new(&options).unwrap()
    }

    #[test]
    fn a_shingle_combines_the_hashes_of_its_words() {
        let token = |word: &str| hash::token(word.as_bytes());
        let pair = shingler(TextOptions { n: 2, ..Default::default() });
        let expected = Features::set([
            hash::combine(&[token("hello"), token("größe")]),
            hash::combine(&[token("größe"), token("x")]),
        ]);
        assert_eq!(pair.features("  Hello, GRÖSSE...".replace("SS", "ß").as_str()).len(), 1);
        assert_eq!(pair.features("Hello, (Größe) x!"), expected);
    }

    #[test]
    fn short_and_empty_texts_have_one_and_no_element() {
        let default = shingler(TextOptions::default());
        let words = [hash::token(b"two"), hash::token(b"words")];
        assert_eq!(default.features("Two words"), Features::set([hash::combine(&words)]));
        for nothing in ["", " \r\n\t", "?!... -- ___ (...)", "👍🎉", "\u{301}\u{200d}\u{feff}"] {
            assert!(default.features(nothing).is_empty(), "{nothing:?}");
        }
    }

    #[test]
    fn a_bag_counts_repeated_shingles() {
        let bag = shingler(TextOptions { n: 1, bag: true, ..Default::default() });
        assert_eq!(bag.features("a b a").size(), 3.0);
    }

    #[test]
    fn stop_words_are_left_out_before_shingling() {
        let english = TextOptions { n: 2, stop_words: vec!["de".into(), "en".into()], ..Default::default() };
        let plain = shingler(TextOptions { n: 2, ..Default::default() });
        let stopped = shingler(english);
        assert_eq!(stopped.features("The cat and the ship; über HUND"), plain.features("cat ship hund"));
        assert!(stopped.pipeline().as_str().contains("/uax29+stop=de+en~"), "{}", stopped.pipeline());
    }

    #[test]
    fn bytes_are_not_normalized() {
        let bytes = shingler(TextOptions { unit: Unit::Bytes, n: 3, ..Default::default() });
        assert_ne!(bytes.features("ABC"), bytes.features("abc"));
        assert_eq!(bytes.features("aé").len(), 1);
    }

    #[test]
    fn pieces_lie_between_white_space() {
        let found: Vec<_> = pieces("\u{b} a\tbc\n").collect();
        assert_eq!(found, [2..3, 4..6]);
    }
}

//! Where tokens and shingles stand in the original text, for explanations.
//!
//! These functions take the general path for everything and allocate as they please; [`Shingler::elements`]
//! gives the same elements faster.

use std::ops::Range;

use super::characters::{Collapsed, collapse};
use super::trace::Offsets;
use super::{Shingler, Unit, pieces, words};
use crate::hash;

/// A token of a text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Byte offsets in the original text. Where one character became several tokens, or several became one,
    /// whole characters are covered, so neighbouring ranges may overlap; bigrams always do.
    pub range: Range<usize>,
    /// The normalized bytes; UTF-8 except when the unit is bytes.
    pub bytes: Vec<u8>,
    /// `hash::token` of the bytes.
    pub hash: u64,
}

/// A shingle of a text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shingle {
    /// Byte offsets in the original text, from the first token's start to the last one's end.
    pub range: Range<usize>,
    /// The shingle's element.
    pub element: u64,
}

impl Token {
    fn new(range: Range<usize>, bytes: &[u8]) -> Self {
        Self { range, bytes: bytes.to_vec(), hash: hash::token(bytes) }
    }
}

impl Shingler {
    /// The tokens of a text in order, stop words left out.
    ///
    /// ```
    /// use benzer_core::field::text::{Shingler, TextOptions};
    /// let text = "Un ÉTÉ, ﬁn";
    /// let tokens = Shingler::new(&TextOptions::default())?.tokens(text);
    /// assert_eq!(tokens[1].bytes, "été".as_bytes());
    /// assert_eq!(&text[tokens[1].range.clone()], "ÉTÉ");
    /// assert_eq!(&text[tokens[2].range.clone()], "ﬁn");
    /// # Ok::<(), benzer_core::Error>(())
    /// ```
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = match self.options.unit {
            Unit::Words => self.word_tokens(text),
            Unit::Characters => self.character_tokens(text),
            Unit::Bytes => (0..text.len()).map(|i| Token::new(i..i + 1, &text.as_bytes()[i..=i])).collect(),
        };
        if let Some(stop) = &self.stop {
            tokens.retain(|token| !stop.contains(token.hash));
        }
        tokens
    }

    /// The shingles of a text in order, with the elements that [`elements`](Self::elements) gives.
    pub fn shingles(&self, text: &str) -> Vec<Shingle> {
        let tokens = self.tokens(text);
        let shift = self.options.bits.dropped();
        let shingle = |window: &[Token]| {
            let hashes: Vec<u64> = window.iter().map(|token| token.hash).collect();
            let range = window[0].range.start..window[window.len() - 1].range.end;
            Shingle { range, element: hash::combine(&hashes) >> shift }
        };
        match tokens.len() {
            0 => Vec::new(),
            n_tokens => tokens.windows(self.options.n.min(n_tokens)).map(shingle).collect(),
        }
    }

    fn word_tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.trace(text, |normalized, original| {
            words::tokens::<false>(normalized, self.counts(), &mut |range| {
                tokens.push(Token::new(original(range.clone()), normalized[range].as_bytes()));
            });
        });
        tokens
    }

    fn character_tokens(&self, text: &str) -> Vec<Token> {
        let (mut tokens, mut space) = (Vec::<Token>::new(), false);
        self.trace(text, |normalized, original| {
            let mut within = 0..0;
            collapse(normalized, &mut space, |token| match token {
                Collapsed::Space(range) => {
                    tokens.push(Token::new(0..0, b" "));
                    within = range;
                }
                Collapsed::Char(_, range) => {
                    let token = Token::new(original(range.clone()), normalized[range].as_bytes());
                    if let [.., before, gap] = &mut tokens[..]
                        && gap.range.is_empty()
                    {
                        let between = before.range.end..token.range.start;
                        gap.range = if between.is_empty() { original(within.clone()) } else { between };
                    }
                    tokens.push(token);
                }
            });
            space = !tokens.is_empty();
        });
        tokens
    }

    /// Normalizes the pieces of a text; `visit` gets each with a function from its ranges to ranges of the
    /// text.
    fn trace(&self, text: &str, mut visit: impl FnMut(&str, &dyn Fn(Range<usize>) -> Range<usize>)) {
        let (mut normalized, mut offsets) = (String::new(), Offsets::default());
        for piece in pieces(text) {
            normalized.clear();
            offsets.clear();
            self.normalizer.push(&text[piece.clone()], &mut normalized, &mut offsets);
            visit(&normalized, &|range| {
                let original = offsets.original(range);
                piece.start + original.start..piece.start + original.end
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::text::TextOptions;

    fn spans<'t>(text: &'t str, options: &TextOptions) -> Vec<(&'t str, String)> {
        let tokens = Shingler::new(options).unwrap().tokens(text);
        let pair = |token: Token| (&text[token.range], String::from_utf8(token.bytes).unwrap());
        tokens.into_iter().map(pair).collect()
    }

    fn pairs(expected: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        expected.iter().map(|&(span, token)| (span, token.to_owned())).collect()
    }

    #[test]
    fn tokens_point_into_the_original_text() {
        let found = spans("“Don’t” co\u{ad}op E\u{301}TÉ, 中文字 ＡＢ", &TextOptions::default());
        let expected = [
            ("Don’t", "don't"),
            ("co\u{ad}op", "coop"),
            ("E\u{301}TÉ", "été"),
            ("中文", "中文"),
            ("文字", "文字"),
            ("ＡＢ", "ab"),
        ];
        assert_eq!(found, pairs(&expected));
    }

    #[test]
    fn characters_point_into_the_original_text_and_a_space_covers_its_run() {
        let options = TextOptions { unit: Unit::Characters, ..Default::default() };
        let found = spans("  A \t\u{3000}ﬁ ", &options);
        assert_eq!(found, pairs(&[("A", "a"), (" \t\u{3000}", " "), ("ﬁ", "f"), ("ﬁ", "i")]));
    }

    #[test]
    fn shingles_span_from_first_to_last_token() {
        let text = "One, two; THREE four";
        let shingler = Shingler::new(&TextOptions { n: 3, ..Default::default() }).unwrap();
        let spans: Vec<&str> = shingler.shingles(text).iter().map(|s| &text[s.range.clone()]).collect();
        assert_eq!(spans, ["One, two; THREE", "two; THREE four"]);
    }
}

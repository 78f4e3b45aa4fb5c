//! Normalization: what differs in the bytes of two texts but not in their content.
//!
//! In this order, each step optional:
//!
//! 1. **Invisible characters** are removed: General_Category Cf (soft hyphen, zero-width joiners and spaces,
//!    direction marks, byte order mark) and variation selectors. Only for words with punctuation dropped.
//! 2. **NFKC** (UAX #15): full-width and half-width forms, ligatures, circled letters, composed or decomposed
//!    accents become one. Where step 1 is taken, the quotation marks ’ and ‘ then become the apostrophe `'`.
//! 3. **Lower case** by the full, locale-independent mapping of each character, with two additions that make
//!    it a matter of single characters: final sigma ς becomes σ, and a dot above (U+0307) straight after an i
//!    is dropped, so that İ and I with a dot are both `i`. The dotless ı stays, ß stays (ẞ becomes ß).
//! 4. **Diacritics**: canonical decomposition, removal of the marks that
//!    [`class::is_diacritic`](super::class) names, composition. é becomes e, ё becomes е, й becomes и;
//!    letters that Unicode does not decompose (ø, ł, đ) stay.
//!
//! The work is done segment by segment, where a segment begins at a character that NFKC cannot join to what
//! precedes it; nearly every segment is one character that stays as it is. This gives the same result as
//! normalizing the whole text (property-tested), and it keeps track of where in the original text each piece
//! came from.

use unicode_normalization::UnicodeNormalization;

use super::class::Class;
use super::fold::{DOT_ABOVE, lower};
use super::options::TextOptions;
use super::trace::Trace;

/// The steps to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Normalizer {
    nfkc: bool,
    clean: bool,
    lower: bool,
    strip: bool,
    /// Flags of a character that is its own segment, whatever stands before it.
    alone: Class,
}

impl Normalizer {
    /// `clean` is step 1 and the apostrophe.
    pub fn new(options: &TextOptions, clean: bool) -> Self {
        let (nfkc, strip) = (options.nfkc, options.strip_diacritics);
        let alone = if strip { Class::STABLE.and(Class::PLAIN) } else { Class::STABLE };
        Self { nfkc, clean, lower: options.lower, strip, alone }
    }

    /// A number below 8 for the steps that can be left out, given that `clean` is taken.
    pub fn number(&self) -> usize {
        usize::from(self.nfkc) | usize::from(self.lower) << 1 | usize::from(self.strip) << 2
    }

    /// Appends the normalized `text` to `out`; `trace` learns which offset of `out` begins at which offset of
    /// `text`.
    pub fn push(&self, text: &str, out: &mut String, trace: &mut impl Trace) {
        let mut rest = text.char_indices().map(|(at, c)| (at, c, Class::of(c)));
        let mut next = rest.next();
        while let Some((start, c, class)) = next {
            trace.mark(out.len(), start);
            next = rest.next();
            if self.is_alone(class, next.map(|(_, _, class)| class)) {
                self.fold(c, class, out);
                continue;
            }
            while next.is_some_and(|(_, _, class)| !class.has(Class::BOUNDARY)) {
                next = rest.next();
            }
            let end = next.map_or(text.len(), |(at, _, _)| at);
            self.transform(&text[start..end], out);
        }
        trace.mark(out.len(), text.len());
    }

    /// The normalized form of an ASCII character.
    #[inline(always)]
    pub fn ascii(&self, byte: u8) -> u8 {
        if self.lower { byte.to_ascii_lowercase() } else { byte }
    }

    /// True if a character is a segment by itself and only steps 1 and 3 can change it.
    #[inline(always)]
    fn is_alone(&self, class: Class, next: Option<Class>) -> bool {
        let ends = next.is_none_or(|next| next.has(Class::BOUNDARY));
        (class.has_all(self.alone) && ends) || !(self.nfkc || self.strip)
    }

    /// All steps on a segment of which something may change beyond its case.
    fn transform(&self, run: &str, out: &mut String) {
        let kept = run.chars().filter(|&c| !(self.clean && Class::of(c).has(Class::INVISIBLE)));
        if self.nfkc {
            self.fold_and_strip(kept.nfkc(), out);
        } else {
            self.fold_and_strip(kept, out);
        }
    }

    fn fold_and_strip(&self, composed: impl Iterator<Item = char>, out: &mut String) {
        if !self.strip {
            composed.for_each(|c| self.fold(c, Class::of(c), out));
            return;
        }
        // The dot above i needs no thought here: it is a diacritic.
        let folded = composed.flat_map(|c| self.folded(c, Class::of(c)).into_iter().flatten());
        out.extend(folded.nfd().filter(|&c| !Class::of(c).has(Class::DIACRITIC)).nfc());
    }

    /// Appends one character that NFKC leaves as it is.
    #[inline]
    fn fold(&self, c: char, class: Class, out: &mut String) {
        if !class.has(Class::FOLDS) {
            return out.push(c);
        }
        for c in self.folded(c, class).into_iter().flatten() {
            if c != DOT_ABOVE || !self.lower || !out.ends_with('i') {
                out.push(c);
            }
        }
    }

    /// The apostrophe, invisible characters and the case of one character.
    #[inline(always)]
    fn folded(&self, c: char, class: Class) -> [Option<char>; 2] {
        match c {
            '\u{2018}' | '\u{2019}' if self.clean => [Some('\''), None],
            _ if self.clean && class.has(Class::INVISIBLE) => [None, None],
            _ if self.lower => lower(c),
            _ => [Some(c), None],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(text: &str, options: TextOptions) -> String {
        let mut out = String::new();
        Normalizer::new(&options, true).push(text, &mut out, &mut ());
        out
    }

    fn default(text: &str) -> String {
        normalize(text, TextOptions::default())
    }

    #[test]
    fn equivalent_spellings_become_one() {
        assert_eq!(default("ＡＢＣ ﬁne ①"), "abc fine 1");
        assert_eq!(default("e\u{301}"), default("É"));
        assert_eq!(default("ｶﾞ"), "ガ");
        assert_eq!(default("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(default("don’t co\u{ad}operate\u{feff}"), "don't cooperate");
        assert_eq!(default("e\u{200d}\u{301} 葛\u{e0100}"), "é 葛");
    }

    #[test]
    fn lower_case_needs_no_context() {
        assert_eq!(default("ΣΊΣΥΦΟΣ"), default("σίσυφος"));
        assert_eq!(default("İSTANBUL"), "istanbul");
        assert_eq!(default("I\u{307}i\u{307}ı"), "iiı");
        assert_eq!(default("STRAẞE Straße"), "straße straße");
    }

    #[test]
    fn diacritics_go_but_vowels_of_other_scripts_stay() {
        let strip = |text| normalize(text, TextOptions { strip_diacritics: true, ..Default::default() });
        assert_eq!(strip("Élève, Ängström, ё, ø"), "eleve, angstrom, е, ø");
        assert_eq!(strip("שָׁלוֹם مُحَمَّد"), "שלום محمد");
        assert_eq!(strip("हिन्दी กำลัง が 한"), normalize("हिन्दी กำลัง が 한", TextOptions::default()));
    }

    #[test]
    fn each_step_can_be_left_out() {
        let off = TextOptions { nfkc: false, lower: false, ..Default::default() };
        assert_eq!(normalize("Ａﬁ", off), "Ａﬁ");
    }
}

//! Words of normalized text, for every script.
//!
//! Text is first cut into *runs* of scripts that are written without spaces (Han, kana, Thai, Khmer, Myanmar,
//! ...) and the stretches between them.
//!
//! - A run gives the bigrams of its characters, `中文字` gives `中文` and `文字`; a run of one character gives that
//!   character. A character here is a letter with the marks that follow it. Decimal digits never belong to a
//!   run.
//! - A stretch gives its words by UAX #29. With punctuation dropped, a word counts if it has a letter or a
//!   number (General_Category L* or N*), so punctuation, symbols, emoji and lone marks give nothing; what
//!   stands *inside* a word belongs to it: `don't`, `3.14`, `U.S.A`, `snake_case`. With punctuation kept, a
//!   word counts if it has any visible character (L*, N*, P*, S*), so each punctuation mark and each emoji
//!   sequence is a token of its own.
//!
//! The text is handed over in pieces cut at ASCII white space, which is a boundary in every rule involved:
//! words and runs end there and NFKC does not compose over it. With punctuation dropped this gives the words
//! of the whole text, which a property test shows. With punctuation kept it is part of the definition: an
//! emoji modifier after a space stands alone, where UAX #29 would attach it to the space.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::class::Class;

/// Calls `emit` with the range of each token of a normalized piece of text that has no ASCII white space of
/// its own; `counts` is what a word must have to count. `QUICK` recognizes the commonest stretch, one word, without
/// running the algorithm, and gives the same words.
pub(super) fn tokens<const QUICK: bool>(text: &str, counts: Class, emit: &mut impl FnMut(Range<usize>)) {
    let mut start = 0;
    while let Some(run) = next_run(text, start) {
        stretch::<QUICK>(text, start..run, counts, emit);
        start = bigrams(text, run, emit);
    }
    stretch::<QUICK>(text, start..text.len(), counts, emit);
}

/// Where the next run of an unsegmented script begins. A mark alone begins none: it belongs to the letter
/// before it.
fn next_run(text: &str, from: usize) -> Option<usize> {
    let begins = |c: char| {
        let class = Class::of(c);
        class.has(Class::UNSEGMENTED) && !class.has(Class::MARK)
    };
    text[from..].find(begins).map(|offset| from + offset)
}

/// Emits the bigrams of the run that begins at `start` and returns where it ends.
fn bigrams(text: &str, start: usize, emit: &mut impl FnMut(Range<usize>)) -> usize {
    let (mut before, mut last, mut end) = (None, start, text.len());
    let first = text[start..].chars().next().map_or(0, char::len_utf8);
    for (offset, c) in text[start + first..].char_indices() {
        let (class, at) = (Class::of(c), start + first + offset);
        if class.has(Class::MARK) {
            continue;
        }
        if !class.has(Class::UNSEGMENTED) {
            end = at;
            break;
        }
        if let Some(before) = before {
            emit(before..at);
        }
        (before, last) = (Some(last), at);
    }
    emit(before.unwrap_or(last)..end);
    end
}

fn stretch<const QUICK: bool>(
    text: &str,
    range: Range<usize>,
    counts: Class,
    emit: &mut impl FnMut(Range<usize>),
) {
    let (base, text) = (range.start, &text[range]);
    if QUICK
        && counts == Class::ALPHANUMERIC
        && let Some(word) = single_word(text)
    {
        if !word.is_empty() {
            emit(base + word.start..base + word.end);
        }
        return;
    }
    for (offset, word) in text.split_word_bound_indices() {
        if word.chars().any(|c| Class::of(c).has(counts)) {
            emit(base + offset..base + offset + word.len());
        }
    }
}

/// The word of a stretch that is just one word and punctuation around it, an empty range if there is not even a
/// word; `None` if it is not that simple.
#[inline]
fn single_word(text: &str) -> Option<Range<usize>> {
    let is_edge = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_';
    let word = text.trim_start_matches(is_edge);
    let start = text.len() - word.len();
    let word = word.trim_end_matches(is_edge);
    is_one_word(word).then_some(start..start + word.len())
}

/// True if UAX #29 certainly sees one word: letters, with single apostrophes, full stops or colons between
/// letters.
#[inline]
fn is_one_word(word: &str) -> bool {
    let mut after_letter = false;
    for c in word.chars() {
        let is_letter = Class::of(c).has(Class::LETTER);
        let joins = after_letter && matches!(c, '\'' | '.' | ':');
        if !(is_letter || joins) {
            return false;
        }
        after_letter = is_letter;
    }
    after_letter || word.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, counts: Class) -> Vec<&str> {
        let (mut book, mut quick) = (Vec::new(), Vec::new());
        tokens::<false>(text, counts, &mut |range| book.push(&text[range]));
        tokens::<true>(text, counts, &mut |range| quick.push(&text[range]));
        assert_eq!(book, quick);
        book
    }

    #[test]
    fn unsegmented_scripts_give_bigrams() {
        assert_eq!(cut("中文字。", Class::ALPHANUMERIC), ["中文", "文字"]);
        assert_eq!(cut("我", Class::ALPHANUMERIC), ["我"]);
        assert_eq!(cut("使用python3编程", Class::ALPHANUMERIC), ["使用", "python3", "编程"]);
        assert_eq!(cut("2024年3月", Class::ALPHANUMERIC), ["2024", "年", "3", "月"]);
        assert_eq!(cut("ที่นี่", Class::ALPHANUMERIC), ["ที่นี่"]);
    }

    #[test]
    fn punctuation_inside_a_word_belongs_to_it() {
        let text = "(don't)…3.14,u.s.a.,snake_case;l'été!—x";
        let words = ["don't", "3.14", "u.s.a", "snake_case", "l'été", "x"];
        assert_eq!(cut(text, Class::ALPHANUMERIC), words);
    }

    #[test]
    fn kept_punctuation_is_a_token_each() {
        assert_eq!(cut("«да»!👍🏽", Class::VISIBLE), ["«", "да", "»", "!", "👍🏽"]);
    }

    #[test]
    fn a_lone_mark_begins_no_run() {
        assert_eq!(cut("a\u{e31}b", Class::ALPHANUMERIC), ["a\u{e31}b"]);
        assert!(cut("\u{e31}\u{301}", Class::ALPHANUMERIC).is_empty());
    }
}

//! Two texts side by side, word by word, shortened to what differs and a little around it.

use std::fmt::Write;
use std::ops::Range;

use benzer_core::field::text::{Shingler, Token, Unit};

use super::html::escape;
use crate::diff::{self, Run};

/// Bytes of a text that are looked at.
const MAX_BYTES: usize = 32 << 10;
/// Texts that differ in more words are shown by their beginnings.
const MAX_EDITS: usize = 500;
const MAX_CHANGES: usize = 16;
/// Words of a change that are shown, and words around it; characters are shown six times as many.
const CHANGED: usize = 60;
const AROUND: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Same(String),
    Changed(String),
    /// So many words are left out.
    Skipped(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sides {
    pub html: [String; 2],
    /// False if they differ too much.
    pub is_aligned: bool,
}

/// Compares two texts by the words that their similarity is made of: case and punctuation do not count where they do not count there.
pub(crate) fn side_by_side(texts: [&str; 2], shingler: &Shingler) -> Sides {
    let texts = texts.map(|text| &text[..text.floor_char_boundary(MAX_BYTES)]);
    let options = shingler.options();
    let scale = if options.unit == Unit::Words { 1 } else { 6 };
    let tokens = texts.map(|text| shingler.tokens(text));
    let hashes = [0, 1].map(|i| tokens[i].iter().map(|token| token.hash).collect::<Vec<_>>());
    let mut writer = Writer { texts, tokens: &tokens, scale, pieces: [Vec::new(), Vec::new()] };
    let runs = diff::runs(&hashes[0], &hashes[1], MAX_EDITS);
    let is_aligned = runs.is_some();
    match runs {
        Some(runs) => writer.write(&diff::without_crumbs(runs, options.n)),
        None => [0, 1].into_iter().for_each(|side| writer.beginning(side)),
    }
    Sides { html: writer.pieces.map(|pieces| html(&pieces, options.unit)), is_aligned }
}

struct Writer<'a> {
    texts: [&'a str; 2],
    tokens: &'a [Vec<Token>; 2],
    scale: usize,
    pieces: [Vec<Piece>; 2],
}

impl Writer<'_> {
    fn write(&mut self, runs: &[Run]) {
        let (mut n_changes, mut done) = (0, [0; 2]);
        for (i, run) in runs.iter().enumerate() {
            match run {
                Run::Same(a, b) => {
                    let shows = [i > 0, i + 1 < runs.len()];
                    self.same(0, a.clone(), shows);
                    self.same(1, b.clone(), shows);
                    done = [a.end, b.end];
                }
                Run::Removed(range) => {
                    self.changed(0, range.clone());
                    done[0] = range.end;
                }
                Run::Added(range) => {
                    self.changed(1, range.clone());
                    done[1] = range.end;
                }
            }
            n_changes += usize::from(!matches!(run, Run::Same(..)));
            if n_changes == MAX_CHANGES {
                break;
            }
        }
        for (side, done) in done.into_iter().enumerate() {
            let left = self.tokens[side].len() - done;
            self.pieces[side].extend((left > 0).then_some(Piece::Skipped(left)));
        }
    }

    /// The beginning and the end of an equal run, where a change is before or after it.
    fn same(&mut self, side: usize, range: Range<usize>, [has_before, has_after]: [bool; 2]) {
        let around = AROUND * self.scale;
        // Two texts without a change are shown by their beginnings.
        let head = if has_before || !has_after { around * if has_before { 1 } else { 4 } } else { 0 };
        let tail = if has_after { around } else { 0 };
        if range.len() <= head + tail + around / 2 {
            return self.push(side, Piece::Same, range);
        }
        let (head, tail) = (range.start + head, range.end - tail);
        self.push(side, Piece::Same, range.start..head);
        self.pieces[side].push(Piece::Skipped(tail - head));
        self.push(side, Piece::Same, tail..range.end);
    }

    fn changed(&mut self, side: usize, range: Range<usize>) {
        let shown = range.end.min(range.start + CHANGED * self.scale);
        self.push(side, Piece::Changed, range.start..shown);
        self.pieces[side].extend((shown < range.end).then_some(Piece::Skipped(range.end - shown)));
    }

    fn beginning(&mut self, side: usize) {
        let all = self.tokens[side].len();
        let shown = all.min(CHANGED * self.scale);
        self.push(side, Piece::Same, 0..shown);
        self.pieces[side].extend((shown < all).then_some(Piece::Skipped(all - shown)));
    }

    fn push(&mut self, side: usize, kind: fn(String) -> Piece, range: Range<usize>) {
        if !range.is_empty() {
            let text = between(self.texts[side], &self.tokens[side], range);
            self.pieces[side].push(kind(text.to_owned()));
        }
    }
}

/// The text from one token up to the next one after the range, with what stands between them.
fn between<'t>(text: &'t str, tokens: &[Token], range: Range<usize>) -> &'t str {
    let at = |token: usize| match tokens.get(token) {
        Some(_) if token == 0 => 0,
        Some(token) => text.floor_char_boundary(token.range.start),
        None => text.len(),
    };
    &text[at(range.start)..at(range.end).max(at(range.start))]
}

fn html(pieces: &[Piece], unit: Unit) -> String {
    let mut out = String::new();
    for piece in pieces {
        let _ = match piece {
            Piece::Same(text) => write!(out, "{}", escape(text)),
            Piece::Changed(text) => {
                let shown = text.trim_end();
                write!(out, "<mark>{}</mark>{}", escape(shown), escape(&text[shown.len()..]))
            }
            Piece::Skipped(n) => {
                let name = unit.name();
                let name = if *n == 1 { name.trim_end_matches('s') } else { name };
                write!(out, "<span class=\"skip\">&#8943; {n} {name} &#8943;</span> ")
            }
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::field::text::TextOptions;

    fn sides(a: &str, b: &str) -> Sides {
        side_by_side([a, b], &Shingler::new(&TextOptions { n: 2, ..TextOptions::default() }).unwrap())
    }

    #[test]
    fn what_differs_is_marked_and_what_is_far_from_it_is_left_out() {
        let words = |from: usize, to: usize| (from..to).map(|i| format!("w{i} ")).collect::<String>();
        let found = sides(
            &format!("{}old {}", words(0, 50), words(50, 90)),
            &format!("{}new {}", words(0, 50), words(50, 90)),
        );
        let expected = |word: &str| {
            format!(
                "<span class=\"skip\">&#8943; 40 words &#8943;</span> {}<mark>{word}</mark> {}<span class=\"skip\">&#8943; 30 words &#8943;</span> ",
                words(40, 50),
                words(50, 60)
            )
        };
        assert_eq!(found.html, [expected("old"), expected("new")]);
        assert!(found.is_aligned);
    }

    #[test]
    fn case_and_punctuation_are_no_difference_and_markup_is_text() {
        let found = sides("The <b>Cat</b>, sat & slept.", "the b cat b sat slept");
        assert_eq!(found.html[0], "The &lt;b&gt;Cat&lt;/b&gt;, sat &amp; slept.");
        assert!(!found.html.concat().contains("<mark>"));
    }

    #[test]
    fn the_size_is_bounded_whatever_the_texts() {
        let words = |seed: u64, n: u64| {
            (0..n).map(|i| format!("w{} ", benzer_core::hash::split(seed, i))).collect::<String>()
        };
        let long = words(1, 100_000);
        for (other, is_aligned) in [(words(2, 100_000), false), (long.clone(), true), (String::new(), false)]
        {
            let found = sides(&long, &other);
            assert_eq!(found.is_aligned, is_aligned);
            assert!(found.html.iter().all(|html| html.len() < 4000));
        }
        // Many changes far apart.
        let changed: String = long
            .split(' ')
            .enumerate()
            .map(|(i, word)| if i % 40 == 7 { format!("x{i} ") } else { format!("{word} ") })
            .collect();
        let found = sides(&long, &changed);
        assert!(found.is_aligned && found.html.iter().all(|html| html.len() < 10_000));
        assert!(found.html[0].matches("<mark>").count() >= 6);
    }
}

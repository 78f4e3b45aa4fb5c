//! Why two texts or sets are as similar as they are: what they share, what they do not, and where.

use std::collections::HashSet;
use std::ops::Range;

use anyhow::bail;
use benzer_core::field::text::{Shingle, Shingler, Token};
use benzer_core::hash;
use benzer_dedup::diff::{self, Run};
use serde::Serialize;

use super::{Content, Subject, Subjects};
use crate::Usage;

/// How many shingles are shown of each kind.
const SAMPLES: usize = 5;
/// Texts that differ in more words have nothing to gain from an inline diff.
const MAX_EDITS: usize = 2000;

#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub of: [String; 2],
    pub shared: Sample,
    /// Only in the first, only in the second.
    pub only: [Sample; 2],
    /// How the first text becomes the second; nothing for sets and for texts that differ too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Vec<Segment>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Sample {
    pub count: usize,
    pub some: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Segment {
    pub change: Change,
    pub text: String,
    pub tokens: usize,
}

/// What became of a piece of the first text, or where one of the second came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Same,
    Removed,
    Added,
    /// Not here in the second text, but its shingles are in it elsewhere.
    MovedAway,
    /// Not here in the first text, but its shingles are in it elsewhere.
    MovedHere,
}

pub(super) fn explain(all: &Subjects) -> anyhow::Result<Vec<Explanation>> {
    let mut explanations = Vec::new();
    for (i, a) in all.subjects.iter().enumerate() {
        for b in &all.subjects[i + 1..] {
            explanations.push(match (&a.content, &b.content, &all.shingler) {
                (Content::Text(x), Content::Text(y), Some(shingler)) => texts([a, b], [x, y], shingler),
                (Content::Items(x), Content::Items(y), _) => items([a, b], [x, y]),
                _ => bail!(Usage::new("--explain needs texts or sets, not sketches")),
            });
        }
    }
    Ok(explanations)
}

fn texts(subjects: [&Subject; 2], texts: [&String; 2], shingler: &Shingler) -> Explanation {
    let shingles = texts.map(|text| shingler.shingles(text));
    let pieces = [0, 1].map(|i| {
        let piece = |shingle: &Shingle| (shingle.element, whole(texts[i], shingle.range.clone()));
        shingles[i].iter().map(piece).collect::<Vec<_>>()
    });
    let shared = shared(&pieces);
    let tokens = texts.map(|text| shingler.tokens(text));
    let covered = [0, 1].map(|i| covered(&shingles[i], &shared, tokens[i].len(), shingler.options().n));
    let diff = segments(texts, &tokens, &covered, shingler.options().n);
    Explanation { of: subjects.map(|s| s.label.clone()), diff, ..counted(&pieces, &shared) }
}

fn items(subjects: [&Subject; 2], items: [&Vec<String>; 2]) -> Explanation {
    let pieces = items.map(|items| {
        items.iter().map(|item| (hash::element(item.as_bytes()), item.as_str())).collect::<Vec<_>>()
    });
    let shared = shared(&pieces);
    Explanation { of: subjects.map(|s| s.label.clone()), ..counted(&pieces, &shared) }
}

/// A part of a text, grown to whole characters.
fn whole(text: &str, range: Range<usize>) -> &str {
    &text[text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)]
}

fn shared(pieces: &[Vec<(u64, &str)>; 2]) -> HashSet<u64> {
    let first: HashSet<u64> = pieces[0].iter().map(|piece| piece.0).collect();
    pieces[1].iter().map(|piece| piece.0).filter(|element| first.contains(element)).collect()
}

fn counted(pieces: &[Vec<(u64, &str)>; 2], shared: &HashSet<u64>) -> Explanation {
    let sample = |pieces: &[(u64, &str)], of_shared: bool| {
        let mut seen = HashSet::new();
        let mut some = Vec::new();
        for (element, text) in pieces {
            if shared.contains(element) == of_shared && seen.insert(*element) && some.len() < SAMPLES {
                some.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        Sample { count: seen.len(), some }
    };
    Explanation {
        of: [String::new(), String::new()],
        shared: sample(&pieces[0], true),
        only: [sample(&pieces[0], false), sample(&pieces[1], false)],
        diff: None,
    }
}

/// Which tokens lie in a shared shingle.
fn covered(shingles: &[Shingle], shared: &HashSet<u64>, n_tokens: usize, n: usize) -> Vec<bool> {
    let mut covered = vec![false; n_tokens];
    for (first, _) in shingles.iter().enumerate().filter(|(_, shingle)| shared.contains(&shingle.element)) {
        let end = (first + n).min(n_tokens);
        covered[first..end].fill(true);
    }
    covered
}

fn segments(
    texts: [&String; 2],
    tokens: &[Vec<Token>; 2],
    covered: &[Vec<bool>; 2],
    n: usize,
) -> Option<Vec<Segment>> {
    let hashes = [0, 1].map(|i| tokens[i].iter().map(|token| token.hash).collect::<Vec<_>>());
    let runs = diff::without_crumbs(diff::runs(&hashes[0], &hashes[1], MAX_EDITS)?, n);
    let mut segments = Vec::new();
    let mut push = |side: usize, change: Change, range: Range<usize>| {
        let text = between(texts[side], &tokens[side], range.clone()).to_owned();
        segments.push(Segment { change, text, tokens: range.len() });
    };
    for run in runs {
        match run {
            Run::Same(_, range) => push(1, Change::Same, range),
            Run::Removed(range) => split(&covered[0], range, |moved, range| {
                push(0, if moved { Change::MovedAway } else { Change::Removed }, range);
            }),
            Run::Added(range) => split(&covered[1], range, |moved, range| {
                push(1, if moved { Change::MovedHere } else { Change::Added }, range);
            }),
        }
    }
    Some(segments)
}

/// Cuts a range where the flag changes.
fn split(flags: &[bool], range: Range<usize>, mut visit: impl FnMut(bool, Range<usize>)) {
    let mut start = range.start;
    for run in flags[range].chunk_by(|a, b| a == b) {
        visit(run[0], start..start + run.len());
        start += run.len();
    }
}

/// The text from one token up to the next one after the range, with what stands between them.
fn between<'t>(text: &'t str, tokens: &[Token], range: Range<usize>) -> &'t str {
    let at = |token: usize| match tokens.get(token) {
        Some(_) if token == 0 => 0,
        Some(token) => text.floor_char_boundary(token.range.start),
        None => text.len(),
    };
    &text[at(range.start)..at(range.end)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::field::text::{TextOptions, Unit};

    fn explanation(a: &str, b: &str, options: &TextOptions) -> Explanation {
        let subject = |label: &str| Subject {
            label: label.into(),
            name: label.into(),
            size: 0.0,
            features: None,
            content: Content::Stored,
            sketches: Vec::new(),
        };
        let shingler = Shingler::new(options).unwrap();
        texts([&subject("A"), &subject("B")], [&a.to_owned(), &b.to_owned()], &shingler)
    }

    fn changes(explanation: &Explanation) -> Vec<(Change, &str)> {
        explanation.diff.iter().flatten().map(|segment| (segment.change, segment.text.as_str())).collect()
    }

    #[test]
    fn a_changed_word_is_removed_and_added() {
        let pairs = TextOptions { n: 2, ..Default::default() };
        let found = explanation("(The cat, sat down.)", "The dog sat down", &pairs);
        assert_eq!((found.shared.count, found.only[0].count, found.only[1].count), (1, 2, 2));
        assert_eq!(found.only[0].some, ["The cat", "cat, sat"]);
        use Change::{Added, Removed, Same};
        assert_eq!(
            changes(&found),
            [(Same, "The "), (Removed, "cat, "), (Added, "dog "), (Same, "sat down")]
        );
    }

    #[test]
    fn a_stray_equal_word_does_not_cut_a_changed_sentence() {
        let found = explanation(
            "a b c d e f g h i",
            "a b c d e x f y i",
            &TextOptions { n: 3, ..Default::default() },
        );
        use Change::{Added, Removed, Same};
        assert_eq!(
            changes(&found),
            [(Same, "a b c d e "), (Removed, "f g h "), (Added, "x f y "), (Same, "i")]
        );
    }

    #[test]
    fn a_passage_that_moved_is_told_from_one_that_is_gone() {
        let pairs = TextOptions { n: 2, ..Default::default() };
        let found = explanation("one two x three four five", "three four five one two", &pairs);
        use Change::{MovedAway, MovedHere, Removed, Same};
        let expected =
            [(MovedAway, "one two "), (Removed, "x "), (Same, "three four five "), (MovedHere, "one two")];
        assert_eq!(changes(&found), expected);
    }

    #[test]
    fn any_unit_and_script_gives_whole_characters() {
        for unit in [Unit::Words, Unit::Characters, Unit::Bytes] {
            let options = TextOptions { unit, n: 2, ..Default::default() };
            let found = explanation("größe 中文字 é", "grösse 中文 字é!", &options);
            let text: String = changes(&found)
                .iter()
                .filter(|(change, _)| !matches!(change, Change::Removed | Change::MovedAway))
                .map(|(_, text)| *text)
                .collect();
            assert_eq!(text, "grösse 中文 字é!", "{unit:?}");
        }
    }
}

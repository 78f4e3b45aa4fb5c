//! Texts in pieces: which parts of each are in the others.

use std::collections::HashSet;

use benzer_core::field::text::Shingler;
use serde::Serialize;

use crate::answer::covered;

/// Longer texts are not cut: nobody reads them side by side.
const MAX_TEXT: usize = 200_000;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The piece, as it was written.
    pub text: String,
    /// Places of the other documents whose shingles cover it.
    pub of: Vec<usize>,
}

/// Every text in pieces, each with the other documents that have it too; nothing if a text is missing or too long.
pub(super) fn passages(shingler: &Shingler, texts: &[Option<&str>]) -> Option<Vec<Vec<Passage>>> {
    let texts: Vec<&str> = texts.iter().map(|text| text.unwrap_or_default()).collect();
    if texts.iter().any(|text| text.len() > MAX_TEXT) {
        return None;
    }
    let shingles: Vec<_> = texts.iter().map(|text| shingler.shingles(text)).collect();
    let elements: Vec<HashSet<u64>> =
        shingles.iter().map(|list| list.iter().map(|shingle| shingle.element).collect()).collect();
    let cut = |(i, text): (usize, &&str)| {
        let masks: Vec<Vec<bool>> = (0..texts.len())
            .map(|other| {
                let shared = shingles[i]
                    .iter()
                    .filter(|shingle| other != i && elements[other].contains(&shingle.element));
                covered(text, shared.map(|shingle| shingle.range.clone()))
            })
            .collect();
        pieces(text, &masks)
    };
    Some(texts.iter().enumerate().map(cut).collect())
}

fn pieces(text: &str, masks: &[Vec<bool>]) -> Vec<Passage> {
    let members = |byte: usize| (0..masks.len()).filter(|&i| masks[i][byte]).collect::<Vec<usize>>();
    let mut pieces: Vec<Passage> = Vec::new();
    for (at, character) in text.char_indices() {
        let same =
            pieces.last().is_some_and(|last| (0..masks.len()).all(|i| masks[i][at] == last.of.contains(&i)));
        if !same {
            pieces.push(Passage { text: String::new(), of: members(at) });
        }
        pieces.last_mut().expect("one was pushed").text.push(character);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::field::text::{TextOptions, Unit};

    fn cut(texts: &[&str], options: TextOptions) -> Vec<Vec<(String, Vec<usize>)>> {
        let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(*text)).collect();
        let cut = passages(&Shingler::new(&options).unwrap(), &texts).unwrap();
        cut.into_iter().map(|list| list.into_iter().map(|piece| (piece.text, piece.of)).collect()).collect()
    }

    #[test]
    fn shared_words_are_marked_and_nothing_is_lost() {
        let texts = ["Then the quick brown fox ran", "the QUICK brown fox slept"];
        let cut = cut(&texts, TextOptions { n: 2, ..TextOptions::default() });
        let expected: Vec<(String, Vec<usize>)> =
            vec![("Then ".into(), vec![]), ("the quick brown fox".into(), vec![1]), (" ran".into(), vec![])];
        assert_eq!(cut[0], expected);
        for (text, pieces) in texts.iter().zip(&cut) {
            assert_eq!(pieces.iter().map(|piece| &*piece.0).collect::<String>(), *text);
        }
    }

    #[test]
    fn of_three_texts_each_piece_names_the_others() {
        let cut = cut(&["a b", "a c", "a b"], TextOptions { n: 1, ..TextOptions::default() });
        assert_eq!(cut[0], [("a".into(), vec![1, 2]), (" ".into(), vec![]), ("b".into(), vec![2])]);
    }

    #[test]
    fn pieces_of_bytes_are_whole_characters() {
        let text = "ééé".repeat(1_000);
        let cut = cut(&[&text, &text], TextOptions { unit: Unit::Bytes, n: 1_000, ..TextOptions::default() });
        assert_eq!(cut[0].len(), 1);
        let shingler = Shingler::new(&TextOptions::default()).unwrap();
        assert_eq!(passages(&shingler, &[Some(&"x".repeat(MAX_TEXT + 1)), Some("y")]), None);
    }
}

//! What two documents share in a field, and where.

use std::collections::HashSet;
use std::ops::Range;

use benzer_core::Features;
use benzer_core::field::{Content, Document, Schema, Value, values};
use benzer_core::hash;
use serde::Serialize;

/// Elements of each kind that are shown.
const SHOWN: usize = 10;

/// What two documents share in a field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Elements of both; for bags the sum of the smaller counts, rounded down.
    pub n_shared: u64,
    /// Elements of the query only.
    pub n_query: u64,
    /// Elements of the match only.
    pub n_match: u64,
    /// Some of those in both.
    pub shared: Vec<Piece>,
    /// Some that only the query has.
    pub query_only: Vec<Piece>,
    /// Some that only the match has.
    pub match_only: Vec<Piece>,
    /// The whole text of the query that shared shingles cover, as ranges of characters; for values their places in the list.
    pub query_covered: Vec<[usize; 2]>,
    /// The same of the match.
    pub match_covered: Vec<[usize; 2]>,
    /// Of pictures, the points that lie upon each other: column and row in the query, column and row in the match, in thousandths of their sides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[u16; 4]>,
}

/// A shingle or a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// As it was written, in the query if it is there.
    pub text: String,
    /// Where it first is in the query: from which character on, and up to which; for values the place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_query: Option<[usize; 2]>,
    /// Where it first is in the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_match: Option<[usize; 2]>,
}

/// A document of which a field is explained.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub document: &'a Document,
    /// Of the field.
    pub features: &'a Features,
}

/// An element of a document with what it came from.
struct Source<'a> {
    element: u64,
    text: std::borrow::Cow<'a, str>,
    /// Bytes of the text, or places of the list; counts have no order.
    at: Option<Range<usize>>,
}

/// What two documents share in a field.
pub(super) fn explain(schema: &Schema, field: &str, query: Side<'_>, found: Side<'_>) -> Explanation {
    let shared = query.features.intersection(found.features);
    let counts = Explanation {
        n_shared: shared as u64,
        n_query: (query.features.size() - shared) as u64,
        n_match: (found.features.size() - shared) as u64,
        ..Explanation::default()
    };
    #[cfg(feature = "image")]
    if let Some(evidence) = super::picture::evidence(schema, field, query.document, found.document) {
        let shared = vec![Piece { text: evidence.words, in_query: None, in_match: None }];
        return Explanation { shared, points: evidence.points, ..counts };
    }
    let sides = Sides::new(schema, field, [query.document, found.document]);
    Explanation {
        shared: sides.pieces(0, true),
        query_only: sides.pieces(0, false),
        match_only: sides.pieces(1, false),
        query_covered: sides.covered(0),
        match_covered: sides.covered(1),
        ..counts
    }
}

/// A field of two documents, the query first, element by element.
struct Sides<'a> {
    field: &'a str,
    documents: [&'a Document; 2],
    sources: [Vec<Source<'a>>; 2],
    elements: [HashSet<u64>; 2],
}

impl<'a> Sides<'a> {
    fn new(schema: &Schema, field: &'a str, documents: [&'a Document; 2]) -> Self {
        let sources = documents.map(|document| sources(schema, field, document));
        let elements = [0, 1].map(|i| sources[i].iter().map(|source| source.element).collect());
        Self { field, documents, sources, elements }
    }

    /// Where an element first is in a document.
    fn place(&self, side: usize, element: u64) -> Option<[usize; 2]> {
        let source = self.sources[side].iter().find(|source| source.element == element)?;
        Some(place(self.documents[side], self.field, source.at.clone()?))
    }

    /// Some elements of a document that the other has too, or has not.
    fn pieces(&self, side: usize, is_shared: bool) -> Vec<Piece> {
        let mut seen = HashSet::new();
        let wanted = |source: &&Source<'_>| {
            self.elements[1 - side].contains(&source.element) == is_shared && seen.insert(source.element)
        };
        let piece = |source: &Source<'_>| Piece {
            text: source.text.to_string(),
            in_query: self.place(0, source.element),
            in_match: self.place(1, source.element),
        };
        self.sources[side].iter().filter(wanted).take(SHOWN).map(piece).collect()
    }

    /// What of a document the other has too.
    fn covered(&self, side: usize) -> Vec<[usize; 2]> {
        let shared =
            self.sources[side].iter().filter(|source| self.elements[1 - side].contains(&source.element));
        cover(self.documents[side], self.field, shared.filter_map(|source| source.at.clone()))
    }
}

fn text<'a>(document: &'a Document, field: &str) -> Option<&'a str> {
    match document.fields.get(field) {
        Some(Content::Text(text)) => Some(text),
        _ => None,
    }
}

/// Bytes of a text as whole characters, counted.
fn place(document: &Document, field: &str, at: Range<usize>) -> [usize; 2] {
    let Some(text) = text(document, field) else { return [at.start, at.end] };
    let start = text[..text.floor_char_boundary(at.start)].chars().count();
    [start, start + text[text.floor_char_boundary(at.start)..text.ceil_char_boundary(at.end)].chars().count()]
}

/// Ranges put together: those of a text as characters.
fn cover(document: &Document, field: &str, ranges: impl Iterator<Item = Range<usize>>) -> Vec<[usize; 2]> {
    let mut covers: Vec<[usize; 2]> = Vec::new();
    let mut add = |at: usize| match covers.last_mut() {
        Some(last) if last[1] == at => last[1] = at + 1,
        _ => covers.push([at, at + 1]),
    };
    match text(document, field) {
        Some(text) => {
            let is_covered = covered(text, ranges);
            let characters = text.char_indices().enumerate().filter(|(_, (byte, _))| is_covered[*byte]);
            characters.for_each(|(i, _)| add(i));
        }
        None => ranges.for_each(|range| add(range.start)),
    }
    covers
}

/// For each byte whether it lies in some range, with whole characters. Ranges may be long and many: each costs two steps.
pub(crate) fn covered(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> Vec<bool> {
    let mut steps = vec![0i64; text.len() + 1];
    for range in ranges {
        steps[text.floor_char_boundary(range.start)] += 1;
        steps[text.ceil_char_boundary(range.end)] -= 1;
    }
    let mut depth = 0;
    let is_in = |step: i64| {
        depth += step;
        depth > 0
    };
    steps.into_iter().take(text.len()).map(is_in).collect()
}

/// The elements of a field with what they came from, in order.
fn sources<'a>(schema: &Schema, field: &str, document: &'a Document) -> Vec<Source<'a>> {
    match (document.fields.get(field), schema.shingler(field)) {
        (Some(Content::Text(text)), Some(shingler)) => {
            let whole = |range: &Range<usize>| {
                &text[text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)]
            };
            let sources = shingler.shingles(text).into_iter().map(|shingle| Source {
                element: shingle.element,
                text: whole(&shingle.range).into(),
                at: Some(shingle.range),
            });
            sources.collect()
        }
        (Some(Content::Values(all)), _) => {
            let text = |value: &'a Value| match value {
                Value::Text(text) => text.into(),
                Value::Integer(integer) => integer.to_string().into(),
            };
            let source = |(i, value): (usize, &'a Value)| Source {
                element: values::element(value),
                text: text(value),
                at: Some(i..i + 1),
            };
            all.iter().enumerate().map(source).collect()
        }
        (Some(Content::Counts(counts)), _) => counts
            .keys()
            .map(|value| Source { element: hash::element(value.as_bytes()), text: value.into(), at: None })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(schema: &str, contents: [Content; 2]) -> Explanation {
        let schema: Schema = serde_json::from_str(schema).unwrap();
        let [a, b] = contents.map(|content| Document::new("", [("x", content)]));
        let [f, g] = [&a, &b].map(|document| schema.features(document).unwrap().remove("x").unwrap());
        let (query, found) = (Side { document: &a, features: &f }, Side { document: &b, features: &g });
        explain(&schema, "x", query, found)
    }

    #[test]
    fn shingles_are_shown_where_they_are_in_both_texts() {
        let texts = ["Ünder the old bridge we met", "we slept: the OLD bridge fell"].map(Content::from);
        let schema = r#"{"fields": {"x": {"kind": "text", "n": 2}}}"#;
        let found = explained(schema, texts);
        assert_eq!((found.n_shared, found.n_query, found.n_match), (2, 3, 3));
        let shared: Vec<_> =
            found.shared.iter().map(|piece| (&*piece.text, piece.in_query, piece.in_match)).collect();
        let expected =
            [("the old", Some([6, 13]), Some([10, 17])), ("old bridge", Some([10, 20]), Some([14, 24]))];
        assert_eq!(shared, expected);
        assert_eq!((found.query_covered, found.match_covered), (vec![[6, 20]], vec![[10, 24]]));
        assert!(found.query_only.iter().all(|piece| piece.in_match.is_none() && piece.in_query.is_some()));
        assert_eq!(found.match_only[0].text, "we slept");
        assert_eq!(found.match_only[0].in_match, Some([0, 8]));
    }

    #[test]
    fn values_have_places_and_counts_have_none() {
        let schema = r#"{"fields": {"x": {"kind": "values"}}}"#;
        let found = explained(schema, [Content::values(["a", "b", "c"]), Content::values(["c", "b", "d"])]);
        let shared: Vec<_> =
            found.shared.iter().map(|piece| (&*piece.text, piece.in_query, piece.in_match)).collect();
        assert_eq!(shared, [("b", Some([1, 2]), Some([1, 2])), ("c", Some([2, 3]), Some([0, 1]))]);
        assert_eq!((found.query_covered, found.match_covered), (vec![[1, 3]], vec![[0, 2]]));
        let bag = r#"{"fields": {"x": {"kind": "values", "bag": true}}}"#;
        let counts = |text: &str| serde_json::from_str::<Content>(text).unwrap();
        let found = explained(bag, [counts(r#"{"a": 3, "b": 1}"#), counts(r#"{"a": 2}"#)]);
        assert_eq!((found.n_shared, &*found.shared[0].text, found.shared[0].in_query), (2, "a", None));
        assert!(found.query_covered.is_empty());
    }
}

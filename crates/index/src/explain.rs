//! What two documents share in a field, and where.

use std::collections::HashSet;
use std::ops::Range;

use benzer_core::Features;
use benzer_core::field::{Content, Document, Schema, Value, values};
use benzer_core::hash;
use serde::Serialize;

use crate::compare::covered;

/// Elements of each kind that are shown.
const SHOWN: usize = 10;

/// What two documents share in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// An element of a document with what it came from.
struct Found<'a> {
    element: u64,
    text: std::borrow::Cow<'a, str>,
    /// Bytes of the text, or places of the list; counts have no order.
    at: Option<Range<usize>>,
}

/// What two documents share in a field.
pub(crate) fn explain(
    schema: &Schema,
    field: &str,
    documents: (&Document, &Document),
    (a, b): (&Features, &Features),
) -> Explanation {
    let documents = [documents.0, documents.1];
    let shared = a.intersection(b);
    #[cfg(feature = "image")]
    if let Some((evidence, points)) = crate::picture::evidence(schema, field, documents[0], documents[1]) {
        return Explanation {
            n_shared: shared as u64,
            n_query: (a.size() - shared) as u64,
            n_match: (b.size() - shared) as u64,
            shared: vec![Piece { text: evidence, in_query: None, in_match: None }],
            query_only: Vec::new(),
            match_only: Vec::new(),
            query_covered: Vec::new(),
            match_covered: Vec::new(),
            points,
        };
    }
    let found = documents.map(|document| found(schema, field, document));
    let elements = [0, 1].map(|i| found[i].iter().map(|piece| piece.element).collect::<HashSet<u64>>());
    let place = |i: usize, element: u64| {
        let piece = found[i].iter().find(|piece| piece.element == element)?;
        Some(place(documents[i], field, piece.at.clone()?))
    };
    let some = |i: usize, is_shared: bool| {
        let mut seen = HashSet::new();
        let wanted = |piece: &&Found<'_>| {
            elements[1 - i].contains(&piece.element) == is_shared && seen.insert(piece.element)
        };
        let piece = |piece: &Found<'_>| Piece {
            text: piece.text.to_string(),
            in_query: place(0, piece.element),
            in_match: place(1, piece.element),
        };
        found[i].iter().filter(wanted).take(SHOWN).map(piece).collect::<Vec<Piece>>()
    };
    let covered = |i: usize| {
        let shared = found[i].iter().filter(|piece| elements[1 - i].contains(&piece.element));
        let ranges = shared.filter_map(|piece| piece.at.clone());
        cover(documents[i], field, ranges)
    };
    Explanation {
        n_shared: shared as u64,
        n_query: (a.size() - shared) as u64,
        n_match: (b.size() - shared) as u64,
        shared: some(0, true),
        query_only: some(0, false),
        match_only: some(1, false),
        query_covered: covered(0),
        match_covered: covered(1),
        points: Vec::new(),
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

/// The elements of a field with what they came from, in order.
fn found<'a>(schema: &Schema, field: &str, document: &'a Document) -> Vec<Found<'a>> {
    match (document.fields.get(field), schema.shingler(field)) {
        (Some(Content::Text(text)), Some(shingler)) => {
            let whole = |range: &Range<usize>| {
                &text[text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)]
            };
            let found = shingler.shingles(text).into_iter().map(|shingle| Found {
                element: shingle.element,
                text: whole(&shingle.range).into(),
                at: Some(shingle.range),
            });
            found.collect()
        }
        (Some(Content::Values(all)), _) => {
            let text = |value: &'a Value| match value {
                Value::Text(text) => text.into(),
                Value::Integer(integer) => integer.to_string().into(),
            };
            let found = |(i, value): (usize, &'a Value)| Found {
                element: values::element(value),
                text: text(value),
                at: Some(i..i + 1),
            };
            all.iter().enumerate().map(found).collect()
        }
        (Some(Content::Counts(counts)), _) => counts
            .keys()
            .map(|value| Found { element: hash::element(value.as_bytes()), text: value.into(), at: None })
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
        explain(&schema, "x", (&a, &b), (&f, &g))
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

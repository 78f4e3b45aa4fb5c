//! The exact similarity of documents that are kept, and what makes it.

use std::collections::{BTreeMap, HashSet};

use benzer_core::Features;
use benzer_core::field::{Content, Document, Schema, Value, values};
use benzer_core::hash;

use crate::error::{Error, Result};
use crate::query::Explanation;

/// Elements of each kind that an explanation shows.
const SHOWN: usize = 10;

/// The kept contents of a document.
pub(crate) fn document(id: &[u8], contents: &[u8]) -> Result<Document> {
    let fields: BTreeMap<String, Content> = serde_json::from_slice(contents).map_err(|error| {
        Error::incompatible(
            "the contents of a document as JSON",
            format!("{error} in `{}`", String::from_utf8_lossy(id)),
        )
    })?;
    Ok(Document { id: String::from_utf8_lossy(id).into_owned(), fields })
}

/// The weighted mean of the fields that are not empty in both: `(weight, of one document, of the other)`.
pub(crate) fn similarity<'a>(fields: impl Iterator<Item = (f64, &'a Features, &'a Features)>) -> Option<f64> {
    let (mut sum, mut all) = (0.0, 0.0);
    for (weight, a, b) in fields {
        if let Some(jaccard) = jaccard(a, b) {
            sum += weight * jaccard;
            all += weight;
        }
    }
    (all > 0.0).then(|| sum / all)
}

/// The similarity of one field: nothing if it is empty in both documents, zero if it is in one.
pub(crate) fn jaccard(a: &Features, b: &Features) -> Option<f64> {
    if a.is_empty() && b.is_empty() { None } else { Some(a.jaccard(b).unwrap_or_default()) }
}

/// What two documents share in a field.
pub(crate) fn explain(
    schema: &Schema,
    field: &str,
    (query, found): (&Document, &Document),
    (a, b): (&Features, &Features),
) -> Explanation {
    let shared = a.intersection(b);
    let pieces = [query, found].map(|document| pieces(schema, field, document));
    let elements = [0, 1].map(|i| pieces[i].iter().map(|piece| piece.0).collect::<HashSet<u64>>());
    let some = |i: usize, wanted: &dyn Fn(u64) -> bool| {
        let mut seen = HashSet::new();
        let pieces = pieces[i].iter().filter(|(element, _)| wanted(*element) && seen.insert(*element));
        pieces.take(SHOWN).map(|(_, text)| text.clone()).collect::<Vec<String>>()
    };
    #[cfg(feature = "image")]
    if let Some((evidence, points)) = crate::picture::evidence(schema, field, query, found) {
        return Explanation {
            n_shared: shared as u64,
            n_query: (a.size() - shared) as u64,
            n_match: (b.size() - shared) as u64,
            shared: vec![evidence],
            query_only: Vec::new(),
            match_only: Vec::new(),
            points,
        };
    }
    Explanation {
        n_shared: shared as u64,
        n_query: (a.size() - shared) as u64,
        n_match: (b.size() - shared) as u64,
        shared: some(0, &|element| elements[1].contains(&element)),
        query_only: some(0, &|element| !elements[1].contains(&element)),
        match_only: some(1, &|element| !elements[0].contains(&element)),
        points: Vec::new(),
    }
}

/// The elements of a field with the text they came from, in order.
fn pieces(schema: &Schema, field: &str, document: &Document) -> Vec<(u64, String)> {
    match (document.fields.get(field), schema.shingler(field)) {
        (Some(Content::Text(text)), Some(shingler)) => {
            let whole = |range: std::ops::Range<usize>| {
                text[text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)].to_owned()
            };
            shingler
                .shingles(text)
                .into_iter()
                .map(|shingle| (shingle.element, whole(shingle.range)))
                .collect()
        }
        (Some(Content::Values(all)), _) => {
            let text = |value: &Value| match value {
                Value::Text(text) => text.clone(),
                Value::Integer(integer) => integer.to_string(),
            };
            all.iter().map(|value| (values::element(value), text(value))).collect()
        }
        (Some(Content::Counts(counts)), _) => {
            counts.keys().map(|value| (hash::element(value.as_bytes()), value.clone())).collect()
        }
        _ => Vec::new(),
    }
}

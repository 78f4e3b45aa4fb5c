//! Two or three documents side by side: exact where there is content, estimated from sketches, field by field and together.

mod cells;
mod passages;

use benzer_core::Features;
use benzer_core::estimate::{Estimate, of};
use benzer_core::field::{Content, Document};
use benzer_core::sketch::Sketch;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::index::Index;
use crate::query::{Criteria, Query};
use crate::record::Recorder;
use crate::score::{RecordPair, Scorer, exact};
use crate::settings::{FieldLayout, Settings};
use crate::store::Parts;

pub use cells::Cell;
pub use passages::Passage;

/// A document to compare: its sketches, and its contents where they are known.
#[derive(Debug)]
pub struct Subject {
    words: Vec<u64>,
    content: Option<(Document, Vec<Features>)>,
}

impl Subject {
    /// A document that need not be in a collection.
    ///
    /// # Errors
    /// Content that does not suit its field.
    pub fn new(recorder: &Recorder, document: Document) -> Result<Self> {
        let features = recorder.features(&document)?;
        let mut words = Vec::new();
        recorder.words(&features, &mut words)?;
        Ok(Self { words, content: Some((document, features)) })
    }

    fn features(&self, field: usize) -> Option<&Features> {
        self.content.as_ref().map(|(_, features)| &features[field])
    }

    fn text(&self, field: &str) -> Option<&str> {
        match self.content.as_ref()?.0.fields.get(field)? {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// All that there is to say about two or three documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The similarity of whole documents, pair by pair: the weighted mean of their fields.
    pub pairs: Vec<Together>,
    /// Field by field. A field that is empty in all documents is left out.
    pub fields: Vec<ComparedField>,
}

/// Two whole documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Together {
    /// Their places in the list.
    pub of: [usize; 2],
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact similarity, where contents are known.
    pub exact: Option<f64>,
}

/// One field of all documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedField {
    /// Its name.
    pub field: String,
    /// The number of elements of each document.
    pub sizes: Vec<f64>,
    /// Pair by pair.
    pub pairs: Vec<ComparedPair>,
    /// All three, if they are three.
    pub three_way: Option<ThreeWay>,
    /// Every cell of the Venn diagram.
    pub cells: Vec<Cell>,
    /// For each document its text in pieces, with the others that have them too; only if it was asked for.
    pub passages: Option<Vec<Vec<Passage>>>,
}

/// One field of two documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedPair {
    /// Their places in the list.
    pub of: [usize; 2],
    /// Estimated resemblance.
    pub estimate: Estimate,
    /// Estimated share of each that is in the other.
    pub containment: [Estimate; 2],
    /// Estimated number of elements in both.
    pub intersection: Estimate,
    /// The exact numbers, where contents are known.
    pub exact: Option<ExactPair>,
}

/// Exact numbers of two sets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExactPair {
    /// Resemblance; nothing if both are empty.
    pub jaccard: Option<f64>,
    /// The share of each that is in the other; nothing if it is empty.
    pub containment: [Option<f64>; 2],
    /// Elements in both.
    pub intersection: f64,
    /// Elements in any.
    pub union: f64,
}

/// Three-way resemblance: elements in all three over elements in any.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreeWay {
    /// What the sketches say.
    pub estimate: Estimate,
    /// The exact one, where contents are known.
    pub exact: Option<f64>,
}

impl Index {
    /// A document of the collection, to compare it.
    ///
    /// # Errors
    /// No such document; what the store says.
    pub fn subject(&self, id: &str) -> Result<Subject> {
        let view = self.store().view()?;
        let missing = || Error::NoDocument { id: id.to_owned() };
        let number = view.numbers(&[id.as_bytes()])?.pop().flatten().ok_or_else(missing)?;
        let mut subject = None;
        view.records(&[number], Parts::All, &mut |_, record| {
            let document = record.kept_document()?;
            let features =
                |document| self.recorder().features(&document).map(|features| (document, features));
            let content = document.map(features).transpose()?;
            subject = Some(Subject { words: record.words.to_vec(), content });
            Ok(())
        })?;
        subject.ok_or_else(missing)
    }
}

/// Compares two or three documents that were recorded under the same settings.
///
/// # Errors
/// Another number of documents.
pub fn compare(settings: &Settings, subjects: &[Subject], with_passages: bool) -> Result<Comparison> {
    if !(2..=3).contains(&subjects.len()) {
        return Err(Error::parameter("documents", "two or three", subjects.len()));
    }
    let layout = settings.layout()?;
    let scorer = Scorer::new(&layout)?;
    let criteria = Criteria::new(settings, &Query::default())?;
    let together = |of: [usize; 2]| -> Result<Together> {
        let ([a, b], mut parts) = (of.map(|i| &subjects[i]), Vec::new());
        scorer.parts(&layout, &criteria, RecordPair { query: &a.words, found: &b.words }, &mut parts)?;
        let exact = a.content.as_ref().zip(b.content.as_ref()).and_then(|(a, b)| {
            let value = |&i: &usize| Some((i, criteria.measure.exact(&a.1[i], &b.1[i])?));
            let values: Vec<(usize, f64)> = criteria.fields.iter().filter_map(value).collect();
            criteria.exact(&values).map(|(similarity, _)| similarity)
        });
        Ok(Together { of, estimate: criteria.together(&parts), exact })
    };
    let mut fields = Vec::new();
    for (place, field) in layout.fields().iter().enumerate() {
        fields.extend(compared_field(settings, field, place, subjects, with_passages)?);
    }
    Ok(Comparison { pairs: pairs(subjects.len()).map(together).collect::<Result<_>>()?, fields })
}

fn pairs(n: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| [i, j]))
}

fn compared_field(
    settings: &Settings,
    field: &FieldLayout,
    place: usize,
    subjects: &[Subject],
    with_passages: bool,
) -> Result<Option<ComparedField>> {
    let sizes: Vec<f64> = subjects.iter().map(|subject| field.size(&subject.words)).collect();
    if sizes.iter().all(|size| *size <= 0.0) {
        return Ok(None);
    }
    let sketches = subjects.iter().map(|subject| field.to_sketch(&subject.words));
    let sketches = sketches.collect::<benzer_core::Result<Vec<_>>>()?;
    let features: Vec<Option<&Features>> = subjects.iter().map(|subject| subject.features(place)).collect();
    let pair = |of: [usize; 2]| compared_pair(of, of.map(|i| &sketches[i]), of.map(|i| features[i]));
    let all_features: Option<Vec<&Features>> = features.iter().copied().collect();
    let cells = cells::cells(&field.spec, &sketches, all_features.as_deref());
    let three_way = match &sketches[..] {
        [a, b, c] => Some(ThreeWay {
            estimate: of::three_way(a, b, c)?,
            exact: all_features.is_some().then(|| cells::resemblance(&cells)).flatten(),
        }),
        _ => None,
    };
    let passages = || {
        let texts: Vec<Option<&str>> = subjects.iter().map(|subject| subject.text(&field.name)).collect();
        passages::passages(settings.schema.shingler(&field.name)?, &texts)
    };
    Ok(Some(ComparedField {
        field: field.name.clone(),
        pairs: pairs(subjects.len()).map(pair).collect::<Result<_>>()?,
        three_way,
        cells,
        passages: with_passages.then(passages).flatten(),
        sizes,
    }))
}

fn compared_pair(
    of: [usize; 2],
    [a, b]: [&Sketch; 2],
    features: [Option<&Features>; 2],
) -> Result<ComparedPair> {
    Ok(ComparedPair {
        of,
        estimate: of::jaccard(a, b)?,
        containment: of::containment(a, b)?,
        intersection: of::intersection(a, b)?,
        exact: features[0].zip(features[1]).map(|(a, b)| exact_pair(a, b)),
    })
}

fn exact_pair(a: &Features, b: &Features) -> ExactPair {
    let intersection = a.intersection(b);
    let share = |of: &Features| (!of.is_empty()).then(|| intersection / of.size());
    ExactPair {
        jaccard: exact::jaccard(a, b),
        containment: [share(a), share(b)],
        intersection,
        union: a.union(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Keeps;
    use crate::store;

    fn index(keeps: Keeps) -> Index {
        let schema =
            r#"{"fields": {"body": {"kind": "text", "n": 2}, "tags": {"kind": "values", "weight": 3}}}"#;
        let settings =
            Settings::with_target(serde_json::from_str(schema).unwrap(), 0.8, 0.95, keeps).unwrap();
        let index = Index::new(store::memory(settings).unwrap()).unwrap();
        index.insert(&documents()).unwrap();
        index
    }

    fn documents() -> [Document; 3] {
        let document = |id: &str, body: &str, tags: [&str; 2]| {
            Document::new(id, [("body", Content::from(body)), ("tags", Content::values(tags))])
        };
        [
            document("a", "one two three four five", ["x", "y"]),
            document("b", "one two three four six", ["x", "y"]),
            document("c", "zero one two three seven", ["x", "z"]),
        ]
    }

    #[test]
    fn contents_give_exact_numbers_field_by_field_and_together() {
        let index = index(Keeps::Documents);
        let subjects = ["a", "b", "c"].map(|id| index.subject(id).unwrap());
        let compared = compare(index.settings(), &subjects, true).unwrap();
        let [body, tags] = &compared.fields[..] else { panic!("{compared:?}") };
        // 4 shingles each; a and b share 3, all three share 2 ("one two", "two three").
        assert_eq!(body.pairs[0].exact.as_ref().unwrap().jaccard, Some(3.0 / 5.0));
        assert_eq!(body.three_way.as_ref().unwrap().exact, Some(2.0 / 7.0));
        assert_eq!(tags.three_way.as_ref().unwrap().exact, Some(1.0 / 3.0));
        assert_eq!(compared.pairs[0].exact, Some((3.0 / 5.0 + 3.0 * 1.0) / 4.0));
        assert_eq!(body.cells.len(), 7);
        assert_eq!(body.cells.iter().map(|cell| cell.exact.unwrap()).sum::<f64>(), 7.0);
        assert!(tags.passages.is_none() && body.passages.as_ref().unwrap().len() == 3);
    }

    #[test]
    fn without_contents_there_are_estimates() {
        let index = index(Keeps::Sketches);
        let [a, b, _] = documents();
        let subjects = [
            Subject::new(index.recorder(), a).unwrap(),
            index.subject("b").unwrap(),
            index.subject("c").unwrap(),
        ];
        let compared = compare(index.settings(), &subjects, true).unwrap();
        let body = &compared.fields[0];
        let estimate = body.pairs[0].estimate.measured().unwrap();
        assert!(estimate.low <= 0.6 && 0.6 <= estimate.high, "{estimate:?}");
        assert!(body.pairs[0].exact.is_none() && body.cells.iter().all(|cell| cell.exact.is_none()));
        assert!(body.three_way.as_ref().unwrap().estimate.value().is_some());
        assert_eq!(body.sizes, [4.0; 3]);
        let same = Subject::new(index.recorder(), b).unwrap();
        let compared = compare(index.settings(), &[same, index.subject("b").unwrap()], false).unwrap();
        assert_eq!(compared.pairs[0].estimate.value(), Some(1.0));
    }

    #[test]
    fn one_or_four_documents_are_refused_and_missing_ones_named() {
        let index = index(Keeps::Documents);
        let one = [index.subject("a").unwrap()];
        assert!(compare(index.settings(), &one, false).unwrap_err().to_string().contains("two or three"));
        assert!(index.subject("q").unwrap_err().to_string().contains("`q`"));
    }

    #[test]
    fn empty_documents_have_no_fields() {
        let index = index(Keeps::Documents);
        let empty = || Subject::new(index.recorder(), Document::new::<String>("", [])).unwrap();
        let compared = compare(index.settings(), &[empty(), empty()], true).unwrap();
        assert!(compared.fields.is_empty());
        assert_eq!(compared.pairs[0].exact, None);
        let one = compare(index.settings(), &[empty(), index.subject("a").unwrap()], true).unwrap();
        assert_eq!(one.pairs[0].exact, Some(0.0));
    }
}

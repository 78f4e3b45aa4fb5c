//! What every store must do, as one suite that runs against each of them.
//!
//! ```text
//! conformance::run(&mut |settings| open a new, empty collection);
//! ```

mod searching;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use benzer_core::field::{Content, Document, Schema};
use benzer_core::hash;

use crate::error::Result;
use crate::index::Index;
use crate::query::Query;
use crate::record::Records;
use crate::settings::{Keeps, Settings};
use crate::store::{Cursor, Parts, Postings, Store};

/// Makes an empty collection of some settings.
pub type Make<'a> = &'a mut dyn FnMut(Settings) -> Result<Arc<dyn Store>>;

/// What others see at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomic {
    /// A batch; a view does not change.
    Batch,
    /// A document; a view shows what comes later. Only Redis is so.
    #[cfg_attr(not(feature = "redis"), expect(dead_code))]
    Document,
}

/// Runs everything; a store that does not conform panics with the sentence that it breaks.
///
/// # Panics
/// If the store does not conform.
pub fn run(make: Make<'_>) {
    run_atomic(Atomic::Batch, make);
}

/// Runs everything that a store can promise for which this is atomic.
///
/// # Panics
/// If the store does not conform.
pub fn run_atomic(atomic: Atomic, make: Make<'_>) {
    an_empty_collection_has_nothing(make);
    what_is_put_is_found(make);
    an_id_seen_again_replaces_the_old_document(make);
    removed_documents_are_gone(make);
    ids_are_any_text(make);
    empty_fields_have_no_keys(make);
    documents_expire(make);
    every_document_is_there_at_every_moment(make);
    if atomic == Atomic::Batch {
        a_view_does_not_change(make);
    }
    many_operations_agree_with_a_model(make);
    compacting_changes_nothing_that_is_found(make);
    searching::run(make);
}

fn settings(keeps: Keeps) -> Settings {
    let schema = r#"{"fields": {"body": {"kind": "text", "n": 1}, "tags": {"kind": "values"}}}"#;
    let schema: Schema = serde_json::from_str(schema).expect("a schema");
    Settings::with_target(schema, 0.7, 0.95, keeps).expect("settings")
}

fn made(make: Make<'_>, keeps: Keeps) -> Index {
    Index::new(make(settings(keeps)).expect("a store")).expect("an index")
}

/// A text of 40 words: documents of one family share all but a few of them.
fn document(id: impl Into<String>, family: u64, member: u64) -> Document {
    let word = |i: u64| match i < 36 {
        true => format!("w{:x}", hash::mix(family * 1000 + i) >> 40),
        false => format!("m{:x}", hash::mix(family * 7919 + member * 131 + i) >> 40),
    };
    let text: Vec<String> = (0..40).map(word).collect();
    Document::new(id, [("body", Content::from(text.join(" ")))])
}

fn found(index: &Index, document: &Document) -> BTreeSet<String> {
    let query = Query { limit: 10_000, ..Query::default() };
    let answer = index.search(document, &query).expect("an answer");
    answer.matches.into_iter().map(|found| found.id).collect()
}

fn set<const N: usize>(ids: [&str; N]) -> BTreeSet<String> {
    ids.into_iter().map(str::to_owned).collect()
}

fn an_empty_collection_has_nothing(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    assert_eq!(index.stats().expect("stats").documents, 0);
    assert!(found(&index, &document("a", 1, 1)).is_empty());
    assert_eq!(index.get("a").expect("an answer"), None);
    assert_eq!(index.remove(&["a"]).expect("an answer"), 0);
    assert_eq!(index.insert(&[]).expect("nothing is put").n_inserted(), 0);
    index.compact().expect("nothing to do");
}

fn what_is_put_is_found(make: Make<'_>) {
    for keeps in [Keeps::Documents, Keeps::Sketches] {
        let index = made(make, keeps);
        let documents: Vec<Document> = (0..60).map(|i| document(format!("d{i}"), i / 3, i % 3)).collect();
        assert_eq!(index.insert(&documents[..20]).expect("put").n_inserted(), 20);
        index.insert(&documents[20..]).expect("put");
        assert_eq!(found(&index, &documents[7]), set(["d6", "d8"]));
        assert_eq!(found(&index, &documents[59]), set(["d57", "d58"]));
        let kept = index.get("d7").expect("an answer");
        assert_eq!(kept, (keeps == Keeps::Documents).then(|| documents[7].clone()));
        let answer = index.search_id("d7", &Query::default()).expect("an answer");
        assert_eq!(answer.matches.iter().all(|found| found.exact.is_some()), keeps == Keeps::Documents);
        assert_eq!(answer.matches.len(), 2);
        let sketches = index.sketch("d7").expect("an answer").expect("it is there");
        assert_eq!(sketches.len(), 1);
        let mut pairs = BTreeSet::new();
        index
            .duplicates(None, |a, b, estimate| {
                assert!(estimate.value().is_some_and(|value| value >= 0.7));
                assert!(pairs.insert((a.to_owned(), b.to_owned())), "{a}, {b}");
                Ok(())
            })
            .expect("pairs");
        assert!(pairs.len() >= 55 && pairs.len() <= 60, "{}", pairs.len());
    }
}

fn an_id_seen_again_replaces_the_old_document(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    index.insert(&[document("a", 1, 1), document("b", 2, 1)]).expect("put");
    index.insert(&[document("a", 3, 1)]).expect("put");
    assert!(found(&index, &document("", 1, 2)).is_empty());
    assert_eq!(found(&index, &document("", 3, 2)), set(["a"]));
    assert_eq!(index.stats().expect("stats").documents, 2);
    // Within a batch the last one counts.
    index.insert(&[document("c", 4, 1), document("c", 5, 1), document("b", 2, 1)]).expect("put");
    assert!(found(&index, &document("", 4, 2)).is_empty());
    assert_eq!(found(&index, &document("", 5, 2)), set(["c"]));
    assert_eq!(found(&index, &document("", 2, 2)), set(["b"]));
    assert_eq!(index.stats().expect("stats").documents, 3);
    // In a large batch too.
    let many = (0..1500).map(|i| document(format!("m{}", i % 1000), 100 + i, 1)).collect::<Vec<_>>();
    index.insert(&many).expect("put");
    assert_eq!(index.stats().expect("stats").documents, 1003);
    assert_eq!(found(&index, &document("", 100 + 1200, 2)), set(["m200"]));
    assert!(found(&index, &document("", 100 + 200, 2)).is_empty());
}

fn removed_documents_are_gone(make: Make<'_>) {
    let index = made(make, Keeps::Sketches);
    let documents: Vec<Document> = (0..1000).map(|i| document(format!("d{i}"), i / 2, i % 2)).collect();
    index.insert(&documents).expect("put");
    assert_eq!(index.remove(&["d4", "nobody", "d4"]).expect("removed"), 1);
    assert!(found(&index, &documents[5]).is_empty());
    assert_eq!(found(&index, &documents[6]), set(["d7"]));
    let stats = index.stats().expect("stats");
    assert_eq!(stats.documents, 999);
    index.insert(&documents[4..5]).expect("put");
    assert_eq!(found(&index, &documents[5]), set(["d4"]));
}

fn ids_are_any_text(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    let long = "x".repeat(500);
    let ids = ["", " ", "ä/ö", "\u{1F600}", "a\nb", "a\0b", "a\0", "a", &long];
    let documents: Vec<Document> = ids.iter().zip(0..).map(|(id, i)| document(*id, i, 1)).collect();
    // An index refuses the empty id; stores have some of before that was so.
    assert!(index.insert(&documents[..1]).expect("put").outcomes[0].is_err());
    let mut records = Records::default();
    for document in &documents {
        index.recorder().record(document, 0, &mut records).expect("a record");
    }
    index.store().put(records).expect("put");
    for (id, i) in ids.iter().zip(0..) {
        assert_eq!(index.get(id).expect("an answer").map(|found| found.id).as_deref(), Some(*id));
        assert_eq!(found(&index, &document("probe", i, 2)), set([id]));
    }
    assert_eq!(index.remove(&ids[..4]).expect("removed"), 4);
    assert_eq!(index.stats().expect("stats").documents, 5);
}

fn empty_fields_have_no_keys(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    let tags = |id: &str, tags: &[&str]| Document::new(id, [("tags", Content::values(tags.iter().copied()))]);
    let nothing = Document::new("nothing", [("body", Content::from(" ... "))]);
    let both = Document::new(
        "both",
        [("body", Content::from("a b c d")), ("tags", Content::values(["x", "y", "z"]))],
    );
    index.insert(&[tags("tags", &["x", "y", "z"]), nothing.clone(), both.clone()]).expect("put");
    // Empty in both documents is left out; empty in one counts as zero.
    assert_eq!(found(&index, &tags("", &["x", "y", "z"])), set(["tags"]));
    assert!(found(&index, &nothing).is_empty());
    let only_tags = Query { fields: vec!["tags".to_owned()], ..Query::default() };
    let answer = index.search(&both, &only_tags).expect("an answer");
    assert_eq!(answer.matches.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["tags"]);
}

fn documents_expire(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    let documents: Vec<Document> = (0..4).map(|i| document(format!("d{i}"), 1, i)).collect();
    let times = [None, Some(1), Some(u64::MAX), Some(0)];
    index.insert_until(&documents, |i| times[i]).expect("put");
    // What is gone is not found, also before it is removed.
    assert!(index.get("d1").expect("an answer").is_none() && index.get("d2").expect("an answer").is_some());
    assert!(index.sketch("d1").expect("an answer").is_none());
    assert!(index.search_id("d3", &Query::default()).is_err());
    assert_eq!(found(&index, &document("", 1, 9)), set(["d0", "d2"]));
    assert_eq!(index.expire().expect("expired"), 2);
    assert_eq!(index.expire().expect("expired"), 0);
    assert_eq!(index.stats().expect("stats").documents, 2);
}

fn every_document_is_there_at_every_moment(make: Make<'_>) {
    let index = made(make, Keeps::Sketches);
    let versions: Vec<Vec<Document>> =
        (0..2).map(|v| (0..20).map(|i| document(format!("d{i}"), 50 + v, i)).collect()).collect();
    index.insert(&versions[0]).expect("put");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..60 {
                index.insert(&versions[i % 2]).expect("put");
            }
            done.store(true, Ordering::Relaxed);
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut is_last = false;
                while !is_last {
                    is_last = done.load(Ordering::Relaxed);
                    let view = index.store().view().expect("a view");
                    let mut seen = BTreeMap::new();
                    view.scan(Cursor::START, usize::MAX, Parts::Sketches, &mut |_, record| {
                        let old = seen.insert(record.id.to_vec(), record.words.to_vec());
                        assert!(old.is_none(), "an id is seen once");
                        Ok(())
                    })
                    .expect("a scan");
                    assert_eq!(seen.len(), 20, "every document is there at every moment");
                }
            });
        }
    });
}

fn a_view_does_not_change(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    index.insert(&[document("a", 1, 1), document("b", 2, 1)]).expect("put");
    let view = index.store().view().expect("a view");
    let number = view.numbers(&[b"a"]).expect("numbers")[0].expect("it is there");
    index.insert(&[document("a", 3, 1), document("c", 1, 2)]).expect("put");
    index.remove(&["b"]).expect("removed");
    index.compact().expect("compacted");
    let mut ids = Vec::new();
    let next = view.scan(Cursor::START, usize::MAX, Parts::All, &mut |_, record| {
        ids.push(String::from_utf8_lossy(record.id).into_owned());
        Ok(())
    });
    next.expect("a scan");
    assert_eq!(ids, ["a", "b"]);
    let mut words = Vec::new();
    view.records(&[number], Parts::All, &mut |_, record| {
        words = record.words.to_vec();
        Ok(())
    })
    .expect("records");
    let (mut keys, mut postings) = (Vec::new(), Postings::default());
    index.recorder().layout().keys(&words, |key| keys.push(key));
    view.postings(&keys, &mut postings).expect("postings");
    assert!(!keys.is_empty() && (0..keys.len()).all(|i| postings.of(i) == [number]));
}

/// A model of a collection: families and members by id.
fn many_operations_agree_with_a_model(make: Make<'_>) {
    let index = made(make, Keeps::Sketches);
    let mut model: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut random = hash::stream(7);
    let mut next = move |below: u64| random.next().expect("an endless stream") % below;
    for step in 0..120 {
        match next(8) {
            0 => {
                let ids: Vec<String> = (0..next(20)).map(|_| format!("d{}", next(400))).collect();
                let there = ids
                    .iter()
                    .collect::<BTreeSet<_>>()
                    .iter()
                    .filter(|id| model.remove(**id).is_some())
                    .count();
                assert_eq!(index.remove(&ids).expect("removed"), there as u64);
            }
            1 => index.compact().expect("compacted"),
            size => {
                let n = if size == 2 { 300 } else { 1 + next(30) };
                let batch: Vec<(String, u64, u64)> =
                    (0..n).map(|_| (format!("d{}", next(400)), next(60), next(1000))).collect();
                let documents: Vec<Document> =
                    batch.iter().map(|(id, f, m)| document(id.as_str(), *f, *m)).collect();
                index.insert(&documents).expect("put");
                model.extend(batch.into_iter().map(|(id, f, m)| (id, (f, m))));
            }
        }
        assert_eq!(index.stats().expect("stats").documents, model.len() as u64, "step {step}");
        let family = next(60);
        let expected: BTreeSet<String> =
            model.iter().filter(|(_, (other, _))| *other == family).map(|(id, _)| id.clone()).collect();
        let probe = document("probe", family, 5000);
        let found = found(&index, &probe);
        assert!(found.is_subset(&expected), "step {step}");
        // Members of a family have a similarity of 0.82, which bands for 0.7 nearly always find; the estimate may be low.
        assert!(found.len() * 10 >= expected.len() * 9, "step {step}: {} of {}", found.len(), expected.len());
    }
}

fn compacting_changes_nothing_that_is_found(make: Make<'_>) {
    let index = made(make, Keeps::Documents);
    let documents: Vec<Document> = (0..900).map(|i| document(format!("d{i}"), i / 4, i % 4)).collect();
    for batch in documents.chunks(70) {
        index.insert(batch).expect("put");
    }
    index.remove(&["d1", "d500"]).expect("removed");
    let probe = |i: usize| found(&index, &documents[i]);
    let before: Vec<_> = (0..900).step_by(17).map(probe).collect();
    index.compact().expect("compacted");
    let after: Vec<_> = (0..900).step_by(17).map(probe).collect();
    assert_eq!(before, after);
    let stats = index.stats().expect("stats");
    assert_eq!((stats.documents, stats.removed), (898, 0));
    // Records that do not fit the layout are refused, and nothing changes.
    let wrong = Records { ids: ["x"].into_iter().collect(), words: vec![1, 2, 3], ..Records::default() };
    assert!(index.store().put(wrong).is_err());
    assert_eq!(index.stats().expect("stats").documents, 898);
}

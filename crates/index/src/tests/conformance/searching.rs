//! What searches of every store must find after a history of inserts, updates and removals: as much as they say, compared with looking at every document.

use std::collections::{BTreeMap, BTreeSet};

use benzer_core::field::{Content, Document, Schema, Value};
use benzer_core::hash;

use super::Make;
use crate::answer::Answer;
use crate::index::{Index, Triple};
use crate::query::{Measure, Query, QueryDocument};
use crate::record::{DocNo, Record};
use crate::settings::{BandRange, Containment, Keeps, Settings};
use crate::store::{Cursor, Parts, Postings};

/// Sets of a family have most of this many elements in common.
const BASE: u64 = 60;
const FAMILIES: u64 = 36;
const MEMBERS: u64 = 11;

/// A collection with a history, and what is in it.
struct Lived {
    index: Index,
    sets: BTreeMap<String, BTreeSet<u64>>,
}

/// Runs everything.
///
/// # Panics
/// If a search finds less than it says, or something else than brute force.
pub(super) fn run(make: Make<'_>) {
    let lived = live(make);
    similar_documents_are_found_as_often_as_promised(&lived);
    for measure in [Measure::Containing, Measure::Contained] {
        containment_is_found_as_often_as_promised(&lived, measure);
    }
    the_best_are_found_as_often_as_promised(&lived);
    documents_with_a_prefix_are_found(&lived);
    three_way_searches_and_triples_are_those_of_brute_force(&lived);
    lived.index.compact().expect("compacted");
    similar_documents_are_found_as_often_as_promised(&lived);
    the_best_are_found_as_often_as_promised(&lived);
}

/// Sets of a family: some are variations of its base, some are parts of it, some have it as a part.
fn set(family: u64, member: u64) -> BTreeSet<u64> {
    let own = |i: u64| family << 20 | i;
    let other = |i: u64| (family << 20 | 1 << 19) + member * 4096 + i;
    let n = hash::mix(family * 100 + member) % 8;
    match member {
        0..=5 => (n..BASE).map(own).chain((0..n).map(other)).collect(),
        6..=7 => (0..BASE >> (member - 5)).map(own).chain((0..n / 3).map(other)).collect(),
        _ => (n / 2..BASE).map(own).chain((0..BASE * ((1 << (member - 7)) - 1)).map(other)).collect(),
    }
}

fn document(id: &str, set: &BTreeSet<u64>) -> Document {
    let values = set.iter().map(|element| Value::Integer((*element).into()));
    Document::new(id, [("items", Content::Values(values.collect()))])
}

/// Inserts in batches of all sizes, replaces, removes and lets expire.
fn live(make: Make<'_>) -> Lived {
    let schema: Schema =
        serde_json::from_str(r#"{"fields": {"items": {"kind": "values"}}}"#).expect("a schema");
    let settings = Settings::with_target(schema, 0.7, 0.9, Keeps::Documents).expect("settings");
    let settings = settings.with_containment(Containment::default()).expect("settings for containment");
    let index = Index::new(make(settings).expect("a store")).expect("an index");
    let mut sets = BTreeMap::new();
    let mut batch = Vec::new();
    for i in 0..FAMILIES * MEMBERS {
        let (family, member, id) = (i % FAMILIES, i / FAMILIES, format!("{i}"));
        let random = hash::mix(i ^ 0x5eed);
        if random.is_multiple_of(3) {
            // Something else first, which is replaced.
            batch.push(document(&id, &set(FAMILIES + 1 + i, member)));
        }
        if random.is_multiple_of(5) {
            // Something that will not stay.
            batch.push(document(&format!("gone {i}"), &set(family, member)));
        }
        sets.insert(id.clone(), set(family, member));
        batch.push(document(&id, &sets[&id]));
        if random % 64 < 3 || i + 1 == FAMILIES * MEMBERS {
            assert_eq!(index.insert(&batch).expect("inserted").n_inserted(), batch.len());
            batch.clear();
            let old = document("expired", &sets[&id]);
            index.insert_until(&[old], |_| Some(1)).expect("inserted");
        }
    }
    let gone: Vec<String> = (0..FAMILIES * MEMBERS).map(|i| format!("gone {i}")).collect();
    index.remove(&gone).expect("removed");
    for i in (0..FAMILIES * MEMBERS).filter(|i| hash::mix(i ^ 0xdead).is_multiple_of(11)) {
        sets.remove(&i.to_string());
        index.remove(&[i.to_string()]).expect("removed");
    }
    Lived { index, sets }
}

impl Lived {
    fn search(&self, id: &str, query: &Query) -> Answer {
        self.index.search_id(id, query).expect("a search")
    }

    /// Those that are similar enough to a document, by a measure of (common, own size, other size).
    fn truth(&self, id: &str, least: f64, of: impl Fn(f64, f64, f64) -> f64) -> BTreeMap<&str, f64> {
        let own = &self.sets[id];
        let others = self.sets.iter().filter(|(other, _)| *other != id).map(|(other, set)| {
            let common = own.intersection(set).count() as f64;
            (other.as_str(), of(common, own.len() as f64, set.len() as f64))
        });
        others.filter(|(_, value)| *value >= least).collect()
    }
}

fn jaccard(common: f64, a: f64, b: f64) -> f64 {
    common / (a + b - common)
}

/// Adds up what should be found and what is.
#[derive(Debug, Default)]
struct Tally {
    expected: f64,
    variance: f64,
    found: f64,
}

impl Tally {
    fn add(&mut self, chance: f64, is_found: bool) {
        self.expected += chance;
        self.variance += chance * (1.0 - chance);
        self.found += f64::from(u8::from(is_found));
    }

    /// Documents of a family share most of their registers, so that they are missed together: the spread is that of fewer.
    fn check(&self, what: &str) {
        let spread = 4.0 * (6.0 * self.variance).sqrt() + 1.0;
        assert!(self.expected > 100.0, "{what}: {self:?} is too few");
        assert!(self.found >= self.expected - spread, "{what}: fewer than promised: {self:?}");
    }
}

fn similar_documents_are_found_as_often_as_promised(lived: &Lived) {
    let banding = lived.index.settings().fields[0].banding;
    let mut tally = Tally::default();
    for threshold in [0.7, 0.85] {
        let query = Query { threshold: Some(threshold), limit: 100, ..Query::default() };
        for id in lived.sets.keys() {
            let (answer, truth) = (lived.search(id, &query), lived.truth(id, threshold, jaccard));
            assert!((answer.recall - banding.probability(threshold)).abs() < 1e-12);
            for found in &answer.matches {
                let exact = truth.get(found.id.as_str()).expect("a match is similar, and there");
                assert!((found.similarity - exact).abs() < 1e-12, "{id} and {}", found.id);
            }
            let found: BTreeSet<&str> = answer.matches.iter().map(|found| found.id.as_str()).collect();
            truth
                .iter()
                .for_each(|(id, jaccard)| tally.add(banding.probability(*jaccard), found.contains(id)));
        }
    }
    tally.check("similar documents");
    let spread = 4.0 * (6.0 * tally.variance).sqrt() + 1.0;
    assert!(tally.found <= tally.expected + spread, "more than the curve says: {tally:?}");
}

fn containment_is_found_as_often_as_promised(lived: &Lived, measure: Measure) {
    let (threshold, mut tally) = (0.8, Tally::default());
    let of = |common: f64, own: f64, other: f64| match measure {
        Measure::Containing => common / own,
        _ => common / other,
    };
    let query = Query { measure, limit: 1000, threshold: Some(threshold), ..Query::default() };
    for (id, own) in &lived.sets {
        let (answer, truth) = (lived.search(id, &query), lived.truth(id, threshold, of));
        for found in &answer.matches {
            let exact = truth.get(found.id.as_str()).expect("a match has it, and is there");
            assert!((found.similarity - exact).abs() < 1e-12, "{id} and {}: {found:?}", found.id);
        }
        let found: BTreeSet<&str> = answer.matches.iter().map(|found| found.id.as_str()).collect();
        for id in truth.keys() {
            let (own, other) = (own.len() as f64, lived.sets[*id].len() as f64);
            let ratio = if measure == Measure::Containing { other / own } else { own / other };
            let promised = answer.recall_by_ratio.iter().find(|by_ratio| by_ratio.ratio >= ratio - 1e-9);
            if let Some(promised) = promised {
                tally.add(promised.recall, found.contains(id));
            }
        }
        assert!(answer.recall_by_ratio.iter().all(|by_ratio| by_ratio.recall >= 0.9));
    }
    tally.check("containment");
}

fn the_best_are_found_as_often_as_promised(lived: &Lived) {
    let mut tally = Tally::default();
    let query = Query { top: Some(5), ..Query::default() };
    for id in lived.sets.keys() {
        let answer = lived.search(id, &query);
        let mut truth: Vec<(&str, f64)> = lived.truth(id, 1e-9, jaccard).into_iter().collect();
        truth.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        assert!(answer.matches.is_sorted_by(|a, b| a.similarity >= b.similarity));
        assert_eq!(answer.matches.len(), 5, "a small collection has enough");
        for (i, (_, jaccard)) in truth.iter().take(5).enumerate() {
            // Equals are equally good.
            tally.add(answer.recall, answer.matches[i].similarity >= jaccard - 1e-12);
        }
    }
    tally.check("the best");
}

fn documents_with_a_prefix_are_found(lived: &Lived) {
    let layout = lived.index.recorder().layout();
    let view = lived.index.store().view().expect("a view");
    let mut records = BTreeMap::new();
    let mut from = Some(Cursor::START);
    while let Some(start) = from {
        let add = &mut |number, record: Record<'_>| {
            records.insert(number, record.words.to_vec());
            Ok(())
        };
        from = view.scan(start, 100, Parts::Sketches, add).expect("a scan");
    }
    let ids: Vec<&[u8]> = lived.sets.keys().map(String::as_bytes).collect();
    let live: BTreeSet<DocNo> = view.numbers(&ids).expect("numbers").into_iter().flatten().collect();
    for words in records.values().step_by(40) {
        for rows in [1, 2, 100] {
            let ranges: Vec<BandRange> = layout.prefixes(words, &[0], rows);
            let mut postings = Postings::default();
            view.ranges(layout, &ranges, &mut postings).expect("ranges");
            for (i, range) in ranges.iter().enumerate() {
                let found: BTreeSet<DocNo> = postings.of(i).iter().copied().collect();
                let has = |number: &&DocNo| range.has(layout, &records[*number]);
                let missed: Vec<&DocNo> = live.iter().filter(has).filter(|n| !found.contains(n)).collect();
                assert!(missed.is_empty(), "{missed:?} of {range:?} with {rows} rows");
                let wrong = found.iter().filter(|n| records.contains_key(n) && !has(n)).count();
                assert!(wrong <= 40, "{wrong} others in {range:?}");
            }
        }
    }
}

fn three_way_searches_and_triples_are_those_of_brute_force(lived: &Lived) {
    let three_way = |ids: [&str; 3]| {
        let [a, b, c] = ids.map(|id| &lived.sets[id]);
        let common = a.iter().filter(|element| b.contains(element) && c.contains(element)).count();
        let any: BTreeSet<&u64> = a.iter().chain(b).chain(c).collect();
        common as f64 / any.len() as f64
    };
    let query = Query { threshold: Some(0.7), limit: 100, ..Query::default() };
    let (mut tally, mut family) = (Tally::default(), BTreeMap::<u64, Vec<&str>>::new());
    for id in lived.sets.keys() {
        let number: u64 = id.parse().expect("ids are numbers");
        family.entry(number % FAMILIES).or_default().push(id);
    }
    let mut triples = BTreeSet::new();
    let add = |triple: Triple| {
        let mut ids = triple.ids;
        ids.sort_unstable();
        assert!(triples.insert(ids), "a triple comes once");
        Ok(())
    };
    lived.index.triples(Some(0.65), add).expect("triples");
    for members in family.values() {
        for (i, &a) in members.iter().enumerate() {
            for (j, &b) in members.iter().enumerate().skip(i + 1) {
                let answer = lived
                    .index
                    .three_way_search([QueryDocument::Id(a), QueryDocument::Id(b)], &query)
                    .expect("a search");
                for found in &answer.matches {
                    assert!((found.similarity - three_way([a, b, &found.id])).abs() < 1e-12);
                }
                for &c in members.iter().filter(|c| **c != a && **c != b) {
                    if three_way([a, b, c]) >= 0.7 {
                        tally.add(answer.recall, answer.matches.iter().any(|found| found.id == c));
                    }
                }
                for &c in &members[j + 1..] {
                    let mut ids = [a, b, c].map(str::to_owned);
                    ids.sort_unstable();
                    // What is far above the threshold is not lost by an estimate.
                    if three_way([a, b, c]) >= 0.9 {
                        tally.add(answer.recall, triples.contains(&ids));
                    }
                }
            }
        }
    }
    tally.check("three-way searches");
}

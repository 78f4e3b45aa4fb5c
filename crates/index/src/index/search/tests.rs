//! Several fields beside brute force, and queries that make no sense.

use std::collections::{BTreeMap, BTreeSet};

use benzer_core::field::{Content, Document, Schema, Value};
use benzer_core::hash::mix;
use benzer_core::lsh::Target;

use super::*;
use crate::score::RecordPair;
use crate::settings::{Containment, Keeps, Settings};
use crate::store;

const FIELDS: [&str; 3] = ["authors", "body", "title"];

/// The sets of a document, in the order of the fields.
type Sets = [BTreeSet<u64>; 3];

fn index(keeps: Keeps, containment: Option<Containment>) -> Index {
    let schema = r#"{"fields": {"title": {"kind": "values", "weight": 2}, "body": {"kind": "values"}, "authors": {"kind": "values", "weight": 0.5}}}"#;
    let schema: Schema = serde_json::from_str(schema).unwrap();
    let settings = Settings::with_target(schema, 0.7, 0.9, keeps).unwrap();
    let settings = match containment {
        Some(containment) => settings.with_containment(containment).unwrap(),
        None => settings,
    };
    Index::new(store::memory(settings).unwrap()).unwrap()
}

/// Fields vary by themselves, and some are empty.
fn sets(i: u64) -> Sets {
    let family = i / 8;
    [(0, 6u64), (1, 50), (2, 12)].map(|(field, size)| {
        let random = mix(i * 3 + field);
        if random.is_multiple_of(7) {
            return BTreeSet::new();
        }
        let changed = random >> 8 & 0xff;
        let changed = size * changed / 1024;
        let element = |j: u64| (family << 24) + (field << 16) + j;
        let own = |j: u64| (i << 40) + (field << 36) + j;
        (changed..size).map(element).chain((0..changed).map(own)).collect()
    })
}

fn document(i: u64) -> Document {
    let content = |set: &BTreeSet<u64>| {
        Content::Values(set.iter().map(|element| Value::Integer((*element).into())).collect())
    };
    Document::new(i.to_string(), FIELDS.into_iter().zip(sets(i).iter().map(content)))
}

/// The design's rule, written once more: a field that is empty in both is left out, in one counts 0.
fn values(a: &Sets, b: &Sets, wanted: &[usize]) -> Vec<(usize, f64)> {
    let value = |&i: &usize| {
        let common = a[i].intersection(&b[i]).count() as f64;
        let union = (a[i].len() + b[i].len()) as f64 - common;
        (union > 0.0).then(|| (i, common / union))
    };
    wanted.iter().filter_map(value).collect()
}

struct Case {
    query: Query,
    wanted: Vec<usize>,
    weights: [f64; 3],
    least: [Option<f64>; 3],
}

fn case(rule: Rule, given: &[(usize, f64)], least: [Option<f64>; 3], threshold: f64) -> Case {
    let mut weights = [0.5, 1.0, 2.0];
    given.iter().for_each(|(i, weight)| weights[*i] = *weight);
    let names = |pairs: Vec<(usize, f64)>| -> BTreeMap<String, f64> {
        pairs.into_iter().map(|(i, value)| (FIELDS[i].to_owned(), value)).collect()
    };
    let thresholds = (0..3).filter_map(|i| Some((i, least[i]?))).collect();
    let query = Query {
        rule,
        threshold: Some(threshold),
        weights: names(given.to_vec()),
        thresholds: names(thresholds),
        limit: 1000,
        ..Query::default()
    };
    Case { query, wanted: (0..3).filter(|i| weights[*i] > 0.0).collect(), weights, least }
}

impl Case {
    fn judge(&self, a: &Sets, b: &Sets) -> Option<f64> {
        let values = values(a, b, &self.wanted);
        let threshold = self.query.threshold.unwrap();
        let least = |i: usize| self.least[i].unwrap_or(threshold);
        let all: f64 = values.iter().map(|(i, _)| self.weights[*i]).sum();
        let mean = values.iter().map(|(i, value)| self.weights[*i] * value).sum::<f64>() / all;
        let best = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
        let worst = values.iter().map(|(_, value)| *value).fold(1.0, f64::min);
        let (similarity, is_match) = match self.query.rule {
            Rule::Mean => {
                let given =
                    values.iter().all(|(i, value)| self.least[*i].is_none_or(|least| *value >= least));
                (mean, mean >= threshold - 1e-12 && given)
            }
            Rule::Any => (best, values.iter().any(|(i, value)| *value >= least(*i))),
            Rule::All => (worst, values.iter().all(|(i, value)| *value >= least(*i))),
        };
        (is_match && !values.is_empty()).then_some(similarity)
    }
}

#[test]
fn several_fields_find_no_less_than_one_promises_and_nothing_else() {
    const N: u64 = 480;
    let index = index(Keeps::Documents, None);
    index.insert(&(0..N).map(document).collect::<Vec<_>>()).unwrap();
    let all: Vec<Sets> = (0..N).map(sets).collect();
    let cases = [
        case(Rule::Mean, &[], [None; 3], 0.7),
        case(Rule::Mean, &[(0, 0.0), (2, 5.0)], [None; 3], 0.8),
        case(Rule::Mean, &[(1, 3.0)], [None, None, Some(0.75)], 0.7),
        case(Rule::Any, &[], [Some(0.9), None, Some(0.95)], 0.85),
        case(Rule::All, &[], [None; 3], 0.7),
        case(Rule::All, &[(0, 0.0)], [None, Some(0.9), Some(0.7)], 0.8),
    ];
    for case in cases {
        let (mut expected, mut found, mut stated) = (0, 0, 1.0f64);
        for i in 0..N {
            let answer = index.search_id(&i.to_string(), &case.query).unwrap();
            stated = stated.min(answer.recall);
            let truth = (0..N).filter(|j| *j != i);
            let truth = truth.filter_map(|j| Some((j, case.judge(&all[i as usize], &all[j as usize])?)));
            let truth: BTreeMap<String, f64> = truth.map(|(j, value)| (j.to_string(), value)).collect();
            for one in &answer.matches {
                let value =
                    truth.get(&one.id).unwrap_or_else(|| panic!("{i} and {one:?} in {:?}", case.query));
                assert!((one.similarity - value).abs() < 1e-9);
                let named: BTreeSet<&str> = one.fields.iter().map(|field| &*field.field).collect();
                let pair = (&all[i as usize], &all[one.id.parse::<usize>().unwrap()]);
                let not_void = values(pair.0, pair.1, &case.wanted);
                assert_eq!(named, not_void.iter().map(|(i, _)| FIELDS[*i]).collect());
            }
            (expected, found) = (expected + truth.len(), found + answer.matches.len());
        }
        assert!(expected > 150, "{expected} for {:?}", case.query);
        let spread = 4.0 * (stated * (1.0 - stated) * expected as f64).sqrt();
        assert!(
            found as f64 >= stated * expected as f64 - spread,
            "{found} of {expected} at {stated}: {:?}",
            case.query
        );
    }
}

#[test]
fn the_mean_of_fields_has_an_error_bar_that_holds() {
    let index = index(Keeps::Sketches, None);
    index.insert(&(0..400).map(document).collect::<Vec<_>>()).unwrap();
    let case = case(Rule::Mean, &[], [None; 3], 0.3);
    let (mut n, mut covered, mut narrower) = (0, 0, 0);
    for i in 0..400 {
        for one in index.search_id(&i.to_string(), &case.query).unwrap().matches {
            let pair = values(&sets(i), &sets(one.id.parse().unwrap()), &[0, 1, 2]);
            let all: f64 = pair.iter().map(|(i, _)| case.weights[*i]).sum();
            let mean = pair.iter().map(|(i, value)| case.weights[*i] * value).sum::<f64>() / all;
            let bar = one.estimate.measured().unwrap();
            let widest = one.fields.iter().filter_map(|field| field.estimate.measured());
            let widest = widest.map(|field| field.high - field.low).fold(0.0, f64::max);
            n += 1;
            covered += usize::from(bar.low <= mean + 1e-9 && mean - 1e-9 <= bar.high);
            narrower += usize::from(bar.high - bar.low <= widest + 1e-9);
        }
    }
    assert!(n > 500, "{n}");
    assert!(covered as f64 >= 0.92 * n as f64, "{covered} of {n} bars hold the truth");
    assert_eq!(narrower, n, "a mean is surer than its least sure field");
}

#[test]
fn containment_leaves_out_fields_that_the_inner_document_does_not_have() {
    let index = index(Keeps::Documents, Some(Containment::default()));
    let values = |range: std::ops::Range<i128>| Content::Values(range.map(Value::Integer).collect());
    let whole = [("title", values(0..10)), ("body", values(100..400))];
    index.insert(&[Document::new("whole", whole)]).unwrap();
    let part = Document::new("part", [("body", values(150..250))]);
    let query = Query { measure: Measure::Containing, ..Query::default() };
    let answer = index.search(&part, &query).unwrap();
    assert_eq!((&*answer.matches[0].id, answer.matches[0].exact), ("whole", Some(1.0)));
    index.insert(std::slice::from_ref(&part)).unwrap();
    let query = Query { measure: Measure::Contained, ..Query::default() };
    let answer = index.search_id("whole", &query).unwrap();
    assert_eq!((&*answer.matches[0].id, answer.matches[0].exact), ("part", Some(1.0)));
    assert!(answer.recall_by_ratio.iter().all(|found| found.recall >= 0.9));
    assert!(index.stats().unwrap().containment_bytes > 0);
}

#[test]
fn estimates_of_containment_come_from_sizes_that_are_known() {
    let schema: Schema = serde_json::from_str(r#"{"fields": {"x": {"kind": "values"}}}"#).unwrap();
    let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches).unwrap();
    let settings = settings.with_containment(Containment::default()).unwrap();
    let index = Index::new(store::memory(settings).unwrap()).unwrap();
    let set = |id: String, range: std::ops::Range<i128>, more: i128| {
        let all = range.chain((0..more).map(|i| (i + 1) << 40));
        Document::new(id, [("x", Content::Values(all.map(Value::Integer).collect()))])
    };
    let wholes: Vec<Document> =
        (0..200).map(|i| set(i.to_string(), i * 10_000..i * 10_000 + 800, 0)).collect();
    index.insert(&wholes).unwrap();
    let query = Query { measure: Measure::Containing, threshold: Some(0.8), ..Query::default() };
    let (mut found, mut covered, mut errors) = (0, 0, 0.0);
    for i in 0..200 {
        // 90 of 100 elements are in a set of 800.
        let part = set("part".into(), i * 10_000..i * 10_000 + 90, 10);
        for one in index.search(&part, &query).unwrap().matches {
            assert_eq!(one.id, i.to_string());
            let bar = one.estimate.measured().unwrap();
            found += 1;
            covered += usize::from(bar.low <= 0.9 && 0.9 <= bar.high);
            errors += (bar.value - 0.9).powi(2);
        }
    }
    assert!(found >= 170 && covered >= 150, "{found} found, {covered} covered");
    // Counting equal registers alone has a standard error of 0.2 here.
    assert!((errors / f64::from(found)).sqrt() < 0.12, "{}", (errors / f64::from(found)).sqrt());
}

#[test]
fn bags_can_be_searched_for_containment() {
    let schema: Schema =
        serde_json::from_str(r#"{"fields": {"x": {"kind": "values", "bag": true}}}"#).unwrap();
    let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Documents).unwrap();
    let settings = settings.with_containment(Containment { threshold: 0.8, ratio: 4.0 }).unwrap();
    let index = Index::new(store::memory(settings).unwrap()).unwrap();
    let bag =
        |n: i128| Content::Values((0..n).flat_map(|i| [Value::Integer(i), Value::Integer(i)]).collect());
    index.insert(&[Document::new("whole", [("x", bag(60))])]).unwrap();
    let part = Document::new("part", [("x", bag(25))]);
    let query = Query { measure: Measure::Containing, ..Query::default() };
    assert_eq!(index.search(&part, &query).unwrap().matches[0].exact, Some(1.0));
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    let (plain, contains) =
        (index(Keeps::Sketches, None), index(Keeps::Sketches, Some(Containment::default())));
    for index in [&plain, &contains] {
        index.insert(&[document(1)]).unwrap();
    }
    let refused = |index: &Index, query: Query| index.search(&document(1), &query).unwrap_err().to_string();
    let one = |name: &str, value: f64| BTreeMap::from([(name.to_owned(), value)]);
    let default = Query::default;
    let told = refused(&plain, Query { measure: Measure::Containing, ..default() });
    assert!(told.contains("--containment") && told.contains("benzer pairs --measure containment"), "{told}");
    let far = Query { measure: Measure::Contained, ratio: Some(300.0), ..default() };
    let told = refused(&contains, far);
    assert!(told.starts_with("`ratio` must be at most ") && told.contains("the exact join"), "{told}");
    let low = Query { measure: Measure::Contained, threshold: Some(0.05), ..default() };
    assert!(refused(&contains, low).contains("at containment 0.05"));
    assert!(refused(&plain, Query { ratio: Some(2.0), ..default() }).contains("a search for containment"));
    assert!(
        refused(&plain, Query { weights: one("x", 1.0), ..default() })
            .contains("some of authors, body, title")
    );
    assert!(refused(&plain, Query { weights: one("body", -1.0), ..default() }).contains("not negative"));
    let nothing = Query { weights: one("body", 0.0), fields: vec!["body".into()], ..default() };
    assert!(refused(&plain, nothing).contains("above 0 for some field"));
    assert!(refused(&plain, Query { thresholds: one("body", 1.5), ..default() }).contains("at most 1"));
    for bad in [
        Query { top: Some(0), ..default() },
        Query { top: Some(3), threshold: Some(0.5), ..default() },
        Query { top: Some(3), offset: 1, ..default() },
    ] {
        assert!(refused(&plain, bad).starts_with("`top` must be"));
    }
    let two = [QueryDocument::Id("1"), QueryDocument::Id("1")];
    let error = plain.three_way_search(two, &Query { top: Some(1), ..default() }).unwrap_err();
    assert!(error.to_string().contains("without containment and top"));
    assert!(
        plain
            .three_way_search([QueryDocument::Id("1"), QueryDocument::Id("2")], &default())
            .unwrap_err()
            .to_string()
            .contains("`2`")
    );
}

#[test]
fn the_best_of_a_large_collection_are_found_by_the_beginnings_of_bands() {
    // Too many documents to be looked at as a whole; a family of five in a hundred, all the others alone.
    let (n, families, members) = (25_000u64, 200u64, 5u64);
    let set = |i: u64| -> BTreeSet<u64> {
        let own = (0..60).map(|j| i << 32 | j);
        match i < families * members {
            true => (0..36).map(|j| 1 << 60 | (i / members) << 20 | j).chain(own.take(14)).collect(),
            false => own.collect(),
        }
    };
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "values"}}}"#).unwrap();
    let index = Index::new(
        store::memory(Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches).unwrap()).unwrap(),
    )
    .unwrap();
    let document = |i: u64| {
        let values = set(i).into_iter().map(|element| Value::Integer(element.into())).collect();
        Document::new(i.to_string(), [("body", Content::Values(values))])
    };
    for start in (0..n).step_by(1000) {
        index.insert(&(start..start + 1000).map(document).collect::<Vec<_>>()).unwrap();
    }
    // The others of a family have a similarity of 36 / 64.
    let (mut found, mut promised) = (0.0, 0.0);
    let queries = (0..families * members).step_by(members as usize);
    for i in queries {
        let query = Query { top: Some(4), ..Query::default() };
        let answer = index.search_id(&i.to_string(), &query).unwrap();
        let of_family = |found: &&crate::Match| found.id.parse::<u64>().unwrap() / members == i / members;
        found += answer.matches.iter().filter(of_family).count() as f64 / 4.0;
        promised += answer.recall;
    }
    let (found, promised) = (found / families as f64, promised / families as f64);
    assert!(promised >= 0.95 && found >= promised - 0.02, "found {found}, promised {promised}");
}

#[test]
fn estimates_show_as_many_documents_at_the_threshold_as_is_stated() {
    for (registers, threshold) in [(128, 0.8), (128, 0.93), (256, 0.75)] {
        let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "values"}}}"#).unwrap();
        // All but everything is looked at, so that the estimates alone decide.
        let target = Target { threshold: 0.8 * threshold, recall: 0.9, ..Target::default() };
        let settings = Settings::with_registers(schema, &target, Keeps::Sketches, Some(registers)).unwrap();
        let index = Index::new(store::memory(settings).unwrap()).unwrap();
        // Pairs of sets of 450 whose similarity is the threshold.
        let common = (900.0 * threshold / (1.0 + threshold)).round() as i128;
        let set = |pair: i128, own: i128| {
            let own = (0..450 - common).map(move |i| (pair << 20) + (own << 16) + i);
            let all = (0..common).map(move |i| (pair << 20) + (3 << 16) + i).chain(own);
            Content::Values(all.map(Value::Integer).collect())
        };
        let (n, mut shown, mut stated) = (1200, 0, 0.0);
        let documents: Vec<Document> =
            (0..n).map(|i| Document::new(i.to_string(), [("body", set(i, 1))])).collect();
        index.insert(&documents).unwrap();
        let query = Query { threshold: Some(threshold), ..Query::default() };
        for i in 0..n {
            let answer = index.search(&Document::new("query", [("body", set(i, 2))]), &query).unwrap();
            shown += answer.matches.len();
            stated = answer.shown;
        }
        let found = shown as f64 / n as f64;
        assert!(
            (found - stated).abs() < 4.0 * (0.25 / n as f64).sqrt(),
            "{registers}: shown {found}, stated {stated}"
        );
    }
}

#[test]
fn what_is_stated_of_the_best_is_found_by_estimates_and_in_truth() {
    // Families of forty whose members have different shares of a common set: no two are equally similar to the first.
    let (n, families, members, size) = (8000u64, 100u64, 40u64, 200u64);
    let set = |i: u64| -> BTreeSet<u64> {
        let (family, common) = (
            i % families,
            match i / families {
                0 => size,
                member if member < members => size / 4 + mix(i) % (size / 2),
                _ => 0,
            },
        );
        let chosen = |j: &u64| mix(mix(i) ^ j) % size < common;
        let shared = (0..size).filter(chosen).map(|j| 1 << 60 | family << 20 | j);
        shared.chain((0..size - common).map(|j| i << 32 | j)).collect()
    };
    let document = |i: u64| {
        let values = set(i).into_iter().map(|element| Value::Integer(element.into())).collect();
        Document::new(i.to_string(), [("body", Content::Values(values))])
    };
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "values"}}}"#).unwrap();
    let settings = Settings::with_target(schema, 0.8, 0.9, Keeps::Sketches).unwrap();
    let index = Index::new(store::memory(settings).unwrap()).unwrap();
    let documents: Vec<Document> = (0..n).map(document).collect();
    index.insert(&documents).unwrap();
    let (layout, mut sums) = (index.recorder().layout(), [0.0; 4]);
    let mut words = Vec::new();
    for document in &documents {
        index.recorder().words(&index.recorder().features(document).unwrap(), &mut words).unwrap();
    }
    let rows: Vec<&[u64]> = words.chunks_exact(layout.words()).collect();
    let share = |mut values: Vec<(f64, u64)>, found: &BTreeSet<u64>| {
        values.sort_by(|a, b| b.0.total_cmp(&a.0));
        let right = values.iter().filter(|(value, id)| *value >= values[9].0 && found.contains(id));
        right.count().min(10) as f64 / 10.0
    };
    for i in 0..families {
        let answer = index.search_id(&i.to_string(), &Query { top: Some(10), ..Query::default() }).unwrap();
        let found = answer.matches.iter().map(|found| found.id.parse().unwrap()).collect();
        let others = (0..n).filter(|j| *j != i);
        let estimate = |j: u64| {
            let pair = RecordPair { query: rows[i as usize], found: rows[j as usize] };
            (index.scorer.score(layout, &[0], pair).unwrap().value().unwrap_or_default(), j)
        };
        let own = set(i);
        let exact = |j: u64| {
            let other = set(j);
            let common = own.intersection(&other).count() as f64;
            (common / ((own.len() + other.len()) as f64 - common), j)
        };
        let family = others.clone().filter(|j| j % families == i);
        let values = [
            share(others.map(estimate).collect(), &found),
            answer.recall,
            share(family.map(exact).collect(), &found),
            answer.shown,
        ];
        values.into_iter().zip(&mut sums).for_each(|(value, sum)| *sum += value / families as f64);
    }
    let [found, recall, right, shown] = sums;
    assert!((found - recall).abs() < 0.05 && recall < 0.999, "found {found}, stated {recall}");
    assert!((right - shown).abs() < 0.07 && shown < recall - 0.1, "right {right}, stated {shown}");
}

#[test]
fn parts_of_the_query_are_among_the_best_beside_many_that_seem_as_similar() {
    // Ten parts of the query of half its size, and many documents of its own size that are a little less similar, some of which seem more so.
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "values"}}}"#).unwrap();
    let document = |id: String, elements: &mut dyn Iterator<Item = u64>| {
        Document::new(id, [("body", Content::Values(elements.map(|e| Value::Integer(e.into())).collect()))])
    };
    let query = document("query".to_owned(), &mut (0..400));
    let asked = Query { top: Some(10), ..Query::default() };
    // The similarities are 0.449 and 0.5, then 0.66 and 0.7.
    for (common, part) in [(248, 200), (318, 280)] {
        let rival = |i: u64| {
            let mut own = (0..400 - common).map(|j| (i + 1) << 20 | j);
            let mut shared = (0..400).filter(|j| mix(i << 10 | j) % 400 < common).take(common as usize);
            document(format!("rival {i}"), &mut shared.by_ref().chain(own.by_ref()))
        };
        let part = |i: u64| document(format!("part {i}"), &mut (0..part).map(|j| (j * 7 + i * 13) % 400));
        let documents: Vec<Document> = (0..600).map(rival).chain((0..10).map(part)).collect();
        for keeps in [Keeps::Documents, Keeps::Sketches] {
            let settings = Settings::with_target(schema.clone(), 0.8, 0.95, keeps).unwrap();
            let index = Index::new(store::memory(settings).unwrap()).unwrap();
            index.insert(&documents).unwrap();
            let answer = index.search(&query, &asked).unwrap();
            let parts = answer.matches.iter().filter(|found| found.id.starts_with("part")).count() as f64;
            match keeps {
                Keeps::Documents => assert!(parts >= 9.0, "{parts} of 10, {}", answer.recall),
                Keeps::Sketches => assert!(answer.shown < 0.8, "{parts} of 10, stated {}", answer.shown),
            }
        }
    }
}

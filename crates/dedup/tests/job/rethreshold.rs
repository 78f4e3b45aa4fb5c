//! A finished run at a higher threshold is what a run at that threshold gives: tables, counts, similarities, warnings.

use std::fs::{self, File};
use std::path::Path;

use arrow_array::{Array, ArrayRef};
use benzer_core::Threshold;
use benzer_dedup::Keep;
use benzer_dedup::request::{Measure, Request, Search};
use benzer_dedup::results::{Rethresholded, rethreshold};
use benzer_dedup::summary::{Counts, Summary};
use benzer_join::resolve::Cluster;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::corpus::{self, Document, Random};
use crate::evidence;
use crate::lab::{self, Lab};
use crate::report;

/// Columns that a run knows and pairs do not: the estimates of other pairs, and ranks, which count the old documents that are met.
const UNSAID: [&str; 6] = ["estimate", "low", "high", "rank", "rank_a", "rank_b"];

fn table(folder: &Path, name: &str) -> Vec<(String, ArrayRef)> {
    let file = File::open(folder.join(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(1 << 20);
    let batch = reader.build().unwrap().next().map(|batch| batch.unwrap());
    let columns = batch.iter().flat_map(|batch| {
        let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        names.into_iter().zip(batch.columns().to_vec())
    });
    columns.filter(|(name, _)| !UNSAID.contains(&name.as_str())).collect()
}

/// The rows of a table as text, sorted.
fn rows(folder: &Path, name: &str) -> Vec<String> {
    let columns = table(folder, name);
    let cell =
        |i: usize| move |(name, column): &(String, ArrayRef)| format!("{name} {:?}", column.slice(i, 1));
    let n = columns.first().map_or(0, |(_, column)| column.len());
    let mut rows: Vec<String> = (0..n).map(|i| columns.iter().map(cell(i)).collect()).collect();
    rows.sort_unstable();
    rows
}

/// The counts that do not tell how pairs were found.
fn counts(summary: &Summary) -> Counts {
    Counts { met: 0, candidates: 0, oversized_buckets: 0, largest_bucket: 0, ..summary.counts.clone() }
}

#[track_caller]
fn assert_as_a_run(lab: &Lab, low: &Request, threshold: &str) -> Rethresholded {
    let threshold: Threshold = threshold.parse().unwrap();
    let high = low.clone().with(|request| {
        request.compare.threshold = threshold;
        request.results.folder = lab.path("high");
        request.results.overwrite = true;
    });
    let fresh = lab::run(&high).unwrap();
    let again = lab.path("again");
    let _ = fs::remove_dir_all(&again);
    let found = rethreshold(&low.results.folder, threshold, &again).unwrap();
    for name in ["evidence.parquet", "pairs.parquet"] {
        let (found, expected) = (table(&again, name), table(&high.results.folder, name));
        for ((column, found), (_, expected)) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{name}, {column} at {threshold}");
        }
        assert_eq!(found.len(), expected.len(), "{name} at {threshold}");
    }
    // Old documents have no order among the kept ones but that in which they were met.
    for name in ["clusters.parquet", "places.parquet"] {
        assert_eq!(rows(&again, name), rows(&high.results.folder, name), "{name} at {threshold}");
    }
    assert_eq!(counts(&found.summary), counts(&fresh));
    assert_eq!(found.summary.histogram, fresh.histogram);
    assert_eq!(found.summary.warnings, fresh.warnings);
    assert_eq!(found.removed, fresh.counts.removed);
    assert_eq!(found.removed_before + found.newly_removed, found.removed + found.restored);
    found
}

fn documents(seed: u64, n: usize, repeat_ids: bool) -> Vec<Document> {
    corpus::documents(&mut Random::new(seed), n, 40, repeat_ids)
}

/// Runs at 0.5 that find every pair.
fn request(lab: &Lab) -> Request {
    let usual = lab.request("low");
    usual.with(|request| {
        request.compare.threshold = "0.5".parse().unwrap();
        request.compare.search = Search::Exact;
        request.results.overwrite = true;
        request.old.read = request.input.read.clone();
    })
}

#[test]
fn random_corpora_are_resolved_as_by_a_run_at_the_higher_threshold() {
    let lab = Lab::new();
    let (mut newly, mut copies, mut removed_against) = (0, 0, 0);
    for seed in 0..24 {
        let all = documents(seed, 90, seed % 3 == 1);
        lab.write("a.jsonl", corpus::lines(&all[40..70]));
        lab.write("b.jsonl", corpus::lines(&all[70..]));
        fs::write(lab.path("old.jsonl"), corpus::lines(&all[..40])).unwrap();
        let mut low = request(&lab);
        low.keep = [Keep::First, Keep::Last, Keep::Longest][seed as usize % 3].clone();
        if seed % 2 == 0 {
            (low.input.read.id_field, low.old.read.id_field) = (None, None);
        }
        if seed % 4 > 1 {
            low.old.paths = vec![lab.path("old.jsonl")];
        }
        lab::run(&low).unwrap();
        for threshold in ["0.5", "0.6", "0.75", "0.8", "0.85", "0.9", "1"] {
            let found = assert_as_a_run(&lab, &low, threshold);
            newly += found.newly_removed;
            copies += found.summary.counts.copies;
            removed_against += found.summary.counts.removed_against;
        }
    }
    assert!(newly > 5 && copies > 100 && removed_against > 100, "{newly} {copies} {removed_against}");
}

#[test]
fn items_that_documents_contain_are_resolved_with_their_places_in_the_text() {
    let lab = Lab::new();
    let all = documents(3, 120, false);
    lab.write("a.jsonl", corpus::lines(&all[..80]));
    fs::write(lab.path("old.jsonl"), corpus::lines(&all[80..])).unwrap();
    let low = request(&lab).with(|request| {
        request.compare.measure = Measure::Containment;
        request.old.paths = vec![lab.path("old.jsonl")];
    });
    lab::run(&low).unwrap();
    for threshold in ["0.6", "0.9"] {
        assert!(assert_as_a_run(&lab, &low, threshold).removed > 3);
    }
}

/// At 0.8 the first document stands for the second; at 0.85 the second stays, and the five others go for it.
fn star() -> Vec<Document> {
    // Words 3 apart are in different pairs of words, of which each changes two of 99.
    let with = |changes: std::ops::Range<usize>| {
        let changed = |word: usize| changes.clone().any(|i| 3 * i + 1 == word);
        let words = (0..100).map(|word| format!("{}{word}", if changed(word) { "x" } else { "w" }));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut texts = vec![with(0..5), with(0..0)];
    texts.extend((0..5).map(|i| with(5 + 4 * i..9 + 4 * i)));
    texts.into_iter().enumerate().map(|(i, text)| Document { id: format!("d{i}"), text }).collect()
}

#[test]
fn a_higher_threshold_may_remove_more() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&star()));
    let low = request(&lab).with(|request| request.compare.threshold = "0.8".parse().unwrap());
    assert_eq!(lab::run(&low).unwrap().counts.removed, 1);
    let found = assert_as_a_run(&lab, &low, "0.85");
    assert_eq!((found.removed_before, found.removed), (1, 5));
    assert_eq!((found.restored, found.newly_removed), (1, 5));
    let rows = evidence::read(&lab.path("again"));
    assert!(rows.iter().all(|row| row.kept == ("a.jsonl".to_owned(), 2)), "{rows:?}");
    let page = fs::read_to_string(lab.path("again/report.html")).unwrap();
    report::check(&page);
    assert!(page.contains("similarity of 0.85 on") && page.contains("at 0.8."), "{page}");
    assert!(page.contains("Just removed") && page.contains("Just kept") && page.contains("d1"));
}

#[test]
fn results_without_a_list_of_places_say_what_they_do_not_know() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&star()));
    for has_ids in [false, true] {
        let mut low = request(&lab).with(|request| request.compare.threshold = "0.8".parse().unwrap());
        if !has_ids {
            low.input.read.id_field = None;
        }
        lab::run(&low).unwrap();
        let known = assert_as_a_run(&lab, &low, "0.85");
        assert!(known.newly_removed > 0);
        let (before, places) =
            (table(&lab.path("again"), "evidence.parquet"), low.results.folder.join("places.parquet"));
        fs::remove_file(places).unwrap();
        let old = rethreshold(&low.results.folder, low.compare.threshold, &lab.path("old")).unwrap();
        assert_eq!(old.newly_removed, 0);
        let old = rethreshold(&low.results.folder, "0.85".parse().unwrap(), &lab.path("old")).unwrap();
        let now = table(&lab.path("old"), "evidence.parquet");
        let nulls = |name: &str| now.iter().find(|(column, _)| column == name).unwrap().1.null_count();
        let unknown = nulls("removed_row") + nulls("kept_row");
        assert_eq!(unknown > 0, has_ids);
        let warned = old.summary.warnings.iter().any(|warning| warning.contains("earlier version"));
        assert_eq!(warned, has_ids, "{:?}", old.summary.warnings);
        if !has_ids {
            assert_eq!(now, before);
        }
        assert_eq!(counts(&old.summary), counts(&known.summary));
    }
}

#[test]
fn what_pairs_cannot_say_is_refused_or_told() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&documents(7, 60, false)));
    let at = |text: &str| text.parse::<Threshold>().unwrap();
    let run = |request: &Request| lab::run(request).map(drop).unwrap();
    let chains = request(&lab).with(|request| request.cluster = Cluster::Components);
    run(&chains);
    let error = rethreshold(&chains.results.folder, at("0.9"), &lab.path("again")).unwrap_err().to_string();
    assert!(error.contains("cluster leaders") && error.contains("components"), "{error}");
    let low = lab.request("bands");
    run(&low);
    let found = rethreshold(&low.results.folder, at("0.9"), &lab.path("again")).unwrap();
    assert!(found.summary.notes[0].contains("bands for 0.7"), "{:?}", found.summary.notes);
    assert!(
        rethreshold(&low.results.folder, at("0.7"), &lab.path("again")).unwrap().summary.notes.is_empty()
    );
    let error = rethreshold(&low.results.folder, at("0.6"), &lab.path("again")).unwrap_err().to_string();
    assert!(error.contains("at least 0.7"), "{error}");
    // The results of a run are not replaced, and a result at a higher threshold can be taken higher.
    for out in ["bands", "low"] {
        let before = lab::outputs(&lab.path(out));
        let error = rethreshold(&low.results.folder, at("0.9"), &lab.path(out)).unwrap_err().to_string();
        assert!(error.contains("holds an input") || error.contains("name a new folder"), "{error}");
        lab::assert_same(&lab::outputs(&lab.path(out)), &before, out);
    }
    rethreshold(&low.results.folder, at("0.8"), &lab.path("again")).unwrap();
    let twice = rethreshold(&lab.path("again"), at("0.9"), &lab.path("twice")).unwrap();
    assert_eq!(counts(&twice.summary), counts(&found.summary));
    assert_eq!(twice.summary.notes, found.summary.notes);
}

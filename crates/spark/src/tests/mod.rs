//! The stages against a run on one machine.

pub(super) mod blocks;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use benzer_core::hash;
use benzer_core::lsh::{Target, choose};
use benzer_core::sketch::SketchSpec;

use super::columns::Rows;
use super::out::{Out, batch};
use super::{Settings, kind, stage};
use crate::error;
use benzer_dedup::progress::Silent;
use benzer_dedup::request::{Comparison, Request, Search};
use benzer_dedup::results;

/// Documents: clusters of versions, a template, copies, texts without words.
fn corpus() -> Vec<(String, String)> {
    let words = |seed: u64, n: u64| (0..n).map(move |i| format!("w{}", hash::mix(seed * 1000 + i) % 900));
    let mut texts: Vec<String> = Vec::new();
    for cluster in 0..30u64 {
        let base: Vec<String> = words(cluster, 60).collect();
        for version in 0..cluster % 6 {
            let mut text = base.clone();
            text.truncate(60 - 2 * version as usize);
            texts.push(text.join(" "));
        }
    }
    let template: Vec<String> = words(77, 80).collect();
    texts.extend((0..150).map(|i| format!("{} number {i}", template.join(" "))));
    texts.extend((0..5).map(|_| words(5, 60).collect::<Vec<_>>().join(" ")));
    texts.extend(["", "", "...", "!!!", "...", "😀", "...", "one word", "one word"].map(str::to_owned));
    let id = |i: usize| format!("{:04}", hash::mix(i as u64) % 7919 * 3 + i as u64 % 3);
    let ids: BTreeMap<String, String> =
        texts.into_iter().enumerate().map(|(i, text)| (id(i), text)).collect();
    let mut documents: Vec<_> = ids.into_iter().collect();
    documents.sort_by_key(|(id, _)| hash::element(id.as_bytes()));
    documents
}

fn request(folder: &Path, keep: &str, threshold: &str) -> Request {
    let threshold: benzer_core::Threshold = threshold.parse().unwrap();
    let target = Target { threshold: threshold.value(), ..Target::default() };
    let banding = choose(&SketchSpec::default(), &target).unwrap();
    let compare = Comparison::new(threshold, Search::Bands(banding));
    let mut request = Request::new(vec![folder.join("in.jsonl")], folder.join("out"), compare);
    request.input.read.id_field = Some("id".parse().unwrap());
    request.keep = keep.parse().unwrap();
    request.audit = benzer_dedup::request::Audit::Off;
    request
}

fn documents(rows: &[(String, String)]) -> RecordBatch {
    let column = |values: Vec<&str>| Arc::new(StringArray::from(values)) as ArrayRef;
    batch([
        ("id", column(rows.iter().map(|(id, _)| id.as_str()).collect())),
        ("text", column(rows.iter().map(|(_, text)| text.as_str()).collect())),
        ("value", column(rows.iter().map(|(id, _)| &id[2..]).collect())),
        (
            "seen",
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|(_, text)| hash::element(text.as_bytes()) as i64),
            )),
        ),
    ])
    .unwrap()
}

/// One task.
fn task(name: &str, settings: &Settings, batches: &[RecordBatch]) -> error::Result<Vec<RecordBatch>> {
    let mut stage = stage(name, settings.clone())?;
    let mut made = Vec::new();
    for batch in batches {
        made.extend(stage.push(batch)?);
    }
    loop {
        let rest = stage.finish()?;
        if rest.is_empty() {
            return Ok(made);
        }
        made.extend(rest);
    }
}

/// What an engine does: rows to `n` tasks by slice, in no order within each.
fn moved(batches: &[RecordBatch], n: usize) -> Vec<RecordBatch> {
    let mut rows: Vec<(u32, i32, [Vec<u8>; 3])> = Vec::new();
    for batch in batches {
        rows.extend(
            Rows::of(batch)
                .unwrap()
                .iter()
                .map(|(slice, kind, values)| (slice, kind, values.map(<[u8]>::to_vec))),
        );
    }
    // In an order that has nothing to do with where they were made.
    rows.sort_by_key(|(_, _, values)| hash::element(&values[0]));
    let mut tasks: Vec<Out> = (0..n).map(|_| Out::default()).collect();
    for (slice, kind, values) in &rows {
        tasks[*slice as usize % n].row(*slice, *kind, values.each_ref().map(Vec::as_slice)).unwrap();
    }
    tasks.iter_mut().flat_map(|out| out.take().unwrap()).collect()
}

/// A stage on `n` tasks. Batches of a task stay together because slices do.
fn run(name: &str, settings: &Settings, input: &[RecordBatch], n: usize) -> error::Result<Vec<RecordBatch>> {
    task(name, settings, &moved(input, n))
}

/// All that the stages say.
fn found(rows: &[(String, String)], settings: &Settings, n: usize) -> error::Result<Vec<RecordBatch>> {
    let parts: Vec<RecordBatch> = rows.chunks(rows.len().div_ceil(n)).map(documents).collect();
    let mut bands = Vec::new();
    let mut texts = Vec::new();
    for part in &parts {
        bands.extend(task("bands", settings, std::slice::from_ref(part))?);
        texts.extend(task("texts", settings, std::slice::from_ref(part))?);
    }
    let buckets = run("buckets", settings, &bands, n)?;
    let mut wanted = run("partners", settings, &buckets, n)?;
    wanted.extend(texts);
    let members = run("fetch", settings, &wanted, n)?;
    run("compare", settings, &members, n)
}

/// Only edges and copies, as the engine hands them on.
fn edges(rows: &[(String, String)], settings: &Settings, n: usize) -> error::Result<Vec<RecordBatch>> {
    let mut out = Out::default();
    for batch in found(rows, settings, n)? {
        for (slice, kind, values) in Rows::of(&batch)?.iter().filter(|(_, kind, _)| *kind >= kind::COPY) {
            out.row(slice, kind, values)?;
        }
    }
    out.take()
}

type Pair = (String, String, u32, u32, bool);

fn pairs(batches: &[RecordBatch]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for batch in batches {
        let text = |i: usize, row| batch.column(i).as_string::<i32>().value(row).to_owned();
        let count = |i: usize, row| batch.column(i).as_primitive::<Int32Type>().value(row) as u32;
        pairs.extend((0..batch.num_rows()).map(|row| {
            (
                text(0, row),
                text(1, row),
                count(2, row),
                count(3, row),
                batch.column(5).as_boolean().value(row),
            )
        }));
    }
    pairs.sort();
    pairs
}

type Reason = (String, String, String, [String; 6]);

fn evidence(batches: &[RecordBatch]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for batch in batches {
        let text = |i: usize, row| batch.column(i).as_string::<i32>().value(row).to_owned();
        let share = |i: usize, row| batch.column(i).as_primitive::<Float64Type>().value(row).to_string();
        let count = |i: usize, row| batch.column(i).as_primitive::<Int32Type>().value(row).to_string();
        reasons.extend((0..batch.num_rows()).map(|row| {
            let numbers =
                [share(2, row), count(3, row), count(4, row), share(5, row), share(6, row), share(7, row)];
            (text(0, row), text(1, row), text(8, row), numbers)
        }));
    }
    reasons.sort();
    reasons
}

/// Pairs and evidence of a run on one machine.
fn on_one_machine(request: &Request, rows: &[(String, String)]) -> (Vec<Pair>, Vec<Reason>) {
    let lines: Vec<String> = rows
        .iter()
        .map(|(id, text)| serde_json::json!({"id": id, "text": text, "value": &id[2..]}).to_string())
        .collect();
    std::fs::write(&request.input.paths[0], lines.join("\n")).unwrap();
    benzer_dedup::run(request, &Silent).unwrap();
    let (mut pairs, mut reasons) = (Vec::new(), Vec::new());
    results::pairs(&request.results.folder, |pair| {
        let counts = (pair.intersection.unwrap(), pair.union.unwrap());
        pairs.push((pair.id_a.to_string(), pair.id_b.to_string(), counts.0, counts.1, pair.exact_copy));
        Ok(())
    })
    .unwrap();
    results::evidence(&request.results.folder, |row| {
        // Arrow has a zero where there is nothing.
        let [value, low, high] = row.estimate.unwrap_or_default();
        let counts = [row.intersection.unwrap(), row.union.unwrap()].map(|n| n.to_string());
        let [both, either] = counts;
        let numbers =
            [row.similarity.to_string(), both, either, value.to_string(), low.to_string(), high.to_string()];
        reasons.push((row.removed_id.to_string(), row.kept_id.to_string(), row.rule.to_string(), numbers));
        Ok(())
    })
    .unwrap();
    pairs.sort();
    reasons.sort();
    (pairs, reasons)
}

#[test]
fn stages_find_and_decide_what_a_run_on_one_machine_does() {
    let rows = corpus();
    for (keep, threshold) in [
        ("first", "0.8"),
        ("last", "0.7"),
        ("longest", "0.8"),
        ("shortest", "0.9"),
        ("max:value", "0.8"),
        ("min:value", "0.75"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), keep, threshold);
        let (expected_pairs, expected) = on_one_machine(&request, &rows);
        assert!(expected_pairs.len() > 1000 && expected.len() > 100, "{keep} {}", expected.len());
        for (slices, tasks) in [(1, 1), (7, 3), (100, 13)] {
            let settings = Settings::new(&request, slices, 100).unwrap();
            let edges = edges(&rows, &settings, tasks).unwrap();
            let found: Vec<Pair> = pairs(&task("pairs", &settings, &edges).unwrap());
            assert_eq!(found, expected_pairs, "{keep} {slices}");
            assert_eq!(evidence(&task("resolve", &settings, &edges).unwrap()), expected, "{keep} {slices}");
        }
    }
}

#[test]
fn rounds_of_stars_find_the_components_of_a_chain() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(&request(folder.path(), "first", "0.8"), 5, 10).unwrap();
    // Documents in an order that has nothing to do with the chain.
    let name = |i: u64| format!("{:016x}", hash::mix(i)).into_bytes();
    let mut out = Out::default();
    for i in 0..500 {
        let (a, b) = (name(i), name(i + 1));
        for (from, to) in [(&a, &b), (&b, &a)] {
            out.row(settings.slice(from), kind::SAME, [from, to, &[]]).unwrap();
        }
    }
    let mut links = out.take().unwrap();
    let mut rounds = 0;
    loop {
        let large = run("large_star", &settings, &links, 3).unwrap();
        links = run("small_star", &settings, &large, 3).unwrap();
        rounds += 1;
        let all: Vec<_> = links.iter().map(|batch| Rows::of(batch).unwrap()).collect();
        if all.iter().all(|rows| rows.iter().all(|(_, kind, _)| kind == kind::SAME)) {
            let first = (0..501).map(name).min().unwrap();
            let mut down: Vec<Vec<u8>> = Vec::new();
            for rows in &all {
                down.extend(rows.iter().filter(|(_, _, [from, to, _])| from > to).map(
                    |(_, _, [from, to, _])| {
                        assert_eq!(to, first);
                        from.to_vec()
                    },
                ));
            }
            assert_eq!(down.len(), 500);
            break;
        }
        assert!(rounds < 15, "{rounds} rounds for a chain of 501");
    }
}

/// What is wrong with the documents: kind, an id, how many.
fn wrong(edges: &[RecordBatch]) -> Vec<(i32, String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let rows: Vec<_> = edges.iter().map(|batch| Rows::of(batch).unwrap()).collect();
    let rows = rows.iter().flat_map(Rows::iter).filter(|(_, kind, _)| *kind < kind::SEEN);
    let mut wrong: Vec<_> = rows.map(|(_, kind, [id, n, _])| (kind, text(id), text(n))).collect();
    wrong.sort();
    wrong
}

#[test]
fn repeated_ids_are_told_whatever_is_kept_and_whatever_their_texts() {
    let folder = tempfile::tempdir().unwrap();
    let row = |id: &str, text: &str| {
        (id.to_owned(), format!("some words that are long enough for a few shingles {text}"))
    };
    let rows = [
        row("0007", "a"),
        row("0008", "a"),
        row("0007", "longer"),
        row("0009", "b"),
        row("0009", "b"),
        row("0007", ""),
    ];
    for keep in ["first", "last", "longest", "shortest", "max:value"] {
        let settings = Settings::new(&request(folder.path(), keep, "0.8"), 1, 10).unwrap();
        let wrong_rows = wrong(&found(&rows, &settings, 2).unwrap());
        assert_eq!(wrong_rows, [(kind::REPEATED, "0007".to_owned(), "3".to_owned())], "{keep}");
        assert_eq!(wrong(&found(&corpus(), &settings, 3).unwrap()), [], "{keep}");
    }
}

#[test]
fn documents_that_change_vanish_or_appear_between_readings_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let rows = corpus();
    let read_again = |settings: &Settings, again: &[(String, String)]| {
        let bands = task("bands", settings, &[documents(&rows)]).unwrap();
        let mut wanted = run("partners", settings, &run("buckets", settings, &bands, 2).unwrap(), 2).unwrap();
        wanted.extend(task("texts", settings, &[documents(again)]).unwrap());
        let edges = run("compare", settings, &run("fetch", settings, &wanted, 2).unwrap(), 2).unwrap();
        let wrong_rows = wrong(&edges);
        assert!(wrong_rows.iter().all(|(kind, ..)| *kind == kind::OTHER), "{wrong_rows:?}");
        wrong_rows.iter().map(|(_, _, n)| n.parse::<usize>().unwrap()).sum::<usize>()
    };
    for keep in ["first", "last", "longest", "max:value"] {
        let settings = Settings::new(&request(folder.path(), keep, "0.8"), 7, 10).unwrap();
        assert_eq!(read_again(&settings, &rows), 0, "{keep}");
        assert_eq!(read_again(&settings, &rows[..9]), rows.len() - 9, "{keep}");
        assert_eq!(
            read_again(&settings, &[&rows[..], &[("new".to_owned(), "text".to_owned())]].concat()),
            1,
            "{keep}"
        );
        // One of each kind of document.
        for i in (0..rows.len()).step_by(61) {
            let mut again = rows.clone();
            again[i].1.push('.');
            assert_eq!(read_again(&settings, &again), 1, "{keep} {i}");
        }
        // Ids that are shared out anew, as `monotonically_increasing_id` does.
        let ids = rows.iter().cycle().skip(1).map(|(id, _)| id.clone());
        let turned: Vec<_> = ids.zip(&rows).map(|(id, (_, text))| (id, text.clone())).collect();
        let n_same = turned.iter().filter(|row| rows.contains(row)).count();
        assert_eq!(read_again(&settings, &turned), rows.len() - n_same, "{keep}");
    }
}

#[test]
fn the_documents_that_were_seen_come_out_with_their_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let rows = corpus();
    let settings = Settings::new(&request(folder.path(), "longest", "0.8"), 7, 10).unwrap();
    let mut seen = Vec::new();
    for batch in task("seen", &settings, &found(&rows, &settings, 3).unwrap()).unwrap() {
        let (ids, hashes) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
        seen.extend((0..batch.num_rows()).map(|row| (ids.value(row).to_owned(), hashes.value(row))));
    }
    let mut expected: Vec<_> =
        rows.iter().map(|(id, text)| (id.clone(), hash::element(text.as_bytes()) as i64)).collect();
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
}

#[test]
fn what_a_stage_cannot_work_with_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(&request(folder.path(), "last", "0.8"), 3, 10).unwrap();
    let foreign = documents(&corpus()[..1]);
    assert!(task("buckets", &settings, &[foreign]).unwrap_err().to_string().contains("same version"));
    assert!(stage("none", settings).is_err());
    let mut exact = request(folder.path(), "first", "0.8");
    exact.compare.search = Search::Exact;
    assert!(Settings::new(&exact, 1, 1).unwrap_err().to_string().contains("recall"));
    let blocks_of_none = Settings::new(&request(folder.path(), "first", "0.8"), 1, 0);
    assert!(blocks_of_none.unwrap_err().to_string().contains("task_edges"));
}

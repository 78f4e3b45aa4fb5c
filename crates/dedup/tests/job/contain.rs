//! Test items inside documents: found however long the document is, and shown where they are.

use std::fs;

use benzer_dedup::request::{Measure, Output, Request, Search};
use benzer_dedup::results;

use crate::corpus::Random;
use crate::lab::{self, Lab};

fn words(random: &mut Random, n: usize) -> String {
    (0..n).map(|_| format!("w{}", random.below(100_000))).collect::<Vec<_>>().join(" ")
}

fn line(id: &str, text: &str) -> String {
    serde_json::json!({"id": id, "text": text}).to_string() + "\n"
}

fn request(lab: &Lab, output: &str, threshold: &str) -> Request {
    let usual = lab.request(output);
    let mut request = usual.with(|request| {
        request.compare.measure = Measure::Containment;
        request.compare.search = Search::Exact;
        request.old.paths = vec![lab.path("items.jsonl")];
        request.old.read = request.input.read.clone();
        request.compare.threshold = threshold.parse().unwrap();
    });
    request.compare.text.n = 5;
    request
}

#[test]
fn twenty_shingles_in_a_document_of_five_thousand_are_found_with_their_span() {
    let (lab, mut random) = (Lab::new(), Random::new(1));
    let (item, other) = (words(&mut random, 24), words(&mut random, 24));
    let (head, tail) = (words(&mut random, 2500), words(&mut random, 2500));
    // Copies of a document that contains nothing stay: they are not compared with each other.
    lab.write(
        "a.jsonl",
        line("has", &format!("{head}, {}. {tail}", item.to_uppercase()))
            + &line("not", &head)
            + &line("copy", &head),
    );
    fs::write(
        lab.path("items.jsonl"),
        line("other", &other) + &line("item", &item) + &line("short", "two words") + &line("none", "..."),
    )
    .unwrap();
    let run = request(&lab, "out", "0.9");
    let summary = lab::run(&run).unwrap();
    assert_eq!((summary.counts.removed, summary.counts.kept, summary.counts.removed_against), (1, 2, 1));
    assert_eq!(
        (summary.counts.against, summary.counts.against_short, summary.counts.against_empty),
        (4, 1, 1)
    );
    assert!(
        summary
            .warnings
            .iter()
            .any(|warning| warning.contains("1 of the 4 items") && warning.contains("--ngram")),
        "{:?}",
        summary.warnings
    );
    let mut rows = Vec::new();
    results::evidence(&run.results.folder, |row| {
        rows.push(row);
        Ok(())
    })
    .unwrap();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (row.removed_id.as_str(), row.kept_id.as_str(), row.rule.as_str()),
        ("has", "item", "contained")
    );
    assert_eq!(
        (row.similarity, row.intersection, row.size, row.union, row.kept_is_old),
        (1.0, Some(20), Some(20), None, true)
    );
    assert!(row.estimate.is_none());
    let (start, end, text) = row.span.clone().unwrap();
    assert_eq!(text, item.to_uppercase());
    assert_eq!((start as usize, end as usize), (head.len() + 2, head.len() + 2 + item.len()));
}

#[test]
fn marks_and_dry_runs_work_for_items_too() {
    let (lab, mut random) = (Lab::new(), Random::new(2));
    let item = words(&mut random, 12);
    lab.write(
        "a.jsonl",
        line("has", &format!("so {item} it is")) + &line("not", "nothing of the kind is in here at all"),
    );
    fs::write(lab.path("items.jsonl"), line("item", &item)).unwrap();
    let marked = request(&lab, "marked", "0.6").with(|request| request.results.write = Output::Annotate);
    lab::run(&marked).unwrap();
    let text = fs::read_to_string(marked.results.folder.join("documents/a.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&rows[0]["dup_of"], &rows[0]["is_duplicate"], &rows[0]["dup_similarity"]),
        (&"item".into(), &true.into(), &1.0.into())
    );
    assert_eq!((&rows[1]["dup_of"], &rows[1]["is_duplicate"]), (&serde_json::Value::Null, &false.into()));
    let dry = request(&lab, "dry", "0.6").with(|request| {
        request.results.write = Output::DryRun;
        request.results.save = None;
    });
    assert_eq!(lab::run(&dry).unwrap().counts.removed, 1);
    assert!(!dry.results.folder.join("documents").exists());
}

/// More items than the memory has room for at a time.
#[test]
fn an_index_in_parts_gives_the_same_bytes() {
    let (lab, mut random) = (Lab::new(), Random::new(3));
    let items: Vec<String> = (0..150).map(|_| words(&mut random, 3000)).collect();
    let text = |i: usize| {
        let item = &items[(7 * i) % 150];
        let part = &item[..item.len() * (i % 10 + 1) / 10];
        format!("{} {part}", words(&mut Random::new(i as u64), 50))
    };
    lab.write("a.jsonl", (0..40).map(|i| line(&format!("d{i}"), &text(i))).collect::<String>());
    fs::write(
        lab.path("items.jsonl"),
        items.iter().enumerate().map(|(i, item)| line(&format!("i{i}"), item)).collect::<String>(),
    )
    .unwrap();
    let plenty = request(&lab, "plenty", "0.5");
    let counts = lab::run(&plenty).unwrap().counts;
    assert!((15..30).contains(&counts.removed), "{counts:?}");
    // The least that is allowed: 450,000 shingles of items do not fit what is left for an index.
    let refused = lab::run(&request(&lab, "little", "0.5").with(|request| request.resources.memory = 1))
        .unwrap_err()
        .to_string();
    let least: u64 = refused.split_once("at least ").unwrap().1.split_once("MiB").unwrap().0.parse().unwrap();
    let little = request(&lab, "little", "0.5").with(|request| {
        request.resources.memory = least << 20;
        request.results.overwrite = true;
    });
    assert!((least << 20) / 16 / 48 < 450_000, "{least} MiB have room for all");
    lab::run(&little).unwrap();
    lab::assert_same(
        &lab::outputs(&little.results.folder),
        &lab::outputs(&plenty.results.folder),
        "in parts",
    );
}

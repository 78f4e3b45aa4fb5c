//! Old documents: what the guides teach works, and what cannot work says so.

use crate::bench::Bench;

/// The calls of a guide that name files of `examples/`.
fn calls(guide: &str) -> Vec<String> {
    let path = format!("{}/../../docs/guide/{guide}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let calls = text
        .lines()
        .filter_map(|line| line.strip_prefix("benzer "))
        .filter(|call| call.contains("examples/"));
    calls.map(|call| call.split("  #").next().unwrap().trim().replace("examples/", "")).collect()
}

#[test]
fn the_commands_of_the_guides_run() {
    for (guide, n) in [("decontaminate.md", 1), ("deduplicate.md", 2)] {
        let (bench, calls) = (Bench::new(), calls(guide));
        assert!(calls.len() >= n, "{calls:?}");
        calls.iter().for_each(|call| drop(bench.run(call).ok()));
    }
}

#[test]
fn a_second_day_loses_what_the_first_one_had() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o day1 --archive seen --id-field id").ok();
    let ran = bench.run("dedup today.jsonl -o day2 --archive seen --id-field id").ok();
    assert!(
        ran.out.contains("for an old one") && ran.out.contains("Compared with 110 old documents"),
        "{}",
        ran.out
    );
    let why = bench.run("explain day2 today-2").ok().out;
    assert!(why.contains("kept instead: `maps-18`, an old document, exact similarity 0.9"), "{why}");
    let keeper = bench.run("explain day2 maps-18").ok().out;
    assert!(keeper.contains("`maps-18` is an old document, for which 1 were removed"), "{keeper}");
    let kept = String::from_utf8(bench.read("day2/documents/today.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    // The same result against what the first day left, as documents.
    bench.run("dedup today.jsonl -o other --against day1 --id-field id").ok();
    assert_eq!(bench.read("other/documents/today.jsonl"), kept.as_bytes());
    assert_eq!(bench.read("other/pairs.parquet"), bench.read("day2/pairs.parquet"));
}

#[test]
fn a_leaked_test_item_is_shown_where_it_is() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o fair --against quiz.jsonl --measure containment --threshold 0.6 --id-field id").ok();
    let why = bench.run("explain fair trains-16").ok().out;
    assert!(
        why.contains("contains: `quiz-1`, an old document, contained to 1.0000 (29 of 29 shingles)"),
        "{why}"
    );
    assert!(why.contains("bytes 0 to 196 of its text: On Sundays a retired teacher"), "{why}");
    let json = bench.run("explain fair trains-16 --format json").ok().out;
    assert!(json.contains("\"kept_in\": \"against\"") && json.contains("\"span\": {"), "{json}");
}

#[test]
fn what_cannot_work_is_refused_with_the_remedy() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o a --measure containment").fails(2, &["--measure", "with --against"]);
    bench
        .run("dedup articles.jsonl -o a --against quiz.jsonl --cluster components")
        .fails(2, &["--cluster", "leaders with --against"]);
    bench.run("dedup articles.jsonl -o a --save --dry-run").fails(2, &["--save", "--dry-run"]);
    bench
        .run("dedup articles.jsonl -o a --against nowhere.jsonl")
        .fails(1, &["nowhere.jsonl", "check the spelling"]);
    bench.run("dedup articles.jsonl -o a --archive seen").ok();
    bench
        .run("dedup today.jsonl -o b --archive seen --ngram 3")
        .fails(1, &["archive `seen`", "words3", "words5", "save its documents again"]);
    bench.run("dedup today.jsonl -o c --archive a").fails(1, &["other files and no archive"]);
}

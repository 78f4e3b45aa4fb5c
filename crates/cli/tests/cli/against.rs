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
fn a_dry_run_says_that_nothing_is_added_to_the_archive() {
    let bench = Bench::new();
    let ran = bench.run("dedup articles.jsonl -o look --archive seen --dry-run").ok();
    assert!(ran.err.contains("warning: nothing is saved in `seen`: this is a dry run"), "{}", ran.err);
    assert!(!bench.path("seen").exists());
    let page = String::from_utf8(bench.read("look/report.html")).unwrap();
    assert!(page.contains("nothing is saved in `seen`"), "{page}");
    let ran = bench.run("dedup articles.jsonl -o day1 --archive seen").ok();
    assert!(!ran.err.contains("nothing is saved"), "{}", ran.err);
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

#[test]
fn looking_for_nothing_is_refused_and_what_cannot_be_looked_for_is_told() {
    let bench = Bench::new();
    bench.write("nothing.jsonl", "");
    let line = "dedup articles.jsonl -o fair --measure containment --id-field id";
    let refused = |more: &str, words: &[&str]| {
        let ran = bench.run(&format!("{line} --overwrite {more}"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(words.iter().all(|word| ran.err.contains(word)), "{ran:?}");
    };
    refused("--against nothing.jsonl", &["nothing was looked for", "are empty"]);
    refused(
        "--against quiz.jsonl --against-text-field nope",
        &["6 lines cannot be read", "--against-text-field"],
    );
    bench.write(
        "some.jsonl",
        "{\"id\":\"a\",\"text\":\"!!!\"}\n{\"id\":\"b\",\"text\":\"one two three four five six\"}\n",
    );
    let told = bench.run(&format!("{line} --overwrite --against some.jsonl")).ok();
    assert!(told.err.contains("1 old documents have no words"), "{told:?}");
}

#[test]
fn the_report_of_test_items_says_what_was_found_where() {
    let bench = Bench::new();
    bench
        .run("dedup articles.jsonl -o fair --against quiz.jsonl --measure containment --threshold 0.6 --id-field id")
        .ok();
    let page = String::from_utf8(bench.read("fair/report.html")).unwrap();
    for part in
        ["Test items in articles.jsonl", "Where the items are", "of item <code>", "containment", "quiz.jsonl"]
    {
        assert!(page.contains(part), "no {part}");
    }
    for wrong in ["is that similar to a kept one", "--audit off", "differ in case"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

#[test]
fn outputs_of_other_commands_do_not_go_to_folders_named_like_addresses() {
    let bench = Bench::new();
    for line in [
        "pairs articles.jsonl -o s3://bucket/p.tsv",
        "features articles.jsonl -o s3://bucket/f.svm",
        "sketch articles.jsonl -o s3://bucket/a.bsk",
        "dedup articles.jsonl -o day --archive s3://bucket/seen",
    ] {
        bench.run(line).fails(1, &["object stores", "this machine"]);
        assert!(!bench.path("s3:").exists(), "{line}");
    }
    bench.run("dedup articles.jsonl -o x --preset nemo --recall 0.99").fails(2, &["--preset", "--recall 1"]);
    bench.run("dedup articles.jsonl -o x --threshold 0.5").fails(2, &["--recall 1", "lower --recall"]);
}

//! `benzer dedup`: where documents come from, what is not read of them, and what is told.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::Bench;

/// Every third document is the one before it with another last word.
fn corpus(n: u64) -> String {
    let word = |n: u64, i: u64| format!("w{}", benzer_core::hash::split(n, i) % 5000);
    let line = |n: u64| {
        let (origin, last) = if n % 3 == 2 { (n - 1, "other") } else { (n, "last") };
        let words: Vec<String> = (0..40).map(|i| word(origin, i)).collect();
        format!("{{\"id\": \"{n}\", \"text\": \"{} {last}\"}}\n", words.join(" "))
    };
    (0..n).map(line).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn standard_input_is_deduplicated_like_a_file() {
    let bench = Bench::new();
    let text = corpus(60);
    bench.write("corpus.jsonl", &text);
    let from_file = bench.run("dedup corpus.jsonl --id-field id -o file --format json").json();
    let command = bench.command(&["dedup", "-", "--id-field", "id", "-o", "piped", "--format", "json"]);
    let from_pipe = bench.run_with(command, text.as_bytes()).json();
    assert_eq!(from_pipe["counts"], from_file["counts"]);
    assert_eq!(from_pipe["counts"]["removed"], 20);
    let documents = |folder: &str| {
        let entry = std::fs::read_dir(bench.path(folder)).unwrap().next().unwrap().unwrap();
        std::fs::read(entry.path()).unwrap()
    };
    assert_eq!(documents("piped/documents"), documents("file/documents"));
}

#[test]
fn files_that_are_one_document_each_are_kept_or_not_there() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("texts/deep")).unwrap();
    let text = "one two three four five six seven eight nine ten eleven twelve";
    bench.write("texts/a.txt", text);
    bench.write("texts/deep/b.txt", format!("{text}\n"));
    bench.write("texts/c.txt", "something else, in\ntwo lines");
    let counts = bench.run("dedup texts --per-file -o out --format json").json()["counts"].clone();
    assert_eq!((&counts["kept"], &counts["removed"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(bench.read("out/documents/a.txt"), text.as_bytes());
    assert_eq!(bench.read("out/documents/c.txt"), b"something else, in\ntwo lines");
    assert!(!bench.path("out/documents/deep/b.txt").exists());
}

#[test]
fn a_strict_run_ends_at_the_first_that_cannot_be_read() {
    let bench = Bench::new();
    let whole = gzip(corpus(300).as_bytes());
    bench.write("cut.jsonl.gz", &whole[..whole.len() / 2]);
    bench.write("bad.jsonl", "{\"text\": \"a\"}\n{\"text\": 7}\n");
    for (name, reason) in [("cut.jsonl.gz", "truncated"), ("bad.jsonl", "bad.jsonl:2")] {
        bench.run(&format!("dedup {name} --strict -o strict")).fails(1, &[reason]);
        assert!(!bench.path("strict/manifest.json").exists());
        let ran = bench.run(&format!("dedup {name} -o lenient --overwrite --format json")).json();
        assert_eq!(ran["counts"]["rejected"], 1, "{ran}");
        assert!(ran["counts"]["kept"].as_u64().unwrap() > 0);
        assert!(String::from_utf8(bench.read("lenient/rejects.jsonl")).unwrap().contains(name));
    }
}

#[test]
fn lines_are_as_long_as_was_said_and_larger_ones_are_told() {
    let bench = Bench::new();
    let long = "word ".repeat(2000);
    bench.write("long.jsonl", format!("{{\"text\": \"short one\"}}\n{{\"text\": \"{long}\"}}\n"));
    let counts = |options: &str| {
        bench.run(&format!("dedup long.jsonl -o out --overwrite --format json {options}")).json()["counts"]
            .clone()
    };
    assert_eq!(counts("")["rejected"], 0);
    assert_eq!(counts("--max-line 9KB")["rejected"], 1);
    let rejects = String::from_utf8(bench.read("out/rejects.jsonl")).unwrap();
    assert!(rejects.contains("expected at most 9000") && rejects.contains("--max-line"), "{rejects}");
    bench
        .run("dedup long.jsonl -o out --overwrite --max-line 2GiB")
        .fails(2, &["--max-line", "between 1 and"]);
}

#[test]
fn a_cluster_of_much_of_the_corpus_is_an_alarm() {
    let bench = Bench::new();
    // A chain: each differs from the next in few words, and the last has nothing of the first.
    let words: Vec<String> = (0..700).map(|i| format!("w{i}")).collect();
    let line =
        |i: usize| format!("{{\"id\": \"{i:03}\", \"text\": \"{}\"}}\n", words[4 * i..4 * i + 60].join(" "));
    bench.write("chain.jsonl", (0..150).map(line).collect::<String>());
    let run = |options: &str| {
        let ran = bench.run(&format!("dedup chain.jsonl --id-field id -o out --overwrite {options}")).ok();
        (ran.err.clone() + &ran.out, String::from_utf8(bench.read("out/report.html")).unwrap())
    };
    let (said, report) = run("--cluster components");
    assert!(said.contains("one cluster holds 100% of the corpus"), "{said}");
    assert!(said.contains("try --cluster leaders") && report.contains("one cluster holds"), "{said}");
    let (said, _) = run("");
    assert!(!said.contains("one cluster holds"), "{said}");
}

#[test]
fn the_exact_join_counts_its_sets_as_memory() {
    let bench = Bench::new();
    bench.write("corpus.jsonl", corpus(3000));
    let least = |options: &str| -> u64 {
        let ran = bench.run(&format!("dedup corpus.jsonl -o out --threads 1 --memory 5MiB {options}"));
        let (_, rest) = ran.err.split_once("at least ").unwrap();
        rest.split_once("MiB").unwrap().0.parse().unwrap()
    };
    let (bands, exact) = (least(""), least("--recall 1"));
    assert!(exact > bands + 5, "{bands} {exact}");
    bench.run(&format!("dedup corpus.jsonl -o out --threads 1 --recall 1 --memory {exact}MiB")).ok();
}

/// What is said of each stage reaches what there is to do, for the join too, and a run that is stopped in the middle of one goes on from there.
#[test]
fn stages_tell_how_far_they_are() {
    let bench = Bench::in_memory();
    bench.write("corpus.jsonl", corpus(60_000));
    for options in ["--recall 1", "--checkpoint 1"] {
        let line =
            format!("dedup corpus.jsonl --id-field id -o out --overwrite --threads 1 --log json {options}");
        let mut command = bench.command(&line.split_whitespace().collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
        let said: Vec<Value> = said.filter_map(|line| serde_json::from_str(&line).ok()).collect();
        assert!(child.wait().unwrap().success());
        let total = |stage: &str| said.iter().find(|line| line["stage"] == stage).unwrap()["total"].as_u64();
        for (number, stage) in
            ["read", "group", "candidates", "verify", "resolve", "audit", "write"].iter().enumerate()
        {
            let place =
                |line: &&Value| line["stage"] == *stage && line["number"] == number + 1 && line["of"] == 7;
            let begins = said.iter().find(place).unwrap();
            // What is left is known once a stage is over.
            assert_eq!(begins["seconds_left"].is_number(), number > 0, "{options}: {begins}");
        }
        for stage in ["read", "group", "candidates", "verify", "write"] {
            assert!(total(stage).is_some_and(|total| total > 0), "{options}: {stage} in {said:?}");
        }
        assert!(
            said.iter()
                .all(|line| line["done"].as_u64() <= line["total"].as_u64() || line["total"].is_null())
        );
    }
}

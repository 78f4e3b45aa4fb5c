use std::io::Write;
use std::path::Path;

use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::sketch::SketchSpec;
use benzer_sets::sketches::SketchReader;
use serde_json::Value;

use crate::bench::Bench;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Ids and sketches of a file.
fn read(path: &Path) -> Vec<(String, benzer_core::sketch::Sketch)> {
    let mut reader = SketchReader::open(path).unwrap();
    let mut all = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        let header = reader.header();
        all.extend(block.records().map(|record| (header.name(record.id), record.sketch(header).unwrap())));
    }
    all
}

#[test]
fn any_number_of_threads_and_any_compression_gives_the_same_bytes() {
    let bench = Bench::new();
    // More than one batch of lines.
    let large = bench.read("articles.jsonl").repeat(60);
    bench.write("large.jsonl", &large);
    bench.write("large.jsonl.gz", gzip(&large));
    for threads in [1, 2, 4] {
        let ran =
            bench.run(&format!("sketch large.jsonl --id-field id --threads {threads} -o {threads}.bsk")).ok();
        assert!(ran.err.starts_with("12,000 documents sketched"), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
    bench.run("sketch large.jsonl.gz --id-field id -o gz.bsk").ok();
    bench.run_with(bench.command(&["sketch", "-", "--id-field", "id", "-o", "stdin.bsk"]), &large).ok();
    let one = bench.read("1.bsk");
    for other in ["2.bsk", "4.bsk", "gz.bsk", "stdin.bsk"] {
        assert!(bench.read(other) == one, "{other} differs from 1.bsk");
    }
}

#[test]
fn stored_sketches_are_those_of_the_core() {
    let bench = Bench::new();
    bench
        .run("sketch articles.jsonl --text-field title,text --id-field id -n 3 --registers 64 -o x.bsk")
        .ok();
    let shingler = Shingler::new(&TextOptions { n: 3, ..Default::default() }).unwrap();
    let pipeline = shingler.pipeline().as_str().to_owned();
    let sketcher = SketchSpec { registers: 64, pipeline, ..Default::default() }.sketcher().unwrap();
    let stored = read(&bench.path("x.bsk"));
    let corpus = String::from_utf8(bench.read("articles.jsonl")).unwrap();
    assert_eq!(stored.len(), 200);
    for ((id, sketch), line) in stored.iter().zip(corpus.lines()) {
        let document: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| document[name].as_str().unwrap();
        let features = shingler.features(&format!("{}\n{}", field("title"), field("text")));
        assert_eq!((id.as_str(), sketch), (field("id"), &sketcher.sketch(&features).unwrap()));
    }
}

#[test]
fn bad_lines_are_counted_named_and_kept() {
    let bench = Bench::new();
    bench.write(
        "x.jsonl",
        b"{\"text\": \"a b\"}\nnot json\n{\"body\": 1}\n\n{\"text\": \"caf\xe9\"}\n{\"text\": \"c d\"}\n",
    );
    let ran = bench.run("sketch x.jsonl --rejects bad.jsonl -o x.bsk --format json").ok();
    assert!(ran.err.contains("rejected: x.jsonl:2: invalid json at column 2"), "{}", ran.err);
    assert!(ran.err.contains("rejected: x.jsonl:3: no field `text`"), "{}", ran.err);
    assert!(ran.err.contains("3 lines rejected; all of them are in `bad.jsonl`"), "{}", ran.err);
    let summary = ran.json();
    assert_eq!(
        (&summary["documents"], &summary["rejected"], &summary["blank"]),
        (&2.into(), &3.into(), &1.into())
    );
    let rejects = String::from_utf8(bench.read("bad.jsonl")).unwrap();
    let rows: Vec<Value> = rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.iter().map(|row| row["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 5]);
    assert_eq!(rows[0]["raw"], "not json");
    let ids: Vec<String> = read(&bench.path("x.bsk")).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["x.jsonl:1", "x.jsonl:6"]);
}

#[test]
fn the_format_of_an_input_does_not_change_its_sketches() {
    let bench = Bench::new();
    bench.write("x.jsonl", "{\"id\": 1, \"text\": \"a b\"}\n{\"id\": 2, \"text\": \"c, d\"}\n");
    bench.write("x.csv", "id,text\n1,a b\n2,\"c, d\"\n");
    bench.write("x.tsv.gz", gzip(b"text\tid\na b\t1\nc, d\t2\n"));
    for name in ["x.jsonl", "x.csv", "x.tsv.gz"] {
        bench.run(&format!("sketch {name} --id-field id -o {name}.bsk")).ok();
    }
    for name in ["x.csv", "x.tsv.gz"] {
        assert!(bench.read(&format!("{name}.bsk")) == bench.read("x.jsonl.bsk"), "{name}");
    }
    bench.write("x.txt", "a b\n\nc, d\n");
    let ran = bench.run("sketch x.txt -o t.bsk").ok();
    assert!(ran.err.starts_with("2 documents sketched"), "{}", ran.err);
    bench.run("sketch x.txt --id-field id -o t.bsk").fails(2, &["plain text, which has no fields"]);
    bench
        .run("sketch x.csv --text-field body -o t.bsk")
        .fails(1, &["no column `body`, there are `id`, `text`"]);
}

#[test]
fn strict_and_hopeless_inputs_write_nothing() {
    let bench = Bench::new();
    bench.write("x.jsonl", "{\"text\": \"a b\"}\nnot json\n");
    bench
        .run("sketch x.jsonl --strict --rejects r -o x.bsk")
        .fails(1, &["x.jsonl:2: invalid json", "--strict"]);
    bench
        .run("sketch articles.jsonl --text-field body -o x.bsk")
        .fails(1, &["no line could be read", "no field `body`"]);
    bench.write("empty.jsonl", "");
    bench.run("sketch empty.jsonl -o x.bsk").fails(1, &["no documents"]);
    for name in ["x.bsk", "r"] {
        assert!(!bench.path(name).exists(), "{name}");
    }
    let leftovers = std::fs::read_dir(bench.path("")).unwrap();
    assert!(
        !leftovers.into_iter().any(|entry| entry.unwrap().file_name().to_string_lossy().contains(".tmp"))
    );
}

#[test]
fn bad_inputs_and_outputs_are_named() {
    let bench = Bench::new();
    bench.run("sketch missing.jsonl -o x.bsk").fails(1, &["cannot open `missing.jsonl`"]);
    bench.run("sketch *.parquet -o x.bsk").fails(1, &["no file matches `*.parquet`"]);
    bench.run("sketch articles.jsonl -o a.txt").fails(1, &["`a.txt` exists and is not a sketch file"]);
    bench.run("sketch articles.jsonl -o articles.jsonl").fails(2, &["`articles.jsonl` is also an input"]);
    bench
        .run("sketch articles.jsonl -o no/x.bsk")
        .fails(1, &["cannot write `no/x.bsk`", "make its folder first"]);
    bench.run("sketch articles.jsonl -o .").fails(1, &["cannot write `.`"]);
    bench.run("sketch articles.jsonl -o -").fails(2, &["--output"]);
    bench.run("sketch articles.jsonl").fails(2, &["required arguments"]);
    bench.run("sketch -o x.bsk").fails(2, &["required arguments"]);
    bench
        .run("sketch articles.jsonl --text-field a..b -o x.bsk")
        .fails(2, &["'--text-field <FIELDS>'", "a..b"]);
    bench.run("sketch articles.jsonl --threads 0 -o x.bsk").fails(2, &["'--threads <N>'"]);
    bench.run("sketch articles.jsonl -n 0 -o x.bsk").fails(2, &["'--ngram <N>'"]);
    bench.run("sketch articles.jsonl --bag --sketch b8 -o x.bsk").fails(2, &["weighted:b8"]);
    bench.run("sketch articles.jsonl --sketch bottom_k:odd -o x.bsk").fails(2, &["--sketch bottom_k:odd"]);
}

#[test]
fn show_lists_the_spec_and_the_documents() {
    let bench = Bench::new();
    bench.run("sketch articles.jsonl -o x.bsk").ok();
    let shown = bench.run("sketch --show x.bsk --limit 2").ok().out;
    for part in [
        "documents  200 (0 empty)",
        "fast:2 x 128, 8 bits",
        "words5",
        "line of articles.jsonl",
        "2 of 200 shown",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("\narticles.jsonl:2 "), "{shown}");
    let all = bench.run("sketch --show x.bsk --limit 0").ok().out;
    assert!(all.contains("articles.jsonl:200") && !all.contains("shown"), "{all}");
    let json = bench.run("sketch --show x.bsk --ids articles.jsonl:7 --format json").json();
    assert_eq!(json["shown"].as_array().unwrap().len(), 1);
    assert_eq!(json["shown"][0]["words"].as_array().unwrap().len(), 16);
    bench.run("sketch --show x.bsk --ids nope").fails(1, &["no document `nope`"]);
    bench.run("sketch --show articles.jsonl").fails(1, &["expected a sketch file, got text"]);
    bench.run("sketch --show missing").fails(1, &["cannot read `missing`"]);
    bench.run("sketch --show .").fails(1, &["cannot read `.`", "sketch file in it"]);
}

#[test]
fn a_damaged_file_is_refused_by_every_reader() {
    let bench = Bench::new();
    bench.run("sketch articles.jsonl --id-field id -o x.bsk").ok();
    let whole = bench.read("x.bsk");
    bench.write("cut.bsk", &whole[..whole.len() / 2]);
    bench.run("sketch --show cut.bsk").fails(1, &["`cut.bsk`: block 0 is damaged", "the end of the file"]);
    let mut flipped = whole;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    bench.write("flipped.bsk", &flipped);
    bench
        .run("compare flipped.bsk --ids tides-1 tides-2")
        .fails(1, &["`flipped.bsk`: block 0", "expected checksum"]);
}

#[test]
fn bags_are_sketched_with_weights() {
    let bench = Bench::new();
    bench.write(
        "x.jsonl",
        "{\"id\": 1, \"text\": \"a a b\"}\n{\"id\": 2, \"text\": \"a b b\"}\n{\"id\": 3, \"text\": \"-\"}\n",
    );
    bench.run("sketch x.jsonl --bag -n 1 --id-field id -o x.bsk").ok();
    let sizes: Vec<Option<f64>> =
        read(&bench.path("x.bsk")).iter().map(|(_, sketch)| sketch.size()).collect();
    assert_eq!(sizes, [Some(3.0), Some(3.0), Some(0.0)]);
}

#[test]
fn no_output_is_written_over_an_input_or_over_another_file() {
    let bench = Bench::new();
    let before = bench.read("articles.jsonl");
    bench
        .run("sketch articles.jsonl -o o.bsk --rejects articles.jsonl")
        .fails(2, &["--rejects `articles.jsonl` is also an input"]);
    bench.run("sketch articles.jsonl -o o.bsk --rejects ./articles.jsonl").fails(2, &["is also an input"]);
    assert_eq!(bench.read("articles.jsonl"), before);
    bench
        .run("sketch articles.jsonl -o same --rejects ./same")
        .fails(2, &["--rejects and --output name the same file"]);
    bench.write("notes.txt", "mine\n");
    bench
        .run("sketch articles.jsonl -o o.bsk --rejects notes.txt")
        .fails(1, &["`notes.txt` exists and is not a file of rejects"]);
    assert_eq!(bench.read("notes.txt"), b"mine\n");
    bench.run("sketch articles.jsonl -o r.bsk").ok();
    bench.run("sketch articles.jsonl r.bsk -o r.bsk").fails(2, &["--output `r.bsk` is also an input"]);
    bench.write("mixed.jsonl", "{\"text\": \"one two three\"}\nnot json\n");
    for _ in 0..2 {
        let ran = bench.run("sketch mixed.jsonl -o m.bsk --rejects bad.jsonl").ok();
        assert!(ran.err.contains("1 line rejected"), "{ran:?}");
    }
}

#[test]
fn shingle_options_are_refused_where_shingles_are_made_already() {
    let bench = Bench::new();
    bench.run("sketch articles.jsonl --id-field id -o a.bsk").ok();
    bench
        .run("compare a.bsk --ids tides-1 tides-2 -n 3")
        .fails(2, &["a sketch file has its shingles already"]);
}

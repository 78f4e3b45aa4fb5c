//! `pairs`, `groups` and `features` as their users see them.

use std::io::Write;

use benzer_core::field::text::{Shingler, TextOptions};
use serde_json::Value;

use crate::bench::Bench;

/// Rows of TSV without the header.
fn rows(tsv: &str) -> Vec<Vec<&str>> {
    tsv.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

/// 2,000 sets in families of five.
fn families() -> String {
    let set = |i: usize| {
        (0..40)
            .filter(|j| !(i + j).is_multiple_of(7))
            .map(move |j| format!(" {}", i / 5 * 100 + j))
            .collect::<String>()
    };
    (0..2_000).map(|i| format!("s{i}{}\n", set(i))).collect()
}

#[test]
fn pairs_are_exact_and_in_order() {
    let bench = Bench::new();
    let ran = bench.run("pairs baskets.txt --set-format id-items --threshold 0.75").ok();
    let expected = "id_a\tid_b\tintersection\tunion\tsize_a\tsize_b\tsimilarity\n\
                    ada\tben\t3\t4\t4\t3\t0.75\n\
                    ada\tfay\t3\t4\t4\t3\t0.75\n\
                    ben\tcem\t3\t4\t3\t4\t0.75\n\
                    dora\teli\t3\t4\t3\t4\t0.75\n\
                    eli\thal\t3\t4\t4\t3\t0.75\n";
    assert_eq!(ran.out, expected);
    assert_eq!(ran.err, "5 pairs of 8 sets; 5 compared\n");
}

#[test]
fn threads_and_memory_change_nothing() {
    let bench = Bench::new();
    bench.write("sets.txt", families());
    for command in [
        "pairs sets.txt --threshold 0.6",
        "pairs sets.txt --measure containment",
        "groups sets.txt --threshold 0.5",
    ] {
        let one = bench.run(&format!("{command} --set-format id-items --threads 1")).ok();
        let three = bench.run(&format!("{command} --set-format id-items --threads 3 --memory 150MiB")).ok();
        assert!(one.out == three.out && rows(&one.out).len() > 1_000, "{command}: {}", one.err);
    }
    assert!(
        !std::fs::read_dir(bench.path("."))
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().starts_with(".benzer") })
    );
}

#[test]
fn containment_has_a_direction() {
    let bench = Bench::new();
    bench.write("small.txt", "x\ta b\ny\tq r s\n");
    bench.write("large.txt", "X\ta b c d\nY\tq r\n");
    let ran = bench
        .run("pairs small.txt --with large.txt --set-format id-items --measure containment --threshold 0.6")
        .ok();
    assert_eq!(
        rows(&ran.out),
        [["x", "X", "2", "4", "2", "4", "1"], ["y", "Y", "2", "3", "3", "2", "0.6666666666666666"]]
    );
    assert_eq!(ran.err, "2 pairs of 2 x 2 sets; 2 compared\n");
    let both = bench
        .run("pairs large.txt small.txt --set-format id-items --measure containment --threshold 0.6")
        .ok();
    let ids: Vec<_> = rows(&both.out).iter().map(|row| [row[0], row[1]].concat()).collect();
    assert_eq!(ids, ["Yy", "xX", "yY"]);
}

#[test]
fn a_cross_join_pairs_the_two_sides_only() {
    let bench = Bench::new();
    bench.write("a.dat", "1 2 3\n1 2 3\n7 8\n");
    bench.write("b.dat", "1 2 3 4\n7 8\n7 8\n");
    let ran = bench.run("pairs a.dat --with b.dat --set-format items --threshold 0.7").ok();
    let ids: Vec<_> = rows(&ran.out).iter().map(|row| [row[0], row[1]].join(" ")).collect();
    assert_eq!(ids, ["1 1", "2 1", "3 2", "3 3"]);
}

#[test]
fn documents_are_compared_by_their_shingles() {
    let bench = Bench::new();
    let ran = bench.run("pairs articles.jsonl --id-field id --threshold 0.8 --format json").ok();
    let corpus = String::from_utf8(bench.read("articles.jsonl")).unwrap();
    let documents: Vec<Value> = corpus.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shingler = Shingler::new(&TextOptions::default()).unwrap();
    let features: Vec<_> =
        documents.iter().map(|document| shingler.features(document["text"].as_str().unwrap())).collect();
    let mut expected = Vec::new();
    for (i, (a, x)) in documents.iter().zip(&features).enumerate() {
        for (b, y) in documents.iter().zip(&features).skip(i + 1) {
            let jaccard = x.jaccard(y).unwrap();
            if jaccard >= 0.8 {
                expected.push((a["id"].clone(), b["id"].clone(), jaccard));
            }
        }
    }
    let found = ran.out.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["id_a"].clone(), row["id_b"].clone(), row["similarity"].as_f64().unwrap())
    });
    assert!(expected.len() > 50);
    assert_eq!(found.collect::<Vec<_>>(), expected);
    bench.run("pairs articles.jsonl --id-field id -o pairs.parquet").ok();
    assert!(bench.read("pairs.parquet").starts_with(b"PAR1"));
    let of_file = bench.run("pairs articles.jsonl --threshold 0.9").ok();
    assert!(rows(&of_file.out)[0][0].starts_with("articles.jsonl:"));
}

#[test]
fn transposed_items_are_sets_of_lines() {
    let bench = Bench::new();
    let ran = bench.run("pairs baskets.txt --set-format id-items --transpose --threshold 0.8").ok();
    assert_eq!(
        rows(&ran.out),
        [["milk", "bread", "4", "5", "5", "4", "0.8"], ["tea", "lemon", "3", "3", "3", "3", "1"]]
    );
    bench.write("x.docword", "3\n4\n5\n1 1 2\n1 2 1\n2 1 1\n2 2 9\n3 4 1\n");
    let words = bench.run("pairs x.docword --set-format docword --transpose --threshold 1").ok();
    assert_eq!(rows(&words.out), [["1", "2", "2", "2", "2", "2", "1"]]);
    let documents = bench.run("pairs x.docword --set-format docword --threshold 1").ok();
    assert_eq!(rows(&documents.out), [["1", "2", "2", "2", "2", "2", "1"]]);
}

#[test]
fn docword_may_be_compressed_and_unsorted_and_says_what_is_wrong() {
    let bench = Bench::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"9\n9\n7\n7 3 1\n2 3 1\n7 4 1\n2 4 1\n2 10 1\n12 1 1\n2 x 1\n2 5 0\n").unwrap();
    bench.write("x.gz", gzip.finish().unwrap());
    let ran = bench.run("pairs x.gz --set-format docword --rejects bad.jsonl").ok();
    assert_eq!(rows(&ran.out), [["2", "7", "2", "2", "2", "2", "1"]]);
    for part in [
        "x.gz:8: expected a word of at most 9, as line 2 says, got `2 10`",
        "x.gz:9: expected a document of at most 9, as line 1 says, got `12 1`",
        "x.gz:10: expected three numbers: document, word, count, got `2 x 1`",
        "has 6 entries, and its third line promises 7; it may be cut off",
        "3 lines rejected",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(bench.read("bad.jsonl").iter().filter(|&&byte| byte == b'\n').count(), 3);
    bench.run("pairs x.gz --set-format docword --strict").fails(1, &["x.gz:10", "--strict"]);
    bench.write("no.docword", "1 1 1\n1 2 1\n");
    bench
        .run("pairs no.docword --set-format docword")
        .fails(1, &["no line could be read", "no.docword:1: expected one number"]);
}

#[test]
fn groups_are_triples_of_the_same_sets_however_they_are_verified() {
    let bench = Bench::new();
    let ran = bench.run("groups baskets.txt --set-format id-items --threshold 0.5").ok();
    assert_eq!(
        rows(&ran.out),
        [
            ["ada", "ben", "cem", "3", "5", "0.6"],
            ["ada", "ben", "fay", "2", "4", "0.5"],
            ["dora", "eli", "hal", "2", "4", "0.5"]
        ]
    );
    let exact = bench.run("groups articles.jsonl --id-field id --threshold 0.5").ok();
    assert!(rows(&exact.out).len() >= 10);
    for bits in [2, 4, 8, 64] {
        let filter = bench
            .run(&format!(
                "groups articles.jsonl --id-field id --threshold 0.5 --verify filter --bits {bits}"
            ))
            .ok();
        assert_eq!(filter.out, exact.out, "{bits}");
    }
    let estimate = bench.run("groups articles.jsonl --id-field id --threshold 0.5 --verify estimate").ok();
    assert!(estimate.out.starts_with("id_a\tid_b\tid_c\testimate\tlow\thigh\n"));
    for row in rows(&estimate.out) {
        let numbers: Vec<f64> = row[3..].iter().map(|number| number.parse().unwrap()).collect();
        assert!(numbers[0] >= 0.5 && numbers[1] <= numbers[0] && numbers[0] <= numbers[2], "{row:?}");
    }
    bench.run("groups articles.jsonl --bits 1").fails(2, &["--bits must be 2 to 16, 32 or 64, got 1"]);
}

#[test]
fn features_have_labels_and_their_numbers_beside() {
    let bench = Bench::new();
    let ran =
        bench.run("features reviews.csv -o r.svm --label-field verdict -n 1 --registers 16 --bits 4").ok();
    assert_eq!(ran.err, "6 rows of 256 columns\nlabel 0: good\nlabel 1: bad\n");
    let text = String::from_utf8(bench.read("r.svm")).unwrap();
    let labels: Vec<&str> = text.lines().map(|line| &line[..2]).collect();
    assert_eq!(labels, ["0 ", "1 ", "0 ", "1 ", "0 ", "1 "]);
    assert_eq!(bench.read("r.svm.labels.json"), b"{\n  \"bad\": 1,\n  \"good\": 0\n}\n");
    let call = "features reviews.csv -o r.svm --label-field verdict --format json";
    let summary = bench.run(call).json();
    assert_eq!((&summary["rows"], &summary["columns"]), (&6.into(), &32_768.into()));
    bench.write("r.svm", &text);
    let piped = bench
        .run("features reviews.csv -o - --label-field verdict -n 1 --registers 16 --bits 4 --threads 3")
        .ok();
    assert_eq!(piped.out, text);
    bench.write("n.jsonl", "{\"text\": \"a b\", \"y\": -1}\n{\"text\": \"c\", \"y\": 2.5}\n{\"text\": \"d\"}\n{\"text\": \"!\", \"y\": 3}\n");
    let numbers = bench.run("features n.jsonl -o - --label-field y --registers 1 --bits 1").ok();
    let labels: Vec<&str> = numbers.out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(labels, ["-1", "2.5", "3"]);
    assert!(numbers.err.contains("n.jsonl:3: expected a number or a text as the label"), "{}", numbers.err);
    assert!(numbers.err.contains("1 without an element"), "{}", numbers.err);
}

#[test]
fn wrong_wishes_are_answered_with_the_remedy() {
    let bench = Bench::new();
    for (call, parts) in [
        ("pairs baskets.txt --set-format sets", &["id-items, items or docword"][..]),
        ("pairs articles.jsonl --transpose", &["--set-format"]),
        ("pairs baskets.txt --set-format items --id-field id", &["--id-field", "cannot be used with"]),
        ("pairs articles.jsonl --threshold 0", &["above 0 and at most 1"]),
        ("pairs articles.jsonl --output-format parquet", &["-o FILE"]),
        ("pairs articles.jsonl --memory 20MiB", &["--memory must be at least", "got 20MiB"]),
        ("pairs articles.jsonl -o articles.jsonl", &["is also an input"]),
        ("pairs articles.jsonl --bag", &["leave it out"]),
        ("features articles.jsonl -o x --bits 17", &["bits"]),
        (
            "features baskets.txt --set-format items --label-id -o x",
            &["--label-id needs --set-format id-items"],
        ),
    ] {
        let ran = bench.run(call);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{call}: {}", ran.err);
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{call}: {}", ran.err);
    }
    bench.run("pairs missing.txt --set-format items").fails(1, &["cannot open `missing.txt`"]);
    bench.write("empty.txt", "\n\n");
    bench.run("pairs empty.txt --set-format items").fails(1, &["nothing to compare"]);
    bench.write("twice.txt", "x a b\nx a b\n");
    let twice = bench.run("pairs twice.txt --set-format id-items").ok();
    assert!(
        twice.err.contains("warning: 1 set has an id that an earlier one has, such as `x`"),
        "{}",
        twice.err
    );
}

/// The guide's calls, in a folder that has the samples under `examples/` as the repository does.
#[test]
fn every_command_of_the_guide_runs() {
    let bench = Bench::new();
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/compare-sets.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let calls: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("benzer ")).collect();
    assert!(calls.len() >= 10, "{calls:?}");
    for call in calls {
        let arguments = call.split(" #").next().unwrap().replace("examples/", "");
        let ran = bench.run(arguments.trim()).ok();
        assert!(!ran.err.contains("warning") && !ran.err.contains("rejected"), "{call}: {}", ran.err);
    }
}

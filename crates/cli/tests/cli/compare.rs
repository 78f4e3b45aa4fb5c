use benzer_core::field::text::{Shingler, TextOptions};

use crate::bench::{Bench, Ran};

#[test]
fn two_texts_are_compared_exactly_and_by_sketch() {
    let ran = Bench::new().run("compare a.txt b.txt").ok();
    let expected = "\
A  a.txt  259 shingles
B  b.txt  248 shingles
5-word shingles, [low, high] = 95% interval
b8: fast:2 x 128, 8 bits, seed 42 = 128 bytes

                 exact  b8
A, B  jaccard   0.8436  ";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    assert!(ran.out.contains("  intersection     232  "), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn json_has_the_exact_values_at_full_precision() {
    let bench = Bench::new();
    let json = bench.run("compare a.txt b.txt c.txt --format json --sketch full,b2").json();
    let text = |name: &str| String::from_utf8(bench.read(name)).unwrap();
    let shingler = Shingler::new(&TextOptions::default()).unwrap();
    let features = ["a.txt", "b.txt", "c.txt"].map(|name| shingler.features(&text(name)));
    let pair = &json["pairs"][1];
    assert_eq!(pair["of"], serde_json::json!(["A", "C"]));
    assert_eq!(pair["exact"]["jaccard"].as_f64(), features[0].jaccard(&features[2]));
    assert_eq!(pair["exact"]["intersection"].as_u64(), Some(features[0].intersection(&features[2]) as u64));
    assert_eq!(pair["exact"]["union"].as_u64(), Some(features[0].union(&features[2]) as u64));
    let triple = &json["triples"][0];
    assert_eq!(
        (triple["exact"]["intersection"].as_u64(), triple["exact"]["union"].as_u64()),
        (Some(68), Some(399))
    );
    for estimate in pair["estimates"].as_array().unwrap() {
        let value = &estimate["jaccard"]["value"];
        let [low, exact, high] =
            [&value["low"], &pair["exact"]["jaccard"], &value["high"]].map(|number| number.as_f64().unwrap());
        assert!(low <= exact && exact <= high, "{estimate}");
    }
    assert_eq!(json["sketches"][1]["bytes"], 32);
}

#[test]
fn estimates_are_those_of_the_core() {
    let bench = Bench::new();
    let json = bench.run("compare a.txt b.txt --format json --registers 64 --seed 7 --sketch odd").json();
    let shingler = Shingler::new(&TextOptions::default()).unwrap();
    let spec: benzer_core::sketch::SketchSpec =
        serde_json::from_value(json["sketches"][0]["spec"].clone()).unwrap();
    assert_eq!((spec.seed, spec.pipeline.as_str()), (7, shingler.pipeline().as_str()));
    let sketcher = spec.sketcher().unwrap();
    let [a, b] = ["a.txt", "b.txt"].map(|name| {
        sketcher.sketch(&shingler.features(&String::from_utf8(bench.read(name)).unwrap())).unwrap()
    });
    let expected = serde_json::to_value(benzer_core::estimate::of::jaccard(&a, &b).unwrap()).unwrap();
    assert_eq!(json["pairs"][0]["estimates"][0]["jaccard"], expected);
}

#[test]
fn sets_and_bags_count_items() {
    let bench = Bench::new();
    bench.write("x", "a\r\na\nb\n\nc");
    bench.write("y", "a\nb\nb\n");
    let exact = |line: &str| bench.run(line).json()["pairs"][0]["exact"].clone();
    let set = exact("compare --set x y --format json");
    assert_eq!((&set["intersection"], &set["union"]), (&2.into(), &3.into()));
    let bag = exact("compare --set --bag x y --format json");
    assert_eq!((&bag["intersection"], &bag["union"]), (&2.into(), &5.into()));
}

#[test]
fn every_kind_of_sketch_fits_eighty_columns() {
    let names = "full,b1,b2,b4,b8,b16,b32,xor2,odd,odd256,permutations,linear,legacy,affine32,affine64,one_permutation,\
                 one_permutation:b4,bottom_k,weighted,odd_set";
    let ran = Bench::new().run(&format!("compare a.txt b.txt c.txt a.txt --sketch {names}")).ok();
    for line in ran.out.lines().filter(|line| !line.starts_with('(')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(ran.out.contains("none (1)") && ran.out.contains(") `bits` must be at least 2"), "{}", ran.out);
    assert!(ran.out.contains("(saturated)"), "odd_set cannot tell so large a difference: {}", ran.out);
}

#[test]
fn explain_shows_what_is_shared_and_what_is_not() {
    let bench = Bench::new();
    let plain = bench.run("compare a.txt b.txt --explain -n 3").ok().out;
    for part in [
        "in both: 238",
        "only in A: 21",
        "only in B: 10",
        "silted up, [-nobody-] {+hardly anybody+} in the\ntown",
    ] {
        assert!(plain.contains(part), "{part:?} in {plain}");
    }
    assert!(!plain.contains('\u{1b}'), "no colour without a terminal");
    let painted = bench.run("compare a.txt b.txt --explain -n 3 --color always").ok().out;
    assert!(painted.contains("\u{1b}[9m\u{1b}[31mnobody\u{1b}[0m") && !painted.contains("[-"), "{painted:?}");
    let json = bench.run("compare a.txt b.txt --explain --format json").json();
    let diff = json["explanations"][0]["diff"].as_array().unwrap();
    assert!(
        diff.iter().any(|segment| segment["change"] == "removed" && segment["text"] == "nobody "),
        "{diff:?}"
    );
    let sets = bench.run("compare --set monday.txt tuesday.txt --explain").ok().out;
    assert!(sets.contains("only in A: 4\n  cheese\n") && !sets.contains("too many places"), "{sets}");
}

#[test]
fn a_text_cannot_command_the_terminal() {
    let bench = Bench::new();
    bench.write("evil", "one two three \u{1b}]0;title\u{7} four");
    let ran = bench.run("compare evil a.txt --explain -n 1").ok();
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
}

#[test]
fn stored_sketches_are_compared_by_id() {
    let bench = Bench::new();
    bench.run("sketch articles.jsonl --id-field id -o x.bsk").ok();
    bench.run("sketch articles.jsonl --id-field id -o y.bsk").ok();
    let one = bench.run("compare x.bsk --ids tides-2 tides-1").ok();
    assert!(one.out.starts_with("A  tides-2  146 elements\nB  tides-1  140 elements\n"), "{}", one.out);
    assert!(!one.out.contains("exact"), "{}", one.out);
    let both = bench.run("compare x.bsk y.bsk --ids tides-1 --format json").json();
    assert_eq!(both["inputs"][1]["name"], "tides-1 in y.bsk");
    assert_eq!(both["pairs"][0]["estimates"][0]["jaccard"]["value"]["value"], 1.0);
    bench.run("compare x.bsk --ids tides-1 nope").fails(1, &["no document `nope` in `x.bsk`", "--show"]);
    bench.run("compare x.bsk --ids tides-1").fails(1, &["name two or more with --ids"]);
    bench.run("compare x.bsk").fails(2, &["`x.bsk` has more than 26 documents", "--ids"]);
    bench.run("compare x.bsk a.txt").fails(2, &["sketch files only"]);
    bench.run("compare x.bsk --ids tides-1 tides-2 --explain").fails(2, &["--explain"]);
    bench.run("sketch articles.jsonl --id-field id --seed 7 -o z.bsk").ok();
    bench.run("compare x.bsk z.bsk --ids tides-1").fails(1, &["different specs", "seed 42", "seed 7"]);
}

#[test]
fn bad_files_are_named_with_a_remedy() {
    let bench = Bench::new();
    bench.write("empty", "");
    bench.write("blank", " \n\t\n");
    bench.write("binary", b"\x7fELF\x00\xff\xfe\x00");
    bench.write("latin", b"caf\xe9\n");
    bench.write("packed", b"\x1f\x8b\x08\x00");
    std::fs::create_dir(bench.path("folder")).unwrap();
    bench.run("compare a.txt missing").fails(1, &["cannot read `missing`", "No such file"]);
    bench.run("compare a.txt empty").fails(1, &["`empty` is empty"]);
    bench.run("compare --set blank a.txt").fails(1, &["`blank` is empty"]);
    bench.run("compare binary a.txt").fails(1, &["`binary` is a binary file"]);
    bench.run("compare a.txt latin").fails(1, &["`latin` line 1: invalid UTF-8 at byte 3", "iconv"]);
    bench.run("compare a.txt packed").fails(1, &["`packed` is compressed with gzip", "gunzip"]);
    bench.run("compare a.txt folder").fails(1, &["`folder` is a folder"]);
}

#[test]
fn bad_arguments_are_wrong_usage() {
    let bench = Bench::new();
    bench.run("compare a.txt").fails(2, &["two or more"]);
    bench.run("compare a.txt b.txt -n 0").fails(2, &["'--ngram <N>'", "0 is not in 1.."]);
    bench.run("compare a.txt b.txt --registers 0").fails(2, &["'--registers <K>'"]);
    bench.run("compare a.txt b.txt --registers 4000000000").fails(2, &["1..=65536"]);
    bench.run("compare a.txt b.txt --sketch minhash").fails(2, &["'minhash'", "bottom_k", "b1 to b16"]);
    bench.run("compare a.txt b.txt --sketch bottom_k:b8").fails(2, &["--sketch bottom_k:b8", "not aligned"]);
    bench.run("compare a.txt b.txt --sketch xor3").fails(2, &["--sketch xor3", "divisor of 128"]);
    bench.run("compare a.txt b.txt --bag --sketch b8").fails(2, &["--sketch b8", "weighted:b8"]);
    bench.run("compare a.txt b.txt --stop-words xx").fails(2, &["--stop-words", "`xx`", "en"]);
    bench
        .run("compare a.txt b.txt --unit bytes --stop-words en")
        .fails(2, &["--stop-words", "unless the unit is words"]);
    bench.run("compare a.txt b.txt --ids x").fails(2, &["--ids", "`a.txt` is none"]);
    bench.run("compare --set -n 3 a.txt b.txt").fails(2, &["'--set' cannot be used with '--ngram <N>'"]);
}

#[test]
fn the_same_file_twice_is_noted_and_compared() {
    let ran = Bench::new().run("compare a.txt ./a.txt").ok();
    assert_eq!(ran.err, "note: `./a.txt` is compared with itself\n");
    assert!(ran.out.contains("jaccard   1.0000"), "{}", ran.out);
}

#[test]
fn a_text_without_a_word_is_similar_to_nothing() {
    let bench = Bench::new();
    bench.write("dots", "...");
    bench.write("stars", "***");
    let one = bench.run("compare dots a.txt").ok();
    assert!(
        one.err.contains("warning: `dots` has nothing to compare") && one.out.contains("0.0000"),
        "{one:?}"
    );
    let both = bench.run("compare dots stars").ok();
    assert!(both.out.contains("undefined") && both.out.contains("(1) the sets are empty"), "{}", both.out);
    assert!(
        bench.run("compare dots stars --bag --format json").json()["pairs"][0]["exact"]["jaccard"].is_null()
    );
}

#[test]
fn standard_input_and_any_script_can_be_compared() {
    let bench = Bench::new();
    bench.write("zh", "\u{feff}我们在港口看到了很多船");
    let from_stdin = |text: &str| -> Ran {
        bench.run_with(bench.command(&["compare", "-", "zh", "-n", "2", "--format", "json"]), text.as_bytes())
    };
    let json = from_stdin("我们在港口看到了很多船").json();
    assert_eq!(json["pairs"][0]["exact"]["jaccard"], 1.0);
    from_stdin("").fails(1, &["`-` is empty"]);
}

#[test]
fn many_files_leave_out_the_triples() {
    let bench = Bench::new();
    let ran = bench.run("compare a.txt b.txt c.txt monday.txt tuesday.txt articles.jsonl a.txt").ok();
    assert!(
        ran.err.contains("note: every three are shown of 6 inputs or fewer, and these are 7"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("A to G  jaccard"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let bench = Bench::new();
    let mut command = bench.command(&["compare", "a.txt", "b.txt", "--explain"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

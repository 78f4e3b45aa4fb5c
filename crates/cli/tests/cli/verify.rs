//! `benzer verify` of everything that is kept.

use crate::bench::Bench;

#[test]
fn all_that_is_kept_is_verified_by_its_path() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o clean --id-field id --save").ok();
    bench.run("sketch articles.jsonl -o articles.bsk --id-field id").ok();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("collections export news -o news.bin").ok();
    let told =
        bench.run("verify clean clean/saved articles.bsk news.bin benzer-data benzer-data/news news").ok();
    for line in [
        "clean: whole, results of a deduplication, ",
        "clean/saved: whole, an archive of earlier runs, 4 files, ",
        "articles.bsk: whole, a file of sketches, 1 file, ",
        "news.bin: whole, an exported collection, 200 documents, ",
        "\nnews: whole, 200 documents",
    ] {
        assert!(told.out.contains(line), "{line}: {}", told.out);
    }
    assert_eq!(told.out.matches("/benzer-data/news: whole, 200 documents").count(), 2, "{}", told.out);
    let json = bench.run("verify ./clean news.bin --format json").ok().json();
    assert_eq!(json["./clean"]["kind"], "results");
    assert_eq!(json["news.bin"]["documents"], 200);
}

#[test]
fn damage_of_every_kind_is_told_with_the_file() {
    let bench = Bench::in_memory();
    bench.run("dedup articles.jsonl -o clean --id-field id --save").ok();
    bench.run("sketch articles.jsonl -o articles.bsk --id-field id").ok();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("collections export news -o news.bin").ok();
    bench.run("key create reader").ok();
    for (file, of) in [
        ("clean/manifest.json", "clean"),
        ("clean/run.json", "clean"),
        ("clean/evidence.parquet", "clean"),
        ("clean/documents/articles.jsonl", "clean"),
        ("clean/saved/000001.keys", "clean"),
        ("clean/saved/archive.json", "clean/saved"),
        ("articles.bsk", "articles.bsk"),
        ("news.bin", "news.bin"),
        ("benzer-data/.keys.json", "benzer-data/.keys.json"),
    ] {
        let whole = bench.read(file);
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            bench.write(file, &changed);
            let told = bench.run(&format!("verify ./{of}"));
            assert_eq!(told.code, 1, "{file}, byte {place}: {told:?}");
            assert!(told.out.contains(": damaged, ") && told.out.contains("  wrong: "), "{told:?}");
            assert!(told.err.contains(&format!("not whole: ./{of}; ")), "{told:?}");
            let is_named = told.out.contains(file.rsplit('/').next().unwrap());
            assert!(is_named, "{file}, byte {place}: {told:?}");
        }
        bench.write(file, &whole);
        bench.run(&format!("verify ./{of}")).ok();
    }
}

#[test]
fn names_and_paths_are_told_apart() {
    let bench = Bench::new();
    bench.run("index news articles.jsonl --text text").ok();
    bench.run("dedup articles.jsonl -o news --id-field id").ok();
    assert!(bench.run("verify news").ok().out.contains("news: whole, 200 documents"));
    assert!(bench.run("verify ./news").ok().out.contains("./news: whole, results of a deduplication"));
    // Without collections, nothing is asked of them.
    assert!(bench.run("verify news --db none").ok().out.contains("news: whole, results"));
    assert!(!bench.path("none").exists());
    bench.run("verify missing").fails(1, &["missing"]);
    bench.run("verify ./missing").fails(1, &["./missing"]);
    bench.run("verify s3://bucket/clean").fails(2, &["copy it to this machine first"]);
    let foreign = bench.run("verify articles.jsonl");
    assert_eq!(foreign.code, 1, "{foreign:?}");
    assert!(foreign.out.contains("inputs have no checksums"), "{foreign:?}");
}

#[test]
fn a_run_that_was_interrupted_is_not_whole() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o clean --id-field id").ok();
    std::fs::remove_file(bench.path("clean/manifest.json")).unwrap();
    let told = bench.run("verify clean");
    assert!(told.code == 1 && told.out.contains("no manifest.json"), "{told:?}");
}

//! Where results go, and what of it is read again.

use benzer_storage::Lock;

use crate::bench::Bench;

#[test]
fn results_inside_of_the_input_are_not_read_again() {
    let bench = Bench::new();
    let run = |more: &str| bench.run(&format!("dedup in -o in/clean --id-field id --format json {more}"));
    std::fs::create_dir(bench.path("in")).unwrap();
    std::fs::copy(bench.path("articles.jsonl"), bench.path("in/articles.jsonl")).unwrap();
    let first = run("").ok();
    assert!(!first.err.contains("note:"), "{}", first.err);
    let again = run("--overwrite").ok();
    let told = "note: 8 files in `in/clean` are results of an earlier run, and were not read";
    assert!(again.err.contains(told), "{}", again.err);
    assert_eq!(first.json()["counts"], again.json()["counts"]);
    // Named, they are inputs, and would be replaced.
    bench.run("dedup in/clean/documents -o in/clean --overwrite").fails(1, &["`in/clean` holds an input"]);
    bench.run("dedup in/clean -o in/clean --overwrite").fails(1, &["`in/clean` holds an input"]);
}

#[test]
fn two_runs_into_one_folder_exclude_each_other() {
    let bench = Bench::new();
    let usual = bench.path("out/.benzer-work");
    std::fs::create_dir_all(&usual).unwrap();
    let lock = Lock::acquire(&usual).unwrap();
    let run = || bench.run("dedup articles.jsonl -o out --work-dir work");
    run().fails(1, &["another run", "`out/.benzer-work`", "choose another output"]);
    drop(lock);
    run().ok();
    assert!(!usual.exists() && !bench.path("work").exists());
}

#[test]
fn whole_files_are_sketched_as_documents() {
    let bench = Bench::new();
    let n = |line: &str| {
        bench.run(&format!("sketch {line} -o x.bsk --format json")).ok().json()["documents"].clone()
    };
    assert_eq!(n("a.txt b.txt c.txt --per-file"), 3);
    assert_eq!(n("articles.jsonl --input-format text"), n("articles.jsonl"));
    bench.run("sketch articles.jsonl -o x.bsk --per-file --input-format csv").fails(2, &["--per-file"]);
}

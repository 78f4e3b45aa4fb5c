//! What a run says of its outcome is so: nothing is left out, replaced or left behind without a word.

use crate::bench::{Bench, Ran};

const TEXT: &str = "one two three four five six seven eight nine ten eleven twelve";

/// A corpus in folders, whose second lines are removed, whose third ones are like nothing; one line is no document.
fn folders(with_ids: bool) -> Bench {
    let bench = Bench::in_memory();
    std::fs::create_dir_all(bench.path("corpus/sub")).unwrap();
    let line = |id: &str, text: &str| match with_ids {
        true => format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n"),
        false => format!("{{\"text\": \"{text}\"}}\n"),
    };
    let file = |name: &str| {
        [
            line(&format!("{name}-1"), &format!("{name} {TEXT} {name}")),
            line(&format!("{name}-2"), &format!("{name} {TEXT} {name}!")),
            line(
                &format!("{name}-3"),
                &format!("{name} is like nothing else in all of the corpus of {name}"),
            ),
        ]
        .concat()
    };
    bench.write("corpus/in.jsonl", file("top"));
    bench.write("corpus/sub/in.jsonl", file("deep"));
    bench.write(
        "corpus/sub/other.jsonl",
        file("other") + "\nnot json\n" + &line("last", "the last one has a line of its own"),
    );
    bench
}

fn explain(bench: &Bench, name: &str) -> Ran {
    bench.run(&format!("explain out {name} --format json"))
}

#[track_caller]
fn is(bench: &Bench, name: &str, id: &str, status: &str) {
    let found = explain(bench, name).json();
    assert_eq!((&found["id"], &found["status"]), (&id.into(), &status.into()), "{name}: {found}");
}

#[test]
fn a_document_is_explained_by_its_place_however_it_is_written() {
    let bench = folders(false);
    bench.run("dedup corpus -o out --allow-rejects").ok();
    for name in ["sub/in.jsonl:2", "corpus/sub/in.jsonl:2", "./corpus/sub/in.jsonl:2"] {
        is(&bench, name, "sub/in.jsonl:2", "removed");
    }
    let absolute = bench.path("corpus/sub/other.jsonl");
    is(&bench, &format!("{}:2", absolute.display()), "sub/other.jsonl:2", "removed");
    is(&bench, "other.jsonl:1", "sub/other.jsonl:1", "kept");
    // In no pair, and still known.
    is(&bench, "other.jsonl:3", "sub/other.jsonl:3", "kept");
    is(&bench, "corpus/in.jsonl:3", "in.jsonl:3", "kept");
    is(&bench, "other.jsonl:6", "sub/other.jsonl:6", "kept");
    // A name that is exactly one is that one.
    is(&bench, "in.jsonl:2", "in.jsonl:2", "removed");
    let rejected = explain(&bench, "sub/other.jsonl:5").json();
    assert_eq!(rejected["status"], "rejected");
    assert!(rejected["reason"].as_str().unwrap().contains("invalid json"), "{rejected}");
    for unknown in ["other.jsonl:4", "other.jsonl:7", "in.jsonl:4", "in.jsonl:0", "nothere.jsonl:1", "nobody"]
    {
        explain(&bench, unknown).fails(1, &[&format!("`{unknown}` is unknown")]);
    }
}

#[test]
fn what_names_several_documents_lists_all_of_them() {
    let bench = Bench::in_memory();
    for folder in ["a", "b"] {
        std::fs::create_dir_all(bench.path(&format!("corpus/{folder}"))).unwrap();
        let name = format!("{folder} {TEXT} {folder}");
        bench.write(&format!("corpus/{folder}/in.jsonl"), format!("{{\"text\": \"{name}\"}}\n{{\"text\": \"{name}!\"}}\n{{\"text\": \"only {folder} has this\"}}\n"));
    }
    bench.run("dedup corpus -o out").ok();
    for line in [1, 2, 3] {
        let parts = ["names 2 documents", &format!("`a/in.jsonl:{line}`"), &format!("`b/in.jsonl:{line}`")];
        explain(&bench, &format!("in.jsonl:{line}")).fails(1, &parts);
        is(
            &bench,
            &format!("b/in.jsonl:{line}"),
            &format!("b/in.jsonl:{line}"),
            if line == 2 { "removed" } else { "kept" },
        );
    }
}

#[test]
fn a_document_with_an_id_is_explained_by_both() {
    let bench = folders(true);
    bench.run("dedup corpus -o out --id-field id").ok();
    for (name, id, status) in [
        ("deep-2", "deep-2", "removed"),
        ("corpus/sub/in.jsonl:2", "deep-2", "removed"),
        ("sub/in.jsonl:1", "deep-1", "kept"),
        ("other.jsonl:3", "other-3", "kept"),
        ("other-3", "other-3", "kept"),
        ("last", "last", "kept"),
        ("sub/other.jsonl:6", "last", "kept"),
    ] {
        is(&bench, name, id, status);
    }
    explain(&bench, "deep-4").fails(1, &["`deep-4` is unknown"]);
    explain(&bench, "other.jsonl:4").fails(1, &["is unknown"]);
    // What is not in the results cannot be told without the inputs, and that is said.
    std::fs::remove_file(bench.path("corpus/sub/other.jsonl")).unwrap();
    explain(&bench, "other-3").fails(1, &["cannot be told", "corpus/sub/other.jsonl"]);
    is(&bench, "other-2", "other-2", "removed");
}

#[test]
fn an_id_that_is_used_twice_names_two_documents() {
    let bench = Bench::new();
    let line = |id: &str, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    let corpus =
        [line("a", TEXT), line("b", &format!("{TEXT}!")), line("b", "another text without any like it")];
    bench.write("twice.jsonl", corpus.concat());
    bench.run("dedup twice.jsonl -o out --id-field id").ok();
    explain(&bench, "b").fails(1, &["names 2 documents", "twice.jsonl:2", "twice.jsonl:3"]);
    let found = explain(&bench, "twice.jsonl:2").json();
    assert_eq!((&found["id"], &found["status"]), (&"b".into(), &"removed".into()), "{found}");
    let found = explain(&bench, "twice.jsonl:3").json();
    assert_eq!((&found["id"], &found["status"]), (&"b".into(), &"kept".into()), "{found}");
}

/// So many good lines, then so many bad ones.
fn partly(good: usize, bad: usize) -> String {
    let text = |i: usize| (0..8).map(|word| format!("w{i}-{word}")).collect::<Vec<_>>().join(" ");
    let good = (0..good).map(|i| format!("{{\"body\": \"x\", \"text\": \"{}\"}}\n", text(i)));
    good.chain((0..bad).map(|_| "{\"body\": \"y\"}\n".to_owned())).collect()
}

#[test]
fn rejected_lines_are_in_the_table_and_too_many_stop_the_run() {
    let bench = Bench::in_memory();
    bench.write("few.jsonl", partly(200, 1));
    bench.write("some.jsonl", partly(40, 2));
    bench.write("half.jsonl", partly(10, 10));
    bench.write("most.jsonl", partly(10, 11));
    let ran = bench.run("dedup few.jsonl -o few").ok();
    assert!(ran.out.contains("lines rejected") && !ran.err.contains("warning: "), "{ran:?}");
    assert!(ran.out.contains("  first: few.jsonl:201: no field `text`"), "{ran:?}");
    let ran = bench.run("dedup some.jsonl -o some").ok();
    assert!(ran.err.contains("warning: 2 of 42 lines (4.8%) cannot be read"), "{ran:?}");
    assert!(ran.err.contains("--text-field"), "{ran:?}");
    bench.run("dedup half.jsonl -o half").ok();
    let line = "dedup most.jsonl -o most";
    bench.run(line).fails(
        1,
        &[
            "11 of 21 lines cannot be read",
            "most.jsonl:11",
            "--allow-rejects",
            "`body`",
            "most/rejects.jsonl",
        ],
    );
    assert_eq!(String::from_utf8(bench.read("most/rejects.jsonl")).unwrap().lines().count(), 11);
    assert!(!bench.path("most/manifest.json").exists() && !bench.path("most/documents").exists());
    assert_eq!(bench.run("verify ./most").code, 1);
    let counts = bench.run(&format!("{line} --allow-rejects --format json")).json()["counts"].clone();
    assert_eq!((counts["kept"].as_u64(), counts["rejected"].as_u64()), (Some(10), Some(11)));
    bench.run("verify ./most").ok();
    // None is none, whatever is allowed.
    bench.write("none.jsonl", partly(0, 3));
    bench.run("dedup none.jsonl -o none --allow-rejects").fails(1, &["3 of 3 lines"]);
    // Old documents are lines like others.
    bench
        .run("dedup few.jsonl -o other --against most.jsonl")
        .fails(1, &["11 of 21 lines of old documents", "--against-text-field"]);
}

#[test]
fn the_field_that_decides_who_is_kept_is_there() {
    let bench = Bench::new();
    let line = |n: u32, score: &str| {
        format!("{{\"id\": {n}, \"meta\": {{\"score\": {score}}}, \"text\": \"{TEXT}\"}}\n")
    };
    bench.write("scores.jsonl", [line(1, "0.5"), line(2, "0.75"), line(3, "null"), line(4, "[1]")].concat());
    let run =
        |keep: &str| bench.run(&format!("dedup scores.jsonl --id-field id -o out --overwrite --keep {keep}"));
    run("first").ok();
    let before = bench.read("out/manifest.json");
    run("max:nosuch").fails(2, &["--keep", "max:nosuch", "`id`", "`meta.score`", "`text`"]);
    run("max:meta").fails(2, &["--keep", "`meta.score`"]);
    assert!(!bench.path("out/manifest.json").exists(), "nothing looks finished");
    assert!(!before.is_empty());
    let ran = run("max:meta.score").ok();
    assert!(ran.err.contains("2 of 4 documents have no `meta.score`"), "{ran:?}");
    assert!(String::from_utf8(bench.read("out/documents/scores.jsonl")).unwrap().contains("\"id\": 2,"));
    bench.write("scores.csv", format!("id,date,text\n1,2026-01-02,{TEXT}\n2,2026-03-01,{TEXT}\n"));
    let by_date =
        |keep: &str| bench.run(&format!("dedup scores.csv --id-field id -o dates --overwrite --keep {keep}"));
    by_date("max:day").fails(2, &["--keep", "`id`, `date`, `text`"]);
    let ran = by_date("max:date").ok();
    assert!(ran.err.contains("byte by byte") && !ran.err.contains("warning"), "{ran:?}");
}

#[test]
fn what_was_made_of_earlier_results_goes_with_them_and_what_does_not_belong_is_told() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o clean --id-field id").ok();
    bench.run("rethreshold clean 0.9").ok();
    bench.run("verify ./clean").ok();
    let stale = bench.path("stale");
    std::fs::rename(bench.path("clean/at-0.9"), &stale).unwrap();
    bench.run("rethreshold clean 0.9").ok();
    bench.run("dedup articles.jsonl -o clean --id-field id --overwrite --ngram 2").ok();
    assert!(!bench.path("clean/at-0.9").exists());
    // Results of another run at another threshold, and files of somebody else.
    std::fs::rename(&stale, bench.path("clean/at-0.9")).unwrap();
    let ran = bench.run("verify ./clean");
    assert!(ran.code == 1 && ran.out.contains("at-0.9") && ran.out.contains("an earlier run"), "{ran:?}");
    std::fs::remove_dir_all(bench.path("clean/at-0.9")).unwrap();
    bench.write("clean/documents/more.jsonl", "{}\n");
    let ran = bench.run("verify ./clean");
    assert!(ran.code == 1 && ran.out.contains("more.jsonl`: it is not of this run"), "{ran:?}");
    std::fs::remove_file(bench.path("clean/documents/more.jsonl")).unwrap();
    bench.write("clean/notes.txt", "mine");
    let ran = bench.run("verify ./clean").ok();
    assert!(ran.out.contains("notes.txt` is not of this run"), "{ran:?}");
}

#[test]
fn nothing_of_a_run_that_failed_looks_finished() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl -o out --id-field id").ok();
    // It fails when the old results are gone.
    bench.write("bad.jsonl", partly(1, 9));
    bench.run("dedup bad.jsonl -o out --overwrite").fails(1, &["9 of 10 lines"]);
    let left: Vec<String> = std::fs::read_dir(bench.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    assert_eq!(left, ["rejects.jsonl"]);
    assert_eq!(bench.run("verify ./out").code, 1);
    // A run that is refused before it does anything leaves them.
    bench.run("dedup articles.jsonl -o out --id-field id --overwrite").ok();
    bench.run("dedup missing.jsonl -o out --overwrite").fails(1, &["missing.jsonl"]);
    bench.run("verify ./out").ok();
}

#[test]
fn a_file_of_another_kind_is_named_and_the_others_are_read() {
    let bench = Bench::in_memory();
    std::fs::create_dir(bench.path("in")).unwrap();
    for name in ["a", "b", "c"] {
        bench.write(&format!("in/{name}.jsonl"), format!("{{\"id\": \"{name}\", \"text\": \"{TEXT}\"}}\n"));
    }
    bench.write("in/labels.csv", "id,label\na,1\n");
    bench.write("in/README.md", "# What this is\n\nA corpus.\n");
    bench.write("in/d.jsonl.bz2", "BZh9");
    for input in ["in", "in/*"] {
        let ran = bench.run(&format!("dedup {input} -o out --overwrite --id-field id --format json"));
        if input == "in" {
            assert!(
                ran.err.contains(
                    "note: 1 files of the input folders have extensions that are not read: `in/d.jsonl.bz2`"
                ),
                "{ran:?}"
            );
        } else {
            // A glob names what it matches.
            ran.fails(1, &["in/d.jsonl.bz2", "bzip2"]);
            std::fs::remove_file(bench.path("in/d.jsonl.bz2")).unwrap();
            continue;
        }
        assert!(
            ran.err
                .contains("warning: a file of another kind was not read: `in/labels.csv`: no column `text`"),
            "{ran:?}"
        );
        assert!(ran.err.contains("plain text") && ran.err.contains("in/README.md"), "{ran:?}");
        assert_eq!(ran.json()["counts"]["read"], 3);
    }
    bench.run("dedup in -o out --overwrite --id-field id --strict").fails(1, &["in/README.md", "--strict"]);
    // What is named, or what most are, is not passed over.
    bench
        .run("dedup in/labels.csv in/a.jsonl -o out --overwrite")
        .fails(1, &["in/labels.csv", "no column `text`"]);
    // Without ids, lines of plain text are documents, and that is said.
    let ran = bench.run("dedup in -o out --overwrite --format json");
    assert!(
        ran.err.contains("warning: 1 files among others are plain text") && ran.err.contains("in/README.md"),
        "{ran:?}"
    );
    assert_eq!(ran.json()["counts"]["read"], 5);
    std::fs::create_dir(bench.path("tables")).unwrap();
    bench.write("tables/a.csv", "id,body\n1,x\n");
    bench.write("tables/b.csv", "id,body\n2,y\n");
    bench.write("tables/c.jsonl", "{\"text\": \"one\"}\n");
    bench.run("dedup tables -o out --overwrite").fails(1, &["tables/a.csv", "no column `text`"]);
}

#[test]
fn results_never_lie_upon_inputs() {
    let bench = Bench::in_memory();
    std::fs::create_dir_all(bench.path("in/documents")).unwrap();
    std::fs::copy(bench.path("articles.jsonl"), bench.path("in/documents/a.jsonl")).unwrap();
    std::fs::copy(bench.path("articles.jsonl"), bench.path("in/documents/b.jsonl")).unwrap();
    std::os::unix::fs::symlink(bench.path("in"), bench.path("link")).unwrap();
    let before = (bench.read("in/documents/a.jsonl"), bench.read("in/documents/b.jsonl"));
    for (line, code, part) in [
        ("dedup in/documents -o in --overwrite", 1, "`in` holds an input"),
        ("dedup in/documents/a.jsonl -o link --overwrite", 1, "`link` holds an input"),
        ("dedup in -o in --overwrite", 1, "`in` holds an input"),
        (
            "dedup in/documents/a.jsonl in/documents/b.jsonl -o ./in/../in/documents --overwrite",
            1,
            "holds an input",
        ),
        ("dedup articles.jsonl -o in --overwrite --against in/documents", 1, "holds an input"),
        ("dedup articles.jsonl -o in/documents/new --against in", 1, "lies in an input folder"),
        ("dedup in -o out --archive in", 1, "holds an input"),
        ("dedup in -o out --archive in/seen", 1, "lies in an input folder"),
        ("dedup in -o out --work-dir in", 1, "holds an input"),
        ("sketch in/documents/a.jsonl -o link/documents/a.jsonl", 2, "is also an input"),
        ("sketch in -o link/documents/a.jsonl", 2, "lies in an input folder"),
        ("pairs in -o in/documents/pairs.parquet", 2, "lies in an input folder"),
        ("pairs in/documents/*.jsonl -o in/documents/b.jsonl", 2, "is also an input"),
        ("pairs articles.jsonl --with in -o in/documents/b.jsonl", 2, "lies in an input folder"),
        ("groups in/documents/a.jsonl -o in/documents/a.jsonl", 2, "is also an input"),
        ("features in/documents/a.jsonl -o link/documents/a.jsonl", 2, "is also an input"),
        ("index news in/documents/a.jsonl --text text --rejects in/documents/a.jsonl", 2, "is also an input"),
    ] {
        bench.run(line).fails(code, &[part, "outside of the inputs"]);
        assert!((bench.read("in/documents/a.jsonl"), bench.read("in/documents/b.jsonl")) == before, "{line}");
        assert!(!bench.path("in/.benzer-work").exists() && !bench.path("out").exists(), "{line}");
    }
    bench.run("dedup articles.jsonl -o clean").ok();
    let manifest = bench.read("clean/manifest.json");
    for out in ["clean", "./clean/.", "."] {
        bench.run(&format!("rethreshold clean 0.9 -o {out}")).fails(1, &["holds an input"]);
    }
    bench.run("dedup articles.jsonl -o other").ok();
    bench.run("rethreshold clean 0.9 -o other").fails(1, &["`other` holds the results of a run"]);
    bench.run("rethreshold clean 0.9 -o in").fails(1, &["`in` holds other files"]);
    assert!(bench.read("clean/manifest.json") == manifest);
    bench.run("verify ./other").ok();
}

#[test]
fn what_no_run_has_made_is_never_replaced() {
    let bench = Bench::in_memory();
    // Folders and files of somebody else that are called as those of a run.
    for (folder, file) in [
        ("mine", "documents/letter.txt"),
        ("web", "manifest.json"),
        ("work", "rejects.jsonl"),
        ("album", "pictures/me.png"),
    ] {
        std::fs::create_dir_all(bench.path(&format!("{folder}/{file}")).parent().unwrap()).unwrap();
        bench.write(&format!("{folder}/{file}"), "{\"name\": \"app\"}");
    }
    for more in ["", "--overwrite"] {
        bench.run(&format!("dedup articles.jsonl -o mine {more}")).fails(1, &["`mine` holds"]);
        bench.run(&format!("dedup articles.jsonl -o web {more}")).fails(1, &["`web` holds"]);
        bench
            .run(&format!("dedup articles.jsonl -o out --work-dir work {more}"))
            .fails(1, &["`work` holds", "--work-dir"]);
    }
    for (folder, file) in
        [("mine", "documents/letter.txt"), ("web", "manifest.json"), ("work", "rejects.jsonl")]
    {
        assert_eq!(bench.read(&format!("{folder}/{file}")), b"{\"name\": \"app\"}");
    }
}

#[cfg(feature = "image")]
#[test]
fn pictures_of_somebody_else_are_not_replaced_and_too_many_rejects_stop_the_run() {
    let bench = Bench::in_memory();
    std::fs::create_dir_all(bench.path("album/pictures")).unwrap();
    bench.write("album/pictures/me.png", "mine");
    for more in ["", "--overwrite"] {
        bench.run(&format!("dedup --image bay.png hills.png -o album {more}")).fails(1, &["`album` holds"]);
    }
    assert_eq!(bench.read("album/pictures/me.png"), b"mine");
    std::fs::create_dir(bench.path("photos")).unwrap();
    std::fs::copy(bench.path("bay.png"), bench.path("photos/bay.png")).unwrap();
    bench
        .run("dedup --image photos/bay.png hills.png -o photos --overwrite")
        .fails(1, &["`photos` holds an input"]);
    for name in ["x.png", "y.png"] {
        bench.write(&format!("photos/{name}"), "no picture");
    }
    bench
        .run("dedup --image photos -o out")
        .fails(1, &["2 of 3 files cannot be read", "--allow-rejects", "out/rejects.jsonl"]);
    assert!(!bench.path("out/manifest.json").exists() && !bench.path("out/pictures").exists());
    bench.run("dedup --image photos -o out --allow-rejects").ok();
}

//! `benzer dedup` as a process: what it says, and that it can be killed, stopped and gone on with at any moment.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use benzer_core::hash::split;
use benzer_storage::Lock;
use serde_json::Value;

use crate::bench::{Bench, Ran};

const STAGES: [&str; 7] = ["read", "group", "candidates", "verify", "resolve", "audit", "write"];
/// Every stage leaves what a later run can take over.
const RUN: &str = "dedup corpus.jsonl --id-field id --keep longest --checkpoint 1 --threads 2 --log json";

/// Some thousand documents, every third an edited copy of one shortly before it.
fn corpus() -> String {
    let word = |document: u64, i: u64| split(document, i) % 900;
    let line = |n: u64| {
        let (origin, edited) = if n % 3 == 2 { (n - 1 - n % 2, split(n, 99) % 60) } else { (n, 60) };
        let word = |i: u64| format!("w{}", if i == edited { 1000 } else { word(origin, i) });
        let text = (0..60).map(word).collect::<Vec<_>>().join(" ");
        format!("{{\"id\": \"{n}\", \"text\": \"{text}\"}}\n")
    };
    (0..16_000).map(line).collect()
}

/// A folder with the corpus in it, and what an undisturbed run makes of it.
fn prepared() -> (Bench, BTreeMap<String, Vec<u8>>) {
    let bench = Bench::in_memory();
    bench.write("corpus.jsonl", corpus());
    let ran = bench.run(&format!("{RUN} -o right --format json")).json();
    assert!(ran["counts"]["removed"].as_u64().unwrap() > 500, "{ran}");
    let right = outputs(&bench.path("right"));
    (bench, right)
}

/// Every file but `run.json`.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("run.json") {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    files
}

#[track_caller]
fn assert_same(found: &BTreeMap<String, Vec<u8>>, right: &BTreeMap<String, Vec<u8>>, context: &str) {
    assert_eq!(found.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>(), "{context}");
    let differing: Vec<&String> = found.keys().filter(|name| found[*name] != right[*name]).collect();
    assert!(differing.is_empty(), "{context}: {differing:?}");
}

/// A run that has begun a stage, and everything it will still say.
fn begun(mut command: Command, stage: &str) -> (Child, BufReader<impl Read>) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let (mut line, begins) = (String::new(), format!("\"stage\":\"{stage}\""));
    while !line.contains(&begins) {
        line.clear();
        // A run that took a stage over does not begin it.
        if said.read_line(&mut line).unwrap() == 0 {
            break;
        }
    }
    (child, said)
}

fn line(bench: &Bench, line: &str) -> Command {
    bench.command(&line.split_whitespace().collect::<Vec<_>>())
}

/// The stages that a finished run took over.
fn resumed(ran: Ran) -> Vec<String> {
    let report = ran.json();
    let stages = report["stages"].as_array().unwrap().iter().filter(|stage| stage["resumed"] == true);
    stages.map(|stage| stage["stage"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_killed_run_is_resumed_with_the_same_bytes() {
    let (bench, right) = prepared();
    let (mut n_killed, mut taken_over) = (0, Vec::new());
    for (i, stage) in STAGES.iter().enumerate() {
        for delay in [0, 300, 1000, 3000, 6000, 12_000, 25_000] {
            // The second kill meets what the first one left.
            for (run, stage) in [("", stage), ("--resume", &STAGES[(i + 2) % STAGES.len()])] {
                let (mut child, _said) = begun(line(&bench, &format!("{RUN} -o out {run}")), stage);
                thread::sleep(Duration::from_micros(delay));
                child.kill().unwrap();
                n_killed += usize::from(child.wait().unwrap().code().is_none());
            }
            taken_over.extend(resumed(bench.run(&format!("{RUN} -o out --resume --format json"))));
            assert_same(&outputs(&bench.path("out")), &right, &format!("{stage} after {delay} us"));
            std::fs::remove_dir_all(bench.path("out")).unwrap();
        }
    }
    assert!(n_killed >= 40, "{n_killed}");
    for stage in ["read", "candidates", "verify"] {
        assert!(taken_over.iter().any(|taken| taken == stage), "{stage} was never taken over");
    }
}

#[test]
fn ctrl_c_stops_and_says_how_to_go_on() {
    let (bench, right) = prepared();
    for stage in ["read", "candidates"] {
        // A run that ends before the signal is begun again.
        let stopped = (0..20).find_map(|_| {
            let (mut child, mut said) = begun(line(&bench, &format!("{RUN} -o out --overwrite")), stage);
            let interrupt = format!("kill -INT {}", child.id());
            assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
            let mut message = String::new();
            said.read_to_string(&mut message).unwrap();
            let code = child.wait().unwrap().code();
            if code == Some(0) {
                std::fs::remove_dir_all(bench.path("out")).unwrap();
            }
            (code != Some(0)).then_some((code, message))
        });
        let (code, message) = stopped.expect("a run is stopped");
        assert_eq!(code, Some(1), "{message}");
        let last = message.lines().last().unwrap();
        assert!(last.starts_with("error: stopped") && last.contains("--resume"), "{message}");
        assert!(!bench.path("out/manifest.json").exists());
        let taken_over = resumed(bench.run(&format!("{RUN} -o out --resume --format json")));
        // What was saved by then.
        assert!(taken_over.is_empty() || (stage != "read" && taken_over[0] == "read"), "{taken_over:?}");
        assert_same(&outputs(&bench.path("out")), &right, stage);
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
}

#[test]
fn a_second_run_in_the_same_work_folder_is_refused() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("work")).unwrap();
    let lock = Lock::acquire(&bench.path("work")).unwrap();
    let run = || bench.run("dedup articles.jsonl -o out --work-dir work");
    let pid = format!("(pid {})", std::process::id());
    run().fails(1, &["another run", &pid, "`work`", "choose another output and --work-dir"]);
    drop(lock);
    run().ok();
    assert!(bench.path("out/manifest.json").exists());
}

#[test]
fn too_little_memory_is_refused_with_what_works() {
    let bench = Bench::new();
    let run = |memory: &str| bench.run(&format!("dedup articles.jsonl -o out --threads 1 --memory {memory}"));
    let refused = run("5MiB");
    let (_, rest) = refused.err.split_once("at least ").unwrap();
    let least = format!("{}MiB", rest.split_once("MiB").unwrap().0);
    refused.fails(2, &["--memory must be at least", "got 5MiB"]);
    run(&least).ok();
}

#[test]
fn the_summary_and_the_files_agree() {
    let bench = Bench::new();
    let report = bench.run("dedup articles.jsonl -o out --id-field id --format json").json();
    let counts = &report["counts"];
    let count = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(count("kept") + count("removed") + count("rejected"), count("read"));
    let documents = String::from_utf8(bench.read("out/documents/articles.jsonl")).unwrap();
    assert_eq!(documents.lines().count() as u64, count("kept"));
    let manifest: Value = serde_json::from_slice(&bench.read("out/manifest.json")).unwrap();
    assert_eq!(manifest["counts"], *counts);
    let shown = bench.run("dedup articles.jsonl -o shown --id-field id").ok().out;
    assert!(shown.contains("kept") && shown.contains("by exact comparison"), "{shown}");
    bench.run("dedup articles.jsonl -o out").fails(1, &["`out` holds the results", "--overwrite"]);
    bench.run("dedup articles.jsonl -o same --work-dir same").fails(2, &["--work-dir", "another folder"]);
}

#[test]
fn an_input_of_which_nothing_can_be_read_is_a_failure() {
    let bench = Bench::new();
    std::fs::write(bench.path("plain.jsonl"), "not json\nnor this\n").unwrap();
    let ran = bench.run("dedup plain.jsonl -o out");
    assert_eq!(ran.code, 1, "{ran:?}");
    for told in ["plain.jsonl:1", "2 of 2 lines cannot be read", "--text-field, --id-field or --input-format"]
    {
        assert!(ran.err.contains(told), "{ran:?}");
    }
    assert_eq!(String::from_utf8(bench.read("out/rejects.jsonl")).unwrap().lines().count(), 2);
    bench.run("dedup plain.jsonl -o lines --input-format text").ok();
    // One bad line among good ones is not.
    std::fs::write(bench.path("mixed.jsonl"), "not json\n{\"text\": \"a text\"}\n").unwrap();
    bench.run("dedup mixed.jsonl -o mixed").ok();
}

/// The decoder of Arrow says of this file by a panic that it is damaged; users see a reject, and nothing of the panic.
#[test]
fn a_decoder_that_panics_is_a_reject() {
    let bench = Bench::new();
    let damaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arrow/uneven_offsets");
    bench.write("damaged.arrow", std::fs::read(damaged).unwrap());
    let ran = bench.run("dedup damaged.arrow articles.jsonl -o out").ok();
    assert!(ran.err.contains("damaged.arrow:1: damaged arrow"), "{ran:?}");
    assert!(!ran.err.contains("panicked"), "{ran:?}");
}

/// 566 bytes that say they have 83 billion rows: neither as many rejects nor as much memory.
#[test]
fn a_table_with_more_rows_than_it_can_have_is_one_reject() {
    let bench = Bench::new();
    let damaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet/many_rejected_rows");
    bench.write("damaged.parquet", std::fs::read(damaged).unwrap());
    let ran = bench.run("dedup damaged.parquet articles.jsonl -o out").ok();
    assert!(ran.err.contains("damaged.parquet:1: "), "{ran:?}");
    assert_eq!(String::from_utf8(bench.read("out/rejects.jsonl")).unwrap().lines().count(), 1, "{ran:?}");
}

/// Explaining and resolving again agree with the run; a higher threshold removes what is at least that similar, and nothing else.
#[test]
fn a_finished_run_can_be_asked_and_resolved_again() {
    let bench = Bench::new();
    let ran = bench.run("dedup articles.jsonl --id-field id -o out --format json").json();
    let removed = ran["counts"]["removed"].as_u64().unwrap();
    let again = bench.run("rethreshold out 0.9 --format json").json();
    assert_eq!(again["removed_before"], removed);
    assert!(again["removed"].as_u64().unwrap() < removed, "{again}");
    let direct = bench.run("dedup articles.jsonl --id-field id -o high --threshold 0.9 --format json").json();
    assert_eq!(again["removed"], direct["counts"]["removed"]);
    for name in ["kept", "removed", "copies", "clusters", "largest_cluster", "edges"] {
        assert_eq!(again["counts"][name], direct["counts"][name], "{name}");
    }
    assert_eq!(again["similarities"], direct["similarities"]);
    // The new results can be asked too.
    let why = |folder: &str| bench.run(&format!("explain {folder} bridge-17 --format json")).json();
    assert_eq!(why("out/at-0.9")["similar"], why("high")["similar"]);
    let shown = bench.run("rethreshold out 0.95").ok();
    assert!(shown.out.contains("to look at: out/at-0.95/report.html"), "{}", shown.out);
    assert!(shown.err.contains("note: the pairs are those that the bands for 0.8 found"), "{}", shown.err);
    bench.run("rethreshold out 0.9 -o high").fails(1, &["`high`", "name a new folder"]);
    let refused = bench.run("rethreshold out 0.5");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("at least 0.8"), "{}", refused.err);

    let evidence = bench.run("explain out bridge-17 --format json").json();
    let row = &evidence["removed_for"][0];
    assert_eq!((&row["kept_id"], &row["rule"]), (&"bridge-16".into(), &"verified".into()), "{evidence}");
    let kept = bench.run("explain out bridge-16").ok().out;
    assert!(kept.contains("was kept, and stands for"), "{kept}");
    bench.run("explain out nobody").fails(1, &["`nobody` is unknown"]);
}

/// The same documents in other formats give the same removals, and come back in their format.
#[test]
fn formats_presets_and_the_exact_join_run_from_the_command_line() {
    let bench = Bench::new();
    let removed = |arguments: &str| {
        bench.run(&format!("dedup {arguments} --format json")).json()["counts"]["removed"].as_u64().unwrap()
    };
    let lines = std::fs::read_to_string(bench.path("articles.jsonl")).unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |row: &Value, name: &str| row[name].as_str().unwrap().replace('"', "\"\"");
    let csv = rows.iter().map(|row| format!("{},\"{}\"\n", field(row, "id"), field(row, "text")));
    bench.write("a.csv", format!("id,text\n{}", csv.collect::<String>()));
    let text = rows.iter().map(|row| row["text"].as_str().unwrap().replace('\n', " ") + "\n");
    bench.write("a.txt", text.collect::<String>());

    let usual = removed("articles.jsonl --id-field id -o jsonl");
    assert_eq!(removed("a.csv --id-field id -o csv"), usual);
    assert_eq!(removed("a.txt -o txt"), usual);
    assert_eq!(removed("articles.jsonl --id-field id -o exact --recall 1"), usual);
    assert!(std::fs::read_to_string(bench.path("csv/documents/a.csv")).unwrap().starts_with("id,text\n"));
    let nemo = bench.run("dedup articles.jsonl -o nemo --preset nemo --format json").json();
    assert!(nemo["counts"]["removed"].as_u64().unwrap() > 0, "{nemo}");
    let mixed = bench.run("dedup articles.jsonl -o mixed --recall 1 --verify estimate");
    assert_eq!(mixed.code, 2, "{}", mixed.err);
}

/// Bands of the default sketches do not find 95% of the pairs at a low threshold.
#[test]
fn a_low_threshold_takes_the_exact_join_and_says_so() {
    let bench = Bench::new();
    for threshold in ["0.6", "0.5", "0.3"] {
        let run = format!("dedup articles.jsonl --id-field id --overwrite --threshold {threshold}");
        let told = bench.run(&format!("{run} -o low")).ok();
        assert!(told.out.contains("All similar pairs were found"), "{told:?}");
        for word in ["warning: bands of 128 registers find", "exact join was taken instead", "or lower"] {
            assert!(told.err.contains(word), "{told:?}");
        }
        let asked = bench.run(&format!("{run} -o exact --recall 1")).ok();
        assert!(!asked.err.contains("exact join"), "{asked:?}");
        for name in ["evidence.parquet", "pairs.parquet", "documents/articles.jsonl"] {
            assert!(bench.read(&format!("low/{name}")) == bench.read(&format!("exact/{name}")), "{name}");
        }
        let manifest: Value = serde_json::from_slice(&bench.read("low/manifest.json")).unwrap();
        assert!(manifest["warnings"][0].as_str().unwrap().contains("exact join"), "{manifest}");
        assert!(String::from_utf8(bench.read("low/report.html")).unwrap().contains("exact join was taken"));
        // What the warning proposes works.
        let most = told.err.split("a recall of ").nth(1).unwrap().split(' ').next().unwrap();
        let bands = bench.run(&format!("{run} -o bands --recall {most}")).ok();
        assert!(bands.out.contains("candidates compared") && !bands.err.contains("exact join"), "{bands:?}");
    }
}

#[test]
fn copies_of_texts_without_words_go_and_empty_texts_stay() {
    let bench = Bench::new();
    let texts = ["!!!", "", "!!!", "\u{1f600}", "...", "\u{1f600}", "", "!!!!"];
    let lines = texts.iter().zip(1..).map(|(text, id)| format!("{{\"id\": {id}, \"text\": \"{text}\"}}\n"));
    bench.write("in.jsonl", lines.collect::<String>());
    for more in
        ["", "--recall 1", "--cluster components", "--checkpoint 1", "--threads 5", "--verify estimate"]
    {
        let json = bench
            .run(&format!("dedup in.jsonl -o out --overwrite --id-field id --format json {more}"))
            .json();
        let counts = &json["counts"];
        let counts = ["removed", "copies", "empty", "edges"].map(|name| counts[name].as_u64().unwrap());
        assert_eq!(counts, [2, 2, 8, 0], "{more}");
        let why = bench.run("explain out 6").ok().out;
        assert!(why.contains("kept instead: `4`, exact similarity 1.0000, rule exact-copy"), "{why}");
        assert_eq!(String::from_utf8(bench.read("out/documents/in.jsonl")).unwrap().lines().count(), 6);
        bench.run("verify out").ok();
    }
    // Fields that are all empty are an empty text.
    bench.write(
        "two.jsonl",
        "{\"a\": \"\", \"b\": \"\"}\n".repeat(2) + &"{\"a\": \"-\", \"b\": \"\"}\n".repeat(3),
    );
    let json = bench.run("dedup two.jsonl -o two --text-field a,b --format json").json();
    assert_eq!((&json["counts"]["kept"], &json["counts"]["copies"]), (&3.into(), &2.into()));
    let archive = "dedup in.jsonl --archive seen --id-field id --format json";
    bench.run(&format!("{archive} -o day1")).ok();
    bench.write(
        "in.jsonl",
        "{\"id\": 1, \"text\": \"!!!\"}\n{\"id\": 2, \"text\": \"\"}\n{\"id\": 3, \"text\": \"?\"}\n",
    );
    let json = bench.run(&format!("{archive} -o day2")).json();
    assert_eq!((&json["counts"]["removed_against"], &json["counts"]["kept"]), (&1.into(), &2.into()));
}

/// The recall is measured unless that is declined, and the report says how to get the same results, whichever layer the options came from.
#[test]
fn a_run_is_audited_and_reported() {
    let bench = Bench::new();
    let report = bench.run("dedup articles.jsonl -o out --format json").json();
    let audit = &report["audit"];
    assert_eq!((audit["recall"]["value"].as_f64(), &audit["found"]), (Some(1.0), &report["counts"]["edges"]));
    let shown = bench.run("dedup articles.jsonl -o shown --audit 20").ok().out;
    assert!(shown.contains("Audit: an exact comparison of 20 documents with 180 met"), "{shown}");
    assert!(shown.contains("to look at: shown/report.html"), "{shown}");
    let off = bench.run("dedup articles.jsonl -o off --audit off --format json").json();
    assert_eq!(off["audit"], Value::Null);
    for bad in ["0", "-1", "some", "1.5"] {
        bench
            .run(&format!("dedup articles.jsonl -o bad --audit={bad}"))
            .fails(2, &["--audit <HOW>", "off, auto, or a number"]);
    }

    bench.write("x.toml", "[dedup]\nkeep = \"longest\"\ntext-field = [\"title\", \"text\"]\nthreads = 2\n");
    let run = |arguments: &str, variable: &str| {
        let line = format!("dedup articles.jsonl --id-field id --config x.toml {arguments}");
        let mut command = bench.command(&line.split(' ').collect::<Vec<_>>());
        command.env("BENZER_THRESHOLD", variable);
        bench.run_with(command, b"").ok();
    };
    run("-o one --annotate", "0.75");
    run("-o two --annotate --threads 1 --memory 1GiB", "0.75");
    let page = String::from_utf8(bench.read("one/report.html")).unwrap();
    let (_, command) = page.split_once("<h3>Do it again</h3>\n<pre>").unwrap();
    let expected = "benzer dedup articles.jsonl -o OUTPUT --threshold 0.75 --keep longest --text-field title,text --id-field id --annotate";
    assert_eq!(command.split_once("</pre>").unwrap().0, expected);
    assert!(page.as_bytes() == bench.read("two/report.html"), "what does not matter is not in the report");
    bench.run(&expected.strip_prefix("benzer ").unwrap().replace("OUTPUT", "three")).ok();
    assert!(page.as_bytes() == bench.read("three/report.html"), "the command gives the same results");
}

#[test]
fn a_table_of_results_with_a_changed_byte_is_refused_and_named() {
    let bench = Bench::new();
    bench.run("dedup articles.jsonl --id-field id -o out").ok();
    for name in ["pairs.parquet", "evidence.parquet"] {
        let whole = bench.read(&format!("out/{name}"));
        let mut damaged = whole.clone();
        // In the first page, where only the manifest of the run knows what it was.
        damaged[40] ^= 1;
        bench.write(&format!("out/{name}"), &damaged);
        bench.run("rethreshold out 0.9 -o higher").fails(1, &[name, "checksum"]);
        bench.write(&format!("out/{name}"), &whole);
    }
    bench.run("rethreshold out 0.9 -o higher").ok();
}

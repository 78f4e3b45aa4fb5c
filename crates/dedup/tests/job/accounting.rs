//! Every line that is read is kept, removed or rejected, and what is written is what was read.

use std::fs;
use std::io::{Read, Write};

use benzer_dedup::request::Output;
use serde_json::Value;

use crate::corpus::{self, Random};
use crate::evidence;
use crate::lab::{self, Lab};

const TEXT: &str = "one two three four five six seven eight nine ten";

/// Lines as they occur, of which 2, 3, 5, 6 and 7 are no documents and 4 is blank.
fn dirty() -> Vec<u8> {
    let mut bytes = format!("\u{feff}{{\"id\": 1,   \"text\": \"{TEXT}\"}}\r\n").into_bytes();
    bytes.extend(
        b"not json\n{\"id\": 2}\n  \n[1]\n{\"id\": 3, \"text\": \"caf\xe9\"}\n{\"text\": \"no id\"}\n",
    );
    bytes.extend(format!("{{\"text\": \"{TEXT}\", \"id\": \"9\", \"more\": [1.50, null]}}\n").bytes());
    bytes.extend(b"{\"id\": 4, \"text\": \"\"}\n{\"id\": 5, \"text\": \"...\"}\n{\"id\": 6, \"text\": \"\\u0061lone\"}");
    bytes
}

#[test]
fn bad_lines_are_listed_and_everything_is_accounted_for() {
    let lab = Lab::new();
    lab.write("a.jsonl", dirty());
    for request in [lab.request("memory"), lab.on_disk("disk")] {
        let counts = lab::run(&request).unwrap().counts;
        assert_eq!((counts.read, counts.kept, counts.removed), (10, 4, 1));
        assert_eq!((counts.rejected, counts.blank, counts.empty, counts.copies), (5, 1, 2, 1));
        let rejects = fs::read_to_string(request.results.folder.join("rejects.jsonl")).unwrap();
        let rejects: Vec<Value> = rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines: Vec<u64> = rejects.iter().map(|reject| reject["line"].as_u64().unwrap()).collect();
        assert_eq!(lines, [2, 3, 5, 6, 7]);
        let reasons = ["invalid json", "no field `text`", "array", "utf-8", "no field `id`"];
        for (reject, reason) in rejects.iter().zip(reasons) {
            assert!(reject["file"].as_str().unwrap().ends_with("in/a.jsonl"), "{reject}");
            assert!(reject["reason"].as_str().unwrap().to_lowercase().contains(reason), "{reject}");
        }
        assert_eq!(rejects[0]["raw"], "not json");
        let written = fs::read(request.results.folder.join("documents/a.jsonl")).unwrap();
        let kept = format!(
            "{{\"id\": 1,   \"text\": \"{TEXT}\"}}\r\n{{\"id\": 4, \"text\": \"\"}}\n{{\"id\": 5, \"text\": \"...\"}}\n{{\"id\": 6, \"text\": \"\\u0061lone\"}}\n"
        );
        assert_eq!(String::from_utf8(written).unwrap(), kept);
    }
}

#[test]
fn a_strict_run_stops_at_the_first_bad_line() {
    let lab = Lab::new();
    lab.write("a.jsonl", dirty());
    let request = lab.request("out").with(|request| request.strict = true);
    let error = lab::run(&request).unwrap_err().to_string();
    assert!(error.contains("a.jsonl:2: invalid json") && error.contains("--strict"), "{error}");
    assert!(
        !request.results.folder.join("manifest.json").exists()
            && !request.results.folder.join("documents").exists()
    );
    lab.write("a.jsonl", format!("{{\"id\": 1, \"text\": \"{TEXT}\"}}\n"));
    assert_eq!(lab::run(&request).unwrap().counts.kept, 1);
}

#[test]
fn a_dry_run_has_the_evidence_and_no_documents() {
    let lab = Lab::new();
    let documents = corpus::documents(&mut Random::new(3), 60, 40, false);
    lab.write("a.jsonl", corpus::lines(&documents));
    let (dry, wet) =
        (lab.request("dry").with(|request| request.results.write = Output::DryRun), lab.request("wet"));
    lab::run(&dry).unwrap();
    lab::run(&wet).unwrap();
    assert!(!dry.results.folder.join("documents").exists());
    assert!(!evidence::read(&dry.results.folder).is_empty());
    let (dry, wet) = (lab::outputs(&dry.results.folder), lab::outputs(&wet.results.folder));
    for name in ["evidence.parquet", "pairs.parquet", "clusters.parquet", "rejects.jsonl"] {
        assert!(dry[name] == wet[name], "{name}");
    }
}

#[test]
fn annotated_documents_carry_their_five_marks_and_nothing_else_changes() {
    let lab = Lab::new();
    let documents = corpus::documents(&mut Random::new(5), 80, 40, false);
    lab.write("a.jsonl", corpus::lines(&documents));
    for usual in [lab.request("memory"), lab.on_disk("disk")] {
        let request = usual.with(|request| request.results.write = Output::Annotate);
        lab::run(&request).unwrap();
        let removals = evidence::read(&request.results.folder);
        let size = |id: &str| 1 + removals.iter().filter(|row| row.kept_id == id).count() as u64;
        let written = fs::read_to_string(request.results.folder.join("documents/a.jsonl")).unwrap();
        assert_eq!(written.lines().count(), documents.len());
        let mut n_clusters = 0;
        for (line, document) in written.lines().zip(&documents) {
            let original = document.line();
            assert!(line.starts_with(original.strip_suffix('}').unwrap()), "{line}");
            let marked: Value = serde_json::from_str(line).unwrap();
            assert_eq!(marked.as_object().unwrap().len(), 7, "{line}");
            let removal = removals.iter().find(|row| row.removed_id == document.id);
            let keeper = removal.map(|row| row.kept_id.as_str());
            let cluster = keeper.or_else(|| (size(&document.id) > 1).then_some(&document.id));
            n_clusters += usize::from(cluster.is_some());
            assert_eq!(marked["is_duplicate"], removal.is_some());
            assert_eq!(marked["dup_of"].as_str(), keeper);
            assert_eq!(marked["dup_cluster_id"].as_str(), cluster);
            assert_eq!(marked["dup_cluster_size"], cluster.map_or(1, size));
            assert_eq!(marked["dup_similarity"].as_f64(), removal.map(|row| row.similarity));
        }
        assert!(n_clusters > 10, "{n_clusters}");
    }
}

#[test]
fn folders_and_compression_are_those_of_the_input() {
    let lab = Lab::new();
    let documents = corpus::documents(&mut Random::new(9), 90, 40, false);
    let thirds: Vec<String> = documents.chunks(30).map(corpus::lines).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(thirds[1].as_bytes()).unwrap();
    lab.write("a.jsonl", &thirds[0]);
    lab.write("b/c.jsonl.gz", gzip.finish().unwrap());
    lab.write("b/d/e.jsonl.zst", zstd::encode_all(thirds[2].as_bytes(), 1).unwrap());
    lab.write("f.jsonl", "");
    for request in [lab.request("memory"), lab.on_disk("disk")] {
        lab::run(&request).unwrap();
        let out = lab::outputs(&request.results.folder);
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(&out["documents/b/c.jsonl.gz"][..])
            .read_to_string(&mut unpacked)
            .unwrap();
        let zst = zstd::decode_all(&out["documents/b/d/e.jsonl.zst"][..]).unwrap();
        let all = [out["documents/a.jsonl"].clone(), unpacked.into_bytes(), zst].concat();
        let removals = evidence::read(&request.results.folder);
        let is_kept = |id: &str| removals.iter().all(|row| row.removed_id != id);
        let kept: Vec<_> = documents.iter().filter(|document| is_kept(&document.id)).cloned().collect();
        assert_eq!(String::from_utf8(all).unwrap(), corpus::lines(&kept));
        assert!(out["documents/f.jsonl"].is_empty() && !removals.is_empty());
    }
}

#[test]
fn results_that_are_there_are_not_overwritten_unless_asked() {
    let lab = Lab::new();
    lab.write("a.jsonl", corpus::lines(&corpus::documents(&mut Random::new(1), 30, 40, false)));
    let request = lab.request("out");
    lab::run(&request).unwrap();
    let before = lab::outputs(&request.results.folder);
    let error = lab::run(&request).unwrap_err().to_string();
    assert!(error.contains("the results of a finished run") && error.contains("--overwrite"), "{error}");
    lab::assert_same(&lab::outputs(&request.results.folder), &before, "refused");
    // Files of an input that is gone do not stay.
    fs::rename(lab.path("in/a.jsonl"), lab.path("in/b.jsonl")).unwrap();
    for request in [
        request.clone().with(|request| request.results.overwrite = true),
        request.clone().with(|request| request.resources.resume = true),
    ] {
        fs::write(request.results.folder.join("documents/a.jsonl"), "old").unwrap();
        lab::run(&request).unwrap();
        assert!(!request.results.folder.join("documents/a.jsonl").exists());
        assert!(request.results.folder.join("documents/b.jsonl").exists());
    }
    fs::create_dir(lab.path("foreign")).unwrap();
    fs::write(lab.path("foreign/letter.txt"), "dear").unwrap();
    let error = lab::run(&lab.request("foreign")).unwrap_err().to_string();
    assert!(error.contains("other files"), "{error}");
    assert_eq!(fs::read(lab.path("foreign/letter.txt")).unwrap(), b"dear");
}

#[test]
fn a_run_that_is_refused_leaves_old_results_and_inputs_alone() {
    let lab = Lab::new();
    lab.write("a.jsonl", dirty());
    let request = lab.request("out").with(|request| request.results.overwrite = true);
    lab::run(&request).unwrap();
    let before = lab::outputs(&request.results.folder);
    let missing = request.clone().with(|request| request.input.paths = vec![lab.path("no.jsonl")]);
    let poor = request.clone().with(|request| request.resources.memory = 1);
    let itself = request.clone().with(|request| request.input.paths = vec![lab.path("out/documents")]);
    let remedies = ["check the spelling", "at least", "outside of the inputs"];
    for (refused, remedy) in [missing, poor, itself].iter().zip(remedies) {
        let error = lab::run(refused).unwrap_err().to_string();
        assert!(error.contains(remedy), "{error}");
        let mut after = lab::outputs(&request.results.folder);
        after.remove(".benzer-work/lock");
        lab::assert_same(&after, &before, remedy);
    }
}

#[test]
fn the_folder_of_the_results_is_not_the_work_folder() {
    let lab = Lab::new();
    lab.write("a.jsonl", dirty());
    let request = lab.on_disk("out").with(|request| request.resources.work_dir = Some(lab.path("out/.")));
    let error = lab::run(&request).unwrap_err().to_string();
    assert!(error.contains("another folder"), "{error}");
    let apart = lab.on_disk("out").with(|request| request.resources.work_dir = Some(lab.path("work")));
    lab::run(&apart).unwrap();
    assert!(lab::outputs(&apart.results.folder).contains_key("rejects.jsonl") && !lab.path("work").exists());
}

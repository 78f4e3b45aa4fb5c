//! A disk that is full or cannot be written to: the error says what to do, nothing is lost, and a later run goes on.

use std::io::ErrorKind;

use benzer_dedup::integrity;
use benzer_dedup::progress::Silent;
use benzer_dedup::request::Request;
use benzer_storage::Files;
use benzer_storage::fault::When;

use crate::corpus::{self, Random};
use crate::lab::{self, Lab, Outputs};

struct Failures {
    lab: Lab,
    inputs: Outputs,
    expected: Outputs,
}

impl Failures {
    fn new() -> Self {
        let lab = Lab::new();
        let documents = corpus::documents(&mut Random::new(13), 120, 40, false);
        lab.write("a.jsonl", corpus::lines(&documents[..80]) + "not json\n");
        lab.write("deep/b.jsonl.gz", gzip(corpus::lines(&documents[80..]).as_bytes()));
        let request = lab.request("right");
        lab::run(&request).unwrap();
        let (inputs, expected) = (lab::outputs(&lab.path("in")), lab::outputs(&request.results.folder));
        Self { lab, inputs, expected }
    }

    /// Runs on a disk that fails, then goes on with one that does not. Gives the message of the failure.
    fn survive(&self, usual: Request, when: When, kind: ErrorKind, remedy: &str) -> Option<String> {
        let outcome = benzer_dedup::run_through(&Files::failing(when, kind), &usual, &Silent);
        let message = outcome.err().map(|error| error.to_string());
        if let Some(message) = &message {
            // The folder in which ours is made is synced, too.
            let folder = self.lab.folder().parent().unwrap().display().to_string();
            assert!(message.contains(&folder) && message.contains(remedy), "{when:?}: {message}");
            lab::run(&usual.clone().with(|request| request.resources.resume = true)).unwrap();
        }
        let context = format!("{when:?} {message:?}");
        lab::assert_same(&lab::outputs(&usual.results.folder), &self.expected, &context);
        lab::assert_same(&lab::outputs(&self.lab.path("in")), &self.inputs, &context);
        std::fs::remove_dir_all(&usual.results.folder).unwrap();
        message
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_full_disk_stops_the_run_and_a_later_one_goes_on() {
    let failures = Failures::new();
    for on_disk in [false, true] {
        let lab = &failures.lab;
        let request = if on_disk { lab.on_disk("out") } else { lab.request("out") };
        let mut n_failed = 0;
        for bytes in (0..).map(|i| i * 997) {
            let (when, kind) = (When::AfterBytes(bytes), ErrorKind::StorageFull);
            if failures.survive(request.clone(), when, kind, "free some space").is_none() {
                break;
            }
            n_failed += 1;
        }
        assert!(n_failed > 10, "{n_failed}");
    }
}

#[test]
fn any_operation_may_fail() {
    let failures = Failures::new();
    let lab = &failures.lab;
    // What is saved beside the run may fail, and the run goes on.
    let saving = lab.request("out").with(|request| request.resources.checkpoint = Some(0));
    for (request, least) in [(lab.on_disk("out"), 60), (saving, 40)] {
        let (files, recorder) = Files::recording(lab.folder()).unwrap();
        benzer_dedup::run_through(&files, &request, &Silent).unwrap();
        std::fs::remove_dir_all(&request.results.folder).unwrap();
        // The second is what a broken disk says (EIO), which has no kind of its own.
        for (kind, remedy) in [
            (ErrorKind::PermissionDenied, "write to a folder that is yours"),
            (ErrorKind::Other, "check the disk"),
        ] {
            let survive = |operation: usize| {
                failures.survive(request.clone(), When::Operation(operation as u64), kind, remedy)
            };
            let n_failed = (0..recorder.n_operations()).filter_map(survive).count();
            // What is only tidied up may fail without a word.
            assert!(n_failed > least, "{n_failed}");
        }
    }
}

#[test]
fn an_output_that_is_a_file_is_refused() {
    let lab = Lab::new();
    lab.write("a.jsonl", "{\"id\": 1, \"text\": \"a\"}\n");
    let error = lab::run(&lab.request("in/a.jsonl")).unwrap_err().to_string();
    assert!(error.contains("`output` must be a folder") && error.contains("in/a.jsonl"), "{error}");
}

/// Whatever fails while results of before are replaced: the folder has those of before, or the new ones, or none.
#[test]
fn a_run_that_fails_leaves_nothing_that_looks_finished() {
    let lab = Lab::new();
    let documents = corpus::documents(&mut Random::new(17), 40, 40, false);
    lab.write("a.jsonl", corpus::lines(&documents) + "not json\n");
    let request = lab.request("out").with(|request| request.results.overwrite = true);
    let (mut n_failed, mut n_withdrawn) = (0, 0);
    for operation in 0.. {
        lab::run(&request).unwrap();
        let files = Files::failing(When::Operation(operation), ErrorKind::StorageFull);
        let outcome = benzer_dedup::run_through(&files, &request, &Silent);
        let left = lab::outputs(&request.results.folder);
        let is_finished = left.contains_key("manifest.json");
        if is_finished {
            assert!(integrity::verify(&request.results.folder).unwrap().unwrap().is_whole(), "{operation}");
        } else {
            let seen: Vec<&String> = left.keys().filter(|name| !name.starts_with('.')).collect();
            assert!(seen.iter().all(|name| *name == "rejects.jsonl"), "{operation}: {seen:?}");
            n_withdrawn += 1;
        }
        match outcome {
            Err(_) => n_failed += 1,
            Ok(_) if operation > 20 => break,
            Ok(_) => assert!(is_finished, "{operation}"),
        }
    }
    assert!(n_failed > 20 && n_withdrawn > 10, "{n_failed} {n_withdrawn}");
}

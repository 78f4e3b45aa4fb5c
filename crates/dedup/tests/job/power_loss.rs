//! The power fails at any moment: what looks finished is whole, and a resumed run gives the right output.

use std::fs;
use std::io;
use std::path::Path;

use benzer_dedup::progress::Silent;
use benzer_dedup::request::Request;
use benzer_storage::fault::{Recorder, Sync};
use benzer_storage::{Files, checksum_of};
use serde_json::Value;

use crate::corpus::{self, Random};
use crate::lab::{self, Lab, Outputs};

/// Outcomes that are looked at for each moment. The first loses everything that may be lost, the second nothing.
const SEEDS: u64 = 4;

fn lab() -> Lab {
    let lab = Lab::new();
    let documents = corpus::documents(&mut Random::new(11), 120, 40, true);
    lab.write("a.jsonl", corpus::lines(&documents[..80]) + "not json\n");
    lab.write("deep/b.jsonl", corpus::lines(&documents[80..]));
    lab
}

/// The request of the recorded run, for an output below `root`.
fn request(lab: &Lab, root: &Path) -> Request {
    lab.on_disk("out").with(|request| {
        request.results.folder = root.join("out");
        request.keep = "longest".parse().unwrap();
    })
}

/// True if there is a manifest, and what it names is not all there.
fn claims_falsely(output: &Path) -> bool {
    let Ok(manifest) = fs::read(output.join("manifest.json")) else { return false };
    let Ok(manifest) = serde_json::from_slice::<Value>(&manifest) else { return true };
    let Some(files) = manifest["files"].as_array() else { return true };
    files.iter().any(|file| {
        let stamp = checksum_of(&output.join(file["name"].as_str().unwrap_or_default()));
        stamp.map_or(true, |stamp| {
            file["bytes"] != stamp.bytes || file["checksum"] != format!("{:016x}", stamp.checksum)
        })
    })
}

/// Records a run over what `prepare` leaves, cuts the power at every moment, and gives the number of states that are wrong by themselves, and of those that a resumed
/// run does not make right.
fn broken(
    lab: &Lab,
    request: impl Fn(&Path) -> Request,
    record: impl Fn(&Path) -> io::Result<(Files, Recorder)>,
    expected: &Outputs,
) -> (usize, usize) {
    let root = lab.path("root");
    let (files, recorder) = record(&root).unwrap();
    let recorded = request(&root).with(|request| request.results.overwrite = true);
    benzer_dedup::run_through(&files, &recorded, &Silent).unwrap();
    lab::assert_same(&lab::outputs(&recorded.results.folder), expected, "without a cut");
    let (mut false_claims, mut wrong) = (0, 0);
    for after in 0..=recorder.n_operations() {
        for seed in 0..SEEDS {
            let wreck = lab.path("wreck");
            fs::create_dir(&wreck).unwrap();
            recorder.power_cut(after, seed, &wreck).unwrap();
            let resumed = request(&wreck).with(|request| request.resources.resume = true);
            let is_finished = after == recorder.n_operations();
            let is_there = resumed.results.folder.join("manifest.json").exists();
            false_claims +=
                usize::from(claims_falsely(&resumed.results.folder) || (is_finished && !is_there));
            let outcome = lab::run(&resumed);
            wrong += usize::from(outcome.is_err() || lab::outputs(&resumed.results.folder) != *expected);
            fs::remove_dir_all(&wreck).unwrap();
        }
    }
    assert!(recorder.n_operations() > 40, "{}", recorder.n_operations());
    (false_claims, wrong)
}

fn expected(lab: &Lab) -> Outputs {
    let request =
        request(lab, &lab.path("undisturbed")).with(|request| request.resources.checkpoint = Some(u64::MAX));
    lab::run(&request).unwrap();
    lab::outputs(&request.results.folder)
}

#[test]
fn after_every_power_cut_a_resumed_run_gives_the_right_output() {
    let lab = lab();
    let root = lab.path("root");
    fs::create_dir(&root).unwrap();
    assert_eq!(broken(&lab, |root| request(&lab, root), Files::recording, &expected(&lab)), (0, 0));
}

#[test]
fn a_run_in_memory_that_leaves_checkpoints_is_resumed_after_every_power_cut() {
    let lab = lab();
    fs::create_dir(lab.path("root")).unwrap();
    for held in [u64::MAX, 0] {
        let in_memory = |root: &Path| {
            request(&lab, root).with(|request| {
                request.resources.in_memory = u64::MAX;
                request.resources.checkpoint = Some(0);
                request.resources.held = held;
            })
        };
        assert_eq!(broken(&lab, in_memory, Files::recording, &expected(&lab)), (0, 0), "{held}");
        fs::remove_dir_all(lab.path("undisturbed")).unwrap();
    }
}

#[test]
fn old_results_are_replaced_whole_or_not_at_all() {
    let lab = lab();
    let root = lab.path("root");
    fs::create_dir(&root).unwrap();
    lab::run(&request(&lab, &root).with(|request| request.compare.threshold = "0.4".parse().unwrap()))
        .unwrap();
    assert_eq!(broken(&lab, |root| request(&lab, root), Files::recording, &expected(&lab)), (0, 0));
}

/// How many states after a cut claim to be whole and are not, for a run that leaves some fsyncs out.
fn false_claims(is_forgotten: impl Fn(Sync, &Path) -> bool + Send + std::marker::Sync + 'static) -> usize {
    let lab = lab();
    let root = lab.path("root");
    fs::create_dir(&root).unwrap();
    let (files, recorder) = Files::recording_unless(&root, is_forgotten).unwrap();
    benzer_dedup::run_through(&files, &request(&lab, &root), &Silent).unwrap();
    let n = recorder.n_operations();
    let states = (0..=n).flat_map(|after| (0..SEEDS).map(move |seed| (after, seed)));
    let claims = states.filter(|&(after, seed)| {
        let wreck = lab.path("wreck");
        fs::create_dir(&wreck).unwrap();
        recorder.power_cut(after, seed, &wreck).unwrap();
        let output = wreck.join("out");
        let claims = claims_falsely(&output) || (after == n && !output.join("manifest.json").exists());
        fs::remove_dir_all(&wreck).unwrap();
        claims
    });
    claims.count()
}

/// One fsync after the other.
#[test]
fn the_sync_of_every_result_is_missed() {
    assert_eq!(false_claims(|_, _| false), 0);
    let files = ["pairs.parquet", "evidence.parquet", "clusters.parquet", "report.html", "manifest.json"];
    for name in files.into_iter().chain(["rejects.jsonl", "a.jsonl", "b.jsonl"]) {
        let of_result = move |path: &Path| {
            let text = path.to_string_lossy();
            text.contains(&format!("/.{name}.")) && !text.contains("benzer-work")
        };
        assert!(false_claims(move |sync, path| sync == Sync::File && of_result(path)) > 0, "{name}");
    }
    for folder in ["out", "documents", "deep"] {
        assert!(
            false_claims(move |sync, path| sync == Sync::Folder && path.ends_with(folder)) > 0,
            "{folder}"
        );
    }
}

#[test]
fn a_forgotten_sync_is_noticed() {
    for forgotten in [Sync::File, Sync::Folder] {
        let lab = lab();
        let root = lab.path("root");
        fs::create_dir(&root).unwrap();
        let record = |root: &Path| Files::recording_without(root, forgotten);
        let (false_claims, _) = broken(&lab, |root| request(&lab, root), record, &expected(&lab));
        assert!(false_claims > 0, "without {forgotten:?}");
    }
}

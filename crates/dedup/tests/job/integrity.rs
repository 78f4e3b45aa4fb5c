//! What a run leaves is checked as a whole: every byte of every file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use benzer_dedup::integrity::{Kind, Report, verify};
use benzer_dedup::progress::{Observer, Stage};
use benzer_dedup::results::{self, rethreshold};
use benzer_flow::Listener;
use walkdir::WalkDir;

use crate::lab::{Lab, run};

fn lab() -> Lab {
    let lab = Lab::new();
    let lines: String = (0..12)
        .map(|i| {
            format!("{{\"id\": \"d{i}\", \"text\": \"one two three four five six seven w{}\"}}\n", i / 3)
        })
        .collect();
    lab.write("a.jsonl", lines + "not json\n");
    lab
}

/// Stops a run when all its checkpoints are there.
struct StopsAtWriting {
    last: PathBuf,
    is_stopped: AtomicBool,
}

impl Observer for StopsAtWriting {
    fn begin(&self, stage: Stage, _: Option<u64>) {
        if stage == Stage::Write {
            let start = Instant::now();
            while !self.last.exists() {
                assert!(start.elapsed() < Duration::from_secs(60), "{:?} is never there", self.last);
                thread::sleep(Duration::from_millis(1));
            }
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }
}

impl Listener for StopsAtWriting {
    fn reached(&self, _: u64) {}
    fn is_cancelled(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(|entry| entry.path().to_owned()).collect()
}

#[track_caller]
fn whole(path: &Path, kind: Kind) -> Report {
    let report = verify(path).unwrap().expect("something of ours");
    assert!(report.is_whole() && report.kind == kind && report.warnings.is_empty(), "{report:?}");
    report
}

/// Written once by each format, and read by every later one.
#[test]
fn the_results_of_this_format_are_read() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/v2/results");
    whole(&golden, Kind::Results);
    let (mut removed, mut pairs) = (Vec::new(), Vec::new());
    results::evidence(&golden, |one| {
        removed.push((one.removed_id, one.kept_id, one.intersection, one.union, one.rule));
        Ok(())
    })
    .unwrap();
    results::pairs(&golden, |pair| {
        pairs.push((pair.id_a, pair.id_b, pair.intersection, pair.union, pair.exact_copy));
        Ok(())
    })
    .unwrap();
    removed.sort();
    pairs.sort();
    let text = |text: &str| text.to_owned();
    assert_eq!(
        removed,
        [
            (text("b"), text("a"), Some(55), Some(57), text("verified")),
            (text("d"), text("c"), Some(8), Some(8), text("exact-copy")),
        ]
    );
    assert_eq!(
        pairs,
        [(text("a"), text("b"), Some(55), Some(57), false), (text("c"), text("d"), Some(8), Some(8), true)]
    );
}

/// Changes every byte of a file, one after the other, and cuts it; each must be told with the name of a file.
fn harm(path: &Path, top: &Path) {
    let content = fs::read(path).unwrap();
    let told = |what: &str| {
        let report = verify(top).unwrap().expect("it is still ours");
        assert!(!report.is_whole(), "{}, {what}: {report:?}", path.display());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(report.wrong.iter().any(|line| line.contains(name)), "{name}, {what}: {report:?}");
    };
    // All bytes of what is small, and of larger files as many.
    let step = content.len().div_ceil(4000).max(1);
    for place in (0..content.len()).step_by(step) {
        let mut changed = content.clone();
        changed[place] ^= 1 << (place % 8);
        fs::write(path, &changed).unwrap();
        told(&format!("byte {place}"));
    }
    for end in (0..content.len()).step_by(step * 16) {
        fs::write(path, &content[..end]).unwrap();
        told(&format!("cut at {end}"));
    }
    fs::write(path, &content).unwrap();
}

#[test]
fn every_changed_byte_of_the_results_is_told() {
    let lab = lab();
    let mut request = lab.request("out");
    request.results.save = Some(lab.path("out/saved"));
    run(&request).unwrap();
    let out = lab.path("out");
    let all = files(&out);
    assert!(all.len() >= 11, "{all:?}");
    let report = whole(&out, Kind::Results);
    assert_eq!(report.files, all.len() as u64, "{report:?} {all:?}");
    let bytes: u64 = all.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert_eq!(report.bytes, bytes);
    for path in &all {
        harm(path, &out);
    }
    whole(&out, Kind::Results);
    // The list names the folder, and an archive is checked by itself, too.
    whole(&out.join("manifest.json"), Kind::Results);
    for path in files(&out.join("saved")) {
        harm(&path, &out.join("saved"));
    }
    whole(&out.join("saved"), Kind::Archive);
    fs::remove_file(out.join("pairs.parquet")).unwrap();
    let report = verify(&out).unwrap().unwrap();
    assert!(report.wrong.len() == 1 && report.wrong[0].contains("pairs.parquet"), "{report:?}");
}

#[test]
fn an_archive_that_has_grown_is_whole_with_its_results() {
    let lab = lab();
    let mut request = lab.request("out");
    request.results.save = Some(lab.path("out/saved"));
    run(&request).unwrap();
    lab.write("a.jsonl", "{\"id\": \"new\", \"text\": \"quite another text of eight words in all\"}\n");
    let mut request = lab.request("second");
    request.old.paths = vec![lab.path("out/saved")];
    request.results.save = Some(lab.path("out/saved"));
    run(&request).unwrap();
    whole(&lab.path("out"), Kind::Results);
    whole(&lab.path("second"), Kind::Results);
}

#[test]
fn a_higher_threshold_is_checked_with_its_run() {
    let lab = lab();
    run(&lab.request("out")).unwrap();
    let before = whole(&lab.path("out"), Kind::Results).files;
    rethreshold(&lab.path("out"), "0.9".parse().unwrap(), &lab.path("out/strict")).unwrap();
    assert_eq!(whole(&lab.path("out"), Kind::Results).files, before + 6);
    for name in ["manifest.json", "evidence.parquet", "pairs.parquet", "report.html"] {
        harm(&lab.path("out/strict").join(name), &lab.path("out"));
    }
    // And the command that reads a manifest refuses a damaged one.
    let path = lab.path("out/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"threshold\": 0.7", "\"threshold\": 0.1", 1)).unwrap();
    let again = rethreshold(&lab.path("out"), "0.8".parse().unwrap(), &lab.path("other"));
    assert!(again.unwrap_err().to_string().contains("its checksum does not hold"));
}

#[test]
fn results_of_earlier_versions_are_whole_and_said_to_be_less_protected() {
    let lab = lab();
    run(&lab.request("out")).unwrap();
    for name in ["manifest.json", "run.json"] {
        let path = lab.path("out").join(name);
        let text = fs::read_to_string(&path).unwrap();
        let end = text.rfind(",\n").unwrap();
        fs::write(&path, text[..end].replacen("\"format\": 2", "\"format\": 1", 1) + "\n}\n").unwrap();
    }
    let report = verify(&lab.path("out")).unwrap().unwrap();
    assert!(report.is_whole() && report.warnings[0].contains("no checksum of its own"), "{report:?}");
    harm(&lab.path("out/pairs.parquet"), &lab.path("out"));
}

#[test]
fn checkpoints_are_checked_and_an_unfinished_run_is_not_whole() {
    let lab = lab();
    let request = lab.on_disk("out");
    let work = lab.path("out/.benzer-work");
    let stops = StopsAtWriting { last: work.join("stage-verify.json"), is_stopped: AtomicBool::default() };
    benzer_dedup::run(&request, &stops).unwrap_err();
    whole(&work, Kind::Checkpoints);
    let kept: Vec<_> = files(&work).into_iter().filter(|path| !path.ends_with("lock")).collect();
    assert!(kept.len() >= 5, "{kept:?}");
    let of_size = |path: &&PathBuf| fs::metadata(path).unwrap().len() > 0;
    kept.iter().filter(of_size).for_each(|path| harm(path, &work));
    let report = verify(&lab.path("out")).unwrap().unwrap();
    assert!(!report.is_whole() && report.wrong[0].contains("--resume"), "{report:?}");
}

#[test]
fn what_is_not_ours_is_nothing_and_what_is_not_there_is_an_error() {
    let lab = lab();
    assert!(verify(&lab.path("in")).unwrap().is_none());
    assert!(verify(&lab.path("in/a.jsonl")).unwrap().is_none());
    assert!(verify(&lab.path("none")).unwrap_err().to_string().contains("check the spelling"));
    fs::create_dir(lab.path("half")).unwrap();
    fs::write(lab.path("half/pairs.parquet"), "x").unwrap();
    let report = verify(&lab.path("half")).unwrap().unwrap();
    assert!(!report.is_whole() && report.wrong[0].contains("no manifest.json"), "{report:?}");
}

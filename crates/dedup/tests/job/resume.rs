//! Interrupted runs: what was read is not read again, is in memory where it fits, and nobody sees from the results that there was an interruption.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use benzer_dedup::Error;
use benzer_dedup::progress::{Observer, Stage};
use benzer_dedup::request::{Audit, Output, Request};
use benzer_flow::Listener;

use crate::again::FILES;
use crate::lab::{self, Lab};

/// Notes the stages that begin, and stops a run when one does and everything before it is saved.
#[derive(Default)]
struct Stopper {
    at: Option<Stage>,
    saved: Vec<PathBuf>,
    is_stopped: AtomicBool,
    begun: Mutex<Vec<Stage>>,
}

impl Observer for Stopper {
    fn begin(&self, stage: Stage, _: Option<u64>) {
        self.begun.lock().unwrap().push(stage);
        if self.at == Some(stage) {
            let start = Instant::now();
            while !self.saved.iter().all(|path| path.exists()) {
                assert!(start.elapsed() < Duration::from_secs(60), "{:?} are never saved", self.saved);
                thread::sleep(Duration::from_millis(1));
            }
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }
}

impl Listener for Stopper {
    fn reached(&self, _: u64) {}
    fn is_cancelled(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

fn saved(request: &Request, stage: &str) -> PathBuf {
    request.results.folder.join(format!(".benzer-work/stage-{stage}.json"))
}

/// Runs until a stage begins.
fn interrupt(request: &Request, at: Stage) {
    let stages = if at > Stage::Verify { &["read", "verify"][..] } else { &["read"] };
    let saved = stages.iter().map(|stage| saved(request, stage)).collect();
    let stopper = Stopper { at: Some(at), saved, ..Stopper::default() };
    let outcome = benzer_dedup::run(request, &stopper);
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    assert!(!request.results.folder.join("manifest.json").exists());
}

fn resumed(request: &Request) -> Request {
    request.clone().with(|request| request.resources.resume = true)
}

/// Resumes a run; the stages that it does itself, and whether it was on disk.
fn resume(request: &Request) -> (Vec<Stage>, bool) {
    let observer = Stopper::default();
    let summary = benzer_dedup::run(&resumed(request), &observer).unwrap();
    assert!(!saved(request, "read").exists());
    (observer.begun.into_inner().unwrap(), summary.spilled_bytes > 0)
}

/// Lines of every kind, many of them, with some that are none.
fn filled() -> Lab {
    let lab = Lab::new();
    for (name, content) in FILES {
        let more =
            |i: u32| content.replace("nine", &format!("nine{}", i % 7)).replace("text\": \"", "text\": \"w ");
        let content = if name.ends_with("jsonl") {
            (0..9).map(|i| more(i) + "\n").collect()
        } else {
            content.to_owned()
        };
        lab.write(name, content);
    }
    lab.write(
        "bytes.jsonl",
        b"{\"id\": 11, \"text\": \"a \xff b\"}\n{\"id\": 12, \"text\": \"seven eight nine\"}\n",
    );
    lab.write("bytes.csv", b"id,text\n13,\"a \xff\nb\"\n14,\"seven \"\"eight\"\"\nnine\"\n");
    lab
}

/// The same documents in files that are compressed.
fn compressed(lab: &Lab) {
    for entry in fs::read_dir(lab.path("in")).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let file = File::create(format!("{}.gz", path.display())).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&fs::read(&path).unwrap()).unwrap();
        encoder.finish().unwrap();
        fs::remove_file(path).unwrap();
    }
}

fn request(lab: &Lab, out: &str) -> Request {
    lab.request(out).with(|request| {
        request.input.read.batch_bytes = 300;
        request.resources.checkpoint = Some(0);
        request.resources.held = 0;
        request.resources.threads = 1;
        request.keep = "longest".parse().unwrap();
    })
}

#[test]
fn a_resumed_run_is_in_memory_and_has_the_same_bytes() {
    for is_compressed in [false, true] {
        let lab = filled();
        if is_compressed {
            compressed(&lab);
        }
        for write in [Output::Remove, Output::Annotate] {
            let right = request(&lab, "right").with(|request| {
                request.results.write = write;
                request.results.overwrite = true;
            });
            let summary = lab::run(&right).unwrap();
            assert!(summary.counts.removed > 20 && summary.counts.edges > 0, "{:?}", summary.counts);
            let expected = lab::outputs(&right.results.folder);
            for stage in [Stage::Group, Stage::Verify, Stage::Resolve, Stage::Write] {
                for (threads, maps, in_memory) in
                    [(1, false, u64::MAX), (3, true, u64::MAX), (3, false, 0), (1, false, 8_000)]
                {
                    let context = format!("{is_compressed} {write:?} {stage:?} {threads} {maps} {in_memory}");
                    let first = right.clone().with(|request| {
                        request.results.folder = lab.path("out");
                        request.resources.threads = threads;
                        request.resources.maps = maps;
                    });
                    interrupt(&first, stage);
                    let second = first.with(|request| request.resources.in_memory = in_memory);
                    let (begun, is_on_disk) = resume(&second);
                    let is_ample = in_memory == u64::MAX;
                    assert!(!begun.contains(&Stage::Read), "{context}");
                    assert_eq!(is_on_disk, !is_ample, "{context}");
                    let is_verified = matches!(stage, Stage::Resolve | Stage::Write);
                    assert_eq!(begun.contains(&Stage::Verify), !is_verified, "{context}");
                    lab::assert_same(&lab::outputs(&second.results.folder), &expected, &context);
                }
            }
        }
    }
}

/// Of a run that moved to disk, and goes on with more memory.
#[test]
fn what_was_on_disk_is_loaded_where_it_fits() {
    let lab = filled();
    let right = request(&lab, "right");
    lab::run(&right).unwrap();
    let small = request(&lab, "out").with(|request| request.resources.in_memory = 0);
    interrupt(&small, Stage::Verify);
    let (begun, is_on_disk) = resume(&small.with(|request| request.resources.in_memory = u64::MAX));
    assert!(!begun.contains(&Stage::Read) && !is_on_disk, "{begun:?}");
    lab::assert_same(&lab::outputs(&lab.path("out")), &lab::outputs(&lab.path("right")), "more memory");
}

/// Another letter in texts, at the same time of the clock.
fn change_texts(lab: &Lab, letter: u8) {
    for entry in fs::read_dir(lab.path("in")).unwrap().map(Result::unwrap) {
        let (path, modified) = (entry.path(), entry.metadata().unwrap().modified().unwrap());
        let bytes = fs::read(&path).unwrap();
        fs::write(
            &path,
            bytes.iter().map(|byte| if *byte == letter { b'q' } else { *byte }).collect::<Vec<_>>(),
        )
        .unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }
}

/// The last two documents are similar to each other, the others to nobody.
fn similar(lab: &Lab) {
    let line = |i: u32| {
        let (letter, first) = if i < 398 { ('k', 100 * i) } else { ('p', 0) };
        let words = (first..first + 30).map(|word| format!("{letter}{word} ")).collect::<String>();
        format!("{{\"id\": {i}, \"text\": \"{words}{i}\"}}\n")
    };
    lab.write("a.jsonl", (0..400).map(line).collect::<String>());
}

#[test]
fn behind_verify_nothing_is_read_but_texts_that_are_wanted() {
    let lab = Lab::new();
    similar(&lab);
    let first = request(&lab, "out").with(|request| request.audit = Audit::Off);
    let dry = first.clone().with(|request| request.results.write = Output::DryRun);
    let right = dry.clone().with(|request| request.results.folder = lab.path("right"));
    assert_eq!(lab::run(&right).unwrap().counts.removed, 1);
    interrupt(&first, Stage::Write);
    change_texts(&lab, b'k');
    let (begun, is_on_disk) = resume(&dry);
    assert!(!begun.contains(&Stage::Read) && !begun.contains(&Stage::Verify) && !is_on_disk, "{begun:?}");
    lab::assert_same(&lab::outputs(&lab.path("out")), &lab::outputs(&lab.path("right")), "texts not wanted");
}

#[test]
fn a_text_that_has_changed_is_refused() {
    let lab = Lab::new();
    similar(&lab);
    for maps in [false, true] {
        let request = request(&lab, "out").with(|request| request.resources.maps = maps);
        interrupt(&request, Stage::Verify);
        change_texts(&lab, b'p');
        let outcome = lab::run(&resumed(&request));
        assert!(matches!(outcome, Err(Error::Io(benzer_io::Error::Changed))), "{outcome:?}");
        similar(&lab);
        fs::remove_dir_all(lab.path("out")).unwrap();
    }
}

#[test]
fn damaged_checkpoints_are_made_anew() {
    for is_compressed in [false, true] {
        let lab = filled();
        if is_compressed {
            compressed(&lab);
        }
        let right = request(&lab, "right");
        lab::run(&right).unwrap();
        let request = request(&lab, "out");
        let work = lab.path("out/.benzer-work");
        let contents = if is_compressed { "texts.bin" } else { "batches.bin" };
        for name in ["stage-read.json", "sketches.bin", "places.bin", "ids.end", "edges.bin", contents] {
            interrupt(&request, Stage::Write);
            damage(&work.join(name));
            let (begun, is_on_disk) = resume(&request);
            assert!(
                begun.contains(if name == "edges.bin" { &Stage::Verify } else { &Stage::Read }),
                "{name}"
            );
            assert!(!is_on_disk);
            lab::assert_same(&lab::outputs(&lab.path("out")), &lab::outputs(&lab.path("right")), name);
            fs::remove_dir_all(lab.path("out")).unwrap();
        }
    }
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).unwrap();
}

//! Several processes on one collection, and a disk that is really full.

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::bench::Bench;

fn line(i: u64) -> String {
    let words: Vec<String> = (0..30).map(|j| format!("w{}", (i * 31 + j * j) % 99_991)).collect();
    format!("{{\"id\": \"{i:08}\", \"text\": \"{}\"}}\n", words.join(" "))
}

/// `benzer index`, fed until it is told to stop.
struct Writer {
    child: Child,
    stop: Arc<AtomicBool>,
    feed: JoinHandle<u64>,
}

impl Writer {
    fn start(bench: &Bench) -> Self {
        let mut command = bench.command(&["index", "news", "-", "--text", "text", "--batch", "100"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (mut input, is_over) = (child.stdin.take().unwrap(), stop.clone());
        let feed = std::thread::spawn(move || {
            let mut n = 0;
            while !is_over.load(Ordering::Relaxed) {
                let lines: String = (n..n + 500).map(line).collect();
                input.write_all(lines.as_bytes()).unwrap();
                n += 500;
                std::thread::sleep(Duration::from_millis(2));
            }
            n
        });
        Self { child, stop, feed }
    }

    /// How many documents it was given; it has ended well.
    fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let n = self.feed.join().unwrap();
        assert!(self.child.wait_with_output().unwrap().status.success());
        n
    }
}

fn documents(bench: &Bench) -> u64 {
    let ran = bench.run("collections stats news --format json");
    // Before it is made there is none.
    if ran.code == 0 { ran.json()["documents"].as_u64().unwrap() } else { 0 }
}

#[test]
fn others_read_while_one_writes_and_a_second_writer_is_refused() {
    let bench = Bench::new();
    let writer = Writer::start(&bench);
    let start = Instant::now();
    while documents(&bench) < 1000 {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    let pid = format!("another writer (pid {}) has", writer.child.id());
    bench.run("index news articles.jsonl").fails(1, &[&pid, "wait for it"]);
    bench.run("collections compact news").fails(1, &[&pid]);
    bench.run("collections drop news").fails(1, &[&pid]);
    let mut last = 0;
    for round in 0..4 {
        bench.run("search news --id 00000007 --threshold 0.9").ok();
        assert!(bench.run("verify news").ok().out.contains("news: whole"));
        // An export is the collection at one moment: the documents up to some batch, and all of them.
        bench.run(&format!("collections export news -o {round}.benzer")).ok();
        bench.run(&format!("collections import copy{round} {round}.benzer --db copies")).ok();
        let copy = bench.run(&format!("collections stats copy{round} --db copies --format json")).json();
        let n = copy["documents"].as_u64().unwrap();
        assert!(n >= last && n.is_multiple_of(100), "{n} after {last}");
        let id = |i: u64| bench.run(&format!("search copy{round} --db copies --id {i:08}")).code;
        assert_eq!((id(0), id(n / 2), id(n - 1), id(n)), (0, 0, 0, 1), "{n}");
        last = n;
    }
    let n = writer.stop();
    assert!(n > last);
    assert_eq!(documents(&bench), n);
    bench.run("index news articles.jsonl").ok();
}

/// A file system of its own, which is taken away in the end.
struct Mounted(PathBuf);

impl Mounted {
    fn new(path: &Path) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=5m", "tmpfs"], path).then(|| Self(path.into()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).status().ok();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    let mut command = Command::new("mount");
    let status = command.args(arguments).arg(path).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn on_a_full_disk_nothing_is_lost_and_with_more_room_it_goes_on() {
    let bench = Bench::new();
    let folder = bench.path("small");
    let Some(mounted) = Mounted::new(&folder) else {
        println!("skipped: no file system can be mounted here, which takes root");
        return;
    };
    let all = 20_000;
    bench.write("many.jsonl", (0..all).map(line).collect::<String>());
    bench
        .run("index news many.jsonl --text text --db small")
        .fails(1, &["No space left", "nothing was changed: make room and try again"]);
    let stats = || bench.run("collections stats news --db small --format json").json();
    let n = stats()["documents"].as_u64().unwrap();
    assert!(n > 0 && n < all && n.is_multiple_of(1000), "{n}");
    assert!(bench.run("verify --db small").ok().out.contains("news: whole"));
    // What is there is found, on the full disk too.
    bench.run(&format!("search news --db small --id {:08}", n - 1)).ok();
    bench.run(&format!("search news --db small --id {n:08}")).fails(1, &["there is no document"]);
    assert!(mount(&["-o", "remount,size=100m"], &mounted.0));
    let told = bench.run("index news many.jsonl --db small --continue --format json").json();
    assert_eq!((told["passed"].as_u64(), told["inserted"].as_u64()), (Some(n), Some(all - n)), "{told}");
    assert_eq!(stats()["documents"].as_u64(), Some(all));
    assert!(bench.run("verify --db small").ok().out.contains("news: whole"));
}

#[test]
fn a_damaged_segment_is_told_by_verify_and_made_again_by_repair() {
    let bench = Bench::new();
    bench.write("many.jsonl", (0..10_000).map(line).collect::<String>());
    bench.run("index news many.jsonl --text text --sketches-only").ok();
    let files = std::fs::read_dir(bench.path("benzer-data/news")).unwrap().map(|entry| entry.unwrap().path());
    let segment = files.filter(|path| path.extension().is_some_and(|kind| kind == "seg")).max().unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&segment, bytes).unwrap();
    let verified = bench.run("verify");
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(
        verified.out.contains("is damaged in MiB") && verified.err.contains("benzer repair"),
        "{verified:?}"
    );
    bench.run("repair news").ok();
    assert!(bench.run("verify").ok().out.contains("news: whole, 10,000 documents"));
    assert!(!segment.exists());
}

/// What is larger is looked at as memory.
const HELD: usize = 16 << 20;

/// Somebody cuts an input while it is deduplicated: that is told, whatever the moment, and the run is not there.
#[test]
fn an_input_that_is_cut_meanwhile_is_told() {
    let bench = Bench::new();
    let lines: String = (0..120_000).map(|i| line(i / 2)).collect();
    assert!(lines.len() > HELD);
    // A machine that is slow at the wrong moment may be done before the cut.
    let is_told = (0..20).any(|_| {
        bench.write("long.jsonl", &lines);
        let arguments =
            ["dedup", "long.jsonl", "-o", "out", "--id-field", "id", "--log", "json", "--overwrite"];
        let mut child = bench.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut talk = std::io::BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let group = talk.find(|line| line.contains("\"group\"")).unwrap();
        let file = std::fs::File::options().write(true).open(bench.path("long.jsonl")).unwrap();
        file.set_len(10).unwrap();
        let rest: Vec<String> = talk.collect();
        let code = child.wait().unwrap().code();
        assert!(code.is_some(), "{code:?} {group} {rest:?}");
        if code == Some(0) {
            return false;
        }
        let all = rest.join("\n");
        assert!(all.contains("was cut") || all.contains("changed"), "{all}");
        assert!(code == Some(1) && !bench.path("out/manifest.json").exists());
        true
    });
    assert!(is_told);
}

#[test]
fn memory_that_is_not_there_is_told() {
    let bench = Bench::new();
    let mut command = bench.command(&["dedup", "-", "-o", "out", "--id-field", "id", "--log", "json"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = std::io::BufReader::new(child.stderr.take().unwrap());
    // It waits for its input, once it has begun.
    let start = Instant::now();
    while !bench.path("out").exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    let killed = Command::new("kill").args(["-BUS", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut told = String::new();
    talk.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(told.contains("SIGBUS") && told.contains("--resume"), "{told}");
}

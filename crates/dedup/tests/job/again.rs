//! Lines that are read again instead of being held: the same results, and no trust in files that change meanwhile.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use benzer_dedup::Error;
use benzer_dedup::progress::{Observer, Stage};
use benzer_dedup::request::Output;
use benzer_flow::Listener;

use crate::lab::{self, Lab};

/// Lines of every kind: texts as they stand, with escapes, in quotes, in several lines; and some that are none.
pub const FILES: [(&str, &str); 5] = [
    (
        "a.jsonl",
        "\u{feff}{\"id\": 1, \"text\": \"one two three four five six\"}\r\n\n{\"id\": 2, \"text\": \"one two three\\nfour five six\"}\r\nnot json\n{\"id\": \"\\u00e9\", \"text\": \"seven eight nine\"}",
    ),
    (
        "b.jsonl",
        "{\"text\": \"seven\\teight nine\", \"id\": 4}\n{\"text\": \"d\u{e9}j\u{e0} vu \\\"encore\\\"\", \"id\": 5}\n",
    ),
    (
        "c.csv",
        "id,text\n6,\"seven \"\"eight\"\" nine\"\n7,\"one two three four\nfive six\"\n8,seven eight nine\n",
    ),
    (
        "d.jsonl",
        "{\"id\": 9, \"text\": \"one two three four five six seven\"}\n{\"id\": 10, \"text\": \"\\ud83d\\ude00 vu encore d\u{e9}j\u{e0}\"}\n",
    ),
    ("e.jsonl", ""),
];

fn filled() -> Lab {
    let lab = Lab::new();
    FILES.iter().for_each(|(name, content)| lab.write(name, content));
    lab
}

#[test]
fn results_do_not_tell_whether_lines_were_held() {
    let lab = filled();
    lab.write(
        "bytes.jsonl",
        b"{\"id\": 11, \"text\": \"a \xff b\"}\n{\"id\": 12, \"text\": \"seven eight nine\"}\n",
    );
    for write in [Output::Remove, Output::Annotate] {
        for batch_bytes in [40, 200, 1 << 20] {
            let mut held = lab.request("held").with(|request| {
                request.results.write = write;
                request.results.overwrite = true;
            });
            held.input.read.batch_bytes = batch_bytes;
            let summary = lab::run(&held).unwrap();
            assert!(summary.counts.removed > 3 && summary.counts.rejected == 2, "{:?}", summary.counts);
            for maps in [false, true] {
                let again = held.clone().with(|request| {
                    request.resources.held = 0;
                    request.resources.maps = maps;
                    request.results.folder = lab.path("again");
                });
                lab::run(&again).unwrap();
                lab::assert_same(
                    &lab::outputs(&again.results.folder),
                    &lab::outputs(&held.results.folder),
                    &format!("{batch_bytes} {maps}"),
                );
            }
        }
    }
}

#[test]
fn what_does_not_fit_moves_to_disk_on_the_way() {
    let lab = Lab::new();
    let line = |i: u32| format!("{{\"id\": {i}, \"text\": \"w{} w{} \\n w{}\"}}\n", i % 7, i % 1009, i / 5);
    lab.write("a.jsonl", (0..60_000).map(line).collect::<String>());
    let held = lab.request("held");
    assert_eq!(lab::run(&held).unwrap().spilled_bytes, 0);
    for maps in [false, true] {
        let moved = held.clone().with(|request| {
            request.resources.held = 0;
            request.resources.maps = maps;
            request.results.overwrite = true;
            request.resources.memory = 90 << 20;
            request.results.folder = lab.path("moved");
        });
        assert!(lab::run(&moved).unwrap().spilled_bytes > 0);
        lab::assert_same(&lab::outputs(&moved.results.folder), &lab::outputs(&held.results.folder), "moved");
    }
}

#[test]
fn joined_fields_are_read_again_too() {
    let lab = Lab::new();
    let line = |id: u32, a: &str, b: &str| format!("{{\"id\": {id}, \"b\": \"{b}\", \"a\": \"{a}\"}}\n");
    lab.write(
        "a.jsonl",
        line(1, "one two", "three\\nfour") + &line(2, "one two three", "four") + &line(3, "other", "words"),
    );
    let mut held = lab.request("held");
    held.input.read.text_fields = vec!["a".parse().unwrap(), "b".parse().unwrap()];
    assert_eq!(lab::run(&held).unwrap().counts.removed, 1);
    let again = held.clone().with(|request| {
        request.resources.held = 0;
        request.results.folder = lab.path("again");
    });
    lab::run(&again).unwrap();
    lab::assert_same(&lab::outputs(&again.results.folder), &lab::outputs(&held.results.folder), "joined");
}

/// Compressed files come as they are read, several at a time; where memory ends among them must not show.
#[test]
fn several_compressed_files_give_the_same_as_one_after_the_other() {
    let lab = Lab::new();
    let line = |i: u32| match i % 97 {
        96 => format!("no document {i}\n"),
        _ => {
            let k = i % 3001;
            let text = format!("a{k} b{k} c{k} \\n d{k} e{k} f{k} g{k} h{}", i % 5);
            format!("{{\"id\": {i}, \"text\": \"{text}\"}}\n")
        }
    };
    for file in 0..6 {
        let lines: String = (file * 2000..(file + 1) * 2000 - 300 * (file % 3)).map(line).collect();
        match file % 3 {
            0 => lab.write(&format!("{file}.jsonl.zst"), zstd::encode_all(lines.as_bytes(), 1).unwrap()),
            1 => lab.write(&format!("{file}.jsonl"), lines),
            _ => {
                let mut whole = zstd::encode_all(lines.as_bytes(), 1).unwrap();
                whole.truncate(whole.len() - 9);
                lab.write(&format!("{file}.jsonl.zst"), whole);
            }
        }
    }
    let request = |threads, in_memory| {
        lab.request("out").with(|request| {
            request.resources.threads = threads;
            request.resources.in_memory = in_memory;
            request.results.overwrite = true;
            request.input.read.batch_bytes = 5000;
        })
    };
    let expected = lab::run(&request(1, u64::MAX)).unwrap();
    assert!(expected.counts.rejected > 50 && expected.counts.removed > 1000, "{:?}", expected.counts);
    let outputs = lab::outputs(&lab.path("out"));
    for threads in [1, 2, 5, 16] {
        for in_memory in [0, 200 << 10, 1 << 20, 2 << 20, u64::MAX] {
            let found = lab::run(&request(threads, in_memory)).unwrap();
            let context = format!("{threads} threads, {in_memory} bytes");
            assert_eq!(
                (found.counts, found.rejects),
                (expected.counts.clone(), expected.rejects.clone()),
                "{context}"
            );
            lab::assert_same(&lab::outputs(&lab.path("out")), &outputs, &context);
        }
    }
}

/// Writes to a file when a stage begins.
struct Meddler {
    stage: Stage,
    path: PathBuf,
    content: Mutex<Option<Vec<u8>>>,
}

impl Observer for Meddler {
    fn begin(&self, stage: Stage, _: Option<u64>) {
        if stage == self.stage
            && let Some(content) = self.content.lock().unwrap().take()
        {
            fs::write(&self.path, content).unwrap();
        }
    }
}

impl Listener for Meddler {
    fn reached(&self, _: u64) {}
}

#[test]
fn a_file_that_changes_meanwhile_ends_the_run() {
    let original = FILES[0].1.as_bytes();
    let swapped: Vec<u8> = original.iter().map(|byte| if *byte == b'o' { b'\\' } else { *byte }).collect();
    let damaged: Vec<u8> = original.iter().map(|byte| if *byte == b'o' { 0xff } else { *byte }).collect();
    let longer = [original, b"\n{\"id\": 99, \"text\": \"more\"}\n"].concat();
    let cut = original[..60].to_vec();
    let contents = [swapped, damaged, longer, cut, Vec::new()];
    // A map of a file that is cut ends the process, once a whole page of it is gone.
    let ways = contents.iter().flat_map(|content| [(content, false), (content, true)]);
    for (content, maps) in ways.filter(|(content, maps)| !(*maps && content.is_empty())) {
        for stage in [Stage::Group, Stage::Verify, Stage::Write] {
            let lab = filled();
            let path = lab.path("in").join("a.jsonl");
            let meddler = Meddler { stage, path, content: Mutex::new(Some(content.clone())) };
            let request = lab.request("out").with(|request| {
                request.resources.held = 0;
                request.resources.maps = maps;
            });
            let outcome = benzer_dedup::run(&request, &meddler);
            assert!(matches!(outcome, Err(Error::Io(benzer_io::Error::Changed))), "{stage:?}: {outcome:?}");
            assert!(!lab.path("out/manifest.json").exists());
        }
    }
}

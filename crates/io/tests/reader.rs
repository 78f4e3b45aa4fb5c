//! What a user sees of the reader: files as they occur, and what becomes of every line of them.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use benzer_io::read::{self, Batch, Compression, DocumentId, Inputs, ReadOptions, RejectReason};
use benzer_io::{Error, Result};
use proptest::prelude::*;
use tempfile::TempDir;

/// Everything a run gives, in order: `(input, line, text)` and the rejects as messages.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    texts: Vec<(u32, u64, String)>,
    rejects: Vec<String>,
    n_blank: u64,
}

fn read_all(inputs: Inputs, options: ReadOptions) -> Result<Seen> {
    let mut seen = Seen::default();
    for raw in read::open(inputs, options)? {
        let batch: Batch = read::parse(raw?);
        seen.texts.extend(batch.documents().map(|d| (d.input, d.line, d.text.to_owned())));
        seen.rejects.extend(batch.rejects().iter().map(|reject| reject.to_string()));
        seen.n_blank += batch.n_blank();
    }
    Ok(seen)
}

/// Reads one file of the given name and content; the folder is cut from the messages.
fn read_file(name: &str, content: &[u8]) -> Seen {
    read_file_with(name, content, ReadOptions::default())
}

fn read_file_with(name: &str, content: &[u8], options: ReadOptions) -> Seen {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let mut seen = read_all(Inputs::new().path(&path), options).unwrap();
    let prefix = format!("{}/", folder.path().display());
    seen.rejects.iter_mut().for_each(|reject| *reject = reject.replace(&prefix, ""));
    seen
}

fn error_of(inputs: Inputs) -> String {
    read_all(inputs, ReadOptions::default()).unwrap_err().to_string()
}

fn small_batches(batch_bytes: usize) -> ReadOptions {
    ReadOptions { batch_bytes, ..ReadOptions::default() }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

/// `n` lines; the text of line `i` is `i`.
fn lines(n: usize) -> Vec<u8> {
    (1..=n).flat_map(|i| format!("{{\"text\":\"{i}\"}}\n").into_bytes()).collect()
}

fn texts(seen: &Seen) -> Vec<&str> {
    seen.texts.iter().map(|(_, _, text)| text.as_str()).collect()
}

#[test]
fn bom_crlf_blank_lines_and_a_missing_final_newline_are_no_trouble() {
    let content = b"\xef\xbb\xbf{\"text\":\"a\"}\r\n\r\n  \t\n{\"text\":\"b\"}\r\n{\"text\":\"c\"}";
    for batch_bytes in [1, 5, 17, 1 << 20] {
        let seen = read_file_with("a.jsonl", content, small_batches(batch_bytes));
        assert_eq!(seen.texts, [(0, 1, "a".into()), (0, 4, "b".into()), (0, 5, "c".into())]);
        assert_eq!((seen.n_blank, seen.rejects.len()), (2, 0));
    }
}

#[test]
fn a_document_knows_its_line_offset_and_original_bytes() {
    let content = "\u{feff}{\"id\":7,\"text\":\"a\\n\"}\r\n\n{\"text\":\"b\",\"id\":\"\\u0078\"} ";
    let options = ReadOptions { id_field: Some("id".parse().unwrap()), ..small_batches(16) };
    let inputs = Inputs::new().stream("s", content.as_bytes());
    let batches: Vec<Batch> =
        read::open(inputs, options).unwrap().map(|raw| read::parse(raw.unwrap())).collect();
    let found: Vec<_> = batches.iter().flat_map(|batch| batch.documents()).collect();
    assert_eq!(found[0].raw, "{\"id\":7,\"text\":\"a\\n\"}\r");
    assert_eq!((found[0].id, found[0].line, found[0].offset), (DocumentId::Field("7"), 1, 3));
    assert_eq!((found[1].id, found[1].line, found[1].offset), (DocumentId::Field("x"), 3, 27));
    assert!(found.iter().all(|d| content[d.offset as usize..].starts_with(d.raw)));
    assert_eq!(found[0].text, "a\n");
}

#[test]
fn without_an_id_field_the_id_is_input_and_row() {
    let inputs = Inputs::new().stream("a", &b"{\"text\":\"\"}"[..]).stream("b", &b"\n{\"text\":\"\"}"[..]);
    let raw = read::open(inputs, ReadOptions::default()).unwrap().next().unwrap().unwrap();
    let batch = read::parse(raw);
    let ids: Vec<_> = batch.documents().map(|document| document.id).collect();
    assert_eq!(ids, [DocumentId::Row { input: 0, row: 1 }, DocumentId::Row { input: 1, row: 2 }]);
}

#[test]
fn an_empty_file_has_no_documents_and_no_rejects() {
    assert_eq!(read_file("a.jsonl", b""), Seen::default());
    assert_eq!(read_file("a.jsonl.gz", &gzip(b"")), Seen::default());
    assert_eq!(read_file("a.jsonl.zst", &zstd(b"")), Seen::default());
    assert_eq!(read_file("a.jsonl", b"\xef\xbb\xbf"), Seen::default());
    assert_eq!(read_file("a.jsonl", b"\n").n_blank, 1);
}

#[test]
fn gzip_and_zstd_are_told_by_content_whatever_the_name_says() {
    for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a"] {
        for content in [lines(3), gzip(&lines(3)), zstd(&lines(3))] {
            assert_eq!(texts(&read_file(name, &content)), ["1", "2", "3"], "{name}");
        }
    }
}

#[test]
fn all_members_of_a_gzip_and_all_frames_of_a_zstd_are_read() {
    let all = lines(4);
    let (a, b) = all.split_at(20);
    for content in [[gzip(a), gzip(b""), gzip(b)].concat(), [zstd(a), zstd(b)].concat()] {
        assert_eq!(texts(&read_file("a.gz", &content)), ["1", "2", "3", "4"]);
    }
}

#[test]
fn a_zstd_with_a_long_window_is_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(&lines(3)).unwrap();
    assert_eq!(texts(&read_file("a.zst", &encoder.finish().unwrap())), ["1", "2", "3"]);
}

#[test]
fn bytes_after_a_gzip_are_a_reject_and_lose_no_line() {
    let seen = read_file("a.gz", &[gzip(&lines(3)), b"twenty bytes of junk".to_vec()].concat());
    assert_eq!(texts(&seen), ["1", "2", "3"]);
    assert!(seen.rejects[0].starts_with("a.gz:4: corrupt gzip ("), "{:?}", seen.rejects);
}

#[test]
fn a_truncated_gzip_gives_its_whole_lines_and_one_reject_for_the_rest() {
    let mut content = gzip(&lines(100_000));
    content.truncate(content.len() / 2);
    for batch_bytes in [1 << 10, 1 << 23] {
        let seen = read_file_with("a.jsonl.gz", &content, small_batches(batch_bytes));
        let n = seen.texts.len();
        assert!(n > 20_000);
        assert_eq!(seen.texts[n - 1], (0, n as u64, n.to_string()));
        let expected = format!(
            "a.jsonl.gz:{}: truncated gzip: the file ends early; the lines before this one were read; get a whole copy",
            n + 1
        );
        assert_eq!(seen.rejects, [expected]);
    }
}

#[test]
fn a_compressed_file_cut_anywhere_is_a_reject_and_never_an_error() {
    for (whole, name) in [(gzip(&lines(9)), "gzip"), (zstd(&lines(9)), "zstd")] {
        let two = [whole.clone(), whole.clone()].concat();
        for cut in 0..two.len() {
            let seen = read_file(if name == "gzip" { "a.gz" } else { "a.zst" }, &two[..cut]);
            let at_member_end = cut == whole.len();
            assert_eq!(
                seen.rejects.len(),
                usize::from(!at_member_end),
                "{name} cut at {cut}: {:?}",
                seen.rejects
            );
            assert!(
                at_member_end || seen.rejects[0].contains(&format!("truncated {name}")),
                "{:?}",
                seen.rejects
            );
        }
    }
}

#[test]
fn a_damaged_gzip_is_a_reject_and_the_next_file_is_read() {
    let mut content = gzip(&lines(50));
    let middle = content.len() - 6;
    content[middle] ^= 0x55;
    let inputs = Inputs::new()
        .stream("bad", std::io::Cursor::new(content))
        .stream("good", std::io::Cursor::new(lines(1)));
    let seen = read_all(inputs, ReadOptions::default()).unwrap();
    assert_eq!(seen.texts.last().unwrap(), &(1, 1, "1".into()));
    assert_eq!(seen.rejects.len(), 1);
    assert!(seen.rejects[0].starts_with("bad:51: corrupt gzip ("), "{}", seen.rejects[0]);
}

#[test]
fn bad_lines_are_rejected_one_by_one_and_the_others_are_read() {
    let content = [
        &b"{\"text\":\"one\"}\n"[..],
        b"{\"text\":\"\xc3\x28\"}\n",
        b"{\"text\":\n",
        b"\"text\"\n",
        b"{\"body\":\"x\"}\n",
        b"{\"text\":5}\n",
        b"{\"text\":\"seven\"}\n",
        b"\xff\n{\"text\":\"nine\"}",
    ]
    .concat();
    for batch_bytes in [1, 30, 1 << 20] {
        let seen = read_file_with("a.jsonl", &content, small_batches(batch_bytes));
        assert_eq!(seen.texts, [(0, 1, "one".into()), (0, 7, "seven".into()), (0, 9, "nine".into())]);
        assert_eq!(
            seen.rejects,
            [
                "a.jsonl:2: invalid utf-8 at column 10; convert the file to utf-8 (`iconv -t utf-8`)",
                "a.jsonl:3: invalid json at column 9: expected a value, got the end of the line; write each object on one line (`jq -c .`)",
                "a.jsonl:4: expected a json object, got a string; write one object per line (`jq -c '.[]'`)",
                "a.jsonl:5: no field `text`; name the right one with --text-field or --id-field",
                "a.jsonl:6: field `text` must be a string, got a number",
                "a.jsonl:8: invalid utf-8 at column 1; convert the file to utf-8 (`iconv -t utf-8`)",
            ]
        );
    }
}

#[test]
fn rejected_lines_keep_their_bytes() {
    let inputs = Inputs::new().stream("s", &b"{\"text\":\"a\"}\n{\"text\":\"\xff\"}\r\nnope\n"[..]);
    let raw = read::open(inputs, ReadOptions::default()).unwrap().next().unwrap().unwrap();
    let batch = read::parse(raw);
    assert_eq!(batch.rejected_line(0), Some(&b"{\"text\":\"\xff\"}\r"[..]));
    assert_eq!(batch.rejected_line(1), Some(&b"nope"[..]));
    assert_eq!(batch.rejects()[1].offset, 27);
    assert_eq!(batch.rejected_line(2), None);
}

#[test]
fn a_binary_file_gives_rejects_only() {
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(200_000)
    .collect();
    let seen = read_file_with("a.jsonl", &noise, small_batches(1 << 12));
    assert!(seen.texts.is_empty() && seen.rejects.len() > 500);
}

#[test]
fn recognised_formats_that_are_not_read_are_refused_at_once() {
    let folder = TempDir::new().unwrap();
    for (magic, name) in
        [(&b"FEA1...."[..], "feather version 1"), (b"\xfd7zXZ\0..", "xz"), (b"\xff\xfe{\0", "utf-16")]
    {
        let path = folder.path().join("a.jsonl");
        fs::write(&path, magic).unwrap();
        let error = error_of(Inputs::new().path(&path));
        let expected = format!("expected json lines, csv, tsv, plain text, parquet or arrow, got {name}; ");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_line_of_50_megabytes_is_read() {
    let text = "x".repeat(50 << 20);
    let content = format!("{{\"text\":\"a\"}}\n{{\"text\":\"{text}\"}}\n{{\"text\":\"c\"}}\n");
    let inputs = Inputs::new().stream("s", std::io::Cursor::new(content));
    let seen = read_all(inputs, ReadOptions::default()).unwrap();
    assert_eq!(seen.texts.iter().map(|t| t.2.len()).collect::<Vec<_>>(), [1, 50 << 20, 1]);
}

#[test]
fn a_line_over_the_limit_is_passed_and_counted() {
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(5000));
    let content = format!("{{\"text\":\"a\"}}\n{long}\n{long}\n{{\"text\":\"d\"}}\n{long}");
    for batch_bytes in [1, 100, 1 << 20] {
        let options = ReadOptions { max_line_bytes: 1000, ..small_batches(batch_bytes) };
        let seen = read_file_with("a.jsonl", content.as_bytes(), options);
        assert_eq!(seen.texts, [(0, 1, "a".into()), (0, 4, "d".into())]);
        let reject = |line| {
            format!(
                "a.jsonl:{line}: line of 5011 bytes, expected at most 1000; `benzer dedup --max-line` reads longer ones"
            )
        };
        assert_eq!(seen.rejects, [reject(2), reject(3), reject(5)]);
    }
}

#[test]
fn folders_are_read_recursively_in_the_order_of_path_bytes() {
    let folder = TempDir::new().unwrap();
    let names = [
        "b.jsonl",
        "a/z.NDJSON",
        "a-b/x.json.gz",
        "a/b/c.jsonl.zst",
        "Z.json",
        ".hidden.jsonl",
        "a/readme.html",
        "_SUCCESS",
        "_temporary/0.json",
        "a/_meta.jsonl",
    ];
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, lines(1)).unwrap();
    }
    let relative = |inputs: Inputs| -> Vec<String> {
        let reader = read::open(inputs, ReadOptions::default()).unwrap();
        reader.inputs().iter().map(|input| input.relative.display().to_string()).collect()
    };
    let sorted = ["Z.json", "a-b/x.json.gz", "a/b/c.jsonl.zst", "a/z.NDJSON", "b.jsonl"];
    assert_eq!(relative(Inputs::new().path(folder.path())), sorted);
    let pattern = format!("{}/**/*.json*", folder.path().display());
    assert_eq!(
        relative(Inputs::new().path(pattern)),
        ["Z.json", "_temporary/0.json", "a-b/x.json.gz", "a/_meta.jsonl", "a/b/c.jsonl.zst", "b.jsonl"]
    );
    let twice = Inputs::new().path(folder.path().join("b.jsonl")).path(folder.path());
    assert_eq!(relative(twice), ["b.jsonl", "Z.json", "a-b/x.json.gz", "a/b/c.jsonl.zst", "a/z.NDJSON"]);
    let brackets = folder.path().join("x[1].jsonl");
    fs::write(&brackets, lines(1)).unwrap();
    assert_eq!(relative(Inputs::new().path(&brackets)), ["x[1].jsonl"]);
}

#[test]
fn what_cannot_be_opened_is_named_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error = error_of(Inputs::new().path(at("gone.jsonl")));
    assert!(error.contains("gone.jsonl`") && error.contains("check the spelling"), "{error}");
    let error = error_of(Inputs::new().path(folder.path()));
    assert!(
        error.contains("looked for .jsonl, .ndjson, .json, .csv, .tsv, .txt, .text, .md, .parquet, .pq, .arrow, .feather, .ipc (also with .gz, .gzip, .zst, .zstd)"),
        "{error}"
    );
    let error = error_of(Inputs::new().path(at("*.jsonl")));
    assert!(error.contains("no file matches `") && error.contains("quote it"), "{error}");
    assert!(error_of(Inputs::new()).contains("at least one file"));
}

#[cfg(unix)]
#[test]
fn a_broken_link_in_a_folder_is_an_error_that_names_it() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("a.jsonl")).unwrap();
    let error = error_of(Inputs::new().path(folder.path()));
    assert!(error.contains("a.jsonl`: "), "{error}");
}

#[test]
fn a_file_that_vanishes_after_opening_is_an_error_that_names_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, lines(1)).unwrap();
    let mut reader = read::open(Inputs::new().path(&path), ReadOptions::default()).unwrap();
    fs::remove_file(&path).unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert!(matches!(&error, Error::Open { path: named, .. } if *named == path), "{error}");
    assert!(reader.next().is_none());
}

#[test]
fn a_source_that_fails_is_an_error_not_a_reject() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("cable pulled"))
        }
    }
    for start in [lines(3), gzip(&lines(3))[..20].to_vec(), zstd(&lines(3))[..20].to_vec()] {
        let error = error_of(Inputs::new().stream("pipe", std::io::Cursor::new(start).chain(Failing)));
        assert!(error.starts_with("cannot read `pipe`: cable pulled; "), "{error}");
    }
}

#[test]
fn a_pipe_that_gives_a_byte_at_a_time_is_read_like_a_file() {
    struct Dribble(std::io::Cursor<Vec<u8>>);
    impl Read for Dribble {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = into.len().min(1);
            self.0.read(&mut into[..n])
        }
    }
    for content in [lines(40), gzip(&lines(40)), zstd(&lines(40))] {
        let inputs = Inputs::new().stream("pipe", Dribble(std::io::Cursor::new(content)));
        assert_eq!(read_all(inputs, small_batches(100)).unwrap().texts.len(), 40);
    }
}

#[test]
fn progress_counts_bytes_on_disk() {
    let folder = TempDir::new().unwrap();
    let sizes: Vec<u64> = [lines(1000), gzip(&lines(1000)), zstd(&lines(1000))]
        .iter()
        .enumerate()
        .map(|(i, content)| {
            fs::write(folder.path().join(format!("{i}.jsonl")), content).unwrap();
            content.len() as u64
        })
        .collect();
    let reader = read::open(Inputs::new().path(folder.path()), small_batches(1 << 10)).unwrap();
    let kinds: Vec<_> = reader.inputs().iter().map(|input| input.compression().unwrap()).collect();
    assert_eq!(kinds, [Compression::None, Compression::Gzip, Compression::Zstd]);
    let progress = reader.progress().clone();
    assert_eq!((progress.bytes_read(), progress.bytes_total()), (0, Some(sizes.iter().sum())));
    let n: usize = std::thread::spawn(|| reader.map(|raw| read::parse(raw.unwrap()).n_documents()).sum())
        .join()
        .unwrap();
    assert_eq!((n, progress.bytes_read()), (3000, sizes.iter().sum()));
    let pipe = read::open(Inputs::new().stream("p", std::io::empty()), ReadOptions::default()).unwrap();
    assert_eq!(pipe.progress().bytes_total(), None);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let open =
        |options| read::open(Inputs::new().stream("s", std::io::empty()), options).err().unwrap().to_string();
    let error = open(ReadOptions { max_line_bytes: 0, ..ReadOptions::default() });
    assert_eq!(error, "`max_line_bytes` must be between 1 and 1073741824, got 0");
    let error = open(ReadOptions { text_fields: Vec::new(), ..ReadOptions::default() });
    assert_eq!(error, "`--text-field` must be at least one field, got none");
}

proptest! {
    /// However small the batches, every line is seen once, under its number, and the bytes add up.
    #[test]
    fn batches_of_any_size_show_the_same_lines(
        files in prop::collection::vec(prop::collection::vec("[a-z]{0,40}", 0..12), 1..4),
        finals in any::<bool>(),
        batch_bytes in 1usize..200,
        max_line_bytes in 20usize..80,
    ) {
        let (mut inputs, mut expected, mut n_blank, mut n_long) = (Inputs::new(), Vec::new(), 0, 0);
        for (number, texts) in files.iter().enumerate() {
            let mut content = String::new();
            for (i, text) in texts.iter().enumerate() {
                let line = if text.is_empty() { String::new() } else { format!("{{\"text\":\"{text}\"}}") };
                if line.is_empty() { n_blank += 1 }
                else if line.len() > max_line_bytes { n_long += 1 }
                else { expected.push((number as u32, i as u64 + 1, text.clone())) }
                content.push_str(&line);
                if finals || i + 1 < texts.len() { content.push('\n') } else if line.is_empty() { n_blank -= 1 }
            }
            inputs = inputs.stream(number.to_string(), std::io::Cursor::new(content));
        }
        let options = ReadOptions { batch_bytes, max_line_bytes, ..ReadOptions::default() };
        let seen = read_all(inputs, options).unwrap();
        prop_assert_eq!(seen.texts, expected);
        prop_assert_eq!((seen.n_blank, seen.rejects.len()), (n_blank, n_long));
    }
}

#[test]
fn rejects_can_be_told_apart_by_reason() {
    let inputs = Inputs::new().stream("s", &b"{}"[..]);
    let raw = read::open(inputs, ReadOptions::default()).unwrap().next().unwrap().unwrap();
    let batch = read::parse(raw);
    let reject = &batch.rejects()[0];
    assert_eq!(&*reject.file, Path::new("s"));
    assert_eq!(reject.reason, RejectReason::MissingField { field: "text".into() });
}

#[test]
fn a_text_whose_line_was_overwritten_meanwhile_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.jsonl");
    let line = r#"{"a":"one\ntwo","b":"three"}"#;
    let options = ReadOptions {
        text_fields: vec!["a".parse().unwrap(), "b".parse().unwrap()],
        ..ReadOptions::default()
    };
    for blank in [" ".repeat(line.len()), format!("{:<1$}", r#"{"a":5}"#, line.len())] {
        fs::write(&path, format!("{line}\n")).unwrap();
        let mut reader = read::open(Inputs::new().path(&path), options.clone()).unwrap();
        let rereader = reader.rereader(false).unwrap().unwrap();
        let mut batch = read::parse(reader.next().unwrap().unwrap());
        batch.shed();
        batch.forget_lines();
        let mut text = String::new();
        batch.reread_text(0, &rereader, &mut |found| text.push_str(found)).unwrap();
        assert_eq!(text, "one\ntwo\nthree");
        fs::write(&path, format!("{blank}\n")).unwrap();
        let changed = batch.reread_text(0, &rereader, &mut |_| {});
        assert!(matches!(changed, Err(Error::Changed)), "{changed:?}");
    }
}

//! What corpora are read from: lines, records, tables, and results of earlier runs.

use std::io::Cursor;
use std::path::Path;

use benzer_dedup::results;
use benzer_io::read::{self, DocumentId, Format, Inputs, ReadOptions};
use serde_json::Value;

/// How many documents and rejects an input gave.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    documents: usize,
    rejects: usize,
}

fn options(format: Option<Format>, batch_bytes: usize) -> ReadOptions {
    ReadOptions { format, batch_bytes, max_line_bytes: 1 << 20, ..ReadOptions::default() }
}

/// Reads everything. The lines of documents rise, and messages can be written.
fn count(inputs: Inputs, options: ReadOptions) -> Counted {
    let (mut counted, mut last) = (Counted::default(), 0);
    let Ok(reader) = read::open(inputs, options) else { return counted };
    for raw in reader {
        let Ok(raw) = raw else { break };
        let batch = read::parse(raw);
        for document in batch.documents() {
            assert!(document.line > last, "line {} after {last}", document.line);
            last = document.line;
            assert!(matches!(document.id, DocumentId::Field(_) | DocumentId::Row { .. }));
        }
        counted.documents += batch.n_documents();
        counted.rejects += batch.rejects().len();
        batch.rejects().iter().for_each(|reject| drop(reject.to_string()));
    }
    counted
}

fn stream(data: &[u8], options: ReadOptions) -> Counted {
    count(Inputs::new().stream("fuzz", Cursor::new(data.to_vec())), options)
}

/// Any bytes as JSON lines: a line is a document if and only if `serde_json` says so, whatever the size of the batches.
pub fn jsonl(data: &[u8]) {
    // The blank line before it keeps the first line from being taken for a compressed file or a byte order mark.
    let lines = [b"\n", data].concat();
    let text = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|json| json["text"].is_string());
    let is_blank = |line: &[u8]| line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let (good, bad): (Vec<&[u8]>, Vec<&[u8]>) =
        lines.split(|byte| *byte == b'\n').filter(|line| !is_blank(line)).partition(|line| text(line));
    let expected = Counted { documents: good.len(), rejects: bad.len() };
    for batch_bytes in [7, 1 << 20] {
        assert_eq!(stream(&lines, options(Some(Format::JsonLines), batch_bytes)), expected);
    }
}

/// Any bytes as comma- and tab-separated values: the size of the batches changes nothing.
pub fn csv(data: &[u8]) {
    for format in [Format::CSV, Format::TSV] {
        let [small, large] = [9, 1 << 20].map(|batch_bytes| stream(data, options(Some(format), batch_bytes)));
        assert_eq!(small, large, "{format:?}");
    }
}

/// Any bytes as plain text, and as whatever they look like.
pub fn plain(data: &[u8]) {
    for format in [Some(Format::Lines), Some(Format::File), None] {
        stream(data, options(format, 1 << 20));
    }
}

/// Any bytes behind the marks of gzip and zstd.
pub fn compressed(data: &[u8]) {
    stream(data, options(None, 1 << 16));
    for mark in [&[0x1f, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd]] {
        stream(&[mark, data].concat(), options(None, 1 << 16));
    }
}

/// Any bytes as a Parquet file.
pub fn parquet(data: &[u8]) {
    in_folder(&[("a.parquet", data)], |folder| {
        for batch_bytes in [200, 1 << 20] {
            count(Inputs::new().path(folder), options(Some(Format::Parquet), batch_bytes));
        }
    });
}

/// Any bytes as an Arrow file, and as a stream.
pub fn arrow(data: &[u8]) {
    stream(data, options(Some(Format::Arrow), 1 << 20));
    in_folder(&[("a.arrow", data)], |folder| {
        count(Inputs::new().path(folder), options(Some(Format::Arrow), 200));
    });
}

/// Any bytes as the tables that a run leaves.
pub fn results(data: &[u8]) {
    in_folder(&[("evidence.parquet", data), ("pairs.parquet", data)], |folder| {
        let mut n = 0u64;
        let _ = results::evidence(folder, |_| {
            n += 1;
            Ok(())
        });
        let _ = results::pairs(folder, |_| {
            n += 1;
            Ok(())
        });
    });
}

/// A length of four bytes at a place, if it is there.
pub(crate) fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let length = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(length.try_into().expect("four bytes were cut")) as usize)
}

/// Runs something on a folder with these files, in memory where the machine has a place for that.
pub(crate) fn in_folder(files: &[(&str, &[u8])], work: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let folder = folder.expect("a temporary folder can be made");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("a small file can be written");
    }
    work(folder.path());
}

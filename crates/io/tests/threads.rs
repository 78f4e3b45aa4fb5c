//! Files read by many threads, in stretches and several at a time, give what one thread sees that reads them from their beginnings to their ends.

mod seen;
mod tables_made;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use benzer_flow::pipeline::{self, Collector, Position, Work};
use benzer_io::Error;
use benzer_io::read::{self, Batch, Inputs, RawBatch, ReadOptions, RejectReason};
use parquet::file::properties::WriterProperties;
use proptest::collection::vec;
use proptest::prelude::*;
use seen::Seen;
use tempfile::TempDir;

/// What a run gives, and what is kept of rejected lines.
#[derive(Debug, Default, PartialEq)]
struct Read {
    seen: Seen,
    rejected: Vec<Option<Vec<u8>>>,
}

impl Read {
    fn add(&mut self, batch: &Batch) {
        self.seen.add(batch);
        // How much of a line that is too long is held follows the batch.
        let is_held = |i: &usize| {
            use RejectReason::{LineTooLong, TooLong};
            !matches!(batch.rejects()[*i].reason, LineTooLong { .. } | TooLong { .. })
        };
        let lines = (0..batch.rejects().len()).filter(is_held);
        self.rejected.extend(lines.map(|i| batch.rejected_line(i).map(<[u8]>::to_vec)));
    }
}

struct Parse;

impl Work for Parse {
    type Batch = RawBatch;
    type Scratch = ();
    type Made = Batch;
    type Error = Error;

    fn make(&self, raw: RawBatch, (): &mut ()) -> Result<Batch, Error> {
        Ok(read::parse(raw))
    }
}

/// Puts batches into order, and asks for order when so many came early.
struct Sorter {
    early: BTreeMap<Position, Batch>,
    max_early: usize,
    read: Read,
    wants_order: bool,
}

impl Collector<Batch, Error> for Sorter {
    fn take(&mut self, at: Position, batch: Batch) -> Result<(), Error> {
        self.early.insert(at, batch);
        self.wants_order |= self.early.len() > self.max_early;
        Ok(())
    }

    fn reached(&mut self, front: Position) -> Result<(), Error> {
        let early = self.early.split_off(&front);
        std::mem::replace(&mut self.early, early).values().for_each(|batch| self.read.add(batch));
        Ok(())
    }

    fn wants_order(&self) -> bool {
        self.wants_order
    }
}

/// From its beginning to its end, as a stream that goes by the name of each file.
fn as_streams(files: &[(String, Vec<u8>)], folder: &Path, options: &ReadOptions) -> Read {
    let stream = |inputs: Inputs, (name, content): &(String, Vec<u8>)| {
        inputs.stream(folder.join(name), Cursor::new(content.clone()))
    };
    let mut read = Read::default();
    for raw in read::open(files.iter().fold(Inputs::new(), stream), options.clone()).unwrap() {
        read.add(&read::parse(raw.unwrap()));
    }
    read
}

fn reader(files: &[(String, Vec<u8>)], folder: &Path, options: &ReadOptions) -> read::Reader {
    let inputs: Inputs = files.iter().map(|(name, _)| folder.join(name)).collect();
    read::open(inputs, options.clone()).unwrap()
}

/// On threads, in order or as it comes.
fn on_threads(reader: read::Reader, threads: usize, max_early: Option<usize>) -> Read {
    let Some(max_early) = max_early else {
        let mut read = Read::default();
        let add = |batch: Batch| {
            read.add(&batch);
            Ok::<_, Error>(())
        };
        pipeline::run(reader, &Parse, threads, add).unwrap();
        return read;
    };
    let (early, read) = (BTreeMap::new(), Read::default());
    let mut sorter = Sorter { early, max_early, read, wants_order: false };
    pipeline::collect(reader, &Parse, threads, &mut sorter).unwrap();
    assert!(sorter.early.is_empty());
    sorter.read
}

fn check(files: &[(String, Vec<u8>)], options: &ReadOptions) {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    let expected = as_streams(files, folder.path(), options);
    let total: usize = files.iter().map(|(_, content)| content.len()).sum();
    for threads in [1, 2, 7] {
        for max_early in [None, Some(0), Some(3), Some(usize::MAX)] {
            let reader = reader(files, folder.path(), options);
            let progress = reader.progress().clone();
            let found = on_threads(reader, threads, max_early);
            assert_eq!(found, expected, "{threads} threads, {max_early:?}");
            assert_eq!(progress.bytes_read(), total as u64);
        }
    }
    let mut one_by_one = Read::default();
    reader(files, folder.path(), options).for_each(|raw| one_by_one.add(&read::parse(raw.unwrap())));
    assert_eq!(one_by_one, expected, "one by one");
}

/// A line with anything odd, with or without the end of a line.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        8 => "[a-z \"\\\\\u{e4}\u{20ac}]{0,30}".prop_map(|text| serde_json::json!({"text": text}).to_string().into_bytes()),
        1 => (20..400usize).prop_map(|n| format!("{{\"text\":\"{}\"}}", "x".repeat(n)).into_bytes()),
        1 => (20..400usize).prop_map(|n| vec![b'{'; n]),
        1 => Just(b"{\"text\":7}".to_vec()),
        1 => Just(b"{\"text\":\"\xff\xfe\"}".to_vec()),
        1 => Just(b"\"a,\"\"b\nc\"".to_vec()),
        1 => Just(b"\"a".to_vec()),
        2 => Just(Vec::new()),
        1 => Just(b" \t ".to_vec()),
    ];
    (text, prop_oneof![9 => Just("\n"), 2 => Just("\r\n")])
        .prop_map(|(line, end)| [line, end.into()].concat())
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    (any::<bool>(), vec(line(), 0..40), any::<bool>()).prop_map(|(begins, lines, ends)| {
        let mut content = if begins { b"text\n".to_vec() } else { Vec::new() };
        content.extend(lines.concat());
        if !ends {
            content.pop();
        }
        content
    })
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A file of some format, whole or cut off.
fn file() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    (content(), 0..9u8, any::<prop::sample::Index>()).prop_map(|(content, kind, cut)| match kind {
        0..4 => ("jsonl", content),
        4..6 => ("txt", content),
        6 => ("csv", [b"text\n".to_vec(), content].concat()),
        7 => ("jsonl.zst", zstd::encode_all(&content[..], 1).unwrap()),
        _ => {
            let whole = gzip(&content);
            let n = 12 + cut.index(whole.len() - 11);
            ("jsonl.gz", whole[..n].to_vec())
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_threads_see_the_same(files in vec(file(), 1..6), batch_bytes in 16usize..900, max_line_bytes in 16usize..500) {
        let named = files.into_iter().enumerate();
        let files: Vec<_> = named.map(|(i, (end, content))| (format!("{i}.{end}"), content)).collect();
        check(&files, &ReadOptions { batch_bytes, max_line_bytes, ..ReadOptions::default() });
    }

    #[test]
    fn batches_of_any_size_see_the_same(lines in vec(line(), 0..30), batch_bytes in 1usize..40, mark in any::<bool>()) {
        let mut content = if mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        content.extend(lines.concat());
        check(&[("a.jsonl".into(), content)], &ReadOptions { batch_bytes, ..ReadOptions::default() });
    }
}

/// Tables of many row groups and record batches, some of which are damaged, beside files of text.
#[test]
fn row_groups_are_read_by_many_threads() {
    let text = |i: usize| format!("text {i}, which is longer than what a view holds by itself");
    let batch = |numbers: Range<usize>| {
        let texts: StringArray = numbers.map(|i| (i % 11 > 0).then(|| text(i))).collect();
        RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap()
    };
    let properties = |rows| {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows));
        properties
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(5)
            .set_write_batch_size(5)
            .build()
    };
    let batches: Vec<RecordBatch> = (0..30).map(|i| batch(20 * i..20 * i + 20)).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let whole = tables_made::parquet_file(&batches, properties(50));
    let damaged = tables_made::replaced(&whole, text(123).as_bytes(), b"?");
    let mut cut = whole.clone();
    cut.truncate(whole.len() / 2);
    let files: Vec<(String, Vec<u8>)> = [
        ("a.parquet", whole),
        ("b.parquet", damaged),
        ("c.arrow", tables_made::arrow_file(&batches, None)),
        ("d.jsonl", b"{\"text\":\"d\"}\n".repeat(300)),
        ("e.parquet", cut),
        ("f.arrow", tables_made::arrow_stream(&batches, None)),
        ("g.parquet", tables_made::parquet_file(&[&batch(0..0)], properties(50))),
        ("h.parquet", tables_made::parquet_file(&batches[..3], properties(1000))),
    ]
    .map(|(name, content)| (name.to_owned(), content))
    .into();
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    let total: usize = files.iter().map(|(_, content)| content.len()).sum();
    for batch_bytes in [200, 4000, 1 << 20] {
        let options = ReadOptions { batch_bytes, ..ReadOptions::default() };
        let mut expected = Read::default();
        reader(&files, folder.path(), &options).for_each(|raw| expected.add(&read::parse(raw.unwrap())));
        let of_whole = expected.seen.documents.iter().filter(|document| document.input == 0);
        assert!(of_whole.map(|document| document.line).eq((1..=600).filter(|line| (line - 1) % 11 > 0)));
        for threads in [1, 2, 7] {
            for max_early in [None, Some(0), Some(3), Some(usize::MAX)] {
                let reader = reader(&files, folder.path(), &options);
                let progress = reader.progress().clone();
                assert_eq!(on_threads(reader, threads, max_early), expected, "{threads} {max_early:?}");
                assert_eq!(progress.bytes_read(), total as u64);
            }
        }
    }
}

#[test]
fn many_small_files_share_batches() {
    let content = |i: usize| format!("{{\"text\":\"{i}\"}}\n").repeat(i % 5).into_bytes();
    let files: Vec<_> = (0..600).map(|i| (format!("{i:03}.jsonl"), content(i))).collect();
    check(&files, &ReadOptions::default());
    check(&files, &ReadOptions { per_file: true, ..ReadOptions::default() });
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, content)| fs::write(folder.path().join(name), content).unwrap());
    assert_eq!(reader(&files, folder.path(), &ReadOptions::default()).count(), 3);
}

#[test]
fn the_first_file_that_cannot_be_read_is_told() {
    let folder = TempDir::new().unwrap();
    let path = |i: usize| folder.path().join(format!("{i}.jsonl"));
    for i in 0..9 {
        fs::write(path(i), "{\"text\":\"a\"}\n".repeat(1000)).unwrap();
    }
    let inputs = || (0..9).map(path).collect::<Inputs>();
    for batch_bytes in [100, 1 << 20] {
        for threads in [1, 2, 7] {
            let reader = read::open(inputs(), ReadOptions { batch_bytes, ..ReadOptions::default() }).unwrap();
            fs::rename(path(4), folder.path().join("away")).unwrap();
            fs::rename(path(6), folder.path().join("away, too")).unwrap();
            let failed = pipeline::run(reader, &Parse, threads, |_| Ok::<_, Error>(())).unwrap_err();
            fs::rename(folder.path().join("away"), path(4)).unwrap();
            fs::rename(folder.path().join("away, too"), path(6)).unwrap();
            assert!(failed.to_string().contains("4.jsonl"), "{failed}");
        }
    }
}

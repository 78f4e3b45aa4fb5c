//! Outputs longer than what is written at a time: put together by any number of threads, from memory or read again, they are the same bytes, and nothing but what is kept.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use benzer_dedup::request::Output;
use flate2::read::MultiGzDecoder;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::corpus::{self, Document, Random};
use super::evidence;
use super::lab::{self, Lab};

/// Documents of about 1.3 kB; every fourth is one before it with another word.
fn documents(n: usize) -> Vec<Document> {
    let mut random = Random::new(17);
    let mut documents: Vec<Document> = Vec::new();
    for i in 0..n {
        let text = match i % 4 {
            3 => documents[random.below(i)].text.replacen("a1", "other", 1),
            _ => (0..220).fold(String::new(), |mut text, _| {
                write!(text, "a{} ", random.below(5000)).unwrap();
                text
            }),
        };
        documents.push(Document { id: format!("{i:05}"), text });
    }
    documents
}

fn parquet(documents: &[Document], codec: Compression) -> Vec<u8> {
    let column = |of: fn(&Document) -> &str| -> ArrayRef {
        Arc::new(documents.iter().map(|document| Some(of(document))).collect::<StringArray>())
    };
    let columns = [("id", column(|document| &document.id)), ("text", column(|document| &document.text))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties =
        WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(1500)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn lines_of_parquet(content: &[u8]) -> String {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::copy_from_slice(content)).unwrap();
    let mut documents = Vec::new();
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().clone();
        let (ids, texts) = (column("id"), column("text"));
        let rows = ids.iter().zip(&texts).map(|(id, text)| {
            let (id, text) = (id.unwrap().to_owned(), text.unwrap().to_owned());
            Document { id, text }
        });
        documents.extend(rows.collect::<Vec<_>>());
    }
    corpus::lines(&documents)
}

#[test]
fn long_outputs_are_what_is_kept_whatever_the_threads_and_the_memory() {
    let lab = Lab::new();
    let documents = documents(22_000);
    let parts: Vec<&[Document]> = documents.chunks(5500).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(corpus::lines(parts[1]).as_bytes()).unwrap();
    // The last line has no end, and gets one.
    lab.write("a.jsonl", corpus::lines(parts[0]).trim_end());
    lab.write("b.jsonl.gz", gzip.finish().unwrap());
    lab.write("c.jsonl.zst", zstd::encode_all(corpus::lines(parts[2]).as_bytes(), 1).unwrap());
    lab.write("d.parquet", parquet(&parts[3][..4000], Compression::ZSTD(ZstdLevel::default())));
    lab.write("e.parquet", parquet(&parts[3][4000..], Compression::SNAPPY));
    for write in [Output::Remove, Output::Annotate] {
        let with = |request: benzer_dedup::request::Request, threads: usize| {
            request.with(|request| {
                request.results.write = write;
                request.resources.threads = threads;
            })
        };
        let name = |what: &str| format!("{what} {write:?}");
        let first = with(lab.request(&name("one")), 1);
        lab::run(&first).unwrap();
        let expected = lab::outputs(&first.results.folder);
        for other in [with(lab.request(&name("three")), 3), with(lab.on_disk(&name("disk of four")), 4)] {
            lab::run(&other).unwrap();
            let context = other.results.folder.display().to_string();
            lab::assert_same(&lab::outputs(&other.results.folder), &expected, &context);
        }
        if write == Output::Remove {
            check_content(&expected, &documents, &evidence::read(&first.results.folder));
        }
    }
}

fn check_content(outputs: &lab::Outputs, documents: &[Document], removals: &[evidence::Evidence]) {
    let removed: std::collections::HashSet<&str> =
        removals.iter().map(|row| row.removed_id.as_str()).collect();
    assert!(removed.len() > 1000, "{}", removed.len());
    let mut unpacked = String::new();
    MultiGzDecoder::new(&outputs["documents/b.jsonl.gz"][..]).read_to_string(&mut unpacked).unwrap();
    let zst = zstd::decode_all(&outputs["documents/c.jsonl.zst"][..]).unwrap();
    let found = [
        String::from_utf8(outputs["documents/a.jsonl"].clone()).unwrap(),
        unpacked,
        String::from_utf8(zst).unwrap(),
        lines_of_parquet(&outputs["documents/d.parquet"])
            + &lines_of_parquet(&outputs["documents/e.parquet"]),
    ];
    for (found, part) in found.iter().zip(documents.chunks(5500)) {
        assert!(found.len() > 4 << 20, "{} bytes are no long output", found.len());
        let kept = part.iter().filter(|document| !removed.contains(document.id.as_str()));
        assert!(*found == corpus::lines(&kept.cloned().collect::<Vec<_>>()));
    }
}

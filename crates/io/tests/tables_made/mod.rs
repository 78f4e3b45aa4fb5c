//! Tables for tests: rows with nested, null and repeated values, written in every layout.
#![allow(dead_code)]

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::NullBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;

/// A row: `{id, title, meta: {other, "in.ner": {body}}, when, tags}`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Row {
    pub id: Option<i64>,
    pub title: Option<&'static str>,
    /// The struct `meta`, the struct in it, the text in that: each may be null.
    pub outer: Option<Option<Option<&'static str>>>,
    pub when: Option<i64>,
    pub n_tags: Option<usize>,
}

const TEXTS: [&str; 6] = [
    "",
    "short",
    "é",
    "a text that is longer than twelve bytes",
    "another long text, with a\nnewline in it",
    "x",
];

pub fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let text = || prop::option::weighted(0.9, prop::sample::select(TEXTS.to_vec()));
    let row = (
        prop::option::weighted(0.95, any::<i64>()),
        text(),
        prop::option::weighted(0.9, prop::option::weighted(0.9, text())),
        prop::option::of(-1_000_000i64..1_000_000),
        prop::option::of(0usize..4),
    );
    let row = row.prop_map(|(id, title, outer, when, n_tags)| Row { id, title, outer, when, n_tags });
    prop::collection::vec(row, 0..most)
}

pub fn nested_batch(rows: &[Row]) -> RecordBatch {
    let bodies: StringArray = rows.iter().map(|row| row.outer.flatten().flatten()).collect();
    let inner =
        structs(&[("body", Arc::new(bodies), true)], rows.iter().map(|row| row.outer.flatten().is_some()));
    let other: Int32Array = rows.iter().map(|row| row.outer.map(|_| 7)).collect();
    let outer = structs(
        &[("other", Arc::new(other), true), ("in.ner", Arc::new(inner), true)],
        rows.iter().map(|row| row.outer.is_some()),
    );
    let titles: DictionaryArray<Int32Type> = rows.iter().map(|row| row.title).collect();
    let when: TimestampMillisecondArray = rows.iter().map(|row| row.when).collect();
    let tags = ListArray::from_iter_primitive::<Int32Type, _, _>(
        rows.iter().map(|row| row.n_tags.map(|n| (0..n).map(|tag| (tag != 1).then_some(tag as i32)))),
    );
    let ids: Int64Array = rows.iter().map(|row| row.id).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("id", Arc::new(ids)),
        ("title", Arc::new(titles)),
        ("meta", Arc::new(outer)),
        ("when", Arc::new(when)),
        ("tags", Arc::new(tags)),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let metadata = HashMap::from([("made by".to_owned(), "a test".to_owned())]);
    let schema = Schema::new(fields).with_metadata(metadata);
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect()).unwrap()
}

fn structs(columns: &[(&str, ArrayRef, bool)], valid: impl Iterator<Item = bool>) -> StructArray {
    let fields: Fields = columns
        .iter()
        .map(|(name, column, null)| Field::new(*name, column.data_type().clone(), *null))
        .collect();
    let nulls = NullBuffer::from(valid.collect::<Vec<_>>());
    StructArray::new(fields, columns.iter().map(|(_, column, _)| column.clone()).collect(), Some(nulls))
}

/// One column of texts as a dictionary.
pub fn dictionary_of(texts: &[&str]) -> RecordBatch {
    let column: DictionaryArray<Int32Type> = texts.iter().map(|text| Some(*text)).collect();
    RecordBatch::try_from_iter([("text", Arc::new(column) as ArrayRef)]).unwrap()
}

/// How a file is written.
#[derive(Debug, Clone)]
pub enum Layout {
    Parquet {
        codec: Compression,
        version: WriterVersion,
        dictionary: bool,
        page_rows: usize,
        group_rows: usize,
    },
    Arrow {
        codec: Option<CompressionType>,
        is_file: bool,
        batch_rows: usize,
    },
}

pub fn layout() -> impl Strategy<Value = Layout> {
    let codecs = vec![
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4_RAW,
    ];
    let versions = vec![WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let ipc = vec![None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];
    prop_oneof![
        (prop::sample::select(codecs), prop::sample::select(versions), any::<bool>(), 1usize..20, 1usize..30)
            .prop_map(|(codec, version, dictionary, page_rows, group_rows)| Layout::Parquet {
                codec,
                version,
                dictionary,
                page_rows,
                group_rows
            }),
        (prop::sample::select(ipc), any::<bool>(), 1usize..30)
            .prop_map(|(codec, is_file, batch_rows)| Layout::Arrow { codec, is_file, batch_rows }),
    ]
}

impl Layout {
    pub fn write(&self, rows: &[Row]) -> Vec<u8> {
        let all = nested_batch(rows);
        match *self {
            Self::Parquet { codec, version, dictionary, page_rows, group_rows } => {
                let properties = WriterProperties::builder()
                    .set_compression(codec)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .set_data_page_row_count_limit(page_rows)
                    .set_write_batch_size(page_rows)
                    .set_max_row_group_row_count(Some(group_rows));
                parquet_file(&[&all], properties.build())
            }
            Self::Arrow { codec, is_file, batch_rows } => {
                let starts = (0..rows.len()).step_by(batch_rows);
                let batches: Vec<RecordBatch> =
                    starts.map(|start| all.slice(start, batch_rows.min(rows.len() - start))).collect();
                let mut batches: Vec<&RecordBatch> = batches.iter().collect();
                if batches.is_empty() {
                    batches.push(&all);
                }
                if is_file { arrow_file(&batches, codec) } else { arrow_stream(&batches, codec) }
            }
        }
    }
}

pub fn parquet_file(batches: &[&RecordBatch], properties: WriterProperties) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn arrow_file(batches: &[&RecordBatch], codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let options = options.with_dictionary_handling(DictionaryHandling::Delta);
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    writer.write_metadata("in the footer", "kept");
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn arrow_stream(batches: &[&RecordBatch], codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn find(content: &[u8], part: &[u8]) -> usize {
    content.windows(part.len()).position(|window| window == part).expect("it is there")
}

/// Every occurrence replaced by as many bytes.
pub fn replaced(content: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    for at in 0..content.len().saturating_sub(part.len()) {
        if content[at..].starts_with(part) {
            content[at..at + by.len()].copy_from_slice(by);
        }
    }
    content
}

/// The type of a column that a reader of the file sees.
pub fn type_of(batch: &RecordBatch, name: &str) -> DataType {
    batch.schema().field_with_name(name).unwrap().data_type().clone()
}

//! Tables written back: the rows that are kept, and everything else as it was.

mod seen;
mod tables_made;

use std::io::{self, Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_select::concat::concat_batches;
use benzer_io::read::{self, Format, Input, Inputs, ReadOptions};
use benzer_io::rewrite::table::rewrite;
use benzer_io::rewrite::{ANNOTATIONS, Annotation, Verdict, annotate_csv_header};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use tables_made::*;
use tempfile::TempDir;

/// A file on disk, known to the reader.
struct Table {
    folder: TempDir,
    input: Arc<Input>,
}

fn table(content: &[u8]) -> Table {
    let folder = TempDir::new().unwrap();
    let path: PathBuf = folder.path().join("a");
    std::fs::write(&path, content).unwrap();
    let reader = read::open(Inputs::new().path(path), ReadOptions::default()).unwrap();
    let input = reader.inputs()[0].clone();
    Table { folder, input }
}

fn verdict(row: usize, keep: bool) -> Verdict {
    Verdict { line: row as u64 + 1, keep, annotation: None }
}

fn rewritten(content: &[u8], verdicts: impl IntoIterator<Item = Verdict>) -> Result<(u64, Vec<u8>), String> {
    let table = table(content);
    let mut out = Vec::new();
    let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
    let n = rewrite(&table.input, &mut out, &mut verdicts.iter().cloned(), 1);
    // No byte depends on the threads, and no error.
    let mut others = Vec::new();
    let with_others = rewrite(&table.input, &mut others, &mut verdicts.into_iter(), 3);
    assert_eq!(with_others.is_ok(), n.is_ok());
    assert!(n.is_err() || others == out);
    let prefix = format!("{}/", table.folder.path().display());
    n.map(|n| (n, out)).map_err(|error| error.to_string().replace(&prefix, ""))
}

/// All rows of a file as one batch, by the readers of the Arrow project.
fn read_back(content: &[u8]) -> RecordBatch {
    let bytes = bytes::Bytes::copy_from_slice(content);
    let (schema, batches): (_, Vec<RecordBatch>) = if content.starts_with(b"PAR1") {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        (reader.schema().clone(), reader.build().unwrap().map(Result::unwrap).collect())
    } else if content.starts_with(b"ARROW1") {
        let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
        assert_eq!(reader.custom_metadata()["in the footer"], "kept");
        (reader.schema(), reader.map(Result::unwrap).collect())
    } else {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
        (reader.schema(), reader.map(Result::unwrap).collect())
    };
    concat_batches(&schema, &batches).unwrap()
}

fn metadata(content: &[u8]) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(content)).unwrap()
}

fn annotation(row: usize) -> Annotation {
    let is_duplicate = row % 3 == 1;
    Annotation {
        cluster_id: (!row.is_multiple_of(4)).then(|| format!("cluster {}", row / 4)),
        cluster_size: row as u64,
        dup_of: is_duplicate.then(|| format!("{}", row - 1)),
        similarity: is_duplicate.then(|| 1.0 / row as f64),
        is_duplicate,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn kept_rows_come_back_with_all_columns_types_and_metadata(
        rows in rows(60),
        fates in prop::collection::vec(prop::option::weighted(0.9, any::<bool>()), 60),
        all_kept in prop::bool::weighted(0.2),
        layout in layout(),
        is_annotated in any::<bool>(),
    ) {
        let content = layout.write(&rows);
        let fate = |row: usize| if all_kept { Some(true) } else { fates[row] };
        let verdicts = (0..rows.len()).filter_map(|row| {
            let annotation = is_annotated.then(|| annotation(row));
            fate(row).map(|keep| Verdict { annotation, ..verdict(row, keep) })
        });
        let (n, out) = rewritten(&content, verdicts.collect::<Vec<_>>()).unwrap();
        let places: Vec<usize> = (0..rows.len()).filter(|&row| fate(row) == Some(true)).collect();
        prop_assert_eq!(n, places.len() as u64);
        let kept: Vec<Row> = places.iter().map(|&row| rows[row]).collect();
        let (before, after) = (read_back(&content), read_back(&out));
        let n_columns = before.num_columns();
        prop_assert_eq!(after.schema_ref().metadata(), before.schema_ref().metadata());
        prop_assert_eq!(&after.schema_ref().fields()[..n_columns], &before.schema_ref().fields()[..]);
        let expected = nested_batch(&kept);
        for (column, expected) in after.columns().iter().zip(expected.columns()) {
            prop_assert_eq!(column, expected);
        }
        let has_verdicts = (0..rows.len()).any(|row| fate(row).is_some());
        prop_assert_eq!(after.num_columns(), n_columns + if is_annotated && has_verdicts { 5 } else { 0 });
        if is_annotated && has_verdicts {
            let column = |name: &str| after.column_by_name(name).unwrap();
            for (i, &row) in places.iter().enumerate() {
                let expected = annotation(row);
                let text = |name: &str| {
                    let texts = column(name).as_string::<i32>();
                    texts.is_valid(i).then(|| texts.value(i).to_owned())
                };
                prop_assert_eq!(text("dup_cluster_id"), expected.cluster_id);
                prop_assert_eq!(text("dup_of"), expected.dup_of);
                let size = column("dup_cluster_size").as_primitive::<Int64Type>().value(i);
                prop_assert_eq!(size, expected.cluster_size as i64);
                let similarity = column("dup_similarity").as_primitive::<Float64Type>();
                prop_assert_eq!(similarity.is_valid(i).then(|| similarity.value(i)), expected.similarity);
                prop_assert_eq!(column("is_duplicate").as_boolean().value(i), expected.is_duplicate);
            }
            let names: Vec<String> = after.schema().fields()[n_columns..].iter().map(|f| f.name().clone()).collect();
            prop_assert_eq!(names, ANNOTATIONS);
            let nullable: Vec<bool> = after.schema().fields()[n_columns..].iter().map(|f| f.is_nullable()).collect();
            prop_assert_eq!(nullable, [true, false, true, true, false]);
        }
        if let Layout::Parquet { codec, group_rows, .. } = layout {
            let (before, after) = (metadata(&content), metadata(&out));
            let is_left = |group: usize| places.iter().any(|row| row / group_rows == group);
            let left = (0..before.num_row_groups()).filter(|&group| is_left(group)).count();
            prop_assert_eq!(after.num_row_groups(), left);
            for column in after.row_groups().iter().flat_map(|group| group.columns()) {
                prop_assert_eq!(column.compression_codec(), codec.into());
            }
        }
    }
}

#[test]
fn a_row_group_that_is_kept_whole_is_copied_byte_for_byte() {
    let rows: Vec<Row> =
        (0..40).map(|i| Row { id: Some(i), title: Some("a title"), ..Row::default() }).collect();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(10))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(19).unwrap()));
    let content = parquet_file(&[&nested_batch(&rows)], properties.build());
    for is_annotated in [false, true] {
        // Of the second row group one row is removed, the third is removed whole.
        let verdicts = (0..40).map(|row| Verdict {
            annotation: is_annotated.then(|| annotation(row)),
            ..verdict(row, row != 15 && row / 10 != 2)
        });
        let (n, out) = rewritten(&content, verdicts).unwrap();
        assert_eq!(n, 29);
        let (before, after) = (metadata(&content), metadata(&out));
        let groups: Vec<i64> = after.row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(groups, [10, 9, 10]);
        for (old, new) in [(0, 0), (3, 2)] {
            for column in 0..before.row_group(0).num_columns() {
                let chunk = |metadata: &ParquetMetaData, group: usize, content: &[u8]| {
                    let (start, n) = metadata.row_group(group).column(column).byte_range();
                    content[start as usize..(start + n) as usize].to_vec()
                };
                assert_eq!(chunk(&before, old, &content), chunk(&after, new, &out));
            }
        }
    }
}

#[test]
fn codecs_of_columns_are_kept_one_by_one() {
    let columns: [(&str, ArrayRef); 3] = [
        ("a", Arc::new(StringArray::from(vec!["x"; 50]))),
        ("b", Arc::new(Int64Array::from_iter_values(0..50))),
        ("c", Arc::new(FixedSizeBinaryArray::try_from_iter((0..50).map(|i| [i as u8; 3])).unwrap())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_column_compression("b".into(), Compression::UNCOMPRESSED)
        .set_column_compression("c".into(), Compression::LZ4_RAW)
        .set_column_dictionary_enabled("b".into(), false)
        .set_key_value_metadata(Some(vec![parquet::file::metadata::KeyValue::new(
            "key".into(),
            "value".to_owned(),
        )]));
    let content = parquet_file(&[&batch], properties.build());
    let (n, out) = rewritten(&content, (0..50).map(|row| verdict(row, row % 2 == 0))).unwrap();
    assert_eq!((n, read_back(&out).column(1).as_primitive::<Int64Type>().value(3)), (25, 6));
    let after = metadata(&out);
    let group = after.row_group(0);
    let codecs: Vec<Compression> = group.columns().iter().map(|column| column.compression()).collect();
    assert_eq!(codecs, [Compression::SNAPPY, Compression::UNCOMPRESSED, Compression::LZ4_RAW]);
    let coded: Vec<bool> =
        group.columns().iter().map(|column| column.dictionary_page_offset().is_some()).collect();
    assert_eq!(coded, [true, false, true]);
    let pairs = after.file_metadata().key_value_metadata().unwrap();
    assert!(pairs.iter().any(|pair| pair.key == "key" && pair.value.as_deref() == Some("value")));
}

#[test]
fn the_codec_of_an_arrow_file_is_kept_and_so_are_its_record_batches() {
    let long: Vec<String> = (0..100).map(|i| format!("{i} {}", "the same words again ".repeat(20))).collect();
    let batch = |range: std::ops::Range<usize>| {
        let texts: StringViewArray = long[range].iter().map(|text| Some(text.as_str())).collect();
        RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap()
    };
    let batches = [batch(0..40), batch(40..60), batch(60..100)];
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    for codec in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        for content in [arrow_file(&batches, codec), arrow_stream(&batches, codec)] {
            // The second record batch loses all its rows.
            let verdicts = (0..100).map(|row| verdict(row, row % 2 == 0 && !(40..60).contains(&row)));
            let (n, out) = rewritten(&content, verdicts).unwrap();
            assert_eq!(n, 40);
            assert!(out.len() < content.len() * 3 / 4, "{} of {}", out.len(), content.len());
            assert_eq!(out.starts_with(b"ARROW1"), content.starts_with(b"ARROW1"));
            assert_eq!(read_back(&out).column(0).as_string_view().value(20), long[60]);
            if content.starts_with(b"ARROW1") {
                let batches = FileReader::try_new(Cursor::new(&out), None).unwrap().num_batches();
                assert_eq!(batches, 2);
            }
        }
    }
}

#[test]
fn a_growing_dictionary_is_kept() {
    let first = dictionary_of(&["alpha", "beta"]);
    let second = dictionary_of(&["alpha", "beta", "gamma"]);
    for content in [arrow_stream(&[&first, &second], None), arrow_file(&[&first, &second], None)] {
        let (n, out) = rewritten(&content, (0..5).map(|row| verdict(row, row != 0))).unwrap();
        assert_eq!(n, 4);
        let read = read_back(&out);
        let dictionary = read.column(0).as_any_dictionary();
        let (keys, values) = (dictionary.normalized_keys(), dictionary.values().as_string::<i32>());
        let texts: Vec<&str> = keys.iter().map(|&key| values.value(key)).collect();
        assert_eq!(texts, ["beta", "alpha", "beta", "gamma"]);
        let seen = seen::read_file("a", &content, ReadOptions::default());
        assert_eq!(seen.texts(), ["alpha", "beta", "alpha", "beta", "gamma"]);
    }
}

#[test]
fn a_name_that_is_taken_is_an_error_with_a_remedy() {
    let batch =
        RecordBatch::try_from_iter([("dup_of", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]).unwrap();
    let annotated = || [Verdict { annotation: Some(annotation(0)), ..verdict(0, true) }];
    for content in [parquet_file(&[&batch], WriterProperties::new()), arrow_file(&[&batch], None)] {
        let error = rewritten(&content, annotated()).unwrap_err();
        let expected =
            "`a` has a column `dup_of` already, which --annotate adds; rename it, or run without --annotate";
        assert_eq!(error, expected);
        assert_eq!(rewritten(&content, [verdict(0, true)]).unwrap().0, 1);
    }
    let folder = TempDir::new().unwrap();
    let (taken, free) = (folder.path().join("a.csv"), folder.path().join("b.tsv"));
    std::fs::write(&taken, "text,\"is_duplicate\"\n").unwrap();
    std::fs::write(&free, "text\tn\r\nx\t1\r\n").unwrap();
    let reader = read::open(Inputs::new().path(taken).path(free), ReadOptions::default()).unwrap();
    let mut out = Vec::new();
    let error = annotate_csv_header(&reader.inputs()[0], &mut out).unwrap_err().to_string();
    assert!(error.contains("has a column `is_duplicate` already"), "{error}");
    annotate_csv_header(&reader.inputs()[1], &mut out).unwrap();
    let expected = "text\tn\tdup_cluster_id\tdup_cluster_size\tdup_of\tdup_similarity\tis_duplicate\r";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn what_could_not_be_read_is_left_out_and_what_changed_is_an_error() {
    let rows: Vec<Row> = (0..40)
        .map(|i| Row { id: Some(i), outer: Some(Some(Some("a body of text"))), ..Row::default() })
        .collect();
    let batch = nested_batch(&rows);
    let halves = [&batch.slice(0, 20), &batch.slice(20, 20)];
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(20)).build();
    for content in [parquet_file(&halves, groups), arrow_file(&halves, None), arrow_stream(&halves, None)] {
        let first = || (0..20).map(|row| verdict(row, true));
        let (n, out) = rewritten(&content, first()).unwrap();
        assert_eq!((n, read_back(&out).num_rows()), (20, 20));
        let error = rewritten(&content, [verdict(0, true), verdict(40, true)]).unwrap_err();
        assert!(
            error.contains("cannot copy the rows of `a`: 40 rows, and row 41 is to be copied; if"),
            "{error}"
        );
        let error = rewritten(&content, [verdict(3, true), verdict(2, true)]).unwrap_err();
        assert_eq!(error, "`verdicts` must be in the order of the rows, got row 3 of `a`");
        let mixed = [verdict(3, true), Verdict { annotation: Some(annotation(1)), ..verdict(4, true) }];
        assert!(
            rewritten(&content, mixed)
                .unwrap_err()
                .contains("`annotation` must be there for all rows or for none")
        );
        let is_parquet = content.starts_with(b"PAR1");
        let cut = &content[..content.len() * 3 / 5];
        if is_parquet {
            assert!(rewritten(cut, first()).unwrap_err().contains("cannot copy the rows of `a`: "));
        } else {
            let (n, _) = rewritten(cut, first()).unwrap();
            assert_eq!(n, 20);
            assert!(
                rewritten(cut, (0..40).map(|row| verdict(row, true))).unwrap_err().contains("cannot copy")
            );
        }
        assert_eq!(rewritten(&cut[..cut.len() / 5], []).unwrap(), (0, Vec::new()));
    }
}

#[test]
fn a_damaged_column_is_an_error_where_its_rows_are_kept_and_none_where_they_are_not() {
    let columns: [(&str, ArrayRef); 2] = [
        ("text", Arc::new(StringArray::from_iter_values((0..40).map(|i| format!("text {i}"))))),
        ("other", Arc::new(StringArray::from_iter_values((0..40).map(|i| format!("other {i} of them"))))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .set_dictionary_enabled(false)
        .set_compression(Compression::SNAPPY);
    let mut content = parquet_file(&[&batch], properties.build());
    let place = find(&content, b"other 20 of them");
    content[place - 4..place - 1].fill(0xff);
    let error = rewritten(&content, (0..40).map(|row| verdict(row, row != 3))).unwrap_err();
    assert!(error.contains("cannot copy the rows of `a`: ") && error.contains("column `other`"), "{error}");
    let (n, out) = rewritten(&content, (0..40).map(|row| verdict(row, !(20..30).contains(&row)))).unwrap();
    assert_eq!((n, read_back(&out).column(1).as_string::<i32>().value(20)), (30, "other 30 of them"));
}

#[test]
fn an_output_that_fails_is_named_as_such() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let batch = nested_batch(&[Row { id: Some(1), title: Some("title"), ..Row::default() }]);
    for content in [parquet_file(&[&batch], WriterProperties::new()), arrow_file(&[&batch], None)] {
        let table = table(&content);
        for space in [0, 100, 700] {
            let error =
                rewrite(&table.input, &mut Full(space), &mut [verdict(0, true)].into_iter(), 2).unwrap_err();
            let error = error.to_string();
            assert!(error.starts_with("cannot write what is kept of `"), "{error}");
            assert!(error.ends_with("no storage space; check the space on the disk"), "{error}");
        }
    }
}

#[test]
fn lines_and_pipes_are_not_rewritten_here() {
    let error = rewritten(b"{}\n", []).unwrap_err();
    assert_eq!(error, "`a`: expected a table in a file, got json lines; save it to a file first");
    let batch = dictionary_of(&["x"]);
    let pipe = Inputs::new().stream("pipe", Cursor::new(arrow_stream(&[&batch], None)));
    let mut reader = read::open(pipe, ReadOptions::default()).unwrap();
    reader.next().unwrap().unwrap();
    let input = reader.inputs()[0].clone();
    assert_eq!(input.format(), Some(Format::Arrow));
    let error = rewrite(&input, &mut Vec::new(), &mut std::iter::empty(), 1).unwrap_err().to_string();
    assert!(error.contains("got a pipe"), "{error}");
}

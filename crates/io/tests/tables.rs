//! Parquet and Arrow files as they occur, and what becomes of every row of them.

mod seen;
mod tables_made;

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::DataType;
use benzer_io::read::{self, Format, Inputs, ReadOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;
use seen::*;
use tables_made::*;

const SIZES: [usize; 4] = [1, 100, 3000, 1 << 23];

fn strings(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// One column of texts.
fn texts(values: &[&str]) -> RecordBatch {
    let values: Vec<_> = values.iter().copied().map(Some).collect();
    RecordBatch::try_from_iter([("text", strings(&values))]).unwrap()
}

/// The batch in every format and layout of file, under a name that says nothing.
fn in_all_formats(batch: &RecordBatch) -> Vec<(Format, Vec<u8>)> {
    let small_pages = WriterProperties::builder()
        .set_data_page_row_count_limit(2)
        .set_write_batch_size(2)
        .set_max_row_group_row_count(Some(5))
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    let second = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false);
    vec![
        (Format::Parquet, parquet_file(&[batch], WriterProperties::new())),
        (Format::Parquet, parquet_file(&[batch], small_pages.build())),
        (Format::Parquet, parquet_file(&[batch], second.build())),
        (Format::Arrow, arrow_file(&[batch], None)),
        (Format::Arrow, arrow_file(&[batch], Some(arrow_ipc::CompressionType::ZSTD))),
        (Format::Arrow, arrow_stream(&[batch], None)),
        (Format::Arrow, arrow_stream(&[batch], Some(arrow_ipc::CompressionType::LZ4_FRAME))),
    ]
}

#[test]
fn texts_ids_and_orders_of_all_layouts_are_read() {
    let values = ["a", "", "a text of more than twelve bytes", "é", "a text of more than twelve bytes"];
    let keys = Int32Array::from(vec![0, 1, 2, 3, 2]);
    let dictionary =
        DictionaryArray::<Int32Type>::new(keys, Arc::new(StringArray::from(values[..4].to_vec())));
    let layouts: [ArrayRef; 5] = [
        Arc::new(StringArray::from(values.to_vec())),
        Arc::new(LargeStringArray::from(values.to_vec())),
        Arc::new(StringViewArray::from(values.to_vec())),
        Arc::new(dictionary.clone()),
        Arc::new(dictionary.with_values(Arc::new(StringViewArray::from(values[..4].to_vec())))),
    ];
    let ids: [ArrayRef; 4] = [
        Arc::new(Int64Array::from(vec![-1, 2, 3, 4, i64::MAX])),
        Arc::new(UInt64Array::from(vec![0, 2, 3, 4, u64::MAX])),
        Arc::new(Int8Array::from(vec![-128, 2, 3, 4, 127])),
        Arc::new(StringArray::from(vec!["x", "y", "z", "", "v"])),
    ];
    let id_names = [
        ["-1", "2", "3", "4", "9223372036854775807"],
        ["0", "2", "3", "4", "18446744073709551615"],
        ["-128", "2", "3", "4", "127"],
        ["x", "y", "z", "", "v"],
    ];
    for (i, layout) in layouts.iter().enumerate() {
        let (ids, names) = (&ids[i % 4], &id_names[i % 4]);
        let batch = RecordBatch::try_from_iter([("text", layout.clone()), ("id", ids.clone())]).unwrap();
        for (format, content) in in_all_formats(&batch) {
            for batch_bytes in SIZES {
                let options = in_batches_of(batch_bytes, &fields("text", "id", "text"));
                let seen = read_file("a", &content, options);
                assert_eq!(seen.texts(), values, "{format} {i} {:?}", seen.rejects);
                assert_eq!(seen.ids(), names);
                assert_eq!(seen.orders()[3], Some(Value::Text("é".into())));
                assert_eq!(seen.lines(), [1, 2, 3, 4, 5]);
                assert!(seen.documents.iter().all(|d| d.offset + 1 == d.line && d.raw.is_empty()));
            }
        }
    }
}

#[test]
fn numbers_dates_and_times_are_orders() {
    let columns: [(ArrayRef, f64); 11] = [
        (Arc::new(Int8Array::from(vec![Some(-7), None])), -7.0),
        (Arc::new(UInt32Array::from(vec![Some(7), None])), 7.0),
        (Arc::new(Float32Array::from(vec![Some(1.5), None])), 1.5),
        (Arc::new(Float64Array::from(vec![Some(-2.5), Some(f64::NAN)])), -2.5),
        (Arc::new(Date32Array::from(vec![Some(2), None])), 172_800.0),
        (Arc::new(TimestampSecondArray::from(vec![Some(90), None])), 90.0),
        (Arc::new(TimestampMillisecondArray::from(vec![Some(1500), None])), 1.5),
        (Arc::new(TimestampMicrosecondArray::from(vec![Some(2_500_000), None]).with_timezone("UTC")), 2.5),
        (Arc::new(TimestampNanosecondArray::from(vec![Some(500_000_000), None])), 0.5),
        (Arc::new(Time64MicrosecondArray::from(vec![Some(3_000_000), None])), 3.0),
        (
            Arc::new(Decimal128Array::from(vec![Some(12345), None]).with_precision_and_scale(10, 2).unwrap()),
            123.45,
        ),
    ];
    for (column, expected) in columns {
        let text = strings(&[Some("a"), Some("b")]);
        let batch =
            RecordBatch::try_from_iter_with_nullable([("text", text, false), ("n", column, true)]).unwrap();
        for (format, content) in in_all_formats(&batch) {
            let seen = read_file("a", &content, fields("text", "", "n"));
            // Parquet has no seconds; a writer without a type for them stores a number.
            assert_eq!(seen.orders(), [Some(Value::Number(expected)), None], "{format} {:?}", batch.schema());
        }
    }
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let text = strings(&[Some("a")]);
    let batch = RecordBatch::try_from_iter([("text", text), ("bytes", bytes), ("flags", flags)]).unwrap();
    for (_, content) in in_all_formats(&batch) {
        for none in ["absent", "bytes", "flags", "text.x"] {
            assert_eq!(read_file("a", &content, fields("text", "", none)).orders(), [None], "{none}");
        }
    }
}

#[test]
fn paths_go_through_structs_and_anything_null_on_the_way_is_a_reject() {
    let batch = nested_batch(&[
        Row { id: Some(1), outer: Some(Some(Some("one"))), ..Row::default() },
        Row { id: Some(2), outer: None, ..Row::default() },
        Row { id: Some(3), outer: Some(None), ..Row::default() },
        Row { id: Some(4), outer: Some(Some(None)), ..Row::default() },
        Row { id: None, outer: Some(Some(Some("five"))), ..Row::default() },
        Row { id: Some(6), outer: Some(Some(Some("six"))), ..Row::default() },
    ]);
    for (format, content) in in_all_formats(&batch) {
        for batch_bytes in SIZES {
            let options = in_batches_of(batch_bytes, &fields("meta.in\\.ner.body", "id", ""));
            let seen = read_file("a", &content, options);
            assert_eq!((seen.texts(), seen.ids()), (vec!["one", "six"], vec!["1", "6"]), "{format}");
            let null = |row: u64| format!("a:{row}: field `meta.in\\.ner.body` must be a string, got null");
            let id = "a:5: field `id` must be a string or an integer, got null".to_owned();
            assert_eq!(seen.rejects, [null(2), null(3), null(4), id]);
        }
    }
}

#[test]
fn several_text_columns_are_joined() {
    let batch = nested_batch(&[
        Row { title: Some("t"), outer: Some(Some(Some("body"))), ..Row::default() },
        Row { title: None, outer: Some(Some(Some("body"))), ..Row::default() },
    ]);
    for (_, content) in in_all_formats(&batch) {
        let seen = read_file("a", &content, fields("title,meta.in\\.ner.body", "title", ""));
        assert_eq!((seen.texts(), seen.ids()), (vec!["t\nbody"], vec!["t"]));
        assert_eq!(seen.rejects, ["a:2: field `title` must be a string, got null"]);
    }
}

#[test]
fn a_file_with_another_schema_is_rejected_row_by_row_and_the_others_are_read() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let drifted = [
        (
            RecordBatch::try_from_iter([("body", strings(&[Some("x"), Some("y"), Some("z")]))]).unwrap(),
            "no field `text`; name the right one with --text-field or --id-field",
        ),
        (
            RecordBatch::try_from_iter([("text", numbers.clone())]).unwrap(),
            "column `text` must be of strings, got Int64; convert it, or name another one",
        ),
        (
            RecordBatch::try_from_iter([(
                "text",
                Arc::new(BinaryArray::from(vec![&b"x"[..], b"y", b"z"])) as _,
            )])
            .unwrap(),
            "column `text` must be of strings, got Binary; convert it, or name another one",
        ),
    ];
    for (drifted, reason) in drifted {
        let is_bytes = drifted.schema().field(0).data_type() == &DataType::Binary;
        for (format, content) in in_all_formats(&drifted) {
            if is_bytes && format == Format::Parquet {
                // Many writers of Parquet do not tell strings from bytes.
                assert_eq!(read_file("a", &content, ReadOptions::default()).texts(), ["x", "y", "z"]);
                continue;
            }
            for batch_bytes in SIZES {
                let folder = tempfile::TempDir::new().unwrap();
                let (bad, good) = (folder.path().join("1"), folder.path().join("2"));
                std::fs::write(&bad, &content).unwrap();
                std::fs::write(&good, &in_all_formats(&texts(&["good"]))[0].1).unwrap();
                let inputs = Inputs::new().path(&bad).path(&good);
                let seen = read_all(inputs, ReadOptions { batch_bytes, ..ReadOptions::default() }).unwrap();
                assert_eq!(seen.texts(), ["good"], "{format}");
                let expected = (1..=3).map(|row| format!("{}:{row}: {reason}", bad.display()));
                assert_eq!(seen.rejects, expected.collect::<Vec<_>>());
            }
        }
    }
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
    let structs = nested_batch(&[Row::default()]);
    let batch = RecordBatch::try_from_iter([("text", Arc::new(lists) as ArrayRef)]).unwrap();
    for (format, content) in in_all_formats(&batch) {
        let got = if format == Format::Parquet { "got a group of columns" } else { "got List(Int32)" };
        assert!(read_file("a", &content, ReadOptions::default()).rejects[0].contains(got));
        assert!(read_file("a", &content, fields("text.item", "", "")).rejects.len() == 1);
    }
    for (_, content) in in_all_formats(&structs) {
        assert!(
            read_file("a", &content, fields("meta", "", "")).rejects[0].contains("must be of strings, got ")
        );
        let through = read_file("a", &content, fields("title.x", "", ""));
        assert_eq!((through.documents.len(), through.rejects.len()), (0, 1));
    }
}

#[test]
fn a_text_that_is_not_utf8_costs_its_own_row() {
    let good = "a text of more than twelve bytes";
    let bad = good.replace("than", "th@n");
    let batch = texts(&["first", good, &bad, "last"]);
    let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
    let files = [
        parquet_file(&[&batch], WriterProperties::new()),
        parquet_file(&[&batch], plain),
        arrow_file(&[&batch], None),
        arrow_stream(&[&batch], None),
        arrow_stream(&[&dictionary_of(&["first", good, &bad, "last"])], None),
    ];
    for content in files {
        let content = replaced(&content, b"th@n", b"th\xffn");
        let seen = read_file("a", &content, ReadOptions::default());
        assert_eq!(seen.texts(), ["first", good, "last"]);
        let reason = "invalid utf-8 at column 18; convert the file to utf-8 (`iconv -t utf-8`)";
        assert_eq!(seen.rejects, [format!("a:3: {reason}")]);
    }
}

#[test]
fn a_text_over_the_limit_is_rejected() {
    for (_, content) in in_all_formats(&texts(&["short", "a longer text", "fits"])) {
        let seen = read_file("a", &content, ReadOptions { max_line_bytes: 6, ..ReadOptions::default() });
        assert_eq!(seen.texts(), ["short", "fits"]);
        let reason = "text of 13 bytes, expected at most 6; `benzer dedup --max-line` reads longer ones";
        assert_eq!(seen.rejects, [format!("a:2: {reason}")]);
    }
}

#[test]
fn tables_are_told_by_content_and_then_by_name() {
    let batch = texts(&["x"]);
    for (format, content) in in_all_formats(&batch) {
        for name in ["a.jsonl", "a.txt", "a.csv", "a.parquet", "a.arrow", "a"] {
            let folder = tempfile::TempDir::new().unwrap();
            std::fs::write(folder.path().join(name), &content).unwrap();
            let reader =
                read::open(Inputs::new().path(folder.path().join(name)), ReadOptions::default()).unwrap();
            assert_eq!(reader.inputs()[0].format(), Some(format), "{name}");
            assert_eq!(reader.map(|raw| read::parse(raw.unwrap()).n_documents()).sum::<usize>(), 1);
        }
    }
    for name in ["a.parquet", "a.pq", "a.arrow", "a.feather", "a.ipc"] {
        let seen = read_file(name, b"{\"text\":\"x\"}\n", ReadOptions::default());
        assert_eq!((seen.documents.len(), seen.rejects.len()), (0, 1), "{name}");
        assert!(seen.rejects[0].starts_with(&format!("{name}:1: damaged ")), "{:?}", seen.rejects);
        let empty = read_file(name, b"", ReadOptions::default());
        assert_eq!((empty.documents.len(), empty.rejects.len()), (0, 1), "{name}");
    }
}

#[test]
fn a_compressed_arrow_file_and_one_from_a_pipe_are_read_and_parquet_must_be_a_file() {
    let batch = texts(&["x", "y"]);
    for (format, content) in in_all_formats(&batch) {
        let zipped = zstd::encode_all(&content[..], 1).unwrap();
        let piped = Inputs::new().stream("pipe", Cursor::new(content));
        if format == Format::Arrow {
            assert_eq!(read_all(piped, ReadOptions::default()).unwrap().texts(), ["x", "y"]);
            assert_eq!(read_file("a.arrow.zst", &zipped, ReadOptions::default()).texts(), ["x", "y"]);
            let cut = read_file("a.zst", &zipped[..zipped.len() - 9], ReadOptions::default());
            assert_eq!(cut.rejects.len(), 1, "{cut:?}");
        } else {
            let error = read_all(piped, ReadOptions::default()).unwrap_err().to_string();
            assert!(error.contains("`pipe`: expected a parquet file, got a pipe; save it"), "{error}");
            let error = try_file("a.parquet.zst", &zipped, ReadOptions::default()).unwrap_err();
            assert!(error.contains("expected parquet, got a compressed file; decompress it"), "{error}");
        }
    }
}

#[test]
fn a_row_group_of_any_size_is_read_a_few_pages_at_a_time() {
    let all: Vec<String> = (0..4000).map(|i| format!("{i} {}", "words and words ".repeat(i % 20))).collect();
    let batch = texts(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let pages = WriterProperties::builder().set_data_page_size_limit(4096).set_write_batch_size(16);
    let file = parquet_file(&[&batch], pages.set_dictionary_enabled(false).build());
    let whole: usize = all.iter().map(String::len).sum();
    assert!(whole > 500_000);
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.parquet"), file).unwrap();
    let options = ReadOptions { batch_bytes: 32 << 10, ..ReadOptions::default() };
    let reader = read::open(Inputs::new().path(folder.path()), options).unwrap();
    let progress = reader.progress().clone();
    let (mut n, mut seen) = (0, Vec::new());
    for raw in reader {
        let raw = raw.unwrap();
        assert!(raw.n_bytes() < 40 << 10, "{}", raw.n_bytes());
        let batch = read::parse(raw);
        assert!(batch.documents().map(|d| d.text.len() + 40).sum::<usize>() < 40 << 10);
        seen.extend(batch.documents().map(|d| d.text.to_owned()));
        n += 1;
    }
    assert!(n > 20 && n < 40, "{n}");
    assert_eq!(seen, all);
    assert_eq!(Some(progress.bytes_read()), progress.bytes_total());
}

#[test]
fn a_page_of_a_dictionary_that_stands_for_much_text_is_cut() {
    let long = ["a long text ".repeat(100), "another long text ".repeat(100)];
    let all: Vec<&str> = (0..3000).map(|i| long[i % 2].as_str()).collect();
    let batch = texts(&all);
    for content in
        [parquet_file(&[&batch], WriterProperties::new()), arrow_file(&[&dictionary_of(&all)], None)]
    {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("a.parquet"), content).unwrap();
        let options = ReadOptions { batch_bytes: 100_000, ..ReadOptions::default() };
        let mut seen = Vec::new();
        for raw in read::open(Inputs::new().path(folder.path()), options).unwrap() {
            let batch = read::parse(raw.unwrap());
            assert!(batch.documents().map(|d| d.text.len()).sum::<usize>() <= 100_000);
            seen.extend(batch.documents().map(|d| d.text.to_owned()));
        }
        assert_eq!(seen, all);
    }
}

#[test]
fn a_damaged_page_costs_its_own_rows() {
    let all: Vec<String> = (0..200).map(|i| format!("text number {i} of the table")).collect();
    let batch = texts(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let pages = WriterProperties::builder()
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .set_max_row_group_row_count(Some(100))
        .set_dictionary_enabled(false)
        .set_compression(Compression::SNAPPY);
    let content = parquet_file(&[&batch], pages.build());
    let place = find(&content, b"text number 130 of the table");
    let mut bad = content.clone();
    bad[place - 4..place - 1].fill(0xff);
    for batch_bytes in SIZES {
        let seen = read_file("a", &bad, ReadOptions { batch_bytes, ..ReadOptions::default() });
        assert_eq!(seen.documents.len(), 190, "{:?}", seen.rejects);
        assert!(seen.documents.iter().all(|d| d.text == all[d.line as usize - 1]));
        let rows: Vec<bool> = (131..=140)
            .map(|row| seen.rejects[row - 131].starts_with(&format!("a:{row}: damaged parquet (")))
            .collect();
        assert_eq!(rows, [true; 10], "{:?}", seen.rejects);
    }
}

#[test]
fn whatever_byte_of_a_parquet_file_is_damaged_every_row_is_counted() {
    let all: Vec<String> = (0..60).map(|i| format!("text number {i} of the table")).collect();
    let batch = texts(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let pages = WriterProperties::builder()
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .set_max_row_group_row_count(Some(30))
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    let content = parquet_file(&[&batch], pages.build());
    let footer =
        u32::from_le_bytes(content[content.len() - 8..content.len() - 4].try_into().unwrap()) as usize;
    for place in 4..content.len() {
        let mut bad = content.clone();
        bad[place] ^= 0x91;
        let seen = read_file("a.parquet", &bad, ReadOptions { batch_bytes: 200, ..ReadOptions::default() });
        if place < content.len() - 8 - footer {
            assert_eq!(seen.documents.len() + seen.rejects.len(), 60, "{place}");
        }
    }
    for cut in (0..content.len()).step_by(7) {
        let seen = read_file("a.parquet", &content[..cut], ReadOptions::default());
        assert_eq!((seen.documents.len(), seen.rejects.len()), (0, 1), "{cut}");
        assert!(seen.rejects[0].starts_with("a.parquet:1: damaged parquet ("), "{:?}", seen.rejects);
    }
}

#[test]
fn an_arrow_file_cut_anywhere_gives_its_whole_record_batches_and_one_reject() {
    let batches: Vec<RecordBatch> = (0..5).map(|i| texts(&[&format!("{i} a"), &format!("{i} b")])).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    for (is_file, content) in [(true, arrow_file(&batches, None)), (false, arrow_stream(&batches, None))] {
        let end = find(&content, b"4 a4 b") + 8;
        for cut in 8..content.len() {
            let seen = read_file("a.arrow", &content[..cut], ReadOptions::default());
            let n = seen.documents.len();
            assert!(n.is_multiple_of(2) && seen.documents.iter().all(|d| d.text.len() == 3), "{cut}");
            let is_whole = n == 10 || (!is_file && seen.rejects.is_empty());
            assert!(is_whole || seen.rejects.len() == 1, "{cut}: {:?}", seen.rejects);
            assert!(cut < end + 128 || n == 10, "{cut}");
            for reject in &seen.rejects {
                assert!(
                    reject.starts_with(&format!("a.arrow:{}: damaged arrow (", n + 1)),
                    "{cut}: {reject}"
                );
            }
        }
    }
}

#[test]
fn whatever_byte_of_an_arrow_file_is_damaged_reading_comes_to_an_end() {
    let first = dictionary_of(&["alpha and omega", "beta", "alpha and omega"]);
    let codec = Some(arrow_ipc::CompressionType::LZ4_FRAME);
    let files = [
        arrow_stream(&[&first, &first], None),
        arrow_stream(&[&first, &first], codec),
        arrow_file(&[&first], None),
    ];
    for content in files {
        for place in (8..content.len()).step_by(3) {
            for flip in [0x01, 0xff] {
                let mut bad = content.clone();
                bad[place] ^= flip;
                let seen = read_file("a.arrow", &bad, ReadOptions::default());
                assert!(seen.documents.len() + seen.rejects.len() < 100_000, "{place}");
            }
        }
    }
}

#[test]
fn a_file_is_read_by_its_footer_and_without_one_as_a_stream() {
    let batches = [texts(&["one"]), texts(&["two", "three"])];
    let content = arrow_file(&[&batches[0], &batches[1]], None);
    // Some writers leave the length of the first message out.
    let first = find(&content, &[0xff; 4]);
    let mut odd = content.clone();
    odd[first..first + 8].fill(7);
    for content in [&content, &odd] {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("a.arrow"), content).unwrap();
        let reader = read::open(Inputs::new().path(folder.path()), ReadOptions::default()).unwrap();
        let progress = reader.progress().clone();
        let n: usize = reader.map(|raw| read::parse(raw.unwrap()).n_documents()).sum();
        assert_eq!((n, Some(progress.bytes_read())), (3, progress.bytes_total()));
    }
    let cut = &content[..content.len() - 1];
    assert_eq!(read_file("a", cut, ReadOptions::default()).texts(), ["one", "two", "three"]);
}

#[test]
fn a_record_batch_that_cannot_be_decoded_costs_its_own_rows() {
    let batches: Vec<RecordBatch> =
        ["first", "second", "third"].iter().map(|t| texts(&[&t.repeat(9), "x"])).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let content = arrow_stream(&batches, Some(arrow_ipc::CompressionType::ZSTD));
    // The frame of the second text begins after its length, which is 55.
    let frame = [&55i64.to_le_bytes()[..], &[0x28, 0xb5, 0x2f, 0xfd]].concat();
    let mut bad = content.clone();
    bad[find(&content, &frame) + 8] = 0;
    let seen = read_file("a.arrow", &bad, ReadOptions::default());
    assert_eq!(seen.lines(), [1, 2, 5, 6], "{:?}", seen.rejects);
    assert!(
        seen.rejects.len() == 2 && seen.rejects[0].starts_with("a.arrow:3: damaged arrow ("),
        "{:?}",
        seen.rejects
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// What was written is read, whatever the layout of the file and the size of the batches.
    #[test]
    fn rows_are_read_as_they_were_written(
        rows in rows(40),
        layout in layout(),
        batch_bytes in prop_oneof![1usize..2000, Just(1 << 23)],
    ) {
        let file = layout.write(&rows);
        let options = in_batches_of(batch_bytes, &fields("meta.in\\.ner.body,title", "id", "when"));
        let seen = read_file("a", &file, options);
        let (mut documents, mut rejects) = (Vec::new(), Vec::new());
        for (i, row) in rows.iter().enumerate() {
            let line = i as u64 + 1;
            match (row.outer.flatten().flatten(), row.title, row.id) {
                (Some(body), Some(title), Some(id)) => documents.push(Seeing {
                    input: 0,
                    line,
                    offset: line - 1,
                    id: Some(id.to_string()),
                    // Fields that are all empty are an empty text.
                    text: if body.is_empty() && title.is_empty() { String::new() } else { format!("{body}\n{title}") },
                    order: row.when.map(|when| Value::Number(when as f64 / 1e3)),
                    raw: String::new(),
                }),
                _ => rejects.push(line),
            }
        }
        prop_assert_eq!(seen.documents, documents);
        let rejected: Vec<u64> =
            seen.rejects.iter().map(|reject| reject.split(':').nth(1).unwrap().parse().unwrap()).collect();
        prop_assert_eq!(rejected, rejects);
    }
}

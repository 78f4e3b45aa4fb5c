//! CSV, TSV and plain text as they occur, and what becomes of every record and line of them.

mod seen;

use std::io::Write;

use benzer_io::read::{self, Compression, Format, Inputs, ReadOptions};
use proptest::prelude::*;
use seen::*;
use tempfile::TempDir;

const SIZES: [usize; 4] = [1, 7, 50, 1 << 20];

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn records_are_documents_with_their_lines_offsets_and_bytes() {
    let content = "\u{feff}id,\"the text\",n\r\n1,plain,3\r\n\r\n2,\"two\nlines, \"\"quoted\"\"\",x\r\n3,,";
    for batch_bytes in SIZES {
        let options = in_batches_of(batch_bytes, &fields("the text", "id", "n"));
        let seen = read_file("a.csv", content.as_bytes(), options);
        assert_eq!(seen.texts(), ["plain", "two\nlines, \"quoted\"", ""]);
        assert_eq!(seen.ids(), ["1", "2", "3"]);
        assert_eq!(seen.lines(), [2, 4, 6]);
        let raws: Vec<&str> = seen.documents.iter().map(|document| document.raw.as_str()).collect();
        assert_eq!(raws, ["1,plain,3\r", "2,\"two\nlines, \"\"quoted\"\"\",x\r", "3,,"]);
        for document in &seen.documents {
            let (start, raw) = (document.offset as usize, &document.raw);
            assert_eq!(&content[start..start + raw.len()], raw);
        }
        let orders = seen.orders();
        assert_eq!(orders, [Some(Value::Number(3.0)), Some(Value::Text("x".into())), None]);
        assert_eq!((seen.n_blank, seen.rejects.len()), (1, 0));
    }
}

#[test]
fn tabs_compression_and_quotes_inside_of_fields_are_no_trouble() {
    let content = b"id\ttext\n1\ta, 5\" pipe\n2\t\"b\tc\"\n";
    for (name, content) in [("a.tsv", content.to_vec()), ("b.TSV.GZ", gzip(content)), ("a", gzip(content))] {
        let format = (name == "a").then(|| "tsv".parse().unwrap());
        let seen = read_file(name, &content, ReadOptions { format, ..fields("text", "id", "") });
        assert_eq!((seen.texts(), seen.rejects.len()), (vec!["a, 5\" pipe", "b\tc"], 0), "{name}");
    }
}

#[test]
fn every_kind_of_dirt_is_listed_with_file_line_and_reason() {
    let content = [
        &b"id,text\n"[..],
        b"1,good\n",
        b"2\n",
        b"3,a,b\n",
        b"4,\"a\"b\n",
        b"5,\"two\n\xff lines\"\n",
        b"6,\"good\n\"\n",
        b"7,\xe9\n",
        b"8,good\n9,\"never closed\n10,a\n",
    ]
    .concat();
    for batch_bytes in SIZES {
        let seen = read_file("a.csv", &content, in_batches_of(batch_bytes, &fields("text", "id", "")));
        assert_eq!((seen.ids(), seen.lines()), (vec!["1", "6", "8"], vec![2, 8, 11]));
        let expected = [
            "a.csv:3: expected 2 fields as in the header, got 1; quote fields with delimiters",
            "a.csv:4: expected 2 fields as in the header, got 3; quote fields with delimiters",
            "a.csv:5: bad quotes: expected a delimiter after a closing quote at column 6; write a quote in quotes twice",
            "a.csv:6: invalid utf-8 at column 8; convert the file to utf-8 (`iconv -t utf-8`)",
            "a.csv:10: invalid utf-8 at column 3; convert the file to utf-8 (`iconv -t utf-8`)",
            "a.csv:12: bad quotes: expected a closing quote at column 3; write a quote in quotes twice",
        ];
        assert_eq!(seen.rejects, expected, "{batch_bytes}");
    }
}

#[test]
fn rejected_records_keep_their_bytes() {
    let content = b"text\n\"a\n\xff\"\n\"b\"c\nlast";
    let inputs = Inputs::new().stream("s.csv", &content[..]);
    let batch = read::parse(read::open(inputs, ReadOptions::default()).unwrap().next().unwrap().unwrap());
    assert_eq!(batch.rejected_line(0), Some(&b"\"a\n\xff\""[..]));
    assert_eq!(batch.rejected_line(1), Some(&b"\"b\"c"[..]));
    assert_eq!((batch.rejects()[1].line, batch.rejects()[1].offset), (4, 11));
    assert_eq!(batch.document(0).unwrap().line, 5);
}

#[test]
fn a_record_over_the_limit_is_passed_and_the_lines_after_it_are_right() {
    let long = format!("2,\"{}\"", "x\n".repeat(3000));
    let content = format!("id,text\n1,a\n{long}\n3,c\n{long}\n5,e\n");
    for batch_bytes in [1, 100, 1 << 20] {
        let options = ReadOptions { max_line_bytes: 1000, batch_bytes, ..fields("text", "id", "") };
        let seen = read_file("a.csv", content.as_bytes(), options);
        assert_eq!((seen.ids(), seen.lines()), (vec!["1", "3", "5"], vec![2, 3004, 6006]));
        let reject = |line: u64| {
            format!(
                "a.csv:{line}: record of 6004 bytes, expected at most 1000; `benzer dedup --max-line` reads longer ones"
            )
        };
        assert_eq!(seen.rejects, [reject(3), reject(3005)]);
    }
}

#[test]
fn a_missing_column_is_an_error_at_once_that_names_those_there_are() {
    for (name, content) in [("a.csv", b"id,body\n1,a\n".to_vec()), ("a.csv.gz", gzip(b"id,body\n1,a\n"))] {
        let error = try_file(name, &content, fields("text", "id", "")).unwrap_err();
        let expected =
            "no column `text`, there are `id`, `body`; name the right one with --text-field or --id-field";
        assert_eq!(error, format!("`{name}`: {expected}"));
        assert!(try_file(name, &content, fields("body", "key", "")).unwrap_err().contains("no column `key`"));
        assert_eq!(read_file(name, &content, fields("body", "", "date")).orders(), [None]);
    }
    let error = try_file("a.csv", b"\"a\"b,text\n", ReadOptions::default()).unwrap_err();
    assert!(error.contains("bad quotes at byte 4"), "{error}");
    let endless = format!("text,\"{}", "a\n".repeat(2 << 20));
    let error = try_file("a.csv", endless.as_bytes(), ReadOptions::default()).unwrap_err();
    assert!(error.contains("does not end within 1048576 bytes"), "{error}");
}

#[test]
fn dotted_names_are_columns_and_the_last_of_equal_ones_wins() {
    let seen = read_file("a.csv", b"a.b,x,x\n1,2,3\n", fields("a.b,x", "", ""));
    assert_eq!(seen.texts(), ["1\n3"]);
}

#[test]
fn empty_and_cut_off_files_have_no_documents() {
    for content in [&b""[..], b"\xef\xbb\xbf", b"text", b"text\n", b"text\r\n\r\n\n"] {
        let seen = read_file("a.csv", content, ReadOptions::default());
        assert_eq!((seen.documents.len(), seen.rejects.len()), (0, 0));
    }
    let whole = gzip(b"text\nfirst\nsecond\n");
    for cut in 11..whole.len() {
        let seen = read_file("a.csv.gz", &whole[..cut], ReadOptions::default());
        assert_eq!(seen.rejects.len(), 1, "{cut}");
        // Nothing of the header came, or it came with so many lines.
        let line = 2 + seen.documents.len();
        let after = |line: usize| seen.rejects[0].starts_with(&format!("a.csv.gz:{line}: truncated gzip"));
        assert!(after(line) || (after(1) && seen.documents.is_empty()), "{cut}: {:?}", seen.rejects);
    }
}

#[test]
fn the_header_is_known_of_a_file_at_once_and_of_a_pipe_when_it_is_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv.gz");
    std::fs::write(&path, gzip(b"\xef\xbb\xbfid,\"te\nxt\"\r\n1,a\r\n")).unwrap();
    let pipe = std::io::Cursor::new(b"x\ty\n1\t2\n".to_vec());
    let options = ReadOptions { text_fields: vec![], ..ReadOptions::default() };
    assert!(read::open(Inputs::new().path(&path), options).is_err());
    let options = fields("te\nxt", "", "");
    let reader = read::open(Inputs::new().path(&path), options).unwrap();
    let input = &reader.inputs()[0];
    assert_eq!((input.header(), input.format()), (Some(&b"id,\"te\nxt\"\r"[..]), Some(Format::CSV)));
    assert_eq!(input.compression(), Some(Compression::Gzip));
    let mut reader = read::open(Inputs::new().stream("p.tsv", pipe), fields("y", "", "")).unwrap();
    let input = reader.inputs()[0].clone();
    assert_eq!((input.header(), input.format(), input.compression()), (None, None, None));
    assert_eq!(read::parse(reader.next().unwrap().unwrap()).document(0).unwrap().text, "2");
    assert_eq!((input.header(), input.format()), (Some(&b"x\ty"[..]), Some(Format::TSV)));
}

#[test]
fn a_line_of_text_is_a_document() {
    let content = b"\xef\xbb\xbffirst\r\n \t\r\n\nsecond line \n\xff\xfe\nlast";
    for batch_bytes in SIZES {
        for name in ["a.txt", "a.md", "a.text"] {
            let seen = read_file(name, content, in_batches_of(batch_bytes, &fields("text", "", "date")));
            assert_eq!((seen.texts(), seen.lines()), (vec!["first", "second line ", "last"], vec![1, 4, 6]));
            assert_eq!((seen.documents[0].raw.as_str(), seen.documents[1].offset), ("first\r", 15));
            assert_eq!((seen.n_blank, seen.orders()), (2, vec![None; 3]));
            assert_eq!(seen.rejects.len(), 1);
            assert!(seen.rejects[0].starts_with(&format!("{name}:5: invalid utf-8 at column 1")));
        }
    }
    let seen = read_file(
        "a.txt",
        b"short\nlonger line\n",
        ReadOptions { max_line_bytes: 8, ..fields("text", "", "") },
    );
    assert_eq!(seen.texts(), ["short"]);
    assert!(seen.rejects[0].starts_with("a.txt:2: line of 11 bytes"));
}

#[test]
fn text_has_no_ids() {
    let expected = "`--id-field` must be left out for plain text, which has no fields, got `id` with `a.txt`";
    assert_eq!(try_file("a.txt", b"x\n", fields("text", "id", "")).unwrap_err(), expected);
    let inputs = Inputs::new().stream("a.txt", &b"x\n"[..]);
    assert_eq!(read_all(inputs, fields("text", "id", "")).unwrap_err().to_string(), expected);
}

#[test]
fn with_per_file_every_file_is_one_document() {
    let folder = TempDir::new().unwrap();
    let contents: [(&str, &[u8]); 6] = [
        ("a.txt", b"\xef\xbb\xbftwo\nlines\n"),
        ("b.json", b"{\"not\": \"parsed\"}"),
        ("c.md", b""),
        ("d.txt", b"caf\xe9\n"),
        ("e.txt", b"after\xc3"),
        ("f.txt", "\u{e9}".as_bytes()),
    ];
    for (name, content) in contents {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    std::fs::write(folder.path().join("g.txt.gz"), gzip(b"zipped")).unwrap();
    for batch_bytes in SIZES {
        let options = ReadOptions { per_file: true, batch_bytes, ..ReadOptions::default() };
        let seen = read_path(folder.path(), options);
        assert_eq!(seen.texts(), ["two\nlines\n", "{\"not\": \"parsed\"}", "", "\u{e9}", "zipped"]);
        assert!(seen.documents.iter().all(|document| document.raw == document.text && document.line == 1));
        assert_eq!(seen.documents.iter().map(|document| document.input).collect::<Vec<_>>(), [0, 1, 2, 5, 6]);
        assert_eq!(seen.rejects.len(), 2);
        assert!(seen.rejects[0].contains("d.txt:1: invalid utf-8 at column 4"), "{:?}", seen.rejects);
        assert!(seen.rejects[1].contains("e.txt:1: invalid utf-8 at column 6"), "{:?}", seen.rejects);
        let options =
            ReadOptions { per_file: true, batch_bytes, max_line_bytes: 9, ..ReadOptions::default() };
        let seen = read_path(folder.path(), options);
        assert_eq!(seen.texts(), ["", "\u{e9}", "zipped"]);
        assert!(
            seen.rejects[0].contains("a.txt:1: file of 10 bytes, expected at most 9"),
            "{:?}",
            seen.rejects
        );
    }
    let options = ReadOptions { per_file: true, format: Some(Format::CSV), ..ReadOptions::default() };
    let error = try_file("a.txt", b"", options).unwrap_err();
    assert_eq!(error, "`--per-file` must be left out, or --input-format be text, got csv");
}

#[test]
fn files_of_all_formats_share_a_run() {
    let folder = TempDir::new().unwrap();
    for (name, content) in [
        ("1.jsonl", "{\"text\":\"json\"}"),
        ("2.csv", "text\ncsv"),
        ("3.txt", "line"),
        ("4.ndjson", "{\"text\":\"\\u0041\"}"),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    for batch_bytes in SIZES {
        let seen = read_path(folder.path(), ReadOptions { batch_bytes, ..ReadOptions::default() });
        assert_eq!(seen.texts(), ["json", "csv", "line", "A"]);
        assert_eq!(seen.lines(), [1, 2, 1, 1]);
    }
}

#[test]
fn a_format_that_was_said_wins_over_the_name_and_not_over_the_content() {
    let format = |name: &str| ReadOptions { format: Some(name.parse().unwrap()), ..ReadOptions::default() };
    assert_eq!(read_file("a.csv", b"{\"text\":\"x\"}\n", format("jsonl")).texts(), ["x"]);
    assert_eq!(read_file("a.jsonl", b"text\nx\n", format("text")).texts(), ["text", "x"]);
    let error = try_file("a.jsonl", b"PAR1\0\0\0\0", format("jsonl")).unwrap_err();
    assert_eq!(error, "`a.jsonl`: expected json lines, got parquet; leave out --input-format");
}

#[test]
fn a_json_field_gives_the_order() {
    let content = "{\"text\":\"a\",\"n\":-1.5e2}\n{\"text\":\"b\",\"n\":7}\n{\"text\":\"c\",\"n\":\"\\u0041b\"}\n\
                   {\"text\":\"d\",\"n\":null}\n{\"text\":\"e\"}\n{\"text\":5,\"n\":1}\n{\"text\":\"f\",\"n\":[1]}\n";
    let seen = read_file("a.jsonl", content.as_bytes(), fields("text", "", "n"));
    let (number, text) = (|n| Some(Value::Number(n)), |t: &str| Some(Value::Text(t.into())));
    assert_eq!(seen.orders(), [number(-150.0), number(7.0), text("Ab"), None, None, None]);
    let seen = read_file("a.jsonl", content.as_bytes(), fields("text", "", "text"));
    assert_eq!(seen.orders()[0], text("a"));
    assert!(
        read_file("a.jsonl", content.as_bytes(), fields("text", "", "")).orders().iter().all(Option::is_none)
    );
}

#[test]
fn a_record_of_100_megabytes_is_read() {
    let text = "line\n".repeat(20 << 20);
    let content = format!("text\nfirst\n\"{text}\"\nlast\n");
    let inputs = Inputs::new().stream("a.csv", std::io::Cursor::new(content));
    let seen = read_all(inputs, ReadOptions::default()).unwrap();
    assert_eq!(seen.documents.iter().map(|d| d.text.len()).collect::<Vec<_>>(), [5, text.len(), 4]);
    assert_eq!(seen.lines(), [2, 3, 4 + (20 << 20)]);
}

/// Files of up to three columns, quoted where they must be and sometimes where not.
fn csv_file() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let field = prop_oneof![4 => "[a-z ,\t\"\n\r]{0,8}", 1 => "\\PC{0,4}", 1 => Just(String::new())];
    let record = prop::collection::vec((field, any::<bool>()), 3);
    let line_end = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::sample::select(vec![b',', b'\t']), prop::collection::vec((record, line_end), 0..8), any::<bool>())
        .prop_map(|(delimiter, records, is_cut)| {
            let mut content = String::from("a,b,c\n").replace(',', &(delimiter as char).to_string());
            for (record, line_end) in records {
                for (i, (field, quote)) in record.iter().enumerate() {
                    if i > 0 {
                        content.push(delimiter as char);
                    }
                    let special = field.starts_with('"') || field.contains(['\n', '\r', delimiter as char]);
                    if *quote || special {
                        content.push_str(&format!("\"{}\"", field.replace('"', "\"\"")));
                    } else {
                        content.push_str(field);
                    }
                }
                content.push_str(line_end);
            }
            if is_cut && content.ends_with('\n') {
                content.pop();
            }
            (delimiter, content.into_bytes())
        })
}

proptest! {
    /// The `csv` crate reads the same fields.
    #[test]
    fn records_are_those_of_another_parser((delimiter, content) in csv_file(), batch_bytes in 1usize..100) {
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&content[..]);
        let expected: Vec<csv::StringRecord> = reader.records().map(|record| record.unwrap()).collect();
        let format = Some(Format::Csv { delimiter });
        let options = ReadOptions { format, batch_bytes, ..fields("b,c", "a", "b") };
        let inputs = Inputs::new().stream("s", std::io::Cursor::new(content.clone()));
        let seen = read_all(inputs, options).unwrap();
        prop_assert_eq!(&seen.rejects, &Vec::<String>::new());
        prop_assert_eq!(seen.documents.len(), expected.len());
        for (document, record) in seen.documents.iter().zip(&expected) {
            // Fields that are all empty are an empty text.
            let text = if record[1].is_empty() && record[2].is_empty() { String::new() } else { format!("{}\n{}", &record[1], &record[2]) };
            prop_assert_eq!(&document.text, &text);
            prop_assert_eq!(document.id.as_deref(), Some(&record[0]));
            let start = document.offset as usize;
            prop_assert_eq!(&content[start..start + document.raw.len()], document.raw.as_bytes());
            let newlines = content[..start].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(document.line, newlines as u64 + 1);
        }
    }

    /// Whatever the bytes are, every batch size gives the same documents and rejects.
    #[test]
    fn dirty_records_do_not_depend_on_the_batches(
        content in prop::collection::vec(prop::sample::select(b"ab,,\"\"\n\n\r\xff".to_vec()), 0..120),
        batch_bytes in 1usize..60,
        max_line_bytes in 5usize..40,
    ) {
        let content = [b"text,b\n", &content[..]].concat();
        let read = |batch_bytes, max_line_bytes| {
            let inputs = Inputs::new().stream("a.csv", std::io::Cursor::new(content.clone()));
            let options = ReadOptions { batch_bytes, max_line_bytes, ..ReadOptions::default() };
            read_all(inputs, options).unwrap()
        };
        let whole = read(1 << 20, 1 << 20);
        prop_assert_eq!(&read(batch_bytes, 1 << 20), &whole);
        let short = read(batch_bytes, max_line_bytes);
        let expected: Vec<u64> =
            whole.documents.iter().filter(|d| d.raw.len() <= max_line_bytes).map(|d| d.line).collect();
        prop_assert_eq!(short.lines(), expected);
        prop_assert_eq!(
            short.documents.len() + short.rejects.len() + short.n_blank as usize,
            whole.documents.len() + whole.rejects.len() + whole.n_blank as usize
        );
    }
}

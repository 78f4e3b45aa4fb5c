//! Sketch files: what goes in comes out, any number of threads gives the same bytes, and no damage goes unnoticed.

use std::path::{Path, PathBuf};

use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::hash::element;
use benzer_core::sketch::{Family, Packing, SketchSpec};
use benzer_flow::pipeline;
use benzer_io::read::{self, DocumentId, Inputs, ReadOptions};
use proptest::prelude::*;

use super::*;

fn corpus(n: usize) -> String {
    let words = |i: usize| (i..i + i % 70).map(|w| format!("w{}", w % 90)).collect::<Vec<_>>().join(" ");
    (0..n).map(|i| format!("{{\"id\": \"d{i}\", \"text\": \"{}\"}}\n", words(i))).collect()
}

fn recipe(spec: &SketchSpec, bag: bool) -> Recipe {
    Recipe::new(Shingler::new(&TextOptions { bag, ..Default::default() }).unwrap(), spec).unwrap()
}

fn options(ids: bool) -> ReadOptions {
    ReadOptions { id_field: ids.then(|| "id".parse().unwrap()), batch_bytes: 4096, ..Default::default() }
}

fn write(path: &Path, corpus: &str, recipe: &Recipe, threads: usize, ids: bool) -> Counts {
    let bytes = std::io::Cursor::new(corpus.to_owned().into_bytes());
    let reader = read::open(Inputs::new().stream("corpus", bytes), options(ids)).unwrap();
    let ids = if ids { Ids::Field } else { Ids::Rows(vec!["corpus".into()]) };
    let mut writer = SketchWriter::create(path, Header { spec: recipe.spec().clone(), ids }).unwrap();
    pipeline::run(reader, recipe, threads, |made| writer.append(&made.records)).unwrap();
    writer.finish().unwrap()
}

fn specs() -> Vec<(SketchSpec, bool)> {
    let all = |packing| Family::ALL.iter().map(move |&family| (family, packing));
    let packings = [
        Packing::FULL,
        Packing::bits(1).unwrap(),
        Packing::bits(7).unwrap(),
        Packing::Xor { samples: 2 },
        Packing::Odd { bits: 70 },
    ];
    packings
        .into_iter()
        .flat_map(all)
        .map(|(family, packing)| SketchSpec { family, packing, registers: 24, ..Default::default() })
        // Elements of texts lie in no small universe.
        .filter(|spec| spec.validate().is_ok() && !spec.family.to_string().contains("exact"))
        .flat_map(|spec| [(spec.clone(), false), (spec.clone(), spec.family == Family::Weighted)])
        .collect()
}

#[test]
fn stored_sketches_are_those_that_the_core_makes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bsk");
    let corpus = corpus(40);
    for (spec, bag) in specs() {
        let recipe = recipe(&spec, bag);
        let shingler = Shingler::new(&TextOptions { bag, ..Default::default() }).unwrap();
        let counts = write(&path, &corpus, &recipe, 2, true);
        assert_eq!((counts.records, counts.empty, counts.blocks), (40, 1, 1), "{spec}");
        let sketcher = recipe.spec().sketcher().unwrap();
        let mut reader = SketchReader::open(&path).unwrap();
        let block = reader.next_block().unwrap().unwrap();
        for (record, line) in block.records().zip(corpus.lines()) {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(record.id, DocumentId::Field(document["id"].as_str().unwrap()));
            let features = shingler.features(document["text"].as_str().unwrap());
            assert_eq!(
                record.sketch(reader.header()).unwrap(),
                sketcher.sketch(&features).unwrap(),
                "{spec}"
            );
        }
        assert!(reader.next_block().unwrap().is_none());
        assert_eq!(reader.counts(), counts);
    }
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(3000);
    let spec = SketchSpec { packing: Packing::FULL, ..Default::default() };
    let mut all = Vec::new();
    for threads in [1, 2, 4, 7] {
        let path = folder.path().join(format!("{threads}.bsk"));
        let counts = write(&path, &corpus, &recipe(&spec, false), threads, false);
        assert!(counts.blocks > 5, "{counts:?}");
        all.push(std::fs::read(path).unwrap());
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn ids_without_a_field_are_input_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bsk");
    write(&path, &corpus(3), &recipe(&SketchSpec::default(), false), 1, false);
    let mut reader = SketchReader::open(&path).unwrap();
    let block = reader.next_block().unwrap().unwrap();
    let names: Vec<String> = block.records().map(|record| reader.header().name(record.id)).collect();
    assert_eq!(names, ["corpus:1", "corpus:2", "corpus:3"]);
}

#[test]
fn a_sink_that_fails_stops_the_work() {
    let reader = || {
        let bytes = std::io::Cursor::new(corpus(3000).into_bytes());
        read::open(Inputs::new().stream("corpus", bytes), options(true)).unwrap()
    };
    let recipe = recipe(&SketchSpec::default(), false);
    let mut calls = 0;
    let stopped = pipeline::run(reader(), &recipe, 3, |_| {
        calls += 1;
        Err(Error::Occupied { path: "x".into() })
    });
    assert!(matches!(stopped, Err(Error::Occupied { .. })) && calls == 1);
    let panics = || pipeline::run(reader(), &recipe, 3, |_| -> Result<()> { panic!("on purpose") });
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
    assert!(panicked.is_err());
}

/// Two blocks would be large; one and its neighbours are enough for every kind of damage.
fn small() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bsk");
    let spec = SketchSpec { registers: 8, ..Default::default() };
    let mut writer = SketchWriter::create(&path, Header::of_field_ids(spec)).unwrap();
    writer.push(DocumentId::Field("one"), 3.0, &[7]).unwrap();
    writer.push(DocumentId::Field("två"), 0.0, &[u64::MAX]).unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// Reads everything; what is wrong, in words.
fn read_all(bytes: &[u8]) -> Result<Counts, String> {
    let read = || -> Result<Counts> {
        let mut reader = SketchReader::new(Path::new("x.bsk"), bytes)?;
        while let Some(block) = reader.next_block()? {
            for record in block.records() {
                let _ = record.sketch(reader.header());
            }
        }
        Ok(reader.counts())
    };
    read().map_err(|error| error.to_string())
}

#[test]
fn no_truncation_and_no_changed_byte_goes_unnoticed() {
    let whole = small();
    assert_eq!(read_all(&whole), Ok(Counts { blocks: 1, records: 2, empty: 1 }));
    for end in 0..whole.len() {
        assert!(read_all(&whole[..end]).is_err(), "truncated to {end}");
    }
    for place in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] ^= change;
            assert!(read_all(&bytes).is_err(), "byte {place} changed");
        }
    }
    assert!(read_all(&[&whole[..], b"x"].concat()).unwrap_err().contains("expected the end of the file"));
}

#[test]
fn messages_name_the_file_the_place_and_expected_and_got() {
    let whole = small();
    let with = |place: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        read_all(&bytes).unwrap_err()
    };
    assert_eq!(
        read_all(b"{\"text\": 1}").unwrap_err(),
        "`x.bsk`: expected a sketch file, got text; make one with `benzer sketch INPUT -o FILE.bsk`"
    );
    assert!(read_all(b"").unwrap_err().contains("got an empty file"));
    assert!(with(4, 9).contains("expected sketch file version 1, got 9"), "{}", with(4, 9));
    assert!(with(12, 9).contains("`x.bsk`: the header is damaged: expected checksum "), "{}", with(12, 9));
    let in_block = with(whole.len() - 45, 9);
    assert!(in_block.contains("`x.bsk`: block 0 is damaged: expected checksum "), "{in_block}");
    let cut = read_all(&whole[..whole.len() - 60]).unwrap_err();
    assert!(cut.contains("block 0 is damaged: expected") && cut.contains("the end of the file"), "{cut}");
}

#[test]
fn a_block_in_the_wrong_place_or_with_false_counts_is_refused() {
    let whole = small();
    let header_end = whole.len() - (1 + 24 + 8) - (17 + 2 * (4 + 8 + 8) + 3 + 4 + 8);
    let (header, rest) = whole.split_at(header_end);
    let (block, footer) = rest.split_at(rest.len() - 33);
    assert_eq!((block[0], footer[0]), (1, 2));
    let twice = [header, block, block, footer].concat();
    assert!(read_all(&twice).unwrap_err().contains("block 1 is damaged: expected block number 1, got 0"));
    let none = [header, footer].concat();
    assert!(read_all(&none).unwrap_err().contains("the footer is damaged: expected 0 blocks with 0 records"));
    let mut more_records = block[..block.len() - 8].to_vec();
    more_records[9] = 3;
    more_records.extend(element(&more_records).to_le_bytes());
    let error = read_all(&[header, &more_records, footer].concat()).unwrap_err();
    assert!(error.contains("block 0 is damaged: expected 4 more bytes, got 0"), "{error}");
}

#[test]
fn a_length_is_not_trusted_with_an_allocation() {
    let whole = small();
    let mut header = whole.clone();
    header[6..10].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read_all(&header).is_err());
    let mut names = vec![];
    SketchSpec::default().encode_into(&mut names);
    names.push(1);
    names.extend(u32::MAX.to_le_bytes());
    let mut file = MAGIC.to_vec();
    file.extend(FORMAT_VERSION.to_le_bytes());
    file.extend((names.len() as u32).to_le_bytes());
    file.extend(names);
    file.extend(element(&file).to_le_bytes());
    assert!(read_all(&file).unwrap_err().contains("expected 4 more bytes, got 0"));
}

#[test]
fn only_a_sketch_file_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("corpus.jsonl");
    std::fs::write(&path, "{}").unwrap();
    let header = || Header::of_field_ids(SketchSpec::default());
    let error = SketchWriter::create(&path, header()).unwrap_err().to_string();
    assert!(error.contains("exists and is not a sketch file"), "{error}");
    std::fs::write(&path, small()).unwrap();
    SketchWriter::create(&path, header()).unwrap().finish().unwrap();
    assert_eq!(read_all(&std::fs::read(&path).unwrap()), Ok(Counts::default()));
}

#[test]
fn a_record_that_does_not_suit_the_header_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.bsk");
    let mut writer = SketchWriter::create(&path, Header::of_field_ids(SketchSpec::default())).unwrap();
    assert!(
        writer.push(DocumentId::Field("a"), 1.0, &[0; 3]).unwrap_err().to_string().contains("must be 16")
    );
    assert!(writer.push(DocumentId::Field("a"), f64::NAN, &[0; 16]).is_err());
    assert!(writer.push(DocumentId::Row { input: 0, row: 1 }, 1.0, &[0; 16]).is_err());
}

/// `testdata/formats/v1/sketches.bsk`: three documents that every release must read, and write byte for byte.
#[test]
fn the_golden_file_is_read_and_written_byte_for_byte() {
    let golden =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/v1/sketches.bsk"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sketches.bsk");
    let corpus = "{\"id\": \"a\", \"text\": \"to be or not to be that is the question\"}\n\
                  {\"id\": \"b\", \"text\": \"To be, or not to be: that is a question!\"}\n\
                  {\"id\": 3, \"text\": \"...\"}\n";
    let spec = SketchSpec { registers: 32, ..Default::default() };
    let counts = write(&path, corpus, &recipe(&spec, false), 1, true);
    assert_eq!(counts, Counts { blocks: 1, records: 3, empty: 1 });
    let written = std::fs::read(&path).unwrap();
    assert_eq!(std::fs::read(golden).unwrap(), written, "the format changed: that is a new version");
    let mut reader = SketchReader::new(Path::new("golden"), &written[..]).unwrap();
    assert_eq!(
        reader.header().spec.to_string(),
        "fast:2 x 32, 8 bits, seed 42, pipeline text-v1.h1/words5/nfkc+lower/uax29/u16.0/set/64"
    );
    let block = reader.next_block().unwrap().unwrap();
    let sizes: Vec<(String, f64)> =
        block.records().map(|record| (reader.header().name(record.id), record.size)).collect();
    assert_eq!(sizes, [("a".into(), 6.0), ("b".into(), 6.0), ("3".into(), 0.0)]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes: Vec<u8>, magic: bool) {
        if magic {
            bytes.splice(0..0, [&MAGIC[..], &[1, 0]].concat());
        }
        let _ = read_all(&bytes);
    }
}

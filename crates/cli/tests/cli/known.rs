//! Sketches that must be the same in Rust, on the command line and in Python, whose tests read the same file.

use std::ffi::OsString;

use benzer_cli::options::sketches::{SketchArguments, SketchName};
use benzer_core::field::text::{Shingler, TextOptions, Unit};
use benzer_core::field::{Content, Value, values::ValuesOptions};
use benzer_core::sketch::Sketch;
use benzer_sets::sketches::SketchReader;
use serde_json::Value as Json;

const ANSWERS: &str = include_str!("../../../../testdata/sketches/v1.json");

fn answers() -> Vec<Json> {
    serde_json::from_str(ANSWERS).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn number(answer: &Json, name: &str) -> u64 {
    answer[name].as_u64().unwrap()
}

fn text_options(answer: &Json) -> TextOptions {
    let unit = match answer["text_options"]["unit"].as_str().unwrap() {
        "words" => Unit::Words,
        "characters" => Unit::Characters,
        _ => Unit::Bytes,
    };
    TextOptions { n: number(&answer["text_options"], "n") as usize, unit, ..TextOptions::default() }
}

fn value(value: &Json) -> Value {
    value.as_i64().map_or_else(|| Value::from(value.as_str().unwrap()), Value::from)
}

fn sketch(answer: &Json) -> Sketch {
    let name: SketchName = answer["sketch"].as_str().unwrap().parse().unwrap();
    let arguments =
        SketchArguments { registers: number(answer, "registers") as u32, seed: number(answer, "seed") };
    let (pipeline, features) = match answer["text"].as_str() {
        Some(text) => {
            let shingler = Shingler::new(&text_options(answer)).unwrap();
            (shingler.pipeline().to_string(), shingler.features(text))
        }
        None => {
            let content = Content::values(answer["values"].as_array().unwrap().iter().map(value));
            let options = ValuesOptions::default();
            (options.pipeline().to_string(), options.features(&content).unwrap())
        }
    };
    arguments.sketcher(&name, &pipeline).unwrap().sketch(&features).unwrap()
}

#[test]
fn the_known_answers_of_python_are_those_of_rust() {
    let answers = answers();
    assert!(answers.len() > 60);
    for answer in answers {
        let expected = bytes(answer["encoded"].as_str().unwrap());
        assert_eq!(sketch(&answer).encode(), expected, "{answer}");
    }
}

#[test]
fn the_command_line_writes_the_known_answers() {
    let usual = |answer: &Json| answer["sketch"] == "b8" && answer["text_options"]["n"] == 5;
    let answers: Vec<Json> = answers().into_iter().filter(usual).collect();
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("texts.jsonl"), folder.path().join("texts.bsk"));
    let lines = answers.iter().map(|answer| serde_json::json!({"text": answer["text"]}).to_string() + "\n");
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    let arguments: [OsString; 7] = [
        "benzer".into(),
        "sketch".into(),
        input.into(),
        "-o".into(),
        (&output).into(),
        "--registers".into(),
        "64".into(),
    ];
    assert_eq!(benzer_cli::run_to(arguments, &mut Vec::new()), 0);
    let mut reader = SketchReader::open(&output).unwrap();
    let block = reader.next_block().unwrap().unwrap();
    let stored: Vec<Sketch> = block.records().map(|record| record.sketch(reader.header()).unwrap()).collect();
    assert_eq!(stored.len(), 4);
    for (answer, stored) in answers.iter().zip(stored) {
        assert_eq!(stored.words(), sketch(answer).words(), "{answer}");
    }
}

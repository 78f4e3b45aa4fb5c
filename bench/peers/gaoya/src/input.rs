//! The command line and the files of the race.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// `TASK --input STEM --registers K --runs R`, or `dedup --input CORPUS --out DIR`, or `dedup --about`.
pub struct Options {
    pub task: String,
    pub input: PathBuf,
    pub out: PathBuf,
    pub about: bool,
    pub registers: usize,
    pub runs: usize,
}

impl Options {
    pub fn parse() -> Self {
        let mut words = std::env::args().skip(1);
        let task = words.next().expect("usage: peer-gaoya sketch|text|dedup --input STEM ...");
        let mut options =
            Self { task, input: PathBuf::new(), out: PathBuf::new(), about: false, registers: 128, runs: 7 };
        while let Some(flag) = words.next() {
            if flag == "--about" {
                options.about = true;
                continue;
            }
            let value = words.next().unwrap_or_else(|| panic!("{flag} needs a value"));
            match flag.as_str() {
                "--input" => options.input = value.into(),
                "--out" => options.out = value.into(),
                "--registers" => options.registers = value.parse().expect("--registers is a number"),
                "--runs" => options.runs = value.parse().expect("--runs is a number"),
                _ => panic!("unknown option {flag}"),
            }
        }
        options
    }
}

/// Elements and offsets of the sketch task.
pub fn sets(stem: &Path) -> (Vec<u64>, Vec<usize>) {
    let numbers = |extension: &str| -> Vec<u64> {
        let bytes = fs::read(with(stem, extension)).expect("the input exists");
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
    };
    (numbers("elements.u64"), numbers("offsets.u64").into_iter().map(|offset| offset as usize).collect())
}

/// Texts of the text task.
pub fn texts(stem: &Path) -> Vec<String> {
    let lines = fs::read_to_string(with(stem, "jsonl")).expect("the input exists");
    let text = |line: &str| -> String {
        let document: Value = serde_json::from_str(line).expect("a line is JSON");
        document["text"].as_str().expect("a document has a text").to_string()
    };
    lines.lines().map(text).collect()
}

/// Pairs of rows with their exact J, where the input has them.
pub fn pairs(stem: &Path) -> Option<Vec<(usize, usize, f64)>> {
    let table = fs::read_to_string(with(stem, "pairs.tsv")).ok()?;
    let pair = |line: &str| {
        let fields: Vec<usize> = line.split('\t').map(|field| field.parse().expect("a number")).collect();
        (fields[0], fields[1], fields[2] as f64 / fields[3] as f64)
    };
    Some(table.lines().skip(1).map(pair).collect())
}

fn with(stem: &Path, extension: &str) -> PathBuf {
    let name = stem.file_name().expect("--input names a file").to_string_lossy();
    stem.with_file_name(format!("{name}.{extension}"))
}

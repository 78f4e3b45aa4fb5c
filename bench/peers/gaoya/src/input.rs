//! The command line and the files of the race.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// `TASK --input STEM --registers K --runs R`, or `lsh --input STEM --runs R [--memory]`, or `dedup --input CORPUS --out DIR`, or `dedup --about`.
pub struct Options {
    pub task: String,
    pub input: PathBuf,
    pub out: PathBuf,
    pub about: bool,
    pub memory: bool,
    pub registers: usize,
    pub runs: usize,
}

impl Options {
    pub fn parse() -> Self {
        let mut words = std::env::args().skip(1);
        let task = words.next().expect("usage: peer-gaoya sketch|text|lsh|dedup --input STEM ...");
        let (input, out) = (PathBuf::new(), PathBuf::new());
        let mut options = Self { task, input, out, about: false, memory: false, registers: 128, runs: 7 };
        while let Some(flag) = words.next() {
            match flag.as_str() {
                "--about" => options.about = true,
                "--memory" => options.memory = true,
                _ => options.set(&flag, words.next()),
            }
        }
        options
    }

    fn set(&mut self, flag: &str, value: Option<String>) {
        let value = value.unwrap_or_else(|| panic!("{flag} needs a value"));
        match flag {
            "--input" => self.input = value.into(),
            "--out" => self.out = value.into(),
            "--registers" => self.registers = value.parse().expect("--registers is a number"),
            "--runs" => self.runs = value.parse().expect("--runs is a number"),
            _ => panic!("unknown option {flag}"),
        }
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

/// A file of an input.
pub fn with(stem: &Path, extension: &str) -> PathBuf {
    let name = stem.file_name().expect("--input names a file").to_string_lossy();
    stem.with_file_name(format!("{name}.{extension}"))
}

//! The dedup race (`../../dedup_protocol.py`): an index of the kept documents; a document goes if the index has one whose estimate reaches the threshold.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use ahash::RandomState;
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use serde::Deserialize;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use crate::SHINGLE;

const THRESHOLD: f64 = 0.8;
const BANDS: usize = 16;
const ROWS: usize = 8;

type Index = MinHashIndex<u32, u32, SmallVecContainer<u32, 4>>;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// Prints version and calls.
pub fn about() {
    let api = "str::to_lowercase, unicode_words, MinHasher32::create_signature over windows of 5 words with ahash, \
               MinHashIndex::query_one and insert with SmallVecContainer; native CPU";
    println!("{}", json!({"version": "0.2.2", "api": api}));
}

/// Reads the corpus and writes `removed.tsv`.
pub fn run(corpus: &Path, out: &Path) {
    fs::create_dir_all(out).expect("the folder can be made");
    let mut removed = BufWriter::new(File::create(out.join("removed.tsv")).expect("removed.tsv can be made"));
    let mut lines = BufReader::with_capacity(1 << 20, File::open(corpus).expect("the corpus exists"));
    let hasher = MinHasher32::new_with_hasher(BANDS * ROWS, RandomState::with_seeds(1, 2, 3, 4));
    let mut index = Index::new_index(BANDS, ROWS, THRESHOLD);
    let (mut line, mut kept) = (String::new(), Vec::new());
    while lines.read_line(&mut line).expect("the corpus is UTF-8") > 0 {
        let document: Document = serde_json::from_str(&line).expect("a line is JSON with `id` and `text`");
        let lower = document.text.to_lowercase();
        let words: Vec<&str> = lower.unicode_words().collect();
        if !words.is_empty() {
            let signature = hasher.create_signature(words.windows(SHINGLE.min(words.len())));
            match index.query_one(&signature) {
                Some((&first, _)) => {
                    let first: &String = &kept[first as usize];
                    writeln!(removed, "{}\t{first}", document.id).expect("removed.tsv can be written");
                }
                None => {
                    index.insert(kept.len() as u32, signature);
                    kept.push(document.id.into_owned());
                }
            }
        }
        line.clear();
    }
    removed.flush().expect("removed.tsv can be written");
}

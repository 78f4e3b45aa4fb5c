//! The recall of searches in real collections, after a history, against enumeration. The collections are not in the repository: name their folder and run
//! `BENZER_DATA=... cargo test --release -p benzer-index --test recall_data -- --ignored`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use benzer_core::Features;
use benzer_core::field::{Content, Document, Schema, Value};
use benzer_core::hash::mix;
use benzer_core::lsh::Target;
use benzer_index::store::{self, Store};
use benzer_index::{Index, Keeps, Query, Settings};

fn unpacked(name: &str) -> String {
    let path =
        PathBuf::from(std::env::var_os("BENZER_DATA").expect("the folder of the collections")).join(name);
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The texts of JSON lines.
fn texts(name: &str) -> Vec<Content> {
    let text = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        Content::from(line["text"].as_str().unwrap_or_default())
    };
    unpacked(name).lines().map(text).collect()
}

/// The sets of words of a file of documents, words and counts.
fn words(name: &str) -> Vec<Content> {
    let mut sets: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for line in unpacked(name).lines().skip(3) {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>().unwrap());
        let document = numbers.next().unwrap();
        sets.entry(document).or_default().push(Value::from(numbers.next().unwrap()));
    }
    sets.into_values().map(Content::Values).collect()
}

/// Every tenth document is put with another content first, every seventh is put twice, every thirteenth is removed in the end.
fn lived(store: Arc<dyn Store>, contents: &[Content]) -> Index {
    let index = Index::new(store).unwrap();
    let document = |i: usize, of: usize| Document::new(i.to_string(), [("body", contents[of].clone())]);
    let n = contents.len();
    let early: Vec<Document> = (0..n).step_by(10).map(|i| document(i, (i + n / 2) % n)).collect();
    index.insert(&early).unwrap();
    let all: Vec<Document> = (0..n).map(|i| document(i, i)).collect();
    all.chunks(500).for_each(|some| index.insert(some).map(|_| ()).unwrap());
    index.insert(&all.into_iter().step_by(7).collect::<Vec<_>>()).unwrap();
    let gone: Vec<String> = (0..n).filter(|i| is_gone(*i)).map(|i| i.to_string()).collect();
    index.remove(&gone.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    index
}

fn is_gone(i: usize) -> bool {
    mix(i as u64).is_multiple_of(13)
}

fn check(name: &str, contents: &[Content], schema: &str, target: &Target, registers: u32) {
    let schema: Schema = serde_json::from_str(schema).unwrap();
    let settings = Settings::with_registers(schema, target, Keeps::Documents, Some(registers)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let disk = store::open(folder.path().to_str().unwrap()).unwrap();
    let stores = [store::memory(settings.clone()).unwrap(), disk.create(name, settings).unwrap()];
    for (store, kind) in stores.into_iter().zip(["memory", "disk"]) {
        let index = lived(store, contents);
        let features = |content: &Content| -> Features {
            let document = Document::new("", [("body", content.clone())]);
            index.recorder().features(&document).unwrap().remove(0)
        };
        let sets: Vec<Features> = contents.iter().map(features).collect();
        let query = Query { threshold: Some(target.threshold), limit: usize::MAX, ..Query::default() };
        // Pairs that there are and that were found, and what was stated; pairs of one query are found or missed together, so the spread of queries is what counts.
        let (mut there, mut found, mut stated, mut squares) = (0.0, 0.0, 0.0, 0.0);
        for i in (0..sets.len()).filter(|i| !is_gone(*i) && !sets[*i].is_empty()) {
            let is_similar = |j: &usize| {
                let sizes = [sets[i].len() as f64, sets[*j].len() as f64];
                let can_be = sizes[0].min(sizes[1]) >= target.threshold * sizes[0].max(sizes[1]);
                can_be && sets[i].jaccard(&sets[*j]).is_some_and(|jaccard| jaccard >= target.threshold)
            };
            let similar = (0..sets.len()).filter(|j| *j != i && !is_gone(*j)).filter(is_similar).count();
            let answer = index.search_id(&i.to_string(), &query).unwrap();
            assert!(answer.matches.len() <= similar, "{name}: all that is shown is similar");
            stated = answer.recall;
            there += similar as f64;
            found += answer.matches.len() as f64;
            squares += (answer.matches.len() as f64 - stated * similar as f64).powi(2);
        }
        let (recall, error) = (found / there, squares.sqrt() / there);
        println!(
            "{name}, {kind}: {found} of {there} pairs, {recall:.4}, stated {stated:.4} at the threshold"
        );
        assert!(there > 50.0, "{name} has {there} similar pairs");
        // More similar pairs are found more often than those at the threshold, and none more often than always.
        assert!(recall >= stated - 4.0 * error, "{name}, {kind}: found {recall}, stated {stated}");
    }
}

#[test]
#[ignore = "needs the collections"]
fn searches_in_real_collections_find_what_is_stated() {
    let text = r#"{"fields": {"body": {"kind": "text", "n": 3}}}"#;
    let target = Target::default();
    check("enron", &texts("enron-spam-1/enron1.jsonl.gz"), text, &target, 128);
    let reuters = texts("reuters-21578/reuters21578.jsonl.gz");
    check("reuters", &reuters[..6000], text, &target, 128);
    let values = r#"{"fields": {"body": {"kind": "values"}}}"#;
    let target = Target { threshold: 0.5, ..Target::default() };
    check("kos", &words("uci-bow-kos/docword.kos.txt.gz"), values, &target, 512);
}

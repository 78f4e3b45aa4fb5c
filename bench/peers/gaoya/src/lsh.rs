//! The race of indexes (`../../lsh_protocol.py`): the same parts, timed in the same way.

use std::collections::HashSet;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use gaoya::minhash::{MinHashIndex, SmallVecContainer};
use serde_json::{Map, Value, json};

use crate::input::{Options, with};

const REGISTERS: usize = 128;
const BANDS: usize = 16;
const ROWS: usize = 8;
const THRESHOLD: f64 = 0.8;
const QUERIES: usize = 200_000;
const API: &str = "MinHashIndex::insert, query_owned_return_similarity; par_bulk_insert, par_bulk_query_return_similarity with one thread; \
                   SmallVecContainer, native CPU: ids and similarities";

type Index = MinHashIndex<u32, u32, SmallVecContainer<u32, 4>>;

/// Prints a JSON line.
pub fn run(options: &Options) {
    let mut out = Map::new();
    out.insert("peer".into(), json!("gaoya"));
    out.insert("version".into(), json!("0.2.2"));
    out.insert("api".into(), json!(API));
    let bytes = fs::read(with(&options.input, "registers.u32")).expect("the input exists");
    let signatures = || -> Vec<Vec<u32>> {
        let register = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        bytes.chunks_exact(4 * REGISTERS).map(|one| one.chunks_exact(4).map(register).collect()).collect()
    };
    if options.memory {
        let before = resident();
        let mut index = empty();
        signatures().into_iter().zip(0..).for_each(|(signature, id)| index.insert(id, signature));
        let n = index.size() as f64;
        out.insert("bytes_per_document".into(), json!((resident() - before) as f64 / n));
        black_box(&index);
    } else {
        let all = signatures();
        let bulk = rates(options.runs, all.len(), || {
            let (mut index, ids, all) = (empty(), (0..all.len() as u32).collect(), all.clone());
            seconds(|| index.par_bulk_insert(ids, all))
        });
        out.insert("bulk_insert".into(), bulk);
        let single = rates(options.runs, all.len(), || {
            let (mut index, all) = (empty(), all.clone());
            seconds(|| all.into_iter().zip(0..).for_each(|(signature, id)| index.insert(id, signature)))
        });
        out.insert("insert".into(), single);
        queries(&all, options, &mut out);
    }
    println!("{}", Value::Object(out));
}

fn empty() -> Index {
    Index::new_index(BANDS, ROWS, THRESHOLD)
}

fn queries(all: &[Vec<u32>], options: &Options, out: &mut Map<String, Value>) {
    let mut index = empty();
    index.par_bulk_insert((0..all.len() as u32).collect(), all.to_vec());
    let first = all.len().saturating_sub(QUERIES);
    let wanted = all[first..].to_vec();
    let single = rates(options.runs, wanted.len(), || {
        seconds(|| {
            wanted.iter().for_each(|signature| {
                black_box(index.query_owned_return_similarity(signature));
            });
        })
    });
    out.insert("query".into(), single);
    let mut found = Vec::new();
    let bulk = rates(options.runs, wanted.len(), || seconds(|| found = index.par_bulk_query_return_similarity(&wanted)));
    out.insert("bulk_query".into(), bulk);
    let found: Vec<HashSet<u32>> = found.iter().map(|list| list.iter().map(|(id, _)| *id).collect()).collect();
    let planted = pairs(&options.input).into_iter().filter(|[copy, ..]| *copy >= first);
    let planted: Vec<_> = planted.filter(|pair| pair[2] as f64 >= THRESHOLD * REGISTERS as f64).collect();
    let n_found = planted.iter().filter(|pair| found[pair[0] - first].contains(&(pair[1] as u32))).count();
    out.insert("recall".into(), json!(n_found as f64 / planted.len() as f64));
    let n: usize = found.iter().map(HashSet::len).sum();
    out.insert("found_per_query".into(), json!(n as f64 / found.len() as f64));
}

fn pairs(stem: &Path) -> Vec<[usize; 3]> {
    let table = fs::read_to_string(with(stem, "pairs.tsv")).expect("the pairs exist");
    let pair = |line: &str| -> [usize; 3] {
        let fields: Vec<usize> = line.split('\t').map(|field| field.parse().expect("a number")).collect();
        fields.try_into().expect("three numbers")
    };
    table.lines().skip(1).map(pair).collect()
}

/// Documents per second in each run.
fn rates(runs: usize, n: usize, mut run: impl FnMut() -> f64) -> Value {
    json!((0..runs).map(|_| n as f64 / run()).collect::<Vec<f64>>())
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Anonymous memory of this process, in bytes.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").expect("the status exists");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line of RssAnon");
    let kib = line.split_whitespace().next().and_then(|number| number.parse::<i64>().ok());
    kib.expect("a number of KiB") * 1024
}

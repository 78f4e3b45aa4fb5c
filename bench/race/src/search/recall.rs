//! Recall after a history: every document is searched for, and compared with brute force, with one seed of the hash functions or several.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use benzer_core::hash::mix;
use benzer_core::lsh::{Banding, Target};
use benzer_index::store::{self, Store};
use benzer_index::{Index, Keeps, Query, Settings};
use clap::Args;
use serde_json::json;

use super::Corpus;
use super::sets::{Sets, document};

/// Options of `benzer-bench search recall`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    corpus: Corpus,
    /// Where the collection is made: `memory:`, a folder that is not there yet, or an address of Redis
    #[arg(long, default_value = "memory:")]
    store: String,
    /// The threshold of the collection
    #[arg(long, default_value_t = 0.7)]
    threshold: f64,
    /// Registers
    #[arg(long, default_value_t = 128)]
    registers: u32,
    /// Collections in memory, each with hash functions of its own, of which the first has the default ones
    #[arg(long, default_value_t = 1)]
    seeds: u64,
}

/// Width of a bin of similarity.
const BIN: f64 = 0.05;
/// Documents of a batch.
const BATCH: usize = 500;

/// Similar documents of one, by brute force: row and similarity.
type Truth = Vec<(u32, f64)>;

/// What was found of pairs of some similarity.
#[derive(Debug, Default)]
struct PairBin {
    pairs: usize,
    expected: f64,
    /// For each seed.
    found: Vec<usize>,
    /// Tells the pairs that the first seed finds from others.
    digest: u64,
}

/// Prints a line of JSON for each bin.
pub fn run(options: &Options) -> Result<()> {
    let all = Sets::read(&options.corpus)?;
    let truths: Vec<Truth> = (0..all.sets.len()).map(|row| truth(&all, row, options.threshold)).collect();
    let mut bins: BTreeMap<usize, PairBin> = BTreeMap::new();
    let mut banding = None;
    for seed in 0..options.seeds {
        let index = Index::new(made(options, seed)?)?;
        let used = *banding.insert(index.settings().fields[0].banding);
        insert(&index, &all)?;
        search(&index, &truths, &used, options.threshold, &mut bins)?;
    }
    let banding = banding.context("at least one seed")?;
    for (at, bin) in bins {
        let low = options.threshold + BIN * at as f64;
        let high = (low + BIN).min(1.0);
        let share = |found: &usize| *found as f64 / bin.pairs as f64;
        let stated = [low, high].map(|jaccard| banding.probability(jaccard));
        let row = json!({
            "low": low, "high": high, "pairs": bin.pairs, "stated": stated,
            "expected": bin.expected / bin.pairs as f64, "found": bin.found.iter().map(share).collect::<Vec<_>>(), "digest": bin.digest,
        });
        println!("{row}");
    }
    Ok(())
}

/// The similar documents of a document, if it is there in the end.
fn truth(all: &Sets, row: usize, threshold: f64) -> Truth {
    if is_gone(row) {
        return Vec::new();
    }
    let set = &all.sets[row];
    let others =
        all.common(set).into_iter().filter(|(other, _)| *other as usize != row && !is_gone(*other as usize));
    let jaccard = |(other, common): (u32, u32)| {
        (other, f64::from(common) / (set.len() as f64 + all.size(other) - f64::from(common)))
    };
    others.map(jaccard).filter(|(_, jaccard)| *jaccard >= threshold).collect()
}

fn search(
    index: &Index,
    truths: &[Truth],
    banding: &Banding,
    threshold: f64,
    bins: &mut BTreeMap<usize, PairBin>,
) -> Result<()> {
    let query = Query { threshold: Some(threshold), limit: usize::MAX >> 1, ..Query::default() };
    let is_first = bins.is_empty();
    for bin in bins.values_mut() {
        bin.found.push(0);
    }
    for (row, truth) in truths.iter().enumerate().filter(|(_, truth)| !truth.is_empty()) {
        let answer = index.search_id(&row.to_string(), &query)?;
        let found: HashSet<u32> = answer.matches.iter().filter_map(|found| found.id.parse().ok()).collect();
        for (other, jaccard) in truth {
            let bin = bins.entry(((jaccard - threshold) / BIN + 1e-9) as usize).or_default();
            if is_first {
                bin.pairs += 1;
                bin.expected += banding.probability(*jaccard);
                bin.found.resize(1, 0);
            }
            if found.contains(other) {
                *bin.found.last_mut().expect("a place for this seed") += 1;
                bin.digest ^= if is_first { mix(mix(row as u64) ^ u64::from(*other)) } else { 0 };
            }
        }
    }
    Ok(())
}

fn made(options: &Options, seed: u64) -> Result<Arc<dyn Store>> {
    let schema = serde_json::from_str(r#"{"fields": {"items": {"kind": "values"}}}"#)?;
    let target = Target { threshold: options.threshold, recall: 0.9, ..Target::default() };
    let mut settings = Settings::with_registers(schema, &target, Keeps::Documents, Some(options.registers))?;
    settings.fields[0].spec.seed += seed;
    if options.store == "memory:" {
        return Ok(store::memory(settings)?);
    }
    store::open(&options.store)?.create("recall", settings).context("a new collection")
}

/// Inserts in random order, some as something else first, and removes some again.
fn insert(index: &Index, all: &Sets) -> Result<()> {
    let mut rows: Vec<usize> = (0..all.sets.len()).collect();
    rows.sort_by_key(|row| mix(*row as u64));
    for rows in rows.chunks(BATCH) {
        let wrong = rows.iter().filter(|row| mix(**row as u64 ^ 7).is_multiple_of(3));
        let wrong = wrong.map(|row| document(row.to_string(), &all.sets[(row * 31 + 1) % all.sets.len()]));
        index.insert(&wrong.collect::<Vec<_>>())?;
        let right = rows.iter().map(|row| document(row.to_string(), &all.sets[*row]));
        index.insert(&right.collect::<Vec<_>>())?;
        let gone = rows.iter().filter(|row| is_gone(**row)).map(usize::to_string);
        index.remove(&gone.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn is_gone(row: usize) -> bool {
    mix(row as u64 ^ 99).is_multiple_of(10)
}

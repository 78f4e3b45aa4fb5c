//! Recall after a history: every document is searched for, and compared with brute force.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use benzer_core::hash::mix;
use benzer_core::lsh::Target;
use benzer_index::store::{self, Store};
use benzer_index::{Index, Keeps, Query, Settings};
use clap::Args;

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
    /// What the rows are called
    #[arg(long, default_value = "")]
    name: String,
}

/// Width of a bin of similarity.
const BIN: f64 = 0.05;
/// Documents of a batch.
const BATCH: usize = 500;

/// What was found of pairs of some similarity.
#[derive(Debug, Default)]
struct Bin {
    pairs: f64,
    found: f64,
    expected: f64,
    /// Per document that was searched for, the square of what was found less what was expected: pairs of one document share its sketch.
    squares: f64,
}

/// Prints a row for each bin.
pub fn run(options: &Options) -> Result<()> {
    let all = Sets::read(&options.corpus)?;
    let index = Index::new(made(options)?)?;
    let is_live = live(&index, &all)?;
    let banding = index.settings().fields[0].banding;
    let query = Query { threshold: Some(options.threshold), limit: usize::MAX >> 1, ..Query::default() };
    let mut bins: BTreeMap<i64, Bin> = BTreeMap::new();
    for (row, set) in all.sets.iter().enumerate().filter(|(row, _)| is_live[*row]) {
        let truth: Vec<(u32, f64)> = all
            .common(set)
            .into_iter()
            .filter(|(other, _)| *other as usize != row && is_live[*other as usize])
            .map(|(other, common)| {
                (other, f64::from(common) / (set.len() as f64 + all.size(other) - f64::from(common)))
            })
            .filter(|(_, jaccard)| *jaccard >= options.threshold)
            .collect();
        if truth.is_empty() {
            continue;
        }
        let answer = index.search_id(&row.to_string(), &query)?;
        let found: Vec<&str> = answer.matches.iter().map(|found| found.id.as_str()).collect();
        let mut surplus: BTreeMap<i64, f64> = BTreeMap::new();
        for (other, jaccard) in truth {
            let at = ((jaccard - options.threshold) / BIN + 1e-9) as i64;
            let (bin, id) = (bins.entry(at).or_default(), other.to_string());
            let (is_found, chance) =
                (f64::from(u8::from(found.contains(&&*id))), banding.probability(jaccard));
            bin.pairs += 1.0;
            bin.found += is_found;
            bin.expected += chance;
            *surplus.entry(at).or_default() += is_found - chance;
        }
        for (at, surplus) in surplus {
            bins.entry(at).or_default().squares += surplus * surplus;
        }
    }
    for (at, bin) in bins {
        let low = options.threshold + BIN * at as f64;
        // Both documents of a pair are searched for, which doubles every deviation.
        let error = 1.96 * (2.0 * bin.squares).sqrt() / bin.pairs;
        let found = bin.found / bin.pairs;
        let stated = [low, (low + BIN).min(1.0)].map(|jaccard| banding.probability(jaccard));
        let is_within = stated[0] - error <= found && found <= stated[1] + error;
        println!(
            "| {} | {low:.2} to {:.2} | {} | {:.3} to {:.3} | {found:.4} | {:.4} | {error:.4} | {} |",
            options.name,
            (low + BIN).min(1.0),
            bin.pairs,
            stated[0],
            stated[1],
            bin.expected / bin.pairs,
            if is_within { "yes" } else { "no" }
        );
    }
    Ok(())
}

fn made(options: &Options) -> Result<Arc<dyn Store>> {
    let schema = serde_json::from_str(r#"{"fields": {"items": {"kind": "values"}}}"#)?;
    let target = Target { threshold: options.threshold, recall: 0.9, ..Target::default() };
    let settings = Settings::with_registers(schema, &target, Keeps::Documents, Some(options.registers))?;
    if options.store == "memory:" {
        return Ok(store::memory(settings)?);
    }
    store::open(&options.store)?.create("recall", settings).context("a new collection")
}

/// Inserts in random order, some as something else first, and removes some again; which are there in the end.
fn live(index: &Index, all: &Sets) -> Result<Vec<bool>> {
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
    Ok((0..all.sets.len()).map(|row| !is_gone(row)).collect())
}

fn is_gone(row: usize) -> bool {
    mix(row as u64 ^ 99).is_multiple_of(10)
}

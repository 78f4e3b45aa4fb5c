//! Brute force on a subset of the corpus, on the shingles themselves: no hash, no filter, no index.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::{Pair, read, texts};
use crate::overlap::Overlap;
use crate::random::Random;
use crate::words::{Words, windows};

/// Options of `benzer-bench check`.
#[derive(Debug, Args)]
pub struct Options {
    /// The corpus, JSONL with `text`
    #[arg(long)]
    pub corpus: PathBuf,
    /// The truth file
    #[arg(long)]
    pub truth: PathBuf,
    /// What a word is; as the truth was made
    #[arg(long, value_enum, default_value_t = Words::Ascii)]
    pub words: Words,
    /// Rows to compare with each other: half at random, half from pairs of the truth
    #[arg(long, default_value_t = 4_000)]
    pub rows: usize,
    /// Seed of the choice of rows
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
}

/// Fails if the truth and brute force disagree on any pair of the chosen rows.
pub fn run(options: &Options) -> Result<()> {
    let truth = read(&options.truth)?;
    let all: Vec<String> = texts(&options.corpus)?.collect::<Result<_>>()?;
    let rows = choose(&truth, all.len(), options);
    let expected = brute_force(&rows, |row| options.words.of(&all[row as usize]));
    let chosen = |row: u32| rows.binary_search(&row).is_ok();
    let got: Vec<Pair> = truth.into_iter().filter(|pair| chosen(pair.a) && chosen(pair.b)).collect();
    if got != expected {
        let wrong = got.iter().zip(&expected).find(|(got, expected)| got != expected);
        bail!(
            "brute force expected {} pairs, the truth has {}; first difference: {wrong:?}",
            expected.len(),
            got.len()
        );
    }
    eprintln!(
        "{} rows compared with each other: {} pairs with J >= 1/2, all as in the truth",
        rows.len(),
        got.len()
    );
    Ok(())
}

fn choose(truth: &[Pair], n_rows: usize, options: &Options) -> Vec<u32> {
    let mut random = Random::new(options.seed, 0);
    let mut rows: Vec<u32> = (0..options.rows / 2).map(|_| random.below(n_rows) as u32).collect();
    for _ in 0..if truth.is_empty() { 0 } else { options.rows / 4 } {
        // By row rather than by pair: nearly all pairs are those of the largest cluster.
        let row = random.below(n_rows) as u32;
        let pair = truth[truth.partition_point(|pair| pair.a < row).min(truth.len() - 1)];
        rows.extend([pair.a, pair.b]);
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn brute_force(rows: &[u32], words: impl Fn(u32) -> Vec<String>) -> Vec<Pair> {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let sets: Vec<Vec<u32>> = rows
        .iter()
        .map(|&row| {
            let shingles = windows(&words(row)).map(|shingle| shingle.join(" ")).collect::<Vec<_>>();
            let mut set: Vec<u32> = shingles
                .into_iter()
                .map(|shingle| {
                    let next = numbers.len() as u32;
                    *numbers.entry(shingle).or_insert(next)
                })
                .collect();
            set.sort_unstable();
            set.dedup();
            set
        })
        .collect();
    let mut pairs = Vec::new();
    for (i, x) in sets.iter().enumerate() {
        for (j, y) in sets.iter().enumerate().skip(i + 1) {
            let overlap = Overlap::of(x, y);
            if overlap.union > 0 && 2 * overlap.intersection >= overlap.union {
                pairs.push(Pair { a: rows[i], b: rows[j], overlap });
            }
        }
    }
    pairs
}

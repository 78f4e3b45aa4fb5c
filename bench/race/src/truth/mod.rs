//! The truth: every pair of documents with exact J >= 1/2 on word 5-grams.
//!
//! Pairs are written out one by one, clusters included (a cluster of 5,000 is 12.5 million of them, 200 MB): membership in a
//! cluster would not say how similar two members are, and recall is asked by bin of J. The file is `BZTRUTH1`, the
//! number of pairs as 64 bits, then for each pair the rows a < b, the intersection and the union, 32 bits each, all
//! little-endian, ordered by (a, b). `bench/README.md` has the NumPy line that reads it.
//!
//! Shingles are compared as 64-bit hashes; for 130 million different ones the chance of any collision is 5e-4, and [`check`]
//! compares strings.

pub mod check;
mod file;
mod join;
mod sets;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::words::Words;
pub use file::{Pair, read, write};
pub use sets::texts;

/// Options of `benzer-bench truth`.
#[derive(Debug, Args)]
pub struct Options {
    /// The corpus, JSONL with `text`
    #[arg(long)]
    pub corpus: PathBuf,
    /// The file to write
    #[arg(long)]
    pub out: PathBuf,
    /// What a word is
    #[arg(long, value_enum, default_value_t = Words::Ascii)]
    pub words: Words,
}

/// Joins the corpus with itself and writes the pairs.
pub fn run(options: &Options) -> Result<()> {
    let sets = sets::read(&options.corpus, options.words)?;
    let mut pairs = join::similar_pairs(&sets);
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    write(&options.out, &pairs)?;
    eprintln!(
        "{} documents, {} without a word, {} shingles, {} pairs with J >= 1/2",
        sets.len(),
        sets.n_empty(),
        sets.n_elements(),
        pairs.len()
    );
    Ok(())
}

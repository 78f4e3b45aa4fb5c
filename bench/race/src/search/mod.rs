//! Searches beside brute force: which share of the true answers is found, and how fast.
//!
//! - `race`: the best without a threshold, and containment; writes its sets, queries and truth for the peers, and prints Benzer's points.
//! - `recall`: similar documents after a history of inserts, updates and removals, by bin of similarity, in every store.

mod race;
mod recall;
mod sets;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Options of `benzer-bench search`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The best and containment: time and recall, as lines of JSON
    Race(race::Options),
    /// Recall by bin of similarity, as a Markdown table
    Recall(recall::Options),
}

/// Where the sets come from.
#[derive(Debug, Args)]
pub struct Corpus {
    /// JSON lines with `text`, or with `items`, a list of whole numbers
    #[arg(long)]
    pub corpus: PathBuf,
    /// Words of a shingle
    #[arg(long, default_value_t = 5)]
    pub words: usize,
    /// At most so many documents
    #[arg(long, default_value_t = usize::MAX)]
    pub documents: usize,
}

/// Runs one of them.
pub fn run(options: &Options) -> Result<()> {
    match &options.what {
        What::Race(options) => race::run(options),
        What::Recall(options) => recall::run(options),
    }
}

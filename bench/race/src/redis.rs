//! The index behind an address: the same signatures and searches for every store, and as a file for a peer.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use benzer_core::field::Schema;
use benzer_core::hash::mix;
use benzer_index::{BatchMatches, Index, Keeps, Settings, store};
use clap::Args;

use crate::store::{WORDS, push, records};

/// Options of `benzer-bench redis`.
#[derive(Debug, Args)]
pub struct Options {
    /// Where the collection is made: redis://, redis+cluster://, a folder or `memory:`; or with --dump a file
    pub target: String,
    /// How many documents to index
    #[arg(long, default_value_t = 300_000)]
    pub documents: u64,
    /// Documents of a batch
    #[arg(long, default_value_t = 1000)]
    pub batch: u64,
    /// How many to look for, in batches and one at a time
    #[arg(long, default_value_t = 20_000)]
    pub queries: u64,
    /// Write the registers of all documents as bytes, and then the numbers of those to look for as 64-bit numbers, for a peer
    #[arg(long)]
    pub dump: bool,
}

/// Prints one line of JSON.
pub fn run(options: &Options) -> Result<()> {
    let queries: Vec<u64> = (0..options.queries).map(|i| mix(i ^ 0x51) % options.documents).collect();
    if options.dump {
        return dump(options, &queries);
    }
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#)?;
    let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches)?;
    let collections = store::open(&options.target)?;
    let index = Index::new(collections.create("bench", settings)?)?;
    let mut inserting = 0.0;
    for first in (0..options.documents).step_by(options.batch as usize) {
        let batch = records(first..options.documents.min(first + options.batch), 0);
        let start = Instant::now();
        index.store().put(batch)?;
        inserting += start.elapsed().as_secs_f64();
    }
    let (together, n_together) = search(&index, &queries, options.batch as usize)?;
    let (single, n_single) = search(&index, &queries[..queries.len().min(5000)], 1)?;
    let singles = queries.len().min(5000);
    println!(
        "{}",
        serde_json::json!({
            "documents": options.documents,
            "inserts_per_second": options.documents as f64 / inserting,
            "searches_per_second_in_batches": queries.len() as f64 / together,
            "searches_per_second_one_at_a_time": singles as f64 / single,
            "matches_per_search": n_together as f64 / queries.len() as f64,
            "matches_per_search_one_at_a_time": n_single as f64 / singles as f64,
        })
    );
    Ok(())
}

/// Seconds and matches.
fn search(index: &Index, queries: &[u64], together: usize) -> Result<(f64, usize)> {
    let mut words = Vec::new();
    queries.iter().for_each(|i| push(*i, &mut words));
    let stride = 1 + WORDS as usize;
    let (mut hits, mut n) = (BatchMatches::default(), 0);
    let start = Instant::now();
    for batch in words.chunks(stride * together) {
        index.search_words(batch, 0.8, &mut hits)?;
        n += (0..hits.len()).map(|i| hits.of(i).len()).sum::<usize>();
    }
    Ok((start.elapsed().as_secs_f64(), n))
}

fn dump(options: &Options, queries: &[u64]) -> Result<()> {
    let path = PathBuf::from(&options.target);
    let file = fs::File::create(&path).with_context(|| path.display().to_string())?;
    let mut file = BufWriter::new(file);
    let mut words = Vec::new();
    for i in 0..options.documents {
        words.clear();
        push(i, &mut words);
        for word in &words[1..] {
            file.write_all(&word.to_le_bytes())?;
        }
    }
    for query in queries {
        file.write_all(&query.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

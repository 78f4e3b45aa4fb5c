//! The index in memory: how fast signatures go in, and similar documents come out.
//!
//! Signatures are random registers; one in ten is a copy of an earlier one with some registers changed, and one in a hundred belongs to one of a few large clusters, whose buckets are skewed.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use benzer_core::field::Schema;
use benzer_core::hash::mix;
use benzer_index::{Hits, Index, Keeps, Records, Settings, store};
use clap::Args;

/// Options of `benzer-bench index`.
#[derive(Debug, Args)]
pub struct Options {
    /// How many documents to index
    #[arg(long, default_value_t = 1_000_000)]
    pub documents: usize,
    /// How many to look for
    #[arg(long, default_value_t = 200_000)]
    pub queries: usize,
    /// Queries of one call, in bulk
    #[arg(long, default_value_t = 1000)]
    pub batch: usize,
}

const REGISTERS: usize = 128;
const CLUSTERS: u64 = 20;

/// Prints a Markdown table.
pub fn run(options: &Options) -> Result<()> {
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#)?;
    let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches)?;
    let records = records(options.documents);
    let stride = records.words.len() / options.documents;
    println!("| {} documents | per second |", options.documents);
    println!("|---|---:|");

    let index = Index::new(store::memory(settings.clone())?)?;
    let batch = records.clone();
    let took = seconds(|| index.store().put(batch))?;
    row("bulk insert", options.documents, took);
    let stats = index.stats()?;

    let queries = &records.words[(options.documents - options.queries.min(options.documents)) * stride..];
    let mut hits = Hits::default();
    let mut found = 0;
    let took = seconds(|| {
        for query in queries.chunks_exact(stride) {
            index.search_words(query, 0.8, &mut hits)?;
            found += black_box(&hits).of(0).len();
        }
        Ok(())
    })?;
    row("search, one at a time", queries.len() / stride, took);
    let mut found_in_bulk = 0;
    let took = seconds(|| {
        for queries in queries.chunks(options.batch * stride) {
            index.search_words(queries, 0.8, &mut hits)?;
            found_in_bulk += (0..black_box(&hits).len()).map(|i| hits.of(i).len()).sum::<usize>();
        }
        Ok(())
    })?;
    row("search, in bulk", queries.len() / stride, took);
    assert_eq!(found, found_in_bulk);

    let index = Index::new(store::memory(settings)?)?;
    let one = options.documents / 4;
    let single: Vec<Records> = (0..one).map(|i| single(&records, i, stride)).collect();
    let took = seconds(|| single.into_iter().try_for_each(|record| index.store().put(record)))?;
    row("insert, one at a time", one, took);
    println!(
        "\n{} matches of {} queries; bytes per document: {:.0} postings, {:.0} sketches, {:.0} ids and finding them",
        found,
        options.queries,
        per(stats.posting_bytes, options),
        per(stats.sketch_bytes, options),
        per(stats.id_bytes, options)
    );
    Ok(())
}

fn per(bytes: u64, options: &Options) -> f64 {
    bytes as f64 / options.documents as f64
}

fn row(what: &str, n: usize, took: f64) {
    println!("| {what} | {:.0} |", n as f64 / took);
}

fn seconds(work: impl FnOnce() -> benzer_index::Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn records(n: usize) -> Records {
    let mut records = Records::default();
    let stride = 1 + REGISTERS / 8;
    for i in 0..n as u64 {
        records.ids.push(format!("{i:016x}").as_bytes());
        let start = records.words.len();
        records.words.push(120f64.to_bits());
        match mix(i ^ 0xabc) % 100 {
            0 => records.words.extend((0..16).map(|j| mix(mix(i) % CLUSTERS * 77 + j))),
            1..=10 if i > 0 => {
                let other = (mix(i) % i) as usize * stride;
                records.words.extend_from_within(other + 1..other + stride);
            }
            _ => records.words.extend((0..16).map(|j| mix(i * 16 + j))),
        }
        // About 12 registers are changed.
        if mix(i ^ 0xabc) % 100 <= 10 {
            for j in 0..12 {
                let at = (mix(i * 100 + j) % REGISTERS as u64) as usize;
                records.words[start + 1 + at / 8] ^= (mix(i * 200 + j) & 0xff) << (8 * (at % 8));
            }
        }
    }
    records
}

fn single(records: &Records, i: usize, stride: usize) -> Records {
    let words = records.words[i * stride..(i + 1) * stride].to_vec();
    Records { ids: [records.ids.get(i)].into_iter().collect(), words, ..Records::default() }
}

//! The index on disk: durable batches in, similar documents out, bytes per document, opening again.
//!
//! Signatures are random registers; one in ten is that of an earlier document with some registers changed.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use benzer_core::field::Schema;
use benzer_core::hash::mix;
use benzer_index::{BatchMatches, Index, Keeps, Records, Settings, store};
use clap::Args;

/// Options of `benzer-bench store`.
#[derive(Debug, Args)]
pub struct Options {
    /// A folder that is not there yet
    pub folder: PathBuf,
    /// How many documents to index
    #[arg(long, default_value_t = 1_000_000)]
    pub documents: u64,
    /// Documents of a batch
    #[arg(long, default_value_t = 1000)]
    pub batch: u64,
    /// How many to look for
    #[arg(long, default_value_t = 200_000)]
    pub queries: u64,
    /// Bytes of content that are kept of each document
    #[arg(long, default_value_t = 0)]
    pub content: usize,
}

/// Words of registers.
pub const WORDS: u64 = 16;

/// Prints a Markdown table.
pub fn run(options: &Options) -> Result<()> {
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#)?;
    let keeps = if options.content > 0 { Keeps::Documents } else { Keeps::Sketches };
    let settings = Settings::with_target(schema, 0.8, 0.95, keeps)?;
    println!("| {} documents, {} bytes kept of each | |", options.documents, options.content);
    println!("|---|---:|");
    let index = Index::new(store::disk(&options.folder, &settings)?)?;
    insert(&index, options)?;
    let start = Instant::now();
    index.store().settle()?;
    println!("| finishing the merges that are due, seconds | {:.2} |", start.elapsed().as_secs_f64());
    search(&index, options, "not compacted")?;
    let start = Instant::now();
    index.compact()?;
    println!("| compacting, seconds | {:.2} |", start.elapsed().as_secs_f64());
    drop(index);
    println!(
        "| bytes on disk per document | {:.0} |",
        bytes(&options.folder)? as f64 / options.documents as f64
    );
    let start = Instant::now();
    let index = Index::new(store::disk(&options.folder, &settings)?)?;
    println!("| opening again, milliseconds | {:.1} |", 1e3 * start.elapsed().as_secs_f64());
    search(&index, options, "compacted")
}

fn insert(index: &Index, options: &Options) -> Result<()> {
    let tenth = (options.documents / 10).max(options.batch);
    let (mut took, mut slowest, mut rates, mut costs) = (0.0, 0.0f64, Vec::new(), Vec::new());
    let (mut last, mut making) = ((0.0, processor()), 0.0);
    for first in (0..options.documents).step_by(options.batch as usize) {
        let before = Instant::now();
        let batch = records(first..options.documents.min(first + options.batch), options.content);
        making += before.elapsed().as_secs_f64();
        let start = Instant::now();
        index.store().put(batch)?;
        let seconds = start.elapsed().as_secs_f64();
        took += seconds;
        slowest = slowest.max(seconds);
        if (first + options.batch).is_multiple_of(tenth) {
            rates.push(format!("{:.0}", tenth as f64 / (took - last.0)));
            let now = (took, processor());
            costs.push(format!("{:.1}", 1e6 * (now.1 - last.1 - making) / tenth as f64));
            (last, making) = (now, 0.0);
        }
    }
    println!(
        "| documents a second, in batches of {} | {:.0} |",
        options.batch,
        options.documents as f64 / took
    );
    println!("| the same for each tenth | {} |", rates.join(" "));
    println!(
        "| processor time per document for each tenth, microseconds, with merging | {} |",
        costs.join(" ")
    );
    println!("| slowest batch, milliseconds | {:.1} |", 1e3 * slowest);
    println!("| bytes written per document | {:.0} |", written() / options.documents as f64);
    println!(
        "| bytes on disk per document, as it is | {:.0} |",
        bytes(&options.folder)? as f64 / options.documents as f64
    );
    Ok(())
}

fn search(index: &Index, options: &Options, when: &str) -> Result<()> {
    let queries: Vec<u64> = (0..options.queries).map(|i| mix(i ^ 0x51) % options.documents).collect();
    let mut words = Vec::new();
    queries.iter().for_each(|i| push(*i, &mut words));
    let stride = 1 + WORDS as usize;
    let mut hits = BatchMatches::default();
    // Once to warm up.
    for query in words.chunks_exact(stride) {
        index.search_words(query, 0.8, &mut hits)?;
    }
    let (mut times, mut found) = (Vec::with_capacity(queries.len()), 0);
    let (start, processor_start) = (Instant::now(), processor());
    for query in words.chunks_exact(stride) {
        let start = Instant::now();
        index.search_words(query, 0.8, &mut hits)?;
        times.push(start.elapsed().as_nanos() as f64 / 1e3);
        found += black_box(&hits).of(0).len();
    }
    let rate = queries.len() as f64 / start.elapsed().as_secs_f64();
    let of_processor = queries.len() as f64 / (processor() - processor_start);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let stats = index.stats()?;
    println!(
        "| searches a second, {when} ({} parts), of processor time; p50, p99 in microseconds; matches per query | {rate:.0}, {of_processor:.0}; {:.1}, {:.1}; {:.2} |",
        stats.parts,
        at(0.5),
        at(0.99),
        found as f64 / queries.len() as f64
    );
    Ok(())
}

/// Documents with these numbers, with some bytes of content each.
pub fn records(range: std::ops::Range<u64>, content: usize) -> Records {
    let mut records = Records::default();
    let document = format!("{{\"body\": \"{}\"}}", "x".repeat(content));
    for i in range {
        records.ids.push(format!("{:016x}", mix(i)).as_bytes());
        push(i, &mut records.words);
        if content > 0 {
            records.documents.push(document.as_bytes());
        }
    }
    records
}

/// The words of a document.
pub fn push(i: u64, words: &mut Vec<u64>) {
    words.push(120f64.to_bits());
    let is_copy = i > 0 && mix(i ^ 0xabc).is_multiple_of(10);
    let base = if is_copy { mix(i) % i } else { i };
    let start = words.len();
    words.extend((0..WORDS).map(|j| mix(base * WORDS + j)));
    // About 12 of 128 registers are changed.
    for j in 0..if is_copy { 12 } else { 0 } {
        let at = (mix(i * 100 + j) % (8 * WORDS)) as usize;
        words[start + at / 8] ^= (mix(i * 200 + j) & 0xff) << (8 * (at % 8));
    }
}

fn bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        sum += entry?.metadata()?.len();
    }
    Ok(sum)
}

/// Seconds of processor time of this process, all threads, also in the kernel.
fn processor() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Bytes this process has handed to the disk.
fn written() -> f64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|n| n.parse().ok()).unwrap_or_default()
}

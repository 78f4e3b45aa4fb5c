//! Benzer in the race of indexes: the same command line and the same JSON line as every peer (`bench/README.md`, "The race of indexes").
//!
//! Of each 32-bit register 8 bits are kept, as in every collection. Ids are texts of 16 bytes. Every search gives ids and estimates with intervals of the documents that reach the threshold.

pub mod signatures;

use std::collections::HashSet;
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use benzer_core::field::Schema;
use benzer_core::lsh::{Banding, Shape};
use benzer_index::{BatchMatches, Index, Keeps, Records, Settings, store};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use signatures::REGISTERS;

/// Options of `benzer-bench lsh`.
#[derive(Debug, Args)]
pub struct Options {
    /// Stem of the input files
    #[arg(long)]
    pub input: PathBuf,
    /// How many of the last documents to look for
    #[arg(long, default_value_t = 200_000)]
    pub queries: usize,
    /// Timed runs of each part
    #[arg(long, default_value_t = 3)]
    pub runs: usize,
    /// The bands
    #[arg(long, default_value_t = 16)]
    pub bands: usize,
    /// Registers of a band
    #[arg(long, default_value_t = 8)]
    pub rows: usize,
    /// The least similarity
    #[arg(long, default_value_t = 0.8)]
    pub threshold: f64,
    /// Which parts to run, all of them by default
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bulk-insert,query,bulk-query,insert")]
    pub parts: Vec<Part>,
}

/// A part of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// All documents in one call
    BulkInsert,
    /// Queries, one in a call
    Query,
    /// Queries, all in one call, and the recall
    BulkQuery,
    /// All documents, one in a call
    Insert,
    /// Memory, and nothing else
    Memory,
}

/// Prints a JSON line.
pub fn run(options: &Options) -> Result<()> {
    let settings = settings(options)?;
    let mut out = Map::new();
    out.insert("peer".to_owned(), json!("benzer"));
    out.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    out.insert("api".to_owned(), json!(API));
    if options.parts.contains(&Part::Memory) {
        out.insert("bytes_per_document".to_owned(), json!(memory(options, settings)?));
        println!("{}", Value::Object(out));
        return Ok(());
    }
    let registers = signatures::registers(&options.input)?;
    let records = || records(&settings, &registers);
    let n = registers.len() / REGISTERS;
    let has = |part| options.parts.contains(&part);
    if has(Part::BulkInsert) {
        let bulk = || -> Result<f64> {
            let (index, records) = (empty(&settings)?, records()?);
            seconds(|| Ok(index.store().put(records)?))
        };
        out.insert("bulk_insert".to_owned(), rates(options.runs, n, bulk)?);
    }
    if has(Part::Query) || has(Part::BulkQuery) {
        let index = empty(&settings)?;
        index.store().put(records()?)?;
        queries(&index, &records()?, options, &mut out)?;
    }
    if has(Part::Insert) {
        let one_by_one = || -> Result<f64> {
            let (index, single) = (empty(&settings)?, singles(&settings, &records()?)?);
            seconds(|| Ok(single.into_iter().try_for_each(|record| index.store().put(record))?))
        };
        out.insert("insert".to_owned(), rates(options.runs, n, one_by_one)?);
    }
    println!("{}", Value::Object(out));
    Ok(())
}

const API: &str = "store().put(Records), Index::search_words: ids of 16 bytes, and estimates with intervals";

fn settings(options: &Options) -> Result<Settings> {
    let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#)?;
    let mut settings = Settings::with_target(schema, options.threshold, 0.9, Keeps::Sketches)?;
    let shape = Shape { bands: options.bands, rows: options.rows };
    settings.fields[0].banding = Banding::new(&settings.fields[0].spec, shape)?;
    Ok(settings)
}

fn empty(settings: &Settings) -> Result<Index> {
    Ok(Index::new(store::memory(settings.clone())?)?)
}

fn records(settings: &Settings, registers: &[u32]) -> Result<Records> {
    let mut records = Records::with_capacity(&settings.layout()?, registers.len() / REGISTERS);
    for (signature, i) in registers.chunks_exact(REGISTERS).zip(0..) {
        push(&mut records, signature, i);
    }
    Ok(records)
}

fn push(records: &mut Records, signature: &[u32], i: usize) {
    records.ids.push(format!("{i:016x}").as_bytes());
    records.words.push(120f64.to_bits());
    let word = |registers: &[u32; 8]| u64::from_le_bytes(registers.map(|register| register as u8));
    records.words.extend(signature.as_chunks().0.iter().map(word));
}

fn singles(settings: &Settings, records: &Records) -> Result<Vec<Records>> {
    let stride = settings.layout()?.words();
    let single = |(words, id): (&[u64], &[u8])| Records {
        ids: [id].into_iter().collect(),
        words: words.to_vec(),
        ..Records::default()
    };
    Ok(records.words.chunks_exact(stride).zip(records.ids.iter()).map(single).collect())
}

fn queries(index: &Index, records: &Records, options: &Options, out: &mut Map<String, Value>) -> Result<()> {
    let stride = index.recorder().layout().words();
    let first = records.len().saturating_sub(options.queries);
    let (words, n) = (&records.words[first * stride..], records.len() - first);
    let mut hits = BatchMatches::default();
    let one_by_one = || -> Result<f64> {
        seconds(|| {
            words.chunks_exact(stride).try_for_each(|query| {
                index.search_words(query, options.threshold, &mut hits)?;
                black_box(hits.of(0).len());
                Ok(())
            })
        })
    };
    if options.parts.contains(&Part::Query) {
        out.insert("query".to_owned(), rates(options.runs, n, one_by_one)?);
    }
    if !options.parts.contains(&Part::BulkQuery) {
        return Ok(());
    }
    let mut hits = BatchMatches::default();
    let in_bulk = || seconds(|| Ok(index.search_words(words, options.threshold, &mut hits)?));
    out.insert("bulk_query".to_owned(), rates(options.runs, n, in_bulk)?);
    let found: HashSet<(usize, usize)> = (0..n)
        .flat_map(|i| hits.of(i).map(move |(id, _)| Ok((first + i, number(id)?))))
        .collect::<Result<_>>()?;
    let planted = signatures::pairs(&options.input)?;
    let planted = planted.iter().filter(|[copy, ..]| *copy >= first);
    let planted: Vec<_> =
        planted.filter(|[.., equal]| *equal as f64 >= options.threshold * REGISTERS as f64).collect();
    let n_found = planted.iter().filter(|[copy, original, _]| found.contains(&(*copy, *original))).count();
    out.insert("recall".to_owned(), json!(n_found as f64 / planted.len() as f64));
    out.insert("found_per_query".to_owned(), json!(found.len() as f64 / n as f64));
    Ok(())
}

fn number(id: &[u8]) -> Result<usize> {
    Ok(usize::from_str_radix(std::str::from_utf8(id)?, 16)?)
}

/// Resident bytes for each document of an index that was filled in bulk, ids and all; the input is not part of it.
fn memory(options: &Options, settings: Settings) -> Result<f64> {
    let registers = signatures::registers(&options.input)?;
    let before = resident()?;
    let index = empty(&settings)?;
    let records = records(&settings, &registers)?;
    let n = records.len();
    index.store().put(records)?;
    let after = resident()?;
    black_box(&index);
    Ok((after - before) as f64 / n as f64)
}

/// Anonymous memory of this process, in bytes.
fn resident() -> Result<i64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib =
        line.and_then(|line| line.split_whitespace().next()).context("no RssAnon in /proc/self/status")?;
    Ok(kib.parse::<i64>()? * 1024)
}

/// Documents per second in each run.
fn rates(runs: usize, n: usize, mut run: impl FnMut() -> Result<f64>) -> Result<Value> {
    let rates = (0..runs).map(|_| Ok(n as f64 / run()?)).collect::<Result<Vec<f64>>>()?;
    Ok(json!(rates))
}

fn seconds(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

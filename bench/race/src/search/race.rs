//! The best without a threshold, and containment: time of a search against recall.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use benzer_core::hash::mix;
use benzer_core::lsh::Target;
use benzer_core::sketch::{Packing, count};
use benzer_index::{Answer, Containment, Index, Keeps, Measure, Query, Settings, store};
use clap::Args;
use serde_json::{Value, json};

use super::Corpus;
use super::sets::{self, Sets};

/// Options of `benzer-bench search race`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    corpus: Corpus,
    /// Where sets, queries and truth are written, for the peers
    #[arg(long, required_unless_present = "only_best")]
    stem: Option<PathBuf>,
    /// Queries of each kind
    #[arg(long, default_value_t = 400)]
    queries: usize,
    /// Only the best, not containment, and nothing is written for the peers
    #[arg(long)]
    only_best: bool,
}

/// The best that are wanted.
const BEST: usize = 10;
/// Matches of an answer, with their intervals, as by default; all that there are count for the recall, in an answer that is not timed.
const SHOWN: usize = 10;
/// From which containment on.
const CONTAINED: f64 = 0.8;
/// Queries are so many times smaller than the set that they are a part of.
const PARTS: [usize; 4] = [1, 2, 4, 8];

/// Sketches cannot tell documents apart whose similarities differ by less than their standard error, about; so recall is counted both ways.
const ALIKE: f64 = 0.04;

/// A query with its true answers.
struct LabelledQuery {
    set: Vec<u64>,
    /// So many are wanted.
    wanted: usize,
    /// Rows that are right; more than wanted where the last are as similar as others.
    truth: BTreeSet<u32>,
    /// The same, with those that are hardly less similar.
    alike: BTreeSet<u32>,
}

impl LabelledQuery {
    fn recall(&self, found: &BTreeSet<u32>, right: &BTreeSet<u32>) -> f64 {
        right.intersection(found).count().min(self.wanted) as f64 / self.wanted as f64
    }
}

/// Writes what the peers need, and prints Benzer's points.
pub fn run(options: &Options) -> Result<()> {
    let all = Sets::read(&options.corpus)?;
    let (best, parts) = (best(&all, options.queries), parts(&all, options.queries));
    if let Some(stem) = options.stem.as_ref().filter(|_| !options.only_best) {
        sets::write(stem, &all.sets)?;
        for (name, asked) in [("best", &best), ("parts", &parts)] {
            let stem = stem.with_extension(name);
            let queries: Vec<Vec<u64>> = asked.iter().map(|one| one.set.clone()).collect();
            sets::write(&stem, &queries)?;
            let truth: Vec<_> = asked.iter().map(|one| (one.wanted, &one.truth, &one.alike)).collect();
            std::fs::write(format!("{}.truth.json", stem.display()), serde_json::to_vec(&truth)?)?;
        }
    }
    for (keeps, name) in [(Keeps::Sketches, "sketches"), (Keeps::Documents, "documents kept")] {
        for recall in [0.8, 0.95, 0.99] {
            let index = index(&all, recall, keeps, None)?;
            let query = Query { top: Some(BEST), ..Query::default() };
            heat(&all, &index, &best, &query, &format!("{name}, target {recall}"))?;
        }
    }
    if options.only_best {
        return Ok(());
    }
    let ways = [(Keeps::Sketches, CONTAINED), (Keeps::Sketches, 0.7), (Keeps::Documents, CONTAINED)];
    for (keeps, threshold) in ways {
        let index = index(&all, 0.95, keeps, Some(Containment::default()))?;
        let ratio = (threshold == 0.7).then_some(8.0);
        let query = Query {
            measure: Measure::Containing,
            threshold: Some(threshold),
            ratio,
            limit: SHOWN,
            ..Query::default()
        };
        let name = if keeps == Keeps::Sketches { "containing" } else { "documents kept, containing" };
        heat(&all, &index, &parts, &query, &format!("{name}, threshold {threshold}"))?;
    }
    Ok(())
}

/// Documents of the corpus that have similar ones, with those that are most similar.
fn best(all: &Sets, n: usize) -> Vec<LabelledQuery> {
    let step = (all.sets.len() / (8 * n)).max(1);
    let asked = |(row, set): (usize, &Vec<u64>)| {
        let others = all.common(set).into_iter().filter(|(other, _)| *other as usize != row);
        let jaccard = |(other, common): (u32, u32)| {
            let union = set.len() as f64 + all.size(other) - f64::from(common);
            (other, f64::from(common) / union)
        };
        let mut ranked: Vec<(u32, f64)> = others.map(jaccard).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // Those that have something to do with it: the others are alike for every index.
        ranked.retain(|(_, jaccard)| *jaccard >= 0.1);
        let wanted = ranked.len().min(BEST);
        let last = ranked[..wanted].last().map_or(1.0, |(_, jaccard)| *jaccard);
        let from = |min: f64| {
            ranked.iter().filter(|(_, jaccard)| *jaccard >= min).map(|(other, _)| *other).collect()
        };
        LabelledQuery { set: set.clone(), wanted, truth: from(last), alike: from(last - ALIKE) }
    };
    let some = all.sets.iter().enumerate().step_by(step).map(asked);
    some.filter(|asked| !asked.truth.is_empty()).take(n).collect()
}

/// Parts of sets of the corpus, a tenth of each replaced, with all sets that contain them.
fn parts(all: &Sets, n: usize) -> Vec<LabelledQuery> {
    let large: Vec<&Vec<u64>> = all.sets.iter().filter(|set| set.len() >= 80).collect();
    let step = (large.len() / n).max(1);
    let asked = |(i, set): (usize, &&Vec<u64>)| {
        let size = set.len() / PARTS[i % PARTS.len()];
        let mut mixed: Vec<u64> = set.to_vec();
        mixed.sort_by_key(|element| mix(element ^ mix(i as u64)));
        let kept = mixed[..size - size / 10].iter().copied();
        let mut part: Vec<u64> =
            kept.chain((0..size / 10).map(|j| mix((i * 1000 + j) as u64) >> 2)).collect();
        part.sort_unstable();
        let truth = all.common(&part).into_iter();
        let truth = truth.filter(|(_, common)| f64::from(*common) >= CONTAINED * part.len() as f64);
        let truth = truth.filter(|(row, _)| all.size(*row) <= 16.0 * part.len() as f64).map(|(row, _)| row);
        let truth: BTreeSet<u32> = truth.collect();
        LabelledQuery { set: part, wanted: truth.len(), alike: truth.clone(), truth }
    };
    large
        .iter()
        .step_by(step)
        .take(n)
        .enumerate()
        .map(asked)
        .filter(|asked| !asked.truth.is_empty())
        .collect()
}

fn index(all: &Sets, recall: f64, keeps: Keeps, containment: Option<Containment>) -> Result<Index> {
    let schema = serde_json::from_str(r#"{"fields": {"items": {"kind": "values"}}}"#)?;
    let target = Target { threshold: 0.8, recall, ..Target::default() };
    let mut settings = Settings::with_registers(schema, &target, keeps, None)?;
    if let Some(containment) = containment {
        settings = settings.with_containment(containment)?;
    }
    let index = Index::new(store::memory(settings)?)?;
    let rows: Vec<(usize, &Vec<u64>)> = all.sets.iter().enumerate().collect();
    for rows in rows.chunks(10_000) {
        let documents: Vec<_> = rows.iter().map(|(row, set)| sets::document(row.to_string(), set)).collect();
        index.insert(&documents)?;
    }
    index.compact()?;
    Ok(index)
}

/// Searches for all, one after the other, and prints a point; the time is that of the whole call, with sketching the query.
fn heat(all: &Sets, index: &Index, asked: &[LabelledQuery], query: &Query, name: &str) -> Result<()> {
    let documents: Vec<_> = asked.iter().map(|one| sets::document("\u{1}", &one.set)).collect();
    let rows = if query.top.is_some() { words(index, all.sets.iter())? } else { Vec::new() };
    let mut tally = Tally::default();
    for (one, document) in asked.iter().zip(&documents) {
        // A document of the corpus finds itself too.
        let with_itself = Query { top: query.top.map(|top| top + 1), ..query.clone() };
        let start = Instant::now();
        black_box(index.search(document, &with_itself)?);
        tally.seconds.push(start.elapsed().as_secs_f64());
        let answer = index.search(document, &Query { limit: usize::MAX, ..with_itself })?;
        let found = answer.matches.iter().filter_map(|found| found.id.parse::<u32>().ok());
        let found: BTreeSet<u32> = found.collect();
        let recall = one.recall(&found, &one.truth);
        tally.recall += recall;
        tally.recall_alike += one.recall(&found, &one.alike);
        tally.candidates += answer.n_candidates;
        tally.add_ratios(all, one, &found, &answer);
        if query.top.is_none() || one.wanted == BEST {
            let by_sketches = match index.settings().keeps {
                Keeps::Sketches if query.top.is_some() => by_sketches(index, &rows, one, &found)?,
                _ => recall,
            };
            tally.add_whole(query.top, recall, by_sketches, &answer);
        }
    }
    println!("{}", tally.point(index, asked.len(), query, name)?);
    Ok(())
}

/// What the searches of a heat found: sums over its queries.
#[derive(Default)]
struct Tally {
    recall: f64,
    recall_alike: f64,
    candidates: usize,
    seconds: Vec<f64>,
    /// Queries that have as many similar documents as are wanted: how many, shown of them and stated to be, found of what brute force over the sketches finds and stated to be.
    whole: [f64; 5],
    /// By the power of two of the ratio of sizes: pairs, found, stated to be compared, stated to be shown.
    ratios: BTreeMap<u32, [f64; 4]>,
}

impl Tally {
    fn add_ratios(&mut self, all: &Sets, one: &LabelledQuery, found: &BTreeSet<u32>, answer: &Answer) {
        for row in &one.truth {
            let ratio = (all.size(*row) / one.set.len() as f64).max(one.set.len() as f64 / all.size(*row));
            if let Some(of_ratio) = answer.recall_by_ratio.iter().find(|of_ratio| ratio <= of_ratio.ratio) {
                let sums = self.ratios.entry((ratio.log2().ceil() as u32).max(1)).or_default();
                let is_found = f64::from(u8::from(found.contains(row)));
                let values = [1.0, is_found, of_ratio.recall, of_ratio.shown];
                values.into_iter().zip(sums).for_each(|(value, sum)| *sum += value);
            }
        }
    }

    fn add_whole(&mut self, top: Option<usize>, recall: f64, by_sketches: f64, answer: &Answer) {
        // The document itself, which is surely found, is not one of the best.
        let without_itself =
            |stated: f64| top.map_or(stated, |top| (stated * (top + 1) as f64 - 1.0).max(0.0) / top as f64);
        let values = [1.0, recall, without_itself(answer.shown), by_sketches, without_itself(answer.recall)];
        values.into_iter().zip(&mut self.whole).for_each(|(value, sum)| *sum += value);
    }

    /// The means over so many queries, for a chart.
    fn point(mut self, index: &Index, n_queries: usize, query: &Query, name: &str) -> Result<Value> {
        let n = n_queries as f64;
        self.seconds.sort_by(f64::total_cmp);
        let stats = index.stats()?;
        let [whole, found, shown, by_sketches, stated] = self.whole;
        let ratios = self.ratios.iter();
        let by_ratio: Vec<_> = ratios
            .map(|(ratio, [n, found, compared, shown])| {
                (1u64 << ratio, n, found / n, compared / n, shown / n)
            })
            .collect();
        Ok(json!({
            "peer": "benzer",
            "task": if query.top.is_some() { "best" } else { "parts" },
            "name": name,
            "queries": n_queries,
            "recall": self.recall / n,
            "recall_alike": self.recall_alike / n,
            "whole": {
                "queries": whole, "found": found / whole, "shown": shown / whole,
                "found_by_sketches": by_sketches / whole, "recall": stated / whole,
            },
            "by_ratio": by_ratio,
            "candidates": self.candidates as f64 / n,
            "mean_us": 1e6 * self.seconds.iter().sum::<f64>() / n,
            "median_us": 1e6 * self.seconds[self.seconds.len() / 2],
            "bytes_per_document": (stats.posting_bytes + stats.sketch_bytes) / stats.documents.max(1),
        }))
    }
}

/// The records of sets, one after the other.
fn words<'a>(index: &Index, sets: impl Iterator<Item = &'a Vec<u64>>) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    for set in sets {
        let features = index.recorder().features(&sets::document("", set))?;
        index.recorder().words(&features, &mut words)?;
    }
    Ok(words)
}

/// The share of the best by their sketches, by brute force over all sketches, that was found.
fn by_sketches(index: &Index, rows: &[u64], one: &LabelledQuery, found: &BTreeSet<u32>) -> Result<f64> {
    let query = words(index, std::iter::once(&one.set))?;
    let Packing::Bits(bits) = index.settings().fields[0].spec.packing else {
        anyhow::bail!("sketches of this packing are not compared by their equal registers")
    };
    let mut ranked: Vec<(u32, u32)> = rows
        .chunks_exact(query.len())
        .zip(0..)
        .map(|(row, i)| (count::mismatches(&query[1..], &row[1..], bits), i))
        .collect();
    ranked.sort_unstable();
    // The first is the document itself, or one that is the same.
    let last = ranked[one.wanted].0;
    let right = ranked.iter().take_while(|(differing, _)| *differing <= last);
    let right = right.filter(|(_, row)| found.contains(row)).count();
    Ok((right.saturating_sub(1)).min(one.wanted) as f64 / one.wanted as f64)
}

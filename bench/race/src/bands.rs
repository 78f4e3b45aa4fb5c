//! Recall of the default bands on the corpus, by bin of exact J, beside what the curve promises.
//!
//! J is exact, on Benzer's own shingles; a pair is found if it shares a band key. Pairs of one cluster are found or missed together, so one seed is noise:
//! the table shows the mean and the range over several.

use std::path::PathBuf;

use anyhow::Result;
use benzer_core::Features;
use benzer_core::field::text::{Shingler, TextOptions};
use benzer_core::hash::split;
use benzer_core::lsh::{Banding, Prefilter, Target, choose};
use benzer_core::sketch::SketchSpec;
use clap::Args;

use crate::truth::{self, Pair};

/// Bins of 0.05 from 1/2; J = 1 has its own.
const BINS: usize = 11;

/// Options of `benzer-bench bands`.
#[derive(Debug, Args)]
pub struct Options {
    /// The corpus, JSONL with `text`
    #[arg(long)]
    pub corpus: PathBuf,
    /// Its truth, made with `--words uax29`
    #[arg(long)]
    pub truth: PathBuf,
    /// The threshold the bands are chosen for
    #[arg(long, default_value_t = 0.8)]
    pub threshold: f64,
    /// How many seeds to try
    #[arg(long, default_value_t = 7)]
    pub seeds: u64,
}

#[derive(Debug, Clone, Default)]
struct Bin {
    pairs: u64,
    promised: f64,
    /// Per seed: pairs that share a key, and pairs that pass the prefilter.
    found: Vec<u64>,
    passed: Vec<u64>,
}

/// Prints a Markdown table.
pub fn run(options: &Options) -> Result<()> {
    let shingler = Shingler::new(&TextOptions::default())?;
    let features = |text: Result<String>| Ok(shingler.features(&text?));
    let sets: Vec<Features> = truth::texts(&options.corpus)?.map(features).collect::<Result<_>>()?;
    let target = Target { threshold: options.threshold, documents: sets.len() as u64, ..Target::default() };
    let banding = choose(&SketchSpec::default(), &target)?;
    let pairs: Vec<(Pair, usize)> = with_bins(&truth::read(&options.truth)?, &sets);
    let mut bins = vec![Bin::default(); BINS];
    for (pair, bin) in &pairs {
        bins[*bin].pairs += 1;
        bins[*bin].promised += banding.probability(exact(pair, &sets));
    }
    for seed in 0..options.seeds {
        let spec = SketchSpec { seed: split(42, seed), ..SketchSpec::default() };
        count(&spec, &banding, options.threshold, &sets, &pairs, &mut bins)?;
    }
    println!(
        "{} x {} on {} documents, {} seeds\n",
        banding.bands(),
        banding.rows(),
        sets.len(),
        options.seeds
    );
    println!(
        "| exact J | pairs | promised | found | lowest, highest seed | pass the prefilter of {} |",
        options.threshold
    );
    println!("|---|---:|---:|---:|---:|---:|");
    bins.iter().enumerate().filter(|(_, bin)| bin.pairs > 0).for_each(|(i, bin)| bin.print(i));
    Ok(())
}

fn exact(pair: &Pair, sets: &[Features]) -> f64 {
    sets[pair.a as usize].jaccard(&sets[pair.b as usize]).unwrap_or_default()
}

/// The pairs that reach 1/2 on these shingles, with their bins.
fn with_bins(pairs: &[Pair], sets: &[Features]) -> Vec<(Pair, usize)> {
    let bin =
        |pair: &Pair| (exact(pair, sets) >= 0.5).then(|| ((exact(pair, sets) - 0.5) * 20.0 + 1e-9) as usize);
    pairs.iter().filter_map(|pair| bin(pair).map(|bin| (*pair, bin))).collect()
}

fn count(
    spec: &SketchSpec,
    banding: &Banding,
    threshold: f64,
    sets: &[Features],
    pairs: &[(Pair, usize)],
    bins: &mut [Bin],
) -> Result<()> {
    let (sketcher, prefilter) = (spec.sketcher()?, Prefilter::new(spec, threshold)?);
    let sketches = sets.iter().map(|set| sketcher.sketch(set)).collect::<benzer_core::Result<Vec<_>>>()?;
    let mut keys = vec![0; banding.bands() * sketches.len()];
    for (sketch, keys) in sketches.iter().zip(keys.chunks_exact_mut(banding.bands())) {
        banding.keys_into(sketch.words(), keys);
    }
    bins.iter_mut().for_each(|bin| {
        bin.found.push(0);
        bin.passed.push(0);
    });
    let of = |row: u32| &keys[row as usize * banding.bands()..][..banding.bands()];
    for (pair, bin) in pairs {
        let last = bins[*bin].found.len() - 1;
        let shares_key = of(pair.a).iter().zip(of(pair.b)).any(|(x, y)| x == y);
        bins[*bin].found[last] += u64::from(shares_key);
        let [a, b] = [pair.a, pair.b].map(|row| sketches[row as usize].words());
        bins[*bin].passed[last] += u64::from(prefilter.passes(a, b));
    }
    Ok(())
}

impl Bin {
    fn print(&self, i: usize) {
        let share = |n: u64| n as f64 / self.pairs as f64;
        let mean = |counts: &[u64]| counts.iter().map(|&n| share(n)).sum::<f64>() / counts.len() as f64;
        let (lowest, highest) = (self.found.iter().min().copied(), self.found.iter().max().copied());
        println!(
            "| {:.2} | {} | {:.4} | {:.4} | {:.4}, {:.4} | {:.4} |",
            0.5 + 0.05 * i as f64,
            self.pairs,
            self.promised / self.pairs as f64,
            mean(&self.found),
            share(lowest.unwrap_or_default()),
            share(highest.unwrap_or_default()),
            mean(&self.passed),
        );
    }
}

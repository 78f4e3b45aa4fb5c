//! Pairs by bin of exact J, and how many of them somebody found.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::overlap::Overlap;
use crate::truth;

/// Bins of 0.05 from 1/2; J = 1 has its own.
pub const BINS: usize = 11;

/// Options of `benzer-bench recall`.
#[derive(Debug, Args)]
pub struct Options {
    /// The truth file
    #[arg(long)]
    pub truth: PathBuf,
    /// Pairs somebody found: two row numbers per line, separated by a tab or space
    #[arg(long)]
    pub found: Option<PathBuf>,
}

/// Prints one JSON object per bin: `low`, `pairs`, `found`, `recall`.
pub fn run(options: &Options) -> Result<()> {
    let truth = truth::read(&options.truth)?;
    let found = options.found.as_deref().map(rows).transpose()?;
    let (mut pairs, mut hits) = ([0u64; BINS], [0u64; BINS]);
    for pair in truth {
        let bin = bin(pair.overlap);
        pairs[bin] += 1;
        hits[bin] +=
            u64::from(found.as_ref().is_some_and(|found| found.binary_search(&(pair.a, pair.b)).is_ok()));
    }
    for bin in 0..BINS {
        let mut line = serde_json::json!({"low": low(bin), "pairs": pairs[bin]});
        if found.is_some() {
            line["found"] = hits[bin].into();
            line["recall"] = (pairs[bin] > 0).then(|| hits[bin] as f64 / pairs[bin] as f64).into();
        }
        println!("{line}");
    }
    Ok(())
}

/// floor((J - 1/2) / 0.05), in whole numbers.
pub fn bin(Overlap { intersection, union }: Overlap) -> usize {
    (20 * u64::from(intersection) / u64::from(union) - 10) as usize
}

/// The J at which a bin begins.
pub fn low(bin: usize) -> f64 {
    f64::from(50 + 5 * bin as u32) / 100.0
}

fn rows(path: &Path) -> Result<Vec<(u32, u32)>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut rows = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line?;
        let mut fields = line.split_whitespace().map(str::parse::<u32>);
        let (Some(Ok(a)), Some(Ok(b))) = (fields.next(), fields.next()) else {
            anyhow::bail!("{}:{}: expected two row numbers, got `{line}`", path.display(), number + 1);
        };
        rows.push((a.min(b), a.max(b)));
    }
    rows.sort_unstable();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_exact_at_their_borders() {
        let bin = |intersection, union| bin(Overlap { intersection, union });
        assert_eq!(
            (bin(1, 2), bin(11, 20), bin(549, 1000), bin(4, 5), bin(99, 100), bin(7, 7)),
            (0, 1, 0, 6, 9, 10)
        );
    }
}

//! How right are somebody's removals? Every edge with exact J at or above the threshold is known from the truth file.
//!
//! - *Reference*: the corpus resolved exactly, in file order: a document stays unless it has an edge to an earlier one that stays.
//! - *Precision, recall*: of the removals, against those of the reference. Who keeps another member of a cluster loses a little of both.
//! - *Justified*: the share of the removals that have an edge to a document which the same contestant kept. The rest was deleted without a
//!   similar document left behind.
//! - *Covered*, by bin of J: an edge is covered unless both its ends were kept. That can be asked of tools that only say what they removed.
//! - *Found*, by bin of J: for tools that say which pairs they found. Equal documents count as one, because tools set them aside first.
//!
//! Bins are counted twice: over all edges, where a large cluster outweighs everything (and an index that caps large buckets leaves out most of
//! its pairs on purpose), and over those between documents with few partners.

mod input;
mod resolve;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use self::input::Removals;
use crate::overlap::Overlap;
use crate::recall::{BINS, bin, low};
use crate::truth::{self, Pair};

/// Documents with at most this many partners (J >= 1/2) have few: the largest bucket that Benzer pairs in full.
const FEW: u32 = 64;

/// Options of `benzer-bench judge`.
#[derive(Debug, Args)]
pub struct Options {
    /// The truth file
    #[arg(long)]
    pub truth: PathBuf,
    /// Number of documents of the corpus
    #[arg(long)]
    pub docs: usize,
    /// What was removed: per line an id (its row), a tab, and the id of the document kept instead or nothing
    #[arg(long)]
    pub removed: PathBuf,
    /// Pairs that were found: two ids, intersection and union per line, separated by tabs
    #[arg(long)]
    pub pairs: Option<PathBuf>,
    /// Documents at least this similar are duplicates
    #[arg(long, default_value_t = 0.8)]
    pub threshold: f64,
}

/// What `judge` prints.
#[derive(Debug, PartialEq, Serialize)]
struct Verdict {
    removed: usize,
    reference: usize,
    precision: Option<f64>,
    recall: Option<f64>,
    justified: Option<f64>,
    /// Removals that name the document kept instead, and those of them where that one was kept and is similar enough.
    named: usize,
    named_justified: usize,
    covered: Bins,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<FoundPairs>,
}

/// Counts over all edges, and over those between documents with few partners.
#[derive(Debug, PartialEq, Serialize)]
struct Bins {
    all: Vec<EdgeBin>,
    few_partners: Vec<EdgeBin>,
}

/// Edges with J from `low` to below `low` + 0.05, and how many of them were covered or found.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct EdgeBin {
    low: f64,
    edges: u64,
    hits: u64,
}

#[derive(Debug, PartialEq, Serialize)]
struct FoundPairs {
    pairs: usize,
    /// Pairs with another intersection or union than the truth.
    differing: usize,
    /// Pairs that are no edge of the truth.
    unknown: usize,
    found: Bins,
}

/// Prints the verdict as one JSON object.
pub fn run(options: &Options) -> Result<()> {
    ensure!(
        (0.5..=1.0).contains(&options.threshold),
        "--threshold is {}, expected 0.5 to 1: the truth has no other pairs",
        options.threshold
    );
    let truth = truth::read(&options.truth)?;
    let highest = truth.iter().map(|pair| pair.b).max();
    ensure!(
        highest.is_none_or(|row| (row as usize) < options.docs),
        "{} is of a larger corpus than the {} documents of --docs",
        options.truth.display(),
        options.docs
    );
    let removals = input::removals(&options.removed, options.docs)?;
    let edges = Edges::new(&truth, options.docs, options.threshold);
    let mut verdict = removal_verdict(&edges, &removals);
    if let Some(path) = &options.pairs {
        verdict.pairs = Some(pair_verdict(&edges, &input::pairs(path, options.docs)?));
    }
    println!("{}", serde_json::to_string(&verdict)?);
    Ok(())
}

/// The pairs that reach the threshold, ordered by rows.
struct Edges {
    edges: Vec<Pair>,
    /// Documents with J >= 1/2 to each document.
    partners: Vec<u32>,
}

impl Edges {
    fn new(truth: &[Pair], n_docs: usize, threshold: f64) -> Self {
        let mut partners = vec![0; n_docs];
        for pair in truth {
            partners[pair.a as usize] += 1;
            partners[pair.b as usize] += 1;
        }
        let edges = truth.iter().filter(|pair| resolve::reaches(pair.overlap, threshold)).copied();
        Self { edges: edges.collect(), partners }
    }

    fn get(&self, a: u32, b: u32) -> Option<Overlap> {
        let place = self.edges.binary_search_by_key(&(a.min(b), a.max(b)), |edge| (edge.a, edge.b));
        place.ok().map(|place| self.edges[place].overlap)
    }

    fn bins(&self, is_hit: impl Fn(&Pair) -> bool) -> Bins {
        let has_few = |edge: &&Pair| [edge.a, edge.b].iter().all(|&row| self.partners[row as usize] <= FEW);
        Bins {
            all: bins(&self.edges, &is_hit),
            few_partners: bins(self.edges.iter().filter(has_few), &is_hit),
        }
    }
}

fn removal_verdict(edges: &Edges, removals: &Removals) -> Verdict {
    let reference = resolve::removed(&edges.edges, removals.len());
    let mut justified = vec![false; removals.len()];
    for &Pair { a, b, .. } in &edges.edges {
        for (gone, left) in [(a, b), (b, a)] {
            justified[gone as usize] |= removals.is_removed(gone) && !removals.is_removed(left);
        }
    }
    let removed: Vec<u32> = (0..removals.len() as u32).filter(|&row| removals.is_removed(row)).collect();
    let named: Vec<(u32, u32)> =
        removed.iter().filter_map(|&row| Some((row, removals.kept_instead(row)?))).collect();
    let holds = |&&(row, kept): &&(u32, u32)| !removals.is_removed(kept) && edges.get(row, kept).is_some();
    let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count();
    let common = removed.iter().filter(|&&row| reference[row as usize]).count();
    Verdict {
        removed: removed.len(),
        reference: count(&reference),
        precision: share(common, removed.len()),
        recall: share(common, count(&reference)),
        justified: share(count(&justified), removed.len()),
        named: named.len(),
        named_justified: named.iter().filter(holds).count(),
        covered: edges.bins(|edge| removals.is_removed(edge.a) || removals.is_removed(edge.b)),
        pairs: None,
    }
}

fn pair_verdict(edges: &Edges, found: &[Pair]) -> FoundPairs {
    let firsts = firsts(found);
    let first = |row: u32| firsts.get(&row).copied().unwrap_or(row);
    let key = |pair: &Pair| {
        let (a, b) = (first(pair.a), first(pair.b));
        (a.min(b), a.max(b))
    };
    let reported: HashSet<(u32, u32)> = found.iter().map(key).collect();
    let is_found = |edge: &Pair| first(edge.a) == first(edge.b) || reported.contains(&key(edge));
    let of_truth = |pair: &Pair| edges.get(pair.a, pair.b);
    FoundPairs {
        pairs: found.len(),
        differing: found.iter().filter(|pair| of_truth(pair).is_some_and(|o| o != pair.overlap)).count(),
        unknown: found.iter().filter(|pair| of_truth(pair).is_none()).count(),
        found: edges.bins(is_found),
    }
}

/// The first of the rows that were reported to be equal, for each of the others. Who sets equal documents aside reports the pairs of one of them.
fn firsts(found: &[Pair]) -> HashMap<u32, u32> {
    let mut firsts: HashMap<u32, u32> = HashMap::new();
    for pair in found.iter().filter(|pair| pair.overlap.intersection == pair.overlap.union) {
        let first = firsts.get(&pair.a).copied().unwrap_or(pair.a);
        firsts.insert(pair.b, first);
    }
    firsts
}

fn bins<'a>(edges: impl IntoIterator<Item = &'a Pair>, is_hit: impl Fn(&Pair) -> bool) -> Vec<EdgeBin> {
    let mut bins: Vec<EdgeBin> = (0..BINS).map(|i| EdgeBin { low: low(i), edges: 0, hits: 0 }).collect();
    for edge in edges {
        let bin = &mut bins[bin(edge.overlap)];
        bin.edges += 1;
        bin.hits += u64::from(is_hit(edge));
    }
    bins.retain(|bin| bin.edges > 0);
    bins
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: u32, b: u32, intersection: u32, union: u32) -> Pair {
        Pair { a, b, overlap: Overlap { intersection, union } }
    }

    /// A chain 0 - 1 - 2 and a pair 3 - 4 of equal documents; 5 stands alone.
    fn edges() -> Edges {
        let truth = [pair(0, 1, 8, 10), pair(0, 2, 7, 10), pair(1, 2, 9, 10), pair(3, 4, 7, 7)];
        Edges::new(&truth, 6, 0.8)
    }

    fn hits(bins: &[EdgeBin]) -> Vec<(f64, u64, u64)> {
        bins.iter().map(|bin| (bin.low, bin.edges, bin.hits)).collect()
    }

    #[test]
    fn the_reference_itself_is_faultless() {
        let verdict = removal_verdict(&edges(), &Removals::of(6, &[(1, Some(0)), (4, Some(3))]));
        assert_eq!((verdict.precision, verdict.recall, verdict.justified), (Some(1.0), Some(1.0), Some(1.0)));
        assert_eq!((verdict.named, verdict.named_justified), (2, 2));
        assert_eq!(hits(&verdict.covered.all), [(0.8, 1, 1), (0.9, 1, 1), (1.0, 1, 1)]);
    }

    #[test]
    fn a_removal_along_a_chain_has_no_document_that_justifies_it() {
        let verdict = removal_verdict(&edges(), &Removals::of(6, &[(1, Some(0)), (2, Some(0)), (5, None)]));
        assert_eq!((verdict.removed, verdict.precision, verdict.recall), (3, Some(1.0 / 3.0), Some(0.5)));
        assert_eq!(verdict.justified, Some(1.0 / 3.0));
        assert_eq!((verdict.named, verdict.named_justified), (2, 1));
        assert_eq!(hits(&verdict.covered.all), [(0.8, 1, 1), (0.9, 1, 1), (1.0, 1, 0)]);
    }

    #[test]
    fn keeping_the_later_one_is_justified_though_not_the_reference() {
        let verdict = removal_verdict(&edges(), &Removals::of(6, &[(3, Some(4))]));
        assert_eq!(
            (verdict.precision, verdict.justified, verdict.named_justified),
            (Some(0.0), Some(1.0), 1)
        );
    }

    #[test]
    fn nothing_removed_has_no_precision() {
        let verdict = removal_verdict(&edges(), &Removals::of(6, &[]));
        assert_eq!((verdict.precision, verdict.recall, verdict.justified), (None, Some(0.0), None));
    }

    #[test]
    fn found_pairs_are_counted_by_bin_and_compared() {
        let found = [pair(0, 1, 8, 10), pair(0, 5, 9, 10), pair(3, 4, 6, 7)];
        let mut edges = edges();
        assert_eq!(edges.partners, [2, 2, 2, 1, 1, 0]);
        edges.partners = vec![0, 0, 0, FEW, FEW + 1, 0];
        let verdict = pair_verdict(&edges, &found);
        assert_eq!((verdict.pairs, verdict.differing, verdict.unknown), (3, 1, 1));
        assert_eq!(hits(&verdict.found.all), [(0.8, 1, 1), (0.9, 1, 0), (1.0, 1, 1)]);
        assert_eq!(hits(&verdict.found.few_partners), [(0.8, 1, 1), (0.9, 1, 0)]);
    }
}

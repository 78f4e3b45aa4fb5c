//! Which pictures are one, and which of them is kept.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use benzer_core::field::image::local::{Agreement, verify};
use benzer_core::lsh::{Prefilter, Target, bucket, choose};

use super::extract::{Picture, Read};
use super::{Counts, Keep, Options, check_cancelled, features};
use benzer_dedup::Result;
use benzer_dedup::progress::{Observer, Stage};
use benzer_flow::workers::in_parallel;
use benzer_flow::{Progress, Workers};
use benzer_join::Rank;
use benzer_join::bands::{self, BandRules};

const TASK: usize = 64;

/// Why a picture is removed: it is a kept one.
#[derive(Debug)]
pub(super) struct Removal {
    pub removed: usize,
    pub kept: usize,
    pub reason: Reason,
}

/// What shows that two pictures are one.
#[derive(Debug, Clone)]
pub(super) enum Reason {
    Copy,
    /// Keypoints that lie upon each other.
    Geometry(Geometry),
}

/// Keypoints that lie upon each other; and the words in common, of those in either.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    pub agreement: Agreement,
    pub intersection: u32,
    pub union: u32,
}

#[derive(Debug)]
pub(super) struct Decided {
    pub counts: Counts,
    /// In keep order of the removed.
    pub removals: Vec<Removal>,
    /// Numbers of the kept pictures, in the order of their files.
    pub kept: Vec<usize>,
}

/// A pair of pictures that are one, by their places in keep order.
struct Edge {
    later: Rank,
    earlier: Rank,
    reason: Reason,
}

struct Sketches<'a>(Vec<&'a [u64]>);

impl bands::Sketches for Sketches<'_> {
    fn sketch(&self, rank: Rank) -> &[u64] {
        self.0[rank.index()]
    }
}

pub(super) fn decide(read: &Read, options: &Options, observer: &dyn Observer) -> Result<Decided> {
    let pictures = &read.pictures;
    let order = keep_order(read, options.keep);
    let copies = copies(read, &order)?;
    let mut is_copy = vec![false; pictures.len()];
    copies.iter().for_each(|(copy, _)| is_copy[*copy] = true);
    let ranked: Vec<&Picture> = order.iter().map(|&number| &pictures[number]).collect();
    let ranks: Vec<Rank> = Rank::all(ranked.len() as u32)
        .filter(|&rank| !is_copy[order[rank.index()]] && !ranked[rank.index()].features.is_empty())
        .collect();
    observer.begin(Stage::Candidates, None);
    let pairs = candidates(read, &ranked, &ranks, options)?;
    check_cancelled(observer)?;
    observer.begin(Stage::Verify, Some(pairs.len() as u64));
    let (edges, n_checked) = check(read, &ranked, &pairs, options, observer)?;
    observer.begin(Stage::Resolve, None);
    let n_verified = edges.len() as u64;
    let mut removals = leaders(&edges, &order);
    // A copy of a removed picture is removed for the same picture and with the same reason.
    let by_removed: HashMap<usize, (usize, Reason)> =
        removals.iter().map(|removal| (removal.removed, (removal.kept, removal.reason.clone()))).collect();
    for &(copy, first) in &copies {
        let (kept, reason) = by_removed.get(&first).cloned().unwrap_or((first, Reason::Copy));
        removals.push(Removal { removed: copy, kept, reason });
    }
    let mut is_removed = vec![false; pictures.len()];
    removals.iter().for_each(|removal| is_removed[removal.removed] = true);
    removals.sort_by_key(|removal| (pictures[removal.kept].input, pictures[removal.removed].input));
    let kept: Vec<usize> = (0..pictures.len()).filter(|&number| !is_removed[number]).collect();
    let counts = Counts {
        read: read.inputs.len() as u64,
        rejected: read.rejects.len() as u64,
        kept: kept.len() as u64,
        removed: removals.len() as u64,
        copies: removals.iter().filter(|removal| matches!(removal.reason, Reason::Copy)).count() as u64,
        empty: pictures.iter().filter(|picture| picture.features.is_empty()).count() as u64,
        candidates: pairs.len() as u64,
        checked: n_checked,
        verified: n_verified,
        clusters: removals.chunk_by(|a, b| a.kept == b.kept).count() as u64,
    };
    assert_eq!(counts.kept + counts.removed + counts.rejected, counts.read, "every file is accounted for");
    Ok(Decided { counts, removals, kept })
}

/// Numbers of pictures, those first that are rather kept.
fn keep_order(read: &Read, keep: Keep) -> Vec<usize> {
    let mut order: Vec<usize> = (0..read.pictures.len()).collect();
    let size = |number: &usize| {
        let picture = &read.pictures[*number];
        (u64::from(picture.size.0) * u64::from(picture.size.1), read.inputs[picture.input].bytes)
    };
    match keep {
        Keep::First => {}
        Keep::Last => order.reverse(),
        Keep::Largest => order.sort_by_key(|number| Reverse(size(number))),
        Keep::Smallest => order.sort_by_key(size),
    }
    order
}

/// (copy, first in keep order) of files with the same bytes, which are compared.
fn copies(read: &Read, order: &[usize]) -> Result<Vec<(usize, usize)>> {
    let mut firsts: HashMap<u128, usize> = HashMap::new();
    let mut copies = Vec::new();
    for &number in order {
        let picture = &read.pictures[number];
        let first = *firsts.entry(picture.hash).or_insert(number);
        if first != number {
            let bytes = |number: usize| {
                let path = read.path(&read.pictures[number]);
                fs::read(path)
                    .map_err(|error| benzer_io::Error::Read { path: path.to_owned(), source: error })
            };
            if bytes(first)? == bytes(number)? {
                copies.push((number, first));
            }
        }
    }
    Ok(copies)
}

fn candidates(
    read: &Read,
    ranked: &[&Picture],
    ranks: &[Rank],
    options: &Options,
) -> Result<Vec<(Rank, Rank)>> {
    let defaults = features().defaults();
    let target = Target {
        threshold: defaults.threshold,
        recall: defaults.recall,
        documents: ranks.len().max(1) as u64,
        ..Target::default()
    };
    let banding = choose(&read.spec, &target)?;
    let prefilter = Prefilter::new(&read.spec, defaults.threshold)?;
    let sketches = Sketches(ranked.iter().map(|picture| picture.words.as_slice()).collect());
    let rules = BandRules { banding, prefilter, cap: bucket::DEFAULT_CAP };
    let workers = Workers { threads: options.threads.max(1), progress: &Progress::silent() };
    let found = bands::candidates(&sketches, ranks, rules, workers)?.0;
    Ok(found.iter().flat_map(bands::CandidateLists::pairs).collect())
}

/// The pairs that are one picture, in order, and on how many the geometric check was made.
fn check(
    read: &Read,
    ranked: &[&Picture],
    pairs: &[(Rank, Rank)],
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Vec<Edge>, u64)> {
    let threshold = features().defaults().threshold;
    let (n_checked, n_done) = (AtomicU64::new(0), AtomicU64::new(0));
    let tasks: Vec<&[(Rank, Rank)]> = pairs.chunks(TASK).collect();
    let one = |&(later, earlier): &(Rank, Rank)| -> Result<Option<Edge>> {
        let (a, b) = (ranked[later.index()], ranked[earlier.index()]);
        let intersection = a.features.intersection(&b.features);
        let union = a.features.size() + b.features.size() - intersection;
        if intersection < threshold * union {
            return Ok(None);
        }
        n_checked.fetch_add(1, Ordering::Relaxed);
        let (from, to) = (read.keypoints.get(a.place)?, read.keypoints.get(b.place)?);
        let reason = |agreement| {
            let (intersection, union) = (intersection as u32, union as u32);
            Edge { later, earlier, reason: Reason::Geometry(Geometry { agreement, intersection, union }) }
        };
        Ok(verify(&from, &to).map(reason))
    };
    let found = in_parallel(
        tasks.len(),
        options.threads.max(1),
        || (),
        |task, ()| {
            check_cancelled(observer)?;
            let edges =
                tasks[task].iter().filter_map(|pair| one(pair).transpose()).collect::<Result<Vec<_>>>();
            observer.reached(n_done.fetch_add(tasks[task].len() as u64, Ordering::Relaxed));
            edges
        },
    );
    let edges: Vec<Vec<Edge>> = found.into_iter().collect::<Result<_>>()?;
    Ok((edges.into_iter().flatten().collect(), n_checked.into_inner()))
}

/// Walks the keep order: a picture with an edge to a kept one is removed for the one of those with the most inliers. No chains.
fn leaders(edges: &[Edge], order: &[usize]) -> Vec<Removal> {
    let mut is_removed = vec![false; order.len()];
    let mut removals = Vec::new();
    for edges in edges.chunk_by(|a, b| a.later == b.later) {
        let kept = edges.iter().filter(|edge| !is_removed[edge.earlier.index()]);
        let best = kept.max_by_key(|edge| (edge.reason.inliers(), Reverse(edge.earlier)));
        if let Some(edge) = best {
            is_removed[edge.later.index()] = true;
            removals.push(Removal {
                removed: order[edge.later.index()],
                kept: order[edge.earlier.index()],
                reason: edge.reason.clone(),
            });
        }
    }
    removals
}

impl Reason {
    /// How many keypoints lie upon each other; those of a copy are all.
    pub fn inliers(&self) -> usize {
        match self {
            Self::Copy => usize::MAX,
            Self::Geometry(found) => found.agreement.inliers.len(),
        }
    }
}

//! All pairs of sets that reach a threshold, by the exact join: none is missed, none is guessed.
//!
//! ```text
//! SetStore --join--> candidates, sorted --measure, slice by slice--> pairs in order
//! ```
//!
//! Pairs come in the order of their first set, then of their second, whatever the number of threads and the memory.

#[cfg(test)]
pub(crate) mod tests;

use benzer_core::Threshold;
use benzer_flow::{Progress, Workers, workers::in_parallel};
use benzer_io::{Error, Result};
use benzer_join::Rank;
use benzer_join::exact::{self, Measure, Rule, Sides};

use crate::{Resources, SetStore, overlap::overlap};

/// Candidates that are measured together.
const SLICE: usize = 1 << 18;
/// Candidates that a thread takes at a time.
const TASK: usize = 1 << 10;

/// Which pairs to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// What must reach the threshold.
    pub measure: Measure,
    /// The threshold.
    pub threshold: Threshold,
    /// Only pairs of a set below this number with one from it on; containment is then that of the first in the second.
    pub split: Option<u32>,
}

/// Two sets by their numbers, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The first set; of containment the one that is contained.
    pub a: u32,
    /// The second.
    pub b: u32,
    /// Elements in both.
    pub intersection: u32,
    /// Elements of the first.
    pub size_a: u32,
    /// Elements of the second.
    pub size_b: u32,
}

/// What a search gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Pairs that were measured.
    pub n_candidates: u64,
    /// Pairs that reach the threshold.
    pub n_pairs: u64,
}

impl Pair {
    /// Elements in either.
    pub fn union(&self) -> u64 {
        u64::from(self.size_a) + u64::from(self.size_b) - u64::from(self.intersection)
    }

    /// The similarity by a measure.
    pub fn similarity(&self, measure: Measure) -> f64 {
        let whole = match measure {
            Measure::Jaccard => self.union() as f64,
            Measure::Containment => f64::from(self.size_a),
        };
        f64::from(self.intersection) / whole
    }
}

/// Finds all pairs and hands them to `sink` in order, some at a time.
///
/// # Errors
/// Too little memory, files that cannot be written or read, the wish to stop, and what `sink` returns.
pub fn find<E: From<Error>>(
    store: &SetStore,
    wanted: &Wanted,
    resources: &Resources,
    mut sink: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<Found, E> {
    let members: Vec<Rank> = Rank::all(store.len()).filter(|set| store.size(set.0) > 0).collect();
    let sides = wanted.split.map_or(Sides::One, |split| Sides::Two(Rank(split)));
    let rule = Rule { measure: wanted.measure, threshold: wanted.threshold, sides };
    let workspace = resources.workspace(store.len().into())?;
    let workers = Workers { threads: resources.threads(), progress: &Progress::silent() };
    resources.check()?;
    let candidates = exact::candidates(&members, store, rule, workspace, workers).map_err(Error::from)?.pairs;
    let (mut found, mut slice) = (Found::default(), Vec::with_capacity(SLICE));
    let mut candidates = candidates.map(|pair| pair.map_err(Error::from));
    loop {
        slice.clear();
        for pair in candidates.by_ref().take(SLICE) {
            slice.push(pair?);
        }
        if slice.is_empty() {
            return Ok(found);
        }
        resources.check()?;
        let pairs = measure(&slice, store, wanted, resources.threads());
        found.n_candidates += slice.len() as u64;
        found.n_pairs += pairs.len() as u64;
        sink(&pairs)?;
    }
}

/// Those of some candidates, which are sorted, that reach the threshold, measured exactly.
fn measure(candidates: &[(Rank, Rank)], store: &SetStore, wanted: &Wanted, threads: usize) -> Vec<Pair> {
    let tasks: Vec<&[(Rank, Rank)]> = candidates.chunks(TASK).collect();
    let made = in_parallel(
        tasks.len(),
        threads,
        || (),
        |task, ()| {
            let mut pairs = Vec::new();
            for group in tasks[task].chunk_by(|one, other| one.0 == other.0) {
                let Rank(a) = group[0].0;
                let elements = store.elements_of(a);
                for &(_, Rank(b)) in group {
                    let (size_a, size_b) = (store.size(a), store.size(b));
                    let min_shared = match wanted.measure {
                        Measure::Jaccard => {
                            wanted.threshold.min_shared(u64::from(size_a) + u64::from(size_b))
                        }
                        Measure::Containment => wanted.threshold.min_overlap(size_a),
                    };
                    let shared = overlap(elements, store.elements_of(b), min_shared);
                    pairs.extend(shared.map(|intersection| Pair { a, b, intersection, size_a, size_b }));
                }
            }
            pairs
        },
    );
    made.concat()
}

//! The exact join: all pairs that reach the threshold, without sketches.
//!
//! ```text
//! sets --measure--> sizes, signatures, frequencies --prefix--> postings, sorted --segment, probe--> candidates, sorted
//! ```
//!
//! All elements have one order, rarest first. Two sets x and y with J >= T share at least ceil(T |x|) elements of x, so the first
//! |x| - ceil(T |x|) + 1 elements of x, its prefix, cannot all be missing from y; the first element that they share is in both prefixes
//! (Bayardo et al. 2007, AllPairs). Only sets that meet in a prefix are looked at, and only if
//!
//! - the smaller has at least T times the size of the larger;
//! - what is left after the place where they first meet is enough (Xiao et al. 2008, PPJoin);
//! - the signatures do not differ in more bits than the sets may differ in elements.
//!
//! Containment, |x n y| >= T |x|, has a direction: x looks under its prefix, which is the same, for sets y that are listed under all of their elements.
//! In a join of two sides a bucket is split, and the sets of one side look among those of the other.
//!
//! No filter drops a pair that reaches T; the others are told by [`verify`](crate::verify). The candidates, and how often sets met, depend on
//! the sets and the rule only, not on threads or the budget.
//!
//! Memory outside the budget: 88 bytes for each set while they are ordered by size and 44 from then on, a bit for each set and thread,
//! and up to 32 MiB for frequencies. The budget is for everything else, which spills; but a bucket, the sets that share an element, is held whole.

mod frequencies;
mod prefix;
mod probe;
mod rule;
mod segment;
mod sets;

use std::sync::atomic::AtomicUsize;

use benzer_flow::{Result, Workers, Workspace, sort::Sorted, workers::on_threads};

use crate::Rank;

pub use frequencies::Frequencies;
use prefix::Listing;
use probe::Prober;
use rule::Join;
pub use rule::{Measure, Rule, Sides};
use segment::Segment;
pub use sets::{Elements, Source};

/// What the join gave.
#[derive(Debug)]
pub struct Found {
    /// As the rule tells them, in order, each once.
    pub pairs: Sorted<(Rank, Rank)>,
    /// How often two sets of similar size met in a bucket.
    pub n_bucket_pairs: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

/// A superset of the pairs that reach the threshold, among `members`: ranks in order, with at least one element each. Each of them counts about three times on the way.
///
/// # Errors
/// Sets that cannot be had, files that cannot be written or read, the wish to stop.
pub fn candidates(
    members: &[Rank],
    source: &dyn Source,
    rule: Rule,
    workspace: Workspace<'_>,
    workers: Workers<'_>,
) -> Result<Found> {
    let threads = workers.threads.max(1);
    let (sets, frequencies) = sets::measure(members, source, workers)?;
    // Half for the postings, a quarter each for a segment of them and for the pairs.
    let listing = Listing { members, source, sets: &sets, frequencies: &frequencies, rule: &rule };
    let postings = listing.postings(workspace, workers)?;
    drop(frequencies);
    let join = Join { sets: &sets.by_size, rule };
    let pairs = || workspace.sorter(4 * threads).dedup();
    let mut probers: Vec<Prober> = (0..threads).map(|_| Prober::new(join.sets.len(), pairs())).collect();
    let mut segment = Segment::new(workspace.bytes / 4);
    // The probes of all segments together count as much as all members.
    let (n_members, n_postings) = (members.len() as u64, postings.len().max(1));
    let progress = |n_probes: u64| workers.progress.add(n_probes * n_members / n_postings);
    let mut postings = postings.peekable();
    while segment.load(&mut postings, join)? {
        let next = AtomicUsize::new(0);
        on_threads(&mut probers, |prober| prober.run(&segment, join, &next, progress))?;
    }
    let n_bucket_pairs = probers.iter().map(|prober| prober.n_bucket_pairs).sum();
    let pairs = probers.into_iter().map(Prober::finish).collect::<Result<Vec<_>>>()?;
    Ok(Found { pairs: Sorted::merge(pairs)?, n_bucket_pairs, largest: segment.largest })
}

#[cfg(test)]
mod tests;

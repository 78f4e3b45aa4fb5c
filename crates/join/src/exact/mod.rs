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

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use benzer_flow::Progress;
use benzer_flow::Result;
use benzer_flow::sort::Sorted;
use benzer_flow::workers::on_threads;
use benzer_storage::Files;
pub use frequencies::Frequencies;
use probe::Prober;
pub use rule::Measure;
pub use rule::{Rule, Sides};
use segment::Segment;
pub use sets::{Elements, Source};

/// An element, the number of a set that has it in its prefix, and its place there.
type Posting = (u64, u32, u32);

/// What the join gave.
#[derive(Debug)]
pub struct Found {
    /// As the rule tells them, in order, each once.
    pub pairs: Sorted<(u32, u32)>,
    /// How often two sets of similar size met in a bucket.
    pub n_met: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

/// A superset of the pairs that reach the threshold, among `members`: ranks in order, with at least one element each. Each of them counts about three times on the way.
pub fn candidates(
    members: &[u32],
    source: &dyn Source,
    rule: Rule,
    threads: usize,
    (budget_bytes, dir, files): (usize, &Path, &Files),
    progress: &Progress<'_>,
) -> Result<Found> {
    let threads = threads.max(1);
    let (sets, frequencies) = sets::measure(members, source, (threads, progress))?;
    // Half for the postings, a quarter each for a segment of them and for the pairs.
    let place = (budget_bytes / 2 / threads, dir, files);
    let postings =
        prefix::postings(members, source, (&sets, &frequencies), &rule, (threads, place, progress))?;
    drop(frequencies);
    let sets = sets.by_size;
    let place = (budget_bytes / 4 / threads, dir, files);
    let mut probers: Vec<Prober> = (0..threads).map(|_| Prober::new(sets.len(), place)).collect();
    let mut segment = Segment::new(budget_bytes / 4);
    let share = (members.len() as u64, postings.len().max(1));
    let mut postings = postings.peekable();
    while segment.load(&mut postings, &sets, &rule)? {
        let next = AtomicUsize::new(0);
        on_threads(&mut probers, |prober| prober.run(&segment, &sets, &rule, (&next, share, progress)))?;
    }
    let n_met = probers.iter().map(Prober::n_met).sum();
    let pairs = probers.into_iter().map(Prober::finish).collect::<Result<Vec<_>>>()?;
    Ok(Found { pairs: Sorted::merge(pairs)?, n_met, largest: segment.largest() })
}

#[cfg(test)]
mod tests;

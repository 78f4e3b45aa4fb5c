//! The prefixes of all sets as postings; of sets that may contain others, all of their elements.

use std::sync::atomic::AtomicUsize;

use benzer_flow::sort::{Sorted, Sorter};
use benzer_flow::workers::{next_range, on_threads};
use benzer_flow::{Result, Workers, Workspace};

use super::Rule;
use super::frequencies::{Frequencies, element, is_shared};
use super::sets::{CHUNK, Elements, Sets, Source};
use crate::Rank;

/// An element, the number of a set that is listed under it, and its place in the set.
pub(super) type Posting = (u64, u32, u32);

/// Sets that are to be listed.
pub(super) struct Listing<'a> {
    pub members: &'a [Rank],
    pub source: &'a dyn Source,
    pub sets: &'a Sets,
    pub frequencies: &'a Frequencies,
    pub rule: &'a Rule,
}

/// What a thread fills.
struct Writer<'a> {
    elements: Box<dyn Elements + 'a>,
    keys: Vec<u128>,
    postings: Sorter<Posting>,
}

impl Listing<'_> {
    /// What all sets are listed under, in order; without elements that only one set has. Half of the memory is for it.
    pub fn postings(&self, workspace: Workspace<'_>, workers: Workers<'_>) -> Result<Sorted<Posting>> {
        let threads = workers.threads.max(1);
        let writer = |_| Writer {
            elements: self.source.elements(),
            keys: Vec::new(),
            postings: workspace.sorter(2 * threads),
        };
        let mut writers: Vec<Writer<'_>> = (0..threads).map(writer).collect();
        let next = AtomicUsize::new(0);
        on_threads(&mut writers, |writer| {
            while let Some(chunk) = next_range(&next, self.members.len(), CHUNK) {
                workers.progress.add(chunk.len() as u64)?;
                for member in chunk {
                    let (rank, set) = (self.members[member], self.sets.numbers[member]);
                    writer.write(rank, set, self.frequencies, self.rule)?;
                }
            }
            Ok(())
        })?;
        let sorted = writers.into_iter().map(|writer| Ok(writer.postings.finish()?));
        Ok(Sorted::merge(sorted.collect::<Result<_>>()?)?)
    }
}

impl Writer<'_> {
    fn write(&mut self, rank: Rank, set: u32, frequencies: &Frequencies, rule: &Rule) -> Result<()> {
        let Self { elements, keys, postings } = self;
        keys.clear();
        keys.extend(elements.of(rank)?.iter().map(|&element| frequencies.key(element)));
        if keys.is_empty() {
            return Ok(());
        }
        let listed = rule.listed(rank, keys.len() as u32) as usize;
        keys.select_nth_unstable(listed - 1);
        keys.truncate(listed);
        keys.sort_unstable();
        for (&key, place) in keys.iter().zip(0..) {
            if is_shared(key) {
                postings.push((element(key), set, place))?;
            }
        }
        Ok(())
    }
}

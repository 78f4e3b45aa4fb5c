//! The prefixes of all sets as postings; of sets that may contain others, all of their elements.

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use super::frequencies::{Frequencies, element, is_shared};
use super::sets::{CHUNK, Elements, Sets, Source};
use super::{Posting, Rule};
use benzer_flow::Progress;
use benzer_flow::Result;
use benzer_flow::sort::{Sorted, Sorter};
use benzer_flow::workers::{next_range, on_threads};
use benzer_storage::Files;

/// What a thread fills.
struct Writer<'a> {
    elements: Box<dyn Elements + 'a>,
    keys: Vec<u128>,
    postings: Sorter<Posting>,
}

/// (element, number of the set, place in the set) for what all sets are listed under, in order; without elements that only one set has.
pub(super) fn postings(
    members: &[u32],
    source: &dyn Source,
    (sets, frequencies): (&Sets, &Frequencies),
    rule: &Rule,
    (threads, (budget_bytes, dir, files), progress): (usize, (usize, &Path, &Files), &Progress<'_>),
) -> Result<Sorted<Posting>> {
    let writer = |_| Writer {
        elements: source.elements(),
        keys: Vec::new(),
        postings: Sorter::new(budget_bytes, dir, files),
    };
    let mut writers: Vec<Writer<'_>> = (0..threads).map(writer).collect();
    let next = AtomicUsize::new(0);
    on_threads(&mut writers, |writer| {
        while let Some(chunk) = next_range(&next, members.len(), CHUNK) {
            progress.add(chunk.len() as u64)?;
            for member in chunk {
                writer.write(members[member], sets.numbers[member], frequencies, rule)?;
            }
        }
        Ok(())
    })?;
    let sorted = writers.into_iter().map(|writer| Ok(writer.postings.finish()?));
    Ok(Sorted::merge(sorted.collect::<Result<_>>()?)?)
}

impl Writer<'_> {
    fn write(&mut self, rank: u32, set: u32, frequencies: &Frequencies, rule: &Rule) -> Result<()> {
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

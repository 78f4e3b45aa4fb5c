//! The prefixes of all sets as postings.

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use benzer_core::field::text::Shingler;

use super::frequencies::{Frequencies, element, is_shared};
use super::sets::{CHUNK, Elements, Sets};
use super::{Posting, next_range, on_threads};
use crate::error::Result;
use crate::files::Files;
use crate::spill::{Sorted, Sorter};
use crate::threshold::Threshold;
use crate::verify::Texts;

/// What a thread fills.
struct Writer<'a> {
    elements: Elements<'a>,
    keys: Vec<u128>,
    postings: Sorter<Posting>,
}

/// (element, number of the set, place in the set) for the prefixes of all sets, in order; without elements that only one set has.
pub(super) fn postings(
    members: &[u32],
    sources: (&dyn Texts, &Shingler),
    (sets, frequencies): (&Sets, &Frequencies),
    threshold: Threshold,
    (threads, (budget_bytes, dir, files)): (usize, (usize, &Path, &Files)),
) -> Result<Sorted<Posting>> {
    let writer = |_| Writer {
        elements: Elements::new(sources),
        keys: Vec::new(),
        postings: Sorter::new(budget_bytes, dir, files),
    };
    let mut writers: Vec<Writer<'_>> = (0..threads).map(writer).collect();
    let next = AtomicUsize::new(0);
    on_threads(&mut writers, |writer| {
        while let Some(chunk) = next_range(&next, members.len(), CHUNK) {
            for member in chunk {
                writer.write(members[member], sets.numbers[member], frequencies, threshold)?;
            }
        }
        Ok(())
    })?;
    let sorted = writers.into_iter().map(|writer| Ok(writer.postings.finish()?));
    Ok(Sorted::merge(sorted.collect::<Result<_>>()?)?)
}

impl Writer<'_> {
    fn write(&mut self, rank: u32, set: u32, frequencies: &Frequencies, threshold: Threshold) -> Result<()> {
        let Self { elements, keys, postings } = self;
        keys.clear();
        keys.extend(elements.of(rank)?.iter().map(|&element| frequencies.key(element)));
        if keys.is_empty() {
            return Ok(());
        }
        let last = keys.len() - threshold.least_overlap(keys.len() as u32) as usize;
        keys.select_nth_unstable(last);
        keys.truncate(last + 1);
        keys.sort_unstable();
        for (&key, place) in keys.iter().zip(0..) {
            if is_shared(key) {
                postings.push((element(key), set, place))?;
            }
        }
        Ok(())
    }
}

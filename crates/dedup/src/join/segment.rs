//! Buckets that are held in memory together, and who looks into them.

use std::iter::Peekable;
use std::ops::Range;

use super::Posting;
use super::sets::Set;
use crate::error::Result;
use crate::spill::Sorted;
use crate::threshold::Threshold;

/// A set that looks into a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Probe {
    pub set: u32,
    /// The place of the shared element in the set.
    pub place: u32,
    pub bucket: u32,
}

/// A set that is found in a bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub set: u32,
    pub place: u32,
}

/// As many whole buckets as the budget has room for.
#[derive(Debug)]
pub(super) struct Segment {
    most: usize,
    /// By set, then by place: the first bucket in which two sets meet has the first element that they share.
    probes: Vec<Probe>,
    /// Those of a bucket one after the other, by set and therefore by size.
    entries: Vec<Entry>,
    /// Where the entries of each bucket end.
    ends: Vec<usize>,
    largest: u64,
}

impl Segment {
    pub fn new(budget_bytes: usize) -> Self {
        // Every bucket has a probe. What grows has room for twice as much at times.
        let bytes = 2 * (size_of::<Probe>() + size_of::<Entry>() + size_of::<usize>());
        let most = (budget_bytes / bytes).min(u32::MAX as usize);
        Self { most, probes: Vec::new(), entries: Vec::new(), ends: Vec::new(), largest: 0 }
    }

    /// Takes the next buckets of the postings. False at their end.
    pub fn load(
        &mut self,
        postings: &mut Peekable<Sorted<Posting>>,
        sets: &[Set],
        threshold: Threshold,
    ) -> Result<bool> {
        self.probes.clear();
        self.entries.clear();
        self.ends.clear();
        while self.probes.len() <= self.most
            && let Some(first) = postings.next().transpose()?
        {
            self.bucket(first, postings, |set, place| {
                // Nobody smaller than a set looks for it: with one of the same size, what is left must be enough.
                let size = sets[set as usize].size;
                let left = u64::from(size - place);
                threshold.is_reached(left, 2 * u64::from(size) - left)
            })?;
        }
        self.probes.sort_unstable();
        Ok(!self.probes.is_empty())
    }

    fn bucket(
        &mut self,
        first: Posting,
        postings: &mut Peekable<Sorted<Posting>>,
        can_be_found: impl Fn(u32, u32) -> bool,
    ) -> Result<()> {
        let (n_probes, n_entries, bucket) = (self.probes.len(), self.entries.len(), self.ends.len() as u32);
        let (element, ..) = first;
        let mut next = Some(first);
        while let Some((_, set, place)) = next {
            // Only what comes after an entry can find it.
            if self.entries.len() > n_entries {
                self.probes.push(Probe { set, place, bucket });
            }
            if can_be_found(set, place) {
                self.entries.push(Entry { set, place });
            }
            next = postings.next_if(|next| next.as_ref().is_ok_and(|next| next.0 == element)).transpose()?;
        }
        if self.probes.len() == n_probes {
            self.entries.truncate(n_entries);
            return Ok(());
        }
        self.ends.push(self.entries.len());
        self.largest = self.largest.max((self.probes.len() - n_probes) as u64 + 1);
        Ok(())
    }

    /// Members of the largest bucket so far.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    pub fn n_probes(&self) -> usize {
        self.probes.len()
    }

    /// The probes of the sets that begin in a range of probes.
    pub fn probes(&self, range: Range<usize>) -> &[Probe] {
        let start_of_set = |at: usize| {
            let before = at.checked_sub(1).map(|before| self.probes[before].set);
            at + self.probes[at..].iter().take_while(|probe| Some(probe.set) == before).count()
        };
        let (start, end) = (start_of_set(range.start), start_of_set(range.end));
        &self.probes[start..end]
    }

    pub fn entries(&self, bucket: u32) -> &[Entry] {
        let bucket = bucket as usize;
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        &self.entries[start..self.ends[bucket]]
    }
}

//! Buckets that are held in memory together, and who looks into them.

use std::{iter::Peekable, ops::Range};

use benzer_flow::{Result, sort::Sorted};

use super::prefix::Posting;
use super::rule::{Join, Measure, Sides};

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
    max_probes: usize,
    /// By set, then by place: the first bucket in which two sets meet has the first element that they share.
    pub probes: Vec<Probe>,
    /// Those of a bucket one after the other, by set and therefore by size.
    entries: Vec<Entry>,
    /// Where the entries of each bucket end.
    ends: Vec<usize>,
    /// The sets that share the element at hand.
    members: Vec<Entry>,
    /// Members of the largest bucket so far.
    pub largest: u64,
}

impl Segment {
    pub fn new(budget_bytes: usize) -> Self {
        // Every bucket has a probe. What grows has room for twice as much at times.
        let bytes = 2 * (size_of::<Probe>() + 2 * size_of::<Entry>() + size_of::<usize>());
        let max_probes = (budget_bytes / bytes).min(u32::MAX as usize);
        let (probes, entries, ends, members) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { max_probes, probes, entries, ends, members, largest: 0 }
    }

    /// Takes the next buckets of the postings. False at their end.
    pub fn load(&mut self, postings: &mut Peekable<Sorted<Posting>>, join: Join<'_>) -> Result<bool> {
        self.probes.clear();
        self.entries.clear();
        self.ends.clear();
        while self.probes.len() <= self.max_probes
            && let Some(first) = postings.next().transpose()?
        {
            self.gather(first, postings)?;
            let members = std::mem::take(&mut self.members);
            let Join { sets, rule } = join;
            match rule.sides {
                Sides::Two(_) => (0..2).for_each(|side| {
                    let is = |entry: &Entry| rule.side(sets[entry.set as usize].rank) == side;
                    self.bucket(members.iter().filter(|entry| !is(entry)), &members, is, join);
                }),
                _ => self.bucket(members.iter(), &members, |_| true, join),
            }
            self.members = members;
        }
        self.probes.sort_unstable();
        Ok(!self.probes.is_empty())
    }

    /// The sets that share an element, in order.
    fn gather(&mut self, first: Posting, postings: &mut Peekable<Sorted<Posting>>) -> Result<()> {
        self.members.clear();
        let (element, ..) = first;
        let mut next = Some(first);
        while let Some((_, set, place)) = next {
            self.members.push(Entry { set, place });
            next = postings.next_if(|next| next.as_ref().is_ok_and(|next| next.0 == element)).transpose()?;
        }
        Ok(())
    }

    /// Lets members that `look` find those that can be found.
    fn bucket<'a>(
        &mut self,
        found: impl Iterator<Item = &'a Entry>,
        members: &[Entry],
        look: impl Fn(&Entry) -> bool,
        Join { sets, rule }: Join<'_>,
    ) {
        let (n_probes, n_entries, bucket) = (self.probes.len(), self.entries.len(), self.ends.len() as u32);
        self.entries.extend(found.filter(|entry| rule.can_be_found(&sets[entry.set as usize], entry.place)));
        let entries = &self.entries[n_entries..];
        let finds = |set: u32| match (rule.measure, entries) {
            (_, []) => false,
            // Only what comes after an entry can find it.
            (Measure::Jaccard, [first, ..]) => first.set < set,
            (Measure::Containment, [only]) => only.set != set,
            (Measure::Containment, _) => true,
        };
        let looks = |entry: &&Entry| {
            finds(entry.set) && look(entry) && rule.looks(&sets[entry.set as usize], entry.place)
        };
        let probe = |&Entry { set, place }: &Entry| Probe { set, place, bucket };
        self.probes.extend(members.iter().filter(looks).map(probe));
        if self.probes.len() == n_probes {
            self.entries.truncate(n_entries);
            return;
        }
        self.ends.push(self.entries.len());
        self.largest = self.largest.max((self.probes.len() - n_probes) as u64 + 1);
    }

    /// The probes of the sets that begin in a range of probes.
    pub fn of_sets(&self, range: Range<usize>) -> &[Probe] {
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

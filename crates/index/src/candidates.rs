//! Which records are worth comparing with each of many queries.

use benzer_core::lsh::BandKey;

use crate::error::Result;
use crate::settings::Layout;
use crate::sort::{self, Marks};
use crate::store::{DocNo, Postings, View};

/// Numbers that are remembered, a power of two.
const REMEMBERED: usize = 1024;

/// Those of many queries, one list after the other; it can be used again.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    numbers: Vec<DocNo>,
    ends: Vec<usize>,
    keys: Vec<BandKey>,
    key_ends: Vec<usize>,
    postings: Postings,
    seen: Seen,
    marks: Marks,
    scratch: Vec<DocNo>,
}

impl Candidates {
    /// Looks up all queries in one call: the numbers that share a band key of a wanted field with each, each once, in order, and maybe a few others.
    pub fn find<'a>(
        &mut self,
        view: &dyn View,
        (layout, fields): (&Layout, &[usize]),
        queries: impl Iterator<Item = &'a [u64]>,
    ) -> Result<()> {
        self.find_by(view, queries, |words, keys| layout.keys_of(words, fields, |key| keys.push(key)))
    }

    /// The same for queries of any kind, whose keys are appended by a function.
    #[inline]
    pub fn find_by<Q>(
        &mut self,
        view: &dyn View,
        queries: impl Iterator<Item = Q>,
        keys_of: impl Fn(Q, &mut Vec<BandKey>),
    ) -> Result<()> {
        let Self { numbers, ends, keys, key_ends, postings, seen, marks, scratch } = self;
        numbers.clear();
        ends.clear();
        keys.clear();
        key_ends.clear();
        postings.clear();
        for query in queries {
            keys_of(query, keys);
            key_ends.push(keys.len());
        }
        view.postings(keys, postings)?;
        let mut start = 0;
        for &end in &*key_ends {
            let (first, found) = (numbers.len(), postings.of_all(start..end));
            if !marks.add_distinct(found, numbers) {
                seen.add_new(found, numbers);
                sort_from(numbers, first, scratch);
            }
            ends.push(numbers.len());
            start = end;
        }
        Ok(())
    }

    /// All lists.
    pub fn numbers(&self) -> &[DocNo] {
        &self.numbers
    }

    /// The list of each query.
    pub fn lists(&self) -> impl Iterator<Item = &[DocNo]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.numbers[*start..*end])
    }

    /// Where the list of each query ends.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}

/// Sorts the numbers from a place on, and drops those that come again.
fn sort_from(numbers: &mut Vec<DocNo>, first: usize, scratch: &mut Vec<DocNo>) {
    sort::numbers(&mut numbers[first..], scratch);
    let mut before = None;
    let mut kept = first;
    for i in first..numbers.len() {
        let number = numbers[i];
        numbers[kept] = number;
        kept += usize::from(before != Some(number));
        before = Some(number);
    }
    numbers.truncate(kept);
}

/// Remembers some of the numbers that came lately.
#[derive(Debug)]
struct Seen {
    /// (round, number).
    slots: Vec<u64>,
    round: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Self { slots: vec![0; REMEMBERED], round: 0 }
    }
}

impl Seen {
    /// Appends numbers, most of those that come again once only: a similar record comes in many bands.
    fn add_new(&mut self, given: &[DocNo], numbers: &mut Vec<DocNo>) {
        self.forget();
        let mut kept = numbers.len();
        numbers.resize(kept + given.len(), 0);
        for &number in given {
            // Whether a number is new cannot be foretold: every one is written, and a new one stays.
            numbers[kept] = number;
            kept += usize::from(self.is_new(number));
        }
        numbers.truncate(kept);
    }

    fn forget(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill(0);
            self.round = 1;
        }
    }

    /// False only for a number that came since [`Seen::forget`].
    #[inline]
    fn is_new(&mut self, number: DocNo) -> bool {
        let entry = u64::from(self.round) << 32 | u64::from(number);
        let slot = &mut self.slots[number as usize % REMEMBERED];
        std::mem::replace(slot, entry) != entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_once_and_in_order() {
        let mut seen = Seen::default();
        for round in 0..3 {
            let mut numbers = vec![9, 9];
            seen.add_new(&[5, 1029, 5, 7, 1029, 0, 0, u32::MAX, 7], &mut numbers);
            sort_from(&mut numbers, 2, &mut Vec::new());
            assert_eq!(numbers, [9, 9, 0, 5, 7, 1029, u32::MAX], "round {round}");
        }
    }
}

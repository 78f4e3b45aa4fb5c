//! Which records are worth comparing with each of many queries.

mod containment_plan;
mod seen;
mod sort;

use benzer_core::lsh::BandKey;

use crate::error::Result;
use crate::record::DocNo;
use crate::settings::Layout;
use crate::store::{Postings, View};

pub(crate) use containment_plan::ContainmentPlan;
use seen::RecentNumbers;
pub(crate) use seen::SeenNumbers;
use sort::Marks;

/// Those of many queries, one list after the other; it can be used again.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    numbers: Vec<DocNo>,
    ends: Vec<usize>,
    keys: Vec<BandKey>,
    key_ends: Vec<usize>,
    postings: Postings,
    recent: RecentNumbers,
    marks: Marks,
    scratch: Vec<DocNo>,
}

impl Candidates {
    /// Looks up all queries in one call: the numbers that share a band key of a wanted field with each, each once, in order, and maybe a few others.
    pub fn find<'a>(
        &mut self,
        view: &dyn View,
        layout: &Layout,
        fields: &[usize],
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
        let Self { numbers, ends, keys, key_ends, postings, recent, marks, scratch } = self;
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
                recent.add_new(found, numbers);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_once_and_in_order() {
        let mut recent = RecentNumbers::default();
        for round in 0..3 {
            let mut numbers = vec![DocNo(9); 2];
            recent.add_new(&[5, 1029, 5, 7, 1029, 0, 0, u32::MAX, 7].map(DocNo), &mut numbers);
            sort_from(&mut numbers, 2, &mut Vec::new());
            assert_eq!(numbers, [9, 9, 0, 5, 7, 1029, u32::MAX].map(DocNo), "round {round}");
        }
    }
}

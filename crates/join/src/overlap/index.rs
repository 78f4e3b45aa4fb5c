//! Element -> the sets that have it.

/// A set of the index that has an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    element: u64,
    set: u32,
}

/// Bytes that a posting takes, with its part of the directory.
const POSTING_BYTES: usize = size_of::<Posting>() + 2 * size_of::<u32>();

/// Sets being collected, as many as a budget has room for.
#[derive(Debug)]
pub struct IndexBuilder {
    postings: Vec<Posting>,
    sizes: Vec<u32>,
    max_postings: usize,
}

impl IndexBuilder {
    /// No sets yet, and memory for as many as fit into a budget.
    pub fn new(budget_bytes: usize) -> Self {
        // What grows has room for twice as much at times.
        let max_postings = (budget_bytes / (2 * POSTING_BYTES)).min(u32::MAX as usize);
        Self { postings: Vec::new(), sizes: Vec::new(), max_postings }
    }

    /// True if another set of so many elements has room, or if there is none yet.
    pub fn has_room(&self, elements: usize) -> bool {
        self.sizes.is_empty() || self.postings.len() + elements <= self.max_postings
    }

    /// Adds the distinct elements of the next set.
    pub fn push(&mut self, elements: &[u64]) {
        let set = self.sizes.len() as u32;
        self.postings.extend(elements.iter().map(|&element| Posting { element, set }));
        self.sizes.push(elements.len() as u32);
    }

    /// The index of all sets.
    pub fn build(self) -> Index {
        let Self { mut postings, sizes, .. } = self;
        // At least two slots, so that the shift is less than the width of a word.
        let shift = 64 - postings.len().next_power_of_two().max(2).trailing_zeros();
        postings.sort_unstable_by_key(|posting| (slot(posting.element, shift), *posting));
        let mut ends = vec![0u32; 1 << (64 - shift)];
        postings.iter().for_each(|posting| ends[slot(posting.element, shift)] += 1);
        let mut all = 0;
        for end in &mut ends {
            all += *end;
            *end = all;
        }
        Index { postings, ends, shift, sizes }
    }
}

/// The index.
#[derive(Debug)]
pub struct Index {
    /// By slot, then by element, then by set.
    postings: Vec<Posting>,
    /// Where the postings of each slot end.
    ends: Vec<u32>,
    shift: u32,
    sizes: Vec<u32>,
}

/// The place of an element: elements may be short, the product spreads them.
#[inline]
fn slot(element: u64, shift: u32) -> usize {
    (element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}

impl Index {
    /// How many elements a set has.
    pub fn size(&self, set: u32) -> u32 {
        self.sizes[set as usize]
    }

    fn postings(&self, element: u64) -> &[Posting] {
        let slot = slot(element, self.shift);
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        let postings = &self.postings[start as usize..self.ends[slot] as usize];
        let from = postings.partition_point(|posting| posting.element < element);
        let n = postings[from..].partition_point(|posting| posting.element == element);
        &postings[from..from + n]
    }
}

/// Counts what a document shares with each set. Each thread has its own.
#[derive(Debug, Default)]
pub struct Counter {
    counts: Vec<u32>,
    met: Vec<u32>,
}

impl Counter {
    /// Calls `visit` with each set that shares one of some distinct elements, in order, and with how many it shares.
    pub fn count(&mut self, index: &Index, elements: &[u64], mut visit: impl FnMut(u32, u32)) {
        self.counts.resize(index.sizes.len(), 0);
        for &element in elements {
            for posting in index.postings(element) {
                let count = &mut self.counts[posting.set as usize];
                if *count == 0 {
                    self.met.push(posting.set);
                }
                *count += 1;
            }
        }
        self.met.sort_unstable();
        for set in self.met.drain(..) {
            visit(set, std::mem::take(&mut self.counts[set as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sets(n: usize) -> impl Strategy<Value = Vec<BTreeSet<u64>>> {
        let element = prop_oneof![0u64..40, (0u64..40).prop_map(|x| x << 32), any::<u64>()];
        prop::collection::vec(prop::collection::btree_set(element, 0..30), 0..n)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_sets(sets in sets(30), documents in sets(5)) {
            let mut builder = IndexBuilder::new(1 << 20);
            let list = |set: &BTreeSet<u64>| set.iter().copied().collect::<Vec<u64>>();
            sets.iter().for_each(|set| builder.push(&list(set)));
            let index = builder.build();
            let mut counter = Counter::default();
            for document in &documents {
                let mut found = Vec::new();
                counter.count(&index, &list(document), |set, n| found.push((set, n)));
                let shared = |set: &BTreeSet<u64>| set.intersection(document).count() as u32;
                let expected: Vec<(u32, u32)> = (0..).zip(sets.iter().map(shared)).filter(|(_, n)| *n > 0).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_builder_is_full_at_its_budget_and_takes_one_set_at_least() {
        let mut builder = IndexBuilder::new(100 * 2 * POSTING_BYTES);
        assert!(builder.has_room(1000));
        builder.push(&[7; 60]);
        assert!(builder.has_room(40) && !builder.has_room(41));
    }
}

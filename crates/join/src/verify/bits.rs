//! The documents of a cluster as sets of bits.
//!
//! All of them are similar to the first one, so most of their elements are its own (the module `first`), and where they stand in it is their bit. Of the others only those count that two
//! documents have: what many have gets a bit too, and what few have a list of these few. What a pair shares is then counted in a few instructions, however long its documents are.

use benzer_core::{sketch::count::common_bits, slots::ElementSet};
use benzer_flow::Result;

use super::features::{FeatureSource, Features};
use super::id_map::IdMap;
use super::reference::ReferenceDocument;
use crate::{Rank, bands::RepeatFilter, prefetch};

/// Words of all sets of bits of the first document's elements, at most, and other elements: what a cache holds.
const MAX_WORDS: usize = 1 << 19;
const MAX_OTHERS: usize = 1 << 18;
/// Words that are counted together.
pub(super) const WIDTH: usize = 8;
/// One of so many documents is many.
const MANY: usize = 32;

/// The sets.
#[derive(Debug, Default)]
pub(super) struct Bits {
    /// The elements of the first document.
    first: ReferenceDocument,
    /// A row for each document: which of those it has, and behind them which of the other elements that many have.
    rows: Rows,
    /// How many elements each document has.
    sizes: Vec<u32>,
    /// The other elements of all documents, and where those of each end.
    others: Vec<u64>,
    ends: Vec<usize>,
    distinct: ElementSet,
    filter: RepeatFilter,
    /// The other elements as numbers, and who has each number.
    numbers: IdMap,
    numbered: Vec<u32>,
    shared: Vec<Shared>,
    /// The documents that have each of the elements that few have, one list after the other.
    lists: Vec<u32>,
    /// Of each document the elements on such lists that it shares with the one that is being counted, and else zero.
    listed: Vec<u32>,
}

/// Who has an element.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    /// How many documents.
    n: u32,
    /// Its bit if many have it, where its list ends if few have it.
    place: u32,
}

/// Sets of equally many bits.
#[derive(Debug, Default)]
struct Rows {
    words: Vec<u64>,
    /// Words of a set, a multiple of [`WIDTH`].
    width: usize,
}

impl Rows {
    /// Empty sets.
    fn clear(&mut self, n: usize, bits: usize) {
        self.width = bits.div_ceil(64).next_multiple_of(WIDTH);
        self.words.clear();
        self.words.resize(n * self.width, 0);
    }

    /// The same `n` sets, with room for so many bits.
    fn widen(&mut self, n: usize, bits: usize) {
        let (old, width) = (self.width, bits.div_ceil(64).next_multiple_of(WIDTH));
        if width <= old {
            return;
        }
        self.words.resize(n * width, 0);
        // From the last to the first: each moves to where only those behind it were.
        for i in (0..n).rev() {
            self.words.copy_within(i * old..(i + 1) * old, i * width);
            self.words[i * width + old..(i + 1) * width].fill(0);
        }
        self.width = width;
    }

    fn get(&self, i: usize) -> &[u64] {
        &self.words[i * self.width..][..self.width]
    }

    fn get_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[i * self.width..][..self.width]
    }
}

impl Bits {
    /// Holds these documents; false if their sets would be too large.
    pub fn hold(
        &mut self,
        ranks: &[Rank],
        features: &mut Features,
        sources: FeatureSource<'_>,
    ) -> Result<bool> {
        if !self.split(ranks, features, sources)? {
            return Ok(false);
        }
        self.drop_single();
        self.hold_others(ranks.len());
        Ok(true)
    }

    /// Splits the elements of each document into those of the first one and others; false if they are too many.
    fn split(&mut self, ranks: &[Rank], features: &mut Features, sources: FeatureSource<'_>) -> Result<bool> {
        self.sizes.clear();
        self.ends.clear();
        let mut start = 0;
        for (i, &rank) in ranks.iter().enumerate() {
            for (ahead, what) in prefetch::DISTANCES {
                ranks.get(i + ahead).into_iter().for_each(|&rank| sources.texts.prefetch(rank, what));
            }
            let elements = features.with_repetitions(rank, sources)?;
            if i == 0 {
                self.first.fill(elements);
                if ranks.len() * self.first.places().div_ceil(64) > MAX_WORDS {
                    return Ok(false);
                }
                self.rows.clear(ranks.len(), self.first.places());
            }
            // What is behind the end is written over.
            self.others.resize(self.others.len().max(start + elements.len()), 0);
            let row = self.rows.get_mut(i);
            let n = self.first.split(elements, row, &mut self.others[start..]);
            let n = self.distinct.distinct(&mut self.others[start..start + n]);
            start += n;
            self.ends.push(start);
            self.sizes.push(row.iter().map(|word| word.count_ones()).sum::<u32>() + n as u32);
            if start > MAX_OTHERS {
                return Ok(false);
            }
        }
        self.others.truncate(start);
        Ok(true)
    }

    /// Holds the other elements that more than one of `n` documents have, as bits or on lists.
    fn hold_others(&mut self, n: usize) {
        let many = (n / MANY).max(2) as u32;
        let first_common = self.first.places();
        let n_bits = first_common + self.share_out(many);
        self.rows.widen(n, n_bits);
        self.listed.clear();
        self.listed.resize(n, 0);
        let mut start = 0;
        for (document, &end) in (0..).zip(&self.ends) {
            for &number in &self.numbered[start..end] {
                let Shared { n, place } = &mut self.shared[number as usize];
                if *n >= many {
                    let bit = first_common + *place as usize;
                    self.rows.get_mut(document as usize)[bit / 64] |= 1 << (bit % 64);
                } else if *n > 1 {
                    self.lists[*place as usize] = document;
                    *place += 1;
                }
            }
            start = end;
        }
        // Only lists are looked at from now on.
        for shared in self.shared.iter_mut().filter(|shared| shared.n < 2 || shared.n >= many) {
            *shared = Shared::default();
        }
    }

    /// Drops other elements that only one document has, as most do.
    fn drop_single(&mut self) {
        let Self { filter, others, ends, .. } = self;
        filter.count(others);
        let (mut start, mut kept) = (0, 0);
        for end in ends {
            for i in std::mem::replace(&mut start, *end)..*end {
                others[kept] = others[i];
                kept += usize::from(filter.may_be_repeated(others[i]));
            }
            *end = kept;
        }
        others.truncate(kept);
    }

    /// Gives a bit to each of the other elements that many documents have, and a list to those that few have; the number of bits.
    fn share_out(&mut self, many: u32) -> usize {
        let Self { numbers, numbered, shared, others, lists, .. } = self;
        numbers.clear(others.len() / 2);
        numbered.clear();
        numbers.number(others, numbered);
        shared.clear();
        shared.resize(numbers.n_numbers() + 1, Shared::default());
        numbered.iter().for_each(|number| shared[*number as usize].n += 1);
        let (mut n_bits, mut n_listed) = (0, 0);
        for Shared { n, place } in shared {
            if *n >= many {
                *place = n_bits;
                n_bits += 1;
            } else if *n > 1 {
                // Where its list begins, until it is filled.
                *place = n_listed;
                n_listed += *n;
            }
        }
        lists.clear();
        lists.resize(n_listed as usize, 0);
        n_bits as usize
    }

    /// Of a document and some others: how many elements both have.
    pub fn count(&mut self, one: usize, others: &[u32], shared: &mut Vec<u32>) {
        self.add_lists(one, 1);
        shared.resize(others.len(), 0);
        common_bits(self.rows.get(one), &self.rows.words, others, shared);
        for (&other, shared) in others.iter().zip(shared) {
            *shared += self.listed[other as usize];
        }
        self.add_lists(one, u32::MAX);
    }

    /// How many elements a document has.
    #[inline]
    pub fn size(&self, one: u32) -> u32 {
        self.sizes[one as usize]
    }

    /// Adds a number (modulo 2^32) to all documents on the lists of one.
    fn add_lists(&mut self, one: usize, add: u32) {
        let start = if one == 0 { 0 } else { self.ends[one - 1] };
        for &number in &self.numbered[start..self.ends[one]] {
            let Shared { n, place } = self.shared[number as usize];
            for &document in &self.lists[(place - n) as usize..place as usize] {
                let listed = &mut self.listed[document as usize];
                *listed = listed.wrapping_add(add);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Few;
    use super::*;
    use benzer_core::field::text::{Shingler, TextOptions};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn words() -> impl Strategy<Value = BTreeSet<u32>> {
        prop_oneof![
            prop::collection::btree_set(0u32..400, 0..300),
            prop::collection::btree_set(300u32..1500, 0..400)
        ]
    }

    fn unigrams() -> Shingler {
        Shingler::new(&TextOptions { n: 1, ..TextOptions::default() }).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn counts_are_those_of_sets(sets in prop_oneof![prop::collection::vec(words(), 2..12), prop::collection::vec(words(), 70..150)]) {
            let text = |set: &BTreeSet<u32>| set.iter().map(|word| format!("w{word} w{} ", set.first().unwrap())).collect();
            let (texts, shingler) = (Few(sets.iter().map(text).collect()), unigrams());
            let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered: 1000, held: 1 << 16 };
            let (mut bits, mut features, mut counts) = (Bits::default(), Features::default(), Vec::new());
            let ranks: Vec<Rank> = Rank::all(sets.len() as u32).collect();
            for _ in 0..2 {
                prop_assert!(bits.hold(&ranks, &mut features, sources).unwrap());
                for (one, set) in sets.iter().enumerate() {
                    let others: Vec<u32> = (0..sets.len() as u32).filter(|other| *other != one as u32).collect();
                    let expected: Vec<u32> = others.iter().map(|other| set.intersection(&sets[*other as usize]).count() as u32).collect();
                    bits.count(one, &others, &mut counts);
                    prop_assert_eq!(&counts, &expected);
                    prop_assert_eq!(bits.size(one as u32), set.len() as u32);
                }
            }
        }
    }

    #[test]
    fn sets_that_are_too_large_are_not_held() {
        let long = || (0..500_000).map(|word| format!("{word} ")).collect::<String>();
        let (texts, shingler) = (Few(vec!["a".to_owned(), long()]), unigrams());
        let sources = FeatureSource { texts: &texts, shingler: &shingler, remembered: 1000, held: 1 << 16 };
        let (mut bits, mut features) = (Bits::default(), Features::default());
        let mut holds = |first, n| {
            let ranks: Vec<Rank> =
                std::iter::once(Rank(first)).chain(std::iter::repeat_n(Rank(1), n)).collect();
            bits.hold(&ranks, &mut features, sources).unwrap()
        };
        assert!(holds(1, 8) && !holds(1, 80), "too many elements of the first");
        assert!(!holds(0, 1), "too many others");
    }
}

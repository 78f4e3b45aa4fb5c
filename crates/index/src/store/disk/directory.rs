//! Keys of many records, to be looked up in a file.
//!
//! Keys are cut into buckets by their first bits, of which there are about as many as one eighth of the keys; of the rest 16 bits are kept. A bucket that a common key has made large is sorted by them. A posting takes six bytes: these 16
//! bits, and the local number of the record. Keys that differ later are told apart by the index, which has the sketch.
//!
//! A bucket is a word: where its postings begin, and 32 marks, one for each value of five bits of the rest of its keys. So five of six keys that are not there are known to be missing without a look at
//! postings, which would be one more cache line from far away. The bytes are part of the format of segments.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::map::cells;
use crate::hints::prefetch;

/// Keys per bucket, about.
const PER_BUCKET: usize = 8;
/// A larger bucket is sorted, and searched by halving.
const SCANNED: usize = 32;
/// Bits of buckets that are made at the same time, so that they stay in the cache.
const BATCH_BITS: u32 = 12;

/// The bits of a key after those of its bucket, and the lower and upper half of the local number.
pub(super) type Posting = [u16; 3];

/// Where a directory is, in words from the beginning of the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// Where the buckets are, and one more that begins at the end.
    pub buckets: usize,
    /// Where the postings are.
    pub postings: usize,
    /// How many postings there are.
    pub n: usize,
    /// How many bits of a key name its bucket.
    pub bits: u32,
}

impl Place {
    /// Whether it lies within so many words.
    pub fn is_within(&self, words: usize) -> bool {
        let is_sane = (1..=32).contains(&self.bits) && self.n <= u32::MAX as usize;
        is_sane
            && self.buckets.checked_add((1 << self.bits) + 1).is_some_and(|end| end <= words)
            && self.postings.checked_add((6 * self.n).div_ceil(8)).is_some_and(|end| end <= words)
    }

    #[inline]
    fn postings<'a>(&self, words: &'a [u64]) -> &'a [Posting] {
        let (postings, _) = cells::<u16>(&words[self.postings..]).as_chunks();
        &postings[..self.n]
    }

    /// The word of the bucket of a key.
    #[inline]
    pub fn at(&self, key: u64) -> usize {
        self.buckets + (key >> (64 - self.bits)) as usize
    }

    /// Whether the bucket of a key, a word, may have it: if no record has it, mostly not.
    #[inline]
    pub fn may_have(&self, bucket: u64, key: u64) -> bool {
        bucket >> (32 + (rest(key, self.bits) & 31)) & 1 == 1
    }

    /// Asks for the first postings of a bucket.
    #[inline]
    pub fn prefetch(&self, words: &[u64], bucket: u64) {
        let at = self.postings + 6 * bucket as u32 as usize / 8;
        prefetch(words, at);
        prefetch(words, at + 5);
    }

    /// Hands the local numbers of records that may have a key to `visit`, in order. A damaged bucket has none.
    #[inline]
    pub fn find(&self, words: &[u64], key: u64, mut visit: impl FnMut(u32)) {
        let at = self.at(key);
        let range = words[at] as u32 as usize..words[at + 1] as u32 as usize;
        let Some(mut postings) = self.postings(words).get(range) else { return };
        let rest = rest(key, self.bits);
        if postings.len() > SCANNED {
            postings = &postings[postings.partition_point(|[other, ..]| *other < rest)..];
            postings = &postings[..postings.partition_point(|[other, ..]| *other == rest)];
        }
        for [other, low, high] in postings {
            if *other == rest {
                visit(u32::from(*high) << 16 | u32::from(*low));
            }
        }
    }

    /// Hands the local numbers of records whose keys lie within a range to `visit`, and a few others. Damaged buckets have none.
    pub fn each_between(&self, words: &[u64], keys: &RangeInclusive<u64>, mut visit: impl FnMut(u32)) {
        let [first, last] = [*keys.start(), *keys.end()].map(|key| (self.at(key), rest(key, self.bits)));
        for bucket in first.0..=last.0 {
            let range = words[bucket] as u32 as usize..words[bucket + 1] as u32 as usize;
            for [other, low, high] in self.postings(words).get(range).unwrap_or_default() {
                let at = (bucket, *other);
                if first <= at && at <= last {
                    visit(u32::from(*high) << 16 | u32::from(*low));
                }
            }
        }
    }
}

/// The 16 bits of a key after those of its bucket.
#[inline]
fn rest(key: u64, bits: u32) -> u16 {
    (key << bits >> 48) as u16
}

/// A directory to be written. It can be filled again, which saves its memory.
///
/// Keys are first dealt out by their first bits, then sorted piece by piece: one write to a random place of a large table for each key would take several times as long.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub buckets: Vec<u64>,
    pub postings: Vec<Posting>,
    pub bits: u32,
    /// Keys, dealt out: the bits after those of the piece, then the local number.
    dealt: Vec<u64>,
    /// The same of one piece, by bucket.
    sorted: Vec<u64>,
    /// Where each piece, and each bucket of a piece, begins.
    pieces: Vec<u32>,
    starts: Vec<u32>,
}

impl Built {
    /// Fills it with keys; `locals` has one number for each, in order.
    pub fn fill(&mut self, keys: &[u64], locals: impl Iterator<Item = u32>) {
        // At least one bit, so that the shift is less than 64.
        self.bits = (keys.len() / PER_BUCKET).max(2).next_power_of_two().trailing_zeros();
        let within = self.bits.min(BATCH_BITS);
        self.deal(keys, locals, self.bits - within, within);
        self.buckets.clear();
        self.buckets.reserve((1 << self.bits) + 1);
        self.postings.clear();
        self.postings.reserve(keys.len());
        for piece in 0..1usize << (self.bits - within) {
            self.add(piece, within);
        }
        self.buckets.push(keys.len() as u64);
    }

    /// Deals the keys out by their first bits, of which there may be none.
    fn deal(&mut self, keys: &[u64], locals: impl Iterator<Item = u32>, first: u32, within: u32) {
        let piece = |key: u64| (key >> 1 >> (63 - first)) as usize;
        self.pieces.clear();
        self.pieces.resize((1 << first) + 1, 0);
        keys.iter().for_each(|key| self.pieces[piece(*key) + 1] += 1);
        sum_up(&mut self.pieces);
        self.dealt.clear();
        self.dealt.resize(keys.len(), 0);
        // Bits that are not kept would be sorted by.
        let kept = !(u64::MAX >> (within + 16)) >> 32 << 32;
        for (key, local) in keys.iter().zip(locals) {
            let next = &mut self.pieces[piece(*key)];
            self.dealt[*next as usize] = key << first & kept | u64::from(local);
            *next += 1;
        }
        back(&mut self.pieces);
    }

    /// Sorts a piece into its buckets, and appends these.
    fn add(&mut self, piece: usize, within: u32) {
        let dealt = &self.dealt[self.pieces[piece] as usize..self.pieces[piece + 1] as usize];
        let bucket = |cell: u64| (cell >> (64 - within)) as usize;
        self.starts.clear();
        self.starts.resize((1 << within) + 1, 0);
        dealt.iter().for_each(|cell| self.starts[bucket(*cell) + 1] += 1);
        sum_up(&mut self.starts);
        self.sorted.resize(self.sorted.len().max(dealt.len()), 0);
        for cell in dealt {
            let next = &mut self.starts[bucket(*cell)];
            self.sorted[*next as usize] = *cell;
            *next += 1;
        }
        back(&mut self.starts);
        for range in self.starts.windows(2) {
            let cells = &mut self.sorted[range[0] as usize..range[1] as usize];
            if cells.len() > SCANNED {
                cells.sort_unstable();
            }
            let start = self.postings.len() as u64;
            let rest = |cell: u64| (cell << within >> 48) as u16;
            let marks = cells.iter().fold(0u64, |marks, cell| marks | 1 << (rest(*cell) & 31));
            self.postings.extend(cells.iter().map(|cell| [rest(*cell), *cell as u16, (*cell >> 16) as u16]));
            self.buckets.push(start | marks << 32);
        }
    }
}

/// Counts become where each begins.
fn sum_up(counts: &mut [u32]) {
    for i in 1..counts.len() {
        counts[i] += counts[i - 1];
    }
}

/// Every start has moved to the end of what it is the start of.
fn back(starts: &mut [u32]) {
    let last = starts.len() - 1;
    starts.copy_within(..last, 1);
    starts[0] = 0;
}

#[cfg(test)]
mod tests {
    use benzer_core::hash::mix;

    use super::super::map::bytes;
    use super::*;

    #[test]
    fn every_key_is_found_and_few_others_are_looked_for() {
        let mut built = Built::default();
        for n in [0, 1, 2, 40, 5000, 200_000] {
            // Some keys come often.
            let keys: Vec<u64> = (0..n).map(|i| mix(if i % 9 == 0 { i % 90 } else { i })).collect();
            built.fill(&keys, 0..);
            let mut words = built.buckets.clone();
            let mut postings = bytes(built.postings.as_flattened()).to_vec();
            postings.resize(postings.len().next_multiple_of(8), 0);
            let (chunks, _) = postings.as_chunks();
            words.extend(chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)));
            let place = Place { buckets: 0, postings: built.buckets.len(), n: n as usize, bits: built.bits };
            assert!(place.is_within(words.len()));
            let found = |key: u64| {
                let mut found = Vec::new();
                place.find(&words, key, |local| found.push(local));
                assert!(found.is_empty() || place.may_have(words[place.at(key)], key));
                found
            };
            for (i, key) in keys.iter().enumerate().step_by(7) {
                let found = found(*key);
                assert!(found.contains(&(i as u32)) && found.is_sorted(), "{i} of {n}");
            }
            let others = (0..1000)
                .map(|i| mix(i + (1 << 40)))
                .filter(|key| place.may_have(words[place.at(*key)], *key))
                .count();
            assert!(others < 300, "{others} of {n}");
        }
    }
}

//! Keys of many records, to be looked up in a file.
//!
//! Keys are cut into buckets by their first bits, of which there are about as many as one eighth of the keys; of the rest 16 bits are kept, sorted within each bucket. A posting takes six bytes: these 16
//! bits, and the local number of the record. Keys that differ later are told apart by the index, which has the sketch. The bytes are part of the format of segments.

use serde::{Deserialize, Serialize};

use super::map::cells;
pub(super) use crate::store::buckets::Bucket;
use crate::store::buckets::{self, Buckets, Posting, SCANNED};

/// Where a directory is, in words from the beginning of the segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// Where the starts of buckets are, and the end.
    pub starts: usize,
    /// Where the postings are.
    pub postings: usize,
    /// How many postings there are.
    pub n: usize,
    /// How many bits of a key name its bucket.
    pub bits: u32,
}

/// A directory to be written: every bucket is sorted.
pub(super) fn built(keys: &[u64], locals: impl Iterator<Item = u32>) -> Buckets {
    let mut built = Buckets::new(keys, locals);
    built.each_mut(|bucket| {
        if bucket.len() <= SCANNED {
            insertion_sort(bucket);
        }
    });
    built
}

/// Sorts a few postings by their bits; equal ones stay in order.
fn insertion_sort(bucket: &mut [Posting]) {
    for i in 1..bucket.len() {
        let posting = bucket[i];
        let mut place = i;
        while place > 0 && bucket[place - 1][0] > posting[0] {
            bucket[place] = bucket[place - 1];
            place -= 1;
        }
        bucket[place] = posting;
    }
}

impl Place {
    /// Whether it lies within so many words.
    pub fn is_within(&self, words: usize) -> bool {
        let is_sane = (1..=32).contains(&self.bits) && self.n <= u32::MAX as usize;
        is_sane
            && self.starts.checked_add(((1 << self.bits) + 2) / 2).is_some_and(|end| end <= words)
            && self.postings.checked_add((6 * self.n).div_ceil(8)).is_some_and(|end| end <= words)
    }

    #[inline]
    fn postings<'a>(&self, words: &'a [u64]) -> &'a [Posting] {
        let (postings, _) = cells::<u16>(&words[self.postings..]).as_chunks();
        &postings[..self.n]
    }

    /// The postings of the bucket of a key.
    #[inline]
    pub fn bucket(&self, words: &[u64], key: u64) -> Bucket {
        let starts = &cells::<u32>(&words[self.starts..]);
        let bucket = (key >> (64 - self.bits)) as usize;
        Bucket { start: starts[bucket], end: starts[bucket + 1] }
    }

    /// Brings the first postings of a bucket into the cache; what it returns means nothing.
    #[inline]
    pub fn touch(&self, words: &[u64], bucket: Bucket) -> u16 {
        self.postings(words).get(bucket.start as usize).map_or(0, |posting| posting[0])
    }

    /// Hands the local numbers of records that may have a key to `visit`, in order. A damaged bucket has none.
    #[inline]
    pub fn find(&self, words: &[u64], key: u64, bucket: Bucket, visit: impl FnMut(u32)) {
        let range = bucket.start as usize..bucket.end as usize;
        let Some(postings) = self.postings(words).get(range) else { return };
        buckets::find(postings, key, self.bits, visit);
    }
}

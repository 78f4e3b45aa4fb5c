//! Keys of many records, to be looked up in a file.
//!
//! Keys are cut into buckets by their first bits, of which there are about as many as one eighth of the keys; of the rest 16 bits are kept, sorted within each bucket. A posting takes six bytes: these 16
//! bits, and the local number of the record. Keys that differ later are told apart by the index, which has the sketch. The bytes are part of the format of segments.

use serde::{Deserialize, Serialize};

use super::map::cells;

/// Keys per bucket, about.
const PER_BUCKET: usize = 8;
/// A larger bucket is searched by halving.
const SCANNED: usize = 32;

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

/// Postings with the same first bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    start: u32,
    end: u32,
}

/// A directory to be written.
#[derive(Debug)]
pub(super) struct Built {
    pub starts: Vec<u32>,
    pub postings: Vec<[u16; 3]>,
    pub bits: u32,
}

impl Built {
    /// `locals` has one number for each key, in order.
    pub fn new(keys: &[u64], locals: impl Iterator<Item = u32>) -> Self {
        // At least one bit, so that the shift is less than 64.
        let bits = (keys.len() / PER_BUCKET).max(2).next_power_of_two().trailing_zeros();
        let shift = 64 - bits;
        let mut starts = vec![0u32; (1 << bits) + 1];
        keys.iter().for_each(|key| starts[(key >> shift) as usize + 1] += 1);
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut postings = vec![[0; 3]; keys.len()];
        for (&key, local) in keys.iter().zip(locals) {
            let next = &mut starts[(key >> shift) as usize];
            postings[*next as usize] = [rest(key, shift), local as u16, (local >> 16) as u16];
            *next += 1;
        }
        // Every start has moved to the end of its bucket.
        let last = starts.len() - 1;
        starts.copy_within(..last, 1);
        starts[0] = 0;
        for bucket in starts.windows(2) {
            let bucket = &mut postings[bucket[0] as usize..bucket[1] as usize];
            // Local numbers stay in order.
            match bucket.len() {
                0 | 1 => {}
                n if n <= SCANNED => insertion_sort(bucket),
                _ => bucket.sort_by_key(|[rest, ..]| *rest),
            }
        }
        Self { starts, postings, bits }
    }
}

/// Sorts a few postings by their bits; equal ones stay in order.
fn insertion_sort(bucket: &mut [[u16; 3]]) {
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
    fn postings<'a>(&self, words: &'a [u64]) -> &'a [[u16; 3]] {
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
    pub fn find(&self, words: &[u64], key: u64, bucket: Bucket, mut visit: impl FnMut(u32)) {
        let range = bucket.start as usize..bucket.end as usize;
        let Some(mut postings) = self.postings(words).get(range) else { return };
        let rest = rest(key, 64 - self.bits);
        if postings.len() > SCANNED {
            postings = &postings[postings.partition_point(|[other, ..]| *other < rest)..];
            postings = &postings[..postings.partition_point(|[other, ..]| *other == rest)];
        }
        for &[other, low, high] in postings {
            if other == rest {
                visit(u32::from(high) << 16 | u32::from(low));
            }
        }
    }
}

/// The 16 bits of a key after those of its bucket.
#[inline]
fn rest(key: u64, shift: u32) -> u16 {
    (key << (64 - shift) >> 48) as u16
}

//! Postings cut into buckets by the first bits of their keys: what the directories of all stores share.
//!
//! There are about as many buckets as one eighth of the keys; of the rest of a key 16 bits are kept, so a posting takes six bytes. Keys that differ later are told apart by the index, which has the
//! sketch. A bucket that a common key has made large is sorted, and searched by halving.

/// Keys per bucket, about.
const PER_BUCKET: usize = 8;
/// A larger bucket is searched by halving.
pub(super) const SCANNED: usize = 32;

/// The bits of a key after those of its bucket, and the lower and upper half of the local number.
pub(super) type Posting = [u16; 3];

/// Where the postings of a bucket are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    pub start: u32,
    pub end: u32,
}

/// All postings, by bucket.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// Where each bucket begins, and the end.
    pub starts: Vec<u32>,
    pub postings: Vec<Posting>,
    /// How many bits of a key name its bucket.
    pub bits: u32,
}

impl Buckets {
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
            postings[*next as usize] = [rest(key, bits), local as u16, (local >> 16) as u16];
            *next += 1;
        }
        // Every start has moved to the end of its bucket.
        let last = starts.len() - 1;
        starts.copy_within(..last, 1);
        starts[0] = 0;
        let mut buckets = Self { starts, postings, bits };
        // Local numbers stay in order.
        buckets.each_mut(|bucket| {
            if bucket.len() > SCANNED {
                bucket.sort_by_key(|[rest, ..]| *rest);
            }
        });
        buckets
    }

    /// Hands every bucket to `change`.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut [Posting])) {
        for bucket in self.starts.windows(2) {
            change(&mut self.postings[bucket[0] as usize..bucket[1] as usize]);
        }
    }
}

/// Hands the local numbers of the postings of a bucket that may have a key to `visit`, in order.
#[inline]
pub(super) fn find(mut postings: &[Posting], key: u64, bits: u32, mut visit: impl FnMut(u32)) {
    let rest = rest(key, bits);
    if postings.len() > SCANNED {
        postings = &postings[postings.partition_point(|[other, ..]| *other < rest)..];
        postings = &postings[..postings.partition_point(|[other, ..]| *other == rest)];
    }
    for posting in postings {
        if posting[0] == rest {
            visit(local(*posting));
        }
    }
}

/// The local number of a posting.
#[inline]
pub(super) fn local([_, low, high]: Posting) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

/// The 16 bits of a key after those of its bucket.
#[inline]
fn rest(key: u64, bits: u32) -> u16 {
    (key << bits >> 48) as u16
}

//! How documents met in buckets.

use benzer_core::lsh::bucket;

/// How documents met in buckets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct BucketCounts {
    /// Pairs in buckets, before the prefilter; a pair counts in every bucket.
    pub n_bucket_pairs: u64,
    /// Buckets with more members than the cap.
    pub n_oversized: u64,
    /// The members of the largest bucket.
    pub largest: u64,
}

impl BucketCounts {
    /// Counts a bucket; one of a single member is not counted.
    pub fn add(&mut self, size: u64, cap: usize) {
        if size > 1 {
            self.n_bucket_pairs += bucket::n_pairs(size, cap as u64) as u64;
            self.n_oversized += u64::from(size > cap as u64);
            self.largest = self.largest.max(size);
        }
    }
}

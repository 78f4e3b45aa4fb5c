//! How evenly documents are spread over buckets: what a search of this collection has to look at.

use serde::Serialize;

use super::Index;
use crate::error::Result;
use crate::store::{Cursor, Parts, Postings};

/// Documents that are looked at.
const SAMPLE: u64 = 500;

/// The buckets of a sample of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct BucketStats {
    /// Documents that were looked at, spread evenly over the collection.
    pub sampled: u64,
    /// Mean size of the buckets that they are in; 1 means that every document is alone.
    pub mean_bucket: f64,
    /// The largest bucket that was seen.
    pub largest_bucket: u64,
    /// The largest over the mean: 1 is perfectly even.
    pub bucket_skew: f64,
    /// Mean number of other documents that share a bucket with one: what a search by id compares.
    pub candidates_per_document: f64,
    /// The same as a share of the collection.
    pub candidate_ratio: f64,
}

impl Index {
    /// The buckets of up to 500 documents, spread evenly over the collection.
    pub fn bucket_stats(&self) -> Result<BucketStats> {
        let view = self.store().view()?;
        let stats = view.stats()?;
        let layout = self.recorder().layout();
        let numbers = stats.documents + stats.removed;
        let (mut records, mut last) = (Vec::<Vec<u64>>::new(), None);
        for i in 0..SAMPLE.min(stats.documents) {
            let from = Cursor((i * numbers / SAMPLE.min(stats.documents)) as u32);
            view.scan(from, 1, Parts::Sketches, &mut |number, record| {
                if last.replace(number) != Some(number) {
                    records.push(record.words.to_vec());
                }
                Ok(())
            })?;
        }
        let (mut buckets, mut total, mut largest, mut candidates) = (0u64, 0u64, 0u64, 0u64);
        let (mut keys, mut postings) = (Vec::new(), Postings::default());
        for words in &records {
            keys.clear();
            postings.clear();
            layout.keys_of(words, &self.all_fields, |key| keys.push(key));
            view.postings(&keys, &mut postings)?;
            let sizes = (0..keys.len()).map(|i| postings.of(i).len() as u64);
            sizes.for_each(|size| {
                (buckets, total, largest) = (buckets + 1, total + size, largest.max(size));
            });
            let mut all = postings.of_all(0..keys.len()).to_vec();
            all.sort_unstable();
            all.dedup();
            candidates += (all.len() as u64).saturating_sub(1);
        }
        let share = |of: u64, all: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        let (sampled, mean_bucket) = (records.len() as u64, share(total, buckets));
        let candidates_per_document = share(candidates, sampled);
        Ok(BucketStats {
            sampled,
            mean_bucket,
            largest_bucket: largest,
            bucket_skew: if mean_bucket > 0.0 { largest as f64 / mean_bucket } else { 0.0 },
            candidates_per_document,
            candidate_ratio: candidates_per_document / stats.documents.saturating_sub(1).max(1) as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::store;
    use benzer_core::field::{Content, Document};

    fn index(texts: impl Iterator<Item = String>) -> Index {
        let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text", "n": 1}}}"#).unwrap();
        let index = Index::new(store::memory(Settings::new(schema).unwrap()).unwrap()).unwrap();
        let documents: Vec<Document> = texts
            .enumerate()
            .map(|(i, text)| Document::new(i.to_string(), [("body", Content::from(text))]))
            .collect();
        index.insert(&documents).unwrap();
        index
    }

    #[test]
    fn documents_that_have_nothing_in_common_are_alone() {
        let words = |i: usize| (0..40).map(|j| format!("w{}", i * 40 + j)).collect::<Vec<_>>().join(" ");
        let stats = index((0..700).map(words)).bucket_stats().unwrap();
        assert_eq!(stats.sampled, 500);
        assert!(stats.mean_bucket < 1.01 && stats.candidate_ratio < 1e-3, "{stats:?}");
    }

    #[test]
    fn copies_share_every_bucket() {
        let copies = index((0..30).map(|_| "the same words in every one of them".to_owned()));
        let stats = copies.bucket_stats().unwrap();
        assert_eq!((stats.sampled, stats.largest_bucket), (30, 30));
        assert_eq!((stats.mean_bucket, stats.bucket_skew, stats.candidate_ratio), (30.0, 1.0, 1.0));
        assert_eq!(index(std::iter::empty()).bucket_stats().unwrap(), BucketStats::default());
    }
}

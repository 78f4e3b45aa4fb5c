//! Keys of many records, to be looked up.
//!
//! Keys are cut into buckets by their first bits, of which there are about as many as one eighth of the keys; of the rest 16 bits are kept. So a
//! posting takes six bytes, and a lookup touches two cache lines. Whoever looks up many keys first asks for all buckets ([`Directory::bucket`]), then for all first postings ([`Directory::touch`]),
//! and only then reads: so the memory works on all of them at once. Keys that differ later than that are told apart by the caller, who has the sketch. A bucket that a
//! common key has made large is sorted, and searched by halving.

pub(super) use crate::store::buckets::Bucket;
use crate::store::buckets::{self, Buckets, local};

/// (key, local number), by the first bits of the key.
#[derive(Debug, Default)]
pub(super) struct Directory(Buckets);

impl Directory {
    /// `locals[i]` has `keys[i]`; local numbers are in order.
    pub fn new(keys: &[u64], locals: impl Iterator<Item = u32>) -> Self {
        Self(Buckets::new(keys, locals))
    }

    /// Pairs of local numbers whose keys may be equal, the lower number first.
    pub fn repeated(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let buckets =
            self.0.starts.windows(2).map(|bucket| &self.0.postings[bucket[0] as usize..bucket[1] as usize]);
        buckets.filter(|bucket| bucket.len() > 1).flat_map(|bucket| {
            let pairs = (1..bucket.len())
                .flat_map(move |i| bucket[..i].iter().map(move |before| (before, &bucket[i])));
            pairs.filter(|(a, b)| a[0] == b[0]).map(|(a, b)| (local(*a), local(*b)))
        })
    }

    /// The postings of the bucket of a key.
    #[inline]
    pub fn bucket(&self, key: u64) -> Bucket {
        let bucket = (key >> (64 - self.0.bits)) as usize;
        Bucket { start: self.0.starts[bucket], end: self.0.starts[bucket + 1] }
    }

    /// Brings the first postings of a bucket into the cache; what it returns means nothing.
    #[inline]
    pub fn touch(&self, bucket: Bucket) -> u16 {
        self.0.postings.get(bucket.start as usize).map_or(0, |posting| posting[0])
    }

    /// Hands the local numbers of records that may have a key to `visit`, in order.
    #[inline]
    pub fn find(&self, key: u64, bucket: Bucket, visit: impl FnMut(u32)) {
        buckets::find(&self.0.postings[bucket.start as usize..bucket.end as usize], key, self.0.bits, visit);
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        4 * self.0.starts.capacity() + 6 * self.0.postings.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_record_with_a_key_is_found(keys in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![any::<u64>(), 0u64..4, (0u64..9).prop_map(|x| x << 56)]), 0..400)) {
            let (present, locals): (Vec<u64>, Vec<u32>) = keys.iter().zip(0..).filter_map(|(key, local)| Some(((*key)?, local))).unzip();
            let directory = Directory::new(&present, locals.into_iter());
            let pairs: std::collections::BTreeSet<(u32, u32)> = directory.repeated().collect();
            for &wanted in keys.iter().flatten() {
                let mut found = Vec::new();
                directory.find(wanted, directory.bucket(wanted), |local| found.push(local as usize));
                prop_assert!(found.is_sorted());
                for pair in found.windows(2).filter(|pair| pair.iter().all(|&local| keys[local] == Some(wanted))) {
                    prop_assert!(pairs.contains(&(pair[0] as u32, pair[1] as u32)));
                }
                let expected: Vec<usize> = (0..keys.len()).filter(|&i| keys[i] == Some(wanted)).collect();
                found.retain(|&local| keys[local] == Some(wanted));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn hardly_any_other_record_is_found() {
        let keys: Vec<u64> = benzer_core::hash::stream(1).take(20_000).collect();
        let directory = Directory::new(&keys, 0..);
        let mut wrong = 0;
        benzer_core::hash::stream(2)
            .take(20_000)
            .for_each(|key| directory.find(key, directory.bucket(key), |_| wrong += 1));
        assert!(wrong < 20, "{wrong}");
        assert!(directory.bytes() < 7 * keys.len());
    }
}

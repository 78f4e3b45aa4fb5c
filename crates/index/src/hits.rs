//! Searching by sketches: many queries in one go, without making anything for each match.

use benzer_core::estimate::Measured;
use benzer_core::lsh::BandKey;

use crate::error::{Error, Result};
use crate::index::{Index, now};
use crate::record::Texts;
use crate::store::{DocNo, Parts, Postings};

/// What many queries found; it can be used again.
#[derive(Debug, Default)]
pub struct Hits {
    ids: Texts,
    estimates: Vec<Measured>,
    ends: Vec<usize>,
    keys: Vec<BandKey>,
    postings: Postings,
    candidates: Vec<DocNo>,
}

impl Hits {
    /// How many queries were asked.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if nothing was asked.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What a query found: ids and estimates, in the order in which the documents came.
    pub fn of(&self, query: usize) -> impl ExactSizeIterator<Item = (&[u8], &Measured)> {
        let start = if query == 0 { 0 } else { self.ends[query - 1] };
        (start..self.ends[query]).map(|i| (self.ids.get(i), &self.estimates[i]))
    }
}

impl Index {
    /// The documents whose estimated similarity to each of some records reaches the threshold. `words` holds the records one after the other, as [`Recorder::words`](crate::Recorder::words)
    /// makes them.
    ///
    /// # Errors
    /// Words that are not records of this collection; a threshold out of range; what the store says.
    pub fn search_words(&self, words: &[u64], threshold: f64, hits: &mut Hits) -> Result<()> {
        let layout = self.recorder().layout();
        if !words.len().is_multiple_of(layout.words()) {
            return Err(Error::parameter(
                "words",
                format!("{} for each record", layout.words()),
                words.len(),
            ));
        }
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Error::parameter("threshold", "above 0 and at most 1", threshold));
        }
        let Hits { ids, estimates, ends, keys, postings, candidates } = hits;
        ids.clear();
        estimates.clear();
        ends.clear();
        keys.clear();
        postings.clear();
        let view = self.store().view()?;
        let queries = || words.chunks_exact(layout.words());
        queries().for_each(|record| layout.keys(record, |key| keys.push(key)));
        view.postings(keys, postings)?;
        let (mut start, now) = (0, now());
        for query in queries() {
            let end = start + layout.n_keys(query);
            candidates.clear();
            candidates.extend_from_slice(postings.of_all(start..end));
            candidates.sort_unstable();
            candidates.dedup();
            start = end;
            view.records(candidates, Parts::Sketches, &mut |_, record| {
                let score = self.scorer().score(layout, self.all_fields(), (query, record.words))?;
                if let Some(measured) =
                    score.estimate.measured().filter(|measured| measured.value >= threshold)
                    && (record.expires == 0 || record.expires > now)
                {
                    ids.push(record.id);
                    estimates.push(*measured);
                }
                Ok(())
            })?;
            ends.push(estimates.len());
        }
        Ok(())
    }
}

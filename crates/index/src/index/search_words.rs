//! Searching by sketches: many queries in one go, without making anything for each match.

use benzer_core::estimate::{Estimate, Measured};
use benzer_core::sketch::{Bits, count};

use super::Index;
use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::query::check_share;
use crate::record::{Texts, now};
use crate::score::RecordPair;
use crate::settings::FieldLayout;
use crate::store::{Parts, View};

/// What many queries found; it can be used again.
#[derive(Debug, Default)]
pub struct BatchMatches {
    ids: Texts,
    estimates: Vec<Measured>,
    ends: Vec<usize>,
    candidates: Candidates,
}

impl BatchMatches {
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
    pub fn search_words(&self, words: &[u64], threshold: f64, found: &mut BatchMatches) -> Result<()> {
        let stride = self.recorder().layout().words();
        if !words.len().is_multiple_of(stride) {
            return Err(Error::parameter("words", format!("{stride} for each record"), words.len()));
        }
        check_share("threshold", threshold)?;
        found.ids.clear();
        found.estimates.clear();
        found.ends.clear();
        let view = self.store().view()?;
        let batch = view.batch().saturating_mul(stride).max(1);
        let mut time = None;
        for words in words.chunks(batch) {
            self.search_batch(&*view, words, threshold, &mut time, found)?;
        }
        Ok(())
    }

    /// Searches for as many records as are best looked up together. `time` is asked for when a record that expires is met.
    fn search_batch(
        &self,
        view: &dyn View,
        words: &[u64],
        threshold: f64,
        time: &mut Option<u64>,
        found: &mut BatchMatches,
    ) -> Result<()> {
        let (layout, fields, only) = (self.recorder().layout(), &self.all_fields, OnlyField::new(self));
        let BatchMatches { ids, estimates, ends, candidates } = found;
        let n_ends = ends.len() + words.len() / layout.words();
        let query = |i: usize| &words[i * layout.words()..(i + 1) * layout.words()];
        candidates.find(view, layout, fields, words.chunks_exact(layout.words()))?;
        let mut asked = 0;
        view.records(candidates.numbers(), Parts::Sketches, &mut |place, record| {
            while candidates.ends()[asked] <= place {
                asked += 1;
                ends.push(estimates.len());
            }
            let pair = RecordPair { query: query(asked), found: record.words };
            let of_several;
            let measured = match &only {
                Some(only) => only.estimate(pair).and_then(Estimate::measured),
                None => {
                    of_several = self.scorer.score(layout, fields, pair)?;
                    of_several.measured()
                }
            };
            if let Some(measured) = measured.filter(|found| found.value >= threshold)
                && (record.expires == 0 || record.expires > *time.get_or_insert_with(now))
                && layout.share_key(fields, pair.query, pair.found)
            {
                ids.push(record.id);
                estimates.push(*measured);
            }
            Ok(())
        })?;
        ends.resize(n_ends, estimates.len());
        Ok(())
    }
}

/// The only field of a collection, if its estimates are known by the number of equal registers.
struct OnlyField<'a> {
    field: &'a FieldLayout,
    bits: Bits,
    by_equal: &'a [Estimate],
}

impl<'a> OnlyField<'a> {
    fn new(index: &'a Index) -> Option<Self> {
        let (bits, by_equal) = index.scorer.by_equal(&index.all_fields)?;
        Some(Self { field: &index.recorder().layout().fields()[0], bits, by_equal })
    }

    /// The estimate of two records; nothing if one of them is empty.
    #[inline]
    fn estimate(&self, pair: RecordPair<'_>) -> Option<&'a Estimate> {
        let k = self.by_equal.len() - 1;
        let sketch = |record| &self.field.sketch(record)[..self.bits.words(k)];
        let is_there = self.field.size(pair.query) > 0.0 && self.field.size(pair.found) > 0.0;
        is_there.then(|| {
            let differing = count::mismatches(sketch(pair.query), sketch(pair.found), self.bits) as usize;
            &self.by_equal[k - differing.min(k)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Records;
    use crate::settings::{Keeps, Settings};
    use crate::store;
    use benzer_core::hash::mix;

    /// Registers of families: members differ from the first in some.
    fn records(n: u64, families: u64) -> Records {
        let mut records = Records::default();
        for i in 0..n {
            records.ids.push(format!("{i}").as_bytes());
            records.words.push(100f64.to_bits());
            let start = records.words.len();
            records.words.extend((0..16).map(|j| mix(mix(i) % families * 100 + j)));
            for j in 0..30 {
                let at = (mix(i * 1000 + j) % 128) as usize;
                records.words[start + at / 8] ^= (mix(i * 2000 + j) & 0xff) << (8 * (at % 8));
            }
        }
        records
    }

    #[test]
    fn matches_are_those_of_brute_force() {
        let schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
        let settings = Settings::with_target(schema, 0.8, 0.95, Keeps::Sketches).unwrap();
        for (n, families) in [(300, 3), (2000, 500), (3000, 20)] {
            let index = Index::new(store::memory(settings.clone()).unwrap()).unwrap();
            let records = records(n, families);
            index.store().put(records.clone()).unwrap();
            let layout = index.recorder().layout();
            let rows: Vec<&[u64]> = records.words.chunks_exact(layout.words()).collect();
            let mut found = BatchMatches::default();
            index.search_words(&records.words, 0.7, &mut found).unwrap();
            let mut n_found = 0;
            for (i, query) in rows.iter().enumerate().step_by(7) {
                let reaches = |row: &&[u64]| {
                    let score = index.scorer.score(layout, &[0], RecordPair { query, found: row }).unwrap();
                    score.value().unwrap_or_default() >= 0.7 && layout.share_key(&[0], query, row)
                };
                let expected: Vec<String> =
                    (0..n).filter(|&j| reaches(&rows[j as usize])).map(|j| j.to_string()).collect();
                let ids: Vec<String> =
                    found.of(i).map(|(id, _)| String::from_utf8_lossy(id).into_owned()).collect();
                assert_eq!(ids, expected, "query {i} of {n}");
                n_found += ids.len();
            }
            assert!(n_found > rows.len() / 7, "{n_found}");
        }
    }
}

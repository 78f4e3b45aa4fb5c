//! Which documents are similar to two others at once.
//!
//! Three-way resemblance is the number of elements in all three sets over those in any. It is at most the resemblance of any two of them, so a third document that reaches the threshold is similar enough to both
//! to be found by their bands.

use benzer_core::estimate::{Estimate, of};

use super::Index;
use super::search::Search;
use crate::answer::{Answer, Best, Match, Stated};
use crate::candidates::Candidates;
use crate::error::Result;
use crate::query::{Probe, Query, QueryDocument};
use crate::record::Record;
use crate::score::{RecordPair, exact, may_reach, reaches};
use crate::store::Parts;

impl Index {
    /// The documents that have most in common with two others at the same time: the similarity of a match is the three-way resemblance.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn three_way_search(&self, two: [QueryDocument<'_>; 2], query: &Query) -> Result<Answer> {
        query.check_three_way()?;
        let search = Search::new(self, query)?;
        let [first, second] = two;
        let probes = [search.probe(first)?, search.probe(second)?];
        let (layout, fields) = (search.layout(), &search.query.criteria.fields);
        let mut candidates = Candidates::default();
        candidates.find_by(&*search.view, std::iter::once(&probes), |probes, keys| {
            probes.iter().for_each(|probe| layout.keys_of(&probe.words, fields, |key| keys.push(key)));
        })?;
        let mut best = Best::new(query.offset.saturating_add(query.limit));
        let mut n_candidates = 0;
        let is_exact = probes.iter().all(|probe| probe.is_exact(self.settings()));
        let parts = if is_exact { Parts::All } else { Parts::Sketches };
        search.view.records(candidates.numbers(), parts, &mut |_, record| {
            let is_one = probes.iter().any(|probe| probe.is_of(&record));
            let is_near = || probes.iter().any(|probe| layout.share_key(fields, &probe.words, record.words));
            if is_one || search.query.is_gone(&record) || !is_near() {
                return Ok(());
            }
            n_candidates += 1;
            search.offer_three_way(&probes, &record, &mut best)
        })?;
        let (mut matches, n_matches) = best.into_sorted();
        matches.drain(..query.offset.min(matches.len()));
        let Stated { recall, shown, mut warnings, .. } = search.stated(is_exact);
        warnings.extend(search.far_apart(&probes)?);
        Ok(Answer { matches, n_matches, n_candidates, recall, shown, recall_by_ratio: Vec::new(), warnings })
    }
}

impl Search<'_> {
    /// What to say if no third document can reach the threshold.
    fn far_apart(&self, [first, second]: &[Probe; 2]) -> Result<Option<String>> {
        let (criteria, mut parts) = (&self.query.criteria, Vec::new());
        let pair = RecordPair { query: &first.words, found: &second.words };
        self.index.scorer.parts(self.layout(), criteria, pair, &mut parts)?;
        let together = criteria.together(&parts);
        if criteria.accepts(&parts, &together, may_reach) {
            return Ok(None);
        }
        Ok(Some(format!(
            "the two documents have a similarity of about {:.3}: no third one can reach the threshold with both",
            together.value().unwrap_or_default()
        )))
    }

    fn offer_three_way(&self, probes: &[Probe; 2], record: &Record<'_>, best: &mut Best) -> Result<()> {
        let (settings, criteria) = (self.index.settings(), &self.query.criteria);
        let parts = self.three_way([&probes[0].words, &probes[1].words, record.words])?;
        let together = criteria.together(&parts);
        let estimated = || Match::estimated(settings, record.id, &parts, together);
        if !probes.iter().all(|probe| probe.is_exact(settings)) {
            return match criteria.accepts(&parts, &together, reaches) {
                true => best.offer(together.value().unwrap_or_default(), record.id, || Ok(estimated())),
                false => Ok(()),
            };
        }
        if !criteria.accepts(&parts, &together, may_reach) {
            return Ok(());
        }
        let document = record.to_document()?;
        let features = self.index.recorder().features(&document)?;
        let value = |&i: &usize| {
            Some((i, exact::three_way([&probes[0].features[i], &probes[1].features[i], &features[i]])?))
        };
        let values: Vec<(usize, f64)> = criteria.fields.iter().filter_map(value).collect();
        let Some((similarity, true)) = criteria.exact(&values) else { return Ok(()) };
        best.offer(similarity, record.id, || {
            let mut found = estimated();
            found.set_exact(similarity, &parts, &values);
            if self.query.explain {
                found.explain(settings, &probes[0], &document, &features);
            }
            Ok(found)
        })
    }

    /// Three-way estimates of the fields that are not empty in all three.
    pub fn three_way(&self, records: [&[u64]; 3]) -> Result<Vec<(usize, Estimate)>> {
        let mut parts = Vec::new();
        for &i in &self.query.criteria.fields {
            let field = &self.layout().fields()[i];
            let sizes = records.map(|record| field.size(record));
            if sizes.iter().all(|size| *size <= 0.0) {
                continue;
            }
            if sizes.iter().any(|size| *size <= 0.0) {
                parts.push((i, Estimate::exact(0.0)));
                continue;
            }
            let [a, b, c] = records.map(|record| field.to_sketch(record));
            parts.push((i, of::three_way(&a?, &b?, &c?)?));
        }
        Ok(parts)
    }
}

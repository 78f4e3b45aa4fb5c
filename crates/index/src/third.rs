//! The third of a triple: which documents are similar to two others at once.
//!
//! Three-way resemblance is the number of elements in all three sets over those in any. It is at most the resemblance of any two of them, so a third document that reaches the threshold is similar enough to both
//! to be found by their bands.

use benzer_core::estimate::{Estimate, of};
use benzer_core::sketch::Sketch;

use crate::best::Best;
use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::exact;
use crate::index::Index;
use crate::measure::Measure;
use crate::probe::{Asked, Probe};
use crate::query::{Answer, Query};
use crate::recall::Stated;
use crate::score::may_reach;
use crate::search::Terms;
use crate::store::{Parts, Record};

impl Index {
    /// The documents that have most in common with two others at the same time: the similarity of a match is the three-way resemblance.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn search_third(&self, two: [Asked<'_>; 2], query: &Query) -> Result<Answer> {
        if query.measure != Measure::Jaccard || query.top.is_some() {
            return Err(Error::parameter("with", "used without containment and top", "one of them"));
        }
        let terms = self.terms(query)?;
        let view = self.store().view()?;
        let [first, second] = two;
        let probes = [self.probe(&*view, first)?, self.probe(&*view, second)?];
        let (layout, fields) = (self.recorder().layout(), &terms.criteria.fields);
        let mut candidates = Candidates::default();
        candidates.find_by(&*view, std::iter::once(&probes), |probes, keys| {
            probes.iter().for_each(|probe| layout.keys_of(&probe.words, fields, |key| keys.push(key)));
        })?;
        let mut best = Best::new(query.offset.saturating_add(query.limit));
        let mut n_candidates = 0;
        let is_exact = probes.iter().all(|probe| self.is_exact(probe));
        let parts = if is_exact { Parts::All } else { Parts::Sketches };
        view.records(candidates.numbers(), parts, &mut |_, record| {
            let is_one = probes.iter().any(|probe| probe.id.as_bytes() == record.id);
            let is_near = || probes.iter().any(|probe| layout.share_key(fields, &probe.words, record.words));
            if is_one || terms.is_gone(&record) || !is_near() {
                return Ok(());
            }
            n_candidates += 1;
            self.offer_third(&probes, &record, &terms, &mut best)
        })?;
        let (mut matches, n_matches) = best.into_sorted();
        matches.drain(..query.offset.min(matches.len()));
        let Stated { recall, shown, mut warnings } = self.stated(&terms, is_exact);
        warnings.extend(self.far_apart(&probes, &terms)?);
        Ok(Answer { matches, n_matches, n_candidates, recall, shown, recall_by_ratio: Vec::new(), warnings })
    }

    /// What to say if no third document can reach the threshold.
    fn far_apart(&self, [first, second]: &[Probe; 2], terms: &Terms) -> Result<Option<String>> {
        let (layout, mut parts) = (self.recorder().layout(), Vec::new());
        self.scorer().parts(layout, &terms.criteria, (&first.words, &second.words), &mut parts)?;
        let together = terms.criteria.together(&parts);
        if terms.criteria.accepts(&parts, &together, may_reach) {
            return Ok(None);
        }
        Ok(Some(format!(
            "the two documents have a similarity of about {:.3}: no third one can reach the threshold with both",
            together.value().unwrap_or_default()
        )))
    }

    fn offer_third(
        &self,
        probes: &[Probe; 2],
        record: &Record<'_>,
        terms: &Terms,
        best: &mut Best,
    ) -> Result<()> {
        let criteria = &terms.criteria;
        let parts = self.three_way(&criteria.fields, [&probes[0].words, &probes[1].words, record.words])?;
        let together = criteria.together(&parts);
        if !probes.iter().all(|probe| self.is_exact(probe)) {
            let value = together.value().unwrap_or_default();
            let is_enough = |part: &Estimate, least: f64| part.value().unwrap_or_default() >= least;
            return match criteria.accepts(&parts, &together, is_enough) {
                true => {
                    best.offer(value, record.id, || Ok(self.estimated_match(record.id, &parts, together)))
                }
                false => Ok(()),
            };
        }
        if !criteria.accepts(&parts, &together, may_reach) {
            return Ok(());
        }
        let document = exact::document(record.id, record.document)?;
        let features = self.recorder().features(&document)?;
        let value = |&i: &usize| {
            Some((i, exact::three_way([&probes[0].features[i], &probes[1].features[i], &features[i]])?))
        };
        let values: Vec<(usize, f64)> = criteria.fields.iter().filter_map(value).collect();
        let Some((similarity, true)) = criteria.exact(&values) else { return Ok(()) };
        best.offer(similarity, record.id, || {
            let mut found = self.estimated_match(record.id, &parts, together);
            (found.similarity, found.exact) = (similarity, Some(similarity));
            for (field, (i, _)) in found.fields.iter_mut().zip(&parts) {
                field.exact = values.iter().find(|(j, _)| j == i).map(|(_, value)| *value);
                if terms.explain {
                    self.explain(*i, (&probes[0], &features, &document), field);
                }
            }
            Ok(found)
        })
    }

    /// Three-way estimates of the fields that are not empty in all three.
    pub(crate) fn three_way(&self, fields: &[usize], records: [&[u64]; 3]) -> Result<Vec<(usize, Estimate)>> {
        let mut parts = Vec::new();
        for &i in fields {
            let field = &self.recorder().layout().fields()[i];
            let sizes = records.map(|record| field.size(record));
            if sizes.iter().all(|size| *size <= 0.0) {
                continue;
            }
            if sizes.iter().any(|size| *size <= 0.0) {
                parts.push((i, Estimate::exact(0.0)));
                continue;
            }
            let sketch = |record: &[u64]| {
                Sketch::from_parts(field.spec.clone(), field.size(record), field.sketch(record).to_vec())
            };
            let [a, b, c] = records;
            parts.push((i, of::three_way(&sketch(a)?, &sketch(b)?, &sketch(c)?)?));
        }
        Ok(parts)
    }
}

//! Comparing candidates with a document, and making matches of those that are similar enough.

use benzer_core::estimate::Estimate;

use super::best::Best;
use super::matches::Match;
use crate::error::Result;
use crate::query::{Probe, ResolvedQuery};
use crate::record::{Record, Recorder};
use crate::score::{Overlap, RecordPair, Scorer, may_reach, reaches};

/// What a match must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cutoff {
    /// The thresholds.
    Thresholds,
    /// Nothing: the best are kept.
    Nothing,
}

/// Compares candidates with one document.
pub(crate) struct Matcher<'a> {
    recorder: &'a Recorder,
    scorer: &'a Scorer,
    query: &'a ResolvedQuery,
    probe: &'a Probe,
    cutoff: Cutoff,
    is_exact: bool,
    scratch: ScoreScratch<'a>,
}

/// What comparing needs again and again.
#[derive(Default)]
struct ScoreScratch<'a> {
    /// The estimates of fields.
    parts: Vec<(usize, Estimate)>,
    /// Made for the first candidate whose contents are read; nothing in it where all are read in the general way.
    overlap: Option<Option<Overlap<'a>>>,
}

impl<'a> Matcher<'a> {
    pub fn new(
        recorder: &'a Recorder,
        scorer: &'a Scorer,
        query: &'a ResolvedQuery,
        probe: &'a Probe,
        cutoff: Cutoff,
    ) -> Self {
        let is_exact = probe.is_exact(recorder.settings());
        Self { recorder, scorer, query, probe, cutoff, is_exact, scratch: ScoreScratch::default() }
    }

    /// Offers a candidate, which shares a band key, if it is similar enough.
    pub fn offer(&mut self, record: &Record<'_>, best: &mut Best) -> Result<()> {
        let (layout, criteria) = (self.recorder.layout(), &self.query.criteria);
        let pair = RecordPair { query: &self.probe.words, found: record.words };
        if self.query.ratio.is_some() && !self.scorer.may_be_enough(layout, criteria, pair)? {
            return Ok(());
        }
        if self.is_exact && self.cutoff == Cutoff::Nothing {
            return self.offer_exact(record, best);
        }
        let parts = &mut self.scratch.parts;
        if !self.is_exact
            && let Some(value) = self.scorer.only_value(layout, criteria, pair)?
        {
            let is_enough = self.cutoff == Cutoff::Nothing || value >= criteria.min_alone(criteria.fields[0]);
            // Most of them are not among the best: their intervals are not worth the work.
            let make = || {
                self.scorer.parts(layout, criteria, pair, parts)?;
                let together = criteria.together(parts);
                let found = Match::estimated(self.recorder.settings(), record.id, parts, together);
                Ok(Match { similarity: value, ..found })
            };
            return if is_enough { best.offer(value, record.id, make) } else { Ok(()) };
        }
        self.scorer.parts(layout, criteria, pair, parts)?;
        let together = criteria.together(parts);
        let is_enough = if self.is_exact { may_reach } else { reaches };
        if self.cutoff == Cutoff::Thresholds && !criteria.accepts(parts, &together, is_enough) {
            return Ok(());
        }
        if self.is_exact {
            return self.offer_exact(record, best);
        }
        best.offer(together.value().unwrap_or_default(), record.id, || {
            Ok(Match::estimated(self.recorder.settings(), record.id, parts, together))
        })
    }

    /// Offers a candidate if the features of the documents are similar enough.
    fn offer_exact(&mut self, record: &Record<'_>, best: &mut Best) -> Result<()> {
        let criteria = &self.query.criteria;
        let values = self.exact_values(record)?;
        let Some((similarity, is_enough)) = criteria.exact(&values) else { return Ok(()) };
        if self.cutoff == Cutoff::Thresholds && !is_enough {
            return Ok(());
        }
        let parts = &mut self.scratch.parts;
        best.offer(similarity, record.id, || {
            let pair = RecordPair { query: &self.probe.words, found: record.words };
            self.scorer.parts(self.recorder.layout(), criteria, pair, parts)?;
            let mut found =
                Match::estimated(self.recorder.settings(), record.id, parts, criteria.together(parts));
            found.set_exact(similarity, parts, &values);
            if self.query.explain {
                let document = record.to_document()?;
                let features = self.recorder.features(&document)?;
                found.explain(self.recorder.settings(), self.probe, &document, &features);
            }
            Ok(found)
        })
    }

    /// The exact values of the fields that say something.
    fn exact_values(&mut self, record: &Record<'_>) -> Result<Vec<(usize, f64)>> {
        let (recorder, probe, criteria) = (self.recorder, self.probe, &self.query.criteria);
        let overlap = &mut self.scratch.overlap;
        let overlap =
            overlap.get_or_insert_with(|| Overlap::new(recorder.settings(), criteria, &probe.features));
        if let Some(common) = overlap.as_mut().and_then(|overlap| overlap.of(record.document)) {
            let value = |(i, common): (usize, f64)| {
                let size = recorder.layout().fields()[i].size(record.words);
                Some((i, criteria.measure.of_common(common, [probe.features[i].size(), size])?))
            };
            return Ok(common.filter_map(value).collect());
        }
        let features = recorder.features(&record.to_document()?)?;
        let value = |&i: &usize| Some((i, criteria.measure.exact(&probe.features[i], &features[i])?));
        Ok(criteria.fields.iter().filter_map(value).collect())
    }
}

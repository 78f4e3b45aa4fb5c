//! Comparing a candidate with the query, and making a match of it.

use benzer_core::Features;
use benzer_core::estimate::Estimate;
use benzer_core::field::Document;

use crate::best::Best;
use crate::error::Result;
use crate::exact;
use crate::explain;
use crate::index::Index;
use crate::overlap::Overlap;
use crate::probe::Probe;
use crate::query::{FieldMatch, Match};
use crate::rule::Criteria;
use crate::score::may_reach;
use crate::search::Terms;
use crate::settings::Keeps;
use crate::store::Record;

/// What a match needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The thresholds.
    Thresholds,
    /// Nothing: the best are kept.
    Nothing,
}

/// What comparing candidates with one query needs again and again.
#[derive(Default)]
pub(crate) struct Desk<'a> {
    /// The estimates of fields.
    parts: Vec<(usize, Estimate)>,
    /// Made for the first candidate whose contents are read; nothing in it where all are read in the general way.
    overlap: Option<Option<Overlap<'a>>>,
}

impl Index {
    /// Whether similarities to a probe are exact.
    pub(crate) fn is_exact(&self, probe: &Probe) -> bool {
        self.settings().keeps == Keeps::Documents && !probe.features.is_empty()
    }

    /// Offers a candidate, which shares a band key, if it is similar enough.
    pub(crate) fn offer<'a>(
        &'a self,
        probe: &Probe,
        record: &Record<'_>,
        (terms, needs): (&Terms, Needs),
        (desk, best): (&mut Desk<'a>, &mut Best),
    ) -> Result<()> {
        let (layout, criteria) = (self.recorder().layout(), &terms.criteria);
        let pair = (&probe.words[..], record.words);
        if terms.ratio.is_some() && !self.scorer().may_be_enough(layout, criteria, pair)? {
            return Ok(());
        }
        let is_exact = self.is_exact(probe);
        if is_exact && needs == Needs::Nothing {
            return self.offer_exact(probe, record, (terms, needs), (desk, best));
        }
        let parts = &mut desk.parts;
        if !is_exact && let Some(value) = self.scorer().only_value(layout, criteria, pair)? {
            let is_enough = needs == Needs::Nothing || value >= criteria.least(criteria.fields[0]);
            // Most of them are not among the best: their intervals are not worth the work.
            let make = || {
                self.scorer().parts(layout, criteria, pair, parts)?;
                Ok(Match {
                    similarity: value,
                    ..self.estimated_match(record.id, parts, criteria.together(parts))
                })
            };
            return if is_enough { best.offer(value, record.id, make) } else { Ok(()) };
        }
        self.scorer().parts(layout, criteria, pair, parts)?;
        let together = criteria.together(parts);
        let by_value = |part: &Estimate, threshold: f64| part.value().unwrap_or_default() >= threshold;
        let reaches = if is_exact { may_reach } else { by_value };
        if needs == Needs::Thresholds && !criteria.accepts(parts, &together, reaches) {
            return Ok(());
        }
        if is_exact {
            return self.offer_exact(probe, record, (terms, needs), (desk, best));
        }
        let value = together.value().unwrap_or_default();
        best.offer(value, record.id, || Ok(self.estimated_match(record.id, parts, together)))
    }

    pub(crate) fn estimated_match(
        &self,
        id: &[u8],
        parts: &[(usize, Estimate)],
        together: Estimate,
    ) -> Match {
        let field = |(i, estimate): &(usize, Estimate)| FieldMatch {
            field: self.settings().fields[*i].name.clone(),
            estimate: *estimate,
            exact: None,
            explanation: None,
        };
        Match {
            id: String::from_utf8_lossy(id).into_owned(),
            similarity: together.value().unwrap_or_default(),
            exact: None,
            estimate: together,
            fields: parts.iter().map(field).collect(),
        }
    }

    /// Offers a candidate if the features of the documents are similar enough.
    fn offer_exact<'a>(
        &'a self,
        probe: &Probe,
        record: &Record<'_>,
        (terms, needs): (&Terms, Needs),
        (desk, best): (&mut Desk<'a>, &mut Best),
    ) -> Result<()> {
        let criteria = &terms.criteria;
        let Desk { parts, overlap } = desk;
        let overlap = overlap.get_or_insert_with(|| Overlap::new(self.settings(), criteria, &probe.features));
        let values = self.exact_values(probe, record, criteria, overlap.as_mut())?;
        let Some((similarity, is_enough)) = criteria.exact(&values) else { return Ok(()) };
        if needs == Needs::Thresholds && !is_enough {
            return Ok(());
        }
        best.offer(similarity, record.id, || {
            self.scorer().parts(self.recorder().layout(), criteria, (&probe.words, record.words), parts)?;
            let mut found = self.estimated_match(record.id, parts, criteria.together(parts));
            (found.similarity, found.exact) = (similarity, Some(similarity));
            for (field, (i, _)) in found.fields.iter_mut().zip(&*parts) {
                field.exact = values.iter().find(|(j, _)| j == i).map(|(_, value)| *value);
            }
            if terms.explain {
                let document = exact::document(record.id, record.document)?;
                let features = self.recorder().features(&document)?;
                for (field, (i, _)) in found.fields.iter_mut().zip(&*parts) {
                    self.explain(*i, (probe, &features, &document), field);
                }
            }
            Ok(found)
        })
    }

    /// The exact values of the fields that say something.
    fn exact_values(
        &self,
        probe: &Probe,
        record: &Record<'_>,
        criteria: &Criteria,
        overlap: Option<&mut Overlap<'_>>,
    ) -> Result<Vec<(usize, f64)>> {
        if let Some(common) = overlap.and_then(|overlap| overlap.of(record.document)) {
            let value = |(i, common): (usize, f64)| {
                let size = self.recorder().layout().fields()[i].size(record.words);
                Some((i, criteria.measure.of_common(common, [probe.features[i].size(), size])?))
            };
            return Ok(common.filter_map(value).collect());
        }
        let features = self.recorder().features(&exact::document(record.id, record.document)?)?;
        let value = |&i: &usize| Some((i, criteria.measure.exact(&probe.features[i], &features[i])?));
        Ok(criteria.fields.iter().filter_map(value).collect())
    }

    pub(crate) fn explain(
        &self,
        i: usize,
        (probe, features, document): (&Probe, &[Features], &Document),
        field: &mut FieldMatch,
    ) {
        if let Some(asked) = &probe.document {
            let pair = (&probe.features[i], &features[i]);
            let explanation =
                explain::explain(&self.settings().schema, &field.field, (asked, document), pair);
            field.explanation = Some(explanation);
        }
    }
}

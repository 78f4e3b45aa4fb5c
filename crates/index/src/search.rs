//! Searching a collection: what is asked, what is compared, what is answered.

use benzer_core::field::Document;

use crate::best::Best;
use crate::candidates::Candidates;
use crate::contain::{self, Plan};
use crate::error::{Error, Result};
use crate::index::{Index, is_gone, now};
use crate::measure::Measure;
use crate::offer::{Desk, Needs};
use crate::probe::{Asked, Probe};
use crate::query::{Answer, Query};
use crate::recall::Stated;
use crate::rule::{Criteria, Rule};
use crate::settings::Keeps;
use crate::store::{Parts, Record, View};

/// What a query means for this collection.
pub(crate) struct Terms {
    pub criteria: Criteria,
    /// Of a search for containment: how many times as large one of two documents may be.
    pub ratio: Option<f64>,
    pub explain: bool,
    now: u64,
}

impl Index {
    /// The documents that are similar to one that need not be in the collection. If one with its id is, that is not a match.
    ///
    /// # Errors
    /// A document that does not suit the schema; a query that makes no sense; what the store says.
    pub fn search(&self, document: &Document, query: &Query) -> Result<Answer> {
        let mut answers = self.search_many(std::slice::from_ref(document), query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    /// [`Index::search`] for many documents in one go.
    ///
    /// # Errors
    /// As [`Index::search`], for the first document that fails.
    pub fn search_many(&self, documents: &[Document], query: &Query) -> Result<Vec<Answer>> {
        let terms = self.terms(query)?;
        let view = self.store().view()?;
        let probe = |document: &Document| self.probe(&*view, Asked::Document(document));
        let probes = documents.iter().map(probe).collect::<Result<Vec<_>>>()?;
        self.answers(&*view, &probes, &terms, query)
    }

    /// The documents that are similar to one of the collection.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn search_id(&self, id: &str, query: &Query) -> Result<Answer> {
        let terms = self.terms(query)?;
        let view = self.store().view()?;
        let probe = self.probe(&*view, Asked::Id(id))?;
        let mut answers = self.answers(&*view, &[probe], &terms, query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    pub(crate) fn terms(&self, query: &Query) -> Result<Terms> {
        let criteria = Criteria::new(self.settings(), query)?;
        let ratio = contain::ratio(self.settings(), self.recorder().layout(), &criteria, query)?;
        if query.explain && self.settings().keeps == Keeps::Sketches {
            return Err(Error::parameter(
                "explain",
                "used with a collection that keeps documents",
                "one that keeps sketches",
            ));
        }
        Ok(Terms { criteria, ratio, explain: query.explain, now: now() })
    }

    fn answers(
        &self,
        view: &dyn View,
        probes: &[Probe],
        terms: &Terms,
        query: &Query,
    ) -> Result<Vec<Answer>> {
        if let Some(most) = query.top {
            return probes.iter().map(|probe| self.top(view, probe, (terms, query), most)).collect();
        }
        let (layout, mut candidates) = (self.recorder().layout(), Candidates::default());
        let fields = &terms.criteria.fields;
        let plan = |probe: &Probe| {
            let ratio = terms.ratio?;
            Some(Plan::new(layout, &terms.criteria, &probe.words, (ratio, self.settings().recall)))
        };
        let plans: Vec<Option<Plan<'_>>> = probes.iter().map(plan).collect();
        candidates.find_by(view, probes.iter().zip(&plans), |(probe, plan), keys| match plan {
            Some(plan) => plan.keys(layout, &probe.words, keys),
            None => layout.keys_of(&probe.words, fields, |key| keys.push(key)),
        })?;
        let most = query.offset.saturating_add(query.limit);
        let mut best: Vec<Best> = probes.iter().map(|_| Best::new(most)).collect();
        let (mut asked, mut compared, mut desk) = (0, vec![0; probes.len()], Desk::default());
        view.records(candidates.numbers(), self.parts(probes), &mut |place, record| {
            while candidates.ends()[asked] <= place as usize {
                asked += 1;
                desk = Desk::default();
            }
            let probe = &probes[asked];
            let shares_key = || match &plans[asked] {
                Some(plan) => plan.share_key(layout, &probe.words, record.words),
                None => layout.share_key(fields, &probe.words, record.words),
            };
            if record.id == probe.id.as_bytes() || terms.is_gone(&record) || !shares_key() {
                return Ok(());
            }
            compared[asked] += 1;
            let wanted = (terms, Needs::Thresholds);
            self.offer(probe, &record, wanted, (&mut desk, &mut best[asked]))
        })?;
        let is_exact = probes.iter().all(|probe| self.is_exact(probe));
        let (stated, chance) = (self.stated(terms, is_exact), self.chance_at_threshold(terms, is_exact));
        let answer = |((best, n_candidates), (plan, probe)): ((Best, usize), (&Option<Plan<'_>>, &Probe))| {
            let (mut matches, n_matches) = best.into_sorted();
            matches.drain(..query.offset.min(matches.len()));
            let Stated { mut recall, mut shown, ref warnings } = stated;
            let recall_by_ratio = plan.as_ref().map(|plan| plan.recall(chance)).unwrap_or_default();
            if plan.is_some() {
                recall = recall_by_ratio.iter().map(|by_ratio| by_ratio.recall).fold(1.0, f64::min);
                shown = recall * chance;
            }
            let mut warnings = warnings.clone();
            if n_matches == 0 {
                warnings.extend(self.why_nothing(probe, terms, n_candidates));
            }
            Answer { matches, n_matches, n_candidates, recall, shown, recall_by_ratio, warnings }
        };
        Ok(best.into_iter().zip(compared).zip(plans.iter().zip(probes)).map(answer).collect())
    }

    /// What to say of a search by several fields that found nothing: why documents that are alike in one of them may not count.
    fn why_nothing(&self, probe: &Probe, terms: &Terms, n_candidates: usize) -> Option<String> {
        let (criteria, layout) = (&terms.criteria, self.recorder().layout());
        if criteria.measure != Measure::Jaccard || criteria.rule == Rule::Any || criteria.fields.len() < 2 {
            return None;
        }
        let names = |some: &mut dyn Iterator<Item = &usize>| -> String {
            some.map(|&i| format!("`{}`", layout.fields()[i].name)).collect::<Vec<_>>().join(", ")
        };
        let is_empty = |&&i: &&usize| layout.fields()[i].size(&probe.words) <= 0.0 && !criteria.is_apart(i);
        let empty = names(&mut criteria.fields.iter().filter(is_empty));
        if !empty.is_empty() {
            return Some(format!(
                "the query has no {empty}: documents that have it count as 0 there; name the fields to compare, to leave it out"
            ));
        }
        let all = names(&mut criteria.fields.iter());
        (n_candidates > 0).then(|| {
            format!(
                "{n_candidates} documents may be that similar in one of {all}, and none in all together; rule `any` finds them, and so does naming the fields to compare"
            )
        })
    }

    /// Documents are needed only where similarities can be exact.
    fn parts(&self, probes: &[Probe]) -> Parts {
        let is_exact = probes.iter().any(|probe| self.is_exact(probe));
        if is_exact { Parts::All } else { Parts::Sketches }
    }
}

impl Terms {
    pub fn is_gone(&self, record: &Record<'_>) -> bool {
        is_gone(record, self.now)
    }
}

#[cfg(test)]
mod tests;

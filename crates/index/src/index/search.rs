//! Searching a collection: what is asked, what is compared, what is answered.

use benzer_core::field::Document;
use benzer_core::lsh::BandKey;

use super::Index;
use crate::answer::{Answer, Best, Cutoff, Matcher, Stated};
use crate::candidates::{Candidates, ContainmentPlan};
use crate::error::{Error, Result};
use crate::query::{Measure, Probe, Query, QueryDocument, ResolvedQuery, Rule};
use crate::record::Record;
use crate::settings::Layout;
use crate::store::{Parts, View};

/// One of the documents that are searched for together.
struct Search<'a> {
    probe: &'a Probe,
    /// Of a search for containment.
    plan: Option<ContainmentPlan<'a>>,
    best: Best,
    n_candidates: usize,
}

impl Index {
    /// The documents that are similar to one that need not be in the collection. If one with its id is, that is not a match.
    ///
    /// # Errors
    /// A document that does not suit the schema; a query that makes no sense; what the store says.
    pub fn search(&self, document: &Document, query: &Query) -> Result<Answer> {
        self.search_by(QueryDocument::Document(document), query)
    }

    /// The documents that are similar to one of the collection.
    ///
    /// # Errors
    /// No such document; a query that makes no sense; what the store says.
    pub fn search_id(&self, id: &str, query: &Query) -> Result<Answer> {
        self.search_by(QueryDocument::Id(id), query)
    }

    /// [`Index::search`] or [`Index::search_id`].
    ///
    /// # Errors
    /// As these.
    pub fn search_by(&self, document: QueryDocument<'_>, query: &Query) -> Result<Answer> {
        let mut answers = self.search_all([document].into_iter(), query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    /// [`Index::search`] for many documents in one go.
    ///
    /// # Errors
    /// As [`Index::search`], for the first document that fails.
    pub fn search_many(&self, documents: &[Document], query: &Query) -> Result<Vec<Answer>> {
        self.search_all(documents.iter().map(QueryDocument::Document), query)
    }

    fn search_all<'a>(
        &self,
        documents: impl Iterator<Item = QueryDocument<'a>>,
        query: &Query,
    ) -> Result<Vec<Answer>> {
        let resolved = self.resolve(query)?;
        let view = self.store().view()?;
        let probes = documents.map(|document| self.probe(&*view, document)).collect::<Result<Vec<_>>>()?;
        match query.top {
            Some(n) => probes.iter().map(|probe| self.top(&*view, &resolved, probe, n)).collect(),
            None => self.similar(&*view, &resolved, &probes, query),
        }
    }

    pub(super) fn resolve(&self, query: &Query) -> Result<ResolvedQuery> {
        ResolvedQuery::new(self.settings(), self.recorder().layout(), query)
    }

    pub(super) fn probe(&self, view: &dyn View, document: QueryDocument<'_>) -> Result<Probe> {
        let id = match document {
            QueryDocument::Document(document) => return Probe::of_document(self.recorder(), document),
            QueryDocument::Id(id) => id,
        };
        let mut probe = None;
        self.visit(view, id, Parts::All, &mut |_, record| {
            probe = Some(Probe::of_record(self.recorder(), &record)?);
            Ok(())
        })?;
        probe.ok_or_else(|| Error::NoDocument { id: id.to_owned() })
    }

    /// What is said of a search by similarity, where similarities are exact or not.
    pub(super) fn stated(&self, query: &ResolvedQuery, is_exact: bool) -> Stated {
        let mut stated = Stated::new(self.recorder(), self.scorer(), query, is_exact);
        stated.warnings.extend(self.store().damage());
        stated
    }

    /// The documents that reach the thresholds.
    fn similar(
        &self,
        view: &dyn View,
        resolved: &ResolvedQuery,
        probes: &[Probe],
        query: &Query,
    ) -> Result<Vec<Answer>> {
        let (layout, settings) = (self.recorder().layout(), self.settings());
        let max = query.offset.saturating_add(query.limit);
        let search = |probe| Search::new(layout, resolved, probe, settings.recall, max);
        let mut searches: Vec<Search<'_>> = probes.iter().map(search).collect();
        let mut candidates = Candidates::default();
        let fields = &resolved.criteria.fields;
        candidates.find_by(view, searches.iter(), |search, keys| search.keys(layout, fields, keys))?;
        let parts = Probe::parts_for(probes, settings);
        self.compare(view, resolved, &candidates, parts, &mut searches)?;
        let is_exact = probes.iter().all(|probe| probe.is_exact(settings));
        let stated = self.stated(resolved, is_exact);
        let answer = |search: Search<'_>| {
            let probe = search.probe;
            let mut answer = search.answer(query.offset, &stated);
            if answer.n_matches == 0 {
                answer.warnings.extend(self.why_nothing(probe, resolved, answer.n_candidates));
            }
            answer
        };
        Ok(searches.into_iter().map(answer).collect())
    }

    /// Compares all candidates of searches.
    fn compare(
        &self,
        view: &dyn View,
        resolved: &ResolvedQuery,
        candidates: &Candidates,
        parts: Parts,
        searches: &mut [Search<'_>],
    ) -> Result<()> {
        let (layout, fields) = (self.recorder().layout(), &resolved.criteria.fields);
        let (mut asked, mut matcher) = (0, None);
        view.records(candidates.numbers(), parts, &mut |place, record| {
            while candidates.ends()[asked] <= place as usize {
                (asked, matcher) = (asked + 1, None);
            }
            let search = &mut searches[asked];
            if search.is_same(&record)
                || resolved.is_gone(&record)
                || !search.share_key(layout, fields, &record)
            {
                return Ok(());
            }
            search.n_candidates += 1;
            let probe = search.probe;
            let matcher = matcher.get_or_insert_with(|| {
                Matcher::new(self.recorder(), self.scorer(), resolved, probe, Cutoff::Thresholds)
            });
            matcher.offer(&record, &mut search.best)
        })
    }

    /// What to say of a search by several fields that found nothing: why documents that are alike in one of them may not count.
    fn why_nothing(&self, probe: &Probe, resolved: &ResolvedQuery, n_candidates: usize) -> Option<String> {
        let (criteria, layout) = (&resolved.criteria, self.recorder().layout());
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
}

impl<'a> Search<'a> {
    fn new(layout: &'a Layout, query: &ResolvedQuery, probe: &'a Probe, recall: f64, max: usize) -> Self {
        let plan = ContainmentPlan::new(layout, query, &probe.words, recall);
        Self { probe, plan, best: Best::new(max), n_candidates: 0 }
    }

    /// The keys to look up.
    fn keys(&self, layout: &Layout, fields: &[usize], keys: &mut Vec<BandKey>) {
        match &self.plan {
            Some(plan) => plan.keys(layout, &self.probe.words, keys),
            None => layout.keys_of(&self.probe.words, fields, |key| keys.push(key)),
        }
    }

    /// True if a record has one of them.
    #[inline]
    fn share_key(&self, layout: &Layout, fields: &[usize], record: &Record<'_>) -> bool {
        match &self.plan {
            Some(plan) => plan.share_key(layout, &self.probe.words, record.words),
            None => layout.share_key(fields, &self.probe.words, record.words),
        }
    }

    /// True for the document itself.
    #[inline]
    fn is_same(&self, record: &Record<'_>) -> bool {
        record.id == self.probe.id.as_bytes()
    }

    fn answer(self, offset: usize, stated: &Stated) -> Answer {
        let (mut matches, n_matches) = self.best.into_sorted();
        matches.drain(..offset.min(matches.len()));
        let recall_by_ratio = self.plan.as_ref().map(|plan| stated.by_ratio(plan));
        let stated = recall_by_ratio.as_deref().map_or_else(|| stated.clone(), |all| stated.of_ratios(all));
        let Stated { recall, shown, warnings, .. } = stated;
        Answer {
            matches,
            n_matches,
            n_candidates: self.n_candidates,
            recall,
            shown,
            recall_by_ratio: recall_by_ratio.unwrap_or_default(),
            warnings,
        }
    }
}

#[cfg(test)]
mod tests;

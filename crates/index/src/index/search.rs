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

/// A query, and the collection as it is when it is asked.
pub(super) struct Search<'a> {
    pub index: &'a Index,
    pub view: Box<dyn View + 'a>,
    pub query: ResolvedQuery,
}

/// One of the documents that are searched for together.
struct Lookup<'a> {
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
    pub fn search_by(&self, document: QueryDocument<'_>, query: &Query) -> Result<Answer> {
        let mut answers = self.search_all([document].into_iter(), query)?;
        Ok(answers.pop().expect("one answer for each document"))
    }

    /// [`Index::search`] for many documents in one go; the first that fails is the error.
    pub fn search_many(&self, documents: &[Document], query: &Query) -> Result<Vec<Answer>> {
        self.search_all(documents.iter().map(QueryDocument::Document), query)
    }

    fn search_all<'a>(
        &self,
        documents: impl Iterator<Item = QueryDocument<'a>>,
        query: &Query,
    ) -> Result<Vec<Answer>> {
        let search = Search::new(self, query)?;
        let probes = documents.map(|document| search.probe(document)).collect::<Result<Vec<_>>>()?;
        match query.top {
            Some(n) => probes.iter().map(|probe| search.top(probe, n)).collect(),
            None => search.similar(&probes, query.offset, query.limit),
        }
    }
}

impl<'a> Search<'a> {
    pub fn new(index: &'a Index, query: &Query) -> Result<Self> {
        let query = ResolvedQuery::new(index.settings(), index.recorder().layout(), query)?;
        Ok(Self { index, view: index.store().view()?, query })
    }

    pub fn probe(&self, document: QueryDocument<'_>) -> Result<Probe> {
        let recorder = self.index.recorder();
        let id = match document {
            QueryDocument::Document(document) => return Probe::of_document(recorder, document),
            QueryDocument::Id(id) => id,
        };
        let mut probe = None;
        self.index.visit(&*self.view, id, Parts::All, &mut |_, record| {
            probe = Some(Probe::of_record(recorder, &record)?);
            Ok(())
        })?;
        probe.ok_or_else(|| Error::NoDocument { id: id.to_owned() })
    }

    pub fn layout(&self) -> &'a Layout {
        self.index.recorder().layout()
    }

    pub fn matcher<'b>(&'b self, probe: &'b Probe, cutoff: Cutoff) -> Matcher<'b> {
        Matcher::new(self.index.recorder(), &self.index.scorer, &self.query, probe, cutoff)
    }

    /// What is said of a search by similarity, where similarities are exact or not.
    pub fn stated(&self, is_exact: bool) -> Stated {
        let mut stated = Stated::new(self.index.recorder(), &self.index.scorer, &self.query, is_exact);
        stated.warnings.extend(self.index.store().damage());
        stated
    }

    /// The documents that reach the thresholds.
    fn similar(&self, probes: &[Probe], offset: usize, limit: usize) -> Result<Vec<Answer>> {
        let (layout, settings) = (self.layout(), self.index.settings());
        let lookup = |probe| Lookup {
            probe,
            plan: ContainmentPlan::new(layout, &self.query, &probe.words, settings.recall),
            best: Best::new(offset.saturating_add(limit)),
            n_candidates: 0,
        };
        let mut lookups: Vec<Lookup<'_>> = probes.iter().map(lookup).collect();
        let (mut candidates, fields) = (Candidates::default(), &self.query.criteria.fields);
        candidates.find_by(&*self.view, lookups.iter(), |lookup, keys| lookup.keys(layout, fields, keys))?;
        self.compare(&candidates, Probe::parts_for(probes, settings), &mut lookups)?;
        let stated = self.stated(probes.iter().all(|probe| probe.is_exact(settings)));
        let answer = |lookup: Lookup<'_>| {
            let probe = lookup.probe;
            let mut answer = lookup.answer(offset, &stated);
            if answer.n_matches == 0 {
                answer.warnings.extend(self.why_nothing(probe, answer.n_candidates));
            }
            answer
        };
        Ok(lookups.into_iter().map(answer).collect())
    }

    /// Compares all candidates.
    fn compare(&self, candidates: &Candidates, parts: Parts, lookups: &mut [Lookup<'_>]) -> Result<()> {
        let (layout, fields) = (self.layout(), &self.query.criteria.fields);
        let (mut asked, mut matcher) = (0, None);
        self.view.records(candidates.numbers(), parts, &mut |place, record| {
            while candidates.ends()[asked] <= place {
                (asked, matcher) = (asked + 1, None);
            }
            let lookup = &mut lookups[asked];
            let probe = lookup.probe;
            if probe.is_of(&record)
                || self.query.is_gone(&record)
                || !lookup.share_key(layout, fields, &record)
            {
                return Ok(());
            }
            lookup.n_candidates += 1;
            let matcher = matcher.get_or_insert_with(|| self.matcher(probe, Cutoff::Thresholds));
            matcher.offer(&record, &mut lookup.best)
        })
    }

    /// What to say of a search by several fields that found nothing: why documents that are alike in one of them may not count.
    fn why_nothing(&self, probe: &Probe, n_candidates: usize) -> Option<String> {
        let (criteria, layout) = (&self.query.criteria, self.layout());
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

impl Lookup<'_> {
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

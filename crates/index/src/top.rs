//! The most similar documents, whatever their similarity.
//!
//! Band keys keep the order of the registers, so that all documents which share the first rows of a band lie side by side, as in an LSH Forest (Bawa, Condie and Ganesan, 2005). The search begins with whole
//! bands and gives up one row after the other. It ends when a document as similar as the last of the best so far would have been found with the recall of the collection; the answer says with which
//! chance it would. Where even one row finds too few, a small collection is looked at as a whole.

use crate::best::Best;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::measure::Measure;
use crate::offer::Needs;
use crate::probe::Probe;
use crate::query::{Answer, Query};
use crate::search::Terms;
use crate::store::{DocNo, Parts, Postings, View};

/// Documents whose contents are read at a time.
const READ: usize = 64;
/// A collection of at most so many documents is looked at as a whole where prefixes do not find enough.
const SCANNED: u64 = 50_000;

/// A document by its estimate.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    value: f64,
    /// Above this its similarity all but never is.
    highest: f64,
    number: DocNo,
}

impl Index {
    pub(crate) fn top(
        &self,
        view: &dyn View,
        probe: &Probe,
        (terms, query): (&Terms, &Query),
        most: usize,
    ) -> Result<Answer> {
        let is_alone = query.threshold.is_none()
            && query.thresholds.is_empty()
            && query.offset == 0
            && query.measure == Measure::Jaccard;
        if !is_alone || most == 0 {
            return Err(Error::parameter(
                "top",
                "at least 1, without thresholds, offset and containment",
                most,
            ));
        }
        let (ranked, rows) = self.ranked(view, probe, terms, most)?;
        let mut best = Best::new(most);
        self.read_best(view, probe, (terms, &ranked), &mut best)?;
        let (matches, _) = best.into_sorted();
        let last = matches.last().map_or(0.0, |last| last.similarity);
        let recall =
            if matches.is_empty() && rows > 0 { 0.0 } else { self.recall_of_prefixes(terms, rows, last) };
        let few = format!(
            "only {} documents share a register of a band with the query: others are less similar than a search can see",
            matches.len()
        );
        let warnings = if matches.len() < most && rows > 0 { vec![few] } else { Vec::new() };
        let n_candidates = ranked.len();
        Ok(Answer {
            n_matches: matches.len(),
            matches,
            n_candidates,
            recall,
            recall_by_ratio: Vec::new(),
            warnings,
        })
    }

    /// Candidates by their estimates, the most similar first, and how many rows they share in some band at least; none if all documents are candidates.
    fn ranked(
        &self,
        view: &dyn View,
        probe: &Probe,
        terms: &Terms,
        most: usize,
    ) -> Result<(Vec<Ranked>, usize)> {
        let (layout, fields) = (self.recorder().layout(), &terms.criteria.fields);
        let all_rows = fields.iter().map(|&i| layout.fields()[i].banding.rows()).max().unwrap_or(1);
        // Those that share so many rows, in order. What a store gives besides is looked at again with fewer rows.
        let (mut known, mut ranked) = (Vec::new(), Vec::<Ranked>::new());
        let (mut postings, mut parts) = (Postings::default(), Vec::new());
        for rows in (1..=all_rows).rev() {
            let ranges = layout.prefixes(&probe.words, fields, rows);
            postings.clear();
            view.ranges(layout, &ranges, &mut postings)?;
            let new = new_numbers(&known, postings.of_all(0..ranges.len()));
            view.records(&new, Parts::Sketches, &mut |place, record| {
                let pair = (&probe.words[..], record.words);
                let is_there = record.id != probe.id.as_bytes() && !terms.is_gone(&record);
                if is_there && layout.share_prefix(fields, rows, pair.0, pair.1) {
                    let rank = self.scorer().rank(layout, &terms.criteria, pair, &mut parts)?;
                    let number = new[place as usize];
                    known.push(number);
                    ranked.extend(rank.map(|(value, highest)| Ranked { value, highest, number }));
                }
                Ok(())
            })?;
            known.sort_unstable();
            let is_enough = |last: f64| self.recall_of_prefixes(terms, rows, last) >= self.settings().recall;
            if last_value(&mut ranked, most).is_some_and(is_enough) {
                return Ok((sorted(ranked), rows));
            }
        }
        if view.stats()?.documents > SCANNED {
            return Ok((sorted(ranked), 1));
        }
        ranked.clear();
        let mut from = Some(0);
        while let Some(start) = from {
            from = view.scan(start, READ, Parts::Sketches, &mut |number, record| {
                if record.id != probe.id.as_bytes() && !terms.is_gone(&record) {
                    let pair = (&probe.words[..], record.words);
                    let rank = self.scorer().rank(layout, &terms.criteria, pair, &mut parts)?;
                    ranked.extend(rank.map(|(value, highest)| Ranked { value, highest, number }));
                }
                Ok(())
            })?;
        }
        Ok((sorted(ranked), 0))
    }

    /// Reads candidates, the most similar first, as long as one can be among the best.
    fn read_best(
        &self,
        view: &dyn View,
        probe: &Probe,
        (terms, ranked): (&Terms, &[Ranked]),
        best: &mut Best,
    ) -> Result<()> {
        let is_exact = self.is_exact(probe);
        let mut parts = Vec::new();
        for some in ranked.chunks(READ) {
            // Estimates are in order, and those that come later all but never higher than this.
            let is_over = |worst: f64| match is_exact {
                true => some[0].highest < worst,
                false => some[0].value < worst,
            };
            if best.worst().is_some_and(is_over) {
                return Ok(());
            }
            let numbers: Vec<DocNo> = some.iter().map(|ranked| ranked.number).collect();
            let wanted = if is_exact { Parts::All } else { Parts::Sketches };
            view.records(&numbers, wanted, &mut |_, record| {
                self.offer(probe, &record, (terms, Needs::Nothing), (&mut parts, best))
            })?;
        }
        Ok(())
    }

    /// The chance that a document of some similarity shares so many rows of a band; all share none.
    fn recall_of_prefixes(&self, terms: &Terms, rows: usize, similarity: f64) -> f64 {
        if rows == 0 {
            return 1.0;
        }
        let fields = terms.criteria.fields.iter().map(|&i| &self.recorder().layout().fields()[i]);
        fields.map(|field| field.banding.prefix_probability(similarity, rows)).fold(1.0, f64::min)
    }
}

/// The value of the last of the best, if there are as many.
fn last_value(ranked: &mut [Ranked], most: usize) -> Option<f64> {
    let has_all = ranked.len() >= most;
    has_all.then(|| ranked.select_nth_unstable_by(most - 1, |a, b| b.value.total_cmp(&a.value)).1.value)
}

/// The most similar first.
fn sorted(mut ranked: Vec<Ranked>) -> Vec<Ranked> {
    ranked.sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(a.number.cmp(&b.number)));
    ranked
}

/// The numbers that are not known yet, each once and in order.
fn new_numbers(known: &[DocNo], given: &[DocNo]) -> Vec<DocNo> {
    let mut new = given.to_vec();
    new.sort_unstable();
    new.dedup();
    let mut before = known.iter().peekable();
    new.retain(|number| {
        while before.next_if(|other| *other < number).is_some() {}
        before.peek() != Some(&number)
    });
    new
}

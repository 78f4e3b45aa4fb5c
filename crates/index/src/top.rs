//! The most similar documents, whatever their similarity.
//!
//! Band keys keep the order of the registers, so that all documents which share the first rows of a band lie side by side, as in an LSH Forest (Bawa, Condie and Ganesan, 2005). The search begins with whole
//! bands and gives up one row after the other. It ends when a document as similar as the last of the best so far would have been found with the recall of the collection. The answer says which share of the
//! best it has ([`crate::recall`]). Where even one row finds too few, a small collection is looked at as a whole.

use crate::best::Best;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::measure::Measure;
use crate::offer::{Desk, Needs};
use crate::probe::Probe;
use crate::query::{Answer, Query};
use crate::ranking::{Ranked, Ranking, Seen};
use crate::recall;
use crate::score::Rank;
use crate::search::Terms;
use crate::store::{DocNo, Parts, Postings, View};

/// Documents whose contents are read at a time.
const READ: usize = 32;
/// A collection of at most so many documents is looked at as a whole where prefixes do not find enough.
const SCANNED: u64 = 5_000;

/// What prefixes find.
struct Found {
    /// The most similar first.
    ranked: Vec<Ranked>,
    /// How many rows they share in some band at least; none if all documents were looked at.
    rows: usize,
    /// How many were compared, some of them more than once.
    compared: usize,
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
        let Found { ranked, rows, compared } = self.ranked(view, probe, terms, most)?;
        let mut best = Best::new(most);
        self.read_best(view, probe, (terms, &ranked), &mut best)?;
        let (matches, _) = best.into_sorted();
        let chance = |similarity: f64| self.recall_of_prefixes(terms, rows, similarity);
        let recall = recall::of_best(matches.iter().map(|found| Rank::exact(found.similarity)), most, chance);
        let shown = match self.is_exact(probe) {
            true => recall,
            false => recall::of_best(ranked.iter().map(|one| one.rank), most, chance),
        };
        let few = format!(
            "only {} documents share a register of a band with the query: others are less similar than a search can see",
            matches.len()
        );
        let warnings = if matches.len() < most && rows > 0 { vec![few] } else { Vec::new() };
        Ok(Answer {
            n_matches: matches.len(),
            matches,
            n_candidates: compared,
            recall,
            shown,
            recall_by_ratio: Vec::new(),
            warnings,
        })
    }

    /// Looks at beginnings of bands, at shorter and shorter ones.
    fn ranked(&self, view: &dyn View, probe: &Probe, terms: &Terms, most: usize) -> Result<Found> {
        let (layout, fields) = (self.recorder().layout(), &terms.criteria.fields);
        let all_rows = fields.iter().map(|&i| layout.fields()[i].banding.rows()).max().unwrap_or(1);
        let (mut seen, mut new, mut parts) = (Seen::default(), Vec::new(), Vec::new());
        let (mut postings, mut ranking) = (Postings::default(), Ranking::new(most));
        let mut compared = 0;
        for rows in (1..=all_rows).rev() {
            let ranges = layout.prefixes(&probe.words, fields, rows);
            postings.clear();
            view.ranges(layout, &ranges, &mut postings)?;
            seen.add_new(postings.of_all(0..ranges.len()), &mut new);
            view.records(&new, Parts::Sketches, &mut |place, record| {
                let (pair, number) = ((&probe.words[..], record.words), new[place as usize]);
                if record.id == probe.id.as_bytes() || terms.is_gone(&record) {
                    return Ok(());
                }
                compared += 1;
                let rank = self.scorer().rank(layout, &terms.criteria, pair, &mut parts)?;
                let Some(rank) = rank else { return Ok(()) };
                if ranking.may_be_among(&rank) {
                    // What a store gives besides is looked at again with fewer rows.
                    match layout.share_prefix(fields, rows, pair.0, pair.1) {
                        true => ranking.push(Ranked { rank, number }),
                        false => seen.forget(number),
                    }
                }
                Ok(())
            })?;
            let is_enough = |last: f64| self.recall_of_prefixes(terms, rows, last) >= self.settings().recall;
            if ranking.last().is_some_and(is_enough) {
                return Ok(Found { ranked: ranking.sorted(), rows, compared });
            }
        }
        if view.stats()?.documents > SCANNED {
            return Ok(Found { ranked: ranking.sorted(), rows: 1, compared });
        }
        let mut ranking = Ranking::new(most);
        compared = 0;
        let mut from = Some(0);
        while let Some(start) = from {
            from = view.scan(start, READ, Parts::Sketches, &mut |number, record| {
                if record.id != probe.id.as_bytes() && !terms.is_gone(&record) {
                    let pair = (&probe.words[..], record.words);
                    compared += 1;
                    let rank = self.scorer().rank(layout, &terms.criteria, pair, &mut parts)?;
                    rank.into_iter().for_each(|rank| ranking.push(Ranked { rank, number }));
                }
                Ok(())
            })?;
        }
        Ok(Found { ranked: ranking.sorted(), rows: 0, compared })
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
        let mut desk = Desk::default();
        // How similar those from a place on can be.
        let limit = |one: &Ranked| if is_exact { one.rank.highest } else { one.rank.value };
        let mut limits: Vec<f64> = ranked.iter().map(limit).collect();
        (0..limits.len().saturating_sub(1)).rev().for_each(|i| limits[i] = limits[i].max(limits[i + 1]));
        for (some, limits) in ranked.chunks(READ).zip(limits.chunks(READ)) {
            let worst = best.worst();
            if worst.is_some_and(|worst| limits[0] < worst) {
                return Ok(());
            }
            let may = |one: &&Ranked| worst.is_none_or(|worst| limit(one) >= worst);
            let numbers: Vec<DocNo> = some.iter().filter(may).map(|ranked| ranked.number).collect();
            let wanted = if is_exact { Parts::All } else { Parts::Sketches };
            view.records(&numbers, wanted, &mut |_, record| {
                self.offer(probe, &record, (terms, Needs::Nothing), (&mut desk, best))
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

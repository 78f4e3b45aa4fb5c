//! The most similar documents, whatever their similarity.
//!
//! Band keys keep the order of the registers, so that all documents which share the first rows of a band lie side by side, as in an LSH Forest (Bawa, Condie and Ganesan, 2005). The search begins with whole
//! bands and gives up one row after the other. It ends when a document as similar as the last of the best so far would have been found with the recall of the collection. The answer says which share of the
//! best it has ([`of_best`]). Where even one row finds too few, a small collection is looked at as a whole.

use benzer_core::estimate::Estimate;

use super::search::Search;
use crate::answer::{Answer, Best, Cutoff, of_best};
use crate::candidates::SeenNumbers;
use crate::error::Result;
use crate::query::Probe;
use crate::record::{DocNo, Record};
use crate::score::{Rank, Ranked, Ranking, RecordPair};
use crate::store::{Cursor, Parts, Postings};

/// Documents whose contents are read at a time.
const READ: usize = 32;
/// A collection of at most so many documents is looked at as a whole where prefixes do not find enough.
const SCANNED: u64 = 5_000;

/// What prefixes find.
struct RankedCandidates {
    /// The most similar first.
    ranked: Vec<Ranked>,
    /// How many rows they share in some band at least; none if all documents were looked at.
    rows: usize,
    /// How many were compared, some of them more than once.
    n_compared: usize,
}

/// Ranks records by their similarity to a document.
struct Ranker<'a> {
    search: &'a Search<'a>,
    probe: &'a Probe,
    parts: Vec<(usize, Estimate)>,
    n_compared: usize,
}

impl<'a> Ranker<'a> {
    fn new(search: &'a Search<'_>, probe: &'a Probe) -> Self {
        Self { search, probe, parts: Vec::new(), n_compared: 0 }
    }

    /// Nothing for the document itself, for one that has lived its time, and where no field says anything.
    #[inline]
    fn rank(&mut self, record: &Record<'_>) -> Result<Option<Rank>> {
        let Search { index, query, .. } = self.search;
        if self.probe.is_of(record) || query.is_gone(record) {
            return Ok(None);
        }
        self.n_compared += 1;
        let pair = RecordPair { query: &self.probe.words, found: record.words };
        index.scorer.rank(index.recorder().layout(), &query.criteria, pair, &mut self.parts)
    }
}

impl Search<'_> {
    /// The most similar `n`.
    pub fn top(&self, probe: &Probe, n: usize) -> Result<Answer> {
        let RankedCandidates { ranked, rows, n_compared } = self.ranked(probe, n)?;
        let mut best = Best::new(n);
        self.read_best(probe, &ranked, &mut best)?;
        let (matches, _) = best.into_sorted();
        let chance = |similarity: f64| self.recall_of_prefixes(rows, similarity);
        let recall = of_best(matches.iter().map(|found| Rank::exact(found.similarity)), n, chance);
        let shown = match probe.is_exact(self.index.settings()) {
            true => recall,
            false => of_best(ranked.iter().map(|one| one.rank), n, chance),
        };
        let few = format!(
            "only {} documents share a register of a band with the query: others are less similar than a search can see",
            matches.len()
        );
        let warnings = if matches.len() < n && rows > 0 { vec![few] } else { Vec::new() };
        Ok(Answer {
            n_matches: matches.len(),
            matches,
            n_candidates: n_compared,
            recall,
            shown,
            recall_by_ratio: Vec::new(),
            warnings,
        })
    }

    /// Looks at beginnings of bands, at shorter and shorter ones.
    fn ranked(&self, probe: &Probe, n: usize) -> Result<RankedCandidates> {
        let (layout, fields) = (self.layout(), &self.query.criteria.fields);
        let all_rows = fields.iter().map(|&i| layout.fields()[i].banding.rows()).max().unwrap_or(1);
        let (mut seen, mut new, mut postings) = (SeenNumbers::default(), Vec::new(), Postings::default());
        let (mut ranker, mut ranking) = (Ranker::new(self, probe), Ranking::new(n));
        for rows in (1..=all_rows).rev() {
            let ranges = layout.prefixes(&probe.words, fields, rows);
            postings.clear();
            self.view.ranges(layout, &ranges, &mut postings)?;
            seen.add_new(postings.of_all(0..ranges.len()), &mut new);
            self.view.records(&new, Parts::Sketches, &mut |place, record| {
                let Some(rank) = ranker.rank(&record)? else { return Ok(()) };
                if ranking.may_be_among(&rank) {
                    let number = new[place];
                    // What a store gives besides is looked at again with fewer rows.
                    match layout.share_prefix(fields, rows, &probe.words, record.words) {
                        true => ranking.push(Ranked { rank, number }),
                        false => seen.forget(number),
                    }
                }
                Ok(())
            })?;
            let is_enough = |last: f64| self.recall_of_prefixes(rows, last) >= self.index.settings().recall;
            let is_found = ranking.last().is_some_and(is_enough);
            if is_found || (rows == 1 && self.view.stats()?.documents > SCANNED) {
                return Ok(RankedCandidates {
                    ranked: ranking.sorted(),
                    rows,
                    n_compared: ranker.n_compared,
                });
            }
        }
        self.all_ranked(probe, n)
    }

    /// Looks at all documents.
    fn all_ranked(&self, probe: &Probe, n: usize) -> Result<RankedCandidates> {
        let (mut ranker, mut ranking) = (Ranker::new(self, probe), Ranking::new(n));
        let mut from = Some(Cursor::START);
        while let Some(start) = from {
            from = self.view.scan(start, READ, Parts::Sketches, &mut |number, record| {
                let rank = ranker.rank(&record)?;
                rank.into_iter().for_each(|rank| ranking.push(Ranked { rank, number }));
                Ok(())
            })?;
        }
        Ok(RankedCandidates { ranked: ranking.sorted(), rows: 0, n_compared: ranker.n_compared })
    }

    /// Reads candidates, the most similar first, as long as one can be among the best.
    fn read_best(&self, probe: &Probe, ranked: &[Ranked], best: &mut Best) -> Result<()> {
        let is_exact = probe.is_exact(self.index.settings());
        let mut matcher = self.matcher(probe, Cutoff::Nothing);
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
            self.view.records(&numbers, wanted, &mut |_, record| matcher.offer(&record, best))?;
        }
        Ok(())
    }

    /// The chance that a document of some similarity shares so many rows of a band; all share none.
    fn recall_of_prefixes(&self, rows: usize, similarity: f64) -> f64 {
        if rows == 0 {
            return 1.0;
        }
        let fields = self.query.criteria.fields.iter().map(|&i| &self.layout().fields()[i]);
        fields.map(|field| field.banding.prefix_probability(similarity, rows)).fold(1.0, f64::min)
    }
}

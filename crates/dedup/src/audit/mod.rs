//! The recall of a run, measured on the run itself.
//!
//! Some documents are drawn at random and compared exactly: in a large corpus with those that share a minimum with them (`twins`), which costs a few hundredths of the run; in a small one,
//! or if their number is given, with others or with all (`sample`, `join`). Which of the similar pairs that are met so the run found, and which have a document removed, is then a matter of
//! counting; how sure the shares are, of `share` and `interval`.
//!
//! Copies of one text are set aside before, in a run and here. The sample follows the keep order, so it does not depend on threads, memory or, with ids, on the order of the files.

#[cfg(test)]
mod coverage;
mod interval;
mod join;
mod minima;
mod sample;
mod share;
mod twins;

use benzer_core::field::text::Shingler;
use benzer_core::lsh::{Banding, Prefilter};
use serde::{Deserialize, Serialize};

use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::edges::Edges;
use crate::error::Result;
use crate::request::Audit;
use benzer_core::Threshold;
use benzer_flow::{Progress, Workers};
use benzer_join::bands::CandidateLists;
use benzer_join::verify::{PairFilter, verify_held};
use benzer_join::{Edge, Rank};
pub use interval::Share;
pub(crate) use join::AuditWorkspace;
use sample::{Sample, Sizes};
use share::{Design, Shares};
use twins::{TwinSource, Twins};

/// What an audit found. Pairs are those of two documents that reach the threshold, one of them drawn and the other among those that it was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    /// Documents that were drawn.
    pub sampled: u64,
    /// Documents that they were compared with.
    pub compared: u64,
    /// True if they were compared with those that share a minimum with them, so that a pair of similarity J was met with probability J: shares count it 1/J times.
    #[serde(default)]
    pub by_minimum: bool,
    /// Documents that there are: those with words, one of each text.
    pub documents: u64,
    /// Pairs.
    pub pairs: u64,
    /// Pairs that the run found.
    pub found: u64,
    /// Pairs that it did not find because they met only in buckets over the limit, where not everyone is compared.
    pub capped: u64,
    /// Pairs of which the run removed at least one document.
    pub covered: u64,
    /// The share of the pairs that the run found. Nothing where there are no pairs.
    pub recall: Option<Share>,
    /// The share of the pairs that were found or are over the limit: what the bands give, before the limit.
    pub met_share: Option<Share>,
    /// The share of the pairs of which a document was removed.
    pub covered_share: Option<Share>,
    /// The same by similarity.
    pub bins: Vec<Bin>,
}

/// The pairs of some similarities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The least of them.
    pub from: f64,
    /// Where the next bin begins; the last one has similarity 1 too.
    pub to: f64,
    /// Pairs.
    pub pairs: u64,
    /// Pairs that the run found.
    pub found: u64,
    /// The share of the pairs that were found or are over the limit. Nothing where there are no pairs.
    pub met_share: Option<Share>,
}

/// Bins of the similarity, of 0.05 each.
const BIN: u32 = 50_000_000;

/// A pair and what became of it.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub edge: Edge,
    /// True if the later document is the one that was drawn.
    pub later_is_drawn: bool,
    /// How many pairs it stands for, but for a factor that all have in common.
    pub weight: f64,
    /// True if it is there already, because both documents were drawn.
    pub is_again: bool,
    pub found: bool,
    pub capped: bool,
    pub covered: bool,
}

impl Pair {
    /// One that stands for itself, before it is known what became of it.
    fn new(edge: Edge, later_is_drawn: bool) -> Self {
        Self { edge, later_is_drawn, weight: 1.0, ..Self::default() }
    }
}

/// What an audit found, and the pairs just below the threshold that it met.
#[derive(Debug)]
pub(crate) struct Findings {
    pub audited: Audited,
    /// Similar pairs that were not found and are both kept.
    pub left: Vec<Edge>,
    /// The most similar pairs below the threshold of which both documents are kept.
    pub near: Vec<Edge>,
}

/// So many pairs of each kind are kept to be looked at.
const SHOWN: usize = 4;

/// What a run did.
pub(crate) struct AuditedRun<'a> {
    pub view: &'a CorpusView<'a>,
    pub shingler: &'a Shingler,
    pub threshold: Threshold,
    /// How candidates were found; nothing for the exact join.
    pub bands: Option<(Banding, Prefilter)>,
    /// Passes what may reach the threshold, by a wide margin.
    pub may_reach: Prefilter,
    pub edges: &'a Edges,
    /// True if edges were counted, and not estimated.
    pub is_exact: bool,
    /// In keep order.
    pub removals: &'a [Removal],
    pub seed: u64,
}

impl AuditedRun<'_> {
    /// Audits the run as it is asked for. `members` are the documents that it compared, in keep order; `text_bytes` those of the texts of all documents.
    pub fn audit(
        &self,
        audit: Audit,
        members: &[Rank],
        text_bytes: u64,
        workspace: AuditWorkspace<'_>,
    ) -> Result<Findings> {
        let documents = members.len() as u64;
        let sizes = match audit {
            Audit::Sample(n) => Some(Sizes::of(documents, n.into(), self.pairs())),
            _ => Sizes::all(documents),
        };
        match sizes {
            Some(sizes) => self.by_draws(members, sizes, workspace),
            None => self.by_twins(members, text_bytes, workspace),
        }
    }

    /// About how many similar pairs there are.
    fn pairs(&self) -> f64 {
        let by_edge = self.removals.iter().filter(|removal| removal.rule != Rule::ExactCopy);
        let mut keepers: Vec<Rank> = by_edge.map(Removal::kept).collect();
        keepers.sort_unstable();
        let clusters = keepers.chunk_by(|a, b| a == b).map(|cluster| cluster.len() as f64);
        clusters.map(|removed| removed * (removed + 1.0) / 2.0).sum()
    }

    fn by_draws(&self, members: &[Rank], sizes: Sizes, workspace: AuditWorkspace<'_>) -> Result<Findings> {
        let sample = Sample::draw(members, sizes, self.seed);
        let pairs = join::join(
            &sample,
            members,
            workspace.sources(self.view, self.shingler),
            self.threshold,
            workspace,
        )?;
        let documents = members.len() as u64;
        let share = |n: u64| n as f64 / documents.max(1) as f64;
        let compared = Compared {
            documents,
            sampled: sample.drawn.len() as u64,
            compared: sample.n_compared,
            design: Design::Draws([share(sample.drawn.len() as u64), share(sample.n_compared)]),
        };
        let found = self.found(pairs.iter().map(|pair| place(&pair.edge)))?;
        self.judge(pairs, &found, compared)
    }

    fn by_twins(&self, members: &[Rank], text_bytes: u64, workspace: AuditWorkspace<'_>) -> Result<Findings> {
        let removed = self.removals.iter().filter(|removal| removal.rule != Rule::ExactCopy).count() as u64;
        let source = TwinSource {
            view: self.view,
            members,
            removed,
            text_bytes,
            seed: self.seed,
            bytes: workspace.bytes,
            threads: workspace.threads,
            filter: &self.may_reach,
        };
        let twins = Twins::of(source)?;
        let mut places: Vec<(Rank, Rank)> =
            twins.pairs.iter().map(|pair| (pair.later, pair.earlier)).collect();
        places.dedup();
        let found = self.found(places.iter().copied())?;
        let edges = self.measure(&places, &found, workspace)?;
        (workspace.progress)(members.len() as u64)?;
        let (mut pairs, mut edges) = (Vec::new(), edges.iter().peekable());
        let mut last = None;
        for pair in &twins.pairs {
            let at = (pair.later, pair.earlier);
            while edges.next_if(|edge| place(edge) < at).is_some() {}
            let Some(&&edge) = edges.peek().filter(|edge| place(edge) == at) else { continue };
            let weight = pair.factor * f64::from(edge.union) / f64::from(edge.intersection.max(1));
            let is_again = last.replace(at) == Some(at);
            pairs.push(Pair { weight, is_again, ..Pair::new(edge, pair.later_is_drawn) });
        }
        let compared = Compared {
            documents: members.len() as u64,
            sampled: twins.n_drawn,
            compared: twins.n_compared,
            design: Design::Twins,
        };
        self.judge(pairs, &found, compared)
    }

    /// The edges of the run at some places, which are in order.
    fn found(&self, places: impl Iterator<Item = (Rank, Rank)>) -> Result<Vec<Edge>> {
        let (mut found, mut places) = (Vec::new(), places.peekable());
        self.edges.parts(|edges| {
            // Most have no place among them.
            let is_wanted = |last| places.peek().is_some_and(|next| *next <= place(last));
            if !edges.last().is_some_and(is_wanted) {
                return Ok(());
            }
            for edge in edges.iter().filter(|edge| !self.view.is_old(edge.earlier)) {
                while places.next_if(|next| *next < place(edge)).is_some() {}
                while places.next_if_eq(&place(edge)).is_some() {
                    found.push(*edge);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The edges at some places that come near the threshold. Of those that the run found it knows the similarity, if it counted.
    fn measure(
        &self,
        places: &[(Rank, Rank)],
        found: &[Edge],
        workspace: AuditWorkspace<'_>,
    ) -> Result<Vec<Edge>> {
        let mut edges = if self.is_exact { found.to_vec() } else { Vec::new() };
        let is_measured = |at: &(Rank, Rank)| edges.binary_search_by_key(at, place).is_ok();
        let candidates: CandidateLists = places.iter().copied().filter(|at| !is_measured(at)).collect();
        let wanted = PairFilter::Reaching(self.threshold.lowered());
        let sources = workspace.sources(self.view, self.shingler);
        let workers = Workers { threads: workspace.threads, progress: &Progress::silent() };
        edges.extend(verify_held([&candidates], sources, wanted, workers)?.iter());
        (workspace.progress)(0)?;
        edges.sort_unstable_by_key(place);
        Ok(edges)
    }

    /// What became of the pairs, which are in the order of the edges. `found` are those of the run.
    fn judge(&self, mut pairs: Vec<Pair>, found: &[Edge], compared: Compared) -> Result<Findings> {
        self.mark(&mut pairs, found)?;
        let near = best(&pairs, |pair| !self.reaches(pair) && !pair.covered);
        pairs.retain(|pair| self.reaches(pair));
        let left = best(&pairs, |pair| !pair.found && !pair.covered);
        let audited = self.count(&pairs, compared);
        Ok(Findings { audited, left, near })
    }

    fn reaches(&self, pair: &Pair) -> bool {
        self.threshold.is_reached(pair.edge.intersection.into(), pair.edge.union.into())
    }

    fn mark(&self, pairs: &mut [Pair], found: &[Edge]) -> Result<()> {
        let is_removed = |rank: Rank| self.removals.binary_search_by_key(&rank, Removal::removed).is_ok();
        for pair in pairs {
            pair.found = found.binary_search_by_key(&place(&pair.edge), place).is_ok();
            pair.covered = is_removed(pair.edge.later) || is_removed(pair.edge.earlier);
            pair.capped = !pair.found && self.reaches(pair) && self.meets(&pair.edge)?;
        }
        Ok(())
    }

    /// True if two documents share a bucket, and would be candidates if it had no limit.
    fn meets(&self, edge: &Edge) -> Result<bool> {
        let Some((banding, prefilter)) = &self.bands else { return Ok(false) };
        let (a, b) = (self.view.words(edge.later)?, self.view.words(edge.earlier)?);
        let mut bands = 0..banding.bands();
        Ok(prefilter.passes(&a, &b) && bands.any(|band| banding.key(&a, band) == banding.key(&b, band)))
    }

    fn count(&self, pairs: &[Pair], compared: Compared) -> Audited {
        let n = |is: fn(&Pair) -> bool| pairs.iter().filter(|pair| !pair.is_again && is(pair)).count() as u64;
        let shares = Shares::new(pairs, compared.design);
        let mut bins = Vec::new();
        for (number, from, to) in self.threshold.bins(BIN) {
            let of_bin = |pair: &Pair| {
                self.threshold.bin(pair.edge.intersection, pair.edge.union, BIN) == Some(number)
            };
            let of_bin: Vec<Pair> = pairs.iter().filter(|pair| of_bin(pair)).copied().collect();
            bins.push(Bin {
                from,
                to,
                pairs: of_bin.iter().filter(|pair| !pair.is_again).count() as u64,
                found: of_bin.iter().filter(|pair| !pair.is_again && pair.found).count() as u64,
                met_share: Shares::new(&of_bin, compared.design).of(|pair| pair.found || pair.capped),
            });
        }
        Audited {
            sampled: compared.sampled,
            compared: compared.compared,
            by_minimum: compared.design == Design::Twins,
            documents: compared.documents,
            pairs: n(|_| true),
            found: n(|pair| pair.found),
            capped: n(|pair| pair.capped),
            covered: n(|pair| pair.covered),
            recall: shares.of(|pair| pair.found),
            met_share: shares.of(|pair| pair.found || pair.capped),
            covered_share: shares.of(|pair| pair.covered),
            bins,
        }
    }
}

/// How many documents were compared with how many, and how they were chosen.
struct Compared {
    documents: u64,
    sampled: u64,
    compared: u64,
    design: Design,
}

/// Where an edge is among others.
fn place(edge: &Edge) -> (Rank, Rank) {
    (edge.later, edge.earlier)
}

/// The most similar of some pairs, ties in keep order.
fn best(pairs: &[Pair], is_wanted: impl Fn(&Pair) -> bool) -> Vec<Edge> {
    let mut wanted: Vec<Edge> =
        pairs.iter().filter(|pair| !pair.is_again && is_wanted(pair)).map(|pair| pair.edge).collect();
    wanted.sort_by(|a, b| {
        let product = |x: u32, y: u32| u64::from(x) * u64::from(y);
        let by_similarity = product(b.intersection, a.union).cmp(&product(a.intersection, b.union));
        by_similarity.then_with(|| (a.later, a.earlier).cmp(&(b.later, b.earlier)))
    });
    wanted.truncate(SHOWN);
    wanted
}

#[cfg(test)]
mod tests;

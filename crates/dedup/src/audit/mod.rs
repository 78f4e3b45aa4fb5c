//! The recall of a run, measured on the run itself.
//!
//! Some documents are drawn at random (`sample`) and compared exactly with others, or with all (`join`): so all similar pairs between the two are known. Which of them the
//! run found, and which have a document removed, is then a matter of counting; how sure the shares are, of `share` and `interval`.
//!
//! Copies of one text are set aside before, in a run and here. The sample follows the keep order, so it does not depend on threads, memory or, with ids, on the order of the files.

#[cfg(test)]
mod coverage;
mod interval;
mod join;
mod sample;
mod share;

use benzer_core::field::text::Shingler;
use benzer_core::lsh::{Banding, Prefilter};
use serde::{Deserialize, Serialize};

use crate::corpus::Ranked;
use crate::edges::Edges;
use crate::error::Result;
use crate::job::decide::Removal;
use crate::threshold::Threshold;
use crate::verify::Edge;
pub use interval::Share;
pub(crate) use join::Room;
use sample::Sample;
pub(crate) use sample::Sizes;
use share::Shares;

/// What an audit found. Pairs are those of two documents that reach the threshold, one of them drawn and the other among those that it was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    /// Documents that were drawn.
    pub sampled: u64,
    /// Documents that they were compared with.
    pub compared: u64,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub edge: Edge,
    /// True if the later document is the one that was drawn.
    pub later_is_drawn: bool,
    pub found: bool,
    pub capped: bool,
    pub covered: bool,
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
pub(crate) struct Ran<'a> {
    pub ranked: &'a Ranked<'a>,
    pub shingler: &'a Shingler,
    pub threshold: Threshold,
    /// How candidates were found; nothing for the exact join.
    pub bands: Option<(Banding, Prefilter)>,
    pub edges: &'a Edges,
    /// In keep order.
    pub removals: &'a [Removal],
    pub seed: u64,
}

impl Ran<'_> {
    /// Audits the run. `members` are the documents that it compared, in keep order.
    pub fn audit(&self, members: &[u32], sizes: Sizes, room: Room<'_>) -> Result<Findings> {
        let sample = Sample::draw(members, sizes, self.seed);
        let mut pairs = join::join(&sample, members, (self.ranked, self.shingler), self.threshold, room)?;
        self.mark(&mut pairs)?;
        let near = best(&pairs, |pair| !self.reaches(pair) && !pair.covered);
        pairs.retain(|pair| self.reaches(pair));
        let left = best(&pairs, |pair| !pair.found && !pair.covered);
        let audited = self.count(&pairs, &sample, members.len() as u64);
        Ok(Findings { audited, left, near })
    }

    fn reaches(&self, pair: &Pair) -> bool {
        self.threshold.is_reached(pair.edge.intersection.into(), pair.edge.union.into())
    }

    /// Finds out what became of pairs, which are in the order of the edges.
    fn mark(&self, pairs: &mut [Pair]) -> Result<()> {
        let place = |edge: &Edge| (edge.later, edge.earlier);
        let mut edges = self.edges.iter()?;
        let mut next = edges.next().transpose()?;
        for pair in &mut *pairs {
            while next.is_some_and(|edge| place(&edge) < place(&pair.edge)) {
                next = edges.next().transpose()?;
            }
            pair.found = next.is_some_and(|edge| place(&edge) == place(&pair.edge));
        }
        let is_removed = |rank: u32| self.removals.binary_search_by_key(&rank, Removal::removed).is_ok();
        for pair in pairs {
            pair.covered = is_removed(pair.edge.later) || is_removed(pair.edge.earlier);
            pair.capped = !pair.found && self.reaches(pair) && self.meets(&pair.edge)?;
        }
        Ok(())
    }

    /// True if two documents share a bucket, and would be candidates if it had no limit.
    fn meets(&self, edge: &Edge) -> Result<bool> {
        let Some((banding, prefilter)) = &self.bands else { return Ok(false) };
        let (a, b) = (self.ranked.words(edge.later)?, self.ranked.words(edge.earlier)?);
        let mut bands = 0..banding.bands();
        Ok(prefilter.passes(&a, &b) && bands.any(|band| banding.key(&a, band) == banding.key(&b, band)))
    }

    fn count(&self, pairs: &[Pair], sample: &Sample, documents: u64) -> Audited {
        let n = |is: fn(&Pair) -> bool| pairs.iter().filter(|pair| is(pair)).count() as u64;
        let shares = Shares::new(pairs, [sample.share_drawn(documents), sample.share_compared(documents)]);
        let mut bins = Vec::new();
        for (number, from, to) in self.threshold.bins(BIN) {
            let of_bin = |pair: &Pair| {
                self.threshold.bin(pair.edge.intersection, pair.edge.union, BIN) == Some(number)
            };
            let of_bin: Vec<Pair> = pairs.iter().filter(|pair| of_bin(pair)).copied().collect();
            bins.push(Bin {
                from,
                to,
                pairs: of_bin.len() as u64,
                found: of_bin.iter().filter(|pair| pair.found).count() as u64,
                met_share: shares.part(&of_bin).of(|pair| pair.found || pair.capped),
            });
        }
        Audited {
            sampled: sample.drawn.len() as u64,
            compared: sample.n_compared,
            documents,
            pairs: pairs.len() as u64,
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

/// The most similar of some pairs, ties in keep order.
fn best(pairs: &[Pair], is_wanted: impl Fn(&Pair) -> bool) -> Vec<Edge> {
    let mut wanted: Vec<Edge> = pairs.iter().filter(|pair| is_wanted(pair)).map(|pair| pair.edge).collect();
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

//! Which of the sets that meet may be similar.

use std::sync::atomic::AtomicUsize;

use benzer_flow::Result;
use benzer_flow::sort::{Sorted, Sorter};
use benzer_flow::workers::next_range;

use super::rule::{Join, Measure};
use super::segment::{Probe, Segment};
use crate::Rank;

/// Probes that a thread takes at a time.
const CHUNK: usize = 1 << 12;

/// What a thread finds.
pub(super) struct Prober {
    pairs: Sorter<(Rank, Rank)>,
    /// A bit for each set that was met, and their list.
    is_met: Vec<u64>,
    met: Vec<u32>,
    pub n_bucket_pairs: u64,
}

impl Prober {
    pub fn new(n_sets: usize, pairs: Sorter<(Rank, Rank)>) -> Self {
        Self { pairs, is_met: vec![0; n_sets.div_ceil(64)], met: Vec::new(), n_bucket_pairs: 0 }
    }

    /// Looks at a segment together with other threads, which take the next probes from `next`; `progress` is told their number.
    pub fn run(
        &mut self,
        segment: &Segment,
        join: Join<'_>,
        next: &AtomicUsize,
        progress: impl Fn(u64) -> Result<()>,
    ) -> Result<()> {
        while let Some(range) = next_range(next, segment.probes.len(), CHUNK) {
            progress(range.len() as u64)?;
            for probes in segment.of_sets(range).chunk_by(|a, b| a.set == b.set) {
                self.probe(probes, segment, join)?;
            }
        }
        Ok(())
    }

    /// Finds sets for one set: smaller ones that are similar, any that contain it. Where two meet again nothing is new: if they were not similar enough with what was left after
    /// their first meeting, they are not with less.
    fn probe(&mut self, probes: &[Probe], segment: &Segment, Join { sets, rule }: Join<'_>) -> Result<()> {
        let number = probes[0].set;
        let own = sets[number as usize];
        let min_size = rule.threshold.min_overlap(own.size);
        let first = sets[..number as usize].partition_point(|set| set.size < min_size) as u32;
        let end = match rule.measure {
            Measure::Jaccard => number,
            Measure::Containment => sets.len() as u32,
        };
        for probe in probes {
            let entries = segment.entries(probe.bucket);
            let entries = &entries[entries.partition_point(|entry| entry.set < first)..];
            for entry in entries.iter().take_while(|entry| entry.set < end) {
                if entry.set == number {
                    continue;
                }
                self.n_bucket_pairs += 1;
                let (word, bit) = (entry.set as usize / 64, 1 << (entry.set % 64));
                if self.is_met[word] & bit != 0 {
                    continue;
                }
                self.is_met[word] |= bit;
                self.met.push(entry.set);
                let other = &sets[entry.set as usize];
                let left = (own.size - probe.place).min(other.size - entry.place);
                let sizes = u64::from(own.size) + u64::from(other.size);
                let difference = own.signature.difference(&other.signature);
                let shared = u64::from(left).min((sizes - u64::from(difference)) / 2);
                if rule.is_reached(shared, &own, other) {
                    self.pairs.push(rule.pair(own.rank, other.rank))?;
                }
            }
        }
        self.met.drain(..).for_each(|set| self.is_met[set as usize / 64] = 0);
        Ok(())
    }

    /// The pairs in order.
    pub fn finish(self) -> Result<Sorted<(Rank, Rank)>> {
        Ok(self.pairs.finish()?)
    }
}

//! Which of the sets that meet may be similar.

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use super::segment::{Probe, Segment};
use super::sets::Set;
use super::{Measure, Rule};
use benzer_flow::Progress;
use benzer_flow::Result;
use benzer_flow::sort::{Sorted, Sorter};
use benzer_flow::workers::next_range;
use benzer_storage::Files;

/// Probes that a thread takes at a time.
const CHUNK: usize = 1 << 12;

/// What a thread finds.
pub(super) struct Prober {
    pairs: Sorter<(u32, u32)>,
    /// A bit for each set that was met, and their list.
    is_met: Vec<u64>,
    met: Vec<u32>,
    n_met: u64,
}

impl Prober {
    pub fn new(n_sets: usize, (budget_bytes, dir, files): (usize, &Path, &Files)) -> Self {
        Self {
            pairs: Sorter::new(budget_bytes, dir, files).dedup(),
            is_met: vec![0; n_sets.div_ceil(64)],
            met: Vec::new(),
            n_met: 0,
        }
    }

    /// Looks at a segment together with other threads; all probes of all segments count as much as `share` says.
    pub fn run(
        &mut self,
        segment: &Segment,
        sets: &[Set],
        rule: &Rule,
        (next, share, progress): (&AtomicUsize, (u64, u64), &Progress<'_>),
    ) -> Result<()> {
        while let Some(range) = next_range(next, segment.n_probes(), CHUNK) {
            progress.add(range.len() as u64 * share.0 / share.1)?;
            for probes in segment.probes(range).chunk_by(|a, b| a.set == b.set) {
                self.probe(probes, segment, sets, rule)?;
            }
        }
        Ok(())
    }

    /// Finds sets for one set: smaller ones that are similar, any that contain it. Where two meet again nothing is new: if they were not similar enough with what was left after
    /// their first meeting, they are not with less.
    fn probe(&mut self, probes: &[Probe], segment: &Segment, sets: &[Set], rule: &Rule) -> Result<()> {
        let number = probes[0].set;
        let own = sets[number as usize];
        let least = rule.threshold.min_overlap(own.size);
        let first = sets[..number as usize].partition_point(|set| set.size < least) as u32;
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
                self.n_met += 1;
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

    pub fn n_met(&self) -> u64 {
        self.n_met
    }

    /// The pairs in order.
    pub fn finish(self) -> Result<Sorted<(u32, u32)>> {
        Ok(self.pairs.finish()?)
    }
}

//! Pairs that may be similar.

use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::Progress;
use benzer_flow::sort::Sorted;
use benzer_join::bands::{self, ByLater, Meetings};
use benzer_join::exact;

use super::setup::Job;
use crate::corpus::{Ranked, RankedSketches};
use crate::documents::Documents;
use crate::error::Result;
use crate::progress::Stage;
use crate::request::{Measure, Search};
use crate::summary::Summary;

/// Pairs to compare, in order.
pub(super) enum Candidates {
    /// All of a later document are in one of them.
    Memory(Vec<ByLater>),
    Sorted(Sorted<(u32, u32)>),
}

impl Candidates {
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(lists) => lists.iter().map(|pairs| pairs.len() as u64).sum(),
            Self::Sorted(pairs) => pairs.len(),
        }
    }

    pub fn iter(&mut self) -> Box<dyn Iterator<Item = Result<(u32, u32)>> + '_> {
        match self {
            Self::Memory(parts) => Box::new(parts.iter().flat_map(ByLater::pairs).map(Ok)),
            Self::Sorted(pairs) => Box::new(pairs.by_ref().map(|pair| Ok(pair?))),
        }
    }
}

/// Candidates, and how they met.
struct Found {
    candidates: Candidates,
    meetings: Meetings,
}

impl Job<'_> {
    /// The pairs of documents of the input that may be similar.
    pub fn candidates(
        &self,
        ranked: &Ranked<'_>,
        compared: &[u32],
        summary: &mut Summary,
    ) -> Result<Candidates> {
        let Found { candidates, meetings } = match (self.request.compare.measure, self.request.compare.search)
        {
            (Measure::Containment, _) => {
                Found { candidates: Candidates::Memory(Vec::new()), meetings: Meetings::default() }
            }
            (_, Search::Bands(banding)) => self.candidates_of_bands(ranked, compared, &banding)?,
            (_, Search::Exact) => self.candidates_of_join(ranked, compared)?,
        };
        let Meetings { n_met, n_oversized, largest } = meetings;
        let counts = &mut summary.counts;
        counts.met += n_met;
        counts.candidates += candidates.len();
        counts.oversized_buckets = n_oversized;
        counts.largest_bucket = largest;
        Ok(candidates)
    }

    /// Pairs that share a band key.
    fn candidates_of_bands(&self, ranked: &Ranked<'_>, compared: &[u32], banding: &Banding) -> Result<Found> {
        let n = compared.len() as u64;
        banding.check_documents(n)?;
        let prefilter = Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?;
        let rules = (banding, &prefilter, self.request.compare.cap);
        let progress = Progress::new(self.observer);
        match &ranked.corpus.documents {
            Documents::Memory(table) => {
                self.observer.begin(Stage::Candidates, Some(2 * n));
                let sketches = RankedSketches { table, ranking: ranked.ranking };
                let threads = self.request.resources.threads;
                let (pairs, meetings) = bands::candidates(&sketches, compared, rules, threads, &progress)?;
                Ok(Found { candidates: Candidates::Memory(pairs), meetings })
            }
            Documents::Disk(table) => {
                self.observer.begin(Stage::Candidates, Some(2 * n + u64::from(table.len())));
                let n_words = self.ingest.layout().words;
                let order = (ranked.ranking, compared);
                let room = (self.workspace(), &progress);
                let (pairs, meetings) = crate::spilled::candidates(table, order, rules, n_words, room)?;
                Ok(Found { candidates: Candidates::Sorted(pairs), meetings })
            }
        }
    }

    /// Pairs that the exact join finds.
    fn candidates_of_join(&self, ranked: &Ranked<'_>, compared: &[u32]) -> Result<Found> {
        self.observer.begin(Stage::Candidates, Some(3 * compared.len() as u64));
        let progress = Progress::new(self.observer);
        let sources = (ranked as _, &self.ingest.shingler);
        let room = (self.budget.sorting, self.folders.work.as_path(), self.files);
        let rule = exact::Rule::duplicates(self.request.compare.threshold);
        let threads = self.request.resources.threads;
        let found = exact::candidates(compared, &sources, rule, threads, room, &progress)?;
        let meetings = Meetings { n_met: found.n_met, n_oversized: 0, largest: found.largest };
        Ok(Found { candidates: Candidates::Sorted(found.pairs), meetings })
    }
}

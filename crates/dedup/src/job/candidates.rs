//! Pairs that may be similar.

use benzer_core::lsh::{Banding, Prefilter};
use benzer_flow::Progress;
use benzer_flow::sort::Sorted;
use benzer_join::Rank;
use benzer_join::bands::{self, BandRules, BucketCounts, CandidateLists};
use benzer_join::exact;

use super::setup::Job;
use crate::candidates_on_disk::CandidatesOnDisk;
use crate::corpus::{CorpusView, RankedSketches};
use crate::documents::Documents;
use crate::error::Result;
use crate::progress::Stage;
use crate::request::{Measure, Search};
use crate::summary::Summary;

pub(super) enum Candidates {
    /// All of a later document are in one of them.
    Memory(Vec<CandidateLists>),
    Sorted(Sorted<(Rank, Rank)>),
}

impl Candidates {
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(lists) => lists.iter().map(|pairs| pairs.n_pairs() as u64).sum(),
            Self::Sorted(pairs) => pairs.len(),
        }
    }

    pub fn iter(&mut self) -> Box<dyn Iterator<Item = Result<(Rank, Rank)>> + '_> {
        match self {
            Self::Memory(parts) => Box::new(parts.iter().flat_map(CandidateLists::pairs).map(Ok)),
            Self::Sorted(pairs) => Box::new(pairs.by_ref().map(|pair| Ok(pair?))),
        }
    }
}

type Found = (Candidates, BucketCounts);

impl Job<'_> {
    /// The pairs of documents of the input that may be similar.
    pub fn candidates(
        &self,
        view: &CorpusView<'_>,
        compared: &[Rank],
        summary: &mut Summary,
    ) -> Result<Candidates> {
        let (candidates, buckets) = match (self.request.compare.measure, self.request.compare.search) {
            (Measure::Containment, _) => (Candidates::Memory(Vec::new()), BucketCounts::default()),
            (_, Search::Bands(banding)) => self.candidates_of_bands(view, compared, &banding)?,
            (_, Search::Exact) => self.candidates_of_join(view, compared)?,
        };
        let BucketCounts { n_bucket_pairs, n_oversized, largest } = buckets;
        let counts = &mut summary.counts;
        counts.met += n_bucket_pairs;
        counts.candidates += candidates.len();
        counts.oversized_buckets = n_oversized;
        counts.largest_bucket = largest;
        Ok(candidates)
    }

    fn candidates_of_bands(
        &self,
        view: &CorpusView<'_>,
        compared: &[Rank],
        banding: &Banding,
    ) -> Result<Found> {
        let n = compared.len() as u64;
        banding.check_documents(n)?;
        let prefilter = Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?;
        let rules = BandRules { banding, prefilter: &prefilter, cap: self.request.compare.cap };
        let progress = Progress::new(self.observer);
        match &view.corpus.documents {
            Documents::Memory(table) => {
                self.observer.begin(Stage::Candidates, Some(2 * n));
                let sketches = RankedSketches { table, ranking: view.ranking };
                let (pairs, buckets) =
                    bands::candidates(&sketches, compared, rules, self.workers(&progress))?;
                Ok((Candidates::Memory(pairs), buckets))
            }
            Documents::Disk(table) => {
                self.observer.begin(Stage::Candidates, Some(2 * n + u64::from(table.n)));
                let n_words = self.ingest.layout().words;
                let (ranking, workspace) = (view.ranking, self.workspace());
                let on_disk =
                    CandidatesOnDisk { table, ranking, members: compared, workspace, progress: &progress };
                let (pairs, buckets) = on_disk.candidates(rules, n_words)?;
                Ok((Candidates::Sorted(pairs), buckets))
            }
        }
    }

    fn candidates_of_join(&self, view: &CorpusView<'_>, compared: &[Rank]) -> Result<Found> {
        self.observer.begin(Stage::Candidates, Some(3 * compared.len() as u64));
        let progress = Progress::new(self.observer);
        let (source, workers) = (self.features(view), self.workers(&progress));
        let rule = exact::Rule::duplicates(self.request.compare.threshold);
        let exact::Found { pairs, n_bucket_pairs, largest, .. } =
            exact::candidates(compared, &source, rule, self.workspace(), workers)?;
        let buckets = BucketCounts { n_bucket_pairs, n_oversized: 0, largest };
        Ok((Candidates::Sorted(pairs), buckets))
    }
}

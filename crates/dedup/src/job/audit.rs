//! Whether the recall is what was promised.

use benzer_core::lsh::Prefilter;

use super::stages::Run;
use crate::audit::{AuditWorkspace, AuditedRun, Findings};
use crate::corpus::CorpusView;
use crate::decide::Removal;
use crate::edges::Edges;
use crate::error::Result;
use crate::progress::Stage;
use crate::request::Search;

/// A pair at the threshold hardly ever looks like one at this share of it: by seven standard errors with 128 registers.
const MARGIN: f64 = 0.85;

impl Run<'_> {
    pub(super) fn audit(
        &mut self,
        ranked: &CorpusView<'_>,
        members: Vec<u32>,
        edges: &Edges,
        removals: &[Removal],
    ) -> Result<Option<Findings>> {
        let documents = members.len() as u64;
        self.observer.begin(Stage::Audit, Some(documents));
        let bands = match self.request.compare.search {
            Search::Bands(banding) => {
                Some((banding, Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?))
            }
            Search::Exact => None,
        };
        let ran = AuditedRun {
            view: ranked,
            shingler: &self.ingest.shingler,
            threshold: self.request.compare.threshold,
            bands,
            may_reach: Prefilter::new(self.ingest.spec(), MARGIN * self.request.compare.threshold.value())?,
            edges,
            removals,
            seed: self.request.compare.spec.seed,
        };
        let progress = |n: u64| {
            self.observer.reached(n.min(documents));
            Self::check_cancelled(self.observer)
        };
        let room = AuditWorkspace {
            threads: self.request.resources.threads,
            bytes: self.memory.sorting as u64,
            progress: &progress,
        };
        ran.audit(self.request.audit, &members, self.counts.text_bytes, room).map(Some)
    }
}

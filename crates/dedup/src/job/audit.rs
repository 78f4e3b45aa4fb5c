//! Whether the recall is what was promised.

use benzer_core::lsh::Prefilter;
use benzer_join::Rank;

use super::setup::Job;
use super::write::Decided;
use crate::audit::{AuditWorkspace, AuditedRun, Findings};
use crate::error::Result;
use crate::progress::Stage;
use crate::request::{Search, Verify};
use crate::summary::Summary;

/// A pair at the threshold hardly ever looks like one at this share of it: by seven standard errors with 128 registers.
const MARGIN: f64 = 0.85;

impl Job<'_> {
    pub fn audit(&self, decided: &Decided<'_>, compared: &[Rank], summary: &mut Summary) -> Result<Findings> {
        let documents = compared.len() as u64;
        self.observer.begin(Stage::Audit, Some(documents));
        let bands = match self.request.compare.search {
            Search::Bands(banding) => {
                Some((banding, Prefilter::new(self.ingest.spec(), self.request.compare.threshold.value())?))
            }
            Search::Exact => None,
        };
        let run = AuditedRun {
            view: &decided.view,
            shingler: &self.ingest.shingler,
            threshold: self.request.compare.threshold,
            bands,
            may_reach: Prefilter::new(self.ingest.spec(), MARGIN * self.request.compare.threshold.value())?,
            edges: decided.edges,
            is_exact: self.request.compare.verify == Verify::Exact,
            removals: decided.removals,
            seed: self.request.compare.spec.seed,
        };
        let progress = |n: u64| {
            self.observer.reached(n.min(documents));
            self.check_cancelled()
        };
        let workspace = AuditWorkspace {
            threads: self.request.resources.threads,
            bytes: self.budget.sorting as u64,
            progress: &progress,
        };
        let findings = run.audit(self.request.audit, compared, summary.counts.text_bytes, workspace)?;
        summary.audit = Some(findings.audited.clone());
        Ok(findings)
    }
}

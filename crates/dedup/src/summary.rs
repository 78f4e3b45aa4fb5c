//! What a run did, for people and programs.

use std::time::Duration;

use benzer_storage::Manifest;
use serde::{Deserialize, Serialize};

use crate::audit::Audited;
use crate::progress::Stage;

/// The numbers of a run. They do not depend on threads, memory or interruptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Documents and rejected lines; blank lines are neither.
    pub read: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents that go.
    pub removed: u64,
    /// Lines that are no documents.
    pub rejected: u64,
    /// Blank lines.
    pub blank: u64,
    /// Documents without the field of `keep`, which come last.
    pub unordered: u64,
    /// Documents in which that field is a text, which come after numbers.
    pub ordered_by_text: u64,
    /// Documents without a letter or digit: similar to nothing. They are removed only as exact copies.
    pub empty: u64,
    /// Documents shorter than one shingle.
    pub short: u64,
    /// Removed documents that have the same text as the kept one.
    pub copies: u64,
    /// Old documents that the input was compared with.
    pub against: u64,
    /// Old documents that at least one document matches, whether it is removed for them or for another one.
    pub against_matched: u64,
    /// Removed documents whose kept one is old.
    pub removed_against: u64,
    /// Lines of the corpora of old documents that are no documents.
    pub against_rejected: u64,
    /// Old documents shorter than one shingle, of those that were read.
    pub against_short: u64,
    /// Old documents without a letter or digit, of those that were read: only copies of them match.
    pub against_empty: u64,
    /// Rows whose id an earlier one has.
    pub repeated_ids: u64,
    /// How often two documents met in a bucket.
    pub met: u64,
    /// Pairs that were compared.
    pub candidates: u64,
    /// Pairs that reach the threshold, copies not counted.
    pub edges: u64,
    /// Kept documents that stand for others.
    pub clusters: u64,
    /// Documents of the largest cluster.
    pub largest_cluster: u64,
    /// Buckets with more members than the cap.
    pub oversized_buckets: u64,
    /// Members of the largest bucket.
    pub largest_bucket: u64,
    /// Bytes of all texts.
    pub text_bytes: u64,
}

impl Counts {
    /// Keeps them for a resumed run.
    pub(crate) fn to_manifest(&self, manifest: &mut Manifest) {
        manifest.set_count("counts", serde_json::to_value(self).unwrap_or_default());
    }

    /// What an interrupted run had counted.
    pub(crate) fn from_manifest(manifest: &Manifest) -> Self {
        let counts = manifest.counts().get("counts").cloned().unwrap_or_default();
        serde_json::from_value(counts).unwrap_or_default()
    }
}

/// How long a stage took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Which.
    pub stage: Stage,
    /// How long.
    pub took: Duration,
    /// Whether it was taken over from an interrupted run.
    pub resumed: bool,
}

/// Old documents that a summary names.
pub(crate) const NAMED: usize = 100;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The numbers.
    pub counts: Counts,
    /// The time of each stage.
    pub timings: Vec<Timing>,
    /// Bytes that were written to the work folder.
    pub spilled_bytes: u64,
    /// Similarities of removed documents to the kept ones, in bins of 0.05 from 0.5 on; the last is exactly 1.
    pub histogram: Vec<u64>,
    /// How many of the similar pairs were found, if that was measured.
    pub audit: Option<Audited>,
    /// The ids of the first old documents that at least one document matches, in their order: at most 100.
    #[serde(default)]
    pub matched: Vec<String>,
    /// What people should look at.
    pub warnings: Vec<String>,
    /// What else people should know; unlike warnings, it may be another in a repeated run.
    pub notes: Vec<String>,
    /// The first rejects, as text.
    pub rejects: Vec<String>,
}

impl Summary {
    /// That a stage was taken over from an interrupted run.
    pub(crate) fn resumed(&mut self, stage: Stage) {
        self.timings.push(Timing { stage, took: Duration::ZERO, resumed: true });
    }

    /// How long a stage took, if it is done.
    pub(crate) fn took(&self, stage: Stage) -> Duration {
        self.timings.iter().filter(|timing| timing.stage == stage).map(|timing| timing.took).sum()
    }
}

//! How a run goes on, for those who wait for it.

mod course;
mod plan;

use benzer_flow::Listener;
pub use benzer_flow::Silent;
pub use course::{Course, Planned, Position};
use serde::{Deserialize, Serialize};

/// The stages of a run, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Reading and sketching; counted in bytes of the inputs.
    Read,
    /// The keep order and exact groups; counted in documents.
    Group,
    /// Old documents: reading those that are no archive, and comparing with them; counted in documents of the input.
    Against,
    /// Pairs that share a band key; counted in documents, as often as all of them are looked at.
    Candidates,
    /// Exact similarities; counted in pairs.
    Verify,
    /// Who is removed.
    Resolve,
    /// How many pairs were found of those that there are; counted in documents.
    Audit,
    /// The results; counted in documents.
    Write,
    /// Their way to an object store, if that is where they go; counted in bytes.
    Upload,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Group,
        Self::Against,
        Self::Candidates,
        Self::Verify,
        Self::Resolve,
        Self::Audit,
        Self::Write,
        Self::Upload,
    ];

    /// The name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Group => "group",
            Self::Against => "against",
            Self::Candidates => "candidates",
            Self::Verify => "verify",
            Self::Resolve => "resolve",
            Self::Audit => "audit",
            Self::Write => "write",
            Self::Upload => "upload",
        }
    }
}

/// Is told how a run goes on, from any thread.
pub trait Observer: Listener {
    /// A stage begins; `total` is what there is to do, where that is known.
    fn begin(&self, stage: Stage, total: Option<u64>);
}

impl Observer for Silent {
    fn begin(&self, _: Stage, _: Option<u64>) {}
}

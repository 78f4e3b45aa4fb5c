//! What the results are made from.

use benzer_join::Edge;

use super::setup::Job;
use crate::audit::Findings;
use crate::corpus::CorpusView;
use crate::decide::Removal;
use crate::edges::Edges;
use crate::summary::Summary;

pub(super) struct Decided<'a> {
    pub view: CorpusView<'a>,
    pub edges: &'a Edges,
    pub copies: &'a [Edge],
    pub removals: &'a [Removal],
}

/// Makes files of what was decided.
pub(super) struct ResultWriter<'a> {
    pub job: &'a Job<'a>,
    pub view: CorpusView<'a>,
    pub decided: &'a Decided<'a>,
    /// All removals, by kept and then by removed document.
    pub by_keeper: &'a [Removal],
    pub findings: Option<&'a Findings>,
    pub summary: &'a Summary,
}

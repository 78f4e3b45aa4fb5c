//! What becomes of one document.

/// What becomes of one document of an input.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Its line or row, counted from 1, as in [`Document::line`](crate::read::Document::line).
    pub line: u64,
    /// Whether it goes to the output.
    pub keep: bool,
    /// What to add to it; nothing unless the run annotates.
    pub annotation: Option<Annotation>,
}

/// The fields that `--annotate` adds to a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// `dup_cluster_id`: the id of the cluster's kept document; nothing for a document that is like no other.
    pub cluster_id: Option<String>,
    /// `dup_cluster_size`: how many documents the cluster has, the kept one included.
    pub cluster_size: u64,
    /// `dup_of`: the id of the kept document that this one duplicates; nothing for a kept one.
    pub dup_of: Option<String>,
    /// `dup_similarity`: how similar it is to that document.
    pub similarity: Option<f64>,
    /// `is_duplicate`: whether it would be removed.
    pub is_duplicate: bool,
}

//! When fields match.

use serde::{Deserialize, Serialize};

/// When the fields of two documents match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// If their weighted mean reaches the threshold, and every field its own where it was given one.
    #[default]
    Mean,
    /// If some field reaches its threshold. The similarity is that of the most similar field.
    Any,
    /// If every field reaches its threshold. The similarity is that of the least similar field.
    All,
}

//! What stops a piece of work.

use std::error::Error as StdError;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a piece of work did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It was asked to stop.
    #[error("stopped before it was finished; there are no new results")]
    Cancelled,
    /// A file of the work cannot be written or read.
    #[error(transparent)]
    Storage(#[from] benzer_storage::Error),
    /// What is worked on could not be had, for a reason that only its source knows.
    #[error(transparent)]
    Source(Box<dyn StdError + Send + Sync>),
}

impl Error {
    /// The error of a source of data, to travel through work that does not know it.
    pub fn source(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Source(Box::new(error))
    }
}

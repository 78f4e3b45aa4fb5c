//! What stops a stage.

use benzer_core::Parameter;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a stage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What an engine that moves the data handed over cannot be worked on.
    #[error("expected {expected}, got {got}; {remedy}")]
    Handed {
        /// What a stage needs.
        expected: &'static str,
        /// What it got.
        got: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// Anything else, as a deduplication on one machine says it.
    #[error(transparent)]
    Dedup(#[from] benzer_dedup::Error),
}

impl Error {
    /// Rows that no stage of this version made.
    pub(crate) fn damaged() -> Self {
        Self::Handed {
            expected: "rows as an earlier stage made them",
            got: "others".to_owned(),
            remedy: "use the same version of benzer on the driver and on all executors",
        }
    }

    pub(crate) fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Self::Dedup(Parameter::new(name, expected, got).into())
    }
}

impl From<benzer_core::Error> for Error {
    fn from(error: benzer_core::Error) -> Self {
        Self::Dedup(error.into())
    }
}

impl From<benzer_flow::Error> for Error {
    fn from(error: benzer_flow::Error) -> Self {
        match error {
            benzer_flow::Error::Source(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::Dedup(benzer_flow::Error::Source(error).into()),
            },
            other => Self::Dedup(other.into()),
        }
    }
}

impl From<Error> for benzer_flow::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Dedup(error) => error.into(),
            handed => Self::source(handed),
        }
    }
}

//! What can go wrong in a run. An experiment that does not hold is not an error, but a result.

use std::path::{Path, PathBuf};

/// A run that could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sketch or an estimate was refused.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
    /// A result could not be written.
    #[error("cannot write `{}`: {source}; check the folder of -o", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A chart could not be drawn.
    #[error("cannot draw `{chart}`: {reason}")]
    Draw {
        /// Its title.
        chart: String,
        /// What the drawing library says.
        reason: String,
    },
    /// A data set is not as expected.
    #[error("cannot use `{}`: {reason}; --data must hold the data set as its README describes it", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No such experiment.
    #[error("there is no experiment `{0}`; `benzer eval list` shows all of them")]
    Unknown(String),
}

impl Error {
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn data(path: &Path, reason: impl Into<String>) -> Self {
        Self::Data { path: path.to_owned(), reason: reason.into() }
    }
}

/// The result of most functions here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

//! What stops a run.

use std::path::PathBuf;

use benzer_core::Parameter;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a deduplication. Messages name what was expected, what was found, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// The folder of the results holds something else.
    #[error("`{}` holds {what}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What it holds, and what to do about it.
        what: &'static str,
    },
    /// Too much of the input is no documents.
    #[error(
        "{rejected} of {read} {of} cannot be read, so nothing was deduplicated; the first is {first}{there}; give the right {remedy}, or `allow_rejects` to go on without them (all are in `{}`)",
        list.display()
    )]
    Rejects {
        /// Lines that are no documents.
        rejected: u64,
        /// Lines.
        read: u64,
        /// What they are.
        of: &'static str,
        /// The first of them, and why.
        first: String,
        /// The fields that there are, if that is known.
        there: String,
        /// The parameters that may be wrong.
        remedy: &'static str,
        /// Where all of them are.
        list: PathBuf,
    },
    /// A rejected line in a strict run.
    #[error("{reject} (--strict, so the run stopped here)")]
    Strict {
        /// Where and why.
        reject: String,
    },
    /// Two inputs whose results would have the same name.
    #[error("`{}` and `{}` would both be written to `{}`; name the folder that holds both", a.display(), b.display(), name.display())]
    SameName {
        /// The first.
        a: PathBuf,
        /// The second.
        b: PathBuf,
        /// The name.
        name: PathBuf,
    },
    /// A table that no run wrote.
    #[error("`{}`: expected the results of `benzer dedup`, got no `{column}` in it; name the output folder of a run", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is missing.
        column: &'static str,
    },
    /// A table of results that cannot be decoded.
    #[error("`{}`: expected the results of `benzer dedup`, got {reason}; run it again, or get an undamaged copy", path.display())]
    Results {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        reason: String,
    },
    /// An archive that cannot be used as it is.
    #[error("archive `{}`: expected {expected}, got {got}; {remedy}", path.display())]
    Archive {
        /// Its folder, or the file that is wrong.
        path: PathBuf,
        /// What the run needs.
        expected: String,
        /// What the archive has.
        got: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The run was asked to stop.
    #[error("stopped before it was finished; there are no new results")]
    Cancelled,
    /// A sketch, a banding or a threshold that does not fit.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
    /// An input cannot be read, or an output cannot be written.
    #[error(transparent)]
    Io(benzer_io::Error),
    /// A file of the run cannot be written or read.
    #[error(transparent)]
    Storage(#[from] benzer_storage::Error),
}

impl Error {
    /// A parameter outside its range.
    pub fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Parameter::new(name, expected, got).into()
    }

    /// An input that cannot be opened, with the remedy.
    pub fn open(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        benzer_io::Error::open(path, source).into()
    }
}

impl From<benzer_io::Error> for Error {
    fn from(error: benzer_io::Error) -> Self {
        match error {
            benzer_io::Error::Parameter(parameter) => Self::Parameter(parameter),
            benzer_io::Error::Storage(error) => Self::Storage(error),
            benzer_io::Error::Core(error) => Self::Core(error),
            benzer_io::Error::Cancelled => Self::Cancelled,
            other => Self::Io(other),
        }
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Self {
        benzer_io::Error::from(error).into()
    }
}

/// An error of a source of data comes out of the work on it as what it was.
impl From<benzer_flow::Error> for Error {
    fn from(error: benzer_flow::Error) -> Self {
        match error {
            benzer_flow::Error::Cancelled => Self::Cancelled,
            benzer_flow::Error::Storage(error) => Self::Storage(error),
            benzer_flow::Error::Source(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => benzer_io::Error::from(benzer_flow::Error::Source(error)).into(),
            },
        }
    }
}

impl From<Error> for benzer_flow::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => Self::Cancelled,
            Error::Storage(error) => Self::Storage(error),
            other => Self::source(other),
        }
    }
}

//! What stops reading or writing. A bad line does not: it is a [`Reject`](crate::read::Reject), which is data.

use std::io;
use std::path::{Path, PathBuf};

use benzer_core::Parameter;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an input or an output. Messages name what was expected, what was found, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// A sketch, a banding or a threshold that does not fit.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
    /// An input cannot be opened.
    #[error("cannot open `{}`: {source}; {remedy}", path.display())]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// What to do about it.
        remedy: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// An input was opened and then could not be read to its end.
    #[error("cannot read `{}`: {source}; check the disk or the connection it comes from", path.display())]
    Read {
        /// The file, or the name of the stream.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// An object store or a web server refused.
    #[error("cannot {action} `{url}`: {what}; {remedy}")]
    Store {
        /// What was tried: `open`, `list`, `write`, `remove`.
        action: &'static str,
        /// The object or folder.
        url: String,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A glob that matches no file.
    #[error("no file matches `{pattern}`; check the pattern, and quote it so that the shell leaves it alone")]
    NoMatch {
        /// The pattern as given.
        pattern: String,
    },
    /// A folder in which there is nothing to read.
    #[error(
        "no readable input in `{}`: looked for {extensions}, in subfolders too; name files of other extensions one by one",
        path.display()
    )]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// The extensions that are looked for.
        extensions: String,
    },
    /// Results and an input lie upon each other.
    #[error("`{}` {how} `{}`; name a place for the results outside of the inputs", output.display(), input.display())]
    Overlap {
        /// Where the results were to go.
        output: PathBuf,
        /// How they lie.
        how: &'static str,
        /// The input.
        input: PathBuf,
    },
    /// An input is not what it was at the beginning.
    #[error("an input changed while it was being read; let nobody write to it and run again")]
    Changed,
    /// A file that is recognised, and cannot be read as what it is or was said to be.
    #[error("`{}`: expected {expected}, got {got}; {remedy}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What can be read.
        expected: &'static str,
        /// What it is.
        got: &'static str,
        /// How to make it readable.
        remedy: &'static str,
    },
    /// A CSV file without a wanted column.
    #[error(
        "`{}`: no column `{column}`, there are {columns}; name the right one with --text-field or --id-field",
        path.display()
    )]
    Column {
        /// The file.
        path: PathBuf,
        /// The column as it was asked for.
        column: String,
        /// The columns there are.
        columns: String,
    },
    /// A CSV file whose first line is no header.
    #[error(
        "`{}`: cannot read the header of the columns: {detail}; repair its first line, or say what it is with --input-format",
        path.display()
    )]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A table whose rows are to be copied has a column of a name that is to be added.
    #[error(
        "`{}` has a column `{column}` already, which --annotate adds; rename it, or run without --annotate",
        path.display()
    )]
    Annotated {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A table of which rows are to be kept cannot be read a second time.
    #[error(
        "cannot copy the rows of `{}`: {detail}; if the file was changed during the run, start again, else get an undamaged copy",
        path.display()
    )]
    Copy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// What is kept of an input cannot be written.
    #[error("cannot write what is kept of `{}`: {source}; check the space on the disk", path.display())]
    Output {
        /// The input.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Compressed output cannot be written; the message names the file.
    #[error(transparent)]
    Write(io::Error),
    /// A table of the results cannot be written.
    #[error("cannot write a table of the results: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A file of the run cannot be written or read.
    #[error(transparent)]
    Storage(#[from] benzer_storage::Error),
    /// The work was asked to stop.
    #[error("stopped before it was finished; there are no new results")]
    Cancelled,
    /// What other code that was called back says.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

/// An error of a source of data comes out of the work on it as what it was.
impl From<benzer_flow::Error> for Error {
    fn from(error: benzer_flow::Error) -> Self {
        match error {
            benzer_flow::Error::Cancelled => Self::Cancelled,
            benzer_flow::Error::Storage(error) => Self::Storage(error),
            benzer_flow::Error::Source(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::Source(error),
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

impl Error {
    /// A parameter outside its range.
    pub fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Parameter::new(name, expected, got).into()
    }

    /// Results and an input that lie upon each other.
    pub fn overlap(output: &Path, how: &'static str, input: &Path) -> Self {
        Self::Overlap { output: output.into(), how, input: input.into() }
    }

    /// Parquet where nothing can be read twice.
    pub(crate) fn parquet_in_a_pipe(path: &Path) -> Self {
        let remedy = "save it to a file first, because it is read from its end";
        Self::Format { path: path.into(), expected: "a parquet file", got: "a pipe", remedy }
    }

    /// A file that is read from its end, of a server that only gives whole files.
    pub(crate) fn without_ranges(path: &Path, expected: &'static str) -> Self {
        let (got, remedy) =
            ("a server that only gives whole files", "download it first, because it is read from its end");
        Self::Format { path: path.into(), expected, got, remedy }
    }

    /// An input that cannot be read to its end.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }

    /// An input that cannot be opened, with the remedy.
    pub fn open(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::NotFound => "check the spelling, and that it was not moved or removed",
            io::ErrorKind::PermissionDenied => "make it readable (`chmod +r`), or run as its owner",
            io::ErrorKind::IsADirectory => "it was a file when the run began; start again",
            _ => "check the disk or the connection it comes from",
        };
        Self::Open { path: path.into(), remedy, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_permission_names_the_file_and_the_remedy() {
        let error = Error::open("a.jsonl", io::ErrorKind::PermissionDenied.into());
        let expected =
            "cannot open `a.jsonl`: permission denied; make it readable (`chmod +r`), or run as its owner";
        assert_eq!(error.to_string(), expected);
    }
}

//! What stops a run. A bad line does not: it is a [`Reject`](crate::read::Reject), which is data.

use std::io;
use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the batch engine. Messages name what was expected, what was found, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("`{name}` must be {expected}, got {got}")]
    Parameter {
        /// The parameter as the user knows it.
        name: &'static str,
        /// The allowed range in words.
        expected: String,
        /// The offending value.
        got: String,
    },
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
    /// The folder of the results holds something else.
    #[error("`{}` holds {what}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What it holds, and what to do about it.
        what: &'static str,
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
    /// The run was asked to stop.
    #[error("stopped before it was finished; there are no new results")]
    Cancelled,
    /// An input is not what it was at the beginning.
    #[error("an input changed while it was being read; let nobody write to it and run again")]
    Changed,
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
    /// What an engine that moves the data handed over cannot be worked on.
    #[error("expected {expected}, got {got}; {remedy}")]
    Exchange {
        /// What a stage needs.
        expected: &'static str,
        /// What it got.
        got: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A sketch, a banding or a threshold that does not fit.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
    /// A file of the run cannot be written or read.
    #[error(transparent)]
    Files(#[from] crate::files::Error),
    /// Compressed output cannot be written; the message names the file.
    #[error(transparent)]
    Write(io::Error),
    /// A table of the results cannot be written.
    #[error("cannot write a table of the results: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
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
}

impl Error {
    pub(crate) fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Self::Parameter { name, expected: expected.into(), got: got.to_string() }
    }

    pub(crate) fn overlap(output: &Path, how: &'static str, input: &Path) -> Self {
        Self::Overlap { output: output.into(), how, input: input.into() }
    }

    pub(crate) fn parquet_in_a_pipe(path: &Path) -> Self {
        let remedy = "save it to a file first, because it is read from its end";
        Self::Format { path: path.into(), expected: "a parquet file", got: "a pipe", remedy }
    }

    pub(crate) fn without_ranges(path: &Path, expected: &'static str) -> Self {
        let (got, remedy) =
            ("a server that only gives whole files", "download it first, because it is read from its end");
        Self::Format { path: path.into(), expected, got, remedy }
    }

    pub(crate) fn open(path: impl Into<PathBuf>, source: io::Error) -> Self {
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

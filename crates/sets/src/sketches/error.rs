//! What can go wrong with a sketch file: always the file, the place in it, expected and got, and the remedy.

use std::{fmt, io, path::PathBuf};

/// Shorthand for results of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error while making, writing or reading a sketch file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter out of range, or a sketch that does not suit the request.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] benzer_io::Error),
    /// The file cannot be opened or read.
    #[error("cannot read `{}`: {source}; {remedy}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What to do about it.
        remedy: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// The output cannot be written.
    #[error(transparent)]
    Files(#[from] benzer_storage::Error),
    /// The output exists and is something else, which nobody asked to replace.
    #[error("`{}` exists and is not a sketch file; move it away, or write to another name", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
    },
    /// Not a sketch file.
    #[error(
        "`{}`: expected a sketch file, got {got}; make one with `benzer sketch INPUT -o FILE.bsk`",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is, in words.
        got: String,
    },
    /// Of a version that this build does not read.
    #[error(
        "`{}`: expected sketch file version {}, got {got}; read it with the release that wrote it, or make it again",
        path.display(), super::FORMAT_VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        got: u16,
    },
    /// Truncated or damaged.
    #[error(
        "`{}`: {place} is damaged: expected {expected}, got {got}; make the file again from its input",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        place: Place,
        /// What should have been there.
        expected: String,
        /// What was there.
        got: String,
    },
}

/// A part of a sketch file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The beginning: spec and input names.
    Header,
    /// A block of records, counted from 0.
    Block(u64),
    /// The counts at the end.
    Footer,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("the header"),
            Self::Block(number) => write!(f, "block {number}"),
            Self::Footer => f.write_str("the footer"),
        }
    }
}

impl Error {
    pub(super) fn read(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::NotFound => "check the spelling, and that it was not moved or removed",
            io::ErrorKind::PermissionDenied => "make it readable (`chmod +r`), or run as its owner",
            io::ErrorKind::IsADirectory => "name a sketch file in it",
            _ => "check the disk or the connection it comes from",
        };
        Self::Read { path: path.into(), remedy, source }
    }
}

//! What can go wrong with a file: always its name, what the operating system said, and the remedy.

use std::{io, path::PathBuf};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}; {remedy}", path.display())]
    Disk {
        /// What was tried: `write`, `read`, `remove`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What to do about it.
        remedy: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another run holds the folder.
    #[error(
        "another run{} is using `{}`; wait for it, or choose another output and --work-dir",
        pid.map_or(String::new(), |pid| format!(" (pid {pid})")), folder.display()
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The process that holds it, where it can be told.
        pid: Option<u32>,
    },
    /// A file does not hold what was written to it.
    #[error("`{}` is damaged: expected {expected}, got {got}; check the disk and run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What should have been there.
        expected: String,
        /// What was there.
        got: String,
    },
}

impl Error {
    /// What the operating system said of a file, with the remedy for it.
    pub fn disk(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Disk { action, path: path.into(), remedy: remedy(action, source.kind()), source }
    }

    /// A file that does not hold what was written to it.
    pub fn damaged(path: impl Into<PathBuf>, expected: impl ToString, got: impl ToString) -> Self {
        Self::Damaged { path: path.into(), expected: expected.to_string(), got: got.to_string() }
    }

    /// For `io::Write`: the kind stays, and the message keeps the file and the remedy.
    pub(super) fn into_io(self) -> io::Error {
        let kind = match &self {
            Self::Disk { source, .. } => source.kind(),
            Self::Locked { .. } => io::ErrorKind::ResourceBusy,
            Self::Damaged { .. } => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, self)
    }
}

fn remedy(action: &str, kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and run again (`benzer dedup` with --resume)"
        }
        io::ErrorKind::PermissionDenied if action == "read" => {
            "make it readable (`chmod +r`), or run as its owner"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "write to a folder that is yours"
        }
        io::ErrorKind::NotFound if action == "read" => "check that it was not moved or removed",
        io::ErrorKind::NotFound => "make its folder first",
        io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "choose another name"
        }
        io::ErrorKind::FileTooLarge => "raise `ulimit -f`, or write to another file system",
        io::ErrorKind::CrossesDevices => "keep both names on one file system",
        _ => "check the disk and the name",
    }
}

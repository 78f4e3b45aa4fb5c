//! What can go wrong in an index.

use std::io;
use std::path::PathBuf;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an index or its store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A document or a parameter that the core does not take.
    #[error(transparent)]
    Core(#[from] benzer_core::Error),
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
    /// The collection was made with other settings, or by another version.
    #[error("the collection is not compatible: expected {expected}, found {found}")]
    Incompatible {
        /// What was asked for, or what this version reads.
        expected: String,
        /// What is in the store.
        found: String,
    },
    /// There is no document with this id.
    #[error("there is no document `{id}` in the collection")]
    NoDocument {
        /// The id.
        id: String,
    },
    /// The collection is full: its numbers are used up.
    #[error("the collection has used up its 4,294,967,295 numbers; export it and import it into a new one")]
    Full,
    /// There is no such collection.
    #[error("there is no collection `{name}`; make it first")]
    NoCollection {
        /// Its name or folder.
        name: String,
    },
    /// There is such a collection already.
    #[error("there is a collection `{name}` already; drop it first, or choose another name")]
    Exists {
        /// Its name or folder.
        name: String,
    },
    /// Another process writes to the collection.
    #[error("another writer{} has `{}` open; wait for it, stop it, or open the collection for reading", pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(), folder.display())]
    Locked {
        /// The folder of the collection.
        folder: PathBuf,
        /// The process, if it is known.
        pid: Option<u32>,
    },
    /// The collection was opened for reading.
    #[error("`{}` was opened for reading; open it for writing to change it", folder.display())]
    ReadOnly {
        /// The folder of the collection.
        folder: PathBuf,
    },
    /// What is stored is not what was written.
    #[error("`{}` is damaged: {what}; `benzer verify` lists all damage, `benzer repair` saves what is whole", path.display())]
    Damaged {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Too much has not been merged, because merging fails.
    #[error("`{}` takes no more documents before its segments are merged, which fails: {what}; nothing was changed", folder.display())]
    Behind {
        /// The folder of the collection.
        folder: PathBuf,
        /// Why merging fails.
        what: String,
    },
    /// The operating system refused something.
    #[error("cannot {action} `{}`: {source}{}", path.display(), remedy(source))]
    Disk {
        /// What was tried.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// A store on another machine does not answer now; the same call may succeed later.
    #[error("{backend}: {source}")]
    Unavailable {
        /// The kind of the store.
        backend: &'static str,
        /// What it says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A store on another machine has no room left.
    #[error("{backend}: {source}")]
    NoRoom {
        /// The kind of the store.
        backend: &'static str,
        /// What it says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A store could not do what it was asked.
    #[error("{backend}: {source}")]
    Store {
        /// The kind of the store.
        backend: &'static str,
        /// What it says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    pub(crate) fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Self::Parameter { name, expected: expected.into(), got: got.to_string() }
    }

    pub(crate) fn damaged(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.into(), what: what.into() }
    }

    pub(crate) fn incompatible(expected: impl ToString, found: impl ToString) -> Self {
        Self::Incompatible { expected: expected.to_string(), found: found.to_string() }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; nothing was changed: make room and try again"
        }
        _ => "",
    }
}

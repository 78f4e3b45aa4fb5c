//! Which collections, and what is said when they cannot be used.

use std::path::{Path, PathBuf};

use benzer_index::store::{self, Collections};
use clap::Args;

use crate::Usage;

/// The place of collections.
#[derive(Debug, Clone, Args)]
pub struct DbArguments {
    /// Where the collections are: a folder
    #[arg(long, value_name = "URL", default_value = "./benzer-data", help_heading = "Collection")]
    pub db: String,
}

impl DbArguments {
    /// The collections.
    ///
    /// # Errors
    /// An address of another kind.
    pub fn open(&self) -> anyhow::Result<Box<dyn Collections>> {
        store::open(&self.db).map_err(failed)
    }
}

/// An error of the index, with blame where it belongs.
pub fn failed(error: benzer_index::Error) -> anyhow::Error {
    match error {
        benzer_index::Error::Parameter { .. } => Usage::new(error).into(),
        other => other.into(),
    }
}

/// The file of keys.
#[derive(Debug, Clone, Args)]
pub struct KeysArguments {
    /// The file of keys [default: .keys.json in the folder of --db, else ./benzer-keys.json]
    #[arg(long, value_name = "FILE", help_heading = "Security")]
    keys: Option<PathBuf>,
}

impl KeysArguments {
    /// Where it is.
    pub fn path(&self, db: &DbArguments) -> PathBuf {
        let is_folder = db.db != "memory:" && !db.db.contains("://");
        let usual =
            || if is_folder { Path::new(&db.db).join(".keys.json") } else { "benzer-keys.json".into() };
        self.keys.clone().unwrap_or_else(usual)
    }
}

//! Which collections, and what is said when they cannot be used.

use std::path::{Path, PathBuf};

use benzer_index::Index;
use benzer_index::store::{self, Collections};
use clap::Args;

use crate::Usage;

/// The place of collections.
#[derive(Debug, Clone, Args)]
pub struct DbArguments {
    /// Where the collections are: a folder, or redis://HOST:PORT, redis+cluster://HOST:PORT,..., with TLS rediss:// and rediss+cluster://
    #[arg(long, value_name = "URL", default_value = "./benzer-data", help_heading = "Collection")]
    pub db: String,
    /// On Redis: so many replicas must acknowledge a batch before it counts
    #[arg(long, value_name = "N", help_heading = "Collection")]
    redis_wait: Option<u32>,
    /// On Redis with TLS: the certificate that the server's is checked with, if the system does not know it (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Collection")]
    redis_ca: Option<PathBuf>,
}

impl DbArguments {
    /// The collections. Errors: an address of another kind; a server that cannot be used.
    pub fn open(&self) -> anyhow::Result<Box<dyn Collections>> {
        self.open_for(None)
    }

    /// The collections, of which new ones are laid out for a number of documents where that matters. Errors: as [`DbArguments::open`].
    pub fn open_for(&self, expected_documents: Option<u64>) -> anyhow::Result<Box<dyn Collections>> {
        store::open(&self.url(expected_documents)?).map_err(failed)
    }

    /// A collection to write to. Errors: no such collection; what the store says.
    pub fn index(&self, name: &str) -> anyhow::Result<Index> {
        Index::new(self.open()?.open(name).map_err(failed)?).map_err(failed)
    }

    /// A collection to read only. Errors: no such collection; what the store says.
    pub fn read(&self, name: &str) -> anyhow::Result<Index> {
        Index::new(self.open()?.read(name).map_err(failed)?).map_err(failed)
    }

    /// The address with what the other options say. Errors: options for another kind of address.
    pub fn url(&self, expected_documents: Option<u64>) -> anyhow::Result<String> {
        let wait = self.redis_wait.map(|n| format!("wait={n}"));
        let ca = self.redis_ca.as_ref().map(|path| format!("ca={}", encoded(&path.display().to_string())));
        let expected = expected_documents.map(|n| format!("expected_documents={n}"));
        let options: Vec<String> = [wait, ca, expected].into_iter().flatten().collect();
        if options.is_empty() {
            return Ok(self.db.clone());
        }
        if !self.db.starts_with("redis") || !self.db.contains("://") {
            let what = "--redis-wait, --redis-ca and --expected-documents are for collections on Redis";
            return Err(Usage::new(format!("{what}; --db is `{}`", self.db)).into());
        }
        let joint = if self.db.contains('?') { '&' } else { '?' };
        Ok(format!("{}{joint}{}", self.db, options.join("&")))
    }

    /// The address without a password.
    pub fn shown(&self) -> String {
        match (self.db.split_once("://"), self.db.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://...@{rest}"),
            _ => self.db.clone(),
        }
    }
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(byte);
    text.bytes()
        .map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
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
    pub fn path(&self, db: &DbArguments) -> PathBuf {
        let is_folder = db.db != "memory:" && !db.db.contains("://");
        let default =
            || if is_folder { Path::new(&db.db).join(".keys.json") } else { "benzer-keys.json".into() };
        self.keys.clone().unwrap_or_else(default)
    }
}

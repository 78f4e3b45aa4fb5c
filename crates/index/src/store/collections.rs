//! Collections by name, and what is found when one is read as a whole.

use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;

use super::Store;
use crate::error::{Error, Result};
use crate::settings::Settings;

/// The longest name of a collection, in bytes.
const MAX_NAME: usize = 100;

/// Collections by name.
///
/// # Errors
/// No such collection; another writer to one that is to be changed; what the store says.
pub trait Collections: Debug + Send + Sync {
    /// The names of all collections, in order.
    fn list(&self) -> Result<Vec<String>>;

    /// Makes an empty collection.
    ///
    /// # Errors
    /// A name that is taken or not a name; settings that make no sense.
    fn create(&self, name: &str, settings: Settings) -> Result<Arc<dyn Store>>;

    /// Opens a collection to change and search it.
    fn open(&self, name: &str) -> Result<Arc<dyn Store>>;

    /// Opens a collection to search it, whoever writes to it.
    fn read(&self, name: &str) -> Result<Arc<dyn Store>>;

    /// Removes a collection with all its documents.
    fn remove(&self, name: &str) -> Result<()>;

    /// Reads everything of a collection, and says what is wrong with it.
    fn verify(&self, name: &str) -> Result<Report>;

    /// Makes right what [`Collections::verify`] finds, as far as it can be.
    fn repair(&self, name: &str) -> Result<Report>;

    /// Lays a collection out for another number of documents, where that is decided when it is made.
    ///
    /// # Errors
    /// A store that has nothing to lay out.
    fn reshard(&self, _name: &str, _expected_documents: u64) -> Result<()> {
        Err(Error::parameter(
            "db",
            "a collection on Redis; others find their layout themselves",
            "another one",
        ))
    }
}

/// What was found when everything was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Documents that are whole.
    pub documents: u64,
    /// What is wrong with records, each with its number and, where it can be read, its id.
    pub records: Vec<String>,
    /// What is wrong with what is derived from them.
    pub derived: Vec<String>,
    /// What was done about it.
    pub repaired: Vec<String>,
    /// What is not wrong, and should be looked after.
    pub warnings: Vec<String>,
}

impl Report {
    /// True if nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.records.is_empty() && self.derived.is_empty()
    }
}

pub(super) fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) && !name.starts_with('.') {
        true => Ok(()),
        false => Err(Error::parameter(
            "name",
            format!("1 to {MAX_NAME} of a-z, A-Z, 0-9, `-`, `_` and `.`, and not begin with `.`"),
            format!("`{name}`"),
        )),
    }
}

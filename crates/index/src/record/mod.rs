//! What a store keeps of documents, one by one and column by column.

mod recorder;
mod texts;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use benzer_core::field::{Content, Document};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hints;
use crate::settings::Layout;

pub use recorder::Recorder;
pub use texts::Texts;

/// The number of a record. A document that is replaced gets a new one; numbers are not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[repr(transparent)]
pub struct DocNo(pub u32);

impl DocNo {
    /// The number of the record that is `n` places after this one, where all follow each other.
    #[inline]
    pub(crate) fn plus(self, n: usize) -> Self {
        Self(self.0 + n as u32)
    }

    /// How many places after another one, which is not greater.
    #[inline]
    pub(crate) fn places_after(self, first: Self) -> usize {
        (self.0 - first.0) as usize
    }
}

impl fmt::Display for DocNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A stored record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its id.
    pub id: &'a [u8],
    /// Its words, as [`Layout`] cuts them.
    pub words: &'a [u64],
    /// Its contents as JSON; empty if they are not kept, or not wanted.
    pub document: &'a [u8],
    /// From when on it is gone; 0 means never.
    pub expires: u64,
}

impl Record<'_> {
    /// Whether it has lived its time at `now`, in seconds since 1970.
    #[inline]
    pub fn is_gone(&self, now: u64) -> bool {
        self.expires != 0 && self.expires <= now
    }

    /// The document, if its contents are kept and wanted.
    pub(crate) fn kept_document(&self) -> Result<Option<Document>> {
        (!self.document.is_empty()).then(|| self.to_document()).transpose()
    }

    /// The kept contents of the document.
    ///
    /// # Errors
    /// Contents that are not those of a document.
    pub fn to_document(&self) -> Result<Document> {
        let id = String::from_utf8_lossy(self.id).into_owned();
        let fields: BTreeMap<String, Content> = serde_json::from_slice(self.document).map_err(|error| {
            Error::incompatible("the contents of a document as JSON", format!("{error} in `{id}`"))
        })?;
        Ok(Document { id, fields })
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Documents as a store takes them, column by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    /// Their ids. One that comes twice in a batch counts as its last.
    pub ids: Texts,
    /// Their words, as [`Layout`] cuts them: so many for each.
    pub words: Vec<u64>,
    /// Their contents as JSON, if documents are kept; else none at all.
    pub documents: Texts,
    /// From when on each is gone, in seconds since 1970; 0 means never. Nothing at all when none expires.
    pub expires: Vec<u64>,
}

impl Records {
    /// Nothing yet, with room for the words of `n` records. A store takes the memory over, so this is worth more than it saves in copying: much of it comes on large pages, where a search
    /// finds its way faster.
    pub fn with_capacity(layout: &Layout, n: usize) -> Self {
        Self {
            words: hints::with_capacity(n * layout.words()),
            ids: Texts::with_capacity(n),
            ..Self::default()
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// When a record is gone, if ever.
    #[inline]
    pub fn expires(&self, i: usize) -> u64 {
        self.expires.get(i).copied().unwrap_or_default()
    }

    /// One of them; each has so many words.
    #[inline]
    pub(crate) fn get(&self, i: usize, stride: usize) -> Record<'_> {
        Record {
            id: self.ids.get(i),
            words: &self.words[i * stride..(i + 1) * stride],
            document: self.documents.get(i),
            expires: self.expires(i),
        }
    }

    /// Refuses records that do not have so many words each.
    pub(crate) fn check(&self, stride: usize) -> Result<()> {
        if self.len() * stride == self.words.len() {
            return Ok(());
        }
        Err(Error::parameter(
            "words",
            format!("{stride} for each record"),
            format!("{} for {} records", self.words.len(), self.len()),
        ))
    }

    /// The largest id or contents, in bytes.
    pub(crate) fn max_bytes(&self) -> usize {
        self.ids.iter().chain(self.documents.iter()).map(<[u8]>::len).max().unwrap_or_default()
    }

    /// The places of records whose id does not come again after them, in order.
    pub(crate) fn last_of_each_id(&self) -> Vec<usize> {
        let last: HashMap<&[u8], usize> = self.ids.iter().zip(0..).collect();
        if last.len() == self.len() {
            return (0..self.len()).collect();
        }
        let mut kept: Vec<usize> = last.into_values().collect();
        kept.sort_unstable();
        kept
    }

    /// Appends a record.
    pub(crate) fn push(&mut self, record: Record<'_>) {
        self.words.extend_from_slice(record.words);
        self.ids.push(record.id);
        if !record.document.is_empty() {
            while self.documents.len() + 1 < self.ids.len() {
                self.documents.push(&[]);
            }
            self.documents.push(record.document);
        }
        self.push_expiry(record.expires);
    }

    /// When the last record is gone.
    pub(crate) fn push_expiry(&mut self, expires: u64) {
        if expires > 0 || !self.expires.is_empty() {
            self.expires.resize(self.ids.len() - 1, 0);
            self.expires.push(expires);
        }
    }

    /// Appends all of others.
    pub(crate) fn extend(&mut self, others: &Self) {
        let n = self.len();
        self.words.extend_from_slice(&others.words);
        self.ids.extend(&others.ids);
        if !others.documents.is_empty() {
            while self.documents.len() < n {
                self.documents.push(&[]);
            }
            self.documents.extend(&others.documents);
        }
        if !others.expires.is_empty() {
            self.expires.resize(n, 0);
            self.expires.extend_from_slice(&others.expires);
        }
    }
}

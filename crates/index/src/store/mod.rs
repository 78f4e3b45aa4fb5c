//! Where collections are kept.
//!
//! A [`Store`] is synchronous and batch-shaped: one call is one round trip, whatever the number of documents. It knows records and band keys, never documents' meaning.
//! Every store passes the same suite, `tests/conformance`.

mod collections;
mod disk;
mod memory;
mod open;
#[cfg(feature = "redis")]
mod redis;

use std::fmt::Debug;

use benzer_core::lsh::BandKey;
use serde::Serialize;

use crate::error::Result;
use crate::record::{DocNo, Record, Records};
use crate::settings::{BandRange, Layout, Settings};

pub use collections::{Collections, Report};
pub use disk::make_folders;
pub use open::{disk, memory, open};

/// Keeps the records of one collection.
///
/// # Errors
/// What the store says: then no record was added or removed, and none is lost.
pub trait Store: Debug + Send + Sync {
    /// What the collection is.
    fn settings(&self) -> &Settings;

    /// Adds records, and replaces those that have the same id: all of them, or on an error none (on Redis each document whole or not at all, and the batch can be sent again). When it
    /// returns, they are as durable as the store is.
    fn put(&self, records: Records) -> Result<()>;

    /// Removes the records of some ids; how many there were.
    fn remove(&self, ids: &[&[u8]]) -> Result<u64>;

    /// Removes the records that are gone at `now`, in seconds since 1970; how many there were.
    fn expire(&self, now: u64) -> Result<u64>;

    /// The collection as it is now. What comes later does not show in it; on Redis it may, document by document.
    fn view(&self) -> Result<Box<dyn View + '_>>;

    /// Brings everything into the shape that is searched fastest, and frees what removed records held.
    fn compact(&self) -> Result<()>;

    /// Finishes what goes on behind the scenes. Closing does so too as far as it is quick, and cannot say what failed.
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// What has failed behind the scenes and is tried again, if something has. Nothing is lost by it, but searches and opening become slower.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// What is wrong with what is kept, if that is known without looking: answers may be, too.
    fn damage(&self) -> Option<String> {
        None
    }
}

/// A collection at one moment.
///
/// # Errors
/// What the store says, or what `visit` returns.
pub trait View {
    /// For each key the records that have it, in the order of their numbers. There may be a few others among them, which the index leaves out.
    fn postings(&self, keys: &[BandKey], postings: &mut Postings) -> Result<()>;

    /// For each range of keys the records that have one of them, in any order, and maybe a few others. Keys keep the order of the registers, so that a store finds a range where its first key is.
    fn ranges(&self, layout: &Layout, ranges: &[BandRange], postings: &mut Postings) -> Result<()>;

    /// Hands the records of some numbers to `visit`, in the order of the list and with the place of the number in it. Numbers without a record are left out.
    fn records(&self, numbers: &[DocNo], parts: Parts, visit: Visit<'_>) -> Result<()>;

    /// How many searches are best looked up together: many enough to work on all of them at once, few enough for the cache.
    fn batch(&self) -> usize {
        256
    }

    /// The numbers of some ids.
    fn numbers(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocNo>>>;

    /// Hands records to `visit`, with their numbers, each once, from one place on and about so many at most; where to go on, if there may be more.
    fn scan(
        &self,
        from: Cursor,
        max: usize,
        parts: Parts,
        visit: VisitNumbered<'_>,
    ) -> Result<Option<Cursor>>;

    /// Numbers of the collection.
    fn stats(&self) -> Result<Stats>;
}

/// Where a scan begins, or goes on: what the number means is a matter of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub u32);

impl Cursor {
    /// Before the first record.
    pub const START: Self = Self(0);
}

/// What is done with each record that was asked for: its place in the list of numbers, and the record.
pub type Visit<'a> = &'a mut dyn FnMut(usize, Record<'_>) -> Result<()>;

/// What is done with each record of a scan: its number, and the record.
pub type VisitNumbered<'a> = &'a mut dyn FnMut(DocNo, Record<'_>) -> Result<()>;

/// Which parts of records are wanted; the others may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Id, words and expiry.
    Sketches,
    /// The contents too.
    All,
}

/// The records of keys, one list after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Postings {
    numbers: Vec<DocNo>,
    ends: Vec<usize>,
}

impl Postings {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
    }

    /// Appends a number to the list of the current key.
    #[inline]
    pub fn push(&mut self, number: DocNo) {
        self.numbers.push(number);
    }

    /// Appends numbers to the list of the current key.
    #[inline]
    pub fn extend(&mut self, numbers: impl Iterator<Item = DocNo>) {
        self.numbers.extend(numbers);
    }

    /// Ends the list of a key.
    #[inline]
    pub fn end_key(&mut self) {
        self.ends.push(self.numbers.len());
    }

    /// The list of the key at a place.
    pub fn of(&self, i: usize) -> &[DocNo] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }

    /// The lists of some keys in a row.
    #[inline]
    pub fn of_all(&self, keys: std::ops::Range<usize>) -> &[DocNo] {
        let end = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[end(keys.start)..end(keys.end)]
    }
}

/// How large a collection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    /// Documents that can be found.
    pub documents: u64,
    /// Records that were removed or replaced and still take room.
    pub removed: u64,
    /// Parts that a search looks into.
    pub parts: u64,
    /// Bytes of band keys.
    pub posting_bytes: u64,
    /// Bytes of sketches.
    pub sketch_bytes: u64,
    /// Bytes of ids, and of finding them.
    pub id_bytes: u64,
    /// Bytes of kept documents.
    pub document_bytes: u64,
    /// Of the bytes of band keys, about those that are there for containment.
    pub containment_bytes: u64,
}

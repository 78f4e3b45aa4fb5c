//! A collection: what goes in, and what is found.

mod bucket_stats;
mod clusters;
mod duplicates;
mod list;
mod search;
mod search_words;
mod three_way_search;
mod top;
mod triples;

use std::sync::Arc;

use benzer_core::field::Document;
use benzer_core::sketch::Sketch;

use crate::error::{Error, Result};
use crate::record::{Recorder, Records, now};
use crate::score::Scorer;
use crate::settings::Settings;
use crate::store::{Parts, Stats, Store, View, Visit};

pub use bucket_stats::BucketStats;
pub use clusters::{Cluster, Member};
pub use list::ListedDocument;
pub use search_words::BatchMatches;
pub use triples::Triple;

/// A collection of documents that can be searched for similar ones.
///
/// # Errors
/// Whatever a call does, it may return what the store says.
#[derive(Debug)]
pub struct Index {
    store: Arc<dyn Store>,
    recorder: Recorder,
    scorer: Scorer,
    all_fields: Vec<usize>,
}

/// What became of each document of a batch, by position.
#[derive(Debug)]
pub struct Inserted {
    /// Why a document was not taken; nothing for one that was.
    pub outcomes: Vec<Result<()>>,
}

impl Inserted {
    /// How many are in the collection now.
    pub fn n_inserted(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.is_ok()).count()
    }
}

impl Index {
    /// The collection of a store.
    ///
    /// # Errors
    /// Settings of another version.
    pub fn new(store: Arc<dyn Store>) -> Result<Self> {
        let recorder = Recorder::new(store.settings())?;
        let scorer = Scorer::new(recorder.layout())?;
        let all_fields = (0..recorder.layout().fields().len()).collect();
        Ok(Self { store, recorder, scorer, all_fields })
    }

    /// What the collection is.
    pub fn settings(&self) -> &Settings {
        self.store.settings()
    }

    /// Makes records, as inserting and searching do.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Where the collection is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Adds documents, and replaces those that have the same id, in one commit.
    ///
    /// # Errors
    /// What the store says; then nothing has changed. A document that does not suit the schema is left out, and the answer at its position says why.
    pub fn insert(&self, documents: &[Document]) -> Result<Inserted> {
        self.insert_until(documents, |_| None)
    }

    /// [`Index::insert`] of documents that are gone from some time on, in seconds since 1970.
    pub fn insert_until(
        &self,
        documents: &[Document],
        expires: impl Fn(usize) -> Option<u64>,
    ) -> Result<Inserted> {
        let mut records = Records::with_capacity(self.recorder.layout(), documents.len());
        let outcomes = documents.iter().enumerate().map(|(i, document)| {
            // Zero means never; what was gone in 1970 is gone in the next second too.
            let expires = expires(i).map_or(0, |time| time.max(1));
            if document.id.is_empty() {
                return Err(Error::parameter("id", "a text that is not empty", "``"));
            }
            self.recorder.record(document, expires, &mut records)
        });
        let outcomes = outcomes.collect();
        self.store.put(records)?;
        Ok(Inserted { outcomes })
    }

    /// Removes documents; how many there were.
    pub fn remove<I: AsRef<str>>(&self, ids: &[I]) -> Result<u64> {
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_ref().as_bytes()).collect();
        self.store.remove(&ids)
    }

    /// Removes what is gone by now; how many there were.
    pub fn expire(&self) -> Result<u64> {
        self.store.expire(now())
    }

    /// A document, if it is there and documents are kept.
    ///
    /// # Errors
    /// What the store says; a document that was damaged.
    pub fn get(&self, id: &str) -> Result<Option<Document>> {
        let view = self.store.view()?;
        let mut found = None;
        self.visit(&*view, id, Parts::All, &mut |_, record| {
            found = record.kept_document()?;
            Ok(())
        })?;
        Ok(found)
    }

    /// The sketches of a document, by field; an empty field has none.
    pub fn sketch(&self, id: &str) -> Result<Option<Vec<(String, Sketch)>>> {
        let view = self.store.view()?;
        let mut sketches = Vec::new();
        let is_there = self.visit(&*view, id, Parts::Sketches, &mut |_, record| {
            for field in self.recorder.layout().fields() {
                if field.size(record.words) > 0.0 {
                    sketches.push((field.name.clone(), field.to_sketch(record.words)?));
                }
            }
            Ok(())
        })?;
        Ok(is_there.then_some(sketches))
    }

    /// Brings the store into the shape that is searched fastest.
    pub fn compact(&self) -> Result<()> {
        self.store.compact()
    }

    /// How large the collection is.
    pub fn stats(&self) -> Result<Stats> {
        let stats = self.store.view()?.stats()?;
        let share = self.recorder.layout().containment_share();
        Ok(Stats { containment_bytes: (share * stats.posting_bytes as f64) as u64, ..stats })
    }

    /// Hands the record of a document to `visit`; false if there is none, or it has lived its time. A record that another writer replaces at this moment is looked for again.
    pub(crate) fn visit(&self, view: &dyn View, id: &str, parts: Parts, visit: Visit<'_>) -> Result<bool> {
        let (mut is_read, mut is_there, mut last) = (false, false, None);
        while !is_read {
            let number =
                view.numbers(&[id.as_bytes()])?.pop().flatten().filter(|number| last != Some(*number));
            let Some(number) = number else { return Ok(false) };
            last = Some(number);
            view.records(&[number], parts, &mut |place, record| {
                is_read = true;
                is_there = !record.is_gone(now());
                if is_there { visit(place, record) } else { Ok(()) }
            })?;
        }
        Ok(is_there)
    }
}

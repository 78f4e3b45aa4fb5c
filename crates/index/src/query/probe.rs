//! A document that is looked for.

use benzer_core::Features;
use benzer_core::field::Document;

use crate::error::Result;
use crate::record::{Record, Recorder};
use crate::settings::{Keeps, Settings};
use crate::store::Parts;

/// A document to search by.
#[derive(Debug, Clone, Copy)]
pub enum QueryDocument<'a> {
    /// One that need not be in the collection. If one with its id is, that is not a match.
    Document(&'a Document),
    /// The id of one that is.
    Id(&'a str),
}

/// A document as a search needs it.
#[derive(Debug)]
pub(crate) struct Probe {
    pub words: Vec<u64>,
    /// Nothing if its contents are not known.
    pub features: Vec<Features>,
    pub document: Option<Document>,
    /// Its id: it is not its own match.
    pub id: String,
}

impl Probe {
    /// Of a document that need not be in the collection.
    pub fn of_document(recorder: &Recorder, document: &Document) -> Result<Self> {
        let features = recorder.features(document)?;
        let mut words = Vec::new();
        recorder.words(&features, &mut words)?;
        Ok(Self { words, features, document: Some(document.clone()), id: document.id.clone() })
    }

    /// Of a record of the collection.
    pub fn of_record(recorder: &Recorder, record: &Record<'_>) -> Result<Self> {
        let document = record.kept_document()?;
        let features = document.as_ref().map(|document| recorder.features(document)).transpose()?;
        let id = String::from_utf8_lossy(record.id).into_owned();
        Ok(Self { words: record.words.to_vec(), features: features.unwrap_or_default(), document, id })
    }

    /// True for the record of this document.
    #[inline]
    pub fn is_of(&self, record: &Record<'_>) -> bool {
        record.id == self.id.as_bytes()
    }

    /// Whether similarities to it are exact.
    pub fn is_exact(&self, settings: &Settings) -> bool {
        settings.keeps == Keeps::Documents && !self.features.is_empty()
    }

    /// What a search by some of these needs of records: documents only where similarities can be exact.
    pub fn parts_for(probes: &[Self], settings: &Settings) -> Parts {
        match probes.iter().any(|probe| probe.is_exact(settings)) {
            true => Parts::All,
            false => Parts::Sketches,
        }
    }
}

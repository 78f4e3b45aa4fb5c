//! A document that is looked for.

use benzer_core::Features;
use benzer_core::field::Document;

use crate::error::{Error, Result};
use crate::exact;
use crate::index::Index;
use crate::store::{Parts, View};

/// A document to search by.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'a> {
    /// One that need not be in the collection. If one with its id is, that is not a match.
    Document(&'a Document),
    /// The id of one that is.
    Id(&'a str),
}

/// A document as a search needs it.
pub(crate) struct Probe {
    pub words: Vec<u64>,
    /// Nothing if its contents are not known.
    pub features: Vec<Features>,
    pub document: Option<Document>,
    /// Its id: it is not its own match.
    pub id: String,
}

impl Index {
    pub(crate) fn probe(&self, view: &dyn View, asked: Asked<'_>) -> Result<Probe> {
        match asked {
            Asked::Document(document) => {
                let features = self.recorder().features(document)?;
                let mut words = Vec::new();
                self.recorder().words(&features, &mut words)?;
                Ok(Probe { words, features, document: Some(document.clone()), id: document.id.clone() })
            }
            Asked::Id(id) => self.probe_id(view, id),
        }
    }

    fn probe_id(&self, view: &dyn View, id: &str) -> Result<Probe> {
        let mut probe = None;
        self.visit(view, id, Parts::All, &mut |_, record| {
            let document = (!record.document.is_empty()).then(|| exact::document(record.id, record.document));
            let document = document.transpose()?;
            let features =
                document.as_ref().map(|document| self.recorder().features(document)).transpose()?;
            let features = features.unwrap_or_default();
            probe = Some(Probe { words: record.words.to_vec(), features, document, id: id.to_owned() });
            Ok(())
        })?;
        probe.ok_or_else(|| Error::NoDocument { id: id.to_owned() })
    }
}

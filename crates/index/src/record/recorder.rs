//! From documents to records: the one function that inserting and searching share.

use benzer_core::Features;
use benzer_core::field::Document;
use benzer_core::sketch::Sketcher;

use super::Records;
use crate::error::Result;
use crate::settings::{Keeps, Layout, Settings};

/// Makes records.
#[derive(Debug)]
pub struct Recorder {
    settings: Settings,
    layout: Layout,
    sketchers: Vec<Box<dyn Sketcher>>,
}

impl Recorder {
    /// # Errors
    /// Settings that cannot be sketched.
    pub fn new(settings: &Settings) -> Result<Self> {
        settings.check()?;
        let sketchers = settings.fields.iter().map(|field| field.spec.sketcher());
        Ok(Self {
            layout: settings.layout()?,
            sketchers: sketchers.collect::<benzer_core::Result<_>>()?,
            settings: settings.clone(),
        })
    }

    /// What the collection is.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where the parts of a record lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The features of each field, in the order of the settings.
    ///
    /// # Errors
    /// Content that does not suit its field.
    pub fn features(&self, document: &Document) -> Result<Vec<Features>> {
        let mut features = self.settings.schema.features(document)?;
        let of = |name: &String| features.remove(name).unwrap_or_default();
        Ok(self.settings.fields.iter().map(|field| &field.name).map(of).collect())
    }

    /// Appends the words of features.
    ///
    /// # Errors
    /// Features that a sketcher does not take.
    pub fn words(&self, features: &[Features], words: &mut Vec<u64>) -> Result<()> {
        let start = words.len();
        words.resize(start + self.layout.words(), 0);
        for ((field, sketcher), features) in self.layout.fields().iter().zip(&self.sketchers).zip(features) {
            if features.is_empty() {
                continue;
            }
            let sketch = sketcher.sketch(features)?;
            let range = field.range();
            let place = &mut words[start + range.start..start + range.end];
            place[0] = sketch.size().unwrap_or_else(|| features.size()).to_bits();
            place[1..].copy_from_slice(sketch.words());
        }
        Ok(())
    }

    /// Appends the record of a document. A document that cannot be recorded leaves the records as they are.
    ///
    /// # Errors
    /// Content that does not suit its field.
    pub fn record(&self, document: &Document, expires: u64, records: &mut Records) -> Result<()> {
        let features = self.features(document)?;
        let start = records.words.len();
        if let Err(error) = self.words(&features, &mut records.words) {
            records.words.truncate(start);
            return Err(error);
        }
        if self.settings.keeps == Keeps::Documents {
            let fields = serde_json::to_vec(&document.fields).expect("contents can always be written");
            records.documents.push(&fields);
        }
        records.ids.push(document.id.as_bytes());
        records.push_expiry(expires);
        Ok(())
    }
}

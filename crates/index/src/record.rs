//! From documents to records: the one function that inserting and searching share.

use benzer_core::Features;
use benzer_core::field::Document;
use benzer_core::sketch::Sketcher;

use crate::error::Result;
use crate::settings::{Keeps, Layout, Settings};
use crate::store::{Record, hints};
use crate::texts::Texts;

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
    pub fn with_room(layout: &Layout, n: usize) -> Self {
        Self { words: hints::with_room(n * layout.words()), ids: Texts::with_room(n), ..Self::default() }
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
        if record.expires > 0 || !self.expires.is_empty() {
            self.expires.resize(self.ids.len() - 1, 0);
            self.expires.push(record.expires);
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
        if expires > 0 || !records.expires.is_empty() {
            records.expires.resize(records.ids.len() - 1, 0);
            records.expires.push(expires);
        }
        Ok(())
    }
}

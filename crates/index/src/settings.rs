//! What a collection is: written into its store when it is made, and checked whenever it is opened.

use std::ops::Range;
use std::sync::Arc;

use benzer_core::field::Schema;
use benzer_core::lsh::{BandKey, Banding, Target, choose};
use benzer_core::sketch::SketchSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// The version of stored settings and records that this build writes and reads.
pub const FORMAT: u32 = 1;

/// Schema, sketches and bands of a collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of what is stored.
    pub format: u32,
    /// The fields of documents.
    pub schema: Schema,
    /// How each field is sketched and cut into bands, in the order of their names.
    pub fields: Vec<FieldSettings>,
    /// From which similarity on documents are found.
    pub threshold: f64,
    /// The share of documents at the threshold that must be found.
    pub recall: f64,
    /// What is kept of documents.
    pub keeps: Keeps,
}

/// What a collection keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeps {
    /// Documents and their sketches: similarities are exact, and can be explained.
    #[default]
    Documents,
    /// Sketches only: similarities are estimates.
    Sketches,
}

/// How one field is sketched and found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSettings {
    /// Its name.
    pub name: String,
    /// Its sketch.
    pub spec: SketchSpec,
    /// Its bands.
    pub banding: Banding,
    /// Its weight in the similarity of documents.
    pub weight: f64,
}

impl Settings {
    /// The defaults of the kinds of the fields; documents are kept.
    ///
    /// # Errors
    /// A field that cannot be found by bands.
    pub fn new(schema: Schema) -> Result<Self> {
        let recall = schema.fields().next().map_or(0.95, |(_, spec)| spec.kind.defaults().recall);
        let threshold = Self::usual_threshold(&schema);
        Self::with_target(schema, threshold, recall, Keeps::default())
    }

    /// The threshold of the kinds of the fields: of several the highest, so that one of pictures alone has theirs, and any other that of documents.
    pub fn usual_threshold(schema: &Schema) -> f64 {
        schema.fields().map(|(_, spec)| spec.kind.defaults().threshold).fold(0.0, f64::max)
    }

    /// A collection that finds documents from `threshold` on with at least `recall`.
    ///
    /// # Errors
    /// A threshold or a recall out of range, or one that no bands reach.
    pub fn with_target(schema: Schema, threshold: f64, recall: f64, keeps: Keeps) -> Result<Self> {
        let target = Target { threshold, recall, ..Target::default() };
        Self::with_registers(schema, &target, keeps, None)
    }

    /// [`Settings::with_target`] with another number of registers than that of the kinds of the fields: more of them reach lower thresholds, and take more room.
    ///
    /// # Errors
    /// As [`Settings::with_target`], and a number of registers that no sketch has.
    pub fn with_registers(
        schema: Schema,
        target: &Target,
        keeps: Keeps,
        registers: Option<u32>,
    ) -> Result<Self> {
        let field = |(name, field): (&str, &benzer_core::field::FieldSpec)| -> Result<FieldSettings> {
            let mut spec = schema.sketch_spec(name).expect("the name comes from the schema");
            spec.registers = registers.unwrap_or(spec.registers);
            spec.validate()?;
            let banding = choose(&spec, target)?;
            Ok(FieldSettings { name: name.to_owned(), spec, banding, weight: field.weight })
        };
        let fields = schema.fields().map(field).collect::<Result<_>>()?;
        let (threshold, recall) = (target.threshold, target.recall);
        Ok(Self { format: FORMAT, schema, fields, threshold, recall, keeps })
    }

    /// Refuses what another version wrote, and what was changed by hand into nonsense.
    ///
    /// # Errors
    /// [`Error::Incompatible`], with expected and found.
    pub fn check(&self) -> Result<()> {
        if self.format != FORMAT {
            return Err(Error::incompatible(format!("format {FORMAT}"), format!("format {}", self.format)));
        }
        for field in &self.fields {
            let expected = self.schema.sketch_spec(&field.name).map(|spec| spec.pipeline);
            if expected.as_ref() != Some(&field.spec.pipeline) {
                let expected = expected.unwrap_or_else(|| "a field of the schema".to_owned());
                return Err(Error::incompatible(
                    format!("pipeline {expected} of field `{}`", field.name),
                    format!("pipeline {}", field.spec.pipeline),
                ));
            }
            Banding::narrowed(&field.spec, field.banding.shape(), field.banding.bits())?;
        }
        Ok(())
    }

    /// Refuses a collection that is not the one that was asked for.
    ///
    /// # Errors
    /// [`Error::Incompatible`], with the first difference.
    pub fn expect(&self, found: &Self) -> Result<()> {
        if self == found {
            return Ok(());
        }
        let json = |settings: &Self| serde_json::to_value(settings).unwrap_or_default();
        let (expected, found) = difference(String::new(), &json(self), &json(found));
        Err(Error::incompatible(expected, found))
    }

    /// Where the parts of a record lie.
    ///
    /// # Errors
    /// A spec that cannot be sketched.
    pub fn layout(&self) -> Result<Layout> {
        Layout::new(self)
    }
}

/// The first place at which two values differ, with what is there in each.
fn difference(path: String, a: &Value, b: &Value) -> (String, String) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if let (Value::Object(a), Value::Object(b)) = (a, b) {
        let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
        let differs = |name: &&String| a.get(*name) != b.get(*name);
        if let Some(name) = names.into_iter().find(differs) {
            let of = |object: &serde_json::Map<String, Value>| object.get(name).cloned().unwrap_or_default();
            return difference(below(name), &of(a), &of(b));
        }
    }
    if let (Value::Array(a), Value::Array(b)) = (a, b)
        && a.len() == b.len()
        && let Some(i) = (0..a.len()).find(|i| a[*i] != b[*i])
    {
        return difference(below(&i.to_string()), &a[i], &b[i]);
    }
    (format!("{path} {a}"), format!("{path} {b}"))
}

/// Where the parts of a record lie: for each field its size (the bits of a 64-bit float), then the words of its sketch.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    fields: Vec<FieldLayout>,
    words: usize,
    bands: usize,
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldLayout {
    pub name: String,
    pub spec: Arc<SketchSpec>,
    pub weight: f64,
    banding: Banding,
    at: usize,
    words: usize,
    first_band: usize,
}

impl FieldLayout {
    /// The size of its set, 0 for an empty one.
    #[inline]
    pub fn size(&self, record: &[u64]) -> f64 {
        f64::from_bits(record[self.at])
    }

    /// The words of its sketch.
    #[inline]
    pub fn sketch<'a>(&self, record: &'a [u64]) -> &'a [u64] {
        &record[self.at + 1..self.at + 1 + self.words]
    }

    /// Where size and sketch are.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + 1 + self.words
    }

    /// The chance that a document of some similarity is found by this field.
    pub fn probability(&self, jaccard: f64) -> f64 {
        self.banding.probability(jaccard)
    }
}

impl Layout {
    fn new(settings: &Settings) -> Result<Self> {
        let (mut words, mut bands) = (0, 0);
        let mut fields = Vec::new();
        for FieldSettings { name, spec, banding, weight } in &settings.fields {
            spec.validate()?;
            let field = FieldLayout {
                name: name.clone(),
                spec: Arc::new(spec.clone()),
                weight: *weight,
                banding: *banding,
                at: words,
                words: spec.words(),
                first_band: bands,
            };
            words += 1 + field.words;
            bands += banding.bands();
            fields.push(field);
        }
        Ok(Self { fields, words, bands })
    }

    /// Words of a record.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Bands of all fields together.
    pub fn bands(&self) -> usize {
        self.bands
    }

    pub(crate) fn fields(&self) -> &[FieldLayout] {
        &self.fields
    }

    /// Hands every band key of a record to `visit`: those of the first field, then of the next. An empty field has none.
    #[inline]
    pub fn keys(&self, record: &[u64], mut visit: impl FnMut(BandKey)) {
        for field in self.fields.iter().filter(|field| field.size(record) > 0.0) {
            let words = field.sketch(record);
            for band in 0..field.banding.bands() {
                let key = field.banding.key(words, band);
                visit(BandKey { band: (field.first_band + band) as u32, key });
            }
        }
    }

    /// How many keys a record has.
    #[cfg(feature = "redis")]
    pub(crate) fn n_keys(&self, record: &[u64]) -> usize {
        let fields = self.fields.iter().filter(|field| field.size(record) > 0.0);
        fields.map(|field| field.banding.bands()).sum()
    }

    /// True if two records share a band key of some fields.
    pub(crate) fn share_key(&self, fields: &[usize], a: &[u64], b: &[u64]) -> bool {
        fields.iter().map(|&i| &self.fields[i]).any(|field| {
            let is_there = field.size(a) > 0.0 && field.size(b) > 0.0;
            let (a, b) = (field.sketch(a), field.sketch(b));
            is_there
                && (0..field.banding.bands())
                    .any(|band| field.banding.key(a, band) == field.banding.key(b, band))
        })
    }

    /// [`Layout::keys`] of some fields only.
    #[inline]
    pub(crate) fn keys_of(&self, record: &[u64], fields: &[usize], mut visit: impl FnMut(BandKey)) {
        if fields.len() == self.fields.len() {
            return self.keys(record, visit);
        }
        let bands = |i: usize| {
            let field = &self.fields[i];
            field.first_band as u32..(field.first_band + field.banding.bands()) as u32
        };
        self.keys(record, |key| {
            if fields.iter().any(|&i| bands(i).contains(&key.band)) {
                visit(key);
            }
        });
    }

    /// Hands the keys of some bands to `visit`, with the band.
    #[inline]
    pub(crate) fn keys_within(&self, record: &[u64], bands: Range<usize>, mut visit: impl FnMut(usize, u64)) {
        for field in self.fields.iter().filter(|field| field.size(record) > 0.0) {
            let words = field.sketch(record);
            let end = bands.end.min(field.first_band + field.banding.bands());
            for band in bands.start.max(field.first_band)..end {
                visit(band, field.banding.key(words, band - field.first_band));
            }
        }
    }

    /// The key of one band, if its field is not empty.
    #[inline]
    pub(crate) fn key(&self, record: &[u64], band: usize) -> Option<u64> {
        let field = match &self.fields[..] {
            [only] => only,
            fields => fields.iter().rev().find(|field| field.first_band <= band)?,
        };
        (field.size(record) > 0.0).then(|| field.banding.key(field.sketch(record), band - field.first_band))
    }

    /// The most documents for which keys are long enough.
    pub fn most_documents(&self) -> u64 {
        self.fields.iter().map(|field| field.banding.most_documents()).min().unwrap_or(u64::MAX)
    }
}

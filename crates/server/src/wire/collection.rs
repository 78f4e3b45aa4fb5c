//! Collections and their statistics.

use benzer_core::lsh::{Banding, Target};
use benzer_index::store::Stats;
use benzer_index::{BucketStats, Index, Settings};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema::Fields;
use crate::error::{ApiError, Result};

/// What a new collection shall be. Everything but the fields has a default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"fields": {"body": {"kind": "text"}}}))]
pub struct NewCollection {
    /// The fields of its documents.
    pub fields: Fields,
    /// From which similarity on documents are found: 0.8 by default. Pictures have a threshold of their own beside other fields, which is the default of pictures alone: 0.01 of `local`, 0.5 of `thumbnail`.
    #[serde(default)]
    #[schema(exclusive_minimum = 0.0, maximum = 1.0)]
    pub threshold: Option<f64>,
    /// The share of documents at the threshold that must be found.
    #[serde(default = "default_recall")]
    #[schema(default = 0.95, minimum = 0.1, maximum = 0.99)]
    pub recall: f64,
    /// What is kept of documents.
    #[serde(default)]
    #[schema(default = "documents")]
    pub keeps: Keeps,
    /// Makes containment searchable too, which takes more room; `{}` means the defaults.
    #[serde(default)]
    pub containment: Option<Containment>,
}

/// Which containment can be searched for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Containment {
    /// From which containment on documents are found.
    #[serde(default = "default_containment")]
    #[schema(default = 0.8, minimum = 0.1, maximum = 1.0)]
    pub threshold: f64,
    /// Up to how many times as large one of two documents may be as the other.
    #[serde(default = "default_ratio")]
    #[schema(default = 16.0, minimum = 1.0)]
    pub ratio: f64,
}

fn default_containment() -> f64 {
    benzer_index::Containment::default().threshold
}

fn default_ratio() -> f64 {
    benzer_index::Containment::default().ratio
}

fn default_recall() -> f64 {
    Target::default().recall
}

/// What a collection keeps.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Keeps {
    /// Documents and their sketches: similarities are exact, and can be explained.
    #[default]
    Documents,
    /// Sketches only: similarities are estimates, and a document takes about 320 bytes.
    Sketches,
}

impl NewCollection {
    /// The settings of the index. Errors: what makes no sense.
    pub fn settings(self) -> Result<Settings> {
        let keeps = match self.keeps {
            Keeps::Documents => benzer_index::Keeps::Documents,
            Keeps::Sketches => benzer_index::Keeps::Sketches,
        };
        let schema = self.fields.schema()?;
        let threshold = self.threshold.unwrap_or_else(|| Settings::default_threshold(&schema));
        let settings = Settings::with_target(schema, threshold, self.recall, keeps)?;
        match self.containment {
            Some(Containment { threshold, ratio }) => settings
                .with_containment(benzer_index::Containment { threshold, ratio })
                .map_err(ApiError::from),
            None => Ok(settings),
        }
    }
}

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
pub struct Collection {
    /// Its name.
    #[schema(example = "articles")]
    pub name: String,
    /// Its documents.
    pub documents: u64,
    /// The fields of its documents, with all options.
    pub fields: Fields,
    /// From which similarity on documents are found.
    pub threshold: f64,
    /// The share of documents at the threshold that must be found.
    pub recall: f64,
    /// What is kept of documents.
    pub keeps: Keeps,
    /// Which containment can be searched for, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<Containment>,
    /// How each field is sketched and found.
    pub sketches: Vec<FieldSketch>,
}

/// How a field is sketched and found.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldSketch {
    /// The field.
    pub field: String,
    /// Its sketch in words.
    #[schema(
        example = "fast:2 x 128, 8 bits, seed 42, pipeline text-v1.h1/words5/nfkc+lower/uax29/u16.0/set/64"
    )]
    pub sketch: String,
    /// Bands.
    pub bands: usize,
    /// Registers of a band.
    pub rows: usize,
    /// The share of documents at the threshold that are found.
    pub recall: f64,
}

impl Collection {
    pub fn of(name: &str, index: &Index) -> Result<Self> {
        let settings = index.settings();
        let sketch = |field: &benzer_index::FieldSettings| {
            let banding: &Banding = &field.banding;
            FieldSketch {
                field: field.name.clone(),
                sketch: field.spec.to_string(),
                bands: banding.bands(),
                rows: banding.rows(),
                recall: banding.probability(settings.threshold),
            }
        };
        Ok(Self {
            name: name.to_owned(),
            documents: index.stats()?.documents,
            fields: Fields::of(&settings.schema),
            threshold: settings.threshold,
            recall: settings.recall,
            keeps: match settings.keeps {
                benzer_index::Keeps::Documents => Keeps::Documents,
                benzer_index::Keeps::Sketches => Keeps::Sketches,
            },
            containment: settings
                .containment
                .map(|found| Containment { threshold: found.threshold, ratio: found.ratio }),
            sketches: settings.fields.iter().map(sketch).collect(),
        })
    }
}

/// All collections that the key may see.
#[derive(Debug, Serialize, ToSchema)]
pub struct CollectionList {
    /// In the order of their names.
    pub collections: Vec<Collection>,
}

/// How large a collection is, and how evenly it is spread.
#[derive(Debug, Serialize, ToSchema)]
pub struct CollectionStats {
    /// Documents that can be found.
    pub documents: u64,
    /// Documents that were removed or replaced and still take room.
    pub removed: u64,
    /// Parts that a search looks into.
    pub parts: u64,
    /// Bytes, by what they are for.
    pub bytes: Bytes,
    /// All bytes over all documents.
    pub bytes_per_document: f64,
    /// Documents that were looked at for the numbers below.
    pub sampled: u64,
    /// Mean size of the buckets that they are in; 1 means that every document is alone.
    pub mean_bucket: f64,
    /// The largest bucket that was seen.
    pub largest_bucket: u64,
    /// The largest over the mean: 1 is perfectly even.
    pub bucket_skew: f64,
    /// Mean number of other documents that a search by id compares.
    pub candidates_per_document: f64,
    /// The same as a share of the collection.
    pub candidate_ratio: f64,
}

/// Bytes of a collection.
#[derive(Debug, Serialize, ToSchema)]
pub struct Bytes {
    /// Of band keys.
    pub postings: u64,
    /// Of sketches.
    pub sketches: u64,
    /// Of ids, and of finding them.
    pub ids: u64,
    /// Of kept documents.
    pub documents: u64,
    /// Of the band keys, about those that are there for containment.
    pub containment: u64,
}

impl CollectionStats {
    pub fn of(stats: Stats, skew: BucketStats) -> Self {
        let bytes = stats.posting_bytes + stats.sketch_bytes + stats.id_bytes + stats.document_bytes;
        Self {
            documents: stats.documents,
            removed: stats.removed,
            parts: stats.parts,
            bytes: Bytes {
                postings: stats.posting_bytes,
                sketches: stats.sketch_bytes,
                ids: stats.id_bytes,
                documents: stats.document_bytes,
                containment: stats.containment_bytes,
            },
            bytes_per_document: bytes as f64 / stats.documents.max(1) as f64,
            sampled: skew.sampled,
            mean_bucket: skew.mean_bucket,
            largest_bucket: skew.largest_bucket,
            bucket_skew: skew.bucket_skew,
            candidates_per_document: skew.candidates_per_document,
            candidate_ratio: skew.candidate_ratio,
        }
    }
}

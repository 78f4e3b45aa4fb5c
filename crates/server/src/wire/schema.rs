//! Schemas of collections, as users write them. The core reads them; these types describe them.

use std::collections::BTreeMap;

use benzer_core::field::{Kind, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::error::{ApiError, Result};

/// Longer shingles make every document cost as much more, and find nothing that shorter ones do not.
const MAX_SHINGLE: usize = 100;
/// Pictures of more pixels take too much memory to decode for one request of many.
#[cfg(feature = "image")]
const MAX_PIXELS: u64 = 25_000_000;
/// More fields than anybody has.
const MAX_FIELDS: usize = 64;

/// Fields by name, each with its kind and options.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(
    value_type = BTreeMap<String, FieldSchema>,
    example = json!({"body": {"kind": "text"}})
)]
pub struct Fields(pub BTreeMap<String, Map<String, Value>>);

impl Fields {
    /// The schema that they are. Errors: options that make no sense, with the name of the field.
    pub fn schema(self) -> Result<Schema> {
        if self.0.len() > MAX_FIELDS {
            return Err(ApiError::bad(format!("a schema has at most {MAX_FIELDS} fields")));
        }
        let mut whole = Map::new();
        whole.insert(
            "fields".to_owned(),
            self.0.into_iter().map(|(name, field)| (name, Value::Object(field))).collect(),
        );
        let schema: Schema = serde_json::from_value(Value::Object(whole))
            .map_err(|error| ApiError::bad(format!("the schema: {error}")))?;
        for (name, field) in schema.fields() {
            #[cfg(feature = "image")]
            if let Kind::Image(options) = &field.kind
                && options.pixels > MAX_PIXELS
            {
                let message =
                    format!("field `{name}`: `pixels` must be at most {MAX_PIXELS}, got {}", options.pixels);
                return Err(ApiError::bad(message));
            }
            if let Kind::Text(options) = &field.kind
                && options.n > MAX_SHINGLE
            {
                let message = format!("field `{name}`: `n` must be at most {MAX_SHINGLE}, got {}", options.n);
                return Err(ApiError::bad(message));
            }
        }
        Ok(schema)
    }

    pub fn of(schema: &Schema) -> Self {
        let mut written = serde_json::to_value(schema).unwrap_or_default();
        Self(serde_json::from_value(written["fields"].take()).unwrap_or_default())
    }
}

/// A field: text, values, or a picture.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "kind", mapping(
    ("text" = "#/components/schemas/TextField"),
    ("values" = "#/components/schemas/ValuesField"),
    ("image" = "#/components/schemas/ImageField")
)))]
pub enum FieldSchema {
    /// Running text, compared by its shingles.
    Text(TextField),
    /// A list of strings and integers, or an object from value to count.
    Values(ValuesField),
    /// A picture: a JPEG, PNG, WebP, GIF, BMP or TIFF file in base64.
    Image(ImageField),
}

/// The kind of a field of pictures.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageKind {
    /// A picture.
    Image,
}

/// Options of a field of pictures.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ImageField {
    /// What the field holds: `image`.
    #[schema(required = true)]
    pub kind: ImageKind,
    /// What pictures are compared by.
    #[schema(default = "local")]
    pub features: ImageFeatures,
    /// Most pixels of a picture; a larger one is refused before it is decoded.
    #[schema(default = 25_000_000)]
    pub pixels: u64,
    /// Weight of the field in the similarity of documents.
    #[schema(default = 1.0, exclusive_minimum = 0)]
    pub weight: f64,
}

impl Default for ImageField {
    fn default() -> Self {
        Self { kind: ImageKind::Image, features: ImageFeatures::Local, pixels: 25_000_000, weight: 1.0 }
    }
}

/// What pictures are compared by.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageFeatures {
    /// Visual words of keypoints: crops, turns and flips are found. Similar from about 0.01 on.
    Local,
    /// Contrasts of 16 x 16 cells: other sizes and compressions are found. Similar from about 0.5 on.
    Thumbnail,
}

/// The kind of a field of text.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// Running text.
    Text,
}

/// Options of a field of text.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct TextField {
    /// What the field holds: `text`.
    #[schema(required = true)]
    pub kind: TextKind,
    /// What a shingle is made of.
    #[schema(default = "words")]
    pub unit: Unit,
    /// Tokens of a shingle: fewer find looser similarity.
    #[schema(default = 5, minimum = 1, maximum = 100)]
    pub n: usize,
    /// Normalize to Unicode form NFKC.
    #[schema(default = true)]
    pub nfkc: bool,
    /// Fold to lower case.
    #[schema(default = true)]
    pub lower: bool,
    /// Remove diacritics: `résumé` and `resume` are one.
    #[schema(default = false)]
    pub strip_diacritics: bool,
    /// Whether punctuation between words counts.
    #[schema(default = "drop")]
    pub punctuation: Punctuation,
    /// Languages whose stop words are left out, such as `en`; with the unit words only.
    pub stop_words: Vec<String>,
    /// Count repeated shingles.
    #[schema(default = false)]
    pub bag: bool,
    /// Bits of an element's hash.
    #[schema(default = 64)]
    pub bits: u32,
    /// Weight of the field in the similarity of documents.
    #[schema(default = 1.0, exclusive_minimum = 0)]
    pub weight: f64,
}

impl Default for TextField {
    fn default() -> Self {
        Self {
            kind: TextKind::Text,
            unit: Unit::Words,
            n: 5,
            nfkc: true,
            lower: true,
            strip_diacritics: false,
            punctuation: Punctuation::Drop,
            stop_words: Vec::new(),
            bag: false,
            bits: 64,
            weight: 1.0,
        }
    }
}

/// The unit of a shingle.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Words; character bigrams in scripts without spaces.
    Words,
    /// Characters of the normalized text.
    Characters,
    /// Bytes of the text as it is.
    Bytes,
}

/// What happens to punctuation between words.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Punctuation {
    /// It does not count.
    Drop,
    /// It counts like words.
    Keep,
}

/// The kind of a field of values.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValuesKind {
    /// Values.
    Values,
}

/// Options of a field of values.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ValuesField {
    /// What the field holds: `values`.
    #[schema(required = true)]
    pub kind: ValuesKind,
    /// Count repeated values.
    #[schema(default = false)]
    pub bag: bool,
    /// Weight of the field in the similarity of documents.
    #[schema(default = 1.0, exclusive_minimum = 0)]
    pub weight: f64,
}

impl Default for ValuesField {
    fn default() -> Self {
        Self { kind: ValuesKind::Values, bag: false, weight: 1.0 }
    }
}

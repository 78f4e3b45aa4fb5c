//! Schemas: the fields of a collection's documents and the kind of each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

#[cfg(feature = "image")]
use super::image::ImageOptions;
use super::text::{Shingler, TextOptions};
use super::values::ValuesOptions;
use super::{Content, Defaults, Document, PipelineId};
use crate::sketch::{Family, Packing, SketchSpec};
use crate::{Error, Features, Result};

/// Named fields with a kind each. Every field and every option has a default; the smallest schema is
/// `{"fields": {"body": {"kind": "text"}}}`.
///
/// A schema is checked and prepared when it is made, so that it can be neither absurd nor slow when documents
/// come.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Schema {
    fields: BTreeMap<String, Field>,
}

/// What a schema says about one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldSpec {
    /// The kind of content and its options.
    pub kind: Kind,
    /// Weight of the field in the similarity of whole documents; above zero, 1 by default.
    pub weight: f64,
}

/// The kinds of fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Running text, as shingles.
    Text(TextOptions),
    /// A set or bag of values.
    Values(ValuesOptions),
    /// A picture.
    #[cfg(feature = "image")]
    Image(ImageOptions),
}

impl Kind {
    /// The kind's own defaults. Text and values have the same; pictures do not.
    pub fn defaults(&self) -> Defaults {
        match self {
            Self::Text(_) | Self::Values(_) => {
                Defaults { registers: 128, bits: 8, threshold: 0.8, recall: 0.95 }
            }
            #[cfg(feature = "image")]
            Self::Image(options) => options.defaults(),
        }
    }

    fn is_bag(&self) -> bool {
        match self {
            Self::Text(options) => options.bag,
            Self::Values(options) => options.bag,
            #[cfg(feature = "image")]
            Self::Image(_) => false,
        }
    }
}

impl Schema {
    /// The sketch spec of a field by its kind's defaults: `fast` for sets, `weighted` for bags, with the field's pipeline id.
    ///
    /// ```
    /// use benzer_core::field::Schema;
    /// let schema: Schema = serde_json::from_str(r#"{"fields": {"body": {"kind": "text"}}}"#)?;
    /// let spec = schema.sketch_spec("body").unwrap();
    /// assert!(spec.to_string().starts_with("fast:2 x 128, 8 bits, seed 42, pipeline text-v1"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn sketch_spec(&self, field: &str) -> Option<SketchSpec> {
        let Field { spec, extractor } = self.fields.get(field)?;
        let defaults = spec.kind.defaults();
        let default = SketchSpec::default();
        Some(SketchSpec {
            family: if spec.kind.is_bag() { Family::Weighted } else { default.family },
            registers: defaults.registers,
            packing: Packing::bits(defaults.bits).expect("a kind's own width is allowed"),
            pipeline: extractor.pipeline().as_str().to_owned(),
            ..default
        })
    }

    /// A schema of the given fields.
    ///
    /// # Errors
    /// No field at all; options that are out of range, with the name of the field.
    pub fn new<N: Into<String>>(fields: impl IntoIterator<Item = (N, FieldSpec)>) -> Result<Self> {
        let prepare = |(name, spec): (N, FieldSpec)| {
            let name = name.into();
            Field::new(spec).map_err(|error| error.in_field(&name)).map(|field| (name, field))
        };
        let fields: BTreeMap<String, Field> = fields.into_iter().map(prepare).collect::<Result<_>>()?;
        if fields.is_empty() {
            return Err(Error::Schema("a schema needs at least one field".to_owned()));
        }
        Ok(Self { fields })
    }

    /// The fields in the order of their names.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &FieldSpec)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), &field.spec))
    }

    /// The pipeline id of a field.
    pub fn pipeline(&self, field: &str) -> Option<PipelineId> {
        self.fields.get(field).map(|field| field.extractor.pipeline())
    }

    /// The shingler of a text field, for callers that want its elements in order or its tokens.
    pub fn shingler(&self, field: &str) -> Option<&Shingler> {
        match &self.fields.get(field)?.extractor {
            Extractor::Text(shingler) => Some(shingler),
            _ => None,
        }
    }

    /// The features of every field of the schema. A field that the document lacks has empty features; a field
    /// that the schema lacks is ignored.
    ///
    /// # Errors
    /// Content of another type than the field's kind takes.
    pub fn features(&self, document: &Document) -> Result<BTreeMap<String, Features>> {
        let extract = |(name, field): (&String, &Field)| {
            let features = document.fields.get(name).map(|content| field.extractor.features(content));
            let features = features.transpose().map_err(|error| error.in_field(name))?;
            Ok((name.clone(), features.unwrap_or_default()))
        };
        self.fields.iter().map(extract).collect()
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.fields().eq(other.fields())
    }
}

impl FieldSpec {
    /// A field of this kind with weight 1.
    pub fn new(kind: Kind) -> Self {
        Self { kind, weight: 1.0 }
    }
}

/// A spec, checked, and what it takes to apply it.
#[derive(Debug, Clone)]
struct Field {
    spec: FieldSpec,
    extractor: Extractor,
}

impl Field {
    fn new(spec: FieldSpec) -> Result<Self> {
        if !(spec.weight.is_finite() && spec.weight > 0.0) {
            return Err(Error::parameter("weight", "finite and above 0", spec.weight));
        }
        let extractor = match &spec.kind {
            Kind::Text(options) => Extractor::Text(Box::new(Shingler::new(options)?)),
            Kind::Values(options) => Extractor::Values(options.clone()),
            #[cfg(feature = "image")]
            Kind::Image(options) => Extractor::Image(options.clone()),
        };
        Ok(Self { spec, extractor })
    }
}

#[derive(Debug, Clone)]
enum Extractor {
    Text(Box<Shingler>),
    Values(ValuesOptions),
    #[cfg(feature = "image")]
    Image(ImageOptions),
}

impl Extractor {
    fn features(&self, content: &Content) -> Result<Features> {
        match (self, content) {
            (Self::Text(shingler), Content::Text(text)) => Ok(shingler.features(text)),
            (Self::Text(_), other) => Err(Error::Content { expected: "text", got: other.describe() }),
            (Self::Values(options), content) => options.features(content),
            #[cfg(feature = "image")]
            (Self::Image(options), Content::Text(text)) => options.features(text),
            #[cfg(feature = "image")]
            (Self::Image(_), other) => {
                Err(Error::Content { expected: "a picture in base64", got: other.describe() })
            }
        }
    }

    fn pipeline(&self) -> PipelineId {
        match self {
            Self::Text(shingler) => shingler.pipeline().clone(),
            Self::Values(options) => options.pipeline(),
            #[cfg(feature = "image")]
            Self::Image(options) => options.pipeline(),
        }
    }
}

/// A schema as users write it. The specs are read in a second step, so that an error can name the field and
/// list the known options.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    fields: BTreeMap<String, Map<String, Json>>,
}

impl TryFrom<Written> for Schema {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self> {
        let read = |(name, options): (String, _)| match read_spec(options) {
            Ok(spec) => Ok((name, spec)),
            Err(error) => Err(error.in_field(&name)),
        };
        Schema::new(written.fields.into_iter().map(read).collect::<Result<Vec<_>>>()?)
    }
}

impl From<Schema> for Written {
    fn from(schema: Schema) -> Self {
        Self { fields: schema.fields().map(|(name, spec)| (name.to_owned(), write_spec(spec))).collect() }
    }
}

#[cfg(not(feature = "image"))]
const KINDS: &str = "`text` or `values`";
#[cfg(feature = "image")]
const KINDS: &str = "`text`, `values` or `image`";

fn read_spec(mut options: Map<String, Json>) -> Result<FieldSpec> {
    let weight = options.remove("weight").map_or(Ok(1.0), read)?;
    let kind = options.remove("kind");
    let rest = Json::Object(options);
    let kind = match kind.as_ref().map(|kind| kind.as_str().unwrap_or_default()) {
        Some("text") => Kind::Text(read(rest)?),
        Some("values") => Kind::Values(read(rest)?),
        #[cfg(feature = "image")]
        Some("image") => Kind::Image(read(rest)?),
        Some(_) => {
            let got = kind.unwrap_or_default();
            return Err(Error::Schema(format!("`kind` must be {KINDS}, got {got}")));
        }
        None => return Err(Error::Schema(format!("`kind` is missing; it must be {KINDS}"))),
    };
    Ok(FieldSpec { kind, weight })
}

fn read<T: for<'de> Deserialize<'de>>(json: Json) -> Result<T> {
    serde_json::from_value(json).map_err(|error| Error::Schema(error.to_string()))
}

fn write_spec(spec: &FieldSpec) -> Map<String, Json> {
    let kind = serde_json::to_value(&spec.kind).expect("options are plain data");
    let mut options = match kind {
        Json::Object(options) => options,
        _ => unreachable!("a tagged enum of structs is an object"),
    };
    options.insert("weight".to_owned(), Json::from(spec.weight));
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Value;

    fn parse(json: &str) -> std::result::Result<Schema, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn message(field: &str) -> String {
        parse(&format!(r#"{{"fields": {{"body": {field}}}}}"#)).unwrap_err()
    }

    #[test]
    fn the_smallest_schema_has_the_defaults() {
        let schema = parse(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
        let spec = FieldSpec::new(Kind::Text(TextOptions::default()));
        assert_eq!(schema, Schema::new([("body", spec)]).unwrap());
        let id = schema.pipeline("body").unwrap();
        assert_eq!(id.as_str(), "text-v1.h1/words5/nfkc+lower/uax29/u16.0/set/64");
        assert_eq!(schema.shingler("body").map(Shingler::pipeline), Some(&id));
    }

    #[test]
    fn a_schema_survives_a_round_trip() {
        let json = r#"{"fields": {"a": {"kind": "text", "unit": "bytes", "n": 9, "bits": 32, "weight": 2.5},
            "b": {"kind": "values", "bag": true}, "c": {"kind": "text", "stop_words": ["en"], "punctuation": "drop"}}}"#;
        let schema = parse(json).unwrap();
        assert_eq!(parse(&serde_json::to_string(&schema).unwrap()).unwrap(), schema);
    }

    #[test]
    fn errors_name_the_field_and_what_was_expected() {
        let cases = [
            (
                r#"{"kind": "text", "ngram": 3}"#,
                "field `body`: unknown field `ngram`, expected one of `unit`, `n`",
            ),
            (r#"{"kind": "sound"}"#, "field `body`: `kind` must be `text`"),
            (r#"{}"#, "field `body`: `kind` is missing"),
            (r#"{"kind": "text", "n": 0}"#, "field `body`: `n` must be at least 1, got 0"),
            (r#"{"kind": "text", "n": -1}"#, "field `body`: invalid value"),
            (r#"{"kind": "text", "weight": 0}"#, "field `body`: `weight` must be finite and above 0, got 0"),
            (r#"{"kind": "text", "bits": 48}"#, "field `body`: `bits` must be 64 or 32, got 48"),
            (
                r#"{"kind": "text", "unit": "lines"}"#,
                "field `body`: unknown variant `lines`, expected one of",
            ),
            (r#"{"kind": "text", "stop_words": ["xx"]}"#, "field `body`: `stop_words` must be codes among"),
        ];
        for (field, expected) in cases {
            let message = message(field);
            assert!(message.starts_with(expected), "{message}");
        }
        assert!(parse(r#"{"fields": {}}"#).unwrap_err().contains("at least one field"));
        assert!(parse(r#"{"fieldz": {}}"#).unwrap_err().contains("unknown field `fieldz`"));
    }

    #[test]
    fn a_missing_field_is_empty_and_an_unknown_one_ignored() {
        let schema = parse(r#"{"fields": {"body": {"kind": "text"}, "tags": {"kind": "values"}}}"#).unwrap();
        let tags = Content::Values(vec![Value::from("x"), Value::from(3i64)]);
        let document = Document::new("1", [("tags", tags), ("other", Content::from("y"))]);
        let features = schema.features(&document).unwrap();
        assert_eq!(features.keys().collect::<Vec<_>>(), ["body", "tags"]);
        assert!(features["body"].is_empty());
        assert_eq!(features["tags"].len(), 2);
    }

    #[test]
    fn every_kind_has_a_sketch_and_bands_by_default() {
        let json = r#"{"fields": {"body": {"kind": "text"}, "tags": {"kind": "values"}, "words": {"kind": "text", "bag": true}}}"#;
        let schema: Schema = serde_json::from_str(json).unwrap();
        for (name, spec) in schema.fields() {
            let (sketch, defaults) = (schema.sketch_spec(name).unwrap(), spec.kind.defaults());
            let bag = name == "words";
            assert_eq!(sketch.family == Family::Weighted, bag, "{name}");
            assert_eq!(sketch.pipeline, schema.pipeline(name).unwrap().as_str());
            let target = crate::lsh::Target {
                threshold: defaults.threshold,
                recall: defaults.recall,
                ..crate::lsh::Target::default()
            };
            let banding = crate::lsh::choose(&sketch, &target).unwrap();
            assert!(banding.probability(defaults.threshold) >= defaults.recall, "{name}");
        }
        assert_eq!(schema.sketch_spec("other"), None);
    }

    #[test]
    fn content_of_the_wrong_type_is_an_error_with_the_field() {
        let schema = parse(r#"{"fields": {"body": {"kind": "text"}}}"#).unwrap();
        let error = schema.features(&Document::new("1", [("body", Content::values(["x"]))])).unwrap_err();
        assert_eq!(error.to_string(), "field `body`: content must be text, got a list of values");
    }
}

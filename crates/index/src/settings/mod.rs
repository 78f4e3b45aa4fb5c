//! What a collection is: written into its store when it is made, and checked whenever it is opened.

pub(crate) mod containment;
mod layout;

use benzer_core::field::Schema;
use benzer_core::lsh::{Banding, Target, choose};
use benzer_core::sketch::SketchSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

pub use containment::Containment;
pub(crate) use containment::ContainmentBands;
pub(crate) use layout::FieldLayout;
pub use layout::{BandRange, Layout};

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
    /// Which containment can be searched for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<Containment>,
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
    /// Its further bands, by which containment is searched.
    #[serde(rename = "ladder", default, skip_serializing_if = "Vec::is_empty")]
    pub containment_bands: Vec<Banding>,
}

impl Settings {
    /// The defaults of the kinds of the fields; documents are kept.
    ///
    /// # Errors
    /// A field that cannot be found by bands.
    pub fn new(schema: Schema) -> Result<Self> {
        let recall = schema.fields().next().map_or(0.95, |(_, spec)| spec.kind.defaults().recall);
        let threshold = Self::default_threshold(&schema);
        Self::with_target(schema, threshold, recall, Keeps::default())
    }

    /// The threshold of the kinds of the fields: of several the highest, so that one of pictures alone has theirs, and any other that of documents.
    pub fn default_threshold(schema: &Schema) -> f64 {
        schema.fields().map(|(_, spec)| spec.kind.defaults().threshold).fold(0.0, f64::max)
    }

    /// The threshold that a field has for itself, where its similarities are on a lower scale than those of others: the share of visual words that two pictures have in common is 0.01 where the share
    /// of shingles of two texts is 0.8.
    pub(crate) fn own_threshold(schema: &Schema, name: &str) -> Option<f64> {
        let (_, spec) = schema.fields().find(|(field, _)| *field == name)?;
        let own = spec.kind.defaults().threshold;
        (own < Self::default_threshold(schema)).then_some(own)
    }

    /// What the bands of a field are chosen for.
    fn target(schema: &Schema, name: &str, target: &Target) -> Target {
        let own = Self::own_threshold(schema, name).unwrap_or(target.threshold);
        Target { threshold: own.min(target.threshold), ..*target }
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
            let banding = choose(&spec, &Self::target(&schema, name, target))?;
            let (name, weight) = (name.to_owned(), field.weight);
            Ok(FieldSettings { name, spec, banding, weight, containment_bands: Vec::new() })
        };
        let fields = schema.fields().map(field).collect::<Result<_>>()?;
        let (threshold, recall) = (target.threshold, target.recall);
        Ok(Self { format: FORMAT, schema, fields, threshold, recall, keeps, containment: None })
    }

    /// The same collection, in which containment can be searched for too. Registers are kept whole for that, and every document is filed under more bands.
    ///
    /// # Errors
    /// A threshold or a ratio out of range, or one that no bands reach.
    pub fn with_containment(mut self, containment: Containment) -> Result<Self> {
        containment.validate()?;
        let target = Target { threshold: self.threshold, recall: self.recall, ..Target::default() };
        for field in &mut self.fields {
            field.spec.packing = containment::packing(field.spec.family);
            field.spec.validate()?;
            field.banding = choose(&field.spec, &Self::target(&self.schema, &field.name, &target))?;
            field.containment_bands = containment::choose(&field.spec, containment, self.recall)?;
        }
        self.containment = Some(containment);
        Ok(self)
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
            for banding in std::iter::once(&field.banding).chain(&field.containment_bands) {
                let right = Banding::narrowed(&field.spec, banding.shape(), banding.bits())?;
                if right != *banding {
                    let say = |banding: &Banding| serde_json::to_string(banding).unwrap_or_default();
                    return Err(Error::incompatible(
                        format!("the bands {} of field `{}`", say(&right), field.name),
                        say(banding),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Refuses a collection that is not the one that was asked for. Bands follow from the rest, as the version knew that made the collection: they may be others.
    ///
    /// # Errors
    /// [`Error::Incompatible`], with the first difference.
    pub fn require(&self, found: &Self) -> Result<()> {
        let mut wanted = self.clone();
        for (field, theirs) in wanted.fields.iter_mut().zip(&found.fields) {
            field.banding = theirs.banding;
        }
        if wanted == *found {
            return Ok(());
        }
        let json = |settings: &Self| serde_json::to_value(settings).unwrap_or_default();
        let (expected, found) = difference(String::new(), &json(&wanted), &json(found));
        Err(Error::incompatible(expected, found))
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

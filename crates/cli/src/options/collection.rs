//! What a new collection is to be.

use std::path::PathBuf;

use anyhow::{Context, bail};
use benzer_core::field::{FieldSpec, Kind, Schema};
use benzer_core::lsh::Target;
use benzer_index::{Containment, Keeps, Settings};
use clap::Args;

use crate::Usage;
use crate::options::db::failed;
use crate::options::text::TextArguments;

/// What a schema file looks like, for helps.
pub const SCHEMA: &str = "\
A schema file is JSON: \
{\"fields\": {\"title\": {\"kind\": \"text\", \"n\": 2}, \"tags\": {\"kind\": \"values\", \"weight\": 0.5}}}";

/// Fields, threshold and recall of a collection, and what it keeps.
#[derive(Debug, Clone, Args)]
pub struct CollectionArguments {
    /// Fields with text, such as `title,body`; only for a new collection
    #[arg(long = "text", value_name = "FIELDS", value_delimiter = ',', help_heading = "Collection")]
    text_fields: Vec<String>,
    /// Fields with lists of values, such as `tags`; only for a new collection
    #[arg(long = "values", value_name = "FIELDS", value_delimiter = ',', help_heading = "Collection")]
    value_fields: Vec<String>,
    /// Fields with pictures, such as `photo`: a file in base64, or `file:` and its path; only for a new collection
    #[cfg(feature = "image")]
    #[arg(
        long = "image",
        value_name = "FIELDS",
        value_delimiter = ',',
        conflicts_with = "schema",
        help_heading = "Collection"
    )]
    image_fields: Vec<String>,
    /// The schema as a JSON file, instead of --text and --values
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text_fields", "value_fields"], help_heading = "Collection")]
    schema: Option<PathBuf>,
    /// From which similarity on documents are found [default: 0.8; of pictures alone 0.01, the share of visual words in both]
    #[arg(long, value_name = "T", help_heading = "Collection")]
    threshold: Option<f64>,
    /// The share of documents at the threshold that must be found [default: 0.95]
    #[arg(long, value_name = "R", help_heading = "Collection")]
    recall: Option<f64>,
    /// Registers of the sketch of a field; a low threshold needs more [default: 128; of pictures 320]
    #[arg(long, value_name = "N", help_heading = "Collection")]
    registers: Option<u32>,
    /// On Redis: how many documents the collection is laid out for; only for a new one [default: 1000000]
    #[arg(long, value_name = "N", help_heading = "Collection")]
    pub expected_documents: Option<u64>,
    /// Keep sketches, not documents: similarities are estimates then
    #[arg(long, help_heading = "Collection")]
    sketches_only: bool,
    /// Search for containment too: from which one on; takes more room [default: 0.8]
    #[arg(long, value_name = "C", num_args = 0..=1, default_missing_value = "0.8", require_equals = true, help_heading = "Collection")]
    containment: Option<f64>,
    /// Containment: up to how many times as large one of two documents may be [default: 16]
    #[arg(long, value_name = "R", requires = "containment", help_heading = "Collection")]
    containment_ratio: Option<f64>,
    #[command(flatten)]
    shingles: TextArguments,
}

impl CollectionArguments {
    pub fn has_fields(&self) -> bool {
        !self.text_fields.is_empty()
            || !self.value_fields.is_empty()
            || self.schema.is_some()
            || !self.image_kinds().is_empty()
    }

    #[cfg(feature = "image")]
    fn image_kinds(&self) -> Vec<(&String, Kind)> {
        self.image_fields.iter().map(|name| (name, Kind::Image(Default::default()))).collect()
    }

    /// None: this build has no pictures.
    #[cfg(not(feature = "image"))]
    fn image_kinds(&self) -> Vec<(&String, Kind)> {
        Vec::new()
    }

    /// The settings that were asked for. Errors: no fields; a schema that cannot be read; a threshold or a recall out of range.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        if !self.has_fields() {
            bail!(Usage::new("name the fields of the collection with --text and --values, or give --schema"));
        }
        let keeps = if self.sketches_only { Keeps::Sketches } else { Keeps::Documents };
        let schema = self.schema()?;
        let threshold = self.threshold.unwrap_or_else(|| Settings::default_threshold(&schema));
        let recall = self.recall.unwrap_or(Target::default().recall);
        let target = Target { threshold, recall, ..Target::default() };
        Settings::with_registers(schema, &target, keeps, self.registers)
            .and_then(|settings| match self.containment {
                Some(threshold) => {
                    let ratio = self.containment_ratio.unwrap_or(Containment::default().ratio);
                    settings.with_containment(Containment { threshold, ratio })
                }
                None => Ok(settings),
            })
            // A collection chooses registers and recall.
            .map_err(|error| {
                let remedy = "give more --registers or a lower --recall";
                Usage::new(error.to_string().replace("use more registers or more bits", remedy)).into()
            })
    }

    fn schema(&self) -> anyhow::Result<Schema> {
        if let Some(path) = &self.schema {
            if !self.shingles.is_default() {
                bail!(Usage::new(
                    "--schema: how text is cut into shingles is part of the schema, such as \"n\": 3"
                ));
            }
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
            let schema = serde_json::from_str(&text);
            return schema
                .map_err(|error| Usage::new(format!("--schema `{}`: {error}", path.display())).into());
        }
        let options = self.shingles.shingler()?.options().clone();
        let texts = self.text_fields.iter().map(|name| (name, Kind::Text(options.clone())));
        let values = self.value_fields.iter().map(|name| (name, Kind::Values(Default::default())));
        let fields = texts
            .chain(values)
            .chain(self.image_kinds())
            .map(|(name, kind)| (name.clone(), FieldSpec { kind, weight: 1.0 }));
        Ok(Schema::new(fields).map_err(Usage::new)?)
    }

    /// Refuses a collection that is not what was asked for. Errors: the first difference.
    pub fn expect(&self, found: &Settings) -> anyhow::Result<()> {
        let advice = "the collection was made with other settings; leave out --text, --threshold and the like, or name another collection";
        if self.has_fields() {
            return self.settings()?.require(found).map_err(failed).context(advice);
        }
        if !self.shingles.is_default() || self.registers.is_some() || self.containment.is_some() {
            bail!(Usage::new("shingles, registers and containment are said when a collection is made"));
        }
        let keeps = if self.sketches_only { Keeps::Sketches } else { found.keeps };
        let (threshold, recall) =
            (self.threshold.unwrap_or(found.threshold), self.recall.unwrap_or(found.recall));
        let asked = Settings { keeps, threshold, recall, ..found.clone() };
        asked.require(found).map_err(failed).context(advice)
    }
}

pub fn text_fields(settings: &Settings) -> Vec<&str> {
    let fields = settings.schema.fields().filter(|(_, spec)| matches!(spec.kind, Kind::Text(_)));
    fields.map(|(name, _)| name).collect()
}

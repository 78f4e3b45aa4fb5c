//! What a caller asks of a run, with the defaults of the command line.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Deserialize;

use benzer_cli::options::amount;
use benzer_core::Threshold;
use benzer_core::field::text::{TextOptions, Unit};
use benzer_core::lsh::Target;
use benzer_core::plan::{Preset, preset};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::request::{Audit, Chosen, Measure, Options, Output, Search, Verify};
use benzer_io::read::ReadOptions;
use benzer_join::resolve::Cluster;

use crate::{error, parallel};

/// A run as Python asks for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    threshold: Option<String>,
    keep: String,
    text_fields: Vec<String>,
    id_field: Option<String>,
    input_format: Option<String>,
    per_file: bool,
    recall: Option<f64>,
    preset: Option<String>,
    verify: String,
    cluster: String,
    measure: String,
    against: Vec<PathBuf>,
    against_text_fields: Vec<String>,
    against_id_field: Option<String>,
    save: Option<PathBuf>,
    write: String,
    audit: String,
    threads: Option<usize>,
    memory: Option<String>,
    work_dir: Option<PathBuf>,
    resume: bool,
    overwrite: bool,
    strict: bool,
    #[serde(default)]
    allow_rejects: bool,
    called: Option<String>,
    against_called: Option<String>,
    text: Option<TextOptions>,
}

impl Request {
    /// The options of the run.
    pub(crate) fn options(&self) -> PyResult<Options> {
        let preset =
            self.preset.as_deref().map(|name| Preset::named(name).map_err(error::core)).transpose()?;
        let threshold = match (&self.threshold, &preset) {
            (Some(threshold), _) => threshold.clone(),
            (None, Some(preset)) => preset.threshold.to_string(),
            (None, None) => "0.8".to_owned(),
        };
        let threshold: Threshold = threshold.parse().map_err(error::dedup)?;
        let spec = preset.as_ref().map_or_else(SketchSpec::default, Preset::spec);
        let Chosen { search, remark } = self.search(&spec, threshold, preset.as_ref())?;
        let usual = Options::new(self.inputs.clone(), self.output.clone(), threshold, search);
        let read = self.read(&usual.read, &self.text_fields, self.id_field.as_deref())?;
        let against_read =
            self.read(&usual.read, &self.against_text_fields, self.against_id_field.as_deref())?;
        let bytes = |size: &str| {
            amount::bytes(size).map_err(|e| error::parameter(format!("`memory`: {e}, got `{size}`")))
        };
        let memory = self.memory.as_deref().map(bytes).transpose()?;
        Ok(Options {
            read,
            against: self.against.clone(),
            against_read,
            save: self.save.clone(),
            text: self.shingles(preset.as_ref()),
            spec,
            keep: self.keep.parse().map_err(error::dedup)?,
            measure: one_of("measure", &self.measure, &MEASURES)?,
            verify: one_of("verify", &self.verify, &VERIFY)?,
            cluster: one_of("cluster", &self.cluster, &CLUSTERS)?,
            write: one_of("write", &self.write, &OUTPUTS)?,
            audit: self.audit()?,
            threads: parallel::threads(self.threads),
            memory: memory.unwrap_or_else(amount::half_of_memory),
            work_dir: self.work_dir.clone(),
            resume: self.resume,
            overwrite: self.overwrite,
            strict: self.strict,
            remarks: remark.into_iter().collect(),
            allow_rejects: self.allow_rejects,
            called: self.called.clone(),
            against_called: self.against_called.clone(),
            command: vec!["benzer.dedup".to_owned()],
            ..usual
        })
    }

    fn read(&self, usual: &ReadOptions, fields: &[String], id: Option<&str>) -> PyResult<ReadOptions> {
        let path = |field: &str| field.parse().map_err(error::dedup);
        Ok(ReadOptions {
            text_fields: fields.iter().map(|field| path(field)).collect::<PyResult<_>>()?,
            id_field: id.map(path).transpose()?,
            format: self.input_format.as_deref().map(str::parse).transpose().map_err(error::dedup)?,
            per_file: self.per_file,
            ..usual.clone()
        })
    }

    fn shingles(&self, preset: Option<&Preset>) -> TextOptions {
        let usual = TextOptions::default();
        match (&self.text, preset) {
            (Some(text), _) => text.clone(),
            (None, Some(preset)) => TextOptions {
                unit: match preset.unit {
                    preset::Unit::Words => Unit::Words,
                    preset::Unit::Characters => Unit::Characters,
                },
                n: preset.n,
                ..usual
            },
            (None, None) => usual,
        }
    }

    fn search(&self, spec: &SketchSpec, threshold: Threshold, preset: Option<&Preset>) -> PyResult<Chosen> {
        let asked = |search| Ok(Chosen { search, remark: None });
        let recall = self.recall.unwrap_or(Target::default().recall);
        if !(recall > 0.0 && recall <= 1.0) {
            return Err(error::parameter(format!("`recall` must be above 0 and at most 1, got {recall}")));
        }
        if self.measure == "containment" || recall == 1.0 {
            return asked(Search::Exact);
        }
        if let Some(preset) = preset {
            return match self.recall {
                None => asked(Search::Bands(preset.banding())),
                Some(_) => Err(error::parameter(
                    "`preset` has bands of its own; leave out `recall`, or give 1 for the exact join",
                )),
            };
        }
        let verify = one_of("verify", &self.verify, &VERIFY)?;
        Search::of_recall(recall, threshold, spec, verify)
            .map_err(|few| error::parameter(few.told("`verify=\"estimate\"`", "recall=")))
    }

    fn audit(&self) -> PyResult<Audit> {
        match self.audit.as_str() {
            "off" => Ok(Audit::Off),
            "auto" => Ok(Audit::Auto),
            sample => sample.parse().ok().filter(|&n| n > 0).map(Audit::Sample).ok_or_else(|| {
                error::parameter(format!("`audit` must be off, auto or a number from 1 on, got {sample}"))
            }),
        }
    }
}

const MEASURES: [(&str, Measure); 2] = [("jaccard", Measure::Jaccard), ("containment", Measure::Containment)];
const VERIFY: [(&str, Verify); 2] = [("exact", Verify::Exact), ("estimate", Verify::Estimate)];
const CLUSTERS: [(&str, Cluster); 2] = [("leaders", Cluster::Leaders), ("components", Cluster::Components)];
const OUTPUTS: [(&str, Output); 4] = [
    ("remove", Output::Remove),
    ("annotate", Output::Annotate),
    ("dry-run", Output::DryRun),
    ("evidence", Output::Evidence),
];

fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(name, _)| *name == value).map(|(_, found)| *found);
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        error::parameter(format!("`{name}` must be {}, got `{value}`", names.join(" or ")))
    })
}

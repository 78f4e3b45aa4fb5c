//! What a caller asks of a run, with the defaults of the command line.

use std::path::PathBuf;

use benzer_cli::options::{amount, memory};
use benzer_core::field::text::TextOptions;
use benzer_core::plan::Preset;
use benzer_dedup::request::{
    Asked, Audit, Comparison, Measure, Output, Request, Resources, Results, Verify, Words,
};
use benzer_io::read::ReadOptions;
use benzer_join::resolve::Cluster;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::{error, parallel};

/// A run as Python asks for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
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

/// What Python calls what can be asked for.
const WORDS: Words = Words {
    recall: "`recall`",
    recall_of: "recall=",
    recall_of_all: "1",
    preset: "`preset`",
    estimate: "`verify=\"estimate\"`",
};

impl Job {
    /// The same as the engine takes it.
    pub(crate) fn request(&self) -> PyResult<Request> {
        let mut request = Request::new(self.inputs.clone(), self.output.clone(), self.compare()?);
        self.read(&self.text_fields, self.id_field.as_deref(), &mut request.input.read)?;
        self.read(&self.against_text_fields, self.against_id_field.as_deref(), &mut request.old.read)?;
        request.input.called = self.called.clone();
        request.old.called = self.against_called.clone();
        request.old.paths = self.against.clone();
        request.keep = self.keep.parse().map_err(error::dedup)?;
        request.cluster = one_of("cluster", &self.cluster, &CLUSTERS)?;
        request.audit = self.audit()?;
        request.strict = self.strict;
        request.allow_rejects = self.allow_rejects;
        request.results = Results {
            write: one_of("write", &self.write, &OUTPUTS)?,
            save: self.save.clone(),
            overwrite: self.overwrite,
            command: vec!["benzer.dedup".to_owned()],
            ..request.results
        };
        request.resources = Resources {
            threads: parallel::threads(self.threads),
            memory: self.memory()?,
            page_cache: memory::half_of_memory(),
            work_dir: self.work_dir.clone(),
            resume: self.resume,
            ..Resources::default()
        };
        Ok(request)
    }

    fn compare(&self) -> PyResult<Comparison> {
        let asked = Asked {
            preset: self
                .preset
                .as_deref()
                .map(|name| Preset::named(name).map_err(error::core))
                .transpose()?,
            threshold: self.threshold.as_deref().map(str::parse).transpose().map_err(error::dedup)?,
            recall: self.recall,
            text: self.text.clone(),
            measure: one_of("measure", &self.measure, &MEASURES)?,
            verify: one_of("verify", &self.verify, &VERIFY)?,
        };
        asked.choose().map_err(|unfit| error::parameter(unfit.message(&WORDS)))
    }

    fn memory(&self) -> PyResult<u64> {
        let Some(size) = &self.memory else { return Ok(memory::half_of_memory()) };
        amount::bytes(size).map_err(|e| error::parameter(format!("`memory`: {e}, got `{size}`")))
    }

    fn read(&self, fields: &[String], id: Option<&str>, read: &mut ReadOptions) -> PyResult<()> {
        let path = |field: &str| field.parse().map_err(error::dedup);
        read.text_fields = fields.iter().map(|field| path(field)).collect::<PyResult<_>>()?;
        read.id_field = id.map(path).transpose()?;
        read.format = self.input_format.as_deref().map(str::parse).transpose().map_err(error::dedup)?;
        read.per_file = self.per_file;
        Ok(())
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

//! Stages of a deduplication for Spark: batches of Arrow in and out, as bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use serde::Deserialize;

use benzer_core::Threshold;
use benzer_core::lsh::{Target, choose};
use benzer_core::sketch::SketchSpec;
use benzer_spark::{Port, Settings};

use crate::dedup::Job;
use crate::error;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Stage>()?;
    module.add_function(wrap_pyfunction!(stage_documents, module)?)
}

/// A stage of a task.
#[pyclass(module = "benzer._benzer")]
pub(crate) struct Stage {
    port: Port,
}

#[pymethods]
impl Stage {
    /// The stage of a name, of a run that is asked for as JSON.
    #[new]
    fn new(name: &str, request: &str, slices: u32, max_edges: u64) -> PyResult<Self> {
        let port = Port::new(name, settings(request, slices, max_edges)?).map_err(error::spark)?;
        Ok(Self { port })
    }

    /// Takes a stream of batches and gives those that are ready as one.
    fn push<'py>(&mut self, py: Python<'py>, stream: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let made = py.detach(|| self.port.push(stream)).map_err(error::spark)?;
        Ok(made.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Gives the rest.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let made = py.detach(|| self.port.finish()).map_err(error::spark)?;
        Ok(made.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

/// The most documents that the band keys of a run can tell apart; with a number of documents, an error if these are too many.
#[pyfunction]
#[pyo3(signature = (request, documents = None))]
fn stage_documents(request: &str, documents: Option<u64>) -> PyResult<u64> {
    let settings = settings(request, 1, 1)?;
    settings.check_documents(documents.unwrap_or(0)).map_err(error::spark)?;
    Ok(settings.max_documents())
}

fn settings(request: &str, slices: u32, max_edges: u64) -> PyResult<Settings> {
    let bands: Bands = serde_json::from_str(request).map_err(|e| error::parameter(e.to_string()))?;
    bands.check()?;
    let job: Job = serde_json::from_str(request).map_err(|e| error::parameter(e.to_string()))?;
    Settings::new(&job.request()?, slices, max_edges).map_err(error::spark)
}

/// What decides whether bands can find enough: stages have no exact join to fall back on.
#[derive(Debug, Deserialize)]
struct Bands {
    threshold: Option<String>,
    recall: Option<f64>,
    preset: Option<String>,
}

impl Bands {
    /// Refuses a recall that bands do not reach at the threshold, and says which one they do.
    fn check(&self) -> PyResult<()> {
        let Some(threshold) = self.threshold.as_ref().filter(|_| self.preset.is_none()) else {
            return Ok(());
        };
        let threshold: Threshold = threshold.parse().map_err(error::dedup)?;
        let finds = |recall: f64| {
            let target = Target { threshold: threshold.value(), recall, ..Target::default() };
            choose(&SketchSpec::default(), &target).is_ok()
        };
        let wanted = self.recall.unwrap_or(Target::default().recall);
        if !(wanted > 0.0 && wanted < 1.0) || finds(wanted) {
            return Ok(());
        }
        let remedy =
            match (1..100).rev().map(|percent| f64::from(percent) / 100.0).find(|&recall| finds(recall)) {
                Some(recall) => format!("give `recall` {recall}, a higher `threshold`"),
                None => "give a higher `threshold`".to_owned(),
            };
        Err(error::parameter(format!(
            "bands cannot find {wanted} of the pairs at a `threshold` of {threshold}, and there is no exact join where an engine moves the data; {remedy}, or run `benzer.dedup` on one machine, which finds all pairs with `recall` 1"
        )))
    }
}

//! Stages of a deduplication for Spark: batches of Arrow in and out, as bytes.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use benzer_dedup::exchange::{Port, Settings};

use crate::dedup::Request;
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
    fn new(name: &str, request: &str, slices: u32, most: u64) -> PyResult<Self> {
        let port = Port::new(name, settings(request, slices, most)?).map_err(error::dedup)?;
        Ok(Self { port })
    }

    /// Takes a stream of batches and gives those that are ready as one.
    fn push<'py>(&mut self, py: Python<'py>, stream: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let made = py.detach(|| self.port.push(stream)).map_err(error::dedup)?;
        Ok(made.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Gives the rest.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let made = py.detach(|| self.port.finish()).map_err(error::dedup)?;
        Ok(made.map(|bytes| PyBytes::new(py, &bytes)))
    }
}

/// The most documents that the band keys of a run can tell apart; with a number of documents, an error if these are too many.
#[pyfunction]
#[pyo3(signature = (request, documents = None))]
fn stage_documents(request: &str, documents: Option<u64>) -> PyResult<u64> {
    let settings = settings(request, 1, 1)?;
    settings.check_documents(documents.unwrap_or(0)).map_err(error::dedup)?;
    Ok(settings.most_documents())
}

fn settings(request: &str, slices: u32, most: u64) -> PyResult<Settings> {
    let request: Request = serde_json::from_str(request).map_err(|e| error::parameter(e.to_string()))?;
    Settings::new(&request.options()?, slices, most).map_err(error::dedup)
}

//! Plans: JSON in, JSON out, as on the command line.

use pyo3::prelude::*;

use benzer_core::plan::{Failure, Goal, Preset};

use crate::error;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(presets, module)?)
}

/// The plan for a goal, both as JSON.
#[pyfunction]
fn plan(py: Python<'_>, goal: &str) -> PyResult<String> {
    let goal: Goal = serde_json::from_str(goal).map_err(|error| error::parameter(error.to_string()))?;
    let plan = py.detach(|| benzer_core::plan::plan(&goal)).map_err(|failure| match failure {
        Failure::Parameter(error) => error::core(error),
        Failure::Shortfall(shortfall) => error::exception("PlanError", shortfall.to_string()),
    })?;
    serde_json::to_string(&plan).map_err(|error| error::parameter(error.to_string()))
}

/// The names of the presets.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    Preset::ALL.iter().map(|preset| preset.name).collect()
}

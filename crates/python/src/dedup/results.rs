//! The tables of a finished run, as columns.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use benzer_dedup::results::{self, Pair, Removed};

use crate::error;

/// `evidence.parquet` of a run: a list for each column.
#[pyfunction]
pub(super) fn evidence(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let rows = py.detach(|| {
        let mut rows: Vec<Removed> = Vec::new();
        results::evidence(&folder, |row| {
            rows.push(row);
            Ok(())
        })
        .map(|()| rows)
    });
    let rows = rows.map_err(error::dedup)?;
    let columns = PyDict::new(py);
    let all = |of: &dyn Fn(&Removed) -> Option<f64>| rows.iter().map(of).collect::<Vec<_>>();
    columns.set_item("removed_id", rows.iter().map(|row| &*row.removed_id).collect::<Vec<_>>())?;
    columns.set_item("kept_id", rows.iter().map(|row| &*row.kept_id).collect::<Vec<_>>())?;
    columns.set_item("similarity", rows.iter().map(|row| row.similarity).collect::<Vec<_>>())?;
    columns.set_item("intersection", rows.iter().map(|row| row.intersection).collect::<Vec<_>>())?;
    columns.set_item("union", rows.iter().map(|row| row.union).collect::<Vec<_>>())?;
    columns.set_item("estimate", all(&|row| row.estimate.map(|[value, _, _]| value)))?;
    columns.set_item("low", all(&|row| row.estimate.map(|[_, low, _]| low)))?;
    columns.set_item("high", all(&|row| row.estimate.map(|[_, _, high]| high)))?;
    columns.set_item("rule", rows.iter().map(|row| &*row.rule).collect::<Vec<_>>())?;
    let removed_at: Vec<_> = rows.iter().map(|row| row.removed_at.as_ref()).collect();
    let kept_at: Vec<_> = rows.iter().map(|row| row.kept_at.as_ref()).collect();
    for (name, places) in [("removed", removed_at), ("kept", kept_at)] {
        let files = places.iter().map(|place| place.map(|(file, _)| &**file)).collect::<Vec<_>>();
        columns.set_item(format!("{name}_file"), files)?;
        let numbers = places.iter().map(|place| place.map(|(_, row)| *row)).collect::<Vec<_>>();
        columns.set_item(format!("{name}_row"), numbers)?;
    }
    let kept_in = rows.iter().map(|row| if row.kept_is_old { "against" } else { "input" });
    columns.set_item("kept_in", kept_in.collect::<Vec<_>>())?;
    Ok(columns)
}

/// `pairs.parquet` of a run: a list for each column.
#[pyfunction]
pub(super) fn pairs(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let rows = py.detach(|| {
        let mut rows: Vec<Pair> = Vec::new();
        results::pairs(&folder, |row| {
            rows.push(row);
            Ok(())
        })
        .map(|()| rows)
    });
    let rows = rows.map_err(error::dedup)?;
    let columns = PyDict::new(py);
    columns.set_item("id_a", rows.iter().map(|row| &*row.id_a).collect::<Vec<_>>())?;
    columns.set_item("id_b", rows.iter().map(|row| &*row.id_b).collect::<Vec<_>>())?;
    columns.set_item("intersection", rows.iter().map(|row| row.intersection).collect::<Vec<_>>())?;
    columns.set_item("union", rows.iter().map(|row| row.union).collect::<Vec<_>>())?;
    columns.set_item("similarity", rows.iter().map(|row| row.similarity).collect::<Vec<_>>())?;
    columns.set_item("exact_copy", rows.iter().map(|row| row.exact_copy).collect::<Vec<_>>())?;
    Ok(columns)
}

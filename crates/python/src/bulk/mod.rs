//! Many sets or texts in one call, on all cores, without the interpreter's lock.

mod one_hot;
mod sets;
mod texts;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(texts::sketch_strings, module)?)?;
    module.add_function(wrap_pyfunction!(texts::sketch_buffers, module)?)?;
    module.add_function(wrap_pyfunction!(sets::sketch_csr, module)?)?;
    module.add_function(wrap_pyfunction!(sets::sketch_sets, module)?)?;
    module.add_function(wrap_pyfunction!(sets::mismatches, module)?)?;
    module.add_function(wrap_pyfunction!(one_hot::one_hot, module)?)
}

/// Words of sketches as a matrix.
fn matrix(py: Python<'_>, words: Vec<u64>, width: usize) -> PyResult<Bound<'_, PyArray2<u64>>> {
    let rows = words.len() / width.max(1);
    PyArray1::from_vec(py, words).reshape([rows, width])
}

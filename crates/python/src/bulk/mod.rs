//! Many sets or texts in one call, on all cores, without the interpreter's lock.

mod one_hot;
mod sets;
mod texts;

use std::ops::Range;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::parallel::Division;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(texts::sketch_strings, module)?)?;
    module.add_function(wrap_pyfunction!(texts::sketch_buffers, module)?)?;
    module.add_function(wrap_pyfunction!(sets::sketch_csr, module)?)?;
    module.add_function(wrap_pyfunction!(sets::sketch_sets, module)?)?;
    module.add_function(wrap_pyfunction!(sets::mismatches, module)?)?;
    module.add_function(wrap_pyfunction!(one_hot::one_hot, module)?)
}

/// A matrix of words of sketches whose rows `work` makes. Its memory is NumPy's, which asks for large pages: a fresh page for every 32 sketches
/// would take a tenth of the time of small sets.
fn filled(
    py: Python<'_>,
    rows: Division,
    work: impl Fn(Range<usize>, &mut [u64]) -> PyResult<()> + Sync + Send,
) -> PyResult<Bound<'_, PyArray2<u64>>> {
    let matrix = PyArray2::zeros(py, [rows.n, rows.width], false);
    let mut words = matrix.readwrite();
    let words = words.as_slice_mut()?;
    py.detach(|| rows.fill(words, work))?;
    Ok(matrix)
}

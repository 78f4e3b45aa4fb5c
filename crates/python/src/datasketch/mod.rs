//! The kernels of the classes that have datasketch's names.

mod ensemble;
mod entries;
mod forest;
mod functions;
mod keys;
mod registers;
mod tables;
mod tokens;
mod weighted;

use pyo3::prelude::*;

pub(crate) use registers::registers;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<functions::Functions>()?;
    module.add_class::<tables::BandTables>()?;
    module.add_class::<forest::Forest>()?;
    module.add_function(wrap_pyfunction!(functions::equal, module)?)?;
    module.add_function(wrap_pyfunction!(functions::smaller, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::optimal_bands, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::optimal_bands_of_containment, module)?)?;
    module.add_function(wrap_pyfunction!(ensemble::optimal_partitions, module)?)?;
    module.add_function(wrap_pyfunction!(weighted::weighted_minhash, module)?)
}

//! # benzer-python
//!
//! The extension module of the Python package: every function here converts arguments, releases the interpreter's lock, and calls another crate.
//!
//! **What it must not know**: any algorithm. It knows Python's objects and signals; what users see is in `python/benzer`, and nothing here is public Python.
//!
//! **The way through**, from a call to its answer: `python/benzer` checks the arguments (`arguments.py`), makes columns of tables (`inputs.py`) and calls a function here. Its work runs on threads that end with the call
//! (`parallel`), so that nothing is left in a process that forks, while the thread that called looks for Ctrl-C between pieces (`parallel::Pulse`). `error` makes exceptions of errors, whose messages
//! `errors.in_python` puts into Python's words.
//!
//! - `datasketch`: the kernels of the classes that have datasketch's names. A `MinHashLSH` has its bands in `benzer_core::lsh::Tables` and its keys, by Python's rules of equality, beside them.
//! - `bulk`: many texts or sets in one call, on all cores.
//! - `sketch`, `estimate`, `plan`, `picture`: the core's own sketches, estimators, plans and pictures.
//! - `dedup`, `index`, `cli`: the engines, a deduplication on a thread of its own while the caller's looks after signals and progress; `spark`: the stages of a deduplication that Spark moves the data of.

mod bulk;
mod datasketch;
mod dedup;
mod error;
mod estimate;
mod index;
mod parallel;
mod picture;
mod plan;
mod sketch;
mod spark;

use pyo3::prelude::*;

/// Bulk calls read large tables at random, and fill large matrices.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: benzer_cli::process::pages::LargePages = benzer_cli::process::pages::LargePages;

/// Runs the command line with these arguments, the first of which is the program, and gives its exit code.
#[pyfunction]
fn cli(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| benzer_cli::run(arguments))
}

#[pymodule]
fn _benzer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(cli, module)?)?;
    datasketch::add(module)?;
    bulk::add(module)?;
    sketch::add(module)?;
    estimate::add(module)?;
    plan::add(module)?;
    picture::add(module)?;
    dedup::add(module)?;
    spark::add(module)?;
    index::add(module)
}

//! # benzer-python
//!
//! The extension module of the Python package: every function here converts arguments, releases the interpreter's lock, and calls another crate. It knows Python's objects and signals, and no algorithm;
//! the classes and functions that users see are in `python/benzer`, with their checks and defaults, and nothing here is public Python.
//!
//! From a call to its answer: a function of `python/benzer` checks the arguments and calls one of these here; `error` makes Python's exceptions of errors; `parallel` shares rows among threads, and has
//! the thread that called look after Ctrl-C.
//!
//! - `datasketch`: the kernels of the classes that have datasketch's names.
//! - `bulk`: many texts or sets in one call, on all cores.
//! - `sketch`, `estimate`, `plan`, `picture`: the core's own sketches, estimators, plans and pictures.
//! - `dedup`, `index`, `cli`: the engines; `spark`: the stages of a deduplication that Spark moves the data of.

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

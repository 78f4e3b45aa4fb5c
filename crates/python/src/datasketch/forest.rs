//! The trees of a MinHashLSHForest.

use std::sync::Mutex;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use benzer_core::lsh;

use super::registers::registers;
use crate::error;

/// The trees; entries are numbers in the order in which they were added.
#[pyclass(frozen, module = "benzer._benzer")]
pub(crate) struct Forest {
    min: usize,
    inner: Mutex<lsh::Forest>,
}

#[pymethods]
impl Forest {
    #[new]
    fn new(l: usize, k: usize) -> Self {
        Self { min: l * k, inner: Mutex::new(lsh::Forest::new(l, k)) }
    }

    /// Adds hash values and gives the number of the entry.
    fn add(&self, hashvalues: &Bound<'_, PyAny>) -> PyResult<u32> {
        let registers = self.registers(hashvalues)?;
        Ok(self.lock(hashvalues.py()).add(&registers))
    }

    /// Makes all entries searchable.
    fn index(&self, py: Python<'_>) {
        let mut inner = self.lock(py);
        let forest = &mut *inner;
        py.detach(|| forest.index());
    }

    /// Whether there is a searchable entry.
    fn is_searchable(&self, py: Python<'_>) -> bool {
        self.lock(py).is_searchable()
    }

    /// At most `n` entries, those with the longest common prefixes first.
    fn nearest(&self, hashvalues: &Bound<'_, PyAny>, n: usize) -> PyResult<Vec<u32>> {
        let py = hashvalues.py();
        let registers = self.registers(hashvalues)?;
        let inner = self.lock(py);
        let forest = &*inner;
        Ok(py.detach(|| forest.nearest(&registers, n)))
    }

    /// The hash values of an entry.
    fn hashvalues<'py>(&self, py: Python<'py>, entry: u32) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let inner = self.lock(py);
        match (entry as usize) < inner.len() {
            true => Ok(PyArray1::from_slice(py, inner.registers(entry))),
            false => Err(error::parameter(format!("`entry` must be below {}, got {entry}", inner.len()))),
        }
    }
}

impl Forest {
    fn lock(&self, py: Python<'_>) -> std::sync::MutexGuard<'_, lsh::Forest> {
        self.inner.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn registers(&self, hashvalues: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let registers = registers(hashvalues)?;
        let (min, n) = (self.min, registers.len());
        match n >= min {
            true => Ok(registers),
            false => Err(error::parameter(format!("expected at least {min} hash values, got {n}"))),
        }
    }
}

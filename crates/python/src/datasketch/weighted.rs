//! Improved consistent weighted sampling (Ioffe, 2010) with parameters that NumPy drew, in datasketch's order of operations on 32-bit floats.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error;

/// The sampled dimension and its step for each sample. `dimensions` are those with a weight, `logarithms` the logarithms of the weights. `shifted` is the variant of
/// `minhash_many`, which rounds differently.
#[pyfunction]
pub(super) fn weighted_minhash<'py>(
    py: Python<'py>,
    dimensions: PyReadonlyArray1<'py, i64>,
    logarithms: PyReadonlyArray1<'py, f32>,
    parameters: [PyReadonlyArray2<'py, f32>; 3],
    shifted: bool,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let [rs, ln_cs, betas] = &parameters;
    let (samples, dim) = rs.as_array().dim();
    let (rs, ln_cs, betas) = (rs.as_slice()?, ln_cs.as_slice()?, betas.as_slice()?);
    let (dimensions, logarithms) = (dimensions.as_slice()?, logarithms.as_slice()?);
    if dimensions.len() != logarithms.len() || dimensions.iter().any(|&d| d < 0 || d as usize >= dim) {
        return Err(error::parameter(format!("expected a logarithm for each dimension below {dim}")));
    }
    if ln_cs.len() != rs.len() || betas.len() != rs.len() {
        return Err(error::parameter("expected three arrays of parameters of one shape"));
    }
    let sampled = py.detach(|| {
        let mut sampled = Vec::with_capacity(2 * samples);
        for start in (0..samples).map(|sample| sample * dim) {
            let mut best = (f32::INFINITY, [0, 0]);
            for (&dimension, &logarithm) in dimensions.iter().zip(logarithms) {
                let i = start + dimension as usize;
                let t = (logarithm / rs[i] + betas[i]).floor();
                let ln_a = match shifted {
                    false => ln_cs[i] - (t - betas[i]) * rs[i] - rs[i],
                    true => ln_cs[i] - (t - betas[i] + 1.0) * rs[i],
                };
                if ln_a < best.0 {
                    best = (ln_a, [dimension, t as i64]);
                }
            }
            sampled.extend(best.1);
        }
        sampled
    });
    PyArray1::from_vec(py, sampled).reshape([samples, 2])
}

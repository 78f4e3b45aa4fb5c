//! Bands and partitions, chosen as datasketch chooses them.

use pyo3::prelude::*;

use benzer_core::lsh::{Shape, curve, ensemble};

use crate::error;

/// Bands and rows with the least weighted error around a Jaccard threshold.
#[pyfunction]
pub(super) fn optimal_bands(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    weights: [f64; 2],
) -> PyResult<(usize, usize)> {
    // At the ends only one of the two errors is left, and it is smallest with most bands or with most rows.
    if threshold <= 0.0 {
        return Ok((num_perm, 1));
    }
    if threshold >= 1.0 {
        return Ok((1, num_perm));
    }
    let shape = py.detach(|| curve::optimal(num_perm, threshold, weights[0], weights[1]));
    shape.map(|Shape { bands, rows }| (bands, rows)).map_err(error::core)
}

/// Bands and rows with the least weighted error around a containment threshold, for sets `ratio` times as large as the query.
#[pyfunction]
pub(super) fn optimal_bands_of_containment(
    py: Python<'_>,
    threshold: f64,
    num_perm: usize,
    max_rows: usize,
    ratio: f64,
    weights: [f64; 2],
) -> (usize, usize) {
    let Shape { bands, rows } =
        py.detach(|| ensemble::optimal(num_perm, max_rows, threshold, ratio, weights));
    (bands, rows)
}

/// Intervals of sizes with the fewest expected false positives.
#[pyfunction]
pub(super) fn optimal_partitions(
    py: Python<'_>,
    sizes: Vec<u64>,
    counts: Vec<u64>,
    parts: usize,
) -> PyResult<Vec<(u64, u64)>> {
    if sizes.len() != counts.len() {
        return Err(error::parameter(format!("expected {} counts, got {}", sizes.len(), counts.len())));
    }
    Ok(py.detach(|| ensemble::partitions(&sizes, &counts, parts)))
}

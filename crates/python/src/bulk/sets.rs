//! Sets to sketches, and rows of sketches compared with each other.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use benzer_core::sketch::count;

use crate::sketch::{Sketcher, extend, kept};
use crate::{error, parallel};

/// Sketches of sets of elements that are hashed already: set i is `elements[offsets[i]:offsets[i + 1]]`.
#[pyfunction]
#[pyo3(signature = (sketcher, elements, offsets, threads = None))]
pub(super) fn sketch_csr<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    elements: PyReadonlyArray1<'py, u64>,
    offsets: PyReadonlyArray1<'py, i64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let offsets = offsets.as_slice()?.iter().map(|&offset| {
        usize::try_from(offset)
            .map_err(|_| error::parameter(format!("`offsets` must not be negative, got {offset}")))
    });
    let offsets = offsets.collect::<PyResult<Vec<usize>>>()?;
    sketch(py, sketcher, elements.as_slice()?, &offsets, threads)
}

/// Sketches of lists of values.
#[pyfunction]
#[pyo3(signature = (sketcher, sets, threads = None))]
pub(super) fn sketch_sets<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    sets: &Bound<'py, PyAny>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (mut elements, mut offsets) = (Vec::new(), vec![0]);
    for set in sets.try_iter()? {
        extend(&mut elements, &set?)?;
        offsets.push(elements.len());
    }
    sketch(py, sketcher, &elements, &offsets, threads)
}

fn sketch<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    elements: &[u64],
    offsets: &[usize],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (n, threads) = (offsets.len().saturating_sub(1), parallel::threads(threads));
    // Many, because every call of the sketcher makes buffers of its own.
    let at_a_time = parallel::many_rows(n, threads);
    super::filled(py, (n, sketcher.values.spec().words()), at_a_time, threads, |rows, out| {
        let offsets = &offsets[rows.start..=rows.end];
        sketcher.values.sketch_many(elements, offsets, out).map_err(error::core)
    })
}

/// For pairs of rows, the number of registers that differ.
#[pyfunction]
pub(super) fn mismatches<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    words: PyReadonlyArray2<'py, u64>,
    a: PyReadonlyArray1<'py, i64>,
    b: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let spec = sketcher.texts.spec();
    let bits =
        kept(spec).ok_or_else(|| error::parameter("rows of this sketch cannot be compared in bulk"))?;
    let (rows, width) = words.as_array().dim();
    let (words, a, b) = (words.as_slice()?, a.as_slice()?, b.as_slice()?);
    let known = |row: &i64| usize::try_from(*row).is_ok_and(|row| row < rows);
    if a.len() != b.len() || !a.iter().chain(b).all(known) || width != spec.words() {
        return Err(error::parameter(format!(
            "expected pairs of rows below {rows} of {} words",
            spec.words()
        )));
    }
    let row = |i: i64| &words[i as usize * width..][..width];
    let counts = py.detach(|| {
        a.iter().zip(b).map(|(&a, &b)| count::mismatches(row(a), row(b), bits)).collect::<Vec<u32>>()
    });
    Ok(PyArray1::from_vec(py, counts))
}

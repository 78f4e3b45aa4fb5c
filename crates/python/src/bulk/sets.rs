//! Sets to sketches, and rows of sketches compared with each other.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use benzer_core::sketch::count;

use crate::error;
use crate::parallel::{self, Division};
use crate::sketch::{Sketcher, extend, kept};

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
    for (i, set) in sets.try_iter()?.enumerate() {
        extend(&mut elements, &set?, &|| format!("sets[{i}]"))?;
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
    let spec = sketcher.values.spec();
    let steps = elements.len().saturating_mul(spec.registers as usize);
    let at_a_time = parallel::at_a_time(parallel::many_rows(n, threads), n, steps);
    super::filled(py, Division { n, width: spec.words(), at_a_time, threads }, |rows, out| {
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
        let words = spec.words();
        return Err(error::parameter(format!("expected pairs of rows below {rows} of {words} words")));
    }
    let row = |i: i64| &words[i as usize * width..][..width];
    let mut counts = vec![0; a.len()];
    py.detach(|| {
        let (n, threads) = (a.len(), parallel::threads(None));
        let at_a_time = parallel::many_rows(n, threads);
        Division { n, width: 1, at_a_time, threads }.fill(&mut counts, |pairs, out| {
            let pairs = a[pairs.clone()].iter().zip(&b[pairs]);
            out.iter_mut()
                .zip(pairs)
                .for_each(|(out, (&a, &b))| *out = count::mismatches(row(a), row(b), bits));
            Ok(())
        })
    })?;
    Ok(PyArray1::from_vec(py, counts))
}

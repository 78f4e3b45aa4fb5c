//! Texts to sketches: from strings of the interpreter where they lie, or from the buffers of Arrow.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use benzer_core::field::text::Scratch;

use crate::sketch::Sketcher;
use crate::{error, parallel};

/// Sketches of a list of strings.
#[pyfunction]
#[pyo3(signature = (sketcher, texts, threads = None))]
pub(super) fn sketch_strings<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    texts: Vec<PyBackedStr>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    sketch(py, sketcher, texts.len(), threads, |i| Ok(&texts[i]))
}

/// Sketches of the strings of an Arrow array: the bytes of all of them, and where each begins and the last ends.
#[pyfunction]
#[pyo3(signature = (sketcher, data, offsets, threads = None))]
pub(super) fn sketch_buffers<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    data: PyReadonlyArray1<'py, u8>,
    offsets: PyReadonlyArray1<'py, i64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (data, offsets) = (data.as_slice()?, offsets.as_slice()?);
    let text = |i: usize| -> PyResult<&str> {
        let ends = (usize::try_from(offsets[i]), usize::try_from(offsets[i + 1]));
        let bytes = match ends {
            (Ok(start), Ok(end)) => data.get(start..end),
            _ => None,
        };
        let bytes =
            bytes.ok_or_else(|| error::parameter(format!("the offsets of row {i} are not in the data")))?;
        std::str::from_utf8(bytes).map_err(|_| error::parameter(format!("the text of row {i} is not UTF-8")))
    };
    sketch(py, sketcher, offsets.len().saturating_sub(1), threads, text)
}

fn sketch<'py, 'a>(
    py: Python<'py>,
    sketcher: &Sketcher,
    n: usize,
    threads: Option<usize>,
    text: impl Fn(usize) -> PyResult<&'a str> + Sync + Send,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let width = sketcher.texts.spec().words();
    let bag = sketcher.shingler.options().bag;
    super::filled(py, (n, width), parallel::ROWS, parallel::threads(threads), |rows, out| {
        let (mut scratch, mut elements, mut offsets) = (Scratch::default(), Vec::new(), vec![0]);
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            if bag {
                let features = sketcher.shingler.features(text(row)?);
                out.copy_from_slice(sketcher.texts.sketch(&features).map_err(error::core)?.words());
                continue;
            }
            let start = offsets[offsets.len() - 1];
            offsets.push(sketcher.shingler.write_elements(text(row)?, &mut scratch, &mut elements, start));
        }
        if bag {
            return Ok(());
        }
        let end = offsets[offsets.len() - 1];
        sketcher.texts.sketch_many(&elements[..end], &offsets, out).map_err(error::core)
    })
}

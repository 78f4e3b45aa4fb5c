//! Texts to sketches: from strings of the interpreter where they lie, or from the buffers of Arrow.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyList;

use benzer_core::field::text::Scratch;

use crate::error;
use crate::parallel::{self, Division};
use crate::sketch::Sketcher;

/// Steps of work that a byte of text takes until it is hashed, as [`parallel::at_a_time`] counts them.
const STEPS_OF_A_BYTE: usize = 32;
/// Bytes of a text for each of its elements, about; every element may meet every register.
const BYTES_OF_AN_ELEMENT: usize = 6;

/// Sketches of a list of strings.
#[pyfunction]
#[pyo3(signature = (sketcher, texts, threads = None))]
pub(super) fn sketch_strings<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    texts: &Bound<'py, PyList>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let texts = strings(texts)?;
    let bytes = texts.iter().map(|text| text.len()).sum();
    sketch(py, sketcher, Column { n: texts.len(), bytes, text: |i: usize| Ok(&texts[i][..]) }, threads)
}

/// Texts by their numbers.
struct Column<F> {
    n: usize,
    bytes: usize,
    text: F,
}

/// The strings of a list, where they lie.
fn strings(texts: &Bound<'_, PyList>) -> PyResult<Vec<PyBackedStr>> {
    let mut strings = Vec::with_capacity(texts.len());
    for (i, text) in texts.iter().enumerate() {
        texts.py().check_signals()?;
        let string = text.extract();
        strings.push(string.map_err(|_| error::no_string(&format!("texts[{i}]"), &text))?);
    }
    Ok(strings)
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
    let n = offsets.len().saturating_sub(1);
    sketch(py, sketcher, Column { n, bytes: data.len(), text }, threads)
}

fn sketch<'py, 'a>(
    py: Python<'py>,
    sketcher: &Sketcher,
    column: Column<impl Fn(usize) -> PyResult<&'a str> + Sync + Send>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let Column { n, bytes, text } = column;
    let (width, registers) = (sketcher.texts.spec().words(), sketcher.texts.spec().registers as usize);
    let bag = sketcher.shingler.options().bag;
    let steps = bytes.saturating_mul(STEPS_OF_A_BYTE + registers / BYTES_OF_AN_ELEMENT);
    let at_a_time = parallel::at_a_time(parallel::ROWS, n, steps);
    let threads = parallel::threads(threads);
    super::filled(py, Division { n, width, at_a_time, threads }, |rows, out| {
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

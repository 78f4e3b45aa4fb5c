//! The tables of a finished run, as columns: buffers of NumPy, without a Python object for a cell.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use benzer_dedup::results;
use benzer_dedup::tables::{Column, EvidenceColumn, PairsColumn};
use benzer_io::result_table::Kind;

use crate::error;

/// `evidence.parquet` of a run: all columns that its users know, or those that are named.
#[pyfunction]
#[pyo3(signature = (folder, names = None))]
pub(super) fn evidence(
    py: Python<'_>,
    folder: PathBuf,
    names: Option<Vec<String>>,
) -> PyResult<Bound<'_, PyDict>> {
    use EvidenceColumn::{Size, Span, SpanEnd, SpanStart};
    let is_wanted = |column: &EvidenceColumn| {
        !matches!(column, Size | SpanStart | SpanEnd | Span)
            && names.as_ref().is_none_or(|names| names.iter().any(|name| name == column.name()))
    };
    columns(py, &folder, is_wanted)
}

/// `pairs.parquet` of a run.
#[pyfunction]
pub(super) fn pairs(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    use PairsColumn::{RankA, RankB, Size};
    columns(py, &folder, |column: &PairsColumn| !matches!(column, RankA | RankB | Size))
}

/// The number behind the last colon of each text of a column: the row of a document that is called by its place. Nothing if one of them does not end so.
#[pyfunction]
pub(super) fn last_numbers<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    bytes: PyReadonlyArray1<'py, u8>,
) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
    let (offsets, bytes) = (offsets.as_slice()?, bytes.as_slice()?);
    let number = |ends: &[i64]| {
        let text = usize::try_from(ends[0]).ok()?..usize::try_from(ends[1]).ok()?;
        let (_, number) = std::str::from_utf8(bytes.get(text)?).ok()?.rsplit_once(':')?;
        number.parse::<i64>().ok()
    };
    let numbers: Option<Vec<i64>> = offsets.windows(2).map(number).collect();
    Ok(numbers.map(|numbers| PyArray1::from_vec(py, numbers)))
}

/// Of each column its values, where each begins if they are texts, which are bytes then, and which of them are there, if not all are.
fn columns<'py, C: Column + Sync>(
    py: Python<'py>,
    folder: &Path,
    is_wanted: impl Fn(&C) -> bool,
) -> PyResult<Bound<'py, PyDict>> {
    let wanted: Vec<C> = C::ALL.iter().copied().filter(is_wanted).collect();
    let read = py.detach(|| {
        let mut columns: Vec<Cells> = wanted.iter().map(|column| Cells::new(column.kind())).collect();
        let push = |n: usize, arrays: &[Option<&ArrayRef>]| {
            columns.iter_mut().zip(arrays).for_each(|(column, array)| column.push(n, *array));
            Ok(())
        };
        results::columns(folder, &wanted, push).map(|()| columns)
    });
    let made = PyDict::new(py);
    for (column, cells) in wanted.iter().zip(read.map_err(error::dedup)?) {
        made.set_item(column.name(), cells.into_python(py)?)?;
    }
    Ok(made)
}

struct Cells {
    values: Values,
    /// Whether each has a value.
    there: Vec<bool>,
}

enum Values {
    Numbers(Vec<i64>),
    Shares(Vec<f64>),
    Flags(Vec<bool>),
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
}

impl Cells {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Number | Kind::Row => Values::Numbers(Vec::new()),
            Kind::Share => Values::Shares(Vec::new()),
            Kind::Flag => Values::Flags(Vec::new()),
            Kind::Text => Values::Texts { offsets: vec![0], bytes: Vec::new() },
        };
        Self { values, there: Vec::new() }
    }

    /// Adds `n` cells; those that the table does not have, or that are of another kind, have no value.
    fn push(&mut self, n: usize, array: Option<&ArrayRef>) {
        let end = self.there.len() + n;
        let is_there = |i| array.is_some_and(|array| array.is_valid(i));
        self.there.extend((0..n).map(is_there));
        match &mut self.values {
            Values::Numbers(numbers) => {
                if let Some(cells) = array.and_then(|array| array.as_primitive_opt::<UInt32Type>()) {
                    numbers.extend(cells.values().iter().map(|number| i64::from(*number)));
                } else if let Some(cells) = array.and_then(|array| array.as_primitive_opt::<UInt64Type>()) {
                    numbers.extend(cells.values().iter().map(|number| *number as i64));
                }
                numbers.resize(end, 0);
            }
            Values::Shares(shares) => {
                let cells = array.and_then(|array| array.as_primitive_opt::<Float64Type>());
                shares.extend(cells.into_iter().flatten().map(|share| share.unwrap_or(f64::NAN)));
                shares.resize(end, f64::NAN);
            }
            Values::Flags(flags) => {
                let cells = array.and_then(|array| array.as_boolean_opt());
                flags.extend(cells.into_iter().flatten().map(Option::unwrap_or_default));
                flags.resize(end, false);
            }
            Values::Texts { offsets, bytes } => {
                for text in array.and_then(|array| array.as_string_opt::<i32>()).into_iter().flatten() {
                    bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
                    offsets.push(bytes.len() as i64);
                }
                offsets.resize(end + 1, bytes.len() as i64);
            }
        }
    }

    /// (values, offsets or nothing, which are there or nothing).
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let nothing = || py.None().into_bound(py);
        let there = match self.there.iter().all(|there| *there) {
            true => nothing(),
            false => PyArray1::from_vec(py, self.there).into_any(),
        };
        let (values, offsets) = match self.values {
            Values::Numbers(numbers) => (PyArray1::from_vec(py, numbers).into_any(), nothing()),
            Values::Shares(shares) => (PyArray1::from_vec(py, shares).into_any(), nothing()),
            Values::Flags(flags) => (PyArray1::from_vec(py, flags).into_any(), nothing()),
            Values::Texts { offsets, bytes } => {
                (PyArray1::from_vec(py, bytes).into_any(), PyArray1::from_vec(py, offsets).into_any())
            }
        };
        PyTuple::new(py, [values, offsets, there])
    }
}

//! The tables of a finished run, as columns: buffers of NumPy, without a Python object for a cell.

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use benzer_dedup::results;
use benzer_io::result_table::Kind;

use crate::error;

/// A column, and what its cells are.
type Named = (&'static str, Kind);

const EVIDENCE: [Named; 14] = [
    ("removed_id", Kind::Text),
    ("kept_id", Kind::Text),
    ("similarity", Kind::Share),
    ("intersection", Kind::Number),
    ("union", Kind::Number),
    ("estimate", Kind::Share),
    ("low", Kind::Share),
    ("high", Kind::Share),
    ("rule", Kind::Text),
    ("removed_file", Kind::Text),
    ("removed_row", Kind::Row),
    ("kept_file", Kind::Text),
    ("kept_row", Kind::Row),
    ("kept_in", Kind::Text),
];
const PAIRS: [Named; 7] = [
    ("id_a", Kind::Text),
    ("id_b", Kind::Text),
    ("intersection", Kind::Number),
    ("union", Kind::Number),
    ("similarity", Kind::Share),
    ("exact_copy", Kind::Flag),
    ("a_is_old", Kind::Flag),
];

/// `evidence.parquet` of a run: all columns, or those that are named.
#[pyfunction]
#[pyo3(signature = (folder, names = None))]
pub(super) fn evidence(
    py: Python<'_>,
    folder: PathBuf,
    names: Option<Vec<String>>,
) -> PyResult<Bound<'_, PyDict>> {
    let is_wanted =
        |(name, _): &Named| names.as_ref().is_none_or(|names| names.iter().any(|one| one == name));
    let wanted: Vec<Named> = EVIDENCE.into_iter().filter(is_wanted).collect();
    columns(py, &folder, "evidence.parquet", &wanted)
}

/// `pairs.parquet` of a run.
#[pyfunction]
pub(super) fn pairs(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    columns(py, &folder, "pairs.parquet", &PAIRS)
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
fn columns<'py>(
    py: Python<'py>,
    folder: &Path,
    table: &str,
    wanted: &[Named],
) -> PyResult<Bound<'py, PyDict>> {
    let names: Vec<&'static str> = wanted.iter().map(|(name, _)| *name).collect();
    let read = py.detach(|| {
        let mut columns: Vec<Column> = wanted.iter().map(|(_, kind)| Column::new(*kind)).collect();
        let push = |n: usize, arrays: &[Option<&ArrayRef>]| {
            columns.iter_mut().zip(arrays).for_each(|(column, array)| column.push(n, *array));
            Ok(())
        };
        results::columns(folder, table, &names, push).map(|()| columns)
    });
    let made = PyDict::new(py);
    for (name, column) in names.iter().zip(read.map_err(error::dedup)?) {
        made.set_item(*name, column.into_python(py)?)?;
    }
    Ok(made)
}

/// The cells of a column.
#[derive(Debug)]
struct Column {
    cells: Cells,
    /// Whether each has a value.
    there: Vec<bool>,
}

#[derive(Debug)]
enum Cells {
    Numbers(Vec<i64>),
    Shares(Vec<f64>),
    Flags(Vec<bool>),
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
}

impl Column {
    fn new(kind: Kind) -> Self {
        let cells = match kind {
            Kind::Number | Kind::Row => Cells::Numbers(Vec::new()),
            Kind::Share => Cells::Shares(Vec::new()),
            Kind::Flag => Cells::Flags(Vec::new()),
            Kind::Text => Cells::Texts { offsets: vec![0], bytes: Vec::new() },
        };
        Self { cells, there: Vec::new() }
    }

    /// Adds `n` cells; those that the table does not have, or that are of another kind, have no value.
    fn push(&mut self, n: usize, array: Option<&ArrayRef>) {
        let end = self.there.len() + n;
        let is_there = |i| array.is_some_and(|array| array.is_valid(i));
        self.there.extend((0..n).map(is_there));
        match &mut self.cells {
            Cells::Numbers(numbers) => {
                if let Some(cells) = array.and_then(|array| array.as_primitive_opt::<UInt32Type>()) {
                    numbers.extend(cells.values().iter().map(|number| i64::from(*number)));
                } else if let Some(cells) = array.and_then(|array| array.as_primitive_opt::<UInt64Type>()) {
                    numbers.extend(cells.values().iter().map(|number| *number as i64));
                }
                numbers.resize(end, 0);
            }
            Cells::Shares(shares) => {
                let cells = array.and_then(|array| array.as_primitive_opt::<Float64Type>());
                shares.extend(cells.into_iter().flatten().map(|share| share.unwrap_or(f64::NAN)));
                shares.resize(end, f64::NAN);
            }
            Cells::Flags(flags) => {
                let cells = array.and_then(|array| array.as_boolean_opt());
                flags.extend(cells.into_iter().flatten().map(Option::unwrap_or_default));
                flags.resize(end, false);
            }
            Cells::Texts { offsets, bytes } => {
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
        let (values, offsets) = match self.cells {
            Cells::Numbers(numbers) => (PyArray1::from_vec(py, numbers).into_any(), nothing()),
            Cells::Shares(shares) => (PyArray1::from_vec(py, shares).into_any(), nothing()),
            Cells::Flags(flags) => (PyArray1::from_vec(py, flags).into_any(), nothing()),
            Cells::Texts { offsets, bytes } => {
                (PyArray1::from_vec(py, bytes).into_any(), PyArray1::from_vec(py, offsets).into_any())
            }
        };
        PyTuple::new(py, [values, offsets, there])
    }
}

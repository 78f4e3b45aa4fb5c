//! Registers as features of a linear model: one column for each value that a register can have (004, section 7.2).

use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use benzer_core::sketch::packed;

use crate::error;
use crate::parallel::{self, Division};
use crate::sketch::{Sketcher, kept};

/// The columns with a one, `registers` for each row.
#[pyfunction]
pub(super) fn one_hot<'py>(
    py: Python<'py>,
    sketcher: &Sketcher,
    words: PyReadonlyArray2<'py, u64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let spec = sketcher.texts.spec();
    let bits = kept(spec).filter(|bits| bits.get() <= 16);
    let bits = bits.ok_or_else(|| error::parameter("one-hot features need 1 to 16 bits of a register"))?;
    let (k, width) = (spec.registers as usize, words.shape()[1]);
    if width != spec.words() {
        return Err(error::parameter(format!("expected rows of {} words, got {width}", spec.words())));
    }
    let (n, words) = (words.shape()[0], words.as_slice()?);
    let mut columns = vec![0; n * k];
    py.detach(|| {
        let all = Division { n, width: k, at_a_time: parallel::ROWS, threads: parallel::threads(None) };
        all.fill(&mut columns, |rows, out| {
            let rows = words[rows.start * width..rows.end * width].chunks_exact(width);
            let ones = rows.flat_map(|row| packed::one_hot(row, bits, k));
            ones.zip(out).for_each(|(column, out)| *out = column as i64);
            Ok(())
        })
    })?;
    Ok(PyArray1::from_vec(py, columns))
}

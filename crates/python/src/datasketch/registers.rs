//! NumPy arrays of hash values as registers, and back.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use benzer_core::sketch::Scheme;

pub(crate) fn registers(array: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Ok(array) = array.cast::<PyArray1<u32>>() {
        return Ok(with(array.readonly(), |values| values.iter().map(|&value| u64::from(value)).collect()));
    }
    if let Ok(array) = array.cast::<PyArray1<u64>>() {
        return Ok(with(array.readonly(), <[u64]>::to_vec));
    }
    if let Ok(array) = array.cast::<PyArray2<i64>>() {
        // Pairs of a weighted MinHash, one after the other.
        return Ok(array.readonly().as_array().iter().map(|&value| value as u64).collect());
    }
    let array = array.py().import("numpy")?.call_method1("ascontiguousarray", (array, "uint64"))?;
    let array: PyReadonlyArray1<'_, u64> = array.extract()?;
    Ok(with(array, <[u64]>::to_vec))
}

/// A matrix with a row of hash values for each set.
pub(crate) enum Matrix<'py> {
    Bytes(PyReadonlyArray2<'py, u8>),
    Shorts(PyReadonlyArray2<'py, u16>),
    Words(PyReadonlyArray2<'py, u32>),
    Longs(PyReadonlyArray2<'py, u64>),
}

#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Bytes(&'a [u8]),
    Shorts(&'a [u16]),
    Words(&'a [u32]),
    Longs(&'a [u64]),
}

impl<'py> Matrix<'py> {
    /// Takes a matrix that lies row by row.
    pub(crate) fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let wrong = || {
            PyValueError::new_err("expected a matrix of uint8, uint16, uint32 or uint64, a row for each set")
        };
        let array = array.py().import("numpy")?.call_method1("ascontiguousarray", (array,))?;
        if let Ok(array) = array.cast::<PyArray2<u32>>() {
            return Ok(Self::Words(array.readonly()));
        }
        if let Ok(array) = array.cast::<PyArray2<u64>>() {
            return Ok(Self::Longs(array.readonly()));
        }
        if let Ok(array) = array.cast::<PyArray2<u8>>() {
            return Ok(Self::Bytes(array.readonly()));
        }
        array.cast::<PyArray2<u16>>().map(|array| Self::Shorts(array.readonly())).map_err(|_| wrong())
    }

    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Self::Bytes(array) => array.as_array().dim(),
            Self::Shorts(array) => array.as_array().dim(),
            Self::Words(array) => array.as_array().dim(),
            Self::Longs(array) => array.as_array().dim(),
        }
    }

    pub(crate) fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Self::Bytes(array) => Rows::Bytes(array.as_slice()?),
            Self::Shorts(array) => Rows::Shorts(array.as_slice()?),
            Self::Words(array) => Rows::Words(array.as_slice()?),
            Self::Longs(array) => Rows::Longs(array.as_slice()?),
        })
    }
}

/// Registers as the array that a scheme's MinHash has.
pub(super) fn array(py: Python<'_>, scheme: Scheme, registers: Vec<u64>) -> Bound<'_, PyAny> {
    match scheme {
        Scheme::Affine32 => {
            PyArray1::from_iter(py, registers.into_iter().map(|register| register as u32)).into_any()
        }
        _ => PyArray1::from_vec(py, registers).into_any(),
    }
}

fn with<T: numpy::Element + Copy, R>(array: PyReadonlyArray1<'_, T>, read: impl Fn(&[T]) -> R) -> R {
    match array.as_slice() {
        Ok(values) => read(values),
        Err(_) => read(&array.as_array().to_vec()),
    }
}

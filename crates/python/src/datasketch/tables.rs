//! The tables of a MinHashLSH: keys of any type in [`Tables`] of band keys.
//!
//! The key of a band is a 64-bit hash of its hash values. The lock is never held by a thread that waits for the interpreter's: bulk work under it needs no interpreter,
//! and who waits for it with the interpreter's lock gives that up meanwhile.

use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList};

use benzer_core::hash;
use benzer_core::lsh::Tables;

use super::entries::{Entries, key, keys};
use super::keys::Key;
use super::registers::{Matrix, Rows, registers};
use crate::error;
use crate::parallel::{self, Division};

/// Rows that are hashed before they are inserted.
const BATCH: usize = 1 << 16;
const UNKNOWN: &str = "The given key does not exist";

/// The tables of an index.
#[pyclass(frozen, module = "benzer._benzer")]
pub(crate) struct BandTables {
    bands: usize,
    rows: usize,
    /// Makes the bytes of a band shorter.
    hashfunc: Option<Py<PyAny>>,
    inner: Mutex<Entries>,
}

#[pymethods]
impl BandTables {
    #[new]
    #[pyo3(signature = (bands, rows, hashfunc = None))]
    fn new(bands: usize, rows: usize, hashfunc: Option<Py<PyAny>>) -> Self {
        let inner = Mutex::new(Entries::new(bands));
        Self { bands, rows, hashfunc, inner }
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.lock(py).keys.len()
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let key = Key::new(key);
        Ok(self.lock(py).keys.find(py, &key)?.is_some())
    }

    /// The key of each band of hash values; of a weighted MinHash, which has pairs, of rows of pairs.
    fn band_keys(&self, hashvalues: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let pairs = hashvalues.cast::<PyArray2<i64>>().is_ok();
        let width = self.rows * if pairs { 2 } else { 1 };
        let values = registers(hashvalues)?;
        if values.len() < width * self.bands {
            return Err(PyValueError::new_err("The num_perm of MinHash out of range"));
        }
        let chunks = values.chunks_exact(width).take(self.bands);
        let Some(hashfunc) = &self.hashfunc else { return Ok(chunks.map(key).collect()) };
        let py = hashvalues.py();
        let size = hashvalues.getattr("itemsize")?.extract::<usize>()?;
        let shorter = |values: &[u64]| {
            let bytes: Vec<u8> =
                values.iter().flat_map(|value| value.to_be_bytes().into_iter().skip(8 - size)).collect();
            let short = hashfunc.bind(py).call1((PyBytes::new(py, &bytes),))?;
            Ok(hash::element(short.cast::<PyBytes>()?.as_bytes()))
        };
        chunks.map(shorter).collect()
    }

    /// Adds a key with its hash values.
    fn insert(&self, key: &Bound<'_, PyAny>, hashvalues: &Bound<'_, PyAny>, check: bool) -> PyResult<()> {
        let py = key.py();
        let bands = self.band_keys(hashvalues)?;
        self.lock(py).insert(py, Key::new(key), &bands, check)
    }

    /// Adds a key with the keys of its bands.
    fn insert_bands(&self, py: Python<'_>, key: &Bound<'_, PyAny>, bands: Vec<u64>) -> PyResult<()> {
        self.check(bands.len(), self.bands)?;
        self.lock(py).insert(py, Key::new(key), &bands, false)
    }

    /// Adds a key for each row of a matrix, on all cores: integers from an array, or any objects.
    #[pyo3(signature = (keys, matrix, check, threads = None))]
    fn insert_many(
        &self,
        keys: &Bound<'_, PyAny>,
        matrix: &Bound<'_, PyAny>,
        check: bool,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let py = keys.py();
        let matrix = self.matrix(matrix)?;
        let (n, width) = matrix.shape();
        // Integers are not copied.
        let integers = keys.extract::<PyReadonlyArray1<'_, i64>>().ok();
        let objects: Vec<Key> = match &integers {
            Some(_) => Vec::new(),
            None => objects(keys)?,
        };
        let integers = integers.as_ref().map(PyReadonlyArray1::as_array);
        let got = integers.map_or(objects.len(), |integers| integers.len());
        if got != n {
            return Err(error::parameter(format!("`keys` must be {n}, one for each sketch, got {got}")));
        }
        let rows = matrix.rows()?;
        let mut inner = self.lock(py);
        if check {
            match integers {
                Some(integers) => inner.check_new_integers(py, integers.iter().copied())?,
                None => inner.check_new(py, &objects)?,
            }
        }
        inner.keys.reserve(n);
        let tables = &mut inner.tables;
        py.detach(|| tables.reserve(n));
        let integers = integers.into_iter().flat_map(|integers| integers.into_iter().copied());
        let mut keys = integers.map(Key::Integer).chain(objects);
        let mut bands = Vec::new();
        for start in (0..n).step_by(BATCH) {
            py.check_signals()?;
            let end = (start + BATCH).min(n);
            py.detach(|| self.hashed(rows, width, start..end, threads, &mut bands))?;
            if check {
                inner.insert_new(py, keys.by_ref().take(end - start), &bands)?;
            } else {
                let rows = keys.by_ref().zip(bands.chunks_exact(self.bands));
                rows.take(end - start).try_for_each(|(key, bands)| inner.insert(py, key, bands, false))?;
            }
        }
        Ok(())
    }

    /// The keys that share a band with the hash values, in the first bands only if so many are given.
    #[pyo3(signature = (hashvalues, bands = None))]
    fn query<'py>(
        &self,
        hashvalues: &Bound<'py, PyAny>,
        bands: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = hashvalues.py();
        let keys = self.band_keys(hashvalues)?;
        let mut found = Vec::new();
        let inner = self.lock(py);
        inner.tables.candidates(&keys[..bands.unwrap_or(self.bands).min(self.bands)], &mut found);
        inner.objects(py, &found)
    }

    /// A list of keys for each row of a matrix, found on all cores.
    #[pyo3(signature = (matrix, threads = None))]
    fn query_many<'py>(
        &self,
        matrix: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = matrix.py();
        let mut found: Vec<Vec<u32>> = Vec::new();
        let inner = self.look_up(matrix, threads, &mut found, |tables, keys, keep| {
            tables.candidates_of_many(keys, |candidates| keep(candidates.to_vec()));
        })?;
        let lists = found.iter().map(|entries| {
            py.check_signals()?;
            inner.objects(py, entries)
        });
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }

    /// How many keys there are for each row of a matrix.
    #[pyo3(signature = (matrix, threads = None))]
    fn count_many<'py>(
        &self,
        matrix: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut counts: Vec<u32> = Vec::new();
        drop(self.look_up(matrix, threads, &mut counts, |tables, keys, keep| {
            tables.candidates_of_many(keys, |candidates| keep(candidates.len() as u32));
        })?);
        Ok(PyArray1::from_vec(matrix.py(), counts))
    }

    /// Whether several keys share a band with each row of a matrix.
    #[pyo3(signature = (matrix, threads = None))]
    fn duplicated_many<'py>(
        &self,
        matrix: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut shared: Vec<bool> = Vec::new();
        drop(self.look_up(matrix, threads, &mut shared, |tables, keys, keep| tables.are_shared(keys, keep))?);
        Ok(PyArray1::from_vec(matrix.py(), shared))
    }

    /// Removes a key.
    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut inner = self.lock(py);
        let Some(entry) = inner.keys.find(py, &Key::new(key))? else {
            return Err(PyValueError::new_err(UNKNOWN));
        };
        inner.tables.remove(entry);
        inner.keys.remove(entry);
        Ok(())
    }

    /// All keys.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.lock(py).keys.iter().map(|(_, key)| key.object(py)).collect::<Vec<_>>())
    }

    /// The keys of the bands of a key; nothing for one that is not there.
    fn bands_of(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u64>>> {
        let mut inner = self.lock(py);
        let entry = inner.keys.find(py, &Key::new(key))?;
        Ok(entry.map(|entry| inner.tables.keys(entry).collect()))
    }

    /// The keys that have a key in a band.
    fn bucket<'py>(&self, py: Python<'py>, band: usize, key: u64) -> PyResult<Bound<'py, PyList>> {
        self.check_band(band)?;
        let inner = self.lock(py);
        let found: Vec<u32> = inner.tables.of(band, key).collect();
        inner.objects(py, &found)
    }

    /// From the key of each bucket of a band, as bytes, to the number of its members.
    fn counts<'py>(&self, py: Python<'py>, band: usize) -> PyResult<Bound<'py, PyDict>> {
        self.check_band(band)?;
        let counts = PyDict::new(py);
        for (key, n) in self.lock(py).tables.buckets(band) {
            counts.set_item(PyBytes::new(py, &key.to_be_bytes()), n)?;
        }
        Ok(counts)
    }

    /// All keys, and a matrix with the keys of their bands: what a copy is made of.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyArray2<u64>>)> {
        let inner = self.lock(py);
        let (mut keys, mut bands) = (Vec::new(), Vec::new());
        let all = inner.tables.all_keys();
        for (entry, key) in inner.keys.iter() {
            keys.push(key.object(py));
            bands.extend_from_slice(&all[entry as usize * self.bands..][..self.bands]);
        }
        let matrix = PyArray1::from_vec(py, bands).reshape([keys.len(), self.bands])?;
        Ok((PyList::new(py, keys)?, matrix))
    }

    /// Adds what [`BandTables::state`] gave.
    fn restore(&self, keys: &Bound<'_, PyList>, bands: PyReadonlyArray2<'_, u64>) -> PyResult<()> {
        let py = keys.py();
        let bands = bands.as_slice()?;
        self.check(bands.len(), keys.len() * self.bands)?;
        let mut inner = self.lock(py);
        for (key, bands) in keys.iter().zip(bands.chunks_exact(self.bands.max(1))) {
            inner.insert(py, Key::new(&key), bands, false)?;
        }
        Ok(())
    }
}

impl BandTables {
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, Entries> {
        self.inner.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn check(&self, got: usize, expected: usize) -> PyResult<()> {
        match got == expected {
            true => Ok(()),
            false => Err(error::parameter(format!("expected {expected} of them, got {got}"))),
        }
    }

    fn check_band(&self, band: usize) -> PyResult<()> {
        match band < self.bands {
            true => Ok(()),
            false => Err(error::parameter(format!("`band` must be below {}, got {band}", self.bands))),
        }
    }

    fn matrix<'py>(&self, matrix: &Bound<'py, PyAny>) -> PyResult<Matrix<'py>> {
        let matrix = Matrix::new(matrix)?;
        let min = self.bands * self.rows;
        match matrix.shape().1 >= min && self.hashfunc.is_none() {
            true => Ok(matrix),
            false => Err(error::parameter(format!(
                "bulk calls take a matrix of at least {min} columns, and an index without `hashfunc`"
            ))),
        }
    }

    fn hashed(
        &self,
        rows: Rows<'_>,
        width: usize,
        range: std::ops::Range<usize>,
        threads: Option<usize>,
        out: &mut Vec<u64>,
    ) -> PyResult<()> {
        out.clear();
        out.resize(range.len() * self.bands, 0);
        division(range.len(), self.bands, threads).fill(out, |part, out| {
            for (row, out) in part.zip(out.chunks_exact_mut(self.bands)) {
                let start = (range.start + row) * width;
                keys(rows, start..start + self.bands * self.rows, out);
            }
            Ok(())
        })
    }

    /// Looks up all rows of a matrix: `ask` is given the keys of many of them, and keeps something for each.
    fn look_up<'a, T: Default + Clone + Send>(
        &'a self,
        matrix: &Bound<'_, PyAny>,
        threads: Option<usize>,
        out: &mut Vec<T>,
        ask: impl Fn(&Tables, &[u64], &mut dyn FnMut(T)) + Sync,
    ) -> PyResult<MutexGuard<'a, Entries>> {
        let py = matrix.py();
        let matrix = self.matrix(matrix)?;
        let (n, width) = matrix.shape();
        let rows = matrix.rows()?;
        out.resize(n, T::default());
        let inner = self.lock(py);
        let tables = &inner.tables;
        py.detach(|| {
            division(n, 1, threads).fill(out, |part, out| {
                let mut bands = vec![0; part.len() * self.bands];
                for (row, bands) in part.zip(bands.chunks_exact_mut(self.bands)) {
                    keys(rows, row * width..row * width + self.bands * self.rows, bands);
                }
                let mut out = out.iter_mut();
                ask(tables, &bands, &mut |found| {
                    if let Some(out) = out.next() {
                        *out = found;
                    }
                });
                Ok(())
            })
        })?;
        Ok(inner)
    }
}

/// Few rows at a time, because each may find very many keys.
fn division(n: usize, width: usize, threads: Option<usize>) -> Division {
    Division { n, width, at_a_time: parallel::ROWS, threads: parallel::threads(threads) }
}

fn objects(keys: &Bound<'_, PyAny>) -> PyResult<Vec<Key>> {
    let iterator = keys.try_iter();
    let iterator = iterator.map_err(|_| error::unfit("keys", "a list or another iterable of keys", keys))?;
    iterator.map(|key| Ok(Key::new(&key?))).collect()
}

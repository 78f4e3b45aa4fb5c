//! Keys of Python and the keys of their bands, under the same numbers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use benzer_core::hash;
use benzer_core::lsh::Tables;

use super::keys::{Key, Keys};
use super::registers::Rows;

const TAKEN: &str = "The given key already exists";
/// The odd constant of [`key`]: the golden ratio.
const FOLD: u64 = 0x9e37_79b9_7f4a_7c15;

pub(super) struct Entries {
    pub(super) tables: Tables,
    pub(super) keys: Keys,
}

impl Entries {
    pub(super) fn new(bands: usize) -> Self {
        Self { tables: Tables::new(bands), keys: Keys::default() }
    }

    pub(super) fn objects<'py>(&self, py: Python<'py>, entries: &[u32]) -> PyResult<Bound<'py, PyList>> {
        let keys = entries.iter().filter_map(|&entry| Some(self.keys.of(entry)?.object(py)));
        PyList::new(py, keys.collect::<Vec<_>>())
    }

    /// Adds a key with the keys of its bands; one that is there is refused or replaced.
    pub(super) fn insert(&mut self, py: Python<'_>, key: Key, bands: &[u64], check: bool) -> PyResult<()> {
        if let Some(entry) = self.keys.find(py, &key)? {
            if check {
                return Err(PyValueError::new_err(TAKEN));
            }
            // A key that is given again replaces its bands.
            self.tables.remove(entry);
            self.keys.remove(entry);
        }
        let entry = self.tables.insert(bands);
        self.keys.insert(py, key, entry)
    }

    /// Adds keys that are not there yet, with the keys of their bands one after the other.
    pub(super) fn insert_new(
        &mut self,
        py: Python<'_>,
        keys: impl Iterator<Item = Key>,
        bands: &[u64],
    ) -> PyResult<()> {
        let mut entries = Vec::with_capacity(bands.len() / self.tables.bands());
        let tables = &mut self.tables;
        py.detach(|| tables.extend(bands, |entry| entries.push(entry)));
        entries.into_iter().zip(keys).try_for_each(|(entry, key)| self.keys.insert(py, key, entry))
    }

    /// Refuses integers that are there already, or twice among the new ones.
    pub(super) fn check_new_integers(
        &mut self,
        py: Python<'_>,
        integers: impl Iterator<Item = i64> + Clone,
    ) -> PyResult<()> {
        // Those that grow are all different.
        if self.keys.len() == 0 && integers.clone().is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        self.check_new(py, &integers.map(Key::Integer).collect::<Vec<_>>())
    }

    /// Refuses keys that are there already, or twice among the new ones.
    pub(super) fn check_new(&mut self, py: Python<'_>, keys: &[Key]) -> PyResult<()> {
        let taken = || Err(PyValueError::new_err(TAKEN));
        if self.keys.len() > 0 {
            for key in keys {
                if self.keys.find(py, key)?.is_some() {
                    return taken();
                }
            }
        }
        // Integers that grow are all different.
        let grow = |pair: &[Key]| matches!(pair, [Key::Integer(a), Key::Integer(b)] if a < b);
        if keys.windows(2).all(grow) {
            return Ok(());
        }
        let mut new = Keys::default();
        for (key, i) in keys.iter().zip(0..) {
            if new.find(py, key)?.is_some() {
                return taken();
            }
            new.insert(py, Key::new(&key.object(py)), i)?;
        }
        Ok(())
    }
}

/// The keys of bands, whose values are a range of some rows; as many as `out` has room for.
pub(super) fn keys(rows: Rows<'_>, range: std::ops::Range<usize>, out: &mut [u64]) {
    fn each<T: Copy + Into<u64>>(values: &[T], out: &mut [u64]) {
        let rows = values.len() / out.len().max(1);
        for (out, band) in out.iter_mut().zip(values.chunks_exact(rows.max(1))) {
            *out = key(band);
        }
    }
    match rows {
        Rows::Bytes(values) => each(&values[range], out),
        Rows::Shorts(values) => each(&values[range], out),
        Rows::Words(values) => each(&values[range], out),
        Rows::Longs(values) => each(&values[range], out),
    }
}

/// The key of a band: its values, folded two by two. Values may have few bits, so every one of them goes through a multiplication.
#[inline]
pub(super) fn key<T: Copy + Into<u64>>(values: &[T]) -> u64 {
    let (pairs, rest) = values.as_chunks::<2>();
    let folded =
        pairs.iter().fold(hash::FINISH, |state, &[a, b]| hash::fold(a.into() ^ state, b.into() ^ FOLD));
    hash::mix(rest.iter().fold(folded, |state, &last| hash::fold(last.into() ^ state, FOLD)))
}

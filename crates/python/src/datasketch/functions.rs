//! The hash functions of a MinHash, and what is done with its hash values.

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use benzer_core::sketch::{Scheme, permutations};

use super::registers::{array, registers};
use super::tokens::{TOGETHER, Tokens};
use crate::error;
use crate::parallel::{self, Division};

/// What hashing a token takes, in registers that are lowered by it.
const HASHING: usize = 400;

/// The hash functions of one of datasketch's schemes.
#[pyclass(frozen, module = "benzer._benzer")]
pub(crate) struct Functions {
    scheme: Scheme,
    inner: permutations::Functions,
}

#[pymethods]
impl Functions {
    #[new]
    #[pyo3(signature = (scheme, num_perm, seed, parameters = None))]
    fn new(
        scheme: &str,
        num_perm: usize,
        seed: Option<u64>,
        parameters: Option<(PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u64>)>,
    ) -> PyResult<Self> {
        let scheme = named(scheme)?;
        let inner = match (parameters, seed) {
            (Some((a, b)), _) => {
                let pairs = a.as_array().iter().copied().zip(b.as_array().iter().copied()).collect();
                permutations::Functions::given(scheme, pairs)
            }
            (None, Some(seed)) => permutations::Functions::draw(scheme, num_perm, seed),
            (None, None) => return Err(PyValueError::new_err("Seed must be between 0 and 2**32 - 1")),
        };
        Ok(Self { scheme, inner: inner.map_err(error::core)? })
    }

    /// The parameters a and b of all functions.
    fn parameters<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        let (a, b) = self.inner.parameters().iter().copied().unzip();
        (array(py, self.scheme, a), array(py, self.scheme, b))
    }

    /// Hash values lowered by one token.
    fn update<'py>(
        &self,
        hashvalues: &Bound<'py, PyAny>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut tokens = Tokens::default();
        tokens.push(token)?;
        self.lowered(hashvalues, &tokens)
    }

    /// Hash values lowered by many tokens.
    fn update_batch<'py>(
        &self,
        hashvalues: &Bound<'py, PyAny>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut copies = Tokens::default();
        copies.extend(tokens, || "b".to_owned())?;
        self.lowered(hashvalues, &copies)
    }

    /// Hash values lowered by tokens that were hashed already.
    fn update_hashed<'py>(
        &self,
        hashvalues: &Bound<'py, PyAny>,
        hashes: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = hashvalues.py();
        let mut lowered = registers(hashvalues)?;
        let hashes = hashes.as_array().to_vec();
        py.detach(|| self.inner.lower(&hashes, &mut lowered));
        Ok(array(py, self.scheme, lowered))
    }

    /// A list with the hash values of each list of tokens, made on all cores.
    #[pyo3(signature = (sets, threads = None))]
    fn bulk<'py>(
        &self,
        sets: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = sets.py();
        let (mut tokens, mut ends) = (Tokens::default(), vec![0]);
        for (i, set) in sets.try_iter()?.enumerate() {
            tokens.extend(&set?, || format!("b[{i}]"))?;
            ends.push(tokens.len());
        }
        let (n, k) = (ends.len() - 1, self.inner.parameters().len());
        let mut matrix = vec![0; n * k];
        py.detach(|| {
            let steps = tokens.len().saturating_mul(k + HASHING);
            let at_a_time = parallel::at_a_time(parallel::ROWS, n, steps);
            let all = Division { n, width: k, at_a_time, threads: parallel::threads(threads) };
            all.fill(&mut matrix, |rows, out| {
                let mut hashes = Vec::new();
                let mut lowered = Vec::new();
                for (row, out) in rows.zip(out.chunks_exact_mut(k)) {
                    tokens.hashes(ends[row]..ends[row + 1], self.width(), &mut hashes);
                    lowered.clear();
                    lowered.resize(k, self.inner.empty());
                    self.inner.lower(&hashes, &mut lowered);
                    out.copy_from_slice(&lowered);
                }
                Ok(())
            })
        })?;
        Ok(matrix.chunks_exact(k).map(|row| array(py, self.scheme, row.to_vec())).collect())
    }
}

impl Functions {
    /// Bytes of SHA-1 that are a token's hash.
    fn width(&self) -> usize {
        if self.scheme == Scheme::Affine64 { 8 } else { 4 }
    }

    fn lowered<'py>(&self, hashvalues: &Bound<'py, PyAny>, tokens: &Tokens) -> PyResult<Bound<'py, PyAny>> {
        let py = hashvalues.py();
        if tokens.len() == 0 {
            return Ok(hashvalues.clone());
        }
        let mut lowered = registers(hashvalues)?;
        if lowered.len() != self.inner.parameters().len() {
            return Err(PyValueError::new_err("Numbers of hash values and permutations mismatch"));
        }
        let mut hashes = Vec::with_capacity(tokens.len().min(TOGETHER));
        for start in (0..tokens.len()).step_by(TOGETHER) {
            let together = start..(start + TOGETHER).min(tokens.len());
            py.check_signals()?;
            py.detach(|| {
                tokens.hashes(together, self.width(), &mut hashes);
                self.inner.lower(&hashes, &mut lowered);
            });
        }
        Ok(array(py, self.scheme, lowered))
    }
}

/// How many hash values two arrays share, place by place.
#[pyfunction]
pub(super) fn equal(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let (Ok(a), Ok(b)) = (a.cast::<PyArray1<u32>>(), b.cast::<PyArray1<u32>>()) {
        let (a, b) = (a.readonly(), b.readonly());
        return Ok(a.as_array().iter().zip(b.as_array()).filter(|(a, b)| a == b).count());
    }
    let (a, b) = (registers(a)?, registers(b)?);
    Ok(a.iter().zip(&b).filter(|(a, b)| a == b).count())
}

/// The smaller hash value at each place of two arrays.
#[pyfunction]
pub(super) fn smaller<'py>(
    scheme: &str,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut smaller, other) = (registers(a)?, registers(b)?);
    smaller.iter_mut().zip(other).for_each(|(smaller, other)| *smaller = (*smaller).min(other));
    Ok(array(a.py(), named(scheme)?, smaller))
}

fn named(scheme: &str) -> PyResult<Scheme> {
    match scheme {
        "legacy" => Ok(Scheme::Legacy),
        "affine32" => Ok(Scheme::Affine32),
        "affine64" => Ok(Scheme::Affine64),
        other => Err(PyValueError::new_err(format!(
            "`scheme` must be legacy, affine32 or affine64, got `{other}`"
        ))),
    }
}

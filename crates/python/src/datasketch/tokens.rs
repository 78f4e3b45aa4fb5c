//! Tokens as datasketch takes them: anything with bytes, hashed by the first bytes of SHA-1.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString, PyTuple};
use sha1::{Digest, Sha1};

use crate::error;

/// Tokens that are taken, or hashed, before signals are looked for.
pub(super) const TOGETHER: usize = 1 << 14;

/// Copies of tokens, one after the other, so that they can be hashed without the interpreter's lock.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Tokens {
    /// Adds the tokens of any iterable, whose name is told where it is none.
    pub(crate) fn extend(
        &mut self,
        tokens: &Bound<'_, PyAny>,
        name: impl FnOnce() -> String,
    ) -> PyResult<()> {
        if let Ok(list) = tokens.cast::<PyList>() {
            return list.iter().try_for_each(|token| self.push_seen(&token));
        }
        if let Ok(tuple) = tokens.cast::<PyTuple>() {
            return tuple.iter_borrowed().try_for_each(|token| self.push_seen(&token));
        }
        let iterator = tokens.try_iter();
        let mut iterator =
            iterator.map_err(|_| error::unfit(&name(), "a list or another iterable of bytes", tokens))?;
        iterator.try_for_each(|token| self.push_seen(&token?))
    }

    /// Adds a token, and looks for signals now and then.
    fn push_seen(&mut self, token: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.ends.len().is_multiple_of(TOGETHER) {
            token.py().check_signals()?;
        }
        self.push(token)
    }

    pub(crate) fn push(&mut self, token: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = token.cast::<PyBytes>() {
            self.bytes.extend_from_slice(bytes.as_bytes());
        } else if let Ok(bytes) = token.cast::<PyByteArray>() {
            self.bytes.extend(bytes.to_vec());
        } else if token.is_instance_of::<PyString>() {
            let repr = token.repr()?;
            return Err(PyTypeError::new_err(format!(
                "Strings must be encoded before hashing: give {repr}.encode()"
            )));
        } else {
            self.bytes.extend_from_slice(buffer(token)?.as_bytes());
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The hashes of the tokens of a range: the first `width` bytes of SHA-1, the lowest first.
    pub(crate) fn hashes(&self, range: std::ops::Range<usize>, width: usize, out: &mut Vec<u64>) {
        out.clear();
        let mut start = if range.start == 0 { 0 } else { self.ends[range.start - 1] };
        for &end in &self.ends[range] {
            let digest = Sha1::digest(&self.bytes[start..end]);
            out.push(digest[..width].iter().rev().fold(0, |hash, &byte| hash << 8 | u64::from(byte)));
            start = end;
        }
    }
}

/// The bytes of an object with a buffer, such as a number of NumPy.
fn buffer<'py>(token: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let view = token.py().import("builtins")?.getattr("memoryview")?.call1((token,));
    let view = view.map_err(|_| error::unfit("b", "bytes, or an object supporting the buffer API", token))?;
    Ok(view.call_method0("tobytes")?.cast_into()?)
}

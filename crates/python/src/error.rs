//! Errors of the crates as Python exceptions, which `benzer.errors` defines.

use pyo3::prelude::*;
use pyo3::types::PyType;

/// An exception of `benzer.errors` by its name; the engine's message becomes one in Python's words.
pub(crate) fn exception(name: &str, message: String) -> PyErr {
    let made = |py: Python<'_>| -> PyResult<PyErr> {
        let module = py.import("benzer.errors")?;
        let class = module.getattr(name)?.cast_into::<PyType>()?;
        let message = module.getattr("in_python")?.call1((&message,))?;
        Ok(PyErr::from_type(class, message.unbind()))
    };
    Python::attach(|py| {
        made(py).unwrap_or_else(|_| pyo3::exceptions::PyRuntimeError::new_err(message.clone()))
    })
}

pub(crate) fn core(error: benzer_core::Error) -> PyErr {
    use benzer_core::Error;
    let name = match &error {
        Error::Parameter { .. } => "ParameterError",
        Error::SpecMismatch { .. } => "SpecMismatchError",
        Error::Unsupported { .. } => "UnsupportedError",
        Error::Decode { .. } => "DecodeError",
        Error::Field { .. } | Error::Content { .. } | Error::Schema(_) => "SchemaError",
        _ => "BenzerError",
    };
    exception(name, error.to_string())
}

pub(crate) fn dedup(error: impl Into<benzer_dedup::Error>) -> PyErr {
    use benzer_dedup::Error;
    let error = error.into();
    match error {
        Error::Core(error) => core(error),
        Error::Parameter(_) => exception("ParameterError", error.to_string()),
        Error::Cancelled => exception("CancelledError", error.to_string()),
        _ => exception("DedupError", error.to_string()),
    }
}

pub(crate) fn spark(error: benzer_spark::Error) -> PyErr {
    match error {
        benzer_spark::Error::Dedup(error) => dedup(error),
        other => exception("DedupError", other.to_string()),
    }
}

pub(crate) fn index(error: benzer_index::Error) -> PyErr {
    use benzer_index::Error;
    match error {
        Error::Core(error) => core(error),
        Error::Parameter { .. } => exception("ParameterError", error.to_string()),
        Error::NoCollection { .. } | Error::NoDocument { .. } => {
            exception("NotFoundError", error.to_string())
        }
        Error::Exists { .. } => exception("ExistsError", error.to_string()),
        _ => exception("StoreError", error.to_string()),
    }
}

/// An argument that is not what it must be, told as the checks of `benzer.arguments` do.
pub(crate) fn unfit(name: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let wrong = got.py().import("benzer.arguments").and_then(|module| module.getattr("wrong"));
    wrong.and_then(|wrong| wrong.call1((name, expected, got))).map_or_else(|error| error, PyErr::from_value)
}

/// An argument that is not a string, or has halves of surrogate pairs.
pub(crate) fn no_string(name: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let check = got.py().import("benzer.arguments").and_then(|module| module.getattr("string"));
    let checked = check.and_then(|check| check.call1((name, got)));
    checked.map_or_else(|error| error, |_| unfit(name, "a string", got))
}

/// What an argument must be, if it is that.
pub(crate) fn argument<'a, 'py, T: FromPyObject<'a, 'py>>(
    name: &str,
    expected: &str,
    got: &'a Bound<'py, PyAny>,
) -> PyResult<T> {
    got.extract().map_err(|_| unfit(name, expected, got))
}

/// Arguments that only a direct call of the extension module can have.
pub(crate) fn parameter(message: impl Into<String>) -> PyErr {
    exception("ParameterError", message.into())
}

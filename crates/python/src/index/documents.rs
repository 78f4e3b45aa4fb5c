//! Documents as Python gives them: contents are taken as they are, so that what is wrong with one is told of it, and the others go in.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString};

use benzer_core::field::{Content, Document, Value};

/// What is wrong with a document, in words.
type Trouble = String;

/// A document of an id and contents by field. Errors: what handling a signal or looking at an object raises. A content of a wrong type is the inner error.
pub(super) fn document(id: String, fields: &Bound<'_, PyDict>) -> PyResult<Result<Document, Trouble>> {
    let mut contents = BTreeMap::new();
    for (name, given) in fields {
        let name: String = name.extract()?;
        match content(&given)? {
            Ok(content) => contents.insert(name, content),
            Err(trouble) => return Ok(Err(format!("field `{name}`: {trouble}"))),
        };
    }
    Ok(Ok(Document { id, fields: contents }))
}

fn content(given: &Bound<'_, PyAny>) -> PyResult<Result<Content, Trouble>> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(string(text).map(Content::Text));
    }
    if let Ok(counts) = given.cast::<PyDict>() {
        return self::counts(counts);
    }
    if given.is_instance_of::<PyBytes>() {
        return Ok(Err(format!("{}; decode it first, such as with .decode('utf8')", shown(given)?)));
    }
    let Ok(iterator) = given.try_iter() else {
        let expected = "neither text, a list of values nor a dictionary of counts";
        return Ok(Err(format!("{} is {expected}", shown(given)?)));
    };
    let mut values = Vec::new();
    for (i, one) in iterator.enumerate() {
        match value(&one?)? {
            Ok(value) => values.push(value),
            Err(trouble) => return Ok(Err(format!("value {i}: {trouble}"))),
        }
    }
    Ok(Ok(Content::Values(values)))
}

fn value(given: &Bound<'_, PyAny>) -> PyResult<Result<Value, Trouble>> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(string(text).map(Value::Text));
    }
    let is_integer = given.is_instance_of::<PyInt>() || given.hasattr("__index__")?;
    if is_integer
        && !given.is_instance_of::<PyBool>()
        && let Ok(integer) = given.extract::<i128>()
    {
        return Ok(Ok(Value::Integer(integer)));
    }
    Ok(Err(format!("{} is neither a string nor an integer; write it as a string", shown(given)?)))
}

fn counts(given: &Bound<'_, PyDict>) -> PyResult<Result<Content, Trouble>> {
    let mut counts = BTreeMap::new();
    for (key, count) in given {
        let key = match value(&key)? {
            Ok(Value::Text(text)) => text,
            Ok(Value::Integer(integer)) => integer.to_string(),
            Err(trouble) => return Ok(Err(trouble)),
        };
        let Ok(count) = count.extract::<f64>() else {
            return Ok(Err(format!("the count of `{key}` must be a number, got {}", shown(&count)?)));
        };
        *counts.entry(key).or_insert(0.0) += count;
    }
    Ok(Ok(Content::Counts(counts)))
}

fn string(text: &Bound<'_, PyString>) -> Result<String, Trouble> {
    let string = text.to_str().map(str::to_owned);
    string.map_err(|_| "a text that is not valid Unicode: it has half of a surrogate pair".to_owned())
}

fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("benzer.arguments")?.getattr("shown")?.call1((value,))?.extract()
}

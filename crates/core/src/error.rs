//! What can go wrong in the core, always as expected and got.

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the core. Messages name what was expected and what was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error(transparent)]
    Parameter(#[from] Parameter),
    /// Two sketches were made under different specs and cannot be compared or merged.
    #[error("sketches of different specs: expected {expected}, got {got}; make both with the same settings")]
    SpecMismatch {
        /// The spec of the first sketch.
        expected: String,
        /// The spec of the other one.
        got: String,
    },
    /// The operation does not exist for this family or packing.
    #[error("{operation} is not possible for {sketch}: {remedy}")]
    Unsupported {
        /// What was asked.
        operation: &'static str,
        /// Family and packing.
        sketch: String,
        /// Why, and what to do instead.
        remedy: &'static str,
    },
    /// Bytes that are not a sketch, or not one of a version this build reads.
    #[error("cannot decode: expected {expected}, got {got}")]
    Decode {
        /// What should have been there.
        expected: String,
        /// What was there.
        got: String,
    },
    /// Something is wrong with one named field of a schema or a document.
    #[error("field `{field}`: {source}")]
    Field {
        /// The field's name.
        field: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A document's content does not suit the kind of its field.
    #[error("content must be {expected}, got {got}")]
    Content {
        /// What the field's kind takes.
        expected: &'static str,
        /// What the document holds.
        got: &'static str,
    },
    /// A picture that cannot be read: too large, of another format, or damaged.
    #[error("{0}")]
    Image(String),
    /// A schema that cannot be read: an unknown option, kind or type.
    #[error("{0}")]
    Schema(String),
}

impl Error {
    /// A parameter outside its range: its name as the user knows it, the range in words, the value that was given.
    pub fn parameter(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Parameter::new(name, expected, got).into()
    }

    pub(crate) fn in_field(self, field: &str) -> Self {
        Self::Field { field: field.to_owned(), source: Box::new(self) }
    }

    pub(crate) fn decode(expected: impl Into<String>, got: impl ToString) -> Self {
        Self::Decode { expected: expected.into(), got: got.to_string() }
    }
}

/// A parameter outside its range, for the errors of all crates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` must be {expected}, got {got}")]
pub struct Parameter {
    /// The parameter as the user knows it.
    pub name: &'static str,
    /// The allowed range in words.
    pub expected: String,
    /// The offending value.
    pub got: String,
}

impl Parameter {
    /// From any text and value.
    pub fn new(name: &'static str, expected: impl Into<String>, got: impl ToString) -> Self {
        Self { name, expected: expected.into(), got: got.to_string() }
    }
}

//! Documents: an id and named contents, as users write them in JSON.

use std::{collections::BTreeMap, fmt};

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A unique id and the contents of named fields.
///
/// In JSON a field is a string (text), a list of strings and integers (values), or an object from value to
/// count (values with counts). A field that is `null` is a field that is missing.
///
/// ```
/// use benzer_core::field::{Content, Document};
/// let json = r#"{"id": "7", "fields": {"body": "Hello", "tags": ["a", 5], "basket": {"milk": 2}, "note": null}}"#;
/// let document: Document = serde_json::from_str(json).unwrap();
/// assert_eq!(document.fields["body"], Content::from("Hello"));
/// assert_eq!(document.fields.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Identifies the document within its collection.
    pub id: String,
    /// Contents by field name.
    #[serde(default, deserialize_with = "without_nulls")]
    pub fields: BTreeMap<String, Content>,
}

/// What one field of a document holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Running text.
    Text(String),
    /// Values; a repeated one counts as often as it occurs, where counts matter.
    Values(Vec<Value>),
    /// Values with their counts.
    Counts(BTreeMap<String, f64>),
}

/// One value: a string or an integer.
///
/// An integer is the same value as its decimal text: `5` and `"5"` are one value, `"05"` is another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A string, taken byte for byte.
    Text(String),
    /// An integer.
    Integer(i128),
}

impl Document {
    /// A document from an id and its fields.
    pub fn new<N: Into<String>>(
        id: impl Into<String>,
        fields: impl IntoIterator<Item = (N, Content)>,
    ) -> Self {
        let fields = fields.into_iter().map(|(name, content)| (name.into(), content)).collect();
        Self { id: id.into(), fields }
    }
}

impl Content {
    /// Values from anything that turns into them.
    pub fn values<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Self {
        Self::Values(values.into_iter().map(Into::into).collect())
    }

    /// The type in words, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Values(_) => "a list of values",
            Self::Counts(_) => "an object of counts",
        }
    }
}

impl<T: Into<String>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(integer: u64) -> Self {
        Self::Integer(integer.into())
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Self::Integer(integer.into())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Written by hand because the derived error of an untagged enum names no expectation.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a list of strings and integers, or an object of counts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Content::Values(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut counts = BTreeMap::new();
        while let Some((value, count)) = map.next_entry::<String, f64>()? {
            *counts.entry(value).or_insert(0.0) += count;
        }
        Ok(Content::Counts(counts))
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer (write any other value as a string)")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::from(integer))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Value, E> {
        Ok(Value::from(integer))
    }
}

fn without_nulls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Content>, D::Error> {
    let fields = BTreeMap::<String, Option<Content>>::deserialize(deserializer)?;
    Ok(fields.into_iter().filter_map(|(name, content)| Some((name, content?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_survives_a_round_trip() {
        let document = Document::new(
            "x",
            [
                ("body", Content::from("text")),
                ("tags", Content::Values(vec![Value::from("a"), Value::from(-5i64)])),
                ("basket", Content::Counts(BTreeMap::from([("milk".to_owned(), 2.0)]))),
            ],
        );
        let json = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document);
    }

    #[test]
    fn a_wrong_type_says_what_was_expected() {
        let message = |json: &str| serde_json::from_str::<Document>(json).unwrap_err().to_string();
        let text = message(r#"{"id": "1", "fields": {"body": 5}}"#);
        assert!(text.contains("integer `5`, expected text, a list of strings"), "{text}");
        let value = message(r#"{"id": "1", "fields": {"tags": ["a", 1.5]}}"#);
        assert!(value.contains("`1.5`, expected a string or an integer"), "{value}");
        assert!(message(r#"{"id": "1", "body": "x"}"#).contains("unknown field `body`"));
    }

    #[test]
    fn the_largest_integers_are_values() {
        let json = format!(r#"{{"id": "1", "fields": {{"n": [{}, {}]}}}}"#, u64::MAX, i64::MIN);
        let document: Document = serde_json::from_str(&json).unwrap();
        let expected = vec![Value::Integer(u64::MAX.into()), Value::Integer(i64::MIN.into())];
        assert_eq!(document.fields["n"], Content::Values(expected));
    }
}

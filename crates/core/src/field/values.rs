//! Values: a set of strings or integers, or a bag with counts.
//!
//! An element is `hash::element` of the value's bytes, with no normalization at all: `Red` and `red` differ.
//! An integer hashes as its decimal text, so `5` and `"5"` are one value.

use std::io::{Cursor, Write};

use serde::{Deserialize, Serialize};

use super::pipeline::{self, PipelineId};
use super::{Content, Value};
use crate::{Error, Features, Result, hash};

/// How a `values` field is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ValuesOptions {
    /// Count repeated values instead of ignoring the repetition.
    pub bag: bool,
}

impl ValuesOptions {
    /// Names the rules that [`features`](Self::features) follows.
    pub fn pipeline(&self) -> PipelineId {
        PipelineId::new("values-v1", [pipeline::counting(self.bag), "64".to_owned()])
    }

    /// The features of a list of values or an object of counts.
    ///
    /// A set contains every value whose count is above zero.
    ///
    /// # Errors
    /// Text instead of values; a count that is negative or not finite.
    pub fn features(&self, content: &Content) -> Result<Features> {
        match content {
            Content::Values(values) if self.bag => Ok(Features::bag(values.iter().map(element))),
            Content::Values(values) => Ok(Features::set(values.iter().map(element))),
            Content::Counts(counts) => {
                let pairs = counts.iter().map(|(value, &count)| (hash::element(value.as_bytes()), count));
                let bag = Features::weighted(pairs)?;
                Ok(if self.bag { bag } else { Features::from_vec(bag.elements().to_vec()) })
            }
            Content::Text(_) => {
                let expected = "a list of values or an object of counts";
                Err(Error::Content { expected, got: content.describe() })
            }
        }
    }
}

/// The element of one value.
pub fn element(value: &Value) -> u64 {
    match value {
        Value::Text(text) => hash::element(text.as_bytes()),
        Value::Integer(integer) => {
            let mut decimal = Cursor::new([0u8; 40]);
            write!(decimal, "{integer}").expect("no 128-bit integer has more than 40 characters");
            let length = decimal.position() as usize;
            hash::element(&decimal.get_ref()[..length])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn an_integer_is_its_decimal_text() {
        for integer in [0, 5, -17, i128::MIN, i128::MAX] {
            assert_eq!(element(&Value::Integer(integer)), element(&Value::Text(integer.to_string())));
        }
        let mixed = Content::Values(vec![Value::from(5i64), Value::from("5")]);
        assert_eq!(ValuesOptions::default().features(&mixed).unwrap().len(), 1);
    }

    #[test]
    fn a_bag_counts_by_repetition_or_by_object() {
        let options = ValuesOptions { bag: true };
        let listed = options.features(&Content::values(["milk", "bread", "milk"])).unwrap();
        let counted = Content::Counts(BTreeMap::from([("milk".into(), 2.0), ("bread".into(), 1.0)]));
        assert_eq!(listed, options.features(&counted).unwrap());
        assert_eq!(listed.size(), 3.0);
    }

    #[test]
    fn a_set_ignores_counts_and_leaves_out_zero() {
        let counts = Content::Counts(BTreeMap::from([("a".into(), 9.0), ("b".into(), 0.0)]));
        let set = ValuesOptions::default().features(&counts).unwrap();
        assert_eq!(set, Features::set([hash::element(b"a")]));
    }

    #[test]
    fn text_and_negative_counts_are_refused() {
        let options = ValuesOptions::default();
        let error = options.features(&Content::from("x")).unwrap_err();
        assert_eq!(error.to_string(), "content must be a list of values or an object of counts, got text");
        assert!(options.features(&Content::Counts(BTreeMap::from([("a".into(), -1.0)]))).is_err());
    }
}

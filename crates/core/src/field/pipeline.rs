//! The pipeline id: a name for everything that decides which elements a field's content becomes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::hash;

/// The Unicode version of every table in use; a test holds all the crates to it.
pub(crate) const UNICODE: &str = "u16.0";

/// Names the rules by which content becomes elements, such as
/// `text-v1.h1/words5/nfkc+lower/uax29/u16.0/set/64`.
///
/// Two fields with the same id make the same elements of the same content, in any build on any machine. Two
/// fields with different ids make elements that must not be compared. The parts are: kind and version of its
/// rules, version of the element hash, unit and n, normalization, segmentation and stop words, Unicode
/// version, set or bag, bits of an element; a part that cannot matter (the Unicode version of byte shingles)
/// is left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PipelineId(String);

impl PipelineId {
    pub(crate) fn new(kind: &str, parts: impl IntoIterator<Item = String>) -> Self {
        let head = format!("{kind}.h{}", hash::VERSION);
        Self(parts.into_iter().fold(head, |id, part| id + "/" + &part))
    }

    /// The id in words.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PipelineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The part that says whether repetition counts.
pub(crate) fn counting(bag: bool) -> String {
    if bag { "bag" } else { "set" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_shows_kind_hash_version_and_parts() {
        let id = PipelineId::new("values-v1", [counting(true), "64".to_owned()]);
        assert_eq!(id.to_string(), "values-v1.h1/bag/64");
    }

    #[test]
    fn every_table_is_of_the_same_unicode_version() {
        let (major, minor, _) = unicode_normalization::UNICODE_VERSION;
        let expected = (u64::from(major), u64::from(minor), 0);
        assert_eq!(UNICODE, format!("u{major}.{minor}"));
        assert_eq!(unicode_case_mapping::UNICODE_VERSION, expected);
        assert_eq!(unicode_general_category::UNICODE_VERSION, expected);
        assert_eq!(unicode_script::UNICODE_VERSION, expected);
        assert_eq!(unicode_segmentation::UNICODE_VERSION, expected);
    }
}

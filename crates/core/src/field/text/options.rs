//! What can be chosen about a text field, and the name of each choice.

use serde::{Deserialize, Serialize};

use crate::field::pipeline::{self, PipelineId, UNICODE};
use crate::{Error, Result};

/// How text becomes elements. The default is sets of 5 words, NFKC, lower case, punctuation dropped, 64-bit
/// elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextOptions {
    /// What a shingle is made of.
    pub unit: Unit,
    /// Tokens per shingle, at least 1.
    pub n: usize,
    /// Normalize to Unicode form NFKC. Bytes are never normalized.
    pub nfkc: bool,
    /// Fold to lower case. Bytes are never folded.
    pub lower: bool,
    /// Remove diacritics, so that `résumé` and `resume` are one.
    pub strip_diacritics: bool,
    /// What happens to punctuation between words; characters and bytes always keep it.
    pub punctuation: Punctuation,
    /// Languages whose stop words are left out, as codes such as `en`; words only.
    pub stop_words: Vec<String>,
    /// Count repeated shingles instead of ignoring the repetition.
    pub bag: bool,
    /// How many bits of an element's hash are used.
    pub bits: Bits,
}

/// The unit of a shingle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Words; character bigrams in scripts without spaces.
    #[default]
    Words,
    /// Unicode scalar values of the normalized text.
    #[serde(alias = "chars")]
    Characters,
    /// Bytes of the text as it is.
    Bytes,
}

/// What happens to punctuation and symbols between words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Punctuation {
    /// Words without a letter or number are dropped, typographic apostrophes become plain ones and invisible
    /// characters vanish.
    #[default]
    Drop,
    /// Every visible word is a token, also a comma or an emoji.
    Keep,
}

/// The width of an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub enum Bits {
    /// The whole hash.
    #[default]
    B64,
    /// Its upper half, the four-byte element of the textbooks: smaller universe, some collisions in long
    /// texts.
    B32,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            unit: Unit::default(),
            n: 5,
            nfkc: true,
            lower: true,
            strip_diacritics: false,
            punctuation: Punctuation::default(),
            stop_words: Vec::new(),
            bag: false,
            bits: Bits::default(),
        }
    }
}

impl TextOptions {
    pub(super) fn check(&self) -> Result<()> {
        if self.n == 0 {
            return Err(Error::parameter("n", "at least 1", 0));
        }
        if self.unit != Unit::Words && !self.stop_words.is_empty() {
            let got = format!("{:?} for {}", self.stop_words, self.unit.name());
            return Err(Error::parameter("stop_words", "empty unless the unit is words", got));
        }
        Ok(())
    }

    /// The id of the pipeline; `stop` names the stop words.
    pub(super) fn pipeline(&self, stop: Option<&str>) -> PipelineId {
        let mut parts = vec![format!("{}{}", self.unit.name(), self.n)];
        if self.unit == Unit::Bytes {
            parts.push("raw".to_owned());
        } else {
            parts.push(self.normalization());
            parts.extend((self.unit == Unit::Words).then(|| self.segmentation(stop)));
            parts.push(UNICODE.to_owned());
        }
        parts.push(pipeline::counting(self.bag));
        parts.push(u32::from(self.bits).to_string());
        PipelineId::new("text-v1", parts)
    }

    fn normalization(&self) -> String {
        let steps = [(self.nfkc, "nfkc"), (self.lower, "lower"), (self.strip_diacritics, "strip")];
        let taken: Vec<&str> = steps.into_iter().filter_map(|(taken, name)| taken.then_some(name)).collect();
        if taken.is_empty() { "raw".to_owned() } else { taken.join("+") }
    }

    fn segmentation(&self, stop: Option<&str>) -> String {
        let punctuation = (self.punctuation == Punctuation::Keep).then_some("punctuation");
        ["uax29"].into_iter().chain(punctuation).chain(stop).collect::<Vec<_>>().join("+")
    }
}

impl Unit {
    /// The name in schemas and pipeline ids.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Characters => "characters",
            Self::Bytes => "bytes",
        }
    }
}

impl Bits {
    /// How many low bits of the hash are dropped.
    pub(super) fn dropped(self) -> u32 {
        64 - u32::from(self)
    }
}

impl From<Bits> for u32 {
    fn from(bits: Bits) -> u32 {
        match bits {
            Bits::B64 => 64,
            Bits::B32 => 32,
        }
    }
}

impl TryFrom<u32> for Bits {
    type Error = Error;

    fn try_from(bits: u32) -> Result<Self> {
        match bits {
            64 => Ok(Self::B64),
            32 => Ok(Self::B32),
            _ => Err(Error::parameter("bits", "64 or 32", bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_names_every_choice() {
        let id = |options: TextOptions| options.pipeline(None).to_string();
        assert_eq!(id(TextOptions::default()), "text-v1.h1/words5/nfkc+lower/uax29/u16.0/set/64");
        let other = TextOptions {
            n: 3,
            nfkc: false,
            lower: false,
            punctuation: Punctuation::Keep,
            bag: true,
            bits: Bits::B32,
            ..Default::default()
        };
        assert_eq!(id(other), "text-v1.h1/words3/raw/uax29+punctuation/u16.0/bag/32");
        let characters = TextOptions { unit: Unit::Characters, strip_diacritics: true, ..Default::default() };
        assert_eq!(id(characters), "text-v1.h1/characters5/nfkc+lower+strip/u16.0/set/64");
        let bytes = TextOptions { unit: Unit::Bytes, n: 8, ..Default::default() };
        assert_eq!(id(bytes), "text-v1.h1/bytes8/raw/set/64");
    }

    #[test]
    fn absurd_options_are_refused() {
        let none = TextOptions { n: 0, ..Default::default() };
        assert_eq!(none.check().unwrap_err().to_string(), "`n` must be at least 1, got 0");
        let stop = vec!["en".to_owned()];
        let bytes = TextOptions { unit: Unit::Bytes, stop_words: stop, ..Default::default() };
        assert!(bytes.check().unwrap_err().to_string().contains("unless the unit is words"));
        assert!(serde_json::from_str::<TextOptions>(r#"{"bits": 16}"#).is_err());
    }

    #[test]
    fn options_survive_a_round_trip_and_may_be_partial() {
        let options: TextOptions = serde_json::from_str(r#"{"unit": "chars", "n": 24, "bits": 32}"#).unwrap();
        let expected = TextOptions { unit: Unit::Characters, n: 24, bits: Bits::B32, ..Default::default() };
        assert_eq!(options, expected);
        let json = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<TextOptions>(&json).unwrap(), options);
    }
}

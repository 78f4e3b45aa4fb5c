//! Stop words: frequent words that say little about what a text is about, left out on request.
//!
//! The lists are those of NLTK, from the `stop-words` crate. They are normalized as the text is and compared
//! by token hash. Only languages that separate words are offered: in an unsegmented script a token is a
//! bigram, not a word.

use std::collections::BTreeSet;

use crate::{Error, Result, hash, slots::ElementSet};

/// Languages of unsegmented scripts, whose lists would remove bigrams at random.
const UNSEGMENTED: [&str; 1] = ["zh"];

/// The codes of the languages whose stop words are known, in alphabetical order.
///
/// ```
/// assert!(benzer_core::field::text::stop_word_languages().any(|code| code == "tr"));
/// ```
pub fn stop_word_languages() -> impl Iterator<Item = &'static str> {
    stop_words::available_languages().iter().copied().filter(|code| !UNSEGMENTED.contains(code))
}

/// A set of token hashes.
#[derive(Debug, Clone)]
pub(super) struct StopWords {
    /// The languages and a fingerprint of the words, for the pipeline id.
    pub name: String,
    /// Finished once more: their lowest bits say where they lie.
    hashes: ElementSet,
}

impl StopWords {
    /// The stop words of all the languages together; `tokenize` gives the token hashes of a word.
    pub fn new(languages: &[String], tokenize: impl Fn(&str) -> Vec<u64>) -> Result<Self> {
        let mut hashes = Vec::new();
        for language in languages {
            // An entry of several tokens, such as `a priori`, could only be matched as a phrase.
            let single = |word: &&str| <[u64; 1]>::try_from(tokenize(word)).ok();
            hashes.extend(list(language)?.iter().filter_map(single).flatten());
        }
        hashes.sort_unstable();
        hashes.dedup();
        let codes: BTreeSet<&str> = languages.iter().map(String::as_str).collect();
        let codes = codes.into_iter().collect::<Vec<_>>().join("+");
        let name = format!("stop={codes}~{:08x}", hash::combine(&hashes) >> 32);
        let mut set = ElementSet::default();
        // Three quarters of the slots stay free, since most tokens are looked for in vain.
        set.reset(2 * hashes.len());
        hashes.iter().for_each(|token| _ = set.insert(hash::finish(*token)));
        Ok(Self { name, hashes: set })
    }

    #[inline]
    pub fn contains(&self, token: u64) -> bool {
        self.hashes.contains(hash::finish(token))
    }
}

fn list(language: &str) -> Result<&'static [&'static str]> {
    let known = stop_word_languages().any(|code| code == language);
    known.then(|| stop_words::lookup(language)).flatten().ok_or_else(|| {
        let codes = stop_word_languages().collect::<Vec<_>>().join(", ");
        Error::parameter("stop_words", format!("codes among {codes}"), format!("`{language}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english() -> StopWords {
        StopWords::new(&["en".to_owned()], |word| vec![hash::token(word.as_bytes())]).unwrap()
    }

    #[test]
    fn words_of_the_list_are_found_and_no_others() {
        let stop = english();
        assert!(["the", "and", "don't"].iter().all(|w| stop.contains(hash::token(w.as_bytes()))));
        assert!(!["whale", "ship", ""].iter().any(|w| stop.contains(hash::token(w.as_bytes()))));
    }

    #[test]
    fn the_name_tells_the_languages_and_the_words() {
        assert!(english().name.starts_with("stop=en~"));
        let other = StopWords::new(&["en".to_owned()], |_| vec![1]).unwrap();
        assert_ne!(english().name, other.name);
    }

    #[test]
    fn every_offered_language_has_words() {
        for language in stop_word_languages() {
            assert!(!list(language).unwrap().is_empty(), "{language}");
        }
    }

    #[test]
    fn an_unknown_or_unsegmented_language_is_refused() {
        for language in ["xx", "zh", "EN"] {
            let error = list(language).unwrap_err().to_string();
            assert!(error.contains("`stop_words` must be codes among ar, az"), "{error}");
        }
    }
}

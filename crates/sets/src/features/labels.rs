//! Labels as numbers.

use std::collections::HashMap;

use benzer_io::{Error, Result};

/// The label of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Label {
    /// There are no labels.
    None,
    /// A number as it is written.
    Number(String),
    /// A text, which becomes a number.
    Text(String),
}

impl Label {
    /// A text that is a number is one.
    pub fn of_text(text: &str) -> Self {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Self::Number(text.to_owned()),
            _ => Self::Text(text.to_owned()),
        }
    }
}

/// The numbers of labels that are texts, by first appearance.
#[derive(Debug, Default)]
pub(super) struct Labels {
    numbers: HashMap<String, usize>,
    /// The first label that is a number.
    number: Option<String>,
}

impl Labels {
    /// The label as it is written. Texts and numbers together would be confused, so that is an error.
    pub fn written(&mut self, label: &Label) -> Result<String> {
        match label {
            Label::None => Ok("0".to_owned()),
            Label::Number(number) => {
                if let Some(text) = self.numbers.keys().next() {
                    return Err(mixed(number, text));
                }
                self.number.get_or_insert_with(|| number.clone());
                Ok(number.clone())
            }
            Label::Text(text) => {
                if let Some(number) = &self.number {
                    return Err(mixed(number, text));
                }
                let next = self.numbers.len();
                Ok(self.numbers.entry(text.clone()).or_insert(next).to_string())
            }
        }
    }

    /// The texts in the order of their numbers.
    pub fn into_texts(self) -> Vec<String> {
        let mut texts: Vec<(usize, String)> =
            self.numbers.into_iter().map(|(text, number)| (number, text)).collect();
        texts.sort_unstable();
        texts.into_iter().map(|(_, text)| text).collect()
    }
}

fn mixed(number: &str, text: &str) -> Error {
    let got = format!("the number {number} and the text `{text}`");
    Error::parameter("label", "a number everywhere or a text everywhere", got)
}

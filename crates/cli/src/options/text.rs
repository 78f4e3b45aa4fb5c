//! How text is cut into shingles.

use benzer_core::field::text::{Shingler, TextOptions, Unit};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use crate::Usage;

/// The options of a text field.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shingles")]
pub struct TextArguments {
    /// What a shingle is made of
    #[arg(long, value_enum, default_value = "words")]
    pub unit: UnitName,
    /// Words, characters or bytes in a shingle
    #[arg(short = 'n', long, value_name = "N", default_value = "5", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub ngram: usize,
    /// Take `résumé` and `resume` for the same word
    #[arg(long)]
    pub strip_diacritics: bool,
    /// Leave out the stop words of these languages, such as `en,de`
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub stop_words: Vec<String>,
    /// Count repeated shingles: weighted instead of plain sets
    #[arg(long)]
    pub bag: bool,
}

/// The names of the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitName {
    /// Words by Unicode rules, lower case, without punctuation; pairs of characters in Chinese, Japanese, Thai
    Words,
    /// Characters, lower case, with punctuation; white space counts as one space
    Characters,
    /// Bytes as they are
    Bytes,
}

impl TextArguments {
    pub fn is_default(&self) -> bool {
        let Self { unit, ngram, strip_diacritics, stop_words, bag } = self;
        (*unit, *ngram, *strip_diacritics, *bag) == (UnitName::Words, 5, false, false)
            && stop_words.is_empty()
    }

    /// The shingler of these options. Errors: an unknown language, or stop words of something else than words.
    pub fn shingler(&self) -> Result<Shingler, Usage> {
        let unit = match self.unit {
            UnitName::Words => Unit::Words,
            UnitName::Characters => Unit::Characters,
            UnitName::Bytes => Unit::Bytes,
        };
        let options = TextOptions {
            unit,
            n: self.ngram,
            strip_diacritics: self.strip_diacritics,
            stop_words: self.stop_words.clone(),
            bag: self.bag,
            ..TextOptions::default()
        };
        Shingler::new(&options)
            .map_err(|error| Usage::new(error.to_string().replace("stop_words", "--stop-words")))
    }
}

/// What a shingle is, in words: `5-word shingles`.
pub fn describe(shingler: &Shingler) -> String {
    let options = shingler.options();
    let unit = options.unit.name().trim_end_matches('s');
    let bag = if options.bag { ", repetitions counted" } else { "" };
    format!("{}-{unit} shingles{bag}", options.n)
}

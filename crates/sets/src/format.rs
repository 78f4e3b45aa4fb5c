//! What a line of a set file says.
//!
//! | format | a line is | a set is |
//! |---|---|---|
//! | `id-items` | an id, then items | a line |
//! | `items` (FIMI transactions) | items | a line; its number is the id |
//! | `docword` (UCI bag of words) | document, word, count, after three lines with their numbers | the words of a document |
//!
//! The id ends at the first tab of the line; without a tab at its first comma; without a comma at its first white space. What follows is
//! separated by tabs if it has one, else by commas if it has one, else by white space. White space around an item is not part of it, and empty items
//! are none. So all usual ways to write a list are read, and an item may have spaces in it where tabs or commas separate.

use std::{fmt, str::FromStr};

use benzer_io::{Error, Result};

/// How a set file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetFormat {
    /// Each line an id, then items.
    IdItems,
    /// Each line items; the number of the line is the id.
    Items,
    /// Bag of words: three header lines, then `document word count`.
    Docword,
}

/// A line of `docword`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub document: u32,
    pub word: u32,
    pub count: u64,
}

impl SetFormat {
    /// The id of a line, where it has one, and its items. What has no id is nothing.
    pub(super) fn split(self, line: &str) -> Option<(&str, &str)> {
        if self == Self::Items {
            return Some(("", line));
        }
        let line = line.trim_start_matches(' ');
        let end = line
            .find('\t')
            .or_else(|| line.find(','))
            .or_else(|| line.find(char::is_whitespace))
            .unwrap_or(line.len());
        let (id, items) = line.split_at(end);
        let id = id.trim();
        let items = items.strip_prefix(['\t', ',']).unwrap_or(items);
        (!id.is_empty()).then_some((id, items))
    }
}

/// The items of a list.
pub(super) fn items(list: &str) -> impl Iterator<Item = &str> {
    let separator = ['\t', ','].into_iter().find(|&separator| list.trim_end().contains(separator));
    let is_separator = move |c: char| match separator {
        Some(separator) => c == separator,
        None => c.is_whitespace(),
    };
    list.split(is_separator).map(str::trim).filter(|item| !item.is_empty())
}

/// A line of `docword` after the header.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let mut numbers = line.split_ascii_whitespace();
    let document = numbers.next()?.parse().ok().filter(|&document| document > 0)?;
    let word = numbers.next()?.parse().ok().filter(|&word| word > 0)?;
    let count = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(Entry { document, word, count })
}

impl FromStr for SetFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "id-items" => Ok(Self::IdItems),
            "items" => Ok(Self::Items),
            "docword" => Ok(Self::Docword),
            _ => Err(Error::parameter("--set-format", "id-items, items or docword", format!("`{name}`"))),
        }
    }
}

impl fmt::Display for SetFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IdItems => "id-items",
            Self::Items => "items",
            Self::Docword => "docword",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_usual_ways_to_write_a_list_are_read() {
        let milk = [
            "x milk bread",
            "x\tmilk\tbread",
            "x\tmilk bread",
            "x\tmilk,bread",
            "x,milk,bread",
            "x\tmilk, bread,",
            " x  milk  bread ",
        ];
        for line in milk {
            let (id, list) = SetFormat::IdItems.split(line).unwrap();
            assert_eq!((id, items(list).collect::<Vec<_>>()), ("x", vec!["milk", "bread"]), "{line:?}");
        }
        let spaced = SetFormat::IdItems.split("basket 7\tice cream\trye bread").unwrap();
        assert_eq!(
            (spaced.0, items(spaced.1).collect::<Vec<_>>()),
            ("basket 7", vec!["ice cream", "rye bread"])
        );
        assert_eq!(items("1 3  9 13 ").collect::<Vec<_>>(), ["1", "3", "9", "13"]);
        assert_eq!(SetFormat::IdItems.split("x"), Some(("x", "")));
        assert_eq!(SetFormat::IdItems.split("\ta b"), None);
        assert_eq!(SetFormat::Items.split("x y"), Some(("", "x y")));
    }

    #[test]
    fn an_entry_has_three_numbers() {
        assert_eq!(entry("3 7 2"), Some(Entry { document: 3, word: 7, count: 2 }));
        for bad in
            ["", "3", "3 7", "0 7 1", "3 0 1", "3 7 2 1", "3 x 1", "-3 7 1", "3 7 1.5", "99999999999 1 1"]
        {
            assert_eq!(entry(bad), None, "{bad}");
        }
        for name in ["id-items", "items", "docword"] {
            assert_eq!(name.parse::<SetFormat>().unwrap().to_string(), name);
        }
        let error = "csv".parse::<SetFormat>().unwrap_err().to_string();
        assert_eq!(error, "`--set-format` must be id-items, items or docword, got `csv`");
    }
}

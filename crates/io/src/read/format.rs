//! Which format a file has, and how it is compressed: the content decides, then the name.
//!
//! Parquet and Arrow files are known by their first bytes, whatever they are called. Text has no such mark, so its name
//! decides (`a.csv.gz` is CSV); what has no known name is JSON lines.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Result};

/// What is read in folders, text also with `.gz`, `.gzip`, `.zst` or `.zstd` after it; upper case counts as lower.
const EXTENSIONS: [&str; 13] = [
    ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".text", ".md", ".parquet", ".pq", ".arrow",
    ".feather", ".ipc",
];
const COMPRESSED: [&str; 4] = [".gz", ".gzip", ".zst", ".zstd"];
const NAMES: &str = "jsonl, csv, tsv, text, parquet or arrow";

/// What the documents of a file look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// A JSON object on each line.
    JsonLines,
    /// A header, then a record for each document, quoted as RFC 4180 says.
    Csv {
        /// What stands between two fields: a comma, or a tab in TSV.
        delimiter: u8,
    },
    /// Plain text, a document on each line.
    Lines,
    /// Plain text, the whole file one document.
    File,
    /// Parquet.
    Parquet,
    /// Arrow IPC, as a file or as a stream.
    Arrow,
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// Gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "uncompressed file",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

impl Format {
    /// Comma-separated values.
    pub const CSV: Self = Self::Csv { delimiter: b',' };
    /// Tab-separated values.
    pub const TSV: Self = Self::Csv { delimiter: b'\t' };

    /// True if it has rows and columns of types, and no text of its own to copy.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "json lines",
            Self::TSV => "tsv",
            Self::Csv { .. } => "csv",
            Self::Lines | Self::File => "plain text",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// The extensions that are read, in messages.
    pub(super) fn extensions() -> String {
        format!("{} (also with {})", EXTENSIONS.join(", "), COMPRESSED.join(", "))
    }

    /// Told by the first (uncompressed) bytes.
    pub(super) fn of_content(start: &[u8]) -> Option<Self> {
        match start {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::Arrow),
            // A stream begins with the length of its schema.
            [0xff, 0xff, 0xff, 0xff, length @ ..] if length.len() >= 4 => Some(Self::Arrow),
            _ => None,
        }
    }

    /// Told by the name.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = COMPRESSED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let extension = EXTENSIONS.iter().find(|end| name.ends_with(*end))?;
        Some(match &extension[1..] {
            "csv" => Self::CSV,
            "tsv" => Self::TSV,
            "txt" | "text" | "md" => Self::Lines,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            _ => Self::JsonLines,
        })
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "jsonl" => Self::JsonLines,
            "csv" => Self::CSV,
            "tsv" => Self::TSV,
            "text" => Self::Lines,
            "parquet" => Self::Parquet,
            "arrow" => Self::Arrow,
            _ => return Err(Error::parameter("--input-format", NAMES, format!("`{name}`"))),
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_has_a_format_with_and_without_compression() {
        for extension in EXTENSIONS {
            let plain = Format::of_name(Path::new(&format!("a{extension}")));
            assert!(plain.is_some(), "{extension}");
            assert_eq!(Format::of_name(Path::new(&format!("A{}.GZ", extension.to_uppercase()))), plain);
        }
        for other in ["a", "a.gz", "a.html", "jsonl", "a.csv.bak"] {
            assert_eq!(Format::of_name(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_format_that_is_not_there_is_refused_with_the_names_there_are() {
        assert_eq!("tsv".parse::<Format>().unwrap(), Format::TSV);
        let error = "xml".parse::<Format>().unwrap_err().to_string();
        assert_eq!(error, "`--input-format` must be jsonl, csv, tsv, text, parquet or arrow, got `xml`");
    }
}

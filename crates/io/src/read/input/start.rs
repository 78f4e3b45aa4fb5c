//! The beginning of an input: how it is compressed, which format it has, and the header if it has one.

use std::path::Path;
use std::sync::Arc;

use super::Known;
use crate::error::{Error, Result};
use crate::read::csv::Header;
use crate::read::format::{Compression, Format};
use crate::read::options::Plan;
use crate::read::stream::{End, Stream};

/// The parameter that plain text cannot serve.
pub(super) const NO_FIELDS: &str = "--id-field";

/// What the beginning of an input tells.
#[derive(Debug)]
pub(in crate::read) struct Start {
    pub(in crate::read) compression: Compression,
    /// What its decoder holds.
    window: u64,
    pub(in crate::read) format: Format,
    pub(in crate::read) header: Option<Arc<Header>>,
    /// What was read after the header.
    pub(in crate::read) rest: Vec<u8>,
    /// How that reading ended.
    pub(in crate::read) end: End,
}

impl Start {
    /// Reads as far as needed. Fails if the format is not readable here, or does not have the wanted fields.
    pub(in crate::read) fn read(stream: &mut Stream, path: &Path, plan: &Plan) -> Result<Self> {
        let compression = stream.compression();
        let content = Format::of_content(stream.peek());
        let format = match (plan.format, content) {
            (Some(forced), _) => forced,
            (None, Some(content)) => content,
            (None, None) => Format::of_name(path).unwrap_or(Format::JsonLines),
        };
        check(format, compression, content, path)?;
        let mut start = Self {
            compression,
            window: stream.window(),
            format,
            header: None,
            rest: Vec::new(),
            end: End::More,
        };
        match (format, plan.fields.id_slot()) {
            (Format::Lines | Format::File, Some(id)) => {
                let got = format!("`{}` with `{}`", plan.fields.name(id), path.display());
                Err(Error::parameter(NO_FIELDS, "left out for plain text, which has no fields", got))
            }
            (Format::Csv { delimiter }, _) => {
                (start.header, start.rest, start.end) = Header::read(stream, delimiter, path, &plan.fields)?;
                Ok(start)
            }
            _ => Ok(start),
        }
    }

    /// What the input keeps of it.
    pub(in crate::read) fn known(&self) -> Known {
        let header = self.header.as_ref().map(|header| header.raw.clone().into_boxed_slice());
        Known { compression: self.compression, window: self.window, format: self.format, header }
    }
}

/// Refuses what cannot be read as the format it has or was given.
fn check(format: Format, compression: Compression, content: Option<Format>, path: &Path) -> Result<()> {
    let refuse = |got, remedy| Err(Error::Format { path: path.into(), expected: format.name(), got, remedy });
    match content {
        Some(content) if content != format && format != Format::File => {
            refuse(content.name(), "leave out --input-format")
        }
        _ if format == Format::Parquet && compression != Compression::None => {
            refuse("a compressed file", "decompress it first; parquet is compressed inside")
        }
        _ => Ok(()),
    }
}

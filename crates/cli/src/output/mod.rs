//! How results look: tables and JSON for one, rows for many.

mod rows;
mod table;
mod view;
mod words;

pub use rows::RowFormat;
pub(crate) use rows::Rows;
pub use table::{Align, Table};
pub use view::{ADDED, Color, Format, HEADING, MOVED, QUIET, REMOVED, View};
pub(crate) use words::number;
pub use words::{bytes, grouped, printable};

use std::io::Write;

use indicatif::ProgressStyle;
use serde::Serialize;

/// A result as indented JSON with a newline at its end.
pub(crate) fn write_json(out: &mut dyn Write, result: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, result).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// How a bar looks, by a template that is a constant.
pub(crate) fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}

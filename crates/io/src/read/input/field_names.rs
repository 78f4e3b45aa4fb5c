//! Which fields an input has: for messages that say which one is not there.

use std::fs::File;

use arrow_ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value};

use super::Input;
use crate::read::csv;
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::stream::Stream;
use crate::read::utf8::BYTE_ORDER_MARK;

/// So many fields are named.
const NAMED: usize = 20;
/// So much of a file of lines is looked at.
const BYTES: usize = 1 << 20;

/// The names of the fields, as far as the beginning of the input says; none of plain text and of what cannot be read again.
pub fn field_names(input: &Input) -> Vec<String> {
    let mut names = match input.format() {
        Some(Format::Csv { delimiter }) => {
            input.header().map(|header| csv::column_names(header, delimiter)).unwrap_or_default()
        }
        Some(Format::JsonLines) => of_lines(input).unwrap_or_default(),
        Some(format @ (Format::Parquet | Format::Arrow)) if !input.is_remote() => {
            guarded(format, || of_table(input, format)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("...".to_owned());
    }
    names
}

fn of_lines(input: &Input) -> Option<Vec<String>> {
    let mut bytes = Vec::new();
    Stream::glance(input.stream().ok()?, &input.path).ok()?.read(BYTES, &mut bytes).ok()?;
    let mut lines =
        bytes.split(|byte| *byte == b'\n').map(|line| line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line));
    let object = lines.find_map(|line| serde_json::from_slice::<Map<String, Value>>(line).ok())?;
    let mut names = Vec::new();
    for (name, value) in object {
        match value {
            Value::Object(inner) => names.extend(inner.keys().map(|key| format!("{name}.{key}"))),
            _ => names.push(name),
        }
    }
    Some(names)
}

fn of_table(input: &Input, format: Format) -> Result<Vec<String>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let file = || File::open(&input.path).map_err(|error| text(&error));
    let schema = match format {
        Format::Parquet => {
            ParquetRecordBatchReaderBuilder::try_new(file()?).map_err(|error| text(&error))?.schema().clone()
        }
        _ => match FileReader::try_new(file()?, None) {
            Ok(reader) => reader.schema(),
            Err(_) => StreamReader::try_new(file()?, None).map_err(|error| text(&error))?.schema(),
        },
    };
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

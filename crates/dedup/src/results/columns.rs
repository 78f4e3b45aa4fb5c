//! Cells of a table that was read, by the name of their column.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::error::{Error, Result};

/// Some rows of a table.
pub(super) struct Columns<'a> {
    pub path: &'a Path,
    pub batch: &'a RecordBatch,
}

impl<'a> Columns<'a> {
    fn column(&self, name: &str, i: usize) -> Option<&'a dyn Array> {
        self.batch.column_by_name(name).map(|column| &**column).filter(|column| column.is_valid(i))
    }

    pub fn maybe_text(&self, name: &str, i: usize) -> Option<&'a str> {
        Some(self.column(name, i)?.as_string_opt::<i32>()?.value(i))
    }

    pub fn maybe_number(&self, name: &str, i: usize) -> Option<u32> {
        Some(self.column(name, i)?.as_primitive_opt::<UInt32Type>()?.value(i))
    }

    pub fn maybe_long(&self, name: &str, i: usize) -> Option<u64> {
        Some(self.column(name, i)?.as_primitive_opt::<UInt64Type>()?.value(i))
    }

    pub fn maybe_share(&self, name: &str, i: usize) -> Option<f64> {
        Some(self.column(name, i)?.as_primitive_opt::<Float64Type>()?.value(i))
    }

    pub fn maybe_flag(&self, name: &str, i: usize) -> Option<bool> {
        Some(self.column(name, i)?.as_boolean_opt()?.value(i))
    }

    pub fn text(&self, name: &'static str, i: usize) -> Result<&'a str> {
        self.maybe_text(name, i).ok_or_else(|| self.missing(name))
    }

    pub fn number(&self, name: &'static str, i: usize) -> Result<u32> {
        self.maybe_number(name, i).ok_or_else(|| self.missing(name))
    }

    pub fn share(&self, name: &'static str, i: usize) -> Result<f64> {
        self.maybe_share(name, i).ok_or_else(|| self.missing(name))
    }

    pub fn flag(&self, name: &'static str, i: usize) -> Result<bool> {
        self.maybe_flag(name, i).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, column: &'static str) -> Error {
        Error::Foreign { path: self.path.to_owned(), column }
    }
}

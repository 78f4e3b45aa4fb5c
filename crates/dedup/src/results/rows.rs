//! Cells of a table that was read, by their column.

use std::marker::PhantomData;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::error::{Error, Result};
use crate::tables::Column;

pub(super) struct Rows<'a, C> {
    pub path: &'a Path,
    pub batch: &'a RecordBatch,
    pub columns: PhantomData<C>,
}

impl<'a, C: Column> Rows<'a, C> {
    fn column(&self, column: C, i: usize) -> Option<&'a dyn Array> {
        self.batch.column_by_name(column.name()).map(|cells| &**cells).filter(|cells| cells.is_valid(i))
    }

    pub fn maybe_text(&self, column: C, i: usize) -> Option<&'a str> {
        Some(self.column(column, i)?.as_string_opt::<i32>()?.value(i))
    }

    pub fn maybe_number(&self, column: C, i: usize) -> Option<u32> {
        Some(self.column(column, i)?.as_primitive_opt::<UInt32Type>()?.value(i))
    }

    pub fn maybe_long(&self, column: C, i: usize) -> Option<u64> {
        Some(self.column(column, i)?.as_primitive_opt::<UInt64Type>()?.value(i))
    }

    pub fn maybe_share(&self, column: C, i: usize) -> Option<f64> {
        Some(self.column(column, i)?.as_primitive_opt::<Float64Type>()?.value(i))
    }

    pub fn maybe_flag(&self, column: C, i: usize) -> Option<bool> {
        Some(self.column(column, i)?.as_boolean_opt()?.value(i))
    }

    pub fn text(&self, column: C, i: usize) -> Result<&'a str> {
        self.maybe_text(column, i).ok_or_else(|| self.missing(column))
    }

    pub fn number(&self, column: C, i: usize) -> Result<u32> {
        self.maybe_number(column, i).ok_or_else(|| self.missing(column))
    }

    pub fn share(&self, column: C, i: usize) -> Result<f64> {
        self.maybe_share(column, i).ok_or_else(|| self.missing(column))
    }

    pub fn flag(&self, column: C, i: usize) -> Result<bool> {
        self.maybe_flag(column, i).ok_or_else(|| self.missing(column))
    }

    fn missing(&self, column: C) -> Error {
        Error::Foreign { path: self.path.to_owned(), column: column.name() }
    }
}

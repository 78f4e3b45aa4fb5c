//! The columns of rows that come in, whatever width the engine gives them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::DataType;

use crate::error::{Error, Result};
use benzer_io::read::Order;

#[derive(Debug)]
pub(super) struct Bytes(ArrayRef);

impl Bytes {
    pub(super) fn of(batch: &RecordBatch, name: &'static str) -> Result<Self> {
        let column = batch.column_by_name(name).ok_or_else(Error::damaged)?;
        use DataType::*;
        match column.data_type() {
            Binary | LargeBinary | BinaryView | Utf8 | LargeUtf8 | Utf8View | Null => {
                Ok(Self(column.clone()))
            }
            other => Err(Error::Handed {
                expected: "strings or bytes",
                got: format!("{other} in column `{name}`"),
                remedy: "cast the column to a string",
            }),
        }
    }

    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        if self.0.is_null(row) {
            return None;
        }
        Some(match self.0.data_type() {
            DataType::Binary => self.0.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.0.as_binary::<i64>().value(row),
            DataType::BinaryView => self.0.as_binary_view().value(row),
            DataType::Utf8 => self.0.as_string::<i32>().value(row).as_bytes(),
            DataType::LargeUtf8 => self.0.as_string::<i64>().value(row).as_bytes(),
            DataType::Utf8View => self.0.as_string_view().value(row).as_bytes(),
            _ => return None,
        })
    }

    pub(super) fn text(&self, row: usize) -> Option<&str> {
        simdutf8::basic::from_utf8(self.get(row)?).ok()
    }
}

#[derive(Debug)]
pub(super) struct Rows {
    slices: Int32Array,
    kinds: Int32Array,
    values: [Bytes; 3],
}

impl Rows {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        let numbers = |name| -> Result<Int32Array> {
            let column = batch.column_by_name(name).ok_or_else(Error::damaged)?;
            Ok(column.as_primitive_opt::<Int32Type>().ok_or_else(Error::damaged)?.clone())
        };
        let values = [Bytes::of(batch, "a")?, Bytes::of(batch, "b")?, Bytes::of(batch, "c")?];
        Ok(Self { slices: numbers("slice")?, kinds: numbers("kind")?, values })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, i32, [&[u8]; 3])> {
        (0..self.slices.len()).map(|row| {
            let values = self.values.each_ref().map(|column| column.get(row).unwrap_or_default());
            (self.slices.value(row) as u32, self.kinds.value(row), values)
        })
    }
}

/// A document that has an id and a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    pub id: &'a str,
    pub text: &'a str,
    /// The value of the field that some policies look at.
    pub value: Option<Order<'a>>,
    /// The hash of the text, by which the document is known again when the input is read again.
    pub seen: u64,
}

#[derive(Debug)]
pub(super) struct Documents {
    n: usize,
    ids: Bytes,
    texts: Bytes,
    values: Option<ArrayRef>,
    seen: Int64Array,
}

impl Documents {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        let seen = batch.column_by_name("seen").and_then(|column| column.as_primitive_opt::<Int64Type>());
        Ok(Self {
            n: batch.num_rows(),
            ids: Bytes::of(batch, "id")?,
            texts: Bytes::of(batch, "text")?,
            values: batch.column_by_name("value").cloned(),
            seen: seen.ok_or_else(Error::damaged)?.clone(),
        })
    }

    /// The documents that have an id and a text.
    pub(super) fn iter(&self) -> impl Iterator<Item = Document<'_>> {
        (0..self.n).filter_map(|row| {
            let (id, text) = (self.ids.text(row)?, self.texts.text(row)?);
            Some(Document { id, text, value: self.value(row), seen: self.seen.value(row) as u64 })
        })
    }

    fn value(&self, row: usize) -> Option<Order<'_>> {
        let values = self.values.as_ref().filter(|values| !values.is_null(row))?;
        match values.data_type() {
            DataType::Float64 => Some(Order::Number(values.as_primitive::<Float64Type>().value(row))),
            DataType::Utf8 => Some(Order::Text(values.as_string::<i32>().value(row))),
            DataType::LargeUtf8 => Some(Order::Text(values.as_string::<i64>().value(row))),
            DataType::Utf8View => Some(Order::Text(values.as_string_view().value(row))),
            _ => None,
        }
        .filter(|value| !matches!(value, Order::Number(number) if number.is_nan()))
    }
}

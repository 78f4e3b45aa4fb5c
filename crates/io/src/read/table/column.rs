//! One wanted column of some rows: its bytes, integers or numbers, and where it has none.

use std::collections::HashMap;
use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

use crate::read::span::Piece;

/// A column at the end of its path. A row is null if anything on the path is.
#[derive(Debug, Clone)]
pub(super) struct Column {
    array: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl Column {
    /// Walks down the structs; nothing if a name is not there.
    pub(super) fn at(mut array: ArrayRef, names: &[String]) -> Option<Self> {
        let mut nulls = array.logical_nulls();
        for name in names {
            let child = array.as_struct_opt()?.column_by_name(name)?.clone();
            nulls = NullBuffer::union(nulls.as_ref(), child.logical_nulls().as_ref());
            array = child;
        }
        Some(Self { array, nulls })
    }

    pub(super) fn slice(&self, start: usize, n_rows: usize) -> Self {
        let nulls = self.nulls.as_ref().map(|nulls| nulls.slice(start, n_rows));
        Self { array: self.array.slice(start, n_rows), nulls }
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Writes the integer of a row. False if it is null.
    pub(super) fn write_integer(&self, row: usize, into: &mut String) -> bool {
        macro_rules! write_one {
            ($($name:ident => $of:ty),*) => {
                match self.array.data_type() {
                    $(DataType::$name => write!(into, "{}", self.array.as_primitive::<$of>().value(row)),)*
                    _ => return false,
                }
            };
        }
        if self.is_null(row) {
            return false;
        }
        let written = write_one!(
            Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
            UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type
        );
        written.is_ok()
    }

    /// The number of a row: numbers as they are, dates and times as seconds. Nothing for null and for other types.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        use DataType::*;
        if self.is_null(row) {
            return None;
        }
        macro_rules! value {
            ($of:ty) => {
                self.array.as_primitive::<$of>().value(row) as f64
            };
        }
        Some(match self.array.data_type() {
            Int8 => value!(Int8Type),
            Int16 => value!(Int16Type),
            Int32 => value!(Int32Type),
            Int64 => value!(Int64Type),
            UInt8 => value!(UInt8Type),
            UInt16 => value!(UInt16Type),
            UInt32 => value!(UInt32Type),
            UInt64 => value!(UInt64Type),
            Float16 => self.array.as_primitive::<Float16Type>().value(row).to_f64(),
            Float32 => value!(Float32Type),
            Float64 => value!(Float64Type),
            Decimal32(_, scale) => scaled(value!(Decimal32Type), *scale),
            Decimal64(_, scale) => scaled(value!(Decimal64Type), *scale),
            Decimal128(_, scale) => scaled(value!(Decimal128Type), *scale),
            Date32 => value!(Date32Type) * 86_400.0,
            Date64 => value!(Date64Type) / 1e3,
            Timestamp(TimeUnit::Second, _) => value!(TimestampSecondType),
            Timestamp(TimeUnit::Millisecond, _) => value!(TimestampMillisecondType) / 1e3,
            Timestamp(TimeUnit::Microsecond, _) => value!(TimestampMicrosecondType) / 1e6,
            Timestamp(TimeUnit::Nanosecond, _) => value!(TimestampNanosecondType) / 1e9,
            Time32(TimeUnit::Second) => value!(Time32SecondType),
            Time32(TimeUnit::Millisecond) => value!(Time32MillisecondType) / 1e3,
            Time64(TimeUnit::Microsecond) => value!(Time64MicrosecondType) / 1e6,
            Time64(TimeUnit::Nanosecond) => value!(Time64NanosecondType) / 1e9,
            Duration(TimeUnit::Second) => value!(DurationSecondType),
            Duration(TimeUnit::Millisecond) => value!(DurationMillisecondType) / 1e3,
            Duration(TimeUnit::Microsecond) => value!(DurationMicrosecondType) / 1e6,
            Duration(TimeUnit::Nanosecond) => value!(DurationNanosecondType) / 1e9,
            _ => return None,
        })
    }

    /// Its texts, if it has any.
    pub(super) fn texts(&self) -> Option<Texts<'_>> {
        let copied = HashMap::new();
        let Some(dictionary) = self.array.as_any_dictionary_opt() else {
            return Some(Texts { column: self, keys: None, values: Values::of(&self.array)?, copied });
        };
        let values = Values::of(dictionary.values())?;
        let is_empty = dictionary.values().is_empty();
        let keys = if is_empty { vec![0; self.array.len()] } else { dictionary.normalized_keys() };
        Some(Texts { column: self, keys: Some(keys), values, copied })
    }
}

fn scaled(value: f64, scale: i8) -> f64 {
    value / 10f64.powi(i32::from(scale))
}

/// The texts of a column.
pub(super) struct Texts<'a> {
    column: &'a Column,
    /// For a dictionary, where the value of each row is.
    keys: Option<Vec<usize>>,
    values: Values<'a>,
    /// Where the values that rows may share were copied to.
    copied: HashMap<u128, Piece>,
}

enum Values<'a> {
    Small(&'a BinaryArray),
    Large(&'a LargeBinaryArray),
    View(&'a BinaryViewArray),
}

impl<'a> Values<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        match array.data_type() {
            DataType::Binary => array.as_binary_opt().map(Self::Small),
            DataType::LargeBinary => array.as_binary_opt().map(Self::Large),
            DataType::BinaryView => array.as_binary_view_opt().map(Self::View),
            _ => None,
        }
    }

    fn get(&self, index: usize) -> &'a [u8] {
        match self {
            Self::Small(array) => array.value(index),
            Self::Large(array) => array.value(index),
            Self::View(array) => array.value(index),
        }
    }
}

impl<'a> Texts<'a> {
    /// The bytes of a row, or nothing if it is null.
    pub(super) fn get(&self, row: usize) -> Option<&'a [u8]> {
        if self.column.is_null(row) {
            return None;
        }
        Some(self.values.get(self.keys.as_ref().map_or(row, |keys| keys[row])))
    }

    /// What is the same for rows that share one copy of their bytes; nothing for a row that cannot.
    fn source(&self, row: usize) -> Option<u128> {
        match (&self.keys, &self.values) {
            (Some(keys), _) => Some(keys[row] as u128),
            // A view of up to 12 bytes holds them; a longer one says where they are.
            (None, Values::View(array)) => Some(array.views()[row]).filter(|view| *view as u32 > 12),
            _ => None,
        }
    }

    /// The place of a row's bytes if another row brought them already.
    pub(super) fn shared(&self, row: usize) -> Option<Piece> {
        self.copied.get(&self.source(row)?).copied()
    }

    /// Remembers the place of a row's bytes for the rows that share them.
    pub(super) fn share(&mut self, row: usize, piece: Piece) {
        if let Some(source) = self.source(row) {
            self.copied.insert(source, piece);
        }
    }
}

//! Which column types hold texts, ids and order values.

use std::sync::Arc;

use arrow_schema::{DataType, Field};

use crate::read::fields::Fields;
use crate::read::reject::RejectReason;

/// Says what is wrong with the type of the column of a slot; nothing if its values can be used.
pub(super) fn unfit(fields: &Fields, slot: usize, found: &DataType) -> Option<RejectReason> {
    let (fits, expected) = match slot {
        _ if fields.id_slot() == Some(slot) => (is_text(found) || found.is_integer(), "strings or integers"),
        _ if fields.order_slot() == Some(slot) => {
            (is_text(found) || found.is_numeric() || found.is_temporal(), "strings, numbers or times")
        }
        _ => (is_text(found), "strings"),
    };
    let (field, got) = (fields.name(slot), Arc::from(found.to_string()));
    (!fits).then_some(RejectReason::ColumnType { field, expected, got })
}

/// Strings, also as a dictionary.
pub(super) fn is_text(found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => is_text(values),
        other => other.is_string(),
    }
}

/// The same layout with bytes in place of strings. A string that is not UTF-8 then costs its own row and no other.
pub(super) fn as_bytes(found: &DataType) -> DataType {
    match found {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(as_bytes(values))),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| bytes_field(field)).collect()),
        other => other.clone(),
    }
}

/// A field with bytes in place of strings. All else about it stays, such as the number of its dictionary.
pub(super) fn bytes_field(field: &Field) -> Field {
    field.clone().with_data_type(as_bytes(field.data_type()))
}

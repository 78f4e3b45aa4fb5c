//! Where the wanted columns of a file are.
//!
//! Each column is decoded by itself, with a schema that has only the path to it. In that schema a string is bytes, so that
//! one that is not UTF-8 costs its own row and no other, and bytes are views, which rows with equal values share.

use std::sync::Arc;

use arrow_schema::{DataType, Fields as ArrowFields};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};

use crate::read::fields::{FieldPath, Fields};
use crate::read::format::Format;
use crate::read::reject::RejectReason;
use crate::read::table::types;

/// The wanted columns of a file.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) leaves: Vec<Leaf>,
    /// The leaf of each slot; only the order field may have none.
    pub(super) of_slots: Vec<Option<usize>>,
}

/// One wanted column.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: FieldPath,
    /// Its number in the file.
    pub(super) index: usize,
    pub(super) description: ColumnDescPtr,
    pub(super) levels: FieldLevels,
}

impl Wanted {
    /// Looks the columns up; what is missing or of the wrong type is the reason for which no row can be read.
    pub(super) fn find(schema: &SchemaDescriptor, fields: &Fields) -> Result<Self, RejectReason> {
        let mut wanted = Self { leaves: Vec::new(), of_slots: Vec::new() };
        for slot in 0..fields.n_slots() {
            let leaf = match Leaf::find(schema, fields, slot) {
                Err(_) if fields.order_slot() == Some(slot) => None,
                leaf => Some(leaf?),
            };
            let known = |leaf: &Leaf| wanted.leaves.iter().position(|other| other.index == leaf.index);
            wanted.of_slots.push(leaf.as_ref().map(|leaf| known(leaf).unwrap_or(wanted.leaves.len())));
            wanted.leaves.extend(leaf.filter(|leaf| known(leaf).is_none()));
        }
        Ok(wanted)
    }
}

impl Leaf {
    fn find(schema: &SchemaDescriptor, fields: &Fields, slot: usize) -> Result<Self, RejectReason> {
        let path = fields.paths()[slot].clone();
        let names = path.names();
        let wrong = |got: &str| {
            let expected = if fields.id_slot() == Some(slot) { "strings or integers" } else { "strings" };
            RejectReason::ColumnType { field: fields.name(slot), expected, got: got.into() }
        };
        let Some(index) = schema.columns().iter().position(|column| column.path().parts() == names) else {
            let is_group = schema.columns().iter().any(|column| column.path().parts().starts_with(names));
            return Err(match is_group {
                true => wrong("a group of columns"),
                false => RejectReason::MissingField { field: fields.name(slot) },
            });
        };
        if schema.column(index).max_rep_level() > 0 {
            return Err(wrong("a list"));
        }
        let fail = |error: ParquetError| RejectReason::damaged(Format::Parquet, error);
        let (narrow, found) = typed(schema, names, false).map_err(fail)?;
        // Some writers do not say that their bytes are strings. Where they are not, it costs the row.
        let found = match found {
            DataType::Binary if fields.order_slot() != Some(slot) => DataType::Utf8,
            found => found,
        };
        if let Some(reason) = types::unfit(fields, slot, &found) {
            return Err(reason);
        }
        let (narrow, levels) = match types::is_text(&found) {
            false => (narrow.clone(), levels(&narrow, None)),
            true => {
                let (narrow, _) = typed(schema, names, true).map_err(fail)?;
                let hint = parquet_to_arrow_schema(&narrow, None).map(|plain| as_views(plain.fields()));
                (narrow.clone(), hint.and_then(|hint| levels(&narrow, Some(&hint))))
            }
        };
        Ok(Self { index, description: narrow.column(0), levels: levels.map_err(fail)?, path })
    }
}

fn levels(schema: &SchemaDescriptor, hint: Option<&ArrowFields>) -> Result<FieldLevels, ParquetError> {
    parquet_to_arrow_field_levels(schema, ProjectionMask::all(), hint)
}

/// A schema with nothing but the path to one column, and the type of that column.
fn typed(
    schema: &SchemaDescriptor,
    names: &[String],
    as_bytes: bool,
) -> Result<(Arc<SchemaDescriptor>, DataType), ParquetError> {
    let narrow = Arc::new(SchemaDescriptor::new(narrow(&schema.root_schema_ptr(), names, as_bytes)?));
    let arrow = parquet_to_arrow_schema(&narrow, None)?;
    let mut found = arrow.field(0).data_type().clone();
    while let DataType::Struct(fields) = found {
        found = fields[0].data_type().clone();
    }
    Ok((narrow, found))
}

/// A type with nothing but the path to one column below it.
fn narrow(of: &TypePtr, names: &[String], as_bytes: bool) -> Result<TypePtr, ParquetError> {
    let info = of.get_basic_info();
    let Some((name, below)) = names.split_first() else {
        if !as_bytes {
            return Ok(Arc::clone(of));
        }
        let bytes = Type::primitive_type_builder(of.name(), PhysicalType::BYTE_ARRAY);
        return bytes.with_repetition(info.repetition()).build().map(Arc::new);
    };
    let child = of.get_fields().iter().find(|child| child.name() == name);
    let child = child.ok_or_else(|| ParquetError::General(format!("no column `{name}`")))?;
    let mut group = Type::group_type_builder(of.name()).with_fields(vec![narrow(child, below, as_bytes)?]);
    if info.has_repetition() {
        group = group.with_repetition(info.repetition());
    }
    group.build().map(Arc::new)
}

/// The same fields with views in place of bytes.
fn as_views(fields: &ArrowFields) -> ArrowFields {
    let views = |found: &DataType| match found {
        DataType::Binary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(as_views(fields)),
        other => other.clone(),
    };
    fields.iter().map(|field| field.as_ref().clone().with_data_type(views(field.data_type()))).collect()
}

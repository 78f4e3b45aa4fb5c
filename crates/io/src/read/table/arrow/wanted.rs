//! The wanted columns of a file: fields that have only the path to them.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields as ArrowFields, Schema};

use crate::read::fields::{FieldPath, Fields};
use crate::read::reject::RejectReason;
use crate::read::table::types;

/// The wanted columns of a file.
#[derive(Debug)]
pub(super) struct Wanted {
    /// All fields of the file.
    pub(super) all: ArrowFields,
    /// One field for each path, with bytes in place of strings.
    pub(super) schema: Arc<Schema>,
    pub(super) paths: Vec<FieldPath>,
    /// The column of each slot; only the order field may have none.
    pub(super) of_slots: Vec<Option<usize>>,
}

impl Wanted {
    /// Looks the columns up; what is missing or of the wrong type is the reason for which no row can be read.
    pub(super) fn find(all: &ArrowFields, fields: &Fields) -> Result<Self, RejectReason> {
        let (mut columns, mut paths, mut of_slots) = (Vec::new(), Vec::<FieldPath>::new(), Vec::new());
        for (slot, path) in fields.paths().iter().enumerate() {
            let is_order = fields.order_slot() == Some(slot);
            let field = match find(all, path.names()) {
                Ok((field, found)) => match types::unfit(fields, slot, &found) {
                    Some(reason) => Err(reason),
                    None => Ok(field),
                },
                Err(None) => Err(RejectReason::MissingField { field: fields.name(slot) }),
                Err(Some(other)) => {
                    let expected = "structs on the way to it";
                    let got = other.to_string().into();
                    Err(RejectReason::ColumnType { field: fields.name(slot), expected, got })
                }
            };
            if field.is_err() && is_order {
                of_slots.push(None);
                continue;
            }
            let known = paths.iter().position(|other| other.names() == path.names());
            of_slots.push(Some(known.unwrap_or(paths.len())));
            if known.is_none() {
                columns.push(field?);
                paths.push(path.clone());
            }
        }
        Ok(Self { all: all.clone(), schema: Arc::new(Schema::new(columns)), paths, of_slots })
    }
}

/// The field with nothing but the path below it, and the type at the end; else what is in the way, if anything is.
fn find(fields: &ArrowFields, names: &[String]) -> Result<(Field, DataType), Option<DataType>> {
    let Some((name, below)) = names.split_first() else { return Err(None) };
    let field = fields.iter().find(|field| field.name() == name).ok_or(None)?;
    match field.data_type() {
        found if below.is_empty() => Ok((types::bytes_field(field).with_nullable(true), found.clone())),
        DataType::Struct(fields) => {
            let (child, found) = find(fields, below)?;
            let only = DataType::Struct([child].into_iter().collect());
            Ok((field.as_ref().clone().with_data_type(only).with_nullable(true), found))
        }
        other => Err(Some(other.clone())),
    }
}

//! The five columns that are added.

use std::io::Write;

use arrow_schema::Schema;
use parquet::arrow::ArrowSchemaConverter;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::TypePtr;

use crate::rewrite::Annotation;
use crate::rewrite::table::columns;

/// Their types.
pub(super) fn types() -> Result<Vec<TypePtr>> {
    let schema = ArrowSchemaConverter::new().convert(&Schema::new(columns::fields().to_vec()))?;
    Ok(schema.root_schema().get_fields().to_vec())
}

/// Writes their values; nothing if there are none.
pub(super) fn write<W: Write + Send>(
    annotations: &[Annotation],
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<()> {
    if annotations.is_empty() {
        return Ok(());
    }
    let text = |text: &Option<String>| text.as_deref().map(ByteArray::from);
    column::<ByteArrayType, _>(annotations.iter().map(|a| text(&a.cluster_id)), true, to)?;
    column::<Int64Type, _>(annotations.iter().map(|a| Some(a.cluster_size as i64)), false, to)?;
    column::<ByteArrayType, _>(annotations.iter().map(|a| text(&a.dup_of)), true, to)?;
    column::<DoubleType, _>(annotations.iter().map(|a| a.similarity), true, to)?;
    column::<BoolType, _>(annotations.iter().map(|a| Some(a.is_duplicate)), false, to)
}

fn column<T: DataType, W: Write + Send>(
    all: impl Iterator<Item = Option<T::T>>,
    is_optional: bool,
    to: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for value in all {
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let lost = || ParquetError::General("the schema has no place for an annotation".into());
    let mut writer = to.next_column()?.ok_or_else(lost)?;
    writer.typed::<T>().write_batch(&values, is_optional.then_some(&levels), None)?;
    writer.close()
}

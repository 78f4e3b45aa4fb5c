//! Parquet: column by column, without a detour over other types. Values, levels and schema stay what they are.

mod copy;
mod marks;
mod properties;

use std::sync::Arc;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::sink::Sink;
use super::verdicts::{Kept, Verdicts};
use super::{annotate, damaged, decoded};
use crate::error::{Error, Result};
use crate::read::{Format, Input, Seekable, check_parquet_column, check_parquet_index};

pub(super) fn rewrite(input: &Input, sink: &mut Sink<'_>, verdicts: &mut Verdicts<'_>) -> Result<u64> {
    let index = input.open()?.ok_or_else(|| Error::without_ranges(&input.path, "a parquet file"))?;
    let file = index.try_clone().map_err(|error| Error::open(&*input.path, error))?;
    let open = || {
        check_parquet_index(&mut index.try_clone()?)?;
        SerializedFileReader::new(index)
    };
    let reader = match decoded(input, Format::Parquet, open) {
        Err(_) if verdicts.is_empty => return Ok(0),
        reader => reader?,
    };
    let metadata = reader.metadata();
    check(metadata).map_err(|error| damaged(input, error))?;
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    if verdicts.is_annotated {
        annotate::check_names(schema.get_fields().iter().map(|field| field.name()), input)?;
    }
    let fail = |error: ParquetError| damaged(input, error);
    let schema = if verdicts.is_annotated { with_marks(&schema).map_err(fail)? } else { schema };
    let properties = Arc::new(properties::of(metadata, verdicts.is_annotated));
    let mut writer = SerializedFileWriter::new(sink, schema, properties).map_err(fail)?;
    let (mut first, mut n_written) = (0, 0);
    for (group, of_group) in metadata.row_groups().iter().enumerate() {
        let n_rows = of_group.num_rows() as u64;
        let kept = verdicts.take(first..first + n_rows)?;
        first += n_rows;
        if kept.n > 0 {
            let copy = RowGroupCopy { file: &file, reader: &reader, group, kept: &kept };
            let mut to = writer.next_row_group().map_err(fail)?;
            decoded(input, Format::Parquet, || {
                copy.columns(&mut to)?;
                marks::write(&kept.annotations, &mut to)
            })?;
            to.close().map_err(fail)?;
            n_written += kept.n as u64;
        }
    }
    if let Some(row) = verdicts.next_row() {
        return Err(damaged(input, format!("{first} rows, and row {row} is to be copied")));
    }
    writer.close().map_err(fail)?;
    Ok(n_written)
}

/// The rows of one row group.
struct RowGroupCopy<'a> {
    file: &'a Seekable,
    reader: &'a SerializedFileReader<Seekable>,
    group: usize,
    kept: &'a Kept,
}

impl RowGroupCopy<'_> {
    fn columns(&self, to: &mut SerializedRowGroupWriter<'_, &mut Sink<'_>>) -> Result<(), ParquetError> {
        let group = self.reader.get_row_group(self.group)?;
        let n_rows = self.kept.n_rows;
        for (i, column) in group.metadata().columns().iter().enumerate() {
            let about =
                |error| ParquetError::General(format!("column `{}`: {error}", column.column_path().string()));
            if self.kept.n == n_rows {
                self.whole(column, to).map_err(about)?;
                continue;
            }
            let mean = column.uncompressed_size() as usize / n_rows.max(1);
            check_parquet_column(&mut self.file.try_clone()?, column).map_err(about)?;
            let from = group.get_column_reader(i).map_err(about)?;
            let Some(mut writer) = to.next_column()? else { break };
            copy::rows(from, &mut writer, &self.kept.runs(), mean).map_err(about)?;
            writer.close()?;
        }
        Ok(())
    }

    /// A column of which every row is kept, byte for byte.
    fn whole(
        &self,
        column: &ColumnChunkMetaData,
        to: &mut SerializedRowGroupWriter<'_, &mut Sink<'_>>,
    ) -> Result<(), ParquetError> {
        let close = ColumnCloseResult {
            bytes_written: column.compressed_size() as u64,
            rows_written: self.kept.n as u64,
            metadata: column.clone(),
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        to.append_column(self.file, close)
    }
}

/// Refuses numbers that no file has, on which the decoder would panic.
fn check(metadata: &ParquetMetaData) -> Result<(), ParquetError> {
    let is_bad = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().unwrap_or(0);
        let numbers =
            [column.data_page_offset(), column.compressed_size(), column.uncompressed_size(), dictionary];
        numbers.iter().any(|&number| number < 0) || column.file_path().is_some()
    };
    for group in metadata.row_groups() {
        if group.num_rows() < 0 || group.columns().iter().any(is_bad) {
            return Err(ParquetError::General("a column has no place in the file".into()));
        }
    }
    Ok(())
}

/// The schema with the five columns at its end.
fn with_marks(schema: &TypePtr) -> Result<TypePtr, ParquetError> {
    let fields = schema.get_fields().iter().cloned().chain(marks::types()?).collect();
    Type::group_type_builder(schema.name()).with_fields(fields).build().map(Arc::new)
}

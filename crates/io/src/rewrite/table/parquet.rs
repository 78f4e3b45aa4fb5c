//! Parquet: column by column, without a detour over other types. Values, levels and schema stay what they are.
//!
//! ```text
//! rows of a column --decoded, encoded, one after the other--> pages --compressed, any thread--> in order into the file
//! ```

mod copy;
mod marks;
mod page;
mod placed;
mod properties;
mod source;

use std::sync::Arc;

use benzer_flow::pipeline::{self, OneByOne, Work};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::sink::Sink;
use super::verdicts::Verdicts;
use super::{annotate, damaged, decoded};
use crate::error::{Error, Result};
use crate::read::{Format, Input, check_parquet_index};
use page::PageCompressor;
use placed::{Placed, Placer};
use source::{Source, Step};

pub(super) fn rewrite(
    input: &Input,
    sink: &mut Sink<'_>,
    verdicts: &mut Verdicts<'_>,
    threads: usize,
) -> Result<u64> {
    let index = input.open()?.ok_or_else(|| Error::without_ranges(&input.path, "a parquet file"))?;
    let file = index.again();
    let open = || {
        check_parquet_index(&mut index.again())?;
        SerializedFileReader::new(index)
    };
    let reader = match decoded(input, Format::Parquet, open) {
        Err(_) if verdicts.is_empty => return Ok(0),
        reader => reader?,
    };
    let (metadata, is_annotated) = (reader.metadata(), verdicts.is_annotated);
    check(metadata).map_err(|error| damaged(input, error))?;
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    if is_annotated {
        annotate::check_names(schema.get_fields().iter().map(|field| field.name()), input)?;
    }
    let fail = |error: ParquetError| damaged(input, error);
    let schema = if is_annotated { with_marks(&schema).map_err(fail)? } else { schema };
    let mut placer = Placer::new(input, &file, sink, &schema, properties::of(metadata, is_annotated))?;
    let source = Source {
        input,
        file: &file,
        reader: &reader,
        verdicts,
        schema: Arc::new(SchemaDescriptor::new(schema)),
        properties: Arc::new(properties::of_pages(metadata, is_annotated)),
        group: 0,
        first: 0,
        current: None,
    };
    pipeline::run(OneByOne::new(source), &Compress { input }, threads, |placed| placer.place(placed))?;
    placer.finish()
}

struct Compress<'a> {
    input: &'a Input,
}

impl Work for Compress<'_> {
    type Batch = Step;
    type Scratch = PageCompressor;
    type Made = Placed;
    type Error = Error;

    fn make(&self, step: Step, compressor: &mut PageCompressor) -> Result<Placed> {
        Ok(match step {
            Step::Page(page, codec) => {
                let page = compressor.finish(*page, codec).map_err(|error| damaged(self.input, error))?;
                Placed::Page(page)
            }
            Step::Column(closed, codec) => Placed::Column(closed, codec),
            Step::Group(end) => Placed::Group(end),
        })
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

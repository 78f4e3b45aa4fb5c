//! How the output is to be written: as the input was.

use arrow_schema::Schema;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema, parquet_to_arrow_schema};
use parquet::basic::Compression;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::page::is_compressed_here;
use crate::rewrite::table::columns;

/// A page has about so many bytes; this is asked after so many values.
const PAGE_BYTES: usize = 1 << 20;
const MAX_VALUES: usize = 1024;

/// Of the file.
pub(super) fn of(metadata: &ParquetMetaData, is_annotated: bool) -> WriterProperties {
    with_codecs(metadata, is_annotated, |codec| codec)
}

/// Of pages that others compress.
pub(super) fn of_pages(metadata: &ParquetMetaData, is_annotated: bool) -> WriterProperties {
    with_codecs(metadata, is_annotated, |codec| match is_compressed_here(codec) {
        true => Compression::UNCOMPRESSED,
        false => codec,
    })
}

fn with_codecs(
    metadata: &ParquetMetaData,
    is_annotated: bool,
    codec: impl Fn(Compression) -> Compression,
) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_write_batch_size(values_at_once(metadata))
        .set_key_value_metadata(key_values(metadata, is_annotated));
    let first = metadata.row_groups().iter().find(|group| group.num_rows() > 0);
    if let Some(group) = first {
        properties = properties.set_sorting_columns(group.sorting_columns().cloned());
        // The new columns are compressed as the first one is.
        properties = properties.set_compression(codec(group.columns()[0].compression()));
    }
    for column in first.map_or(&[][..], |group| group.columns()) {
        let (path, is_coded) = (column.column_path().clone(), column.dictionary_page_offset().is_some());
        properties = properties
            .set_column_compression(path.clone(), codec(column.compression()))
            .set_column_dictionary_enabled(path, is_coded);
    }
    properties.build()
}

/// So few values that a page of the longest ones stays small.
fn values_at_once(metadata: &ParquetMetaData) -> usize {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let mean = |bytes: i64, n: i64| (bytes / n.max(1)).max(1) as usize;
    let longest = columns.map(|column| mean(column.uncompressed_size(), column.num_values())).max();
    (PAGE_BYTES / longest.unwrap_or(1)).clamp(1, MAX_VALUES)
}

/// The metadata of the file. The Arrow schema among it lists the columns, so it gets the new ones too.
fn key_values(metadata: &ParquetMetaData, is_annotated: bool) -> Option<Vec<KeyValue>> {
    let file = metadata.file_metadata();
    let mut all = file.key_value_metadata()?.clone();
    let place = all.iter().position(|entry| entry.key == ARROW_SCHEMA_META_KEY);
    if let Some(place) = place.filter(|_| is_annotated) {
        match parquet_to_arrow_schema(file.schema_descr(), Some(&all)) {
            Ok(schema) => {
                let fields = schema.fields().iter().cloned().chain(columns::fields().map(Into::into));
                let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
                all[place].value = Some(encode_arrow_schema(&schema));
            }
            // Without it, readers take the types of the file itself.
            Err(_) => drop(all.remove(place)),
        }
    }
    Some(all)
}

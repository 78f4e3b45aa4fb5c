//! `evidence.parquet`, read back.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A file below the input folder and a line of it.
pub type Place = (String, u64);

/// A removal and what is said for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub removed_id: String,
    pub kept_id: String,
    pub removed: Place,
    pub kept: Place,
    pub kept_is_old: bool,
    pub rule: String,
    pub similarity: f64,
    /// Intersection and union, where they were counted.
    pub counts: Option<(u32, u32)>,
}

pub fn read(output: &Path) -> Vec<Evidence> {
    let file = File::open(output.join("evidence.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    batches.flat_map(|batch| rows(&batch.unwrap())).collect()
}

fn rows(batch: &RecordBatch) -> Vec<Evidence> {
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let text = |name: &str, i: usize| column(name).as_string::<i32>().value(i).to_owned();
    let line = |name: &str, i: usize| column(name).as_primitive::<UInt64Type>().value(i);
    let count = |name: &str, i: usize| {
        let column = column(name).as_primitive::<UInt32Type>();
        column.is_valid(i).then(|| column.value(i))
    };
    let row = |i| Evidence {
        removed_id: text("removed_id", i),
        kept_id: text("kept_id", i),
        removed: (text("removed_file", i), line("removed_row", i)),
        kept: (text("kept_file", i), line("kept_row", i)),
        rule: text("rule", i),
        similarity: column("similarity").as_primitive::<Float64Type>().value(i),
        kept_is_old: text("kept_in", i) == "against",
        counts: count("intersection", i).zip(count("union", i).or(count("size", i))),
    };
    (0..batch.num_rows()).map(row).collect()
}

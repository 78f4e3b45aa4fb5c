//! Some rows of one column, decoded and written again.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedColumnWriter;

use crate::rewrite::table::verdicts::Run;

/// What is decoded at a time, about.
const BYTES: usize = 8 << 20;
const MAX_ROWS: usize = 8192;

/// Copies the rows of the runs. `mean` is the length of a value, about.
pub(super) fn rows(
    from: ColumnReader,
    to: &mut SerializedColumnWriter<'_>,
    runs: &[Run],
    mean: usize,
) -> Result<()> {
    let at_once = (BYTES / mean.max(1)).clamp(1, MAX_ROWS);
    match from {
        ColumnReader::BoolColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::Int32ColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::Int64ColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::Int96ColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::FloatColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::DoubleColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::ByteArrayColumnReader(from) => typed(from, to, runs, at_once),
        ColumnReader::FixedLenByteArrayColumnReader(from) => typed(from, to, runs, at_once),
    }
}

fn typed<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut SerializedColumnWriter<'_>,
    runs: &[Run],
    at_once: usize,
) -> Result<()> {
    let to = to.typed::<T>();
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for &Run { skip, keep } in runs {
        if from.skip_records(skip)? < skip {
            return Err(short());
        }
        let mut left = keep;
        while left > 0 {
            values.clear();
            definitions.clear();
            repetitions.clear();
            let n = left.min(at_once);
            let (read, ..) =
                from.read_records(n, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
            if read == 0 {
                return Err(short());
            }
            let levels = |levels: &'_ [i16]| !levels.is_empty();
            let definitions = Some(definitions.as_slice()).filter(|of| levels(of));
            let repetitions = Some(repetitions.as_slice()).filter(|of| levels(of));
            to.write_batch(&values, definitions, repetitions)?;
            left -= read;
        }
    }
    Ok(())
}

fn short() -> ParquetError {
    ParquetError::EOF("it has fewer rows than its row group".into())
}

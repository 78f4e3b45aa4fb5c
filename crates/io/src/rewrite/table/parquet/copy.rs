//! Some rows of one column, decoded and written again, page by page.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl, get_typed_column_writer};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::errors::{ParquetError, Result};

use crate::rewrite::table::verdicts::Run;

/// What is decoded at a time, about.
const BYTES: usize = 8 << 20;
const MAX_ROWS: usize = 8192;

/// A column being copied.
pub(super) trait ColumnCopy: Send {
    /// Copies the next rows; false if there are no more.
    fn step(&mut self) -> Result<bool>;
    /// Ends the column.
    fn close(self: Box<Self>) -> Result<ColumnCloseResult>;
}

struct Typed<T: DataType> {
    from: ColumnReaderImpl<T>,
    to: ColumnWriterImpl<'static, T>,
    /// The runs to come, and the rows of the one before them that are yet to be copied.
    runs: std::vec::IntoIter<Run>,
    left: usize,
    at_once: usize,
    values: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

/// A copy of the rows of the runs. `mean` is the length of a value, about.
pub(super) fn column(
    from: ColumnReader,
    to: ColumnWriter<'static>,
    runs: Vec<Run>,
    mean: usize,
) -> Box<dyn ColumnCopy> {
    let at_once = (BYTES / mean.max(1)).clamp(1, MAX_ROWS);
    match from {
        ColumnReader::BoolColumnReader(from) => Typed::<BoolType>::boxed(from, to, runs, at_once),
        ColumnReader::Int32ColumnReader(from) => Typed::<Int32Type>::boxed(from, to, runs, at_once),
        ColumnReader::Int64ColumnReader(from) => Typed::<Int64Type>::boxed(from, to, runs, at_once),
        ColumnReader::Int96ColumnReader(from) => Typed::<Int96Type>::boxed(from, to, runs, at_once),
        ColumnReader::FloatColumnReader(from) => Typed::<FloatType>::boxed(from, to, runs, at_once),
        ColumnReader::DoubleColumnReader(from) => Typed::<DoubleType>::boxed(from, to, runs, at_once),
        ColumnReader::ByteArrayColumnReader(from) => Typed::<ByteArrayType>::boxed(from, to, runs, at_once),
        ColumnReader::FixedLenByteArrayColumnReader(from) => {
            Typed::<FixedLenByteArrayType>::boxed(from, to, runs, at_once)
        }
    }
}

impl<T: DataType> Typed<T> {
    fn boxed(
        from: ColumnReaderImpl<T>,
        to: ColumnWriter<'static>,
        runs: Vec<Run>,
        at_once: usize,
    ) -> Box<dyn ColumnCopy> {
        Box::new(Self {
            from,
            to: get_typed_column_writer::<T>(to),
            runs: runs.into_iter(),
            left: 0,
            at_once,
            values: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        })
    }
}

impl<T: DataType> ColumnCopy for Typed<T> {
    fn step(&mut self) -> Result<bool> {
        let Self { from, to, values, definitions, repetitions, .. } = self;
        while self.left == 0 {
            let Some(Run { skip, keep }) = self.runs.next() else { return Ok(false) };
            if from.skip_records(skip)? < skip {
                return Err(short());
            }
            self.left = keep;
        }
        values.clear();
        definitions.clear();
        repetitions.clear();
        let n = self.left.min(self.at_once);
        let (read, ..) = from.read_records(n, Some(definitions), Some(repetitions), values)?;
        if read == 0 {
            return Err(short());
        }
        let levels = |levels: &'_ [i16]| !levels.is_empty();
        let definitions = Some(definitions.as_slice()).filter(|of| levels(of));
        let repetitions = Some(repetitions.as_slice()).filter(|of| levels(of));
        to.write_batch(values, definitions, repetitions)?;
        self.left -= read;
        Ok(true)
    }

    fn close(self: Box<Self>) -> Result<ColumnCloseResult> {
        self.to.close()
    }
}

fn short() -> ParquetError {
    ParquetError::EOF("it has fewer rows than its row group".into())
}

//! Rows that leave a stage.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};

use crate::error::{Error, Result};

/// Bytes and rows of a batch.
const BYTES: usize = 16 << 20;
const ROWS: usize = 16 << 10;

/// Rows of an exchange: slice, kind, and three columns whose meaning depends on the kind.
#[derive(Debug, Default)]
pub(super) struct Out {
    slices: Int32Builder,
    kinds: Int32Builder,
    values: [BinaryBuilder; 3],
    bytes: usize,
    n: usize,
    batches: Vec<RecordBatch>,
}

impl Out {
    pub(super) fn row(&mut self, slice: u32, kind: i32, values: [&[u8]; 3]) -> Result<()> {
        let n: usize = values.iter().map(|value| value.len()).sum();
        if i32::try_from(n).is_err() {
            return Err(Error::parameter("text", "of less than 2 GiB", n));
        }
        if self.n > 0 && self.bytes + n > BYTES || self.n == ROWS {
            self.close()?;
        }
        self.slices.append_value(slice as i32);
        self.kinds.append_value(kind);
        self.values.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value));
        self.bytes += n;
        self.n += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        (self.bytes, self.n) = (0, 0);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.slices.finish()), Arc::new(self.kinds.finish())];
        columns.extend(self.values.iter_mut().map(|values| Arc::new(values.finish()) as ArrayRef));
        let names = ["slice", "kind", "a", "b", "c"];
        self.batches.push(batch(names.into_iter().zip(columns))?);
        Ok(())
    }

    pub(super) fn take(&mut self) -> Result<Vec<RecordBatch>> {
        if self.n > 0 {
            self.close()?;
        }
        Ok(std::mem::take(&mut self.batches))
    }
}

pub(super) fn batch<'a>(columns: impl IntoIterator<Item = (&'a str, ArrayRef)>) -> Result<RecordBatch> {
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns
        .into_iter()
        .map(|(name, column)| (Field::new(name, column.data_type().clone(), true), column))
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|_| Error::damaged())
}

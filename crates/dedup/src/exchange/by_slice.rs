//! Stages that work slice by slice.

use arrow_array::RecordBatch;

use super::Stage;
use super::columns::Rows;
use super::out::Out;
use crate::error::Result;

/// What is done with the rows of a slice.
pub(super) trait Slice: Send + Sync {
    /// Takes a row.
    fn take(&mut self, kind: i32, values: [&[u8]; 3], out: &mut Out) -> Result<()>;

    /// All rows of the slice were taken.
    fn end(&mut self, slice: u32, out: &mut Out) -> Result<()>;

    /// All slices came to their end.
    fn finish(&mut self, _: &mut Out) -> Result<()> {
        Ok(())
    }
}

/// Rows of one slice after the other.
pub(super) struct BySlice<S> {
    work: S,
    slice: Option<u32>,
    out: Out,
}

impl<S: Slice> BySlice<S> {
    pub(super) fn new(work: S) -> Self {
        Self { work, slice: None, out: Out::default() }
    }

    fn end(&mut self) -> Result<()> {
        self.slice.take().map_or(Ok(()), |slice| self.work.end(slice, &mut self.out))
    }
}

impl<S: Slice> Stage for BySlice<S> {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        for (slice, kind, values) in Rows::of(batch)?.iter() {
            if self.slice != Some(slice) {
                self.end()?;
                self.slice = Some(slice);
            }
            self.work.take(kind, values, &mut self.out)?;
        }
        self.out.take()
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        self.end()?;
        self.work.finish(&mut self.out)?;
        self.out.take()
    }
}

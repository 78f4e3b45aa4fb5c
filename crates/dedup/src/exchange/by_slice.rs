//! Stages that work slice by slice.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::Stage;
use super::columns::Rows;
use super::out::Out;
use crate::error::Result;

/// What is done with the rows of a slice.
pub(super) trait Slice: Send + Sync {
    /// Takes a row. Rows come in the order of their kinds.
    fn take(&mut self, kind: i32, values: [&[u8]; 3], out: &mut Out) -> Result<()>;

    /// All rows of the slice were taken.
    fn end(&mut self, slice: u32, out: &mut Out) -> Result<()>;

    /// All slices came to their end.
    fn finish(&mut self, _: &mut Out) -> Result<()> {
        Ok(())
    }
}

/// Holds the rows of a task, and works on one slice after the other: engines differ in whether they keep an order.
pub(super) struct BySlice<S> {
    work: S,
    slices: BTreeMap<u32, Vec<Row>>,
    is_finished: bool,
    out: Out,
}

/// Kind and values.
type Row = (i32, [Vec<u8>; 3]);

impl<S: Slice> BySlice<S> {
    pub(super) fn new(work: S) -> Self {
        Self { work, slices: BTreeMap::new(), is_finished: false, out: Out::default() }
    }
}

impl<S: Slice> Stage for BySlice<S> {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        for (slice, kind, values) in Rows::of(batch)?.iter() {
            self.slices.entry(slice).or_default().push((kind, values.map(<[u8]>::to_vec)));
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        while let Some((slice, mut rows)) = self.slices.pop_first() {
            rows.sort_by_key(|(kind, _)| *kind);
            for (kind, values) in rows {
                self.work.take(kind, values.each_ref().map(Vec::as_slice), &mut self.out)?;
            }
            self.work.end(slice, &mut self.out)?;
            let made = self.out.take()?;
            if !made.is_empty() {
                return Ok(made);
            }
        }
        if !std::mem::replace(&mut self.is_finished, true) {
            self.work.finish(&mut self.out)?;
        }
        self.out.take()
    }
}

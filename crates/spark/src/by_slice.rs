//! Stages that work slice by slice.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::columns::Rows;
use super::out::Out;
use super::parts::Records;
use super::{Stage, kind};
use crate::error::Result;

/// What is done with the rows of a slice.
pub(super) trait Slice: Send + Sync {
    /// Takes all rows of a slice, in the order of their kinds.
    fn slice(&mut self, slice: u32, rows: &[Row], out: &mut Out) -> Result<()>;

    fn finish(&mut self, _: &mut Out) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Row {
    pub kind: i32,
    pub values: [Vec<u8>; 3],
}

impl Row {
    pub(super) fn values(&self) -> [&[u8]; 3] {
        self.values.each_ref().map(Vec::as_slice)
    }

    pub(super) fn records(&self) -> Records<'_> {
        Records(&self.values[0])
    }
}

/// Passes on what was found before, and gives the rows with packed records.
pub(super) fn packed<'a>(slice: u32, rows: &'a [Row], out: &mut Out) -> Result<&'a [Row]> {
    let (found, packed) = rows.split_at(rows.partition_point(|row| row.kind <= kind::COPY));
    for row in found {
        out.row(slice, row.kind, row.values())?;
    }
    Ok(packed)
}

/// Holds the rows of a task, and works on one slice after the other: engines differ in whether they keep an order.
pub(super) struct BySlice<S> {
    work: S,
    slices: BTreeMap<u32, Vec<Row>>,
    is_finished: bool,
    out: Out,
}

impl<S: Slice> BySlice<S> {
    pub(super) fn new(work: S) -> Self {
        Self { work, slices: BTreeMap::new(), is_finished: false, out: Out::default() }
    }
}

impl<S: Slice> Stage for BySlice<S> {
    fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>> {
        for (slice, kind, values) in Rows::of(batch)?.iter() {
            self.slices.entry(slice).or_default().push(Row { kind, values: values.map(<[u8]>::to_vec) });
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        while let Some((slice, mut rows)) = self.slices.pop_first() {
            rows.sort_by_key(|row| row.kind);
            self.work.slice(slice, &rows, &mut self.out)?;
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

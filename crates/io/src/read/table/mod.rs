//! Tables: rows of Parquet and Arrow files, of which only the wanted columns are read.
//!
//! The reading thread reads bytes and knows their rows; any thread decodes them. A batch has some rows of one file:
//!
//! - *Parquet*: pages, as they lie in the file ([`parquet`]). Row groups of any size are read a few pages at a time.
//! - *Arrow*: some rows of a record batch ([`arrow`]), which is held whole, its wanted columns only.
//!
//! A column is found by its path through structs. Texts are strings of any layout, or dictionaries of them; ids may be
//! integers; the order field may be a number, a date, a time or a string. A null is a reject of its row, as a string
//! that is not UTF-8 is. Where a file has the wanted column not at all, or of another type, every row of it is a
//! reject that says so, and the other files go on. What cannot be decoded is a reject of each of its rows.

mod arrow;
mod column;
mod parquet;
mod rows;
mod types;

use std::io;
use std::sync::Arc;

use super::input::Input;
use super::options::Plan;
use super::reject::{Reject, RejectReason};
use super::rows::{Found, Segment, SegmentKind};
use crate::error::Result;
pub(super) use arrow::ArrowReader;
pub(crate) use arrow::{ArrowItem, ArrowMessages};
pub(super) use parquet::ParquetReader;
pub(crate) use parquet::check_parquet_column;
pub use parquet::{check_parquet_index, check_parquet_pages};
use rows::Rows;

/// A file of rows being read.
pub(super) trait TableReader: Send {
    /// The next rows, or nothing at the end of the file.
    fn next(&mut self, plan: &Plan) -> Result<Option<TableItem>>;
}

/// What comes next in a file of rows.
pub(super) enum TableItem {
    Rows(UndecodedRows),
    /// One reject for all that follows, whose rows cannot be counted.
    Rest(Reject),
}

impl TableItem {
    /// A reject of all that follows in a file from a row on.
    fn rest(input: &Input, row: u64, reason: RejectReason) -> Self {
        Self::Rest(input.reject(row + 1, row, reason))
    }
}

/// Why rows cannot be read.
#[derive(Debug)]
pub(crate) enum TableFault {
    /// The file cannot be read.
    Io(io::Error),
    /// It was read, and makes no sense.
    Damaged(RejectReason),
}

/// Some rows of a file, not decoded yet.
#[derive(Debug)]
pub(super) struct UndecodedRows {
    pub(super) segment: Segment,
    n_rows: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Pages(parquet::Pages),
    RecordBatch(arrow::Part),
    /// Rows that are known not to be documents.
    Bad(RejectReason),
}

impl UndecodedRows {
    /// Rows the first of which is `row`, counted from 0.
    fn new(input: &Arc<Input>, row: u64, n_rows: usize, content: Content) -> Self {
        let segment = Segment {
            input: Arc::clone(input),
            kind: SegmentKind::Rows,
            start: 0,
            end: 0,
            first_line: row + 1,
            first_offset: row,
        };
        Self { segment, n_rows, content }
    }

    /// The bytes of its file that it holds.
    pub(super) fn n_bytes(&self) -> usize {
        match &self.content {
            Content::Pages(pages) => pages.n_bytes(),
            Content::RecordBatch(part) => part.n_bytes(),
            Content::Bad(_) => 0,
        }
    }

    /// Decodes the rows: their texts, and where each has its own.
    pub(super) fn decode(self, plan: &Plan) -> (String, Found) {
        let mut rows = Rows::new(plan, &self.segment);
        match self.content {
            Content::Bad(reason) => rows.reject(self.n_rows, &reason),
            Content::Pages(pages) => pages.decode(&mut rows),
            Content::RecordBatch(part) => part.decode(&mut rows),
        }
        rows.finish()
    }
}

/// So many rejects that they fill a batch.
fn max_rejects(plan: &Plan) -> u64 {
    (plan.batch_bytes / size_of::<Reject>()).max(1) as u64
}

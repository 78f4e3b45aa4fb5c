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

pub(super) mod arrow;
mod column;
mod guard;
pub(super) mod parquet;
mod rows;
mod types;

use std::sync::Arc;

use super::batch::{Batch, Kind, Plan, RawBatch, Segment};
use super::format::Format;
use super::input::Input;
use super::reject::{Reject, RejectReason};
use crate::error::Result;
pub use guard::guarded;
pub use parquet::{check_all_pages, check_index, check_pages};
use rows::Rows;

/// A file of rows being read.
pub(super) trait Source: Send {
    /// The next rows, or nothing at the end of the file.
    fn next(&mut self, plan: &Arc<Plan>) -> Result<Option<RawBatch>>;
}

/// Some rows of a file, not decoded yet.
#[derive(Debug)]
pub(super) struct Table {
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

impl Table {
    /// The bytes of its file that it holds.
    pub(super) fn n_bytes(&self) -> usize {
        match &self.content {
            Content::Pages(pages) => pages.n_bytes(),
            Content::RecordBatch(part) => part.n_bytes(),
            Content::Bad(_) => 0,
        }
    }

    /// A batch of these rows, the first of which is `row`, counted from 0.
    fn batch(self, input: &Arc<Input>, row: u64, plan: &Arc<Plan>) -> RawBatch {
        let segment = Segment {
            input: Arc::clone(input),
            kind: Kind::Rows,
            start: 0,
            end: 0,
            first_line: row + 1,
            first_offset: row,
        };
        RawBatch { segments: vec![segment], table: Some(self), ..RawBatch::new(plan) }
    }
}

/// Decodes the rows of a batch.
pub(super) fn parse(table: Table, segments: Vec<Segment>, plan: &Plan) -> Batch {
    let mut rows = Rows::new(plan, &segments[0]);
    match table.content {
        Content::Bad(reason) => rows.reject(table.n_rows, &reason),
        Content::Pages(pages) => pages.decode(&mut rows),
        Content::RecordBatch(part) => part.decode(&mut rows),
    }
    rows.finish(segments)
}

/// A reject of all that follows in a file whose further rows cannot be counted.
fn reject_rest(input: &Arc<Input>, row: u64, reason: RejectReason, plan: &Arc<Plan>) -> RawBatch {
    let (file, number) = (Arc::clone(&input.path), input.number);
    let reject = Reject { file, input: number, line: row + 1, offset: row, reason };
    RawBatch { rejects: vec![reject], ..RawBatch::new(plan) }
}

/// So many rejects that they fill a batch.
fn most_rejects(plan: &Plan) -> u64 {
    (plan.batch_bytes / size_of::<Reject>()).max(1) as u64
}

fn damaged(format: Format, detail: impl ToString) -> RejectReason {
    RejectReason::Damaged { format, detail: detail.to_string().into() }
}

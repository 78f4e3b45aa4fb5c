//! Rows of tables, copied without those that were removed, or with marks on them.
//!
//! What stays as it was: the columns, their types, nested or not, and their order; metadata; the codec of each column
//! (at its default level); row groups and record batches, one for one, without those that have no row left. A row group of
//! Parquet that is kept whole is copied byte for byte. Page indexes and bloom filters are not carried over.
//!
//! Memory: the verdicts of one row group or record batch, and of Parquet a few pages of one column for each thread, of Arrow one record
//! batch.

mod arrow;
mod columns;
mod parquet;
mod sink;
mod verdicts;
mod writer;

use std::io::Write;

use super::annotate;
use super::verdict::Verdict;
use crate::error::{Error, Result};
use crate::read::{Format, Input, RejectReason, guarded};
use sink::Sink;
use verdicts::Verdicts;

/// Copies the rows of a Parquet or Arrow file whose verdict says so. Returns how many.
///
/// The verdicts come in the order of the rows; a row without one (a reject) is not copied. If the first verdict has an
/// annotation, five columns are added at the end, named [`ANNOTATIONS`](super::ANNOTATIONS). A compressed Arrow file is
/// written without that compression, which is up to `out`. A file of which no row could be read gives no bytes at all. Pages of Parquet in zstd or snappy are
/// compressed on so many threads; no byte depends on how many.
///
/// # Errors
/// A pipe or another format; a file that changed, or cannot be read where rows are to be kept; a column that has the name of an
/// annotation; an output that fails.
pub fn rewrite(
    input: &Input,
    out: &mut (dyn Write + Send),
    verdicts: &mut (dyn Iterator<Item = Verdict> + Send),
    threads: usize,
) -> Result<u64> {
    copy(input, out, Verdicts::new(verdicts, input), threads)
}

/// The same for verdicts that all have annotations: a file without rows gets the five columns too.
pub fn rewrite_annotated(
    input: &Input,
    out: &mut (dyn Write + Send),
    verdicts: &mut (dyn Iterator<Item = Verdict> + Send),
    threads: usize,
) -> Result<u64> {
    copy(input, out, Verdicts::annotated(verdicts, input), threads)
}

fn copy(
    input: &Input,
    out: &mut (dyn Write + Send),
    mut verdicts: Verdicts<'_>,
    threads: usize,
) -> Result<u64> {
    let mut sink = Sink::new(out);
    let format = input.format().filter(|_| input.bytes.is_some());
    let written = match format {
        Some(Format::Parquet) => parquet::rewrite(input, &mut sink, &mut verdicts, threads),
        Some(Format::Arrow) => arrow::rewrite(input, &mut sink, &mut verdicts),
        _ => {
            let (expected, remedy) = ("a table in a file", "save it to a file first");
            let got = format.map_or("a pipe", |format| format.name());
            return Err(Error::Format { path: input.path.to_path_buf(), expected, got, remedy });
        }
    };
    match sink.failed() {
        Some(source) => Err(Error::Output { path: input.path.to_path_buf(), source }),
        None => written,
    }
}

/// What a decoder said, also when it said it by a panic.
fn decoded<T, E: std::fmt::Display>(
    input: &Input,
    format: Format,
    decode: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    guarded(format, decode).map_err(|reason| match reason {
        RejectReason::Damaged { detail, .. } => damaged(input, detail),
        other => damaged(input, other),
    })
}

/// An error about the contents of the file.
fn damaged(input: &Input, detail: impl ToString) -> Error {
    Error::Copy { path: input.path.to_path_buf(), detail: detail.to_string() }
}

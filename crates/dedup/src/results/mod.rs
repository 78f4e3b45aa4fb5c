//! The results of a finished run, read back: why documents were removed, and what another threshold would do.

mod explain;
pub(crate) mod inputs;
pub mod manifest;
mod rethreshold;
mod rows;

use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{Error, Result};
use crate::tables::{Column, EvidenceColumn, PairsColumn};
use benzer_io::read::{Format, RejectReason, check_parquet_index, check_parquet_pages, guarded};
use benzer_io::store::Address;
pub use explain::{Answer, Explained, explain};
use manifest::Manifest;
pub(crate) use rethreshold::checksum_of_pairs;
pub use rethreshold::{Rethresholded, rethreshold};
use rows::Rows;

/// A row of `evidence.parquet`.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The removed document.
    pub removed_id: String,
    /// The kept one.
    pub kept_id: String,
    /// How similar they are.
    pub similarity: f64,
    /// Elements in both, where they were counted.
    pub intersection: Option<u32>,
    /// Elements in either.
    pub union: Option<u32>,
    /// What the sketches say: estimate and 95% interval.
    pub estimate: Option<[f64; 3]>,
    /// `exact-copy`, `verified`, `estimate`, `component` or `contained`.
    pub rule: String,
    /// File and row of the removed document.
    pub removed_at: Option<(String, u64)>,
    /// File and row of the kept one.
    pub kept_at: Option<(String, u64)>,
    /// Whether the kept one is an old document, of `--against`.
    pub kept_is_old: bool,
    /// Elements of the kept one, where the removed one contains it.
    pub size: Option<u32>,
    /// Where in the text of the removed one that is, in bytes, and that part of the text.
    pub span: Option<(u64, u64, String)>,
}

/// A row of `pairs.parquet`: two similar documents, the first in keep order first.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The earlier document.
    pub id_a: String,
    /// The later one.
    pub id_b: String,
    /// Elements in both, where they were counted.
    pub intersection: Option<u32>,
    /// Elements in either.
    pub union: Option<u32>,
    /// Elements of the earlier one, where the later one contains it.
    pub size: Option<u32>,
    /// How similar they are.
    pub similarity: f64,
    /// Whether the earlier one is an old document, of `--against`.
    pub a_is_old: bool,
    /// Whether they have the same text.
    pub exact_copy: bool,
    /// Their places in keep order.
    pub ranks: [u32; 2],
}

/// Calls `visit` with every removal of a run.
///
/// # Errors
/// No such file, or one that is not as a run writes it.
pub fn evidence(folder: &Path, mut visit: impl FnMut(Removed) -> Result<()>) -> Result<()> {
    use EvidenceColumn as C;
    each(folder, |rows, i| {
        let at = |file: C, row: C| Some((rows.maybe_text(file, i)?.to_owned(), rows.maybe_long(row, i)?));
        let estimate = [C::Estimate, C::Low, C::High].map(|column| rows.maybe_share(column, i));
        visit(Removed {
            removed_id: rows.text(C::RemovedId, i)?.to_owned(),
            kept_id: rows.text(C::KeptId, i)?.to_owned(),
            similarity: rows.share(C::Similarity, i)?,
            intersection: rows.maybe_number(C::Intersection, i),
            union: rows.maybe_number(C::Union, i),
            estimate: match estimate {
                [Some(value), Some(low), Some(high)] => Some([value, low, high]),
                _ => None,
            },
            rule: rows.text(C::Rule, i)?.to_owned(),
            removed_at: at(C::RemovedFile, C::RemovedRow),
            kept_at: at(C::KeptFile, C::KeptRow),
            kept_is_old: rows.maybe_text(C::KeptIn, i) == Some("against"),
            size: rows.maybe_number(C::Size, i),
            span: span(rows, i),
        })
    })
}

fn span(rows: &Rows<'_, EvidenceColumn>, i: usize) -> Option<(u64, u64, String)> {
    let start = rows.maybe_long(EvidenceColumn::SpanStart, i)?;
    let end = rows.maybe_long(EvidenceColumn::SpanEnd, i)?;
    Some((start, end, rows.maybe_text(EvidenceColumn::Span, i)?.to_owned()))
}

/// Calls `visit` with every pair of a run.
///
/// # Errors
/// As [`evidence`].
pub fn pairs(folder: &Path, mut visit: impl FnMut(Pair) -> Result<()>) -> Result<()> {
    use PairsColumn as C;
    each(folder, |rows, i| {
        visit(Pair {
            id_a: rows.text(C::IdA, i)?.to_owned(),
            id_b: rows.text(C::IdB, i)?.to_owned(),
            intersection: rows.maybe_number(C::Intersection, i),
            union: rows.maybe_number(C::Union, i),
            size: rows.maybe_number(C::Size, i),
            similarity: rows.share(C::Similarity, i)?,
            a_is_old: rows.maybe_flag(C::AIsOld, i) == Some(true),
            exact_copy: rows.flag(C::ExactCopy, i)?,
            ranks: [rows.number(C::RankA, i)?, rows.number(C::RankB, i)?],
        })
    })
}

/// Hands some columns of a table of a run to `visit`, some rows at a time, with their number; nothing for a column that the table does not have.
///
/// # Errors
/// As [`evidence`].
pub fn columns<C: Column>(
    folder: &Path,
    columns: &[C],
    mut visit: impl FnMut(usize, &[Option<&ArrayRef>]) -> Result<()>,
) -> Result<()> {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    batches(&folder.join(C::FILE), Some(&names), |batch| {
        let columns: Vec<_> = names.iter().map(|name| batch.column_by_name(name)).collect();
        visit(batch.num_rows(), &columns)
    })
}

/// Hands every row of a table of a run to `visit`.
fn each<C: Column>(folder: &Path, mut visit: impl FnMut(&Rows<'_, C>, usize) -> Result<()>) -> Result<()> {
    let path = &folder.join(C::FILE);
    batches(path, None, |batch| {
        let rows = Rows { path, batch, columns: PhantomData };
        (0..batch.num_rows()).try_for_each(|i| visit(&rows, i))
    })
}

/// Refuses a file in a store.
fn check_here(path: &Path) -> Result<()> {
    if Address::parse(path)?.is_none() {
        return Ok(());
    }
    Err(benzer_io::Error::Store {
        action: "open",
        url: path.display().to_string(),
        what: "it is in a store".to_owned(),
        remedy: "copy the results to this machine first",
    }
    .into())
}

/// Hands a table to `visit`, some rows at a time: all columns, or those that are named.
fn batches(
    path: &Path,
    names: Option<&[&str]>,
    mut visit: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    check_here(path)?;
    let file = File::open(path).map_err(|error| Error::open(path, error))?;
    check(path)?;
    let mut batches = decoded(path, || {
        let mut again = file.try_clone()?;
        check_parquet_index(&mut again)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        check_parquet_pages(&mut again, builder.metadata())?;
        let wanted = match names {
            Some(names) => ProjectionMask::columns(builder.parquet_schema(), names.iter().copied()),
            None => ProjectionMask::all(),
        };
        builder.with_projection(wanted).build()
    })?;
    while let Some(batch) = decoded(path, || batches.next().transpose())? {
        visit(&batch)?;
    }
    Ok(())
}

/// What the decoder makes of the table, or says about it, also when it says it by a panic.
fn decoded<T, E: std::fmt::Display>(
    path: &Path,
    decode: impl FnOnce() -> std::result::Result<T, E>,
) -> Result<T> {
    guarded(Format::Parquet, decode).map_err(|reason| {
        let reason = match reason {
            RejectReason::Damaged { detail, .. } => detail.to_string(),
            other => other.to_string(),
        };
        Error::Results { path: path.to_owned(), reason }
    })
}

/// Compares a table with what the manifest beside it says: pages have no checksums of their own, and a changed byte could be another id.
fn check(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    if !folder.join(manifest::NAME).exists() {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default();
    match Manifest::read(folder)?.files.iter().find(|entry| name == entry.name.as_str()) {
        Some(entry) => Ok(entry.stamp.verify(path)?),
        None => Ok(()),
    }
}

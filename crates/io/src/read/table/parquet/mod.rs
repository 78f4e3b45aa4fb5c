//! Parquet: one thread reads pages of the wanted columns, any thread decodes them. Row groups are read by several at the same time.
//!
//! The pages of the columns do not end at the same rows. A batch has the rows whose values fill `batch_bytes`, ends if
//! possible where a page ends, and holds every page that has some of its rows; a page over the end is in both batches.
//! So the memory does not depend on the size of a row group: a batch holds about `batch_bytes`, or one larger page.
//! Pages of a dictionary are small and stand for much; these are cut anywhere.
//!
//! A file must be seekable, because its index is at its end. What cannot be read: a file without that index is one reject;
//! after a page whose header is damaged, the further rows of the row group are rejects; a page that cannot be decoded
//! costs its own rows.

mod check;
mod chunk;
mod header;
mod leaf;
mod pages;

use std::io;
use std::sync::Arc;

use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use super::{Content, TableFault, TableItem, TableReader, UndecodedRows, max_rejects};
use crate::error::{Error, Result};
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::input::{Input, Seekable};
use crate::read::options::Plan;
use crate::read::reject::RejectReason;
use crate::read::rows::Row;
use crate::read::stream::Progress;
pub(crate) use check::check_parquet_column;
pub use check::{check_parquet_index, check_parquet_pages};
use chunk::{Bytewise, Chunk};
use leaf::Wanted;
use pages::Page;
pub(super) use pages::Pages;

/// More rows than a row group can have.
const TOO_MANY_ROWS: u64 = 1 << 40;
/// A file that says it has more rows for each of its bytes is not believed where they cannot be read: they are not rejected one by one.
const MAX_ROWS_A_BYTE: u64 = 1000;

/// A file, or some row groups of it, being read.
pub(in crate::read) struct ParquetReader {
    input: Arc<Input>,
    file: Arc<Bytewise>,
    /// The index, or why there is none.
    metadata: Option<Arc<ParquetMetaData>>,
    failed: Option<RejectReason>,
    wanted: Result<Arc<Wanted>, RejectReason>,
    /// The row group being read, the number of its first row, and the last row group that is to be.
    group: usize,
    first: u64,
    last: usize,
    /// The first row of it that is in no batch yet, and the pages of the columns.
    row: u64,
    chunks: Vec<Chunk>,
}

impl ParquetReader {
    /// Opens a file, for several who read its row groups at the same time.
    pub(in crate::read) fn open(
        file: Seekable,
        input: &Arc<Input>,
        plan: &Plan,
        progress: &Progress,
    ) -> Result<Vec<Self>> {
        let (metadata, failed) = match read_metadata(&file) {
            Ok(metadata) => (Some(Arc::new(metadata)), None),
            Err(TableFault::Io(source)) => {
                return Err(Error::read(&input.path, source));
            }
            Err(TableFault::Damaged(reason)) => (None, Some(reason)),
        };
        let wanted = match &metadata {
            Some(metadata) => guarded(Format::Parquet, || {
                Ok::<_, ParquetError>(Wanted::find(metadata.file_metadata().schema_descr(), &plan.fields))
            })
            .flatten(),
            None => Err(damaged("no index")),
        };
        let wanted = wanted.map(Arc::new);
        let parts = metadata.as_ref().map_or(vec![(0, 0, 0)], |metadata| parts(metadata, input));
        let file = Arc::new(Bytewise::new(file, progress.clone(), parts.len()));
        let reader = |(group, last, first)| Self {
            input: Arc::clone(input),
            file: Arc::clone(&file),
            metadata: metadata.clone(),
            failed: failed.clone(),
            wanted: wanted.clone(),
            group,
            first,
            last,
            row: 0,
            chunks: Vec::new(),
        };
        Ok(parts.into_iter().map(reader).collect())
    }

    /// The rows of the row group being read.
    fn n_rows(&self, metadata: &ParquetMetaData) -> u64 {
        metadata.row_group(self.group).num_rows().max(0) as u64
    }

    /// The last row that goes into the next batch, and the pages for it. Stays at the first where a column has failed.
    fn cut(&mut self, n_rows: u64, plan: &Plan) -> io::Result<u64> {
        let budget = plan.batch_bytes as f64;
        let (mut end, mut cost) = (self.row, 0.0);
        while end < n_rows {
            for chunk in &mut self.chunks {
                while chunk.failed.is_none() && chunk.loaded <= end {
                    chunk.load(&self.file, n_rows - chunk.loaded)?;
                }
            }
            let pages: Vec<_> = self.chunks.iter().filter_map(|chunk| chunk.page(end)).collect();
            if pages.len() < self.chunks.len() {
                break;
            }
            let step_end = pages.iter().map(|page| page.rows.end).min().unwrap_or(n_rows);
            let per_page = |page: &&Page| page.decoded as f64 / (page.rows.end - page.rows.start) as f64;
            let per_row = size_of::<Row>() as f64 + pages.iter().map(per_page).sum::<f64>();
            let step = per_row * (step_end - end) as f64;
            if cost + step <= budget {
                (end, cost) = (step_end, cost + step);
                continue;
            }
            if end == self.row {
                let whole = pages.iter().filter(|page| !page.is_dictionary_coded).map(|page| page.decoded);
                let is_cheap_to_cut = whole.sum::<u64>() as f64 <= budget;
                let max = if is_cheap_to_cut { ((budget / per_row) as u64).max(1) } else { u64::MAX };
                end += max.min(step_end - end);
            }
            break;
        }
        Ok(end)
    }

    /// The pages of all columns that have rows up to `end`.
    fn take(&mut self, end: u64, metadata: &Arc<ParquetMetaData>, wanted: &Arc<Wanted>) -> Pages {
        let rows = self.row..end;
        let of_leaves = self.chunks.iter_mut().map(|chunk| chunk.take(&rows)).collect();
        Pages { wanted: Arc::clone(wanted), metadata: Arc::clone(metadata), rows, of_leaves }
    }

    /// The next rows.
    fn rows(&mut self, n_rows: u64, content: Content) -> TableItem {
        let row = self.first + self.row;
        self.row += n_rows;
        TableItem::Rows(UndecodedRows::new(&self.input, row, n_rows as usize, content))
    }

    /// Rows of this row group that cannot be read: as many rejects as a batch holds, or one for all that is left of the file where the number of rows is absurd.
    fn bad_rows(&mut self, n_rows: u64, reason: RejectReason, plan: &Plan) -> TableItem {
        if n_rows / MAX_ROWS_A_BYTE > self.input.bytes.unwrap_or(u64::MAX) {
            return self.give_up(reason);
        }
        self.rows(max_rejects(plan).min(n_rows - self.row), Content::Bad(reason))
    }

    /// One reject for all that is left of the file.
    fn give_up(&mut self, reason: RejectReason) -> TableItem {
        self.finish();
        TableItem::rest(&self.input, self.first + self.row, reason)
    }

    /// Is at its end.
    fn finish(&mut self) {
        if self.metadata.take().is_some() || self.failed.take().is_some() {
            self.file.finish(self.input.bytes.unwrap_or(0));
        }
    }
}

/// The row groups of a file in parts that can be read by themselves: first and last row group, and the number of the first row. Behind a row group whose number of rows is absurd nothing is told apart.
fn parts(metadata: &ParquetMetaData, input: &Input) -> Vec<(usize, usize, u64)> {
    let n_groups = metadata.num_row_groups();
    let (mut parts, mut first) = (Vec::new(), 0);
    for group in 0..n_groups {
        let n_rows = metadata.row_group(group).num_rows().max(0) as u64;
        let is_absurd = n_rows > TOO_MANY_ROWS || n_rows / MAX_ROWS_A_BYTE > input.bytes.unwrap_or(u64::MAX);
        parts.push((group, if is_absurd { n_groups } else { group + 1 }, first));
        if is_absurd {
            break;
        }
        first += n_rows;
    }
    if parts.is_empty() {
        parts.push((0, 0, 0));
    }
    parts
}

impl TableReader for ParquetReader {
    fn next(&mut self, plan: &Plan) -> Result<Option<TableItem>> {
        if let Some(reason) = self.failed.clone() {
            return Ok(Some(self.give_up(reason)));
        }
        let Some(metadata) = self.metadata.clone() else { return Ok(None) };
        while self.group < self.last && self.row == self.n_rows(&metadata) {
            self.first += self.row;
            (self.group, self.row) = (self.group + 1, 0);
            self.chunks.clear();
        }
        if self.group == self.last {
            self.finish();
            return Ok(None);
        }
        let n_rows = self.n_rows(&metadata);
        if n_rows > TOO_MANY_ROWS {
            return Ok(Some(self.give_up(damaged(format!("a row group of {n_rows} rows")))));
        }
        let wanted = match self.wanted.clone() {
            Ok(wanted) => wanted,
            Err(reason) => return Ok(Some(self.bad_rows(n_rows, reason, plan))),
        };
        if self.chunks.is_empty() {
            let columns = metadata.row_group(self.group).columns();
            self.chunks = wanted.leaves.iter().map(|leaf| Chunk::new(&columns[leaf.index])).collect();
        }
        let end = self.cut(n_rows, plan).map_err(|error| Error::read(&self.input.path, error))?;
        if end == self.row {
            let failed = self.chunks.iter().find_map(|chunk| chunk.failed.clone());
            return Ok(Some(self.bad_rows(n_rows, damaged(failed.unwrap_or_default()), plan)));
        }
        let pages = self.take(end, &metadata, &wanted);
        Ok(Some(self.rows(end - self.row, Content::Pages(pages))))
    }
}

fn read_metadata(file: &Seekable) -> Result<ParquetMetaData, TableFault> {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Skip);
    let read = || {
        let mut clone = file.again();
        check_parquet_index(&mut clone)?;
        reader.parse_and_finish(file)
    };
    match guarded(Format::Parquet, || Ok::<_, ParquetError>(read())) {
        Ok(Ok(metadata)) => Ok(metadata),
        Ok(Err(ParquetError::External(error))) => match error.downcast::<io::Error>() {
            Ok(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(TableFault::Io(*error)),
            Ok(error) => Err(TableFault::Damaged(damaged(error))),
            Err(error) => Err(TableFault::Damaged(damaged(error))),
        },
        Ok(Err(error)) => Err(TableFault::Damaged(damaged(error))),
        Err(reason) => Err(TableFault::Damaged(reason)),
    }
}

fn damaged(detail: impl ToString) -> RejectReason {
    RejectReason::damaged(Format::Parquet, detail)
}

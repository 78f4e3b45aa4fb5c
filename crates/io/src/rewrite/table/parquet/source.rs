//! The rows that stay, row group after row group, column after column, as encoded pages.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::page::CompressedPage;
use parquet::column::writer::{ColumnCloseResult, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescPtr;

use super::copy::{self, ColumnCopy};
use super::page::PageTray;
use crate::error::Result;
use crate::read::{Format, Input, Seekable, check_parquet_column};
use crate::rewrite::Annotation;
use crate::rewrite::table::verdicts::{Kept, Verdicts};
use crate::rewrite::table::{damaged, decoded};

/// What comes next in the file.
pub(super) enum Step {
    Page(Box<CompressedPage>, Compression),
    /// The end of a column, whose pages have this codec.
    Column(Box<ColumnCloseResult>, Compression),
    /// The end of a row group.
    Group(Box<GroupEnd>),
}

pub(super) struct GroupEnd {
    pub annotations: Vec<Annotation>,
    pub n_rows: usize,
    /// The columns of which every row is kept, byte for byte; there were no pages of them.
    pub whole: Vec<ColumnChunkMetaData>,
}

/// Decodes and encodes; compresses only what others do not.
pub(super) struct Source<'a, 'v> {
    pub input: &'a Input,
    pub file: &'a Seekable,
    pub reader: &'a SerializedFileReader<Seekable>,
    pub verdicts: &'a mut Verdicts<'v>,
    /// Those of the output.
    pub schema: SchemaDescPtr,
    pub properties: WriterPropertiesPtr,
    /// The next row group, and the number of its first row.
    pub group: usize,
    pub first: u64,
    pub current: Option<Group>,
}

/// The row group being copied.
pub(super) struct Group {
    number: usize,
    kept: Kept,
    /// The next column, and the one before it while it is copied.
    next: usize,
    column: Option<Column>,
}

struct Column {
    /// Until it is closed.
    copy: Option<Box<dyn ColumnCopy>>,
    closed: Option<ColumnCloseResult>,
    tray: PageTray,
}

impl Iterator for Source<'_, '_> {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

impl Source<'_, '_> {
    fn step(&mut self) -> Result<Option<Step>> {
        loop {
            let mut group = match self.current.take() {
                Some(group) => group,
                None => match self.next_group()? {
                    Some(group) => group,
                    None => return Ok(None),
                },
            };
            if let Some(step) = decoded(self.input, Format::Parquet, || self.next_page(&mut group))? {
                self.current = Some(group);
                return Ok(Some(step));
            }
            let columns = self.reader.metadata().row_group(group.number).columns();
            if group.next < columns.len() && group.kept.n < group.kept.n_rows {
                let column = decoded(self.input, Format::Parquet, || self.column(&group))?;
                (group.next, group.column) = (group.next + 1, Some(column));
                self.current = Some(group);
                continue;
            }
            let whole = if group.kept.n == group.kept.n_rows { columns.to_vec() } else { Vec::new() };
            let Kept { annotations, n, .. } = group.kept;
            return Ok(Some(Step::Group(Box::new(GroupEnd { annotations, n_rows: n, whole }))));
        }
    }

    /// The next row group of which something is kept.
    fn next_group(&mut self) -> Result<Option<Group>> {
        let groups = self.reader.metadata().row_groups();
        while let Some(group) = groups.get(self.group) {
            let (number, n_rows) = (self.group, group.num_rows() as u64);
            let kept = self.verdicts.take(self.first..self.first + n_rows)?;
            (self.group, self.first) = (number + 1, self.first + n_rows);
            if kept.n > 0 {
                return Ok(Some(Group { number, kept, next: 0, column: None }));
            }
        }
        match self.verdicts.next_row() {
            Some(row) => {
                Err(damaged(self.input, format!("{} rows, and row {row} is to be copied", self.first)))
            }
            None => Ok(None),
        }
    }

    /// The next page of the column that is copied, or its end.
    fn next_page(&self, group: &mut Group) -> Result<Option<Step>, ParquetError> {
        let Some(column) = &mut group.column else { return Ok(None) };
        let of_group = self.reader.metadata().row_group(group.number).column(group.next - 1);
        let codec = of_group.compression();
        loop {
            if let Some(page) = column.tray.pop() {
                return Ok(Some(Step::Page(Box::new(page), codec)));
            }
            let Some(mut copy) = column.copy.take() else {
                let closed = column.closed.take();
                group.column = None;
                return Ok(closed.map(|closed| Step::Column(Box::new(closed), codec)));
            };
            match copy.step().map_err(about(of_group))? {
                true => column.copy = Some(copy),
                false => column.closed = Some(copy.close().map_err(about(of_group))?),
            }
        }
    }

    /// Begins the next column.
    fn column(&self, group: &Group) -> Result<Column, ParquetError> {
        let from = self.reader.get_row_group(group.number)?;
        let of_group = from.metadata().column(group.next);
        let mean = of_group.uncompressed_size() as usize / group.kept.n_rows.max(1);
        let begin = || {
            check_parquet_column(&mut self.file.again(), of_group)?;
            from.get_column_reader(group.next)
        };
        let from = begin().map_err(about(of_group))?;
        let tray = PageTray::default();
        let to = get_column_writer(
            self.schema.column(group.next),
            Arc::clone(&self.properties),
            Box::new(tray.clone()),
        );
        let copy = copy::column(from, to, group.kept.runs(), mean);
        Ok(Column { copy: Some(copy), closed: None, tray })
    }
}

/// Names the column that an error is about.
pub(super) fn about(column: &ColumnChunkMetaData) -> impl Fn(ParquetError) -> ParquetError + '_ {
    |error| ParquetError::General(format!("column `{}`: {error}", column.column_path().string()))
}

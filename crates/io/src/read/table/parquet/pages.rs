//! Some rows as pages of their columns, and how they are decoded.
//!
//! When a page cannot be decoded, the rows are decoded again page by page, so that only those of the bad page are lost.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups, RowSelection, RowSelector};
use parquet::basic::Compression;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::leaf::{Leaf, Wanted};
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::reject::RejectReason;
use crate::read::table::column::Column;
use crate::read::table::rows::{Columns, Rows};

/// Rows of one row group.
#[derive(Debug)]
pub(in crate::read::table) struct Pages {
    pub(super) wanted: Arc<Wanted>,
    pub(super) metadata: Arc<ParquetMetaData>,
    /// The rows, counted from the first of the row group.
    pub(super) rows: Range<u64>,
    /// The pages of each leaf.
    pub(super) of_leaves: Vec<LeafPages>,
}

/// A page of a column, compressed, with its header.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Its rows, counted from the first of the row group.
    pub(super) rows: Range<u64>,
    pub(super) bytes: Bytes,
    /// What its values take when they are decoded, about.
    pub(super) decoded: u64,
    /// Whether that is much more than the page itself takes, so that it is no loss to decode it twice.
    pub(super) is_dictionary_coded: bool,
}

/// The pages of one column that have some of the rows.
#[derive(Debug)]
pub(super) struct LeafPages {
    pub(super) compression: Compression,
    pub(super) dictionary: Option<Bytes>,
    pub(super) pages: Vec<Page>,
}

impl Pages {
    pub(in crate::read::table) fn n_bytes(&self) -> usize {
        self.of_leaves.iter().map(|leaf| leaf.pages.iter().map(|page| page.bytes.len()).sum::<usize>()).sum()
    }

    pub(in crate::read::table) fn decode(&self, rows: &mut Rows<'_>) {
        if let Ok(columns) = self.columns(&self.rows) {
            return rows.add(&columns);
        }
        for part in self.single_pages() {
            match self.columns(&part) {
                Ok(columns) => rows.add(&columns),
                Err(reason) => rows.reject((part.end - part.start) as usize, &reason),
            }
        }
    }

    /// The rows cut wherever a page of any column ends.
    fn single_pages(&self) -> Vec<Range<u64>> {
        let pages = self.of_leaves.iter().flat_map(|leaf| &leaf.pages);
        let mut cuts: Vec<u64> = pages.map(|page| page.rows.end).filter(|&end| end < self.rows.end).collect();
        cuts.extend([self.rows.start, self.rows.end]);
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
    }

    fn columns(&self, rows: &Range<u64>) -> std::result::Result<Columns, RejectReason> {
        let leaves = self.wanted.leaves.iter().zip(&self.of_leaves);
        let decoded: Vec<Column> = leaves
            .map(|(leaf, pages)| guarded(Format::Parquet, || self.column(leaf, pages, rows)))
            .collect::<std::result::Result<_, _>>()?;
        let of_slots =
            self.wanted.of_slots.iter().map(|leaf| leaf.map(|leaf| decoded[leaf].clone())).collect();
        Ok(Columns { of_slots, rows: 0..(rows.end - rows.start) as usize })
    }

    fn column(&self, leaf: &Leaf, pages: &LeafPages, rows: &Range<u64>) -> Result<Column> {
        let group = Group { pages: self, leaf, of_leaf: pages, rows };
        let n_rows = (rows.end - rows.start) as usize;
        let skip = (rows.start - group.first()) as usize;
        let selection = RowSelection::from(vec![RowSelector::skip(skip), RowSelector::select(n_rows)]);
        let reader =
            ParquetRecordBatchReader::try_new_with_row_groups(&leaf.levels, &group, n_rows, Some(selection))?;
        let batches = reader.collect::<std::result::Result<Vec<RecordBatch>, ArrowError>>()?;
        let arrays: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(0).as_ref()).collect();
        let array: ArrayRef = match batches.as_slice() {
            [batch] => Arc::clone(batch.column(0)),
            _ => arrow_select::concat::concat(&arrays)?,
        };
        if array.len() != n_rows {
            return Err(ParquetError::General(format!("{} rows in the place of {n_rows}", array.len())));
        }
        Column::at(array, &leaf.path.names()[1..])
            .ok_or_else(|| ParquetError::General(format!("no column `{}`", leaf.path)))
    }
}

/// The pages of one column over some rows, in the shape of a row group.
struct Group<'a> {
    pages: &'a Pages,
    leaf: &'a Leaf,
    of_leaf: &'a LeafPages,
    rows: &'a Range<u64>,
}

impl Group<'_> {
    fn needed(&self) -> impl Iterator<Item = &Page> {
        let Range { start, end } = *self.rows;
        self.of_leaf.pages.iter().filter(move |page| page.rows.start < end && page.rows.end > start)
    }

    /// The first row of its first page.
    fn first(&self) -> u64 {
        self.needed().next().map_or(self.rows.start, |page| page.rows.start)
    }
}

impl RowGroups for Group<'_> {
    fn num_rows(&self) -> usize {
        self.needed().map(|page| (page.rows.end - page.rows.start) as usize).sum()
    }

    fn column_chunks(&self, _: usize) -> Result<Box<dyn PageIterator>> {
        let is_coded = self.needed().any(|page| page.is_dictionary_coded);
        let dictionary = self.of_leaf.dictionary.as_ref().filter(|_| is_coded);
        let pages = dictionary.into_iter().chain(self.needed().map(|page| &page.bytes));
        let bytes = pages.map(Bytes::as_ref).collect::<Vec<_>>().concat();
        let metadata = ColumnChunkMetaData::builder(self.leaf.description.clone())
            .set_compression(self.of_leaf.compression)
            .set_num_values(self.num_rows() as i64)
            .set_data_page_offset(0)
            .set_total_compressed_size(bytes.len() as i64)
            .build()?;
        let bytes = Arc::new(Bytes::from(bytes));
        let reader = SerializedPageReader::new(bytes, &metadata, self.num_rows(), None)?;
        Ok(Box::new(One(Some(Box::new(reader)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.pages.metadata
    }
}

/// An iterator over one chunk.
struct One(Option<Box<dyn PageReader>>);

impl Iterator for One {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for One {}

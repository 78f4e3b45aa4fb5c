//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are filled directly.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt32Array};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use super::evidence::{Estimates, similarity};
use super::id_column;
use super::result_table::{self, Kind};
use crate::corpus::Ranked;
use crate::error::Result;
use crate::files::FileWriter;
use crate::verify::Edge;

/// The table being written.
pub(crate) struct Pairs {
    file: SerializedFileWriter<FileWriter>,
    columns: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    exact: bool,
    rows: Vec<(Edge, bool)>,
    n_groups: usize,
}

/// Pairs of a row group.
const ROWS: usize = 256 << 10;

impl Pairs {
    /// `exact` if intersection and union are those of features.
    pub fn new(out: FileWriter, exact: bool) -> Result<Self> {
        let columns = [
            ("id_a", Kind::Text),
            ("id_b", Kind::Text),
            ("intersection?", Kind::Number),
            ("union?", Kind::Number),
            ("similarity", Kind::Share),
            ("exact_copy", Kind::Flag),
            ("rank_a", Kind::Number),
            ("rank_b", Kind::Number),
        ];
        let (writer, schema) = result_table::begin(out, &columns)?;
        let (file, columns) = writer.into_serialized_writer()?;
        Ok(Self { file, columns, schema, exact, rows: Vec::new(), n_groups: 0 })
    }

    pub fn push(
        &mut self,
        edge: &Edge,
        is_copy: bool,
        ranked: &Ranked<'_>,
        estimates: &Estimates,
    ) -> Result<()> {
        self.rows.push((*edge, is_copy));
        if self.rows.len() == ROWS { self.flush(ranked, estimates) } else { Ok(()) }
    }

    fn flush(&mut self, ranked: &Ranked<'_>, estimates: &Estimates) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let counts = |count: fn(&Edge) -> u32| -> ArrayRef {
            let counted = |(edge, is_copy): &(Edge, bool)| (self.exact || *is_copy).then(|| count(edge));
            match self.exact {
                true => Arc::new(UInt32Array::from_iter_values(rows.iter().map(|(edge, _)| count(edge)))),
                false => Arc::new(UInt32Array::from_iter(rows.iter().map(counted))),
            }
        };
        let similarities =
            rows.iter().map(|(edge, is_copy)| similarity(edge, self.exact || *is_copy, estimates));
        let earlier = UInt32Array::from_iter_values(rows.iter().map(|(edge, _)| edge.earlier));
        let later = UInt32Array::from_iter_values(rows.iter().map(|(edge, _)| edge.later));
        let of_ids = [earlier.clone(), later.clone()];
        let others: [ArrayRef; 6] = [
            counts(|edge| edge.intersection),
            counts(|edge| edge.union),
            Arc::new(Float64Array::from_iter_values(similarities)),
            Arc::new(BooleanArray::from_iter(rows.iter().map(|(_, is_copy)| Some(*is_copy)))),
            Arc::new(earlier),
            Arc::new(later),
        ];
        let mut writers = self.columns.create_column_writers(self.n_groups)?.into_iter().skip(of_ids.len());
        let descriptions: Vec<_> = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        for (ranks, description) in of_ids.iter().zip(descriptions) {
            let (bytes, close) = id_column::encode(ranks.values(), description, |rank, into| {
                into.extend_from_slice(ranked.id(rank)?.as_bytes());
                Ok(())
            })?;
            group.append_column(&bytes, close)?;
        }
        for (array, field) in others.iter().zip(&self.schema.fields()[of_ids.len()..]) {
            let mut writer = writers.next().ok_or(ParquetError::EOF("a writer for each column".into()))?;
            for leaf in compute_leaves(field, array)? {
                writer.write(&leaf)?;
            }
            writer.close()?.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.n_groups += 1;
        self.rows = rows;
        self.rows.clear();
        Ok(())
    }

    pub fn finish(mut self, ranked: &Ranked<'_>, estimates: &Estimates) -> Result<FileWriter> {
        if !self.rows.is_empty() {
            self.flush(ranked, estimates)?;
        }
        Ok(self.file.into_inner()?)
    }
}

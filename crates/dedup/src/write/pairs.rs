//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are filled directly.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, UInt32Array};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use super::evidence::{Counted, Estimates, similarity};
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
    counted: Counted,
    rows: Vec<(Edge, bool)>,
    n_groups: usize,
}

/// Pairs of a row group.
const ROWS: usize = 64 << 10;

impl Pairs {
    pub fn new(out: FileWriter, counted: Counted) -> Result<Self> {
        let columns = [
            ("id_a", Kind::Text),
            ("id_b", Kind::Text),
            ("intersection?", Kind::Number),
            ("union?", Kind::Number),
            ("similarity", Kind::Share),
            ("exact_copy", Kind::Flag),
            ("rank_a", Kind::Number),
            ("rank_b", Kind::Number),
            ("size?", Kind::Number),
            ("a_is_old", Kind::Flag),
        ];
        let (writer, schema) = result_table::begin(out, &columns)?;
        let (file, columns) = writer.into_serialized_writer()?;
        Ok(Self { file, columns, schema, counted, rows: Vec::new(), n_groups: 0 })
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
        let counts = |count: fn(&Edge) -> u32, is_there: [bool; 3]| -> ArrayRef {
            let [union, contained, registers] = is_there;
            let counted = |(edge, is_copy): &(Edge, bool)| {
                let is_there = match self.counted {
                    Counted::Union => union,
                    Counted::Contained => contained,
                    Counted::Registers => registers && *is_copy,
                };
                is_there.then(|| count(edge))
            };
            match self.counted {
                Counted::Union if union => {
                    Arc::new(UInt32Array::from_iter_values(rows.iter().map(|(edge, _)| count(edge))))
                }
                _ => Arc::new(UInt32Array::from_iter(rows.iter().map(counted))),
            }
        };
        let is_exact = self.counted != Counted::Registers;
        let similarities =
            rows.iter().map(|(edge, is_copy)| similarity(edge, is_exact || *is_copy, estimates));
        let flags = |is: &dyn Fn(&(Edge, bool)) -> bool| -> ArrayRef {
            Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(is(row)))))
        };
        let ranks = |rank: fn(&Edge) -> u32| rows.iter().map(|(edge, _)| rank(edge)).collect::<Vec<u32>>();
        let of_ids = [ranks(|edge| edge.earlier), ranks(|edge| edge.later)];
        let places = |ranks: &[u32]| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(ranks.iter().map(|rank| ranked.guests.place(*rank))))
        };
        let others: [ArrayRef; 8] = [
            counts(|edge| edge.intersection, [true, true, true]),
            counts(|edge| edge.union, [true, false, true]),
            Arc::new(Float64Array::from_iter_values(similarities)),
            flags(&|(_, is_copy)| *is_copy),
            places(&of_ids[0]),
            places(&of_ids[1]),
            counts(|edge| edge.union, [false, true, false]),
            flags(&|(edge, _)| ranked.is_old(edge.earlier)),
        ];
        let mut writers = self.columns.create_column_writers(self.n_groups)?.into_iter().skip(of_ids.len());
        let descriptions: Vec<_> = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        for (ranks, description) in of_ids.iter().zip(descriptions) {
            let (bytes, close) = id_column::encode(ranks, description, |rank, into| {
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

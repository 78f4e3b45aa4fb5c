//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are filled directly.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::writer::SerializedFileWriter;

use super::dictionary_column;
use super::evidence::{Counted, Estimates, similarity};
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

/// A column of a row group.
enum Column {
    Array(ArrayRef),
    Encoded(Box<(Bytes, ColumnCloseResult)>),
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
        let flags = |is: fn(&Ranked<'_>, &(Edge, bool)) -> bool| -> ArrayRef {
            Arc::new(BooleanArray::new(
                BooleanBuffer::collect_bool(rows.len(), |i| is(ranked, &rows[i])),
                None,
            ))
        };
        let places = |rank: fn(&Edge) -> u32| -> ArrayRef {
            let places = rows.iter().map(|(edge, _)| ranked.guests.place(rank(edge)));
            Arc::new(UInt32Array::from_iter_values(places))
        };
        let descriptions: Vec<_> = self.file.schema_descr().columns().to_vec();
        let ids = |rank: fn(&Edge) -> u32, column: usize| {
            let ranks = rows.iter().map(|(edge, _)| rank(edge));
            dictionary_column::encode(ranks, u64::from, Arc::clone(&descriptions[column]), |rank, into| {
                dictionary_column::text(&ranked.id(rank)?, into);
                Ok(())
            })
        };
        let share = |similarity: f64, into: &mut Vec<u8>| {
            into.extend_from_slice(&similarity.to_le_bytes());
            Ok(())
        };
        let description = Arc::clone(&descriptions[4]);
        let shares = dictionary_column::encode(similarities, f64::to_bits, description, share)?;
        let columns = [
            Column::Encoded(ids(|edge| edge.earlier, 0)?.into()),
            Column::Encoded(ids(|edge| edge.later, 1)?.into()),
            Column::Array(counts(|edge| edge.intersection, [true, true, true])),
            Column::Array(counts(|edge| edge.union, [true, false, true])),
            Column::Encoded(shares.into()),
            Column::Array(flags(|_, (_, is_copy)| *is_copy)),
            Column::Array(places(|edge| edge.earlier)),
            Column::Array(places(|edge| edge.later)),
            Column::Array(counts(|edge| edge.union, [false, true, false])),
            Column::Array(flags(|ranked, (edge, _)| ranked.is_old(edge.earlier))),
        ];
        let writers = self.columns.create_column_writers(self.n_groups)?;
        let mut group = self.file.next_row_group()?;
        for ((column, mut writer), field) in columns.into_iter().zip(writers).zip(self.schema.fields()) {
            match column {
                Column::Encoded(encoded) => {
                    let (bytes, close) = *encoded;
                    group.append_column(&bytes, close)?;
                }
                Column::Array(array) => {
                    for leaf in compute_leaves(field, &array)? {
                        writer.write(&leaf)?;
                    }
                    writer.close()?.append_to_row_group(&mut group)?;
                }
            }
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

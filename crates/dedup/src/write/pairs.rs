//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are encoded directly.

use parquet::file::writer::SerializedFileWriter;

use super::dictionary_column::{self, Numbered};
use super::evidence::{Counted, Estimates, similarity};
use super::result_table::{self, Kind};
use crate::corpus::Ranked;
use crate::error::Result;
use crate::files::FileWriter;
use crate::verify::Edge;

/// The table being written.
pub(crate) struct Pairs {
    file: SerializedFileWriter<FileWriter>,
    counted: Counted,
    rows: Vec<(Edge, bool)>,
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
        let (writer, _) = result_table::begin(out, &columns)?;
        let (file, _) = writer.into_serialized_writer()?;
        Ok(Self { file, counted, rows: Vec::new() })
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
        let Self { file, rows, counted } = self;
        let rows = &rows[..];
        let columns: Vec<_> = file.schema_descr().columns().to_vec();
        let [id_a, id_b, both, either, share, copy, rank_a, rank_b, size, old] = &columns[..] else {
            unreachable!("the columns of `new`")
        };
        let edges = || rows.iter().map(|(edge, _)| edge);
        let earlier = Numbered::new(edges().map(|edge| edge.earlier.into()));
        let later = Numbered::new(edges().map(|edge| edge.later.into()));
        // A text of less than 4 GiB has less than 2^31 elements. A copy counts elements, also where the others count registers.
        let counts = Numbered::new(rows.iter().map(|(edge, is_copy)| {
            u64::from(edge.intersection) << 33 | u64::from(*is_copy) << 32 | u64::from(edge.union)
        }));
        let id = |rank: u32, into: &mut Vec<u8>| {
            dictionary_column::text(&ranked.id(rank)?, into);
            Ok(())
        };
        let number = |number: u32, into: &mut Vec<u8>| {
            into.extend_from_slice(&number.to_le_bytes());
            Ok(())
        };
        let similarity = |row: usize, into: &mut Vec<u8>| {
            let (edge, is_copy) = &rows[row];
            let is_exact = *counted != Counted::Registers || *is_copy;
            into.extend_from_slice(&similarity(edge, is_exact, estimates).to_le_bytes());
            Ok(())
        };
        let place = |rank: u32| ranked.guests.place(rank);
        // Whether a row has an intersection, a union, and the size of what is contained.
        let [has_both, has_union, has_size] = match counted {
            Counted::Union => [Some(true), Some(true), Some(false)],
            Counted::Contained => [Some(true), Some(false), Some(true)],
            Counted::Registers => [None, None, Some(false)],
        }
        .map(|has: Option<bool>| move |row: usize| has.unwrap_or(rows[row].1));
        let encoded = [
            earlier.column(id_a, |row, into| id(rows[row].0.earlier, into))?,
            later.column(id_b, |row, into| id(rows[row].0.later, into))?,
            counts.nullable_column(both, has_both, |row, into| number(rows[row].0.intersection, into))?,
            counts.nullable_column(either, has_union, |row, into| number(rows[row].0.union, into))?,
            counts.column(share, similarity)?,
            dictionary_column::flags(copy, rows.iter().map(|(_, is_copy)| *is_copy))?,
            earlier.column(rank_a, |row, into| number(place(rows[row].0.earlier), into))?,
            later.column(rank_b, |row, into| number(place(rows[row].0.later), into))?,
            counts.nullable_column(size, has_size, |row, into| number(rows[row].0.union, into))?,
            dictionary_column::flags(old, edges().map(|edge| ranked.is_old(edge.earlier)))?,
        ];
        let mut group = file.next_row_group()?;
        for (bytes, close) in encoded {
            group.append_column(&bytes, close)?;
        }
        group.close()?;
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

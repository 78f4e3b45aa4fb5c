//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are encoded directly.

use super::dictionary_column::{Columns, Numbered, ROWS, Ranks, bytes, flags, number, share};
use super::evidence::{Counted, Estimates, similarity};
use super::result_table::Kind;
use crate::corpus::Ranked;
use crate::error::Result;
use crate::files::FileWriter;
use crate::verify::Edge;

/// The table being written.
pub(crate) struct Pairs {
    table: Columns,
    counted: Counted,
    rows: Vec<(Edge, bool)>,
    ranks: Ranks,
}

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
        Ok(Self { table: Columns::begin(out, &columns)?, counted, rows: Vec::new(), ranks: Ranks::default() })
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
        let Self { table, rows, counted, ranks } = self;
        let rows = &rows[..];
        let [id_a, id_b, both, either, similar, copy, rank_a, rank_b, size, old] = &table.descriptions();
        let edge = |row: usize| &rows[row].0;
        let earlier = Numbered::by_rank(rows.iter().map(|(edge, _)| edge.earlier), ranks);
        let later = Numbered::by_rank(rows.iter().map(|(edge, _)| edge.later), ranks);
        // A copy counts elements, also where the others count registers.
        let counts = Numbered::by_counts(rows.iter().map(|(edge, is_copy)| (edge, *is_copy)));
        let similarity = |row: usize| {
            let (edge, is_copy) = &rows[row];
            similarity(edge, *counted != Counted::Registers || *is_copy, estimates)
        };
        let place = |rank: u32| ranked.guests.place(rank);
        // Whether a row has an intersection, a union, and the size of what is contained.
        let [has_both, has_union, has_size] = match counted {
            Counted::Union => [Some(true), Some(true), Some(false)],
            Counted::Contained => [Some(true), Some(false), Some(true)],
            Counted::Registers => [None, None, Some(false)],
        }
        .map(|has: Option<bool>| move |row: usize| has.unwrap_or(rows[row].1));
        let columns = [
            earlier.column(id_a, |row, into| bytes(&ranked.id_bytes(edge(row).earlier)?, into))?,
            later.column(id_b, |row, into| bytes(&ranked.id_bytes(edge(row).later)?, into))?,
            counts.nullable_column(both, has_both, |row, into| number(edge(row).intersection, into))?,
            counts.nullable_column(either, has_union, |row, into| number(edge(row).union, into))?,
            counts.column(similar, |row, into| share(similarity(row), into))?,
            flags(copy, rows.iter().map(|(_, is_copy)| *is_copy))?,
            earlier.column(rank_a, |row, into| number(place(edge(row).earlier), into))?,
            later.column(rank_b, |row, into| number(place(edge(row).later), into))?,
            counts.nullable_column(size, has_size, |row, into| number(edge(row).union, into))?,
            flags(old, rows.iter().map(|(edge, _)| ranked.is_old(edge.earlier)))?,
        ];
        table.write(columns)?;
        self.rows.clear();
        Ok(())
    }

    pub fn finish(mut self, ranked: &Ranked<'_>, estimates: &Estimates) -> Result<FileWriter> {
        if !self.rows.is_empty() {
            self.flush(ranked, estimates)?;
        }
        self.table.finish()
    }
}

//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are encoded directly.

use super::dictionary_column::{Columns, Numbered, ROWS, Ranks, bytes, flags, number, share};
use super::evidence::{Counted, Estimates, similarity};
use crate::corpus::Ranked;
use crate::error::Result;
use benzer_io::result_table::Kind;
use benzer_join::Edge;
use benzer_storage::FileWriter;

/// The columns of `pairs.parquet`.
pub(crate) const PAIRS: [(&str, Kind); 10] = [
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

/// The table being written.
pub(crate) struct Pairs {
    table: Columns,
    counted: Counted,
    rows: Vec<Edge>,
    /// The row of the first copy, if there is one.
    copies: usize,
    ranks: Ranks,
}

impl Pairs {
    pub fn new(out: FileWriter, counted: Counted) -> Result<Self> {
        let table = Columns::begin(out, &PAIRS)?;
        Ok(Self { table, counted, rows: Vec::new(), copies: usize::MAX, ranks: Ranks::default() })
    }

    /// Adds edges; those to an old document are edges to the others of its text.
    pub fn extend(&mut self, edges: &[Edge], ranked: &Ranked<'_>, estimates: &Estimates) -> Result<()> {
        if !ranked.guests.has_twins() {
            return self.push(edges, ranked, estimates);
        }
        edges.iter().try_for_each(|edge| {
            self.push(&[*edge], ranked, estimates)?;
            let twins = ranked.guests.twins(edge.earlier).iter();
            twins.copied().try_for_each(|earlier| self.push(&[Edge { earlier, ..*edge }], ranked, estimates))
        })
    }

    fn push(&mut self, mut edges: &[Edge], ranked: &Ranked<'_>, estimates: &Estimates) -> Result<()> {
        while !edges.is_empty() {
            let (now, rest) = edges.split_at(edges.len().min(ROWS - self.rows.len()));
            self.rows.extend_from_slice(now);
            if self.rows.len() == ROWS {
                self.flush(ranked, estimates)?;
            }
            edges = rest;
        }
        Ok(())
    }

    /// What is added from here on are copies.
    pub fn begin_copies(&mut self) {
        self.copies = self.rows.len();
    }

    fn flush(&mut self, ranked: &Ranked<'_>, estimates: &Estimates) -> Result<()> {
        let Self { table, rows, copies, counted, ranks } = self;
        let rows = &rows[..];
        let [id_a, id_b, both, either, similar, copy, rank_a, rank_b, size, old] = &table.descriptions();
        let edge = |row: usize| &rows[row];
        let copies = *copies;
        let is_copy = move |row: usize| row >= copies;
        let earlier = Numbered::by_rank(rows.iter().map(|edge| edge.earlier), ranks);
        let later = Numbered::by_rank(rows.iter().map(|edge| edge.later), ranks);
        // A copy counts elements, also where the others count registers.
        let marked = rows.iter().enumerate().map(|(row, edge)| (edge, is_copy(row)));
        let counts = Numbered::by_counts(marked, ranks);
        let similarity =
            |row: usize| similarity(edge(row), *counted != Counted::Registers || is_copy(row), estimates);
        let place = |rank: u32| ranked.guests.place(rank);
        // Whether a row has an intersection, a union, and the size of what is contained.
        let [has_both, has_union, has_size] = match counted {
            Counted::Union => [Some(true), Some(true), Some(false)],
            Counted::Contained => [Some(true), Some(false), Some(true)],
            Counted::Registers => [None, None, Some(false)],
        }
        .map(|has: Option<bool>| move |row: usize| has.unwrap_or_else(|| is_copy(row)));
        let columns = [
            earlier.column(id_a, |row, into| bytes(&ranked.id_bytes(edge(row).earlier)?, into))?,
            later.column(id_b, |row, into| bytes(&ranked.id_bytes(edge(row).later)?, into))?,
            counts.nullable_column(both, has_both, |row, into| number(edge(row).intersection, into))?,
            counts.nullable_column(either, has_union, |row, into| number(edge(row).union, into))?,
            counts.column(similar, |row, into| share(similarity(row), into))?,
            flags(copy, (0..rows.len()).map(is_copy))?,
            earlier.column(rank_a, |row, into| number(place(edge(row).earlier), into))?,
            later.column(rank_b, |row, into| number(place(edge(row).later), into))?,
            counts.nullable_column(size, has_size, |row, into| number(edge(row).union, into))?,
            flags(old, rows.iter().map(|edge| ranked.is_old(edge.earlier)))?,
        ];
        table.write(columns)?;
        self.rows.clear();
        // The rows to come are copies too.
        if self.copies < usize::MAX {
            self.copies = 0;
        }
        Ok(())
    }

    pub fn finish(mut self, ranked: &Ranked<'_>, estimates: &Estimates) -> Result<FileWriter> {
        if !self.rows.is_empty() {
            self.flush(ranked, estimates)?;
        }
        self.table.finish()
    }
}

//! `pairs.parquet`: every verified edge, as it comes. There can be many: columns are encoded directly.

use super::dictionary_column::{
    Columns, DictionaryKeys, DictionaryTable, Encoded, ROWS, RankNumbers, bytes, encoded, flags, number,
    share,
};
use super::evidence::{CountKind, similarity};
use crate::corpus::CorpusView;
use crate::error::Result;
use crate::tables::PairsColumn;
use benzer_join::{Edge, Estimates, Rank};
use benzer_storage::FileWriter;

pub(crate) struct PairsWriter {
    table: DictionaryTable<PairsColumn>,
    count_kind: CountKind,
    rows: Vec<Edge>,
    /// The row of the first copy, if there is one.
    copies: usize,
}

/// A row group of pairs.
struct Pairs<'a> {
    rows: &'a [Edge],
    copies: usize,
    count_kind: CountKind,
    view: &'a CorpusView<'a>,
    estimates: &'a Estimates,
}

impl PairsWriter {
    pub fn new(out: FileWriter, count_kind: CountKind, threads: usize) -> Result<Self> {
        let table = DictionaryTable::begin(out, threads)?;
        Ok(Self { table, count_kind, rows: Vec::new(), copies: usize::MAX })
    }

    /// Adds edges; those to an old document are edges to the others of its text.
    pub fn extend(&mut self, edges: &[Edge], view: &CorpusView<'_>, estimates: &Estimates) -> Result<()> {
        if !view.found_old.has_twins() {
            return self.push(edges, view, estimates);
        }
        edges.iter().try_for_each(|edge| {
            self.push(&[*edge], view, estimates)?;
            let twins = view.found_old.twins(edge.earlier).iter();
            twins.copied().try_for_each(|earlier| self.push(&[Edge { earlier, ..*edge }], view, estimates))
        })
    }

    fn push(&mut self, mut edges: &[Edge], view: &CorpusView<'_>, estimates: &Estimates) -> Result<()> {
        let most = ROWS * self.table.at_once();
        while !edges.is_empty() {
            let (now, rest) = edges.split_at(edges.len().min(most - self.rows.len()));
            self.rows.extend_from_slice(now);
            if self.rows.len() == most {
                self.flush(view, estimates)?;
            }
            edges = rest;
        }
        Ok(())
    }

    /// What is added from here on are copies.
    pub fn begin_copies(&mut self) {
        self.copies = self.rows.len();
    }

    fn flush(&mut self, view: &CorpusView<'_>, estimates: &Estimates) -> Result<()> {
        let Self { table, rows, copies, count_kind } = self;
        let groups: Vec<Pairs<'_>> = rows
            .chunks(ROWS)
            .enumerate()
            .map(|(i, rows)| {
                let copies = copies.saturating_sub(i * ROWS);
                Pairs { rows, copies, count_kind: *count_kind, view, estimates }
            })
            .collect();
        table.write(&groups, Pairs::encode)?;
        self.rows.clear();
        // The rows to come are copies too.
        if self.copies < usize::MAX {
            self.copies = 0;
        }
        Ok(())
    }

    pub fn finish(mut self, view: &CorpusView<'_>, estimates: &Estimates) -> Result<FileWriter> {
        if !self.rows.is_empty() {
            self.flush(view, estimates)?;
        }
        self.table.finish()
    }
}

impl Pairs<'_> {
    fn encode(&self, columns: &Columns<PairsColumn>, ranks: &mut RankNumbers) -> Result<Vec<Encoded>> {
        let Self { rows, copies, count_kind, view, estimates } = *self;
        let edge = |row: usize| &rows[row];
        let is_copy = move |row: usize| row >= copies;
        let earlier = DictionaryKeys::by_rank(rows.iter().map(|edge| edge.earlier), ranks);
        let later = DictionaryKeys::by_rank(rows.iter().map(|edge| edge.later), ranks);
        // A copy counts elements, also where the others count registers.
        let marked = rows.iter().enumerate().map(|(row, edge)| (edge, is_copy(row)));
        let counts = DictionaryKeys::by_counts(marked, ranks);
        let similarity =
            |row: usize| similarity(edge(row), count_kind != CountKind::Registers || is_copy(row), estimates);
        let place = |rank: Rank| view.found_old.place(rank);
        let [has_both, has_union, has_size] =
            count_kind.has().map(|has| move |row: usize| has.unwrap_or_else(|| is_copy(row)));
        encoded(columns, |column, descr| match column {
            PairsColumn::IdA => {
                earlier.column(descr, |row, into| bytes(&view.id_bytes(edge(row).earlier)?, into))
            }
            PairsColumn::IdB => {
                later.column(descr, |row, into| bytes(&view.id_bytes(edge(row).later)?, into))
            }
            PairsColumn::Intersection => {
                counts.nullable_column(descr, has_both, |row, into| number(edge(row).intersection, into))
            }
            PairsColumn::Union => {
                counts.nullable_column(descr, has_union, |row, into| number(edge(row).union, into))
            }
            PairsColumn::Similarity => counts.column(descr, |row, into| share(similarity(row), into)),
            PairsColumn::ExactCopy => flags(descr, (0..rows.len()).map(is_copy)),
            PairsColumn::RankA => earlier.column(descr, |row, into| number(place(edge(row).earlier), into)),
            PairsColumn::RankB => later.column(descr, |row, into| number(place(edge(row).later), into)),
            PairsColumn::Size => {
                counts.nullable_column(descr, has_size, |row, into| number(edge(row).union, into))
            }
            PairsColumn::AIsOld => flags(descr, rows.iter().map(|edge| view.is_old(edge.earlier))),
        })
    }
}

//! `evidence.parquet`, `clusters.parquet`.

use benzer_core::estimate::{Measured, Registers, Scheme, two_way};
use benzer_core::sketch::{Bits, Packing, SketchSpec, count};

use super::dictionary_column::{
    Columns, Numbered, ROWS, Ranks, bytes, flags, number, row as number_of_row, share, text,
};
use crate::corpus::Ranked;
use crate::decide::{Removal, Rule};
use crate::error::Result;
use benzer_io::result_table::Kind;
use benzer_join::Edge;
use benzer_storage::FileWriter;

/// The columns of `evidence.parquet`.
pub(crate) const EVIDENCE: [(&str, Kind); 18] = [
    ("removed_id", Kind::Text),
    ("kept_id", Kind::Text),
    ("similarity", Kind::Share),
    ("intersection?", Kind::Number),
    ("union?", Kind::Number),
    ("estimate?", Kind::Share),
    ("low?", Kind::Share),
    ("high?", Kind::Share),
    ("rule", Kind::Text),
    ("removed_file", Kind::Text),
    ("removed_row", Kind::Row),
    ("kept_file", Kind::Text),
    ("kept_row", Kind::Row),
    ("kept_in", Kind::Text),
    ("size?", Kind::Number),
    ("span_start?", Kind::Row),
    ("span_end?", Kind::Row),
    ("span?", Kind::Text),
];

/// The columns of `clusters.parquet`.
pub(crate) const CLUSTERS: [(&str, Kind); 5] = [
    ("cluster_id", Kind::Text),
    ("cluster_size", Kind::Number),
    ("id", Kind::Text),
    ("is_kept", Kind::Flag),
    ("similarity", Kind::Share),
];

/// The estimate that sketches give, by the number of equal registers.
#[derive(Debug)]
pub struct Estimates {
    bits: Bits,
    registers: u32,
    by_equal: Vec<Option<Measured>>,
}

impl Estimates {
    pub fn new(spec: &SketchSpec) -> Result<Self> {
        let bits = if let Packing::Bits(bits) = spec.packing { bits } else { Bits::FULL };
        let registers = Registers { k: spec.registers as usize, scheme: Scheme::from(spec.family) };
        let estimate = |equal| Ok(two_way::jaccard(equal, bits.get(), registers, None)?.measured().copied());
        let by_equal = (0..=registers.k).map(estimate).collect::<Result<_>>()?;
        Ok(Self { bits, registers: spec.registers, by_equal })
    }

    /// How many registers two sketches share.
    pub fn equal(&self, a: &[u64], b: &[u64]) -> u32 {
        self.registers - count::mismatches(a, b, self.bits).min(self.registers)
    }

    pub fn of(&self, equal: u32) -> Option<&Measured> {
        self.by_equal.get(equal as usize).and_then(Option::as_ref)
    }

    /// The least number of equal registers whose estimate reaches a similarity.
    pub fn least_equal(&self, similarity: f64) -> u32 {
        let reaches = |equal: &u32| self.of(*equal).is_some_and(|measured| measured.value >= similarity);
        (0..=self.registers).find(reaches).unwrap_or(self.registers)
    }
}

/// What the numbers of an edge are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Elements in both and in either.
    Union,
    /// Elements in both and in the earlier, which the later one contains.
    Contained,
    /// Equal registers and all registers, copies excepted.
    Registers,
}

/// The similarity of an edge: exact, or as estimated from its equal registers.
pub(crate) fn similarity(edge: &Edge, exact: bool, estimates: &Estimates) -> f64 {
    match exact {
        true => edge.similarity(),
        false => estimates.of(edge.intersection).map_or(0.0, |measured| measured.value),
    }
}

/// Where in a removed document the kept one is, in bytes of its text, and that part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub range: std::ops::Range<usize>,
    pub text: String,
}

/// A number of equal registers that has no estimate.
const NO_ESTIMATE: u32 = u32::MAX;

/// How many removals before they are written their documents are asked for.
const AHEAD: usize = 6;

/// Writes one row for each removed document.
pub(crate) fn evidence(
    out: FileWriter,
    removals: &[Removal],
    ranked: &Ranked<'_>,
    estimates: &Estimates,
    span: impl Fn(&Removal) -> Result<Option<Span>>,
) -> Result<FileWriter> {
    let (mut table, mut known) = (Columns::begin(out, &EVIDENCE)?, Ranks::default());
    for removals in removals.chunks(ROWS) {
        let (mut equal, mut spans) = (Vec::with_capacity(removals.len()), Vec::with_capacity(removals.len()));
        let (mut removed_files, mut kept_files) = (Vec::new(), Vec::new());
        for (i, removal) in removals.iter().enumerate() {
            if let Some(later) = removals.get(i + AHEAD) {
                ranked.expect_row(later.removed());
                ranked.expect_row(later.kept());
            }
            let (removed, kept) = (removal.removed(), removal.kept());
            // Sketches of texts without elements say nothing.
            equal.push(match removal.edge.union {
                0 => NO_ESTIMATE,
                _ => estimates.equal(&ranked.words(removed)?, &ranked.words(kept)?),
            });
            spans.push(span(removal)?);
            removed_files.push(ranked.file_key(removed)?);
            kept_files.push(ranked.file_key(kept)?);
        }
        let [
            removed_id,
            kept_id,
            similar,
            both,
            either,
            estimate,
            low,
            high,
            rule,
            removed_file,
            removed_row,
            kept_file,
            kept_row,
            kept_in,
            size,
            span_start,
            span_end,
            span_text,
        ] = &table.descriptions();
        let edge = |row: usize| &removals[row].edge;
        let is = |row: usize, rules: &[Rule]| rules.contains(&removals[row].rule);
        let has_both = |row: usize| !is(row, &[Rule::Estimate]);
        let has_union = |row: usize| !is(row, &[Rule::Estimate, Rule::Contained]);
        let has_size = |row: usize| is(row, &[Rule::Contained]);
        // Sketches tell how similar two documents are, not whether one contains the other.
        let is_measured = |row: usize| !is(row, &[Rule::Contained]) && estimates.of(equal[row]).is_some();
        let measured = |row: usize, value: fn(&Measured) -> f64| estimates.of(equal[row]).map_or(0.0, value);
        let in_span = |row: usize, place: fn(&Span) -> usize| spans[row].as_ref().map_or(0, place) as u64;
        let has_span = |row: usize| spans[row].is_some();
        let file = |rank: u32| ranked.file_and_row(rank).map(|(file, _)| file);
        let line = |rank: u32| ranked.file_and_row(rank).map(|(_, line)| line);
        let (removed, kept) = (|row: usize| removals[row].removed(), |row: usize| removals[row].kept());
        let rows = 0..removals.len();
        let by_removed = Numbered::by_rank(rows.clone().map(removed), &mut known);
        let by_kept = Numbered::by_rank(rows.clone().map(kept), &mut known);
        let by_counts = Numbered::by_counts(rows.clone().map(|row| (edge(row), !has_both(row))), &mut known);
        let by_equal = Numbered::new(equal.iter().map(|equal| u64::from(*equal)));
        let by_rule = Numbered::new(removals.iter().map(|removal| removal.rule as u64));
        let by_age = Numbered::new(rows.clone().map(|row| ranked.is_old(kept(row)).into()));
        let by_span = Numbered::new(rows.map(|row| if has_span(row) { row as u64 + 1 } else { 0 }));
        let by_removed_file = Numbered::new(removed_files.into_iter());
        let by_kept_file = Numbered::new(kept_files.into_iter());
        let exact = |row: usize| similarity(edge(row), has_both(row), estimates);
        let age = |row: usize| if ranked.is_old(kept(row)) { "against" } else { "input" };
        let span_of = |row: usize| spans[row].as_ref().map_or("", |span| &span.text);
        table.write([
            by_removed.column(removed_id, |row, into| bytes(&ranked.id_bytes(removed(row))?, into))?,
            by_kept.column(kept_id, |row, into| bytes(&ranked.id_bytes(kept(row))?, into))?,
            by_counts.column(similar, |row, into| share(exact(row), into))?,
            by_counts.nullable_column(both, has_both, |row, into| number(edge(row).intersection, into))?,
            by_counts.nullable_column(either, has_union, |row, into| number(edge(row).union, into))?,
            by_equal
                .nullable_column(estimate, is_measured, |i, into| share(measured(i, |m| m.value), into))?,
            by_equal.nullable_column(low, is_measured, |i, into| share(measured(i, |m| m.low), into))?,
            by_equal.nullable_column(high, is_measured, |i, into| share(measured(i, |m| m.high), into))?,
            by_rule.column(rule, |row, into| text(removals[row].rule.name(), into))?,
            by_removed_file.column(removed_file, |row, into| text(&file(removed(row))?, into))?,
            by_removed.column(removed_row, |row, into| number_of_row(line(removed(row))?, into))?,
            by_kept_file.column(kept_file, |row, into| text(&file(kept(row))?, into))?,
            by_kept.column(kept_row, |row, into| number_of_row(line(kept(row))?, into))?,
            by_age.column(kept_in, |row, into| text(age(row), into))?,
            by_counts.nullable_column(size, has_size, |row, into| number(edge(row).union, into))?,
            by_span.nullable_column(span_start, has_span, |row, into| {
                number_of_row(in_span(row, |span| span.range.start), into)
            })?,
            by_span.nullable_column(span_end, has_span, |row, into| {
                number_of_row(in_span(row, |span| span.range.end), into)
            })?,
            by_span.nullable_column(span_text, has_span, |row, into| text(span_of(row), into))?,
        ])?;
    }
    table.finish()
}

/// Writes the members of each cluster of two or more, the kept one first. `by_keeper` is sorted by keeper, then by removed document.
pub(crate) fn clusters(
    out: FileWriter,
    by_keeper: &[Removal],
    ranked: &Ranked<'_>,
    estimates: &Estimates,
) -> Result<FileWriter> {
    let (mut table, mut known) = (Columns::begin(out, &CLUSTERS)?, Ranks::default());
    // Of each member its cluster's removals, and its own, if it was removed.
    let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept());
    let members = clusters.flat_map(|cluster| {
        std::iter::once((cluster, None)).chain(cluster.iter().map(move |removal| (cluster, Some(removal))))
    });
    let mut rest = members.peekable();
    while rest.peek().is_some() {
        let members: Vec<(&[Removal], Option<&Removal>)> = rest.by_ref().take(ROWS).collect();
        let [cluster_id, cluster_size, id, is_kept, similar] = &table.descriptions();
        let keeper = |row: usize| members[row].0[0].kept();
        let size = |row: usize| members[row].0.len() as u32 + 1;
        let rank = |row: usize| members[row].1.map_or(keeper(row), Removal::removed);
        let similarity = |row: usize| {
            members[row]
                .1
                .map_or(1.0, |removal| similarity(&removal.edge, removal.rule != Rule::Estimate, estimates))
        };
        let rows = 0..members.len();
        let by_keeper = Numbered::by_rank(rows.clone().map(keeper), &mut known);
        let by_rank = Numbered::by_rank(rows.clone().map(rank), &mut known);
        let by_similarity = Numbered::new(rows.map(|row| similarity(row).to_bits()));
        table.write([
            by_keeper.column(cluster_id, |row, into| bytes(&ranked.id_bytes(keeper(row))?, into))?,
            by_keeper.column(cluster_size, |row, into| number(size(row), into))?,
            by_rank.column(id, |row, into| bytes(&ranked.id_bytes(rank(row))?, into))?,
            flags(is_kept, members.iter().map(|(_, removal)| removal.is_none()))?,
            by_similarity.column(similar, |row, into| share(similarity(row), into))?,
        ])?;
    }
    table.finish()
}

//! `evidence.parquet`, `clusters.parquet`.

use std::borrow::Cow;

use benzer_core::estimate::{Measured, Registers, Scheme, two_way};
use benzer_core::sketch::{Bits, Packing, SketchSpec, count};

use super::result_table::{Cell, Kind, Table};
use crate::corpus::Ranked;
use crate::error::Result;
use crate::files::FileWriter;
use crate::job::decide::{Removal, Rule};
use crate::verify::Edge;

/// The estimate that sketches give, by the number of equal registers.
#[derive(Debug)]
pub(crate) struct Estimates {
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

/// Intersection, union, size of what is contained.
fn counts<'a>(edge: &Edge, rule: Rule) -> [Cell<'a>; 3] {
    let (both, of) = (Cell::Number(edge.intersection), Cell::Number(edge.union));
    match rule {
        Rule::Estimate => [Cell::Null; 3],
        Rule::Contained => [both, Cell::Null, of],
        Rule::ExactCopy | Rule::Verified | Rule::Component => [both, of, Cell::Null],
    }
}

/// The similarity of an edge: exact, or as estimated from its equal registers.
pub(crate) fn similarity(edge: &Edge, exact: bool, estimates: &Estimates) -> f64 {
    match exact {
        true => f64::from(edge.intersection) / f64::from(edge.union),
        false => estimates.of(edge.intersection).map_or(0.0, |measured| measured.value),
    }
}

/// Where in a removed document the kept one is, in bytes of its text, and that part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub range: std::ops::Range<usize>,
    pub text: String,
}

/// Writes one row for each removed document.
pub(crate) fn evidence(
    out: FileWriter,
    removals: &[Removal],
    ranked: &Ranked<'_>,
    estimates: &Estimates,
    span: impl Fn(&Removal) -> Result<Option<Span>>,
) -> Result<FileWriter> {
    let columns = [
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
    let mut table = Table::new(out, &columns)?;
    for removal in removals {
        let (removed, kept) = (removal.removed(), removal.kept());
        let exact = removal.rule != Rule::Estimate;
        let equal = estimates.equal(&ranked.words(removed)?, &ranked.words(kept)?);
        // Sketches tell how similar two documents are, not whether one contains the other.
        let measured = estimates.of(equal).filter(|_| removal.rule != Rule::Contained);
        let share = |value: Option<f64>| value.map_or(Cell::Null, Cell::Share);
        let [intersection, union, size] = counts(&removal.edge, removal.rule);
        let found = span(removal)?;
        let place = |place: fn(&Span) -> usize| {
            found.as_ref().map_or(Cell::Null, |span| Cell::Row(place(span) as u64))
        };
        let (removed_file, removed_row) = ranked.file_and_row(removed)?;
        let (kept_file, kept_row) = ranked.file_and_row(kept)?;
        let cells = [
            Cell::Text(&ranked.id(removed)?),
            Cell::Text(&ranked.id(kept)?),
            Cell::Share(similarity(&removal.edge, exact, estimates)),
            intersection,
            union,
            share(measured.map(|m| m.value)),
            share(measured.map(|m| m.low)),
            share(measured.map(|m| m.high)),
            Cell::Text(removal.rule.name()),
            Cell::Text(&removed_file),
            Cell::Row(removed_row),
            Cell::Text(&kept_file),
            Cell::Row(kept_row),
            Cell::Text(if ranked.is_old(kept) { "against" } else { "input" }),
            size,
            place(|span| span.range.start),
            place(|span| span.range.end),
            found.as_ref().map_or(Cell::Null, |span| Cell::Text(&span.text)),
        ];
        table.push(cells)?;
    }
    Ok(table.finish()?)
}

/// Writes the members of each cluster of two or more, the kept one first. `by_keeper` is sorted by keeper, then by removed document.
pub(crate) fn clusters(
    out: FileWriter,
    by_keeper: &[Removal],
    ranked: &Ranked<'_>,
    estimates: &Estimates,
) -> Result<FileWriter> {
    let columns = [
        ("cluster_id", Kind::Text),
        ("cluster_size", Kind::Number),
        ("id", Kind::Text),
        ("is_kept", Kind::Flag),
        ("similarity", Kind::Share),
    ];
    let mut table = Table::new(out, &columns)?;
    for cluster in by_keeper.chunk_by(|a, b| a.kept() == b.kept()) {
        let keeper: Cow<'_, str> = ranked.id(cluster[0].kept())?;
        let size = cluster.len() as u32 + 1;
        let first = [Cell::Text(&keeper), Cell::Number(size)];
        table.push(first.into_iter().chain([Cell::Text(&keeper), Cell::Flag(true), Cell::Share(1.0)]))?;
        for removal in cluster {
            let similarity = similarity(&removal.edge, removal.rule != Rule::Estimate, estimates);
            let id = ranked.id(removal.removed())?;
            table.push(first.into_iter().chain([
                Cell::Text(&id),
                Cell::Flag(false),
                Cell::Share(similarity),
            ]))?;
        }
    }
    Ok(table.finish()?)
}

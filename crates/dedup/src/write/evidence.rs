//! `evidence.parquet`, `clusters.parquet`.

use benzer_core::estimate::Measured;
use parquet::schema::types::ColumnDescPtr;

use super::dictionary_column::{
    Columns, DictionaryKeys, DictionaryTable, Encoded, ROWS, RankNumbers, bytes, encoded, flags, number,
    row as line_number, share, text,
};
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::error::Result;
use crate::tables::{ClustersColumn, EvidenceColumn};
use benzer_join::{Edge, Estimates, Rank};
use benzer_storage::FileWriter;

/// What the numbers of an edge are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountKind {
    /// Elements in both and in either.
    Union,
    /// Elements in both and in the earlier, which the later one contains.
    Contained,
    /// Equal registers and all registers, copies excepted.
    Registers,
}

impl CountKind {
    /// Whether a pair has an intersection, a union, and the size of what is contained; nothing where only copies have it.
    pub fn has(self) -> [Option<bool>; 3] {
        match self {
            Self::Union => [Some(true), Some(true), Some(false)],
            Self::Contained => [Some(true), Some(false), Some(true)],
            Self::Registers => [None, None, Some(false)],
        }
    }
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
pub(crate) struct Excerpt {
    pub range: std::ops::Range<usize>,
    pub text: String,
}

/// A number of equal registers that has no estimate.
const NO_ESTIMATE: u32 = u32::MAX;

/// How many removals before they are written their documents are prefetched.
const AHEAD: usize = 6;

/// Writes one row for each removed document.
pub(crate) fn evidence(
    out: FileWriter,
    removals: &[Removal],
    view: &CorpusView<'_>,
    estimates: &Estimates,
    threads: usize,
    excerpt: impl Fn(&Removal) -> Result<Option<Excerpt>> + Sync,
) -> Result<FileWriter> {
    let mut table = DictionaryTable::begin(out, threads)?;
    let groups: Vec<&[Removal]> = removals.chunks(ROWS).collect();
    for groups in groups.chunks(table.at_once()) {
        table.write(groups, |removals, columns, ranks| {
            let rows = EvidenceRows::new(removals, view, estimates, &excerpt)?;
            let keys = EvidenceKeys::new(&rows, ranks);
            encoded(columns, |column, descr| rows.encode(column, &keys, descr))
        })?;
    }
    table.finish()
}

struct EvidenceRows<'a> {
    removals: &'a [Removal],
    view: &'a CorpusView<'a>,
    estimates: &'a Estimates,
    /// The equal registers of the two sketches of each.
    equal: Vec<u32>,
    excerpts: Vec<Option<Excerpt>>,
    /// The keys of their files.
    removed_files: Vec<u64>,
    kept_files: Vec<u64>,
}

impl<'a> EvidenceRows<'a> {
    fn new(
        removals: &'a [Removal],
        view: &'a CorpusView<'a>,
        estimates: &'a Estimates,
        excerpt: impl Fn(&Removal) -> Result<Option<Excerpt>>,
    ) -> Result<Self> {
        let n = removals.len();
        let (mut equal, mut excerpts) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut removed_files, mut kept_files) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (i, removal) in removals.iter().enumerate() {
            if let Some(later) = removals.get(i + AHEAD) {
                view.prefetch_row(later.removed());
                view.prefetch_row(later.kept());
            }
            let (removed, kept) = (removal.removed(), removal.kept());
            // Sketches of texts without elements say nothing.
            equal.push(match removal.edge.union {
                0 => NO_ESTIMATE,
                _ => estimates.equal(&view.words(removed)?, &view.words(kept)?),
            });
            excerpts.push(excerpt(removal)?);
            removed_files.push(view.file_key(removed)?);
            kept_files.push(view.file_key(kept)?);
        }
        Ok(Self { removals, view, estimates, equal, excerpts, removed_files, kept_files })
    }

    fn encode(&self, column: EvidenceColumn, keys: &EvidenceKeys, descr: &ColumnDescPtr) -> Result<Encoded> {
        use EvidenceColumn as C;
        let Self { removals, view, estimates, .. } = *self;
        let (removed, kept) = (|row: usize| removals[row].removed(), |row: usize| removals[row].kept());
        let file = |rank: Rank| view.file_and_row(rank).map(|(file, _)| file);
        let line = |rank: Rank| view.file_and_row(rank).map(|(_, line)| line);
        let edge = |row: usize| &removals[row].edge;
        let is = |row: usize, rules: &[Rule]| rules.contains(&removals[row].rule);
        let has_both = |row: usize| !is(row, &[Rule::Estimate]);
        let has_union = |row: usize| !is(row, &[Rule::Estimate, Rule::Contained]);
        let exact = |row: usize| similarity(edge(row), has_both(row), estimates);
        let kept_in = |row: usize| if view.is_old(kept(row)) { "against" } else { "input" };
        let estimate = |value: fn(&Measured) -> f64| self.estimate(keys, descr, value);
        let excerpt = |write: fn(&Excerpt, &mut Vec<u8>) -> Result<()>| self.excerpt(keys, descr, write);
        match column {
            C::RemovedId => {
                keys.removed.column(descr, |row, into| bytes(&view.id_bytes(removed(row))?, into))
            }
            C::KeptId => keys.kept.column(descr, |row, into| bytes(&view.id_bytes(kept(row))?, into)),
            C::Similarity => keys.counts.column(descr, |row, into| share(exact(row), into)),
            C::Intersection => {
                keys.counts.nullable_column(descr, has_both, |row, into| number(edge(row).intersection, into))
            }
            C::Union => {
                keys.counts.nullable_column(descr, has_union, |row, into| number(edge(row).union, into))
            }
            C::Estimate => estimate(|measured| measured.value),
            C::Low => estimate(|measured| measured.low),
            C::High => estimate(|measured| measured.high),
            C::Rule => keys.rule.column(descr, |row, into| text(removals[row].rule.name(), into)),
            C::RemovedFile => keys.removed_file.column(descr, |row, into| text(&file(removed(row))?, into)),
            C::RemovedRow => keys.removed.column(descr, |row, into| line_number(line(removed(row))?, into)),
            C::KeptFile => keys.kept_file.column(descr, |row, into| text(&file(kept(row))?, into)),
            C::KeptRow => keys.kept.column(descr, |row, into| line_number(line(kept(row))?, into)),
            C::KeptIn => keys.kept_in.column(descr, |row, into| text(kept_in(row), into)),
            C::Size => keys.counts.nullable_column(
                descr,
                |row| is(row, &[Rule::Contained]),
                |row, into| number(edge(row).union, into),
            ),
            C::SpanStart => excerpt(|excerpt, into| line_number(excerpt.range.start as u64, into)),
            C::SpanEnd => excerpt(|excerpt, into| line_number(excerpt.range.end as u64, into)),
            C::Span => excerpt(|excerpt, into| text(&excerpt.text, into)),
        }
    }

    /// A column of what sketches say: how similar two documents are, not whether one contains the other.
    fn estimate(
        &self,
        keys: &EvidenceKeys,
        descr: &ColumnDescPtr,
        value: fn(&Measured) -> f64,
    ) -> Result<Encoded> {
        let measured = |row: usize| self.estimates.of(self.equal[row]);
        let has = |row: usize| self.removals[row].rule != Rule::Contained && measured(row).is_some();
        keys.equal.nullable_column(descr, has, |row, into| share(measured(row).map_or(0.0, value), into))
    }

    /// A column of where the kept document is in the removed one.
    fn excerpt(
        &self,
        keys: &EvidenceKeys,
        descr: &ColumnDescPtr,
        write: fn(&Excerpt, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Encoded> {
        let none = Excerpt { range: 0..0, text: String::new() };
        keys.excerpt.nullable_column(
            descr,
            |row| self.excerpts[row].is_some(),
            |row, into| write(self.excerpts[row].as_ref().unwrap_or(&none), into),
        )
    }
}

/// What decides the values of the columns.
struct EvidenceKeys {
    removed: DictionaryKeys,
    kept: DictionaryKeys,
    counts: DictionaryKeys,
    equal: DictionaryKeys,
    rule: DictionaryKeys,
    kept_in: DictionaryKeys,
    excerpt: DictionaryKeys,
    removed_file: DictionaryKeys,
    kept_file: DictionaryKeys,
}

impl EvidenceKeys {
    fn new(rows: &EvidenceRows<'_>, ranks: &mut RankNumbers) -> Self {
        let EvidenceRows { removals, view, .. } = *rows;
        let excerpts = rows.excerpts.iter().enumerate();
        Self {
            removed: DictionaryKeys::by_rank(removals.iter().map(Removal::removed), ranks),
            kept: DictionaryKeys::by_rank(removals.iter().map(Removal::kept), ranks),
            counts: DictionaryKeys::by_counts(
                removals.iter().map(|removal| (&removal.edge, removal.rule == Rule::Estimate)),
                ranks,
            ),
            equal: DictionaryKeys::new(rows.equal.iter().map(|equal| u64::from(*equal))),
            rule: DictionaryKeys::new(removals.iter().map(|removal| removal.rule as u64)),
            kept_in: DictionaryKeys::new(removals.iter().map(|removal| view.is_old(removal.kept()).into())),
            excerpt: DictionaryKeys::new(
                excerpts.map(|(row, excerpt)| excerpt.as_ref().map_or(0, |_| row as u64 + 1)),
            ),
            removed_file: DictionaryKeys::new(rows.removed_files.iter().copied()),
            kept_file: DictionaryKeys::new(rows.kept_files.iter().copied()),
        }
    }
}

/// Writes the members of each cluster of two or more, the kept one first. `by_keeper` is sorted by keeper, then by removed document.
pub(crate) fn clusters(
    out: FileWriter,
    by_keeper: &[Removal],
    view: &CorpusView<'_>,
    estimates: &Estimates,
    threads: usize,
) -> Result<FileWriter> {
    let mut table = DictionaryTable::begin(out, threads)?;
    // Of each member its cluster's removals, and its own, if it was removed.
    let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept());
    let members = clusters.flat_map(|cluster| {
        std::iter::once((cluster, None)).chain(cluster.iter().map(move |removal| (cluster, Some(removal))))
    });
    let mut rest = members.peekable();
    while rest.peek().is_some() {
        let members: Vec<Member<'_>> = rest.by_ref().take(ROWS * table.at_once()).collect();
        let groups: Vec<_> = members.chunks(ROWS).collect();
        table.write(&groups, |members, columns, ranks| {
            encode_members(members, columns, ranks, view, estimates)
        })?;
    }
    table.finish()
}

/// A cluster, and the removal of one of its members, but for the kept one.
type Member<'a> = (&'a [Removal], Option<&'a Removal>);

fn encode_members(
    members: &[Member<'_>],
    columns: &Columns<ClustersColumn>,
    ranks: &mut RankNumbers,
    view: &CorpusView<'_>,
    estimates: &Estimates,
) -> Result<Vec<Encoded>> {
    let keeper = |row: usize| members[row].0[0].kept();
    let size = |row: usize| members[row].0.len() as u32 + 1;
    let rank = |row: usize| members[row].1.map_or(keeper(row), Removal::removed);
    let similarity = |row: usize| {
        members[row]
            .1
            .map_or(1.0, |removal| similarity(&removal.edge, removal.rule != Rule::Estimate, estimates))
    };
    let rows = 0..members.len();
    let by_keeper = DictionaryKeys::by_rank(rows.clone().map(keeper), ranks);
    let by_rank = DictionaryKeys::by_rank(rows.clone().map(rank), ranks);
    let by_similarity = DictionaryKeys::new(rows.map(|row| similarity(row).to_bits()));
    encoded(columns, |column, descr| match column {
        ClustersColumn::ClusterId => {
            by_keeper.column(descr, |row, into| bytes(&view.id_bytes(keeper(row))?, into))
        }
        ClustersColumn::ClusterSize => by_keeper.column(descr, |row, into| number(size(row), into)),
        ClustersColumn::Id => by_rank.column(descr, |row, into| bytes(&view.id_bytes(rank(row))?, into)),
        ClustersColumn::IsKept => flags(descr, members.iter().map(|(_, removal)| removal.is_none())),
        ClustersColumn::Similarity => by_similarity.column(descr, |row, into| share(similarity(row), into)),
    })
}

//! The tables of a run at another threshold, with the columns of those of a run.

use std::collections::BTreeMap;
use std::path::Path;

use super::Decided;
use super::graph::{Graph, PairedDocument, similarity};
use crate::decide::Rule;
use crate::error::Result;
use crate::tables::{ClustersColumn, Column, EvidenceColumn, PairsColumn, PlacesColumn};
use benzer_io::result_table::{Cell, Table};
use benzer_join::{Edge, Rank};
use benzer_storage::{FileEntry, FileWriter, Files};

/// Whether a run always knows a column of the evidence, and its pairs may not.
fn is_place(column: EvidenceColumn) -> bool {
    use EvidenceColumn::{KeptFile, KeptRow, RemovedFile, RemovedRow};
    matches!(column, RemovedFile | RemovedRow | KeptFile | KeptRow)
}

impl Graph {
    /// Writes all tables; gives their stamps.
    pub fn write(&self, files: &Files, out: &Path, decided: &Decided) -> Result<Vec<FileEntry>> {
        let create = |name: &str| -> Result<FileWriter> { Ok(files.create(&out.join(name))?) };
        let tables = [
            (PairsColumn::FILE, self.pairs(create(PairsColumn::FILE)?, decided)?),
            (EvidenceColumn::FILE, self.evidence(create(EvidenceColumn::FILE)?, decided)?),
            (ClustersColumn::FILE, self.clusters(create(ClustersColumn::FILE)?, decided)?),
            (PlacesColumn::FILE, self.places(create(PlacesColumn::FILE)?, decided)?),
        ];
        let entry =
            |(name, file): (&str, FileWriter)| Ok(FileEntry { name: name.to_owned(), stamp: file.commit()? });
        tables.into_iter().map(entry).collect()
    }

    fn pairs(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut table = Table::new(out, &PairsColumn::declarations())?;
        let contains = decided.removals.iter().any(|removal| removal.rule == Rule::Contained);
        let edges = self.edges(decided.threshold).map(|edge| (edge, false));
        for (edge, is_copy) in edges.chain(self.copies.iter().map(|copy| (copy, true))) {
            let Edge { earlier, later, intersection, union } = *edge;
            let (a, b) = (self.document(earlier), self.document(later));
            let [either, size] = counts(union, contains);
            table.push(PairsColumn::row(|column| match column {
                PairsColumn::IdA => Cell::Text(&a.id),
                PairsColumn::IdB => Cell::Text(&b.id),
                PairsColumn::Intersection => Cell::Number(intersection),
                PairsColumn::Union => either,
                PairsColumn::Similarity => Cell::Share(if is_copy { 1.0 } else { edge.similarity() }),
                PairsColumn::ExactCopy => Cell::Flag(is_copy),
                PairsColumn::RankA => Cell::Number(earlier.0),
                PairsColumn::RankB => Cell::Number(later.0),
                PairsColumn::Size => size,
                PairsColumn::AIsOld => Cell::Flag(a.is_old),
            }))?;
        }
        Ok(table.finish()?)
    }

    fn evidence(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        use EvidenceColumn as C;
        let name = |column: C| {
            if is_place(column) { format!("{}?", column.name()) } else { column.declared().0.to_owned() }
        };
        let names: Vec<String> = C::ALL.iter().map(|column| name(*column)).collect();
        let kinds = C::ALL.iter().map(|column| column.kind());
        let columns: Vec<_> = names.iter().map(String::as_str).zip(kinds).collect();
        let mut table = Table::new(out, &columns)?;
        for removal in &decided.removals {
            let (removed, kept) = (self.document(removal.removed()), self.document(removal.kept()));
            let facts = self.facts(removal);
            let [either, size] = counts(removal.edge.union, removal.rule == Rule::Contained);
            let estimate = |i: usize| {
                facts.and_then(|facts| facts.estimate).map_or(Cell::Null, |values| Cell::Share(values[i]))
            };
            let span = facts.and_then(|facts| facts.span.as_ref());
            table.push(C::row(|column| match column {
                C::RemovedId => Cell::Text(&removed.id),
                C::KeptId => Cell::Text(&kept.id),
                C::Similarity => Cell::Share(similarity(removal)),
                C::Intersection => Cell::Number(removal.edge.intersection),
                C::Union => either,
                C::Estimate => estimate(0),
                C::Low => estimate(1),
                C::High => estimate(2),
                C::Rule => Cell::Text(removal.rule.name()),
                C::RemovedFile => file(removed),
                C::RemovedRow => row(removed),
                C::KeptFile => file(kept),
                C::KeptRow => row(kept),
                C::KeptIn => Cell::Text(if kept.is_old { "against" } else { "input" }),
                C::Size => size,
                C::SpanStart => span.map_or(Cell::Null, |(start, _, _)| Cell::Row(*start)),
                C::SpanEnd => span.map_or(Cell::Null, |(_, end, _)| Cell::Row(*end)),
                C::Span => span.map_or(Cell::Null, |(_, _, text)| Cell::Text(text)),
            }))?;
        }
        Ok(table.finish()?)
    }

    fn clusters(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut table = Table::new(out, &ClustersColumn::declarations())?;
        for cluster in decided.by_keeper.chunk_by(|a, b| a.kept() == b.kept()) {
            let keeper = cluster[0].kept();
            let members = std::iter::once((keeper, true, 1.0))
                .chain(cluster.iter().map(|removal| (removal.removed(), false, similarity(removal))));
            for (rank, is_kept, similarity) in members {
                table.push(ClustersColumn::row(|column| match column {
                    ClustersColumn::ClusterId => Cell::Text(&self.document(keeper).id),
                    ClustersColumn::ClusterSize => Cell::Number(cluster.len() as u32 + 1),
                    ClustersColumn::Id => Cell::Text(&self.document(rank).id),
                    ClustersColumn::IsKept => Cell::Flag(is_kept),
                    ClustersColumn::Similarity => Cell::Share(similarity),
                }))?;
            }
        }
        Ok(table.finish()?)
    }

    fn places(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut others: BTreeMap<Rank, &PairedDocument> = BTreeMap::new();
        for edge in self.edges(decided.threshold) {
            others.extend([edge.earlier, edge.later].map(|rank| (rank, self.document(rank))));
        }
        for removal in &decided.removals {
            others.remove(&removal.removed());
            others.remove(&removal.kept());
        }
        let mut table = Table::new(out, &PlacesColumn::declarations())?;
        for (rank, document) in others {
            if document.place.is_some() {
                table.push(PlacesColumn::row(|column| match column {
                    PlacesColumn::Id => Cell::Text(&document.id),
                    PlacesColumn::File => file(document),
                    PlacesColumn::Row => row(document),
                    PlacesColumn::Rank => Cell::Number(rank.0),
                }))?;
            }
        }
        Ok(table.finish()?)
    }
}

/// Elements in either document, or in the one that the other contains.
fn counts(union: u32, contains: bool) -> [Cell<'static>; 2] {
    match contains {
        true => [Cell::Null, Cell::Number(union)],
        false => [Cell::Number(union), Cell::Null],
    }
}

fn file(document: &PairedDocument) -> Cell<'_> {
    document.place.as_ref().map_or(Cell::Null, |(file, _)| Cell::Text(file))
}

fn row(document: &PairedDocument) -> Cell<'_> {
    document.place.as_ref().map_or(Cell::Null, |(_, row)| Cell::Row(*row))
}

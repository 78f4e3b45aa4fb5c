//! The tables of a run at another threshold, with the columns of those of a run.

use std::collections::BTreeMap;
use std::path::Path;

use super::Decided;
use super::graph::{Graph, PairedDocument, share, similarity};
use crate::decide::Rule;
use crate::error::Result;
use crate::write::{CLUSTERS, EVIDENCE, PAIRS, PLACES, PLACES_COLUMNS};
use benzer_io::result_table::{Cell, Kind, Table};
use benzer_join::Edge;
use benzer_storage::{FileEntry, FileWriter, Files};

/// Columns of the evidence that a run always knows.
const PLACE: [(&str, &str); 4] = [
    ("removed_file", "removed_file?"),
    ("removed_row", "removed_row?"),
    ("kept_file", "kept_file?"),
    ("kept_row", "kept_row?"),
];

impl Graph {
    /// Writes all tables; gives their stamps.
    pub fn write(&self, files: &Files, out: &Path, decided: &Decided) -> Result<Vec<FileEntry>> {
        let create = |name: &str| -> Result<FileWriter> { Ok(files.create(&out.join(name))?) };
        let tables = [
            ("pairs.parquet", self.pairs(create("pairs.parquet")?, decided)?),
            ("evidence.parquet", self.evidence(create("evidence.parquet")?, decided)?),
            ("clusters.parquet", self.clusters(create("clusters.parquet")?, decided)?),
            (PLACES, self.places(create(PLACES)?, decided)?),
        ];
        let entry =
            |(name, file): (&str, FileWriter)| Ok(FileEntry { name: name.to_owned(), stamp: file.commit()? });
        tables.into_iter().map(entry).collect()
    }

    fn pairs(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut table = Table::new(out, &PAIRS)?;
        let contains = decided.removals.iter().any(|removal| removal.rule == Rule::Contained);
        let edges = self.edges(decided.threshold).map(|edge| (edge, false));
        for (edge, is_copy) in edges.chain(self.copies.iter().map(|copy| (copy, true))) {
            let Edge { earlier, later, intersection, union } = *edge;
            let (a, b) = (self.document(earlier), self.document(later));
            let [either, size] = counts(union, contains);
            table.push([
                Cell::Text(&a.id),
                Cell::Text(&b.id),
                Cell::Number(intersection),
                either,
                Cell::Share(if is_copy { 1.0 } else { share(edge) }),
                Cell::Flag(is_copy),
                Cell::Number(earlier),
                Cell::Number(later),
                size,
                Cell::Flag(a.is_old),
            ])?;
        }
        Ok(table.finish()?)
    }

    fn evidence(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let nullable = |(name, kind): (&'static str, Kind)| {
            let found = PLACE.iter().find(|(known, _)| *known == name);
            (found.map_or(name, |(_, nullable)| nullable), kind)
        };
        let mut table = Table::new(out, &EVIDENCE.map(nullable))?;
        for removal in &decided.removals {
            let (removed, kept) = (self.document(removal.removed()), self.document(removal.kept()));
            let said = self.said(removal);
            let [either, size] = counts(removal.edge.union, removal.rule == Rule::Contained);
            let estimate = said.and_then(|said| said.estimate);
            let estimate = estimate.map_or([Cell::Null; 3], |values| values.map(Cell::Share));
            let span = said.and_then(|said| said.span.as_ref());
            let span = span.map_or([Cell::Null; 3], |(start, end, text)| {
                [Cell::Row(*start), Cell::Row(*end), Cell::Text(text)]
            });
            let start = [
                Cell::Text(&removed.id),
                Cell::Text(&kept.id),
                Cell::Share(similarity(removal)),
                Cell::Number(removal.edge.intersection),
                either,
            ];
            let rule = [Cell::Text(removal.rule.name())];
            let end = [Cell::Text(if kept.is_old { "against" } else { "input" }), size];
            let places = place(removed).into_iter().chain(place(kept));
            table.push(start.into_iter().chain(estimate).chain(rule).chain(places).chain(end).chain(span))?;
        }
        Ok(table.finish()?)
    }

    fn clusters(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut table = Table::new(out, &CLUSTERS)?;
        for cluster in decided.by_keeper.chunk_by(|a, b| a.kept() == b.kept()) {
            let keeper = cluster[0].kept();
            let members = std::iter::once((keeper, true, 1.0))
                .chain(cluster.iter().map(|removal| (removal.removed(), false, similarity(removal))));
            for (rank, is_kept, similarity) in members {
                table.push([
                    Cell::Text(&self.document(keeper).id),
                    Cell::Number(cluster.len() as u32 + 1),
                    Cell::Text(&self.document(rank).id),
                    Cell::Flag(is_kept),
                    Cell::Share(similarity),
                ])?;
            }
        }
        Ok(table.finish()?)
    }

    fn places(&self, out: FileWriter, decided: &Decided) -> Result<FileWriter> {
        let mut others: BTreeMap<u32, &PairedDocument> = BTreeMap::new();
        for edge in self.edges(decided.threshold) {
            others.extend([edge.earlier, edge.later].map(|rank| (rank, self.document(rank))));
        }
        for removal in &decided.removals {
            others.remove(&removal.removed());
            others.remove(&removal.kept());
        }
        let mut table = Table::new(out, &PLACES_COLUMNS)?;
        for (rank, document) in others {
            if let Some((file, row)) = &document.place {
                table.push([
                    Cell::Text(&document.id),
                    Cell::Text(file),
                    Cell::Row(*row),
                    Cell::Number(rank),
                ])?;
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

fn place(document: &PairedDocument) -> [Cell<'_>; 2] {
    match &document.place {
        Some((file, row)) => [Cell::Text(file), Cell::Row(*row)],
        None => [Cell::Null; 2],
    }
}

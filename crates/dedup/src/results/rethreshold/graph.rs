//! The pairs of a run as a graph, and what is known of its documents.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::decide::{Removal, Rule, with_copies};
use crate::error::{Error, Result};
use crate::results::{Pair, Removed, each, evidence, pairs};
use crate::tables::{Column, EvidenceColumn, PlacesColumn};
use benzer_core::Threshold;
use benzer_join::resolve::Leaders;
use benzer_join::{Edge, Rank};

pub(super) struct Graph {
    /// In the order in which they are resolved.
    edges: Vec<Edge>,
    pub copies: Vec<Edge>,
    documents: HashMap<Rank, PairedDocument>,
    facts: HashMap<(Rank, Rank), RemovalFacts>,
}

pub(super) struct PairedDocument {
    pub id: String,
    /// Whether it is one of `--against`.
    pub is_old: bool,
    /// Its file and row, where they are known.
    pub place: Option<(Arc<str>, u64)>,
}

/// What the run said of a removed document and the kept one, and pairs do not say.
#[derive(Default)]
pub(super) struct RemovalFacts {
    pub estimate: Option<[f64; 3]>,
    pub span: Option<(u64, u64, String)>,
}

/// The similarity that decided.
pub(super) fn similarity(removal: &Removal) -> f64 {
    match removal.rule {
        Rule::ExactCopy => 1.0,
        _ => removal.edge.similarity(),
    }
}

impl Graph {
    pub fn read(folder: &Path) -> Result<Self> {
        let (mut edges, mut copies, mut documents) = (Vec::new(), Vec::new(), HashMap::new());
        pairs(folder, |pair| {
            let Pair { id_a, id_b, a_is_old, exact_copy, ranks, .. } = pair;
            let [earlier, later] = ranks.map(Rank);
            let (both, of) = (pair.intersection.unwrap_or(0), pair.union.or(pair.size).unwrap_or(0));
            let edge = Edge { later, earlier, intersection: both, union: of };
            let mut document = |rank, id, is_old| {
                documents.entry(rank).or_insert(PairedDocument { id, is_old, place: None });
            };
            document(earlier, id_a, a_is_old);
            document(later, id_b, false);
            if exact_copy {
                copies.push(edge)
            } else {
                edges.push(edge)
            }
            Ok(())
        })?;
        // Those of a document stay in the order in which they are written: others of the text of an old document come behind it.
        edges.sort_by_key(|edge| edge.later);
        copies.sort_unstable();
        Ok(Self { edges, copies, documents, facts: HashMap::new() })
    }

    /// The pairs that reach a threshold, copies not counted.
    pub fn edges(&self, threshold: Threshold) -> impl Iterator<Item = &Edge> {
        self.edges
            .iter()
            .filter(move |edge| threshold.is_reached(edge.intersection.into(), edge.union.into()))
    }

    /// The old documents that reach a threshold with a document of the input, or have the text of one, by rank.
    pub fn matched(&self, threshold: Threshold) -> Vec<Rank> {
        let all = self.edges(threshold).chain(&self.copies).map(|edge| edge.earlier);
        let mut ranks: Vec<Rank> = all.filter(|rank| self.is_old(*rank)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Who is removed at a threshold, in keep order. Copies are copies at any.
    pub fn resolve(&self, threshold: Threshold, rule: Rule) -> Vec<Removal> {
        let mut leaders = Leaders::default();
        self.edges(threshold).for_each(|edge| leaders.push(*edge));
        let removals = leaders.finish().into_iter().map(|edge| Removal { edge, rule }).collect();
        // Of several old documents of its text a copy names the first.
        let mut copies = self.copies.clone();
        copies.dedup_by_key(|copy| copy.later);
        with_copies(removals, &copies)
    }

    /// Learns where documents are: from the evidence of the run, whose rows are its removals in order, and from its list of others. Without the list, as in results of earlier versions, ids say
    /// it where they are places.
    pub fn learn_places(&mut self, folder: &Path, before: &[Removal], ids_are_places: bool) -> Result<()> {
        let mut files = Files::default();
        let mut removals = before.iter();
        let foreign = || Error::Results {
            path: folder.join(EvidenceColumn::FILE),
            reason: "other removals than its pairs.parquet explains".to_owned(),
        };
        evidence(folder, |row| {
            let removal = removals.next().ok_or_else(foreign)?;
            self.learn(removal, row, &mut files).ok_or_else(foreign)
        })?;
        if removals.next().is_some() {
            return Err(foreign());
        }
        if folder.join(PlacesColumn::FILE).exists() {
            return each(folder, |rows, i| {
                let file = rows.maybe_text(PlacesColumn::File, i);
                let at = file.zip(rows.maybe_long(PlacesColumn::Row, i));
                if let Some(document) = self.documents.get_mut(&Rank(rows.number(PlacesColumn::Rank, i)?)) {
                    document.place = at.map(|(file, row)| (files.name(file), row));
                }
                Ok(())
            });
        }
        if ids_are_places {
            for document in self.documents.values_mut().filter(|document| !document.is_old) {
                let place =
                    document.id.rsplit_once(':').and_then(|(file, row)| Some((file, row.parse().ok()?)));
                document.place = place.map(|(file, row)| (files.name(file), row));
            }
        }
        Ok(())
    }

    /// Takes what a row says; nothing if it is not of the removal.
    fn learn(&mut self, removal: &Removal, row: Removed, files: &mut Files) -> Option<()> {
        let both =
            [(removal.removed(), row.removed_id, row.removed_at), (removal.kept(), row.kept_id, row.kept_at)];
        for (rank, id, at) in both {
            let document = self.documents.get_mut(&rank).filter(|document| document.id == id)?;
            document.place = at.map(|(file, row)| (files.name(&file), row));
        }
        let facts = RemovalFacts { estimate: row.estimate, span: row.span };
        self.facts.insert((removal.removed(), removal.kept()), facts);
        Some(())
    }

    pub fn document(&self, rank: Rank) -> &PairedDocument {
        &self.documents[&rank]
    }

    pub fn is_old(&self, rank: Rank) -> bool {
        self.document(rank).is_old
    }

    /// What the run said of a removal, if it removed the same document for the same one.
    pub fn facts(&self, removal: &Removal) -> Option<&RemovalFacts> {
        self.facts.get(&(removal.removed(), removal.kept()))
    }

    /// Documents of removals whose places are not known.
    pub fn unknown_places(&self, removals: &[Removal]) -> usize {
        let ranks = removals.iter().flat_map(|removal| [removal.removed(), removal.kept()]);
        let mut unknown: Vec<Rank> = ranks.filter(|rank| self.document(*rank).place.is_none()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown.len()
    }
}

#[derive(Default)]
struct Files(HashSet<Arc<str>>);

impl Files {
    fn name(&mut self, file: &str) -> Arc<str> {
        if let Some(name) = self.0.get(file) {
            return Arc::clone(name);
        }
        let name: Arc<str> = file.into();
        self.0.insert(Arc::clone(&name));
        name
    }
}

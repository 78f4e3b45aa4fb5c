//! A finished run at a higher threshold, from its pairs: nothing is read or sketched again.

use std::collections::HashMap;
use std::path::Path;

use serde_json::json;

use super::manifest::{self, Manifest};
use super::{Pair, evidence, pairs};
use crate::error::{Error, Result};
use crate::files::{FileEntry, Files, Stamp};
use crate::job::decide::{Removal, Rule, with_copies};
use crate::resolve::Leaders;
use crate::threshold::Threshold;
use crate::verify::Edge;
use crate::write::{Cell, Kind, Table};

/// The table that is written.
const EVIDENCE: &str = "evidence.parquet";

/// What a higher threshold changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rethresholded {
    /// The threshold of the run.
    pub was: f64,
    /// Documents that were removed.
    pub removed_before: u64,
    /// Documents that are removed now.
    pub removed: u64,
    /// Documents that come back.
    pub restored: u64,
}

/// Resolves a run again at a higher threshold and writes evidence.parquet and manifest.json to `out`.
///
/// # Errors
/// A folder without results; a run that decided by estimates or components; a threshold that is not higher.
pub fn rethreshold(folder: &Path, threshold: Threshold, out: &Path) -> Result<Rethresholded> {
    let manifest = Manifest::read(folder)?.json;
    let setting = |name: &str| manifest["settings"][name].clone();
    let was = setting("threshold").as_f64().unwrap_or(0.0);
    if setting("verify") != "exact" || setting("cluster") != "leaders" {
        return Err(Error::parameter("run", "one with --verify exact and --cluster leaders", "another"));
    }
    if threshold.value() < was {
        let expected = format!("at least {was}, the threshold of the run (pairs below it were not kept)");
        return Err(Error::parameter("threshold", expected, threshold));
    }
    super::output::check(folder, out)?;
    let graph = Graph::read(folder, threshold)?;
    let mut places = HashMap::new();
    let mut before = Vec::new();
    evidence(folder, |row| {
        if let Some(at) = row.removed_at {
            places.insert((false, row.removed_id.clone()), at);
        }
        if let Some(at) = row.kept_at {
            places.insert((row.kept_is_old, row.kept_id), at);
        }
        before.push(row.removed_id);
        Ok(())
    })?;
    let contains = setting("measure") == "containment";
    let removals = graph.resolve(if contains { Rule::Contained } else { Rule::Verified });
    let files = Files::new();
    files.create_dir_all(out)?;
    let stamp = graph.write(&files, out, &removals, &places)?;
    let outcome = Rethresholded {
        was,
        removed_before: before.len() as u64,
        removed: removals.len() as u64,
        restored: before.len() as u64 - removals.len() as u64,
    };
    let mut settings = manifest["settings"].clone();
    settings["threshold"] = json!(threshold.value());
    let text = json!({
        "benzer": env!("CARGO_PKG_VERSION"),
        "format": manifest::FORMAT,
        "from": folder,
        "pairs": super::output::checksum_of_pairs(&manifest),
        "settings": settings,
        "counts": {"removed": outcome.removed, "restored": outcome.restored},
        "files": [FileEntry { name: EVIDENCE.to_owned(), stamp }],
    });
    let mut file = files.create(&out.join(manifest::NAME))?;
    file.append(&manifest::sealed(&text))?;
    file.commit()?;
    Ok(outcome)
}

/// The pairs of a run that reach a threshold.
struct Graph {
    edges: Vec<Edge>,
    copies: Vec<Edge>,
    /// Whether a document is old, and its id.
    ids: HashMap<u32, Name>,
}

/// Whether a document is old, and its id.
type Name = (bool, String);

impl Graph {
    fn read(folder: &Path, threshold: Threshold) -> Result<Self> {
        let (mut edges, mut copies, mut ids) = (Vec::new(), Vec::new(), HashMap::new());
        pairs(
            folder,
            |Pair {
                 id_a,
                 id_b,
                 intersection,
                 union,
                 size,
                 a_is_old,
                 exact_copy,
                 ranks: [earlier, later],
                 ..
             }| {
                let (intersection, union) = (intersection.unwrap_or(0), union.or(size).unwrap_or(0));
                let edge = Edge { later, earlier, intersection, union };
                // Texts without elements can be equal, too.
                if exact_copy || threshold.is_reached(intersection.into(), union.into()) {
                    ids.insert(earlier, (a_is_old, id_a));
                    ids.insert(later, (false, id_b));
                    if exact_copy { copies.push(edge) } else { edges.push(edge) }
                }
                Ok(())
            },
        )?;
        edges.sort_unstable();
        copies.sort_unstable();
        // Of several old documents of its text a copy names the first.
        copies.dedup_by_key(|copy| copy.later);
        Ok(Self { edges, copies, ids })
    }

    fn resolve(&self, rule: Rule) -> Vec<Removal> {
        let mut leaders = Leaders::default();
        self.edges.iter().for_each(|edge| leaders.push(*edge));
        let removals = leaders.finish().into_iter().map(|edge| Removal { edge, rule }).collect();
        with_copies(removals, &self.copies)
    }

    fn write(
        &self,
        files: &Files,
        out: &Path,
        removals: &[Removal],
        places: &HashMap<Name, (String, u64)>,
    ) -> Result<Stamp> {
        let columns = [
            ("removed_id", Kind::Text),
            ("kept_id", Kind::Text),
            ("similarity", Kind::Share),
            ("intersection?", Kind::Number),
            ("union?", Kind::Number),
            ("rule", Kind::Text),
            ("removed_file?", Kind::Text),
            ("removed_row?", Kind::Row),
            ("kept_file?", Kind::Text),
            ("kept_row?", Kind::Row),
            ("kept_in", Kind::Text),
            ("size?", Kind::Number),
        ];
        let mut table = Table::new(files.create(&out.join(EVIDENCE))?, &columns)?;
        for removal in removals {
            let Edge { intersection, union, .. } = removal.edge;
            let contains = removal.rule == Rule::Contained;
            let (removed, kept) = (&self.ids[&removal.removed()], &self.ids[&removal.kept()]);
            let place = |name: &Name| match places.get(name) {
                Some((file, row)) => [Cell::Text(file), Cell::Row(*row)],
                None => [Cell::Null; 2],
            };
            let cells = [
                Cell::Text(&removed.1),
                Cell::Text(&kept.1),
                Cell::Share(removal.edge.similarity()),
                Cell::Number(intersection),
                if contains { Cell::Null } else { Cell::Number(union) },
                Cell::Text(removal.rule.name()),
            ];
            let kept_in = Cell::Text(if kept.0 { "against" } else { "input" });
            let end = [kept_in, if contains { Cell::Number(union) } else { Cell::Null }];
            table.push(cells.into_iter().chain(place(removed)).chain(place(kept)).chain(end))?;
        }
        Ok(table.finish()?.commit()?)
    }
}

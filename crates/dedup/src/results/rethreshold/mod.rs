//! A finished run at a higher threshold, from its pairs: nothing is read or sketched again.
//!
//! The pairs that reach the higher threshold are among those that were found, so walking the keep order over them gives what a run at that threshold keeps. A document that was kept can be
//! removed then (what it is similar to was removed for a document that is not similar enough any more), so its place has to be known: see `places.parquet`.
//!
//! What pairs do not say is not made up: texts, the recall, and the estimates of pairs for which nobody was removed before.

mod graph;
mod page;
mod tables;

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::manifest::{self, Manifest};
use crate::decide::{Removal, Rule};
use crate::error::{Error, Result};
use crate::outcome;
use crate::request::Measure;
use crate::summary::{Counts, NAMED, Summary};
use crate::tables::{Column, PairsColumn};
use benzer_core::Threshold;
use benzer_io::places;
use benzer_join::Rank;
use benzer_join::resolve::Cluster;
use benzer_storage::{FileEntry, Files};
use graph::{Graph, similarity};

/// What a higher threshold changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rethresholded {
    /// The higher threshold.
    pub threshold: f64,
    /// The threshold of the run.
    pub was: f64,
    /// Documents that were removed.
    pub removed_before: u64,
    /// Documents that are removed now.
    pub removed: u64,
    /// Documents that come back.
    pub restored: u64,
    /// Documents that were kept and are removed now: the one that stood for what they are similar to does so no more.
    pub newly_removed: u64,
    /// Counts, similarities, warnings and notes as of a run at the threshold. What it took to find the pairs (`met`, `candidates`, buckets) is that of the run.
    pub summary: Summary,
}

/// Resolves a run again at a higher threshold and writes its tables, report.html and manifest.json to `out`.
///
/// # Errors
/// A folder without results; a run that decided by estimates or components; a threshold below that of the run; an `out` that holds the results of a run.
pub fn rethreshold(folder: &Path, threshold: Threshold, out: &Path) -> Result<Rethresholded> {
    let run = FinishedRun::read(folder, threshold)?;
    check(folder, out)?;
    let mut graph = Graph::read(folder)?;
    let before = graph.resolve(run.threshold, run.rule());
    graph.learn_places(folder, &before, run.ids_are_places())?;
    let removals = graph.resolve(threshold, run.rule());
    let mut by_keeper = removals.clone();
    // Old documents come last, as in a run.
    by_keeper
        .sort_unstable_by_key(|removal| (graph.is_old(removal.kept()), removal.kept(), removal.removed()));
    let decided = Decided { threshold, removals, by_keeper };
    let gone = |removals: &[Removal]| removals.iter().map(Removal::removed).collect::<HashSet<Rank>>();
    let (gone_before, gone_now) = (gone(&before), gone(&decided.removals));
    let outcome = Rethresholded {
        threshold: threshold.value(),
        was: run.threshold.value(),
        removed_before: gone_before.len() as u64,
        removed: gone_now.len() as u64,
        restored: gone_before.difference(&gone_now).count() as u64,
        newly_removed: gone_now.difference(&gone_before).count() as u64,
        summary: run.summary(&graph, &decided),
    };
    let files = Files::new();
    files.create_dir_all(out)?;
    let mut entries = graph.write(&files, out, &decided)?;
    let page = page::render(&run, &graph, &decided, &outcome.summary);
    entries.push(written(&files, out, page::NAME, page.as_bytes())?);
    run.write_manifest(&files, out, &outcome, &entries)?;
    Ok(outcome)
}

/// Refuses a folder that holds the run itself, another run, or other files.
fn check(folder: &Path, out: &Path) -> Result<()> {
    places::check_folder(out, [folder])?;
    let occupied = |what| Err(Error::Occupied { path: out.to_owned(), what });
    if !out.exists() {
        return Ok(());
    }
    if !out.join(manifest::NAME).exists() {
        let is_empty = std::fs::read_dir(out).map_err(|error| Error::open(out, error))?.next().is_none();
        return if is_empty { Ok(()) } else { occupied("other files; name a new folder with --output") };
    }
    match Manifest::read(out)?.json["from"].is_null() {
        true => occupied("the results of a run; name a new folder with --output"),
        false => Ok(()),
    }
}

/// Of which pairs something is made, by the manifest of their run.
pub(crate) fn checksum_of_pairs(manifest: &Value) -> Value {
    let files = manifest["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pairs = files.iter().find(|file| file["name"] == PairsColumn::FILE);
    pairs.map_or(Value::Null, |file| file["checksum"].clone())
}

fn written(files: &Files, out: &Path, name: &str, bytes: &[u8]) -> Result<FileEntry> {
    let mut file = files.create(&out.join(name))?;
    file.append(bytes)?;
    Ok(FileEntry { name: name.to_owned(), stamp: file.commit()? })
}

struct Decided {
    threshold: Threshold,
    /// In keep order.
    removals: Vec<Removal>,
    /// By keeper, then by removed document.
    by_keeper: Vec<Removal>,
}

struct FinishedRun<'a> {
    folder: &'a Path,
    manifest: Value,
    threshold: Threshold,
    counts: Counts,
    /// What the run was given to read, as its user calls it; nothing if it does not say so.
    given: Vec<String>,
}

impl<'a> FinishedRun<'a> {
    fn read(folder: &'a Path, threshold: Threshold) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        let run = manifest.read_run(folder)?;
        let manifest = manifest.json;
        let settings = &manifest["settings"];
        for (name, expected) in [("verify", "exact"), ("cluster", "leaders")] {
            if settings[name] != expected {
                let got = settings[name].as_str().unwrap_or("one that has no such setting");
                let expected = format!("one with {name} {expected}: its pairs have exact similarities");
                return Err(Error::parameter("run", expected, got));
            }
        }
        let was = settings["threshold"].as_f64().unwrap_or_default().to_string();
        let was: Threshold = was.parse()?;
        if threshold < was {
            let expected = format!("at least {was}, the threshold of the run (pairs below it were not kept)");
            return Err(Error::parameter("threshold", expected, threshold));
        }
        let counts = serde_json::from_value(manifest["counts"].clone()).unwrap_or_default();
        let given = if run["given"].is_null() { &manifest["given"] } else { &run["given"] };
        let given = serde_json::from_value(given.clone()).unwrap_or_default();
        Ok(Self { folder, threshold: was, counts, given, manifest })
    }

    fn measure(&self) -> Measure {
        match self.manifest["settings"]["measure"] == "containment" {
            true => Measure::Containment,
            false => Measure::Jaccard,
        }
    }

    fn rule(&self) -> Rule {
        match self.measure() {
            Measure::Containment => Rule::Contained,
            Measure::Jaccard => Rule::Verified,
        }
    }

    /// Whether documents of the input are called by file and line.
    fn ids_are_places(&self) -> bool {
        self.manifest["settings"]["id_field"].is_null()
    }

    fn summary(&self, graph: &Graph, decided: &Decided) -> Summary {
        let Decided { threshold, removals, by_keeper } = decided;
        let removed = removals.len() as u64;
        let count =
            |is: &dyn Fn(&Removal) -> bool| removals.iter().filter(|removal| is(removal)).count() as u64;
        let (clusters, largest_cluster) = outcome::clusters(by_keeper);
        let matched = graph.matched(*threshold);
        let counts = Counts {
            against_matched: matched.len() as u64,
            removed,
            kept: (self.counts.kept + self.counts.removed).saturating_sub(removed),
            copies: count(&|removal| removal.rule == Rule::ExactCopy),
            removed_against: count(&|removal| graph.is_old(removal.kept())),
            edges: graph.edges(*threshold).count() as u64,
            clusters,
            largest_cluster,
            ..self.counts.clone()
        };
        // What was said of the removals before is said of those now.
        let of_removals = |counts: &Counts| {
            let all_known = outcome::all_known(counts, self.measure());
            [all_known, outcome::large_cluster(counts, Cluster::Leaders)].into_iter().flatten()
        };
        let mut warnings = self.texts("warnings");
        warnings.retain(|warning| of_removals(&self.counts).all(|before| before != *warning));
        warnings.extend(of_removals(&counts));
        let unknown = graph.unknown_places(removals);
        if unknown > 0 {
            warnings.push(format!(
                "the results are those of an earlier version, which do not say file and row of {unknown} documents that are named now; run `benzer dedup` again to know them"
            ));
        }
        Summary {
            counts,
            histogram: outcome::histogram(by_keeper.iter().map(similarity)),
            warnings,
            notes: self.notes(*threshold),
            matched: matched.iter().take(NAMED).map(|rank| graph.document(*rank).id.clone()).collect(),
            ..Summary::default()
        }
    }

    fn notes(&self, threshold: Threshold) -> Vec<String> {
        let by_bands = self.manifest["settings"]["search"] != "exact" && self.measure() == Measure::Jaccard;
        let note = format!(
            "the pairs are those that the bands for {} found; a run at {threshold} chooses bands of its own, and may find or miss others",
            self.found_at()
        );
        (by_bands && threshold.value() > self.found_at()).then_some(note).into_iter().collect()
    }

    /// The threshold of the run that found the pairs, if this one was made from it.
    fn found_at(&self) -> f64 {
        self.manifest["from_threshold"].as_f64().unwrap_or(self.threshold.value())
    }

    fn texts(&self, name: &str) -> Vec<String> {
        serde_json::from_value(self.manifest[name].clone()).unwrap_or_default()
    }

    fn write_manifest(
        &self,
        files: &Files,
        out: &Path,
        outcome: &Rethresholded,
        entries: &[FileEntry],
    ) -> Result<()> {
        let mut settings = self.manifest["settings"].clone();
        settings["threshold"] = json!(outcome.threshold);
        let Summary { counts, histogram, warnings, notes, .. } = &outcome.summary;
        let whole = json!({
            "benzer": env!("CARGO_PKG_VERSION"),
            "format": manifest::FORMAT,
            "from": self.folder,
            "pairs": checksum_of_pairs(&self.manifest),
            "from_threshold": self.found_at(),
            "given": self.given,
            "settings": settings,
            "counts": counts,
            "restored": outcome.restored,
            "newly_removed": outcome.newly_removed,
            "similarities": histogram,
            "audit": null,
            "warnings": warnings,
            "notes": notes,
            "files": entries,
        });
        written(files, out, manifest::NAME, &manifest::sealed(&whole)).map(drop)
    }
}

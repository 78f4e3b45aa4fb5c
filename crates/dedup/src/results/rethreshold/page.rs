//! The report of a run at another threshold: what its pairs say.

use std::collections::HashSet;

use serde_json::Value;

use super::graph::{Graph, PairedDocument, similarity};
use super::{Decided, FinishedRun};
use crate::decide::{Removal, Rule};
use crate::outcome::{cluster_sizes, fine_histogram, smallest};
use crate::report::{
    ClusterFacts, EarlierRun, Group, Mode, OldFacts, PairFacts, RecallFacts, RejectFacts, Report, Shapes,
    Sides, SpanFacts, beginning,
};
use crate::request::Measure;
use crate::summary::Summary;
use benzer_join::{Edge, Rank};

pub(super) const NAME: &str = "report.html";
/// Clusters, and pairs of each kind, that are shown.
const SHOWN: usize = 10;

pub(super) fn render(run: &FinishedRun<'_>, graph: &Graph, decided: &Decided, summary: &Summary) -> String {
    let near = decided.by_keeper.iter().filter(|removal| removal.rule != Rule::ExactCopy);
    let folder = run.folder.display().to_string();
    let inputs = run.given.clone();
    let report = Report {
        inputs: if inputs.is_empty() { vec![folder.clone()] } else { inputs },
        counts: summary.counts.clone(),
        mode: Mode {
            threshold: decided.threshold.value(),
            is_dry: true,
            is_estimated: false,
            is_chained: false,
            is_contained: run.measure() == Measure::Containment,
            is_against: summary.counts.against > 0,
        },
        warnings: [&summary.warnings[..], &summary.notes].concat(),
        shapes: Shapes {
            similarities: fine_histogram(near.map(similarity), decided.threshold.value()),
            cluster_sizes: cluster_sizes(&decided.by_keeper),
            largest: largest(graph, decided),
        },
        recall: RecallFacts { banding: None, cap: 0, audit: None },
        groups: groups(run, graph, decided),
        old: OldFacts { matched: summary.matched.clone(), spans: spans(graph, decided) },
        rejects: RejectFacts::default(),
        settings: settings(run, decided),
        command: None,
        earlier: Some(EarlierRun { folder, threshold: run.threshold.value() }),
    };
    report.render()
}

/// The largest clusters, ties in keep order.
fn largest(graph: &Graph, decided: &Decided) -> Vec<ClusterFacts> {
    let mut clusters: Vec<&[Removal]> = decided.by_keeper.chunk_by(|a, b| a.kept() == b.kept()).collect();
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.len()));
    let facts = |cluster: &&[Removal]| ClusterFacts {
        id: graph.document(cluster[0].kept()).id.clone(),
        size: cluster.len() as u64 + 1,
        min: cluster.iter().map(similarity).fold(1.0, f64::min),
        mean: cluster.iter().map(similarity).sum::<f64>() / cluster.len() as f64,
        begins: String::new(),
    };
    clusters.iter().take(SHOWN).map(facts).collect()
}

/// The pairs next to the threshold, on both sides of it.
fn groups(run: &FinishedRun<'_>, graph: &Graph, decided: &Decided) -> Vec<Group> {
    let by_similarity = |edge: &Edge| ((edge.similarity() * 1e9) as u64, edge.later, *edge);
    let verified = decided.removals.iter().filter(|removal| removal.rule == Rule::Verified);
    let removed = smallest(SHOWN, verified.map(|removal| by_similarity(&removal.edge)));
    let gone: HashSet<Rank> = decided.removals.iter().map(Removal::removed).collect();
    let stays = |edge: &&Edge| !gone.contains(&edge.earlier) && !gone.contains(&edge.later);
    let below = |edge: &&Edge| !decided.threshold.is_reached(edge.intersection.into(), edge.union.into());
    let all = graph.edges(run.threshold).filter(below).filter(stays);
    let kept = smallest(
        SHOWN,
        all.map(by_similarity).map(|(similarity, later, edge)| (u64::MAX - similarity, later, edge)),
    );
    let pairs = |edges: Vec<(u64, Rank, Edge)>| edges.iter().map(|(_, _, edge)| pair(graph, edge)).collect();
    vec![
        Group {
            heading: "Just removed",
            why: "The least similar pairs of which one document would go.".to_owned(),
            names: ["kept", "removed"],
            pairs: pairs(removed),
        },
        Group {
            heading: "Just kept",
            why: "The most similar pairs of the run that are below the threshold; both documents stay."
                .to_owned(),
            names: ["kept", "also kept"],
            pairs: if run.measure() == Measure::Containment { Vec::new() } else { pairs(kept) },
        },
    ]
}

fn pair(graph: &Graph, edge: &Edge) -> PairFacts {
    let documents = [edge.earlier, edge.later].map(|rank| graph.document(rank));
    PairFacts {
        similarity: edge.similarity(),
        counts: Some((edge.intersection, edge.union)),
        ids: documents.map(|document| document.id.clone()),
        places: documents.map(place),
        sides: Sides { html: [const { String::new() }; 2], is_aligned: true },
    }
}

/// File and row as they are shown, or the id.
fn place(document: &PairedDocument) -> String {
    document.place.as_ref().map_or(document.id.clone(), |(file, row)| format!("{file}:{row}"))
}

/// Where the items are of which documents contain least, each another one.
fn spans(graph: &Graph, decided: &Decided) -> Vec<SpanFacts> {
    let contained = decided.removals.iter().filter(|removal| removal.rule == Rule::Contained);
    let mut contained: Vec<&Removal> = contained.collect();
    contained.sort_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let mut items = HashSet::new();
    contained.retain(|removal| items.insert(removal.kept()));
    let fact = |removal: &&Removal| {
        let span = graph.facts(removal).and_then(|facts| facts.span.as_ref());
        SpanFacts {
            item: graph.document(removal.kept()).id.clone(),
            document: graph.document(removal.removed()).id.clone(),
            place: place(graph.document(removal.removed())),
            share: similarity(removal),
            text: span.map(|(_, _, text)| beginning(text)).unwrap_or_default(),
        }
    };
    contained.iter().take(SHOWN).map(fact).collect()
}

fn settings(run: &FinishedRun<'_>, decided: &Decided) -> Vec<(&'static str, String)> {
    let settings = &run.manifest["settings"];
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            all.iter().map(|one| one.as_str().unwrap_or_default()).collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let mut shown = vec![
        ("from", run.folder.display().to_string()),
        ("threshold", format!("{}; of the run {}", decided.threshold, run.threshold)),
        ("text", text(&settings["text_fields"])),
        ("id", if run.ids_are_places() { "file and line".to_owned() } else { text(&settings["id_field"]) }),
        ("keep", text(&settings["keep"])),
        ("against", text(&settings["against"])),
        ("measure", text(&settings["measure"])),
        (
            "candidates",
            match settings["search"] == "exact" {
                true => "exact join".to_owned(),
                false => format!(
                    "{} bands of {} registers",
                    settings["search"]["bands"], settings["search"]["rows"]
                ),
            },
        ),
        ("verification", "exact".to_owned()),
        ("clusters", "leaders".to_owned()),
    ];
    shown.retain(|(_, value)| !value.is_empty());
    shown
}

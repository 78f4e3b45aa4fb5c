//! Gathers what the report shows.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};

use benzer_core::sketch::SketchSpec;
use benzer_join::resolve::Cluster;
use benzer_join::verify::Texts;
use benzer_join::{Edge, Rank};
use benzer_storage::FileWriter;

use super::setup::Job;
use super::write::ResultWriter;
use crate::decide::{Removal, Rule};
use crate::error::Result;
use crate::folders::REJECTS;
use crate::outcome::{cluster_sizes, fine_histogram, smallest};
use crate::report::{
    ClusterFacts, Group, Mode, OldFacts, PairFacts, RecallFacts, RejectFacts, Report, Shapes, SpanFacts,
    beginning, kind, quoted, side_by_side,
};
use crate::request::{Comparison, Measure, Output, Search, Verify};
use crate::summary::Summary;
use crate::write;

/// Clusters, and pairs of each kind, that are shown.
const CLUSTERS: usize = 10;
const PAIRS: usize = 4;
/// Removals among which pairs of different clusters are looked for.
const COMPARED_CLUSTERS: usize = 64;
/// Rejects whose reasons are counted, and reasons that are listed.
const REJECTS_COUNTED: usize = 100_000;
const REASONS: usize = 12;

impl ResultWriter<'_> {
    pub fn report(&self) -> Result<FileWriter> {
        let mut out = self.job.create("report.html")?;
        out.append(self.gather()?.render().as_bytes())?;
        Ok(out)
    }

    fn gather(&self) -> Result<Report> {
        let request = self.job.request;
        Ok(Report {
            inputs: request.input.names(),
            counts: self.summary.counts.clone(),
            mode: Mode {
                threshold: request.compare.threshold.value(),
                is_dry: request.results.write == Output::DryRun,
                is_estimated: request.compare.verify == Verify::Estimate,
                is_chained: request.cluster == Cluster::Components,
                is_contained: request.compare.measure == Measure::Containment,
                is_against: !request.old.paths.is_empty(),
            },
            warnings: self.summary.warnings.clone(),
            shapes: Shapes {
                similarities: self.similarities(self.by_keeper),
                cluster_sizes: cluster_sizes(self.by_keeper),
                largest: self.largest()?,
            },
            recall: RecallFacts {
                banding: self.job.banding(),
                cap: request.compare.cap,
                audit: self.summary.audit.clone(),
            },
            groups: self.groups()?,
            old: OldFacts { matched: self.named_matches(), spans: self.spans()? },
            rejects: RejectFacts { reasons: self.reasons(), examples: self.job.named_rejects(self.summary) },
            settings: self.settings(),
            command: (!request.results.rerun.is_empty()).then(|| quoted(&request.results.rerun)),
            earlier: None,
        })
    }

    fn similarity(&self, removal: &Removal) -> f64 {
        write::similarity(&removal.edge, removal.rule != Rule::Estimate, self.job.estimates)
    }

    /// Bins of the similarities below 1, and how many are 1; copies are left out.
    fn similarities(&self, removals: &[Removal]) -> (Vec<(f64, f64, u64)>, u64) {
        let removals = removals.iter().filter(|removal| removal.rule != Rule::ExactCopy);
        fine_histogram(
            removals.map(|removal| self.similarity(removal)),
            self.job.request.compare.threshold.value(),
        )
    }

    fn largest(&self) -> Result<Vec<ClusterFacts>> {
        let clusters = self.by_keeper.chunk_by(|a, b| a.kept() == b.kept());
        let mut starts = 0;
        let clusters = clusters.map(|cluster| {
            starts += cluster.len();
            // The largest come first, ties in keep order.
            (usize::MAX - cluster.len(), starts - cluster.len())
        });
        let facts = |(rest, start): (usize, usize)| {
            let cluster = &self.by_keeper[start..start + (usize::MAX - rest)];
            let similarities = cluster.iter().map(|removal| self.similarity(removal));
            let mut begins = String::new();
            match self.view.is_old(cluster[0].kept()) {
                // An archive keeps features, not texts.
                true => begins.push_str("(an old document)"),
                false => self.view.with_text(cluster[0].kept(), &mut |text| begins = beginning(text))?,
            }
            Ok(ClusterFacts {
                id: self.shown(cluster[0].kept())?.0,
                size: cluster.len() as u64 + 1,
                min: similarities.clone().fold(1.0, f64::min),
                mean: similarities.sum::<f64>() / cluster.len() as f64,
                begins,
            })
        };
        smallest(CLUSTERS, clusters).into_iter().map(facts).collect()
    }

    /// Where some of the items are that the input contains.
    fn spans(&self) -> Result<Vec<SpanFacts>> {
        let contained = self.by_keeper.iter().filter(|removal| removal.rule == Rule::Contained);
        let key =
            |removal: &Removal| ((self.similarity(removal) * 1e9) as u64, removal.removed(), removal.edge);
        let mut items = HashSet::new();
        let mut lowest = smallest(COMPARED_CLUSTERS, contained.map(key));
        lowest.retain(|(_, _, edge)| items.insert(edge.earlier));
        let fact = |(_, _, edge): (u64, Rank, Edge)| {
            let removal = Removal { edge, rule: Rule::Contained };
            let (document, place) = self.shown(removal.removed())?;
            let span = self.job.span(&self.view, &removal)?;
            Ok(SpanFacts {
                item: self.shown(removal.kept())?.0,
                document,
                place,
                share: self.similarity(&removal),
                text: span.map(|span| beginning(&span.text)).unwrap_or_default(),
            })
        };
        lowest.into_iter().take(CLUSTERS).map(fact).collect()
    }

    fn groups(&self) -> Result<Vec<Group>> {
        let has_texts =
            |removal: &&Removal| removal.rule != Rule::ExactCopy && !self.view.is_old(removal.kept());
        let near = self.by_keeper.iter().filter(has_texts);
        let key =
            |removal: &Removal| ((self.similarity(removal) * 1e9) as u64, removal.removed(), removal.edge);
        let mut keepers = HashSet::new();
        let mut removed = smallest(COMPARED_CLUSTERS, near.map(key));
        // One of each cluster.
        removed.retain(|(_, _, edge)| keepers.insert(edge.earlier));
        let exact = self.job.request.compare.verify == Verify::Exact
            || self.job.request.cluster == Cluster::Components;
        let show = |edges: &mut dyn Iterator<Item = Edge>, exact: bool| -> Result<Vec<PairFacts>> {
            edges.take(PAIRS).map(|edge| self.pair(&edge, exact)).collect()
        };
        let none = Vec::new();
        let (left, kept) = self.findings.map_or((&none, &none), |findings| (&findings.left, &findings.near));
        let go = if self.job.request.results.write == Output::DryRun { "would go" } else { "go" };
        let group = |heading, why: String, names, pairs| Group { heading, why, names, pairs };
        Ok(vec![
            group(
                "Just removed",
                format!("The least similar pairs of which one document {go}, each of another cluster. If these are not duplicates, the threshold is too low."),
                ["kept", "removed"],
                show(&mut removed.iter().map(|(_, _, edge)| *edge), exact)?,
            ),
            group(
                "Just kept",
                "The most similar pairs below the threshold that the audit met; both documents stay. If these are duplicates, the threshold is too high.".to_owned(),
                ["kept", "also kept"],
                show(&mut kept.iter().copied(), true)?,
            ),
            group(
                "Missed",
                "Pairs that reach the threshold and were not found; both documents stay. A higher <code>--recall</code> misses fewer, <code>--recall 1</code> none.".to_owned(),
                ["kept", "also kept"],
                show(&mut left.iter().copied(), true)?,
            ),
        ])
    }

    fn pair(&self, edge: &Edge, exact: bool) -> Result<PairFacts> {
        let ranks = [edge.earlier, edge.later];
        let (mut texts, mut ids, mut places) = ([const { String::new() }; 2], Vec::new(), Vec::new());
        for (rank, text) in ranks.into_iter().zip(&mut texts) {
            self.view.with_text(rank, &mut |found| *text = found.to_owned())?;
            let (id, place) = self.shown(rank)?;
            ids.push(id);
            places.push(place);
        }
        let two = |mut names: Vec<String>| {
            let second = names.pop().unwrap_or_default();
            [names.pop().unwrap_or_default(), second]
        };
        Ok(PairFacts {
            similarity: write::similarity(edge, exact, self.job.estimates),
            counts: exact.then_some((edge.intersection, edge.union)),
            ids: two(ids),
            places: two(places),
            sides: side_by_side([&texts[0], &texts[1]], &self.job.ingest.shingler),
        })
    }

    /// What a document is called, and where it is. Rows of another program have no file.
    fn shown(&self, rank: Rank) -> Result<(String, String)> {
        let request = self.job.request;
        let (called, read, what) = match self.view.is_old(rank) {
            true => (&request.old.called, &request.old.read, "old row"),
            false => (&request.input.called, &request.input.read, "row"),
        };
        let (file, row) = self.view.file_and_row(rank)?;
        let place = match called {
            Some(_) => format!("{what} {}", row.saturating_sub(1)),
            None => format!("{file}:{row}"),
        };
        let id = match (called, &read.id_field) {
            (Some(_), None) => place.clone(),
            _ => self.view.id(rank)?.into_owned(),
        };
        Ok((id, place))
    }

    /// The first old documents that were found; rows of a table without ids by their numbers.
    fn named_matches(&self) -> Vec<String> {
        let are_rows = self.job.request.old.called.is_some() && self.job.request.old.read.id_field.is_none();
        let named = |id: &String| {
            let row = id.rsplit_once(':').and_then(|(_, line)| line.parse::<u64>().ok());
            row.filter(|_| are_rows)
                .map_or_else(|| id.clone(), |line| format!("row {}", line.saturating_sub(1)))
        };
        self.summary.matched.iter().map(named).collect()
    }

    /// The reasons of rejects, the most frequent first.
    fn reasons(&self) -> Vec<(String, u64)> {
        if self.summary.counts.rejected == 0 {
            return Vec::new();
        }
        let Ok(file) = File::open(self.job.folders.work.join(REJECTS)) else { return Vec::new() };
        let mut reasons = BTreeMap::<String, u64>::new();
        for line in BufReader::new(file).lines().map_while(std::result::Result::ok).take(REJECTS_COUNTED) {
            let row: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            *reasons.entry(kind(row["reason"].as_str().unwrap_or_default())).or_default() += 1;
        }
        let mut reasons: Vec<(String, u64)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        reasons.truncate(REASONS);
        reasons
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let request = self.job.request;
        let Comparison { text, spec, threshold, measure, verify, .. } = &request.compare;
        let fields: Vec<String> = request.input.read.text_fields.iter().map(ToString::to_string).collect();
        let place =
            if request.input.called.is_some() { "the row, counted from 0 on" } else { "file and line" };
        let id = request.input.read.id_field.as_ref().map_or(place.to_owned(), ToString::to_string);
        let pipeline = &self.job.ingest.spec().pipeline;
        let SketchSpec { family, registers, packing, seed, .. } = spec;
        let cluster = if request.cluster == Cluster::Leaders { "leaders" } else { "components" };
        let mut settings = vec![
            ("inputs", request.input.names().join(", ")),
            ("threshold", threshold.to_string()),
            ("text", fields.join(", ")),
            ("id", id),
            ("keep", request.keep.to_string()),
            ("shingles", format!("{} {}; {pipeline}", text.n, text.unit.name())),
            ("sketch", format!("{family} x {registers}, {packing}, seed {seed}")),
            ("candidates", search(&request.compare)),
            ("verification", verify.name().to_owned()),
            ("clusters", cluster.to_owned()),
        ];
        if !request.old.paths.is_empty() {
            let against = request.old.names().join(", ");
            settings.splice(1..1, [("against", against), ("measure", measure.name().to_owned())]);
        }
        settings
    }
}

fn search(compare: &Comparison) -> String {
    match compare.search {
        Search::Bands(banding) => format!(
            "{} bands of {} registers, {} bits each; at most {} members of a bucket are compared with everyone in it",
            banding.bands(),
            banding.rows(),
            banding.bits().get(),
            compare.cap
        ),
        Search::Exact => "exact join".to_owned(),
    }
}

impl Job<'_> {
    /// The first rejects, with their places as the report has them.
    pub fn named_rejects(&self, summary: &Summary) -> Vec<String> {
        let (Some(_), Some(path)) = (&self.request.input.called, self.request.input.paths.first()) else {
            return summary.rejects.clone();
        };
        let path = format!("{}:", path.display());
        let named = |reject: &String| {
            let (line, reason) = reject.strip_prefix(&path)?.split_once(':')?;
            Some(format!("row {}:{reason}", line.parse::<u64>().ok()?.saturating_sub(1)))
        };
        summary.rejects.iter().map(|reject| named(reject).unwrap_or_else(|| reject.clone())).collect()
    }
}

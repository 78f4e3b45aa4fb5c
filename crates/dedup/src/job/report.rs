//! Gathers what the report shows.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use super::outcome::{cluster_sizes, fine_histogram, smallest};
use super::output::REJECTS;
use super::stages::Run;
use super::{Measure, Output, Search, Verify};
use crate::corpus::CorpusView;
use crate::decide::{Removal, Rule};
use crate::error::Result;
use crate::report::{
    ClusterFacts, Group, Mode, OldFacts, PairFacts, RecallFacts, RejectFacts, Report, Shapes, SpanFacts,
    beginning, kind, quoted, side_by_side,
};
use crate::write;
use benzer_join::Edge;
use benzer_join::resolve::Cluster;
use benzer_join::verify::Texts;
use benzer_storage::FileWriter;

/// Clusters, and pairs of each kind, that are shown.
const CLUSTERS: usize = 10;
const PAIRS: usize = 4;
/// Removals among which pairs of different clusters are looked for.
const LOOKED_AT: usize = 64;
/// Rejects whose reasons are counted, and reasons that are listed.
const REJECTS_COUNTED: usize = 100_000;
const REASONS: usize = 12;

impl Run<'_> {
    /// Writes the report. `by_keeper` is sorted by keeper, then by removed document.
    pub(super) fn report(&self, ranked: &CorpusView<'_>, by_keeper: &[Removal]) -> Result<FileWriter> {
        let mut out = self.create("report.html")?;
        out.append(self.gather(ranked, by_keeper)?.render().as_bytes())?;
        Ok(out)
    }

    fn gather(&self, ranked: &CorpusView<'_>, by_keeper: &[Removal]) -> Result<Report> {
        let options = self.options;
        Ok(Report {
            inputs: names(&options.inputs, options.called.as_ref()),
            counts: self.counts.clone(),
            mode: Mode {
                threshold: options.threshold.value(),
                is_dry: options.write == Output::DryRun,
                is_estimated: options.verify == Verify::Estimate,
                is_chained: options.cluster == Cluster::Components,
                is_contained: options.measure == Measure::Containment,
                is_against: !options.against.is_empty(),
            },
            warnings: self.warnings.clone(),
            shapes: Shapes {
                similarities: self.similarities(by_keeper),
                cluster_sizes: cluster_sizes(by_keeper),
                largest: self.largest(ranked, by_keeper)?,
            },
            recall: RecallFacts {
                banding: match options.search {
                    Search::Bands(banding) => Some(banding),
                    Search::Exact => None,
                },
                cap: options.cap,
                audit: self.findings.as_ref().map(|findings| findings.audited.clone()),
            },
            groups: self.groups(ranked, by_keeper)?,
            old: OldFacts { matched: self.named_matches(), spans: self.spans(ranked, by_keeper)? },
            rejects: RejectFacts { reasons: self.reasons(), examples: self.named_rejects() },
            settings: self.settings(),
            command: (!options.rerun.is_empty()).then(|| quoted(&options.rerun)),
            earlier: None,
        })
    }

    fn similarity(&self, removal: &Removal) -> f64 {
        write::similarity(&removal.edge, removal.rule != Rule::Estimate, &self.estimates)
    }

    /// Bins of the similarities below 1, and how many are 1; copies are left out.
    fn similarities(&self, removals: &[Removal]) -> (Vec<(f64, f64, u64)>, u64) {
        let removals = removals.iter().filter(|removal| removal.rule != Rule::ExactCopy);
        fine_histogram(removals.map(|removal| self.similarity(removal)), self.options.threshold.value())
    }

    fn largest(&self, ranked: &CorpusView<'_>, by_keeper: &[Removal]) -> Result<Vec<ClusterFacts>> {
        let clusters = by_keeper.chunk_by(|a, b| a.kept() == b.kept());
        let mut starts = 0;
        let clusters = clusters.map(|cluster| {
            starts += cluster.len();
            // The largest come first, ties in keep order.
            (usize::MAX - cluster.len(), starts - cluster.len())
        });
        let facts = |(rest, start): (usize, usize)| {
            let cluster = &by_keeper[start..start + (usize::MAX - rest)];
            let similarities = cluster.iter().map(|removal| self.similarity(removal));
            let mut begins = String::new();
            match ranked.is_old(cluster[0].kept()) {
                // An archive keeps features, not texts.
                true => begins.push_str("(an old document)"),
                false => ranked.with_text(cluster[0].kept(), &mut |text| begins = beginning(text))?,
            }
            Ok(ClusterFacts {
                id: self.shown(ranked, cluster[0].kept())?.0,
                size: cluster.len() as u64 + 1,
                min: similarities.clone().fold(1.0, f64::min),
                mean: similarities.sum::<f64>() / cluster.len() as f64,
                begins,
            })
        };
        smallest(CLUSTERS, clusters).into_iter().map(facts).collect()
    }

    /// Where some of the items are that the input contains.
    fn spans(&self, ranked: &CorpusView<'_>, by_keeper: &[Removal]) -> Result<Vec<SpanFacts>> {
        let contained = by_keeper.iter().filter(|removal| removal.rule == Rule::Contained);
        let key =
            |removal: &Removal| ((self.similarity(removal) * 1e9) as u64, removal.removed(), removal.edge);
        let mut items = HashSet::new();
        let mut least = smallest(LOOKED_AT, contained.map(key));
        least.retain(|(_, _, edge)| items.insert(edge.earlier));
        let fact = |(_, _, edge): (u64, u32, Edge)| {
            let removal = Removal { edge, rule: Rule::Contained };
            let (document, place) = self.shown(ranked, removal.removed())?;
            let span = self.span(ranked, &removal)?;
            Ok(SpanFacts {
                item: self.shown(ranked, removal.kept())?.0,
                document,
                place,
                share: self.similarity(&removal),
                text: span.map(|span| beginning(&span.text)).unwrap_or_default(),
            })
        };
        least.into_iter().take(CLUSTERS).map(fact).collect()
    }

    fn groups(&self, ranked: &CorpusView<'_>, by_keeper: &[Removal]) -> Result<Vec<Group>> {
        let has_texts =
            |removal: &&Removal| removal.rule != Rule::ExactCopy && !ranked.is_old(removal.kept());
        let near = by_keeper.iter().filter(has_texts);
        let key =
            |removal: &Removal| ((self.similarity(removal) * 1e9) as u64, removal.removed(), removal.edge);
        let mut keepers = HashSet::new();
        let mut removed = smallest(LOOKED_AT, near.map(key));
        // One of each cluster.
        removed.retain(|(_, _, edge)| keepers.insert(edge.earlier));
        let exact = self.options.verify == Verify::Exact || self.options.cluster == Cluster::Components;
        let show = |edges: &mut dyn Iterator<Item = Edge>, exact: bool| -> Result<Vec<PairFacts>> {
            edges.take(PAIRS).map(|edge| self.pair(ranked, &edge, exact)).collect()
        };
        let none = Vec::new();
        let (left, kept) =
            self.findings.as_ref().map_or((&none, &none), |findings| (&findings.left, &findings.near));
        let go = if self.options.write == Output::DryRun { "would go" } else { "go" };
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

    fn pair(&self, ranked: &CorpusView<'_>, edge: &Edge, exact: bool) -> Result<PairFacts> {
        let ranks = [edge.earlier, edge.later];
        let (mut texts, mut ids, mut places) = ([const { String::new() }; 2], Vec::new(), Vec::new());
        for (rank, text) in ranks.into_iter().zip(&mut texts) {
            ranked.with_text(rank, &mut |found| *text = found.to_owned())?;
            let (id, place) = self.shown(ranked, rank)?;
            ids.push(id);
            places.push(place);
        }
        let two = |mut names: Vec<String>| {
            let second = names.pop().unwrap_or_default();
            [names.pop().unwrap_or_default(), second]
        };
        Ok(PairFacts {
            similarity: write::similarity(edge, exact, &self.estimates),
            counts: exact.then_some((edge.intersection, edge.union)),
            ids: two(ids),
            places: two(places),
            sides: side_by_side([&texts[0], &texts[1]], &self.ingest.shingler),
        })
    }

    /// What a document is called, and where it is. Rows of another program have no file.
    fn shown(&self, ranked: &CorpusView<'_>, rank: u32) -> Result<(String, String)> {
        let options = self.options;
        let (called, read, what) = match ranked.is_old(rank) {
            true => (&options.against_called, &options.against_read, "old row"),
            false => (&options.called, &options.read, "row"),
        };
        let (file, row) = ranked.file_and_row(rank)?;
        let place = match called {
            Some(_) => format!("{what} {}", row.saturating_sub(1)),
            None => format!("{file}:{row}"),
        };
        let id = match (called, &read.id_field) {
            (Some(_), None) => place.clone(),
            _ => ranked.id(rank)?.into_owned(),
        };
        Ok((id, place))
    }

    /// The first old documents that were found; rows of a table without ids by their numbers.
    fn named_matches(&self) -> Vec<String> {
        let are_rows = self.options.against_called.is_some() && self.options.against_read.id_field.is_none();
        let named = |id: &String| {
            let row = id.rsplit_once(':').and_then(|(_, line)| line.parse::<u64>().ok());
            row.filter(|_| are_rows)
                .map_or_else(|| id.clone(), |line| format!("row {}", line.saturating_sub(1)))
        };
        self.matched.iter().map(named).collect()
    }

    /// The first rejects, with their places as [`Run::shown`] has them.
    pub(super) fn named_rejects(&self) -> Vec<String> {
        let (Some(_), Some(path)) = (&self.options.called, self.options.inputs.first()) else {
            return self.rejects.clone();
        };
        let path = format!("{}:", path.display());
        let named = |reject: &String| {
            let (line, reason) = reject.strip_prefix(&path)?.split_once(':')?;
            Some(format!("row {}:{reason}", line.parse::<u64>().ok()?.saturating_sub(1)))
        };
        self.rejects.iter().map(|reject| named(reject).unwrap_or_else(|| reject.clone())).collect()
    }

    /// The reasons of rejects, the most frequent first.
    fn reasons(&self) -> Vec<(String, u64)> {
        if self.counts.rejected == 0 {
            return Vec::new();
        }
        let Ok(file) = File::open(self.folders.work.join(REJECTS)) else { return Vec::new() };
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
        let options = self.options;
        let fields = options.read.text_fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let search = match options.search {
            Search::Bands(banding) => format!(
                "{} bands of {} registers, {} bits each; at most {} members of a bucket are compared with everyone in it",
                banding.bands(),
                banding.rows(),
                banding.bits().get(),
                options.cap
            ),
            Search::Exact => "exact join".to_owned(),
        };
        let place = if options.called.is_some() { "the row, counted from 0 on" } else { "file and line" };
        let id = options.read.id_field.as_ref().map_or(place.to_owned(), ToString::to_string);
        let verify = if options.verify == Verify::Exact { "exact" } else { "estimate" };
        let cluster = if options.cluster == Cluster::Leaders { "leaders" } else { "components" };
        let inputs = names(&options.inputs, options.called.as_ref());
        let against = names(&options.against, options.against_called.as_ref());
        let measure = if options.measure == Measure::Jaccard { "jaccard" } else { "containment" };
        let of_old = [("against", against.join(", ")), ("measure", measure.to_owned())];
        let mut settings = vec![
            ("inputs", inputs.join(", ")),
            ("threshold", options.threshold.to_string()),
            ("text", fields),
            ("id", id),
            ("keep", options.keep.to_string()),
            (
                "shingles",
                format!("{} {}; {}", options.text.n, options.text.unit.name(), self.ingest.spec().pipeline),
            ),
            (
                "sketch",
                format!(
                    "{} x {}, {}, seed {}",
                    options.spec.family, options.spec.registers, options.spec.packing, options.spec.seed
                ),
            ),
            ("candidates", search),
            ("verification", verify.to_owned()),
            ("clusters", cluster.to_owned()),
        ];
        if !options.against.is_empty() {
            settings.splice(1..1, of_old);
        }
        settings
    }
}

/// Paths as they were given, or what a table is called.
pub(super) fn names(paths: &[PathBuf], called: Option<&String>) -> Vec<String> {
    called.map_or_else(
        || paths.iter().map(|path| path.display().to_string()).collect(),
        |name| vec![name.clone()],
    )
}

//! What a run found, on the terminal or as JSON.

use std::io::Write;

use benzer_dedup::request::{Audit, Measure, Output, Request, Search, Verify};
use benzer_dedup::summary::{Counts, Summary};
use benzer_dedup::{Audited, Share};
use benzer_join::resolve::Cluster;
use serde::Serialize;

use crate::output::{self, Align, Table, View, grouped, printable};

/// The width of the longest bar of the histogram.
const BAR: usize = 30;

#[derive(Debug, Serialize)]
struct RunReport<'a> {
    output: &'a std::path::Path,
    threshold: f64,
    recall_at_threshold: f64,
    counts: &'a Counts,
    similarities: &'a [u64],
    audit: Option<&'a Audited>,
    matched: &'a [String],
    warnings: &'a [String],
    stages: Vec<StageReport>,
    spilled_bytes: u64,
}

#[derive(Debug, Serialize)]
struct StageReport {
    stage: &'static str,
    seconds: f64,
    resumed: bool,
}

/// Data to `out`, remarks to standard error.
pub(super) fn show(
    request: &Request,
    summary: &Summary,
    view: &View,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    for reject in &summary.rejects {
        talk!("rejected: {}", printable(reject));
    }
    if summary.counts.rejected > 0 {
        let file = request.results.folder.join("rejects.jsonl");
        talk!("{} rejected; all of them are in `{}`", lines(summary.counts.rejected), file.display());
    }
    for note in &summary.notes {
        talk!("note: {}", super::flags(&printable(note)));
    }
    for warning in &summary.warnings {
        talk!("warning: {}", super::flags(&printable(warning)));
    }
    view.show(out, &report(request, summary), || render(request, summary, view))
}

fn lines(n: u64) -> String {
    format!("{} line{}", grouped(n), if n == 1 { "" } else { "s" })
}

fn recall(request: &Request) -> f64 {
    match request.compare.search {
        Search::Bands(banding) => banding.probability(request.compare.threshold.value()),
        Search::Exact => 1.0,
    }
}

fn report<'a>(request: &'a Request, summary: &'a Summary) -> RunReport<'a> {
    let stage = |timing: &benzer_dedup::summary::Timing| StageReport {
        stage: timing.stage.name(),
        seconds: timing.took.as_secs_f64(),
        resumed: timing.resumed,
    };
    RunReport {
        output: &request.results.folder,
        threshold: request.compare.threshold.value(),
        recall_at_threshold: recall(request),
        counts: &summary.counts,
        similarities: &summary.histogram,
        audit: summary.audit.as_ref(),
        matched: &summary.matched,
        warnings: &summary.warnings,
        stages: summary.timings.iter().map(stage).collect(),
        spilled_bytes: summary.spilled_bytes,
    }
}

fn render(request: &Request, summary: &Summary, view: &View) -> String {
    let counts = &summary.counts;
    let documents = counts.read - counts.rejected;
    let share = |n: u64| if documents == 0 { 0.0 } else { 100.0 * n as f64 / documents as f64 };
    let mut table =
        Table::default().column("", Align::Left).column("documents", Align::Right).column("", Align::Right);
    let mut row = |name: &str, n: u64| table.row([name.to_owned(), grouped(n), format!("{:.1}%", share(n))]);
    row("kept", counts.kept);
    row("removed", counts.removed);
    row("  copies of the kept one", counts.copies);
    if !request.old.paths.is_empty() {
        row("  for an old one", counts.removed_against);
    }
    if counts.empty > 0 {
        row("without words", counts.empty);
    }
    if counts.rejected > 0 {
        let lines = 100.0 * counts.rejected as f64 / counts.read as f64;
        table.row(["lines rejected".to_owned(), grouped(counts.rejected), format!("{lines:.1}%")]);
    }
    let mut out = table.render(view);
    // The last row, so its reason stands below it.
    if let Some(first) = summary.rejects.first() {
        out.push_str(&format!("  first: {}\n", printable(first)));
    }
    out.push_str(&format!("\n{}\n", paragraph(request, summary)));
    if let Some(audit) = &summary.audit {
        out.push_str(&format!("{}\n", audited(request, audit)));
    }
    if counts.removed > 0 {
        out.push_str(&histogram(&summary.histogram, view));
    }
    let time: f64 = summary.timings.iter().map(|timing| timing.took.as_secs_f64()).sum();
    let stages: Vec<String> = summary
        .timings
        .iter()
        .map(|timing| match timing.resumed {
            true => format!("{} resumed", timing.stage.name()),
            false => format!("{} {:.2}", timing.stage.name(), timing.took.as_secs_f64()),
        })
        .collect();
    let spilled = match summary.spilled_bytes {
        0 => String::new(),
        bytes => format!("; {} through the work folder", output::bytes(bytes as f64)),
    };
    out.push_str(&format!("\n{time:.2} s ({}){spilled}\n", stages.join(", ")));
    out.push_str(&format!("{}\n", written(request)));
    out
}

fn paragraph(request: &Request, summary: &Summary) -> String {
    let Counts { candidates, edges, clusters, largest_cluster, .. } = summary.counts;
    let rule = match (request.compare.verify, request.cluster) {
        _ if request.compare.measure == Measure::Containment => {
            "Every removed document contains an old one, by exact count of its shingles"
        }
        (_, Cluster::Components) => {
            "Removed documents are connected to a kept one by similar documents, not all similar to it"
        }
        (Verify::Estimate, _) => "Every removed document is estimated to be similar to a kept one",
        (Verify::Exact, _) => "Every removed document is similar to a kept one, by exact comparison",
    };
    let (pairs, found) = match request.compare.search {
        Search::Exact => ("pairs compared", "All similar pairs were found".to_owned()),
        Search::Bands(_) => {
            let (recall, threshold) = (recall(request), request.compare.threshold);
            let found = format!("{recall:.3} of the pairs at {threshold} are found, more above");
            ("candidates compared", found)
        }
    };
    let mut text = format!(
        "{rule} (threshold {}).\n{} {pairs}, {} similar; {} clusters, the largest of {} documents. {found}.\n",
        request.compare.threshold,
        grouped(candidates),
        grouped(edges),
        grouped(clusters),
        grouped(largest_cluster)
    );
    let Counts { oversized_buckets, largest_bucket, .. } = summary.counts;
    text.push_str(&old_documents(request, summary));
    if oversized_buckets > 0 {
        let of = grouped(oversized_buckets);
        text.push_str(&format!("{of} buckets had more than {} documents (up to {}); there each was compared with the first {}.\n", request.compare.cap, grouped(largest_bucket), request.compare.cap));
    }
    text
}

/// What the input was compared with.
fn old_documents(request: &Request, summary: &Summary) -> String {
    let Counts { against, against_rejected, .. } = summary.counts;
    let mut text = String::new();
    if !request.old.paths.is_empty() {
        text.push_str(&format!(
            "Compared with {} old documents, which come first and are never removed.\n{}",
            grouped(against),
            matched(request, summary)
        ));
    }
    if against_rejected > 0 {
        let file = request.results.folder.join("against-rejects.jsonl");
        let rejected = lines(against_rejected);
        text += &format!("{rejected} of old documents rejected; they are in {}.\n", file.display());
    }
    text
}

const NAMED: usize = 10;

fn matched(request: &Request, summary: &Summary) -> String {
    let Counts { against, against_matched, .. } = summary.counts;
    let what = match request.compare.measure {
        Measure::Containment => "items are in the input",
        Measure::Jaccard => "of them have a duplicate in the input",
    };
    let named: Vec<String> =
        summary.matched.iter().take(NAMED).map(|id| format!("`{}`", printable(id))).collect();
    let folder = request.results.folder.display();
    let more = match against_matched - named.len() as u64 {
        0 => String::new(),
        more => format!(" and {} more (id_a in {folder}/pairs.parquet)", grouped(more)),
    };
    let colon = if named.is_empty() { "" } else { ": " };
    format!("{} of {} {what}{colon}{}{more}.\n", grouped(against_matched), grouped(against), named.join(", "))
}

/// So many pairs tell the recall well.
const WANTED_PAIRS: u64 = 400;

fn audited(request: &Request, audit: &Audited) -> String {
    let compared = match audit.sampled == audit.documents && audit.compared == audit.documents {
        true if !request.old.paths.is_empty() => "all new documents with each other".to_owned(),
        true => "all documents with each other".to_owned(),
        false if audit.by_minimum => format!(
            "{} documents drawn at random with {} that may be similar",
            grouped(audit.sampled),
            grouped(audit.compared)
        ),
        false => format!("{} documents with {}", grouped(audit.sampled), grouped(audit.compared)),
    };
    let (Some(recall), Some(met), Some(covered)) = (audit.recall, audit.met_share, audit.covered_share)
    else {
        return format!("Audit: an exact comparison of {compared} met no similar pair.\n");
    };
    let ([recall, met], cap) = ([recall, met].map(share), request.compare.cap);
    let found = match audit.capped {
        0 => format!("{recall} were found"),
        _ => format!("{met} met in a bucket and {recall} were compared (the limit is {cap} a bucket)"),
    };
    let is_short = audit.pairs < WANTED_PAIRS && audit.sampled < audit.documents;
    let budget = match request.audit {
        Audit::Auto if is_short => {
            "Fewer than 400 pairs were met, which leaves a wide interval; --audit N compares N documents with all others.\n"
        }
        _ => "",
    };
    let pairs = if audit.pairs == 1 { "pair" } else { "pairs" };
    format!(
        "Audit: an exact comparison of {compared} met {} similar {pairs}:\n{found}; of {} a document was removed.\n{budget}",
        grouped(audit.pairs),
        share(covered)
    )
}

/// A share with its interval, unless it is exact.
fn share(share: Share) -> String {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    match share.low == share.high {
        true => format!("{}%", percent(share.value)),
        false => format!("{}% [{}, {}]", percent(share.value), percent(share.low), percent(share.high)),
    }
}

fn histogram(bins: &[u64], view: &View) -> String {
    let max = bins.iter().copied().max().unwrap_or(1).max(1);
    let mut table = Table::default()
        .column("similarity", Align::Left)
        .column("removed", Align::Right)
        .column("", Align::Left);
    for (i, &n) in bins.iter().enumerate().filter(|(_, n)| **n > 0) {
        let low = 0.5 + 0.05 * i as f64;
        let name = match i {
            _ if i + 1 == bins.len() => "1".to_owned(),
            0 => "below 0.55".to_owned(),
            _ => format!("{low:.2} - {:.2}", low + 0.05),
        };
        let bar = (n as usize * BAR).div_ceil(max as usize);
        table.row([name, grouped(n), "#".repeat(bar)]);
    }
    table.render(view)
}

fn written(request: &Request) -> String {
    let folder = request.results.folder.display();
    // Results in a store are copied first.
    let is_here = !request.results.folder.to_string_lossy().contains("://");
    let hint = if is_here { format!(" (`benzer explain {folder} ID`)") } else { String::new() };
    let written = match request.results.write {
        Output::Remove => {
            format!("kept documents: {folder}/documents; why: {folder}/evidence.parquet{hint}")
        }
        Output::Annotate => {
            format!("annotated documents: {folder}/documents; why: {folder}/evidence.parquet")
        }
        Output::Evidence => format!("evidence: {folder}/evidence.parquet"),
        Output::DryRun => format!("nothing removed (dry run); what would be: {folder}/evidence.parquet"),
    };
    format!("{written}\nto look at: {folder}/report.html")
}

//! `benzer dedup --image`: folders of pictures instead of documents.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use benzer_dedup::Keep as KeepDocument;
use benzer_dedup::progress::{Course, Planned, Stage};
use benzer_image::{self as images, Counts, Keep, Kept, Options, Summary};
use serde::Serialize;

use super::{Arguments, bar, refused};
use crate::Usage;
use crate::options::amount;
use crate::output::{Align, Format, Table, View, grouped, printable, write_json};

const NAMED: usize = 5;

#[derive(Debug, Serialize)]
struct PictureReport<'a> {
    output: &'a std::path::Path,
    counts: &'a Counts,
    seconds: serde_json::Map<String, serde_json::Value>,
}

pub(super) fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let options = options(arguments)?;
    let bars = bar::Bars::new(arguments.log, Course::new(plan()));
    let outcome = images::run(&options, &bars);
    bars.finish();
    let stopped = "stopped; give the same command with --overwrite to begin anew";
    let summary = outcome.map_err(|error| refused(error, stopped))?;
    show(&options, &summary, view, out)
}

/// Stages, and what they cost beside each other: decoding pictures is nearly all of it.
fn plan() -> Vec<Planned> {
    let costs = [
        (Stage::Read, 100.0),
        (Stage::Candidates, 2.0),
        (Stage::Verify, 5.0),
        (Stage::Resolve, 1.0),
        (Stage::Write, 5.0),
    ];
    costs.map(|(stage, cost)| Planned { stage, cost }).to_vec()
}

fn options(arguments: &Arguments) -> anyhow::Result<Options> {
    let keep = match &arguments.keep {
        None | Some(KeepDocument::Longest) => Keep::Largest,
        Some(KeepDocument::Shortest) => Keep::Smallest,
        Some(KeepDocument::First) => Keep::First,
        Some(KeepDocument::Last) => Keep::Last,
        Some(KeepDocument::Max(_) | KeepDocument::Min(_)) => {
            bail!(Usage::new(
                "pictures have no fields; with --image use --keep longest (most pixels), shortest, first or last"
            ))
        }
    };
    let inputs = arguments.inputs.iter().map(PathBuf::from).collect();
    Ok(Options {
        keep,
        kept: match (arguments.dry_run, arguments.link) {
            (true, _) => Kept::Listed,
            (_, true) => Kept::Linked,
            _ => Kept::Copied,
        },
        threads: amount::threads(arguments.threads),
        overwrite: arguments.overwrite,
        strict: arguments.strict,
        allow_rejects: arguments.allow_rejects,
        command: std::env::args().collect(),
        ..Options::new(inputs, arguments.output.clone())
    })
}

fn show(options: &Options, summary: &Summary, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    for reject in summary.rejects.iter().take(NAMED) {
        talk!("rejected: {}", printable(reject));
    }
    let counts = &summary.counts;
    if counts.rejected > 0 {
        let all = options.output.join("rejects.jsonl");
        talk!("{} rejected; all of them are in `{}`", files(counts.rejected), all.display());
    }
    if view.format == Format::Json {
        let seconds = summary.seconds.iter().map(|(name, seconds)| ((*name).to_owned(), (*seconds).into()));
        let report = PictureReport { output: &options.output, counts, seconds: seconds.collect() };
        return write_json(out, &report);
    }
    let mut table = Table::default().column("", Align::Left).column("pictures", Align::Right);
    let rows = [
        ("kept", counts.kept),
        ("removed", counts.removed),
        ("  with the same bytes", counts.copies),
        ("  by points that lie upon each other", counts.removed.saturating_sub(counts.copies)),
        ("rejected", counts.rejected),
    ];
    for (name, number) in rows {
        table.row([name.to_owned(), grouped(number)]);
    }
    out.write_all(table.render(view).as_bytes())?;
    let output = options.output.display();
    let clusters = if counts.clusters == 1 { "cluster" } else { "clusters" };
    writeln!(out, "\n{} {clusters}; look at them in `{output}/report.html`", grouped(counts.clusters))?;
    match options.kept {
        Kept::Listed => writeln!(out, "the kept files are listed in `{output}/kept.txt`")?,
        Kept::Copied => writeln!(out, "the kept files are copied to `{output}/pictures`")?,
        Kept::Linked => writeln!(out, "the kept files are linked in `{output}/pictures`")?,
    }
    Ok(())
}

fn files(n: u64) -> String {
    format!("{} file{}", grouped(n), if n == 1 { "" } else { "s" })
}

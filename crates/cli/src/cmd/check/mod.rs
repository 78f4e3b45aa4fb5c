//! `benzer verify` and `benzer repair`: is everything in a collection as it was written, and is what is derived from it right?

use std::io::Write;

use anyhow::bail;
use benzer_index::store::Report;
use clap::Args;

use crate::cmd::write_json;
use crate::options::db::{DbArguments, failed};
use crate::view::{self, View, grouped};

/// What `benzer verify` does, for its help.
pub const ABOUT_VERIFY: &str = "\
Read everything of collections: every checksum, and that what is searched agrees with the records.

Nothing is changed. The exit code is 1 if something is wrong; `benzer repair` makes right what can be.";

/// What `benzer repair` does, for its help.
pub const ABOUT_REPAIR: &str = "\
Make again what is derived from the records of collections: band keys and the places of ids.

A damaged record cannot be made again; it is named, and the others stay.";

const VERIFY: &str = "\
Examples:
  benzer verify articles
  benzer verify --format json
";
const REPAIR: &str = "\
Examples:
  benzer repair articles
  benzer repair --format json
";

/// Which collections to read.
#[derive(Debug, Args)]
#[command(after_help = VERIFY)]
pub struct VerifyArguments {
    #[command(flatten)]
    which: Which,
}

/// Which collections to repair.
#[derive(Debug, Args)]
#[command(after_help = REPAIR)]
pub struct RepairArguments {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// The collections [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    db: DbArguments,
}

/// Reads everything.
///
/// # Errors
/// Something is wrong; no such collection.
pub fn verify(arguments: &VerifyArguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let reports = each(&arguments.which, |collections, name| collections.verify(name))?;
    show(&reports, view, out)?;
    let bad: Vec<&str> =
        reports.iter().filter(|(_, report)| !report.is_whole()).map(|(name, _)| name.as_str()).collect();
    if bad.is_empty() {
        Ok(())
    } else {
        bail!("not whole: {}; `benzer repair` makes right what can be", bad.join(", "))
    }
}

/// Makes right what can be.
///
/// # Errors
/// A damaged record, which cannot be made again; no such collection.
pub fn repair(arguments: &RepairArguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let reports = each(&arguments.which, |collections, name| collections.repair(name))?;
    show(&reports, view, out)?;
    let lost: usize = reports.iter().map(|(_, report)| report.records.len()).sum();
    if lost == 0 {
        Ok(())
    } else {
        bail!("{lost} records are damaged; put their documents in again (`benzer index`)")
    }
}

fn each(
    which: &Which,
    work: impl Fn(&dyn benzer_index::store::Collections, &str) -> benzer_index::Result<Report>,
) -> anyhow::Result<Vec<(String, Report)>> {
    let collections = which.db.open()?;
    let names =
        if which.names.is_empty() { collections.list().map_err(failed)? } else { which.names.clone() };
    names.into_iter().map(|name| Ok((name.clone(), work(&*collections, &name).map_err(failed)?))).collect()
}

fn show(reports: &[(String, Report)], view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    if view.format == view::Format::Json {
        let all: serde_json::Map<String, serde_json::Value> = reports
            .iter()
            .map(|(name, report)| Ok((name.clone(), serde_json::to_value(report)?)))
            .collect::<anyhow::Result<_>>()?;
        return write_json(out, &all);
    }
    for (name, report) in reports {
        let state = if report.is_whole() { "whole" } else { "damaged" };
        writeln!(out, "{name}: {state}, {} documents", grouped(report.documents))?;
        for line in report.records.iter().chain(&report.derived) {
            writeln!(out, "  wrong: {line}")?;
        }
        for line in &report.warnings {
            writeln!(out, "  warning: {line}")?;
        }
        for line in &report.repaired {
            writeln!(out, "  repaired: {line}")?;
        }
    }
    Ok(())
}

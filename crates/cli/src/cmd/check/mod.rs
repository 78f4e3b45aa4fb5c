//! `benzer verify` and `benzer repair`: is everything as it was written, and is what is derived from it right?

mod paths;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use benzer_index::store::Report;
use clap::Args;

use crate::options::db::{DbArguments, failed};
use crate::output::{View, grouped};

pub const ABOUT_VERIFY: &str = "\
Read everything of collections, results, archives and sketch files: every checksum, and that what is searched agrees with the records.

A PATH is the output folder of `benzer dedup` (every file is compared with manifest.json), an archive of earlier runs, a file of sketches, \
an exported collection, or a folder of collections. A collection of --db goes before a file of the same name; write ./NAME for the file.

Nothing is changed. The exit code is 1 if something is wrong; `benzer repair` makes right what can be of collections.";

pub const ABOUT_REPAIR: &str = "\
Make again what is derived from the records of collections: band keys and the places of ids.

A damaged record cannot be made again; it is named, and the others stay.";

const VERIFY: &str = "\
Examples:
  benzer verify articles
  benzer verify --format json
  benzer verify ./clean
  benzer verify articles.bsk ./benzer-data
";
const REPAIR: &str = "\
Examples:
  benzer repair articles
  benzer repair --format json
";

/// What to read.
#[derive(Debug, Args)]
#[command(after_help = VERIFY)]
pub struct VerifyArguments {
    /// Collections, or files and folders [default: all collections of --db]
    #[arg(value_name = "NAME|PATH")]
    names: Vec<String>,
    #[command(flatten)]
    db: DbArguments,
}

/// Which collections to repair.
#[derive(Debug, Args)]
#[command(after_help = REPAIR)]
pub struct RepairArguments {
    /// The collections [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    db: DbArguments,
}

struct Checked {
    name: String,
    /// What it is, and how much of it.
    what: String,
    wrong: Vec<String>,
    warnings: Vec<String>,
    repaired: Vec<String>,
    json: serde_json::Value,
    remedy: &'static str,
}

/// Reads everything. Errors: something is wrong; no such collection or file.
pub fn verify(arguments: &VerifyArguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let VerifyArguments { names, db } = arguments;
    let mut checked = Vec::new();
    for name in names {
        let is_collection = || Ok(db.open()?.list().map_err(failed)?.contains(name));
        if paths::is_path(name, is_collection)? {
            checked.extend(paths::verify(Path::new(name))?);
        } else {
            checked.push(of_collection(name, &db.open()?.verify(name).map_err(failed)?));
        }
    }
    if names.is_empty() {
        let collections = db.open()?;
        for name in collections.list().map_err(failed)? {
            checked.push(of_collection(&name, &collections.verify(&name).map_err(failed)?));
        }
    }
    show(&checked, view, out)?;
    let bad: Vec<&Checked> = checked.iter().filter(|one| !one.wrong.is_empty()).collect();
    let Some(first) = bad.first() else { return Ok(()) };
    let names: Vec<&str> = bad.iter().map(|one| one.name.as_str()).collect();
    bail!("not whole: {}; {}", names.join(", "), first.remedy)
}

/// Makes right what can be. Errors: a damaged record, which cannot be made again; no such collection.
pub fn repair(arguments: &RepairArguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let collections = arguments.db.open()?;
    let names = match arguments.names.is_empty() {
        true => collections.list().map_err(failed)?,
        false => arguments.names.clone(),
    };
    let repaired = |name: &String| Ok((name.clone(), collections.repair(name).map_err(failed)?));
    let reports: Vec<(String, Report)> = names.iter().map(repaired).collect::<anyhow::Result<_>>()?;
    let checked: Vec<_> = reports.iter().map(|(name, report)| of_collection(name, report)).collect();
    show(&checked, view, out)?;
    let lost: usize = reports.iter().map(|(_, report)| report.records.len()).sum();
    if lost == 0 {
        Ok(())
    } else {
        bail!("records are damaged, see above ({lost} places); put their documents in again (`benzer index`)")
    }
}

fn of_collection(name: &str, report: &Report) -> Checked {
    Checked {
        name: name.to_owned(),
        what: format!("{} documents", grouped(report.documents)),
        wrong: report.records.iter().chain(&report.derived).cloned().collect(),
        warnings: report.warnings.clone(),
        repaired: report.repaired.clone(),
        json: serde_json::to_value(report).unwrap_or_default(),
        remedy: "`benzer repair` makes right what can be",
    }
}

fn show(checked: &[Checked], view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let all: serde_json::Map<_, _> = checked.iter().map(|one| (one.name.clone(), one.json.clone())).collect();
    view.show(out, &all, || checked.iter().map(render).collect())
}

fn render(one: &Checked) -> String {
    let state = if one.wrong.is_empty() { "whole" } else { "damaged" };
    let mut text = format!("{}: {state}, {}\n", one.name, one.what);
    for (word, lines) in [("wrong", &one.wrong), ("warning", &one.warnings), ("repaired", &one.repaired)] {
        lines.iter().for_each(|line| text.push_str(&format!("  {word}: {line}\n")));
    }
    text
}

//! `benzer collections`: what there is, how large it is, putting it in order, taking it elsewhere.

mod duplicates;

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use benzer_index::Settings;
use benzer_index::export;
use benzer_index::store::Stats;
use benzer_storage::Files;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::options::collection::{CollectionArguments, SCHEMA};
use crate::options::db::{DbArguments, failed};
use crate::output::{Align, Format, Table, View, grouped, printable};

pub const ABOUT: &str = "\
Make collections, list them, show how large they are, remove documents, bring collections into their fastest shape, take them elsewhere, or drop them.";

const EXAMPLES: &str = "\
Examples:
  benzer collections create notes --text title,body --values tags
  benzer collections list
  benzer collections stats articles --format json
  benzer collections compact articles
  benzer collections duplicates articles --triples
  benzer collections remove articles trains-16
  benzer collections export articles -o articles.benzer
  benzer collections import copy articles.benzer
  benzer collections drop small
";

/// What to do.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

/// What to do with collections.
#[derive(Debug, Subcommand)]
enum Action {
    /// All collections
    List(All),
    /// Make an empty collection; `benzer index` fills it
    #[command(after_help = SCHEMA)]
    Create(Create),
    /// How large a collection is
    Stats(One),
    /// Bring a collection into the shape that is searched fastest
    Compact(One),
    /// All similar documents of a collection: pairs, triples or clusters
    Duplicates(duplicates::Arguments),
    /// Remove documents by their ids; "" is the empty id, which earlier versions took
    Remove(Remove),
    /// Remove a collection with all its documents
    Drop(One),
    /// Write a collection to one file, as it is at this moment; others may write to it meanwhile
    Export(Export),
    /// Make a collection of an exported file
    Import(Import),
    /// On Redis: lay a collection out for another number of documents; it can be searched meanwhile, and writers wait
    Reshard(Reshard),
}

#[derive(Debug, Args)]
struct Reshard {
    #[command(flatten)]
    one: One,
    /// The number of documents
    #[arg(long, value_name = "N")]
    expected_documents: u64,
}

#[derive(Debug, Args)]
struct Remove {
    #[command(flatten)]
    one: One,
    /// The ids of the documents
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    made: CollectionArguments,
}

#[derive(Debug, Args)]
struct Export {
    #[command(flatten)]
    one: One,
    /// The file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct Import {
    #[command(flatten)]
    one: One,
    /// The exported file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// On Redis: how many documents the collection is laid out for [default: 1000000]
    #[arg(long, value_name = "N")]
    expected_documents: Option<u64>,
}

#[derive(Debug, Args)]
struct All {
    #[command(flatten)]
    db: DbArguments,
}

#[derive(Debug, Args)]
struct One {
    /// The collection
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    db: DbArguments,
}

/// A collection, for programs.
#[derive(Debug, Serialize)]
struct Collection {
    name: String,
    #[serde(flatten)]
    stats: Stats,
    settings: Settings,
    warnings: Vec<String>,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    match &arguments.action {
        Action::List(All { db }) => list(db, view, out),
        Action::Create(Create { one, made }) => {
            let collections = one.db.open_for(made.expected_documents)?;
            drop(collections.create(&one.name, made.settings()?).map_err(failed)?);
            show(one, view, out)
        }
        Action::Stats(one) => show(one, view, out),
        Action::Compact(one) => {
            let index = one.db.index(&one.name)?;
            index.expire().and_then(|_| index.compact()).map_err(failed)?;
            drop(index);
            show(one, view, out)
        }
        Action::Duplicates(arguments) => duplicates::run(arguments, view, out),
        Action::Remove(Remove { one, ids }) => remove(one, ids, view, out),
        Action::Drop(one) => {
            one.db.open()?.remove(&one.name).map_err(failed)?;
            match view.format {
                Format::Json => Ok(()),
                Format::Table => Ok(writeln!(out, "`{}` is gone", one.name)?),
            }
        }
        Action::Export(Export { one, output }) => export(one, output, out),
        Action::Reshard(Reshard { one, expected_documents }) => {
            one.db.open()?.reshard(&one.name, *expected_documents).map_err(failed)?;
            show(one, view, out)
        }
        Action::Import(Import { one, file, expected_documents }) => {
            import(one, file, *expected_documents)?;
            show(one, view, out)
        }
    }
}

fn list(db: &DbArguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let names = db.open()?.list().map_err(failed)?;
    let all = names.iter().map(|name| collection(db, name)).collect::<anyhow::Result<Vec<_>>>()?;
    view.show(out, &all, || match all.is_empty() {
        true => "there are no collections; `benzer index` makes them\n".to_owned(),
        false => render(&all, view),
    })
}

fn export(One { name, db }: &One, output: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let store = db.open()?.read(name).map_err(failed)?;
    let mut file = Files::new().create(output)?;
    let n = export::export(&*store, &mut file).map_err(failed)?;
    file.commit()?;
    Ok(writeln!(out, "{} documents of `{name}` are in `{}`", grouped(n), output.display())?)
}

fn import(One { name, db }: &One, file: &Path, expected_documents: Option<u64>) -> anyhow::Result<()> {
    let open = || {
        let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        export::Import::new(BufReader::new(opened)).map_err(failed)
    };
    // Everything is read once before anything is made.
    let mut all = open()?;
    let read = all.try_for_each(|records| records.map(drop));
    read.map_err(failed).with_context(|| format!("`{}`", file.display()))?;
    let import = open()?;
    let collections = db.open_for(expected_documents)?;
    let store = collections.create(name, import.settings().clone()).map_err(failed)?;
    for records in import {
        store.put(records.map_err(failed)?).map_err(failed)?;
    }
    Ok(())
}

fn remove(one: &One, ids: &[String], view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let One { name, db } = one;
    let index = db.index(name)?;
    let bytes: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
    let numbers = index.store().view().and_then(|view| view.numbers(&bytes)).map_err(failed)?;
    let removed = index.remove(ids).map_err(failed)?;
    let left = index.stats().map_err(failed)?.documents;
    view.show(out, &serde_json::json!({"removed": removed, "documents": left}), || {
        let (removed, left) = (grouped(removed), grouped(left));
        format!("{removed} documents removed from `{name}`; it has {left} now\n")
    })?;
    let missing = ids.iter().zip(numbers).filter(|(_, number)| number.is_none());
    let missing: Vec<String> = missing.map(|(id, _)| format!("`{}`", printable(id))).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => bail!("`{name}` has no document {}", missing.join(", ")),
    }
}

fn show(One { name, db }: &One, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let one = collection(db, name)?;
    view.show(out, &one, || render(std::slice::from_ref(&one), view))
}

fn collection(db: &DbArguments, name: &str) -> anyhow::Result<Collection> {
    let index = db.read(name)?;
    let stats = index.stats().map_err(failed)?;
    let warnings: Vec<String> = index.store().trouble().into_iter().collect();
    for warning in &warnings {
        talk!("warning: `{name}`: {warning}");
    }
    Ok(Collection { name: name.to_owned(), stats, settings: index.settings().clone(), warnings })
}

fn render(all: &[Collection], view: &View) -> String {
    let headings =
        ["documents", "removed", "threshold", "fields", "bytes per document", "for containment", "parts"];
    let mut table = Table::default().column("collection", Align::Left);
    for heading in headings {
        table = table.column(heading, if heading == "fields" { Align::Left } else { Align::Right });
    }
    for Collection { name, stats, settings, .. } in all {
        let bytes = stats.posting_bytes + stats.sketch_bytes + stats.id_bytes + stats.document_bytes;
        let fields: Vec<&str> = settings.fields.iter().map(|field| field.name.as_str()).collect();
        table.row([
            name.clone(),
            grouped(stats.documents),
            grouped(stats.removed),
            settings.threshold.to_string(),
            fields.join(", "),
            grouped(bytes / stats.documents.max(1)),
            grouped(stats.containment_bytes / stats.documents.max(1)),
            grouped(stats.parts),
        ]);
    }
    table.render(view)
}

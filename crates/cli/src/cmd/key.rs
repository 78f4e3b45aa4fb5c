//! `benzer key`: who may use a server.

use std::io::Write;

use anyhow::bail;
use benzer_server::access::keys::{Key, Keys, Scope};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::Usage;
use crate::cmd::write_json;
use crate::options::db::{DbArguments, KeysArguments};
use crate::table::{Align, Table};
use crate::view::{self, View, printable};

/// What the command does, for its help.
pub const ABOUT: &str = "\
Make, list and revoke the keys of a server.

A key is shown once, when it is made; the file keeps its hash. A server that runs sees a change within a second.";

const EXAMPLES: &str = "\
Examples:
  benzer key create website --scope read
  benzer key create importer --scope read,write --collections articles,news
  benzer key list
";

/// What to do.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key and show it, for the only time
    Create(Create),
    /// All keys, without their secrets
    List(Place),
    /// Take a key out of use
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Place {
    #[command(flatten)]
    db: DbArguments,
    #[command(flatten)]
    keys: KeysArguments,
}

#[derive(Debug, Args)]
struct Create {
    /// What it is for, in your words
    #[arg(value_name = "LABEL")]
    label: String,
    /// What it may do: read (search, compare), write (make, fill and delete collections), or both
    #[arg(
        long,
        value_enum,
        value_name = "SCOPES",
        value_delimiter = ',',
        default_value = "read",
        hide_possible_values = true
    )]
    scope: Vec<Allowed>,
    /// The collections that it is for [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    collections: Vec<String>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct Revoke {
    /// The letters that name it, as `benzer key list` shows them
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    place: Place,
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Allowed {
    Read,
    Write,
}

/// A key as it is shown: without its hash.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: &'a str,
    label: &'a str,
    scopes: &'a [Scope],
    collections: &'a [String],
    created: u64,
}

/// Does it.
///
/// # Errors
/// A file that cannot be read or written; no such key.
pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    match &arguments.action {
        Action::Create(create) => {
            let path = create.place.keys.path(&create.place.db);
            let mut keys = Keys::read(&path)?;
            let scope = |allowed: &Allowed| match allowed {
                Allowed::Read => Scope::Read,
                Allowed::Write => Scope::Write,
            };
            let scopes: Vec<Scope> = create.scope.iter().map(scope).collect();
            let key = keys.create(&create.label, &scopes, &create.collections)?;
            keys.write(&path)?;
            talk!("the key is shown this once; `{}` keeps its hash only", path.display());
            match view.format {
                view::Format::Json => write_json(out, &serde_json::json!({ "key": key })),
                view::Format::Table => Ok(writeln!(out, "{key}")?),
            }
        }
        Action::List(place) => list(&Keys::read(&place.keys.path(&place.db))?.keys, view, out),
        Action::Revoke(Revoke { id, place }) => {
            let path = place.keys.path(&place.db);
            let mut keys = Keys::read(&path)?;
            if !keys.revoke(id) {
                bail!(Usage::new(format!(
                    "there is no key `{}` in `{}`; `benzer key list` shows all",
                    printable(id),
                    path.display()
                )));
            }
            keys.write(&path)?;
            talk!("`{id}` is revoked");
            Ok(())
        }
    }
}

fn shown(key: &Key) -> Shown<'_> {
    let Key { id, label, scopes, collections, created, .. } = key;
    Shown { id, label, scopes, collections, created: *created }
}

fn list(keys: &[Key], view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    if view.format == view::Format::Json {
        return write_json(out, &keys.iter().map(shown).collect::<Vec<_>>());
    }
    if keys.is_empty() {
        return Ok(writeln!(out, "there are no keys; `benzer key create` makes one")?);
    }
    let mut table = ["id", "label", "scopes", "collections"]
        .into_iter()
        .fold(Table::default(), |table, heading| table.column(heading, Align::Left));
    for key in keys {
        let scopes: Vec<&str> =
            key.scopes.iter().map(|scope| if *scope == Scope::Read { "read" } else { "write" }).collect();
        let collections =
            if key.collections.is_empty() { "all".to_owned() } else { key.collections.join(", ") };
        table.row([key.id.clone(), printable(&key.label), scopes.join(", "), printable(&collections)]);
    }
    Ok(out.write_all(table.render(view).as_bytes())?)
}

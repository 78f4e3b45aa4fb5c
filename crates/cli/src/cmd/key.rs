//! `benzer key`: who may use a server.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_server::access::keys::{Key, Keys, Scope};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::Usage;
use crate::options::db::{DbArguments, KeysArguments};
use crate::output::{Align, Table, View, printable};

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

impl From<Allowed> for Scope {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::Read => Self::Read,
            Allowed::Write => Self::Write,
        }
    }
}

impl Place {
    fn path(&self) -> PathBuf {
        self.keys.path(&self.db)
    }
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    match &arguments.action {
        Action::Create(arguments) => create(arguments, view, out),
        Action::List(place) => {
            let keys = Keys::read(&place.path())?.keys;
            view.show(out, &keys.iter().map(shown).collect::<Vec<_>>(), || render(&keys, view))
        }
        Action::Revoke(Revoke { id, place }) => revoke(id, &place.path()),
    }
}

fn create(arguments: &Create, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = arguments.place.path();
    let mut keys = Keys::read(&path)?;
    let scopes: Vec<Scope> = arguments.scope.iter().map(|&scope| scope.into()).collect();
    let key = keys.create(&arguments.label, &scopes, &arguments.collections)?;
    keys.write(&path)?;
    talk!("the key is shown this once; `{}` keeps its hash only", path.display());
    view.show(out, &serde_json::json!({ "key": key }), || format!("{key}\n"))
}

fn revoke(id: &str, path: &Path) -> anyhow::Result<()> {
    let mut keys = Keys::read(path)?;
    if !keys.revoke(id) {
        let (id, path) = (printable(id), path.display());
        bail!(Usage::new(format!("there is no key `{id}` in `{path}`; `benzer key list` shows all")));
    }
    keys.write(path)?;
    talk!("`{id}` is revoked");
    Ok(())
}

fn shown(key: &Key) -> Shown<'_> {
    let Key { id, label, scopes, collections, created, .. } = key;
    Shown { id, label, scopes, collections, created: *created }
}

fn render(keys: &[Key], view: &View) -> String {
    if keys.is_empty() {
        return "there are no keys; `benzer key create` makes one\n".to_owned();
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
    table.render(view)
}

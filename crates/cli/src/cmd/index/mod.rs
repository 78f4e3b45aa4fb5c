//! `benzer index`: documents into a collection.

mod documents;
#[cfg(feature = "image")]
mod pictures;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;
use benzer_core::field::Document;
use benzer_index::store::Store;
use benzer_index::{Error, Index};
use benzer_io::read::{FieldPath, Format};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde::Serialize;

use crate::Usage;
use crate::options::collection::{CollectionArguments, SCHEMA};
use crate::options::db::{DbArguments, failed};
use crate::output::{View, grouped};
use crate::reading::{Rejects, check_places};

pub const ABOUT: &str = "\
Put documents into a collection, which is made if it is not there.

A document with an id that is there already replaces the old one. Every batch is one durable commit: what \
was told as done survives a crash (on Redis: what the settings of the server say, docs/guide/redis.md). The collection is made for a threshold and a recall, and with the fields of --text and \
--values, or those of a schema file; later runs must agree.";

const EXAMPLES: &str = "\
Examples:
  benzer index articles articles.jsonl --text text
  benzer index small articles.jsonl --text text --sketches-only --threshold 0.7
  benzer index articles today.jsonl --continue
  benzer index papers articles.jsonl --text title,text
  benzer index parts articles.jsonl --text text --containment

";
const AFTER: &str = "Inputs are JSON lines unless --input-format says otherwise. ";

/// What to index, and where.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{AFTER}{SCHEMA}"))]
pub struct Arguments {
    /// The collection
    #[arg(value_name = "NAME")]
    name: String,
    /// Files, folders, globs, or `-`
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<OsString>,
    #[command(flatten)]
    db: DbArguments,
    #[command(flatten)]
    made: CollectionArguments,
    /// The field that is the id
    #[arg(long, value_name = "FIELD", default_value = "id")]
    id_field: FieldPath,
    /// Read all inputs as this: jsonl, csv, tsv, text, parquet, arrow; all but jsonl have one text field
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    input_format: Format,
    /// Pass over documents whose id is in the collection: goes on with an interrupted run
    #[arg(long = "continue")]
    go_on: bool,
    /// Documents of a commit
    #[arg(long, value_name = "N", default_value = "1000", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    batch: usize,
    /// The documents are gone after so many seconds
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u64>,
    /// Write the lines that cannot be read to this file
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Stop at the first line that cannot be read; batches before it are in the collection
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Default, Serialize)]
struct Indexed {
    inserted: u64,
    passed: u64,
    rejected: u64,
    documents: u64,
    seconds: f64,
    warnings: Vec<String>,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let start = Instant::now();
    let inputs: Vec<PathBuf> = arguments.inputs.iter().map(PathBuf::from).collect();
    check_places(None, arguments.rejects.as_deref(), &inputs)?;
    let index = Index::new(collection(arguments)?).map_err(failed)?;
    // What is gone must not count as there.
    index.expire().map_err(failed)?;
    let mut rejects = Rejects::new(arguments.rejects.as_deref(), arguments.strict)?;
    let mut summary = Indexed::default();
    let expires = arguments.ttl.map(|seconds| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        now.as_secs().saturating_add(seconds)
    });
    let warnings = documents::read(arguments, index.settings(), &mut rejects, |batch| {
        put(&index, arguments, batch, expires, &mut summary)
    })?;
    summary.warnings.extend(warnings);
    rejects.finish()?;
    // Every document is on the disk by now; what searching makes fast may not be.
    if let Err(error) = index.store().settle() {
        summary.warnings.push(format!(
            "all documents are there, but not yet in the shape that is searched fastest: {error}"
        ));
    }
    (summary.rejected, summary.documents) = (rejects.n_rejected(), index.stats().map_err(failed)?.documents);
    summary.seconds = start.elapsed().as_secs_f64();
    for warning in &summary.warnings {
        talk!("warning: {warning}");
    }
    view.show(out, &summary, || {
        let passed = match summary.passed {
            0 => String::new(),
            passed => format!(", {} were there already", grouped(passed)),
        };
        let (inserted, documents) = (grouped(summary.inserted), grouped(summary.documents));
        let (name, seconds) = (&arguments.name, summary.seconds);
        format!("{inserted} documents put into `{name}`{passed}; it has {documents} now. {seconds:.2} s\n")
    })
}

/// Commits a batch; why some of its documents were not taken.
fn put(
    index: &Index,
    arguments: &Arguments,
    mut batch: Vec<Document>,
    expires: Option<u64>,
    summary: &mut Indexed,
) -> anyhow::Result<Vec<(String, Error)>> {
    if arguments.go_on {
        let all = batch.len();
        let ids: Vec<&[u8]> = batch.iter().map(|document| document.id.as_bytes()).collect();
        let there = index.store().view().and_then(|view| view.numbers(&ids)).map_err(failed)?;
        let mut there = there.iter();
        batch.retain(|_| there.next().is_some_and(Option::is_none));
        summary.passed += (all - batch.len()) as u64;
    }
    let inserted = index.insert_until(&batch, |_| expires).map_err(failed)?;
    summary.inserted += inserted.n_inserted() as u64;
    let bad = batch
        .iter()
        .zip(inserted.outcomes)
        .filter_map(|(document, outcome)| Some((document.id.clone(), outcome.err()?)));
    Ok(bad.collect())
}

fn collection(arguments: &Arguments) -> anyhow::Result<Arc<dyn Store>> {
    let collections = arguments.db.open_for(arguments.made.expected_documents)?;
    let is_new = !collections.list().map_err(failed)?.contains(&arguments.name);
    if is_new && !arguments.made.has_fields() {
        bail!(Usage::new(format!(
            "there is no collection `{}` in `{}`; to make one, name its fields with --text and --values, or give --schema",
            arguments.name,
            arguments.db.shown()
        )));
    }
    if is_new {
        match collections.create(&arguments.name, arguments.made.settings()?) {
            // Another writer was faster: then this one joins in, below.
            Err(Error::Exists { .. }) => {}
            made => return made.map_err(failed),
        }
    }
    let store = collections.open(&arguments.name).map_err(failed)?;
    arguments.made.expect(store.settings())?;
    Ok(store)
}

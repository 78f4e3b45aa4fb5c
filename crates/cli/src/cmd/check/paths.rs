//! What `benzer verify` makes of paths: results, archives, sketch files, exported collections, folders of collections.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use benzer_dedup::integrity;
use benzer_index::export::{self, Import};
use benzer_index::store;
use benzer_server::access::keys::Keys;
use serde_json::{Value, json};

use super::{Checked, of_collection};
use crate::Usage;
use crate::options::db::failed;
use crate::output::grouped;

/// How a damaged one that was made from something else is made right.
const REMEDY: &str = "make it again, or get an undamaged copy";

/// Reads everything at a path. Errors: nothing is there, or nothing that has checksums.
pub(super) fn verify(path: &Path) -> anyhow::Result<Vec<Checked>> {
    let shown = path.display().to_string();
    if path.to_string_lossy().contains("://") {
        return Err(Usage::new(format!("`{shown}` is in a store; copy it to this machine first")).into());
    }
    if path.join("collection.json").is_file() {
        return collection(path).map(|checked| vec![checked]);
    }
    if path.is_dir() {
        let names = store::open(&shown).and_then(|all| all.list()).map_err(failed)?;
        if !names.is_empty() {
            return names.iter().map(|name| collection(&path.join(name))).collect();
        }
    } else if begins(path)? {
        return Ok(vec![export(path)]);
    }
    if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("keys.json")) && path.is_file() {
        return Ok(vec![keys(path)]);
    }
    let report = match integrity::verify(path)? {
        None if path.is_file() => sketches(path)?,
        found => found,
    };
    match report {
        Some(report) => Ok(vec![of_report(shown, &report)]),
        None => Ok(vec![Checked {
            wrong: vec![format!(
                "expected {}; files of results are checked with their folder, inputs have no checksums",
                "a sketch file, an exported collection, or the folder of results, of an archive or of collections"
            )],
            ..Checked::new(shown, "nothing that benzer can check".to_owned(), "name one of these")
        }]),
    }
}

fn collection(path: &Path) -> anyhow::Result<Checked> {
    // `.` and `..` have no name of their own.
    let path = path.canonicalize().with_context(|| format!("cannot read `{}`", path.display()))?;
    let (folder, name) = (path.parent().unwrap_or(Path::new("/")), path.file_name().unwrap_or_default());
    let all = store::open(&folder.to_string_lossy()).map_err(failed)?;
    let report = all.verify(&name.to_string_lossy()).map_err(failed)?;
    Ok(of_collection(&path.display().to_string(), &report))
}

fn sketches(path: &Path) -> anyhow::Result<Option<integrity::Report>> {
    let Some(checked) = benzer_sets::sketches::check(path)? else { return Ok(None) };
    Ok(Some(integrity::Report {
        kind: integrity::Kind::Sketches,
        files: 1,
        bytes: path.metadata().map_or(0, |file| file.len()),
        wrong: checked.err().map(|error| error.to_string()).into_iter().collect(),
        warnings: Vec::new(),
    }))
}

fn of_report(name: String, report: &integrity::Report) -> Checked {
    let (kind, [files, bytes]) = (report.kind.name(), [report.files, report.bytes].map(grouped));
    let noun = if report.files == 1 { "file" } else { "files" };
    let what = format!("{kind}, {files} {noun}, {bytes} bytes");
    Checked {
        wrong: report.wrong.clone(),
        warnings: report.warnings.clone(),
        json: serde_json::to_value(report).unwrap_or_default(),
        ..Checked::new(name, what, REMEDY)
    }
}

fn begins(path: &Path) -> anyhow::Result<bool> {
    let read = || -> std::io::Result<bool> {
        let mut start = Vec::new();
        File::open(path)?.take(export::MAGIC.len() as u64).read_to_end(&mut start)?;
        Ok(start == export::MAGIC)
    };
    read().with_context(|| format!("cannot read `{}`", path.display()))
}

fn export(path: &Path) -> Checked {
    let bytes = path.metadata().map_or(0, |file| file.len());
    let mut n = 0;
    let mut read = || -> anyhow::Result<()> {
        let mut import = Import::new(BufReader::with_capacity(1 << 16, File::open(path)?)).map_err(failed)?;
        while let Some(records) = import.next() {
            records.map_err(failed)?;
            n = import.records_read();
        }
        Ok(())
    };
    let wrong: Vec<String> = read().err().map(|error| format!("{error:#}")).into_iter().collect();
    let what = format!("an exported collection, {} documents, {} bytes", grouped(n), grouped(bytes));
    let json = json!({"kind": "export", "documents": n, "bytes": bytes, "wrong": wrong, "warnings": []});
    Checked { wrong, json, ..Checked::new(path.display().to_string(), what, REMEDY) }
}

fn keys(path: &Path) -> Checked {
    let read = Keys::read(path);
    let n = read.as_ref().map_or(0, |keys| keys.keys.len());
    let wrong: Vec<String> = read.err().map(|error| error.to_string()).into_iter().collect();
    let json = json!({"kind": "keys", "keys": n, "wrong": wrong, "warnings": []});
    Checked {
        wrong,
        json,
        ..Checked::new(path.display().to_string(), format!("{n} keys of a server"), REMEDY)
    }
}

/// Which arguments are paths: what cannot be the name of a collection, and what is there and is none of the collections.
pub(super) fn is_path(
    argument: &str,
    is_collection: impl FnOnce() -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    if argument.contains('/') || argument.starts_with('.') {
        return Ok(true);
    }
    Ok(PathBuf::from(argument).exists() && !is_collection()?)
}

impl Checked {
    fn new(name: String, what: String, remedy: &'static str) -> Self {
        Self {
            name,
            what,
            wrong: Vec::new(),
            warnings: Vec::new(),
            repaired: Vec::new(),
            json: Value::Null,
            remedy,
        }
    }
}

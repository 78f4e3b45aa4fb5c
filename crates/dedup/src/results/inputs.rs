//! Which documents a finished run has read: its inputs as `run.json` names them, read again where the results do not say.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::manifest::{self, Manifest};
use crate::corpus::Corpus;
use crate::documents::Row;
use crate::error::{Error, Result};
use benzer_flow::pipeline::{self, Work};
use benzer_io::read::{self, Batch, DocumentId, FieldPath, Format, Inputs, RawBatch, ReadOptions};

/// An input of a run, for `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    /// As it was named, or found in what was named.
    pub path: String,
    pub name: String,
    pub bytes: Option<u64>,
    pub documents: u64,
    /// The line or row of the last one; 0 if there is none.
    pub last: u64,
}

/// The inputs of a corpus, with the number of documents of each. Rows are in the order of the inputs.
pub(crate) fn named(corpus: &Corpus, stdin: &Path) -> Result<Vec<Named>> {
    let mut start = Row(0);
    let mut all = Vec::with_capacity(corpus.inputs.len());
    for input in &corpus.inputs {
        let end = end_of(corpus, start, input.number)?;
        let last = if end > start { corpus.documents.place(Row(end.0 - 1)).line } else { 0 };
        let path = if *input.path == *stdin { Path::new("-") } else { &input.path };
        let path = path.to_string_lossy().into_owned();
        let name = input.relative.to_string_lossy().into_owned();
        all.push(Named { path, name, bytes: input.bytes, documents: u64::from(end.0 - start.0), last });
        start = end;
    }
    Ok(all)
}

/// The row behind the last one of an input.
fn end_of(corpus: &Corpus, start: Row, input: u32) -> Result<Row> {
    let (mut low, mut high) = (start.0, corpus.documents.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match corpus.documents.place(Row(middle)).input <= input {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(Row(low))
}

/// What a run has read, and how.
#[derive(Debug)]
pub(super) struct ReadAgain {
    pub folder: PathBuf,
    pub inputs: Vec<Named>,
    pub has_ids: bool,
    pub repeats: bool,
    options: ReadOptions,
    directory: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A document, and its id if it has one of its own.
    Document(Option<String>),
    /// A rejected line, and why.
    Rejected(String),
    /// No document begins there.
    Nothing,
}

impl ReadAgain {
    /// From `manifest.json` and `run.json`; of a run at another threshold, those of the run it was made from. Runs of earlier versions do not name their inputs.
    pub fn open(folder: &Path) -> Result<Self> {
        let mut folder = folder.to_owned();
        let mut manifest = Manifest::read(&folder)?;
        if let Some(from) = manifest.json["from"].as_str() {
            // The folder may have been moved with what it was made from.
            let beside =
                folder.parent().filter(|parent| parent.join(manifest::RUN).is_file()).map(Path::to_owned);
            folder = [Some(PathBuf::from(from)), beside]
                .into_iter()
                .flatten()
                .find(|run| run.join(manifest::NAME).is_file())
                .unwrap_or(folder);
            manifest = Manifest::read(&folder)?;
        }
        let run = manifest.read_run(&folder)?;
        let manifest = manifest.json;
        let settings = &manifest["settings"];
        let path = |value: &Value| value.as_str().and_then(|text| text.parse::<FieldPath>().ok());
        let defaults = ReadOptions::default();
        let id_field = path(&settings["id_field"]);
        Ok(Self {
            inputs: Vec::deserialize(&run["inputs"]).unwrap_or_default(),
            has_ids: id_field.is_some(),
            repeats: manifest["counts"]["repeated_ids"].as_u64().unwrap_or(0) > 0,
            options: ReadOptions {
                text_fields: settings["text_fields"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(path)
                    .collect(),
                id_field,
                format: run["read"]["format"].as_str().and_then(|name| name.parse().ok()),
                per_file: run["read"]["per_file"].as_bool().unwrap_or(false),
                max_line_bytes: run["read"]["max_line_bytes"]
                    .as_u64()
                    .map_or(defaults.max_line_bytes, |n| n as usize),
                ..defaults
            },
            directory: run["directory"].as_str().map(PathBuf::from).unwrap_or_default(),
            folder,
        })
    }

    /// The inputs that a path names: those of exactly that path, or else those whose path ends so.
    pub fn matching(&self, typed: &str) -> (Vec<&Named>, bool) {
        let absolute = std::path::absolute(typed).unwrap_or_else(|_| typed.into());
        let is_exact = |input: &&Named| {
            input.name == typed
                || plain(Path::new(&input.path)) == plain(Path::new(typed))
                || plain(&self.directory.join(&input.path)) == plain(&absolute)
        };
        let exact: Vec<&Named> = self.inputs.iter().filter(is_exact).collect();
        if !exact.is_empty() {
            return (exact, true);
        }
        let wanted = plain(Path::new(typed));
        let ends_so = |input: &&Named| plain(&self.directory.join(&input.path)).ends_with(&wanted);
        (self.inputs.iter().filter(ends_so).collect(), false)
    }

    /// What stands at a line of an input, by reading it again; the error says why that cannot be told.
    pub fn line(&self, input: &Named, line: u64) -> Result<Line, String> {
        if line == 0 || line > input.last && input.documents > 0 && self.is_there(input).is_err() {
            return Ok(Line::Nothing);
        }
        if !self.has_ids && input.documents == input.last {
            return Ok(if line <= input.last { Line::Document(None) } else { Line::Nothing });
        }
        let path = self.is_there(input)?;
        let say = |error: benzer_io::Error| error.to_string();
        let reader = read::open(Inputs::new().path(path), self.options.clone()).map_err(say)?;
        for raw in reader {
            let batch = read::parse(raw.map_err(say)?);
            if let Some(document) = batch.documents().find(|document| document.line == line) {
                let id = match document.id {
                    DocumentId::Field(id) => Some(id.to_owned()),
                    _ => None,
                };
                return Ok(Line::Document(id));
            }
            if let Some(reject) = batch.rejects().iter().find(|reject| reject.line == line) {
                return Ok(Line::Rejected(reject.reason.to_string()));
            }
            if batch.documents().next().is_some_and(|document| document.line > line) {
                break;
            }
        }
        Ok(Line::Nothing)
    }

    /// The places of all documents with an id, by reading the inputs again.
    pub fn with_id(&self, id: &str) -> Result<Vec<(String, u64)>, String> {
        if self.inputs.is_empty() {
            return Err("results of this version do not name their inputs".to_owned());
        }
        let mut found = Vec::new();
        for input in self.inputs.iter().filter(|input| input.documents > 0) {
            let path = self.is_there(input)?;
            let say = |error: benzer_io::Error| error.to_string();
            let reader = read::open(Inputs::new().path(path), self.options.clone()).map_err(say)?;
            let threads = std::thread::available_parallelism().map_or(1, Into::into);
            pipeline::run(reader, &Finder(id), threads, |lines| -> Result<()> {
                found.extend(lines.into_iter().map(|line| (input.name.clone(), line)));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        }
        Ok(found)
    }

    /// Where an input is, if it still is what it was.
    fn is_there(&self, input: &Named) -> Result<PathBuf, String> {
        let path = match input.path.as_str() {
            "-" => return Err("standard input cannot be read again".to_owned()),
            address if address.contains("://") => return Ok(address.into()),
            path => self.directory.join(path),
        };
        match std::fs::metadata(&path) {
            Ok(metadata) if input.bytes.is_none_or(|bytes| bytes == metadata.len()) => Ok(path),
            Ok(_) => Err(format!("the input `{}` has changed since", path.display())),
            Err(error) => Err(format!("the input `{}` cannot be read again ({error})", path.display())),
        }
    }
}

fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

struct Finder<'a>(&'a str);

impl Work for Finder<'_> {
    type Batch = RawBatch;
    type Scratch = ();
    type Made = Vec<u64>;
    type Error = Error;

    fn make(&self, raw: RawBatch, (): &mut ()) -> Result<Vec<u64>> {
        let batch: Batch = read::parse(raw);
        let has_id = |id: DocumentId<'_>| matches!(id, DocumentId::Field(id) if id == self.0);
        Ok(batch.documents().filter(|document| has_id(document.id)).map(|document| document.line).collect())
    }
}

/// How documents were read, for `run.json`.
pub(crate) fn how(options: &ReadOptions) -> Value {
    let name = options.format.map(|format| match format {
        Format::JsonLines => "jsonl",
        Format::Csv { delimiter: b'\t' } => "tsv",
        Format::Csv { .. } => "csv",
        Format::Lines | Format::File => "text",
        Format::Parquet => "parquet",
        Format::Arrow => "arrow",
    });
    serde_json::json!({"format": name, "per_file": options.per_file, "max_line_bytes": options.max_line_bytes})
}

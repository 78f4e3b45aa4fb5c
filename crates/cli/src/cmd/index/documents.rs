//! Lines and records as documents of a schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_core::field::{Content, Document};
use benzer_index::{Error, Settings};
use benzer_io::read::{self, DocumentId, Format, ReadOptions, Reject, RejectReason};
use benzer_sets::Rejected;
use serde_json::Value;

use super::Arguments;
use crate::Usage;
use crate::options::collection::text_fields;
use crate::options::input;
use crate::output::grouped;
use crate::reading::Bar;
use crate::reading::Rejects;

/// What documents had of the fields of a schema.
#[derive(Default)]
struct Seen {
    fields: BTreeSet<String>,
    documents: u64,
    empty: u64,
}

impl Seen {
    fn document(&mut self, document: &Document) {
        self.documents += 1;
        self.empty += u64::from(document.fields.is_empty());
        for name in document.fields.keys().filter(|name| !self.fields.contains(*name)).collect::<Vec<_>>() {
            self.fields.insert(name.clone());
        }
    }

    /// What is worth a warning: a field that nobody has may be a slip of the pen.
    fn warnings(&self, settings: &Settings) -> Vec<String> {
        let names = || settings.schema.fields().map(|(name, _)| name);
        let missing: Vec<&str> = names().filter(|name| !self.fields.contains(*name)).collect();
        let mut warnings = Vec::new();
        if self.documents > 0 && !missing.is_empty() {
            warnings.push(format!("no document has the field `{}`", missing.join("`, `")));
        }
        if self.empty > 0 {
            let (empty, names) = (grouped(self.empty), names().collect::<Vec<_>>().join("`, `"));
            warnings
                .push(format!("{empty} documents have no content in `{names}`: they are similar to nothing"));
        }
        warnings
    }
}

/// Documents on their way into a collection, with the places where they stand in the inputs.
struct Batch<'a, P> {
    documents: Vec<Document>,
    places: Vec<Reject>,
    rejects: &'a mut Rejects,
    put: P,
}

impl<P: FnMut(Vec<Document>) -> anyhow::Result<Vec<(String, Error)>>> Batch<'_, P> {
    /// Puts the documents into the collection; those that are not taken are rejects.
    fn commit(&mut self) -> anyhow::Result<()> {
        let ids: Vec<String> = self.documents.iter().map(|document| document.id.clone()).collect();
        for (id, error) in (self.put)(std::mem::take(&mut self.documents))? {
            if let Some(i) = ids.iter().position(|other| *other == id) {
                let reason = RejectReason::Unfit { why: error.to_string() };
                let reject = Reject { reason, ..self.places[i].clone() };
                self.rejects.add(&Rejected { reject, line: None })?;
            }
        }
        self.places.clear();
        Ok(())
    }

    fn reject(&mut self, reject: Reject, line: Option<&[u8]>) -> anyhow::Result<()> {
        self.rejects.add(&Rejected { reject, line: line.map(<[u8]>::to_vec) })
    }
}

/// Reads all inputs; `put` gets the documents batch by batch, and gives back those that were not taken. The result is what to warn of.
pub(super) fn read(
    arguments: &Arguments,
    settings: &Settings,
    rejects: &mut Rejects,
    put: impl FnMut(Vec<Document>) -> anyhow::Result<Vec<(String, Error)>>,
) -> anyhow::Result<Vec<String>> {
    let mut seen = Seen::default();
    let reader = open(arguments, settings)?;
    let bar = Bar::new(reader.progress());
    let inputs = reader.inputs().to_vec();
    let mut batch = Batch { documents: Vec::new(), places: Vec::new(), rejects, put };
    for raw in reader {
        let lines = read::parse(raw?);
        for (i, reject) in lines.rejects().iter().enumerate() {
            batch.reject(reject.clone(), lines.rejected_line(i))?;
        }
        for line in lines.documents() {
            let file = &inputs[line.input as usize].path;
            let place = |why: String| Reject {
                file: file.clone(),
                input: line.input,
                line: line.line,
                offset: line.offset,
                reason: RejectReason::Unfit { why },
            };
            match parsed(arguments, settings, file, &line) {
                Ok(document) => {
                    seen.document(&document);
                    batch.documents.push(document);
                    batch.places.push(place(String::new()));
                }
                Err(why) => batch.reject(place(why), Some(line.text.as_bytes()))?,
            }
            if batch.documents.len() == arguments.batch {
                batch.commit()?;
            }
        }
        bar.update();
    }
    batch.commit()?;
    bar.finish();
    Ok(seen.warnings(settings))
}

fn several() -> Usage {
    Usage::new(
        "--input-format: only JSON lines can have several fields, or values; convert the input to them",
    )
}

fn open(arguments: &Arguments, settings: &Settings) -> anyhow::Result<read::Reader> {
    let options = match arguments.input_format {
        // Whole lines: the fields are taken out of them here, because they may be lists.
        Format::JsonLines => ReadOptions { format: Some(Format::Lines), ..ReadOptions::default() },
        format => {
            let [only] = text_fields(settings)[..] else { bail!(several()) };
            if settings.fields.len() > 1 {
                bail!(several());
            }
            let id_field =
                (!matches!(format, Format::Lines | Format::File)).then(|| arguments.id_field.clone());
            ReadOptions {
                text_fields: vec![only.parse()?],
                id_field,
                format: Some(format),
                ..ReadOptions::default()
            }
        }
    };
    input::open(arguments.inputs.iter().map(PathBuf::from).collect(), options)
}

fn parsed(
    arguments: &Arguments,
    settings: &Settings,
    file: &Path,
    document: &read::Document<'_>,
) -> Result<Document, String> {
    if arguments.input_format != Format::JsonLines {
        let id = match document.id {
            DocumentId::Field(id) => id.to_owned(),
            DocumentId::Row { row, .. } => format!("{}:{row}", file.display()),
        };
        let field = settings.schema.fields().next().map(|(name, _)| name.to_owned()).unwrap_or_default();
        return Ok(Document::new(id, [(field, Content::from(document.text))]));
    }
    let value: Value = serde_json::from_str(document.text).map_err(|error| error.to_string())?;
    let at = |names: &[String]| names.iter().try_fold(&value, |value, name| value.get(name));
    let id = match at(arguments.id_field.names()) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return Err(format!("no id: `{}` must be a string or an integer", arguments.id_field)),
    };
    let mut fields = BTreeMap::new();
    for (name, spec) in settings.schema.fields() {
        #[cfg(not(feature = "image"))]
        let _ = spec;
        let names: Vec<String> = name.split('.').map(str::to_owned).collect();
        match at(&names).or_else(|| value.get(name)) {
            None | Some(Value::Null) => {}
            Some(content) => {
                let content: Content = serde_json::from_value(content.clone())
                    .map_err(|error| format!("field `{name}`: {error}"))?;
                #[cfg(feature = "image")]
                let content = super::pictures::with_file(spec, file, content)
                    .map_err(|error| format!("field `{name}`: {error}"))?;
                fields.insert(name.to_owned(), content);
            }
        }
    }
    Ok(Document { id, fields })
}

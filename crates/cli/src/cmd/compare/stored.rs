//! Documents of sketch files, found by id.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{bail, ensure};
use benzer_sets::sketches::{Header, SketchReader};

use super::load::label;
use super::{Arguments, Content, Kind, Subject, Subjects};
use crate::Usage;
use crate::output::grouped;

/// Without --ids all documents are compared, up to this many.
const MAX_DOCUMENTS: usize = 26;

struct Found {
    id: String,
    file: String,
    sketch: benzer_core::sketch::Sketch,
}

/// Loads the documents that `--ids` names from all files, or all documents of small files.
pub(super) fn load(arguments: &Arguments, files: &[OsString]) -> anyhow::Result<Subjects> {
    if arguments.explain.is_some() || arguments.set || !arguments.sketch.is_empty() {
        bail!(Usage::new(
            "--explain, --set and --sketch need the texts themselves; a sketch file has one kind of sketch and no text"
        ));
    }
    if !arguments.text.is_default() {
        bail!(Usage::new(
            "a sketch file has its shingles already: --unit, --ngram, --strip-diacritics, --stop-words and --bag are given to `benzer sketch`"
        ));
    }
    let mut header = None;
    let mut found = Vec::new();
    for file in files {
        let own = find(Path::new(file), &arguments.ids, &mut found)?;
        header.get_or_insert(own);
    }
    let header = header.expect("at least one file is required");
    for id in &arguments.ids {
        ensure!(
            found.iter().any(|found| found.id == *id),
            "no document `{id}` in {}; `benzer sketch --show FILE` lists the ids",
            files.iter().map(|f| format!("`{}`", Path::new(f).display())).collect::<Vec<_>>().join(", ")
        );
    }
    found.sort_by_key(|found| arguments.ids.iter().position(|id| *id == found.id));
    ensure!(found.len() >= 2, "one document has nothing to be compared with; name two or more with --ids");
    Ok(subjects(&header, found, files.len() > 1))
}

fn subjects(header: &Header, found: Vec<Found>, several_files: bool) -> Subjects {
    let subject = |(number, found): (usize, Found)| Subject {
        label: label(number),
        name: if several_files { format!("{} in {}", found.id, found.file) } else { found.id },
        size: found.sketch.size().unwrap_or_default(),
        features: None,
        content: Content::Stored,
        sketches: vec![found.sketch],
    };
    let subjects = found.into_iter().enumerate().map(subject).collect();
    let kinds = vec![Kind { name: "estimate".into(), spec: header.spec.clone() }];
    Subjects { subjects, kinds, elements: "elements".into(), shingler: None }
}

/// Reads a whole file, which also checks it, and keeps what is asked for.
fn find(path: &Path, ids: &[String], found: &mut Vec<Found>) -> anyhow::Result<Header> {
    let mut reader = SketchReader::open(path)?;
    while let Some(block) = reader.next_block()? {
        for record in block.records() {
            let id = reader.header().name(record.id);
            if ids.is_empty() && found.len() >= MAX_DOCUMENTS {
                bail!(Usage::new(format!(
                    "`{}` has more than {} documents; choose with --ids (`benzer sketch --show {0}` lists them)",
                    path.display(),
                    grouped(MAX_DOCUMENTS as u64)
                )));
            }
            if ids.is_empty() || ids.contains(&id) {
                let sketch = record.sketch(reader.header())?;
                found.push(Found { id, file: path.display().to_string(), sketch });
            }
        }
    }
    Ok(reader.header().clone())
}

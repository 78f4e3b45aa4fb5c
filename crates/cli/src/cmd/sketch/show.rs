//! Showing what is in a sketch file.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use benzer_core::sketch::SketchSpec;
use benzer_sets::sketches::{Counts, Ids, Record, SketchReader};
use serde::Serialize;
use serde_json::Number;

use super::Arguments;
use crate::output::{self, Align, Table, View, grouped, number, printable};

#[derive(Debug, Serialize)]
struct Contents<'a> {
    file: &'a Path,
    bytes: u64,
    documents: u64,
    empty: u64,
    blocks: u64,
    spec: &'a SketchSpec,
    inputs: &'a [String],
    shown: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    id: String,
    size: Number,
    /// The words of its sketch, in hexadecimal.
    words: Vec<String>,
}

/// Reads the whole file, which also checks it, and shows it.
pub(super) fn run(
    file: &Path,
    arguments: &Arguments,
    view: &View,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut reader = SketchReader::open(file)?;
    let wanted: HashSet<&str> = arguments.ids.iter().map(String::as_str).collect();
    let limit = if arguments.limit == 0 || !wanted.is_empty() { usize::MAX } else { arguments.limit };
    let mut shown = Vec::new();
    while let Some(block) = reader.next_block()? {
        for record in block.records() {
            if shown.len() >= limit {
                break;
            }
            let id = reader.header().name(record.id);
            if wanted.is_empty() || wanted.contains(id.as_str()) {
                shown.push(entry(id, &record));
            }
        }
    }
    for id in &wanted {
        let found = shown.iter().any(|entry| entry.id == *id);
        ensure!(found, "no document `{id}` in `{}`; `--limit 0` lists all ids", file.display());
    }
    let Counts { blocks, records, empty } = reader.counts();
    let header = reader.header();
    let inputs: &[String] = if let Ids::Rows(inputs) = &header.ids { inputs } else { &[] };
    let bytes = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let contents =
        Contents { file, bytes, documents: records, empty, blocks, spec: &header.spec, inputs, shown };
    view.show(out, &contents, || render(&contents, view))
}

fn entry(id: String, record: &Record<'_>) -> Entry {
    Entry {
        id,
        size: number(record.size),
        words: record.words().map(|word| format!("{word:016x}")).collect(),
    }
}

fn render(contents: &Contents<'_>, view: &View) -> String {
    let Contents { spec, shown, .. } = contents;
    let ids = match contents.inputs {
        [] => "a field of the documents".to_owned(),
        [one] => format!("line of {one}"),
        many => format!("file and line, of {} files", grouped(many.len() as u64)),
    };
    let mut head = Table::default().column("", Align::Left).column("", Align::Left);
    head.row([
        "file".into(),
        format!("{}, {}", contents.file.display(), output::bytes(contents.bytes as f64)),
    ]);
    head.row([
        "documents".into(),
        format!("{} ({} empty)", grouped(contents.documents), grouped(contents.empty)),
    ]);
    head.row(["sketch".into(), format!("{} x {}, {}", spec.family, spec.registers, spec.packing)]);
    head.row(["".into(), format!("{} bytes each, seed {}", spec.bytes(), spec.seed)]);
    head.row(["pipeline".into(), spec.pipeline.clone()]);
    head.row(["ids".into(), printable(&ids)]);
    let mut list = Table::default().column("id", Align::Left).column("elements", Align::Right);
    for entry in shown {
        list.row([printable(&entry.id), entry.size.as_u64().map_or_else(|| entry.size.to_string(), grouped)]);
    }
    let mut out = format!("{}\n{}", head.render(view), list.render(view));
    if (shown.len() as u64) < contents.documents {
        out.push_str(&format!("{} of {} shown\n", grouped(shown.len() as u64), grouped(contents.documents)));
    }
    out
}

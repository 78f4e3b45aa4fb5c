//! `benzer explain`: why a document was removed or kept.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use benzer_dedup::results::{self, Answer, Explained, Pair, Removed};
use clap::Args;
use serde_json::{Value, json};

use crate::output::{Align, HEADING, Table, View, grouped, printable};

pub const ABOUT: &str = "\
Why a document was removed or kept by a run of `benzer dedup`: the kept document it duplicates, with exact \
similarity, estimate and rule, or the documents it stands for; and the documents it is similar to.

A document is named by its id or by FILE:LINE. What names several documents is an error that lists them, what names none is \
unknown. For a document that is similar to no other the inputs are read again.";

const EXAMPLES: &str = "\
Examples:
  benzer explain clean articles.jsonl:2
  benzer explain best tides-2 --format json
";

/// Which run, and which document.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The output folder of a run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// The document: its id, or FILE:LINE, with the file as it was named or any end of its path
    #[arg(value_name = "ID")]
    id: String,
    /// Show at most so many similar documents; 0 shows all
    #[arg(long, value_name = "N", default_value = "10")]
    limit: usize,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let (name, folder) = (printable(&arguments.id), arguments.run.display());
    let found = match results::explain(&arguments.run, &arguments.id)? {
        Answer::Document(found) => found,
        Answer::Rejected { at: (file, line), reason } => return rejected(&file, line, &reason, view, out),
        Answer::Several(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", printable(name))).collect();
            bail!("`{name}` names {} documents: {}; name one of them", names.len(), names.join(", "))
        }
        Answer::Unknown => bail!(
            "`{name}` is unknown: no document of the run in `{folder}` has this id or this place; name it by its id or as FILE:LINE"
        ),
        Answer::Untold { why } => bail!(
            "`{name}` is unknown: it was not removed and is in no pair of the run in `{folder}`, and whether it was in the input cannot be told: {why}"
        ),
    };
    view.show(out, &as_json(&found), || render(arguments, &found, view))
}

/// A line that is no document has a reason, too.
fn rejected(file: &str, line: u64, reason: &str, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let answer = json!({"status": "rejected", "file": file, "row": line, "reason": reason});
    let heading = format!("{} line {line} was rejected", printable(file));
    view.show(out, &answer, || format!("{}\n{}\n", view.paint(HEADING, &heading), printable(reason)))
}

fn status(found: &Explained) -> &'static str {
    match (&found.removed, found.is_old) {
        (Some(_), _) => "removed",
        (None, true) => "old",
        (None, false) => "kept",
    }
}

fn render(arguments: &Arguments, found: &Explained, view: &View) -> String {
    let heading = |text: &str| format!("{}\n", view.paint(HEADING, text));
    let id = printable(&found.id);
    let mut out = match &found.removed {
        Some(row) => heading(&format!("`{id}` was removed")) + &why_removed(row),
        None => {
            let n = grouped(found.members.len() as u64);
            let others = if found.members.len() == 1 { "other" } else { "others" };
            let why = match (found.is_old, found.members.is_empty(), found.similar.is_empty()) {
                (true, ..) => format!("is an old document, for which {n} were removed"),
                (_, false, _) => format!("was kept, and stands for {n} {others}"),
                (_, true, false) => "was kept: what it is similar to was removed for others".to_owned(),
                (_, true, true) => "was kept: nothing similar to it was found".to_owned(),
            };
            heading(&format!("`{id}` {why}")) + &placed("kept", found.at.as_ref())
        }
    };
    if found.same_id > 1 {
        let n = grouped(found.same_id);
        out.push_str(&format!("{n} documents have this id; what is similar to any of them is listed\n"));
    }
    if !found.members.is_empty() {
        let cells =
            |row: &Removed| [row.removed_id.clone(), format!("{:.4}", row.similarity), row.rule.clone()];
        let headings = ["removed for it", "similarity", "rule"];
        out.push_str(&listed(headings, found.members.iter().map(cells), arguments.limit, view));
    }
    if !found.similar.is_empty() {
        let cells = |pair: &Pair| {
            let counts = counted(pair).map_or(String::new(), |(both, union)| format!("{both}/{union}"));
            [other(pair, &found.id).to_owned(), format!("{:.4}", pair.similarity), counts]
        };
        let headings = ["similar to", "similarity", "shingles"];
        out.push('\n');
        out.push_str(&listed(headings, found.similar.iter().map(cells), arguments.limit, view));
    }
    out
}

fn why_removed(row: &Removed) -> String {
    let counts = match (row.intersection, row.union.or(row.size)) {
        (Some(both), Some(of)) if of > 0 => format!(" ({both} of {of} shingles)"),
        _ => String::new(),
    };
    let exact = match row.rule.as_str() {
        "estimate" => "estimated similarity",
        "contained" => "contained to",
        _ => "exact similarity",
    };
    let (what, old) = match (row.rule.as_str(), row.kept_is_old) {
        ("contained", _) => ("contains", ", an old document"),
        (_, true) => ("kept instead", ", an old document"),
        (_, false) => ("kept instead", ""),
    };
    let (kept, rule, similarity) = (printable(&row.kept_id), &row.rule, row.similarity);
    let mut out = format!("{what}: `{kept}`{old}, {exact} {similarity:.4}{counts}, rule {rule}\n");
    if let Some([value, low, high]) = row.estimate {
        out.push_str(&format!("the sketches say {value:.4} [{low:.4}, {high:.4}]\n"));
    }
    if let Some((start, end, text)) = &row.span {
        out.push_str(&format!("bytes {start} to {end} of its text: {}\n", printable(text)));
    }
    out + &placed("removed", row.removed_at.as_ref()) + &placed("kept", row.kept_at.as_ref())
}

fn placed(what: &str, at: Option<&(String, u64)>) -> String {
    at.map_or(String::new(), |(file, line)| format!("{what}: {} line {line}\n", printable(file)))
}

fn other<'a>(pair: &'a Pair, id: &str) -> &'a str {
    if pair.id_a == id { &pair.id_b } else { &pair.id_a }
}

fn counted(pair: &Pair) -> Option<(u32, u32)> {
    pair.intersection.zip(pair.union.or(pair.size))
}

fn listed(
    headings: [&str; 3],
    rows: impl ExactSizeIterator<Item = [String; 3]>,
    limit: usize,
    view: &View,
) -> String {
    let mut table = Table::default();
    for (heading, align) in headings.into_iter().zip([Align::Left, Align::Right, Align::Left]) {
        table = table.column(heading, align);
    }
    let shown = if limit == 0 { rows.len() } else { limit.min(rows.len()) };
    let more = rows.len() - shown;
    rows.take(shown).for_each(|row| table.row(row.iter().map(|cell| printable(cell))));
    let more = match more {
        0 => String::new(),
        more => format!("... and {} more (--limit 0 shows all)\n", grouped(more as u64)),
    };
    table.render(view) + &more
}

fn as_json(found: &Explained) -> Value {
    let place = |at: &Option<(String, u64)>| at.as_ref().map(|(file, row)| json!({"file": file, "row": row}));
    let removed = found.removed.iter().map(|row| {
        json!({
            "kept_id": row.kept_id, "similarity": row.similarity, "intersection": row.intersection, "union": row.union,
            "estimate": row.estimate.map(|[value, low, high]| json!({"value": value, "low": low, "high": high})),
            "size": row.size, "kept_in": if row.kept_is_old { "against" } else { "input" },
            "span": row.span.as_ref().map(|(start, end, text)| json!({"start": start, "end": end, "text": text})),
            "rule": row.rule, "removed": place(&row.removed_at), "kept": place(&row.kept_at),
        })
    });
    let members = found
        .members
        .iter()
        .map(|row| json!({"id": row.removed_id, "similarity": row.similarity, "rule": row.rule}));
    let similar = found.similar.iter().map(|pair| {
        let counts = counted(pair);
        json!({"id": other(pair, &found.id), "similarity": pair.similarity, "intersection": counts.map(|c| c.0), "union": counts.map(|c| c.1)})
    });
    json!({
        "id": found.id,
        "status": status(found),
        "at": place(&found.at),
        "removed_for": removed.collect::<Vec<_>>(),
        "stands_for": members.collect::<Vec<_>>(),
        "similar": similar.collect::<Vec<_>>(),
    })
}

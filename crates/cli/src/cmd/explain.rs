//! `benzer explain`: why a document was removed or kept.

use std::io::Write;
use std::path::PathBuf;

use benzer_dedup::results::{self, Pair, Removed};
use clap::Args;
use serde_json::{Value, json};

use super::write_json;
use crate::table::{Align, Table};
use crate::view::{Format, HEADING, View, grouped, printable};

/// What the command does, for its help.
pub const ABOUT: &str = "\
Why a document was removed or kept by a run of `benzer dedup`: the kept document it duplicates, with exact \
similarity, estimate and rule, or the documents it stands for; and the documents it is similar to.";

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
    /// The document: its id, or FILE:LINE if the run had no --id-field
    #[arg(value_name = "ID")]
    id: String,
    /// Show at most so many similar documents; 0 shows all
    #[arg(long, value_name = "N", default_value = "10")]
    limit: usize,
}

/// A similar document: its id, the similarity, and intersection and union where they were counted.
type Similar = (String, f64, Option<(u32, u32)>);

/// Everything a run has about one document.
#[derive(Debug, Default)]
struct Found {
    removed: Vec<Removed>,
    /// The documents it stands for: id, similarity, rule.
    members: Vec<(String, f64, String)>,
    similar: Vec<Similar>,
    /// Whether it is an old document that others were removed for.
    is_old: bool,
}

/// Looks a document up and shows what is known.
///
/// # Errors
/// A folder that holds no run.
pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let found = find(arguments)?;
    if view.format == Format::Json {
        return write_json(out, &as_json(&arguments.id, &found));
    }
    Ok(out.write_all(render(arguments, &found, view).as_bytes())?)
}

fn find(arguments: &Arguments) -> anyhow::Result<Found> {
    let mut found = Found::default();
    results::evidence(&arguments.run, |row| {
        if row.removed_id == arguments.id {
            found.removed.push(row);
        } else if row.kept_id == arguments.id {
            found.is_old |= row.kept_is_old;
            found.members.push((row.removed_id, row.similarity, row.rule));
        }
        Ok(())
    })?;
    results::pairs(&arguments.run, |pair| {
        let Pair { id_a, id_b, similarity, intersection, union, size, .. } = pair;
        let other = match (id_a == arguments.id, id_b == arguments.id) {
            (true, _) => id_b,
            (_, true) => id_a,
            _ => return Ok(()),
        };
        found.similar.push((other, similarity, intersection.zip(union.or(size))));
        Ok(())
    })?;
    found.similar.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(found)
}

fn render(arguments: &Arguments, found: &Found, view: &View) -> String {
    let id = printable(&arguments.id);
    let mut out = String::new();
    for row in &found.removed {
        out.push_str(&format!("{}\n", view.paint(HEADING, &format!("`{id}` was removed"))));
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
        out.push_str(&format!(
            "{what}: `{}`{old}, {exact} {:.4}{counts}, rule {}\n",
            printable(&row.kept_id),
            row.similarity,
            row.rule
        ));
        if let Some([value, low, high]) = row.estimate {
            out.push_str(&format!("the sketches say {value:.4} [{low:.4}, {high:.4}]\n"));
        }
        if let Some((start, end, text)) = &row.span {
            out.push_str(&format!("bytes {start} to {end} of its text: {}\n", printable(text)));
        }
        for (what, at) in [("removed", &row.removed_at), ("kept", &row.kept_at)] {
            if let Some((file, line)) = at {
                out.push_str(&format!("{what}: {} line {line}\n", printable(file)));
            }
        }
    }
    if found.removed.is_empty() && !found.members.is_empty() {
        let n = grouped(found.members.len() as u64);
        let heading = match found.is_old {
            true => format!("`{id}` is an old document, for which {n} were removed"),
            false => format!("`{id}` was kept, and stands for {n} others"),
        };
        out.push_str(&format!("{}\n", view.paint(HEADING, &heading)));
        let rows = found
            .members
            .iter()
            .map(|(id, similarity, rule)| vec![id.clone(), format!("{similarity:.4}"), rule.clone()]);
        out.push_str(&listed(
            ["removed for it", "similarity", "rule"],
            rows.collect(),
            arguments.limit,
            view,
        ));
    } else if found.removed.is_empty() && !found.similar.is_empty() {
        out.push_str(&format!(
            "{}\n",
            view.paint(HEADING, &format!("`{id}` was kept: what it is similar to was removed for others"))
        ));
    } else if found.removed.is_empty() {
        out.push_str(&format!(
            "`{id}` is in no pair of this run: it was kept, if it was in the input at all\n"
        ));
    }
    if !found.similar.is_empty() {
        let rows = found.similar.iter().map(|(id, similarity, counts)| {
            vec![
                id.clone(),
                format!("{similarity:.4}"),
                counts.map_or(String::new(), |(both, union)| format!("{both}/{union}")),
            ]
        });
        out.push('\n');
        out.push_str(&listed(
            ["similar to", "similarity", "shingles"],
            rows.collect(),
            arguments.limit,
            view,
        ));
    }
    out
}

fn listed(headings: [&str; 3], rows: Vec<Vec<String>>, limit: usize, view: &View) -> String {
    let mut table = Table::default();
    for (heading, align) in headings.into_iter().zip([Align::Left, Align::Right, Align::Left]) {
        table = table.column(heading, align);
    }
    let shown = if limit == 0 { rows.len() } else { limit.min(rows.len()) };
    rows[..shown].iter().for_each(|row| table.row(row.iter().map(|cell| printable(cell))));
    let more = rows.len() - shown;
    table.render(view)
        + &if more > 0 {
            format!("... and {} more (--limit 0 shows all)\n", grouped(more as u64))
        } else {
            String::new()
        }
}

fn as_json(id: &str, found: &Found) -> Value {
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
        .map(|(id, similarity, rule)| json!({"id": id, "similarity": similarity, "rule": rule}));
    let similar = found.similar.iter().map(|(id, similarity, counts)| {
        json!({"id": id, "similarity": similarity, "intersection": counts.map(|c| c.0), "union": counts.map(|c| c.1)})
    });
    json!({
        "id": id,
        "removed_for": removed.collect::<Vec<_>>(),
        "stands_for": members.collect::<Vec<_>>(),
        "similar": similar.collect::<Vec<_>>(),
    })
}

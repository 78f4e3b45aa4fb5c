//! `index.html`: every experiment on one page, with nothing that is loaded from elsewhere.

use std::fmt::Write;

use super::Report;
use super::machine::Machine;
use crate::table::Row;
use crate::{Claim, Options, Table};

/// Rows of a table that the page shows; the rest is in its file.
const ROWS: usize = 40;

pub(crate) fn page(reports: &[Report], options: &Options, machine: &Machine) -> String {
    let held = reports.iter().filter(|report| report.holds()).count();
    let claimed = |claim: Claim| reports.iter().filter(|report| report.outcome.claim == claim).count();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Benzer: the papers, measured</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>The papers, measured</h1>\n\
         <p>In {held} of {} experiments this code does what theory expects. Whether the claims of the sources hold is another question: {} hold for what was measured, {} hold in part, {} do not, {} are not decided.</p>\n\
         <p class=\"quiet\"><code>{}</code>, seed {}, {} with {} cores, commit {}</p>\n",
        include_str!("gallery.css"),
        reports.len(),
        claimed(Claim::Holds),
        claimed(Claim::InPart),
        claimed(Claim::Fails),
        claimed(Claim::Open),
        escape(&options.command),
        options.seed,
        escape(&machine.cpu),
        machine.cores,
        escape(&machine.commit),
    );
    out.push_str("<nav aria-label=\"Experiments\"><table>\n<thead><tr><th>experiment</th><th>source</th><th>code equals theory</th><th>the claim</th><th>measured</th></tr></thead>\n<tbody>\n");
    for report in reports {
        let (name, experiment) = (report.experiment.name, &report.experiment);
        let _ = writeln!(
            out,
            "<tr><td><a href=\"#{name}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(experiment.title),
            escape(experiment.source),
            badge(report),
            report.outcome.claim,
            escape(&report.outcome.verdict)
        );
    }
    out.push_str("</tbody></table></nav>\n</header>\n<main>\n");
    for report in reports {
        section(&mut out, report);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn badge(report: &Report) -> &'static str {
    if report.holds() { "<b class=\"yes\">yes</b>" } else { "<b class=\"no\">no</b>" }
}

fn section(out: &mut String, report: &Report) {
    let experiment = &report.experiment;
    let _ = write!(
        out,
        "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n<p class=\"quiet\">{2} · <code>benzer eval {0}</code> · {3:.1} s</p>\n\
         <dl>\n<dt>The claim</dt><dd>{4}</dd>\n<dt>The verdict</dt><dd><b>The claim {9}.</b> {5}</dd>\n<dt>The criterion</dt><dd>{6}</dd>\n<dt>Code equals theory</dt><dd>{7} {8}</dd>\n</dl>\n",
        experiment.name,
        escape(experiment.title),
        escape(experiment.source),
        report.seconds,
        escape(experiment.claim),
        escape(&report.outcome.verdict),
        escape(experiment.criterion),
        badge(report),
        escape(&report.outcome.checks.summary()),
        match report.outcome.claim {
            Claim::Open => "is not decided".to_owned(),
            claim => claim.to_string(),
        },
    );
    if !report.holds() {
        out.push_str("<ul class=\"failures\">\n");
        for failure in report.outcome.checks.failures.iter().take(ROWS) {
            let _ = writeln!(out, "<li>{}</li>", escape(failure));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<div class=\"figures\">\n");
    for (chart, picture) in report.outcome.charts.iter().zip(&report.pictures) {
        let _ =
            writeln!(out, "<figure role=\"img\" aria-label=\"{}\">{picture}</figure>", escape(&chart.title));
    }
    out.push_str("</div>\n");
    report.outcome.tables.iter().for_each(|table| rows(out, table));
    out.push_str("</section>\n");
}

fn rows(out: &mut String, table: &Table) {
    let name = table.name();
    let shown = table.rows().len().min(ROWS);
    let count = match table.rows().len() {
        n if n > shown => format!("{shown} of {n} rows"),
        n => format!("{n} rows"),
    };
    let _ =
        write!(out, "<details><summary>{name}, {count}</summary>\n<div class=\"table\"><table>\n<thead><tr>");
    table.rows().iter().take(1).flat_map(Row::columns).for_each(|column| {
        let _ = write!(out, "<th>{}</th>", escape(column));
    });
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows()[..shown] {
        let cells: String = row.cells().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    let _ = write!(out, "</tbody></table></div>\n<p><a href=\"{name}\">{name}</a></p></details>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}

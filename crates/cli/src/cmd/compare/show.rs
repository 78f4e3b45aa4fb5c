//! A report as text that fits the terminal.

use benzer_core::estimate::Estimate;
use serde_json::Number;

use super::Subjects;
use super::explain::{Change, Explanation, Sample, Segment};
use super::measure::{Attempt, Group, Input, Pair, Report};
use crate::table::{Align, Table};
use crate::view::{ADDED, HEADING, MOVED, QUIET, REMOVED, View, grouped, printable};

/// So many unchanged words are shown on both sides of a change.
const CONTEXT: usize = 12;

/// The whole report.
pub(super) fn render(report: &Report, subjects: &Subjects, view: &View) -> String {
    let mut out = legend(report, subjects, view);
    let mut notes = Notes::default();
    out.push('\n');
    out.push_str(&numbers(report, &mut notes).render(view));
    for (i, note) in notes.0.iter().enumerate() {
        out.push_str(&format!("({}) {note}\n", i + 1));
    }
    for explanation in &report.explanations {
        out.push_str(&explained(explanation, &subjects.elements, view));
    }
    out
}

fn legend(report: &Report, subjects: &Subjects, view: &View) -> String {
    let mut table = Table::default().column("", Align::Left).column("", Align::Left).column("", Align::Right);
    for Input { label, name, size } in &report.inputs {
        let name = cut(&printable(name), view.width.saturating_sub(24));
        table.row([label.clone(), name, whole(size)]);
    }
    let mut out = table.render(view);
    out.push_str(&format!("{}, [low, high] = 95% interval\n", subjects.elements));
    for kind in &report.sketches {
        let spec = &kind.spec;
        let line = format!(
            "{}: {} x {}, {}, seed {}",
            kind.name, spec.family, spec.registers, spec.packing, spec.seed
        );
        out.push_str(&view.paint(QUIET, &format!("{line} = {} bytes", kind.bytes)));
        out.push('\n');
    }
    out
}

fn numbers(report: &Report, notes: &mut Notes) -> Table {
    let exact = report.pairs.iter().any(|pair| pair.exact.is_some());
    let mut table = Table::default().column("", Align::Left);
    if exact {
        table = table.column("exact", Align::Right);
    }
    for kind in &report.sketches {
        table = table.column(&kind.name, Align::Left);
    }
    let mut rows = Rows { table, exact };
    for pair in &report.pairs {
        rows.pair(pair, notes);
    }
    for group in report.triples.iter().chain(&report.all) {
        rows.group(group, notes);
    }
    rows.table
}

struct Rows {
    table: Table,
    exact: bool,
}

impl Rows {
    fn add(&mut self, name: String, exact: Option<String>, estimates: Vec<String>) {
        let exact = self.exact.then(|| exact.unwrap_or_else(|| "-".into()));
        self.table.row(std::iter::once(name).chain(exact).chain(estimates));
    }

    fn pair(&mut self, pair: &Pair, notes: &mut Notes) {
        let [a, b] = &pair.of;
        let exact = pair.exact.as_ref();
        let mut add =
            |name: String, exact: Option<String>, of: &dyn Fn(&super::measure::PairEstimates) -> String| {
                self.add(name, exact, pair.estimates.iter().map(of).collect());
            };
        let share = |estimate: &Estimate, notes: &mut Notes| notes.estimate(estimate, 3);
        let notes = std::cell::RefCell::new(notes);
        add(format!("{a}, {b}  jaccard"), exact.map(|e| fraction(e.jaccard)), &|e| {
            share(&e.jaccard, &mut notes.borrow_mut())
        });
        for (i, name) in [format!("  {a} in {b}"), format!("  {b} in {a}")].into_iter().enumerate() {
            let exact = exact.map(|e| fraction(e.containment[i]));
            add(name, exact, &|e| share(&e.containment[i], &mut notes.borrow_mut()));
        }
        let size = |estimate: &Estimate| notes.borrow_mut().estimate(estimate, 0);
        add("  intersection".into(), exact.map(|e| whole(&e.intersection)), &|e| size(&e.intersection));
        add("  union".into(), exact.map(|e| whole(&e.union)), &|e| size(&e.union));
    }

    fn group(&mut self, group: &Group, notes: &mut Notes) {
        let exact = group.exact.as_ref();
        let estimates = group.estimates.iter().map(|estimate| match &estimate.jaccard {
            Attempt::Estimate(estimate) => notes.estimate(estimate, 3),
            Attempt::Unsupported { unsupported } => notes.none(unsupported),
        });
        let estimates = estimates.collect();
        self.add(format!("{}  jaccard", names(&group.of)), exact.map(|e| fraction(e.jaccard)), estimates);
        if let Some(exact) = exact {
            self.add("  in all".into(), Some(whole(&exact.intersection)), Vec::new());
            self.add("  in any".into(), Some(whole(&exact.union)), Vec::new());
        }
    }
}

fn names(labels: &[String]) -> String {
    match labels {
        [first, .., last] if labels.len() > 5 => format!("{first} to {last}"),
        _ => labels.join(", "),
    }
}

/// Why there is no estimate, said once below the table.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn none(&mut self, why: &str) -> String {
        let number = self.0.iter().position(|note| note == why).unwrap_or_else(|| {
            self.0.push(why.to_owned());
            self.0.len() - 1
        });
        format!("none ({})", number + 1)
    }

    fn estimate(&mut self, estimate: &Estimate, decimals: usize) -> String {
        let show = |value: f64| {
            if decimals == 0 && value.round() < 1e15 {
                grouped(value.round() as u64)
            } else {
                format!("{value:.decimals$}")
            }
        };
        match estimate {
            Estimate::Value(m) => format!("{} [{}, {}]", show(m.value), show(m.low), show(m.high)),
            Estimate::Saturated { at_most } => format!("at most {} (saturated)", show(*at_most)),
            Estimate::Undefined { why } => self.none(why),
        }
    }
}

fn fraction(value: Option<f64>) -> String {
    value.map_or_else(|| "undefined".into(), |value| format!("{value:.4}"))
}

fn whole(number: &Number) -> String {
    number.as_u64().map_or_else(|| number.to_string(), grouped)
}

fn cut(text: &str, width: usize) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    match length <= width.max(1) {
        true => text,
        false => text.chars().take(width.max(1) - 1).chain(['…']).collect(),
    }
}

fn explained(explanation: &Explanation, elements: &str, view: &View) -> String {
    let [a, b] = &explanation.of;
    let mut out = format!("\n{}\n", view.paint(HEADING, &format!("{a} and {b}: {elements}")));
    sample(&mut out, "in both", &explanation.shared, view);
    sample(&mut out, &format!("only in {a}"), &explanation.only[0], view);
    sample(&mut out, &format!("only in {b}"), &explanation.only[1], view);
    if let Some(segments) = &explanation.diff {
        let marks = "[-only in the first-] {+only in the second+} [~moved away~] {~moved here~}";
        let legend = if view.color { painted_legend(a, b, view) } else { marks.to_owned() };
        out.push_str(&format!("\n{legend}\n\n{}\n", flow(segments, view)));
    } else if !elements.starts_with("items") {
        out.push_str("\nthe texts differ in too many places for showing the differences in the text\n");
    }
    out
}

fn painted_legend(a: &str, b: &str, view: &View) -> String {
    let removed = view.paint(REMOVED, &format!("only in {a}"));
    format!(
        "{removed} {} {}",
        view.paint(ADDED, &format!("only in {b}")),
        view.paint(MOVED, "in both, moved")
    )
}

fn sample(out: &mut String, name: &str, sample: &Sample, view: &View) {
    out.push_str(&format!("{name}: {}\n", grouped(sample.count as u64)));
    for text in &sample.some {
        out.push_str(&format!("  {}\n", cut(&printable(text), view.width - 4)));
    }
    if sample.count > sample.some.len() && !sample.some.is_empty() {
        out.push_str(&format!("  {}\n", view.paint(QUIET, "...")));
    }
}

/// The differences in the text, wrapped at spaces.
fn flow(segments: &[Segment], view: &View) -> String {
    let mut words = Vec::new();
    let mut glued = false;
    let last = segments.len().saturating_sub(1);
    for (i, segment) in segments.iter().enumerate() {
        for (text, style) in shown(segment, i == 0, i == last) {
            push_words(&mut words, &mut glued, &text, style, view);
        }
    }
    wrap(&words, view.width)
}

/// What is shown of a segment: a long unchanged one is cut in the middle.
fn shown(segment: &Segment, first: bool, last: bool) -> Vec<(String, Change)> {
    let text = printable(&segment.text);
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let (before, after) = (if first { 0 } else { CONTEXT }, if last { 0 } else { CONTEXT });
    if segment.change != Change::Same || words.len() <= before + after + CONTEXT {
        return vec![(text, segment.change)];
    }
    let skipped = format!(" … {} words the same … ", words.len() - before - after);
    let parts = [words[..before].concat(), skipped, words[words.len() - after..].concat()];
    parts.into_iter().map(|part| (part, Change::Same)).collect()
}

/// A word on a line: how wide it is and how it is printed.
struct Word {
    width: usize,
    printed: String,
}

fn push_words(words: &mut Vec<Word>, glued: &mut bool, text: &str, change: Change, view: &View) {
    let (style, open, close) = match change {
        Change::Same => (None, "", ""),
        Change::Removed => (Some(REMOVED), "[-", "-]"),
        Change::Added => (Some(ADDED), "{+", "+}"),
        Change::MovedAway => (Some(MOVED), "[~", "~]"),
        Change::MovedHere => (Some(MOVED), "{~", "~}"),
    };
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let starts_apart = text.starts_with(char::is_whitespace);
    for (i, piece) in pieces.iter().enumerate() {
        let mut piece = (*piece).to_owned();
        if !view.color {
            piece = format!(
                "{}{piece}{}",
                if i == 0 { open } else { "" },
                if i + 1 == pieces.len() { close } else { "" }
            );
        }
        let width = piece.chars().count();
        let printed = style.map_or(piece.clone(), |style| view.paint(style, &piece));
        match words.last_mut() {
            Some(word) if i == 0 && *glued && !starts_apart => {
                word.width += width;
                word.printed.push_str(&printed);
            }
            _ => words.push(Word { width, printed }),
        }
    }
    if !text.is_empty() {
        *glued = !text.ends_with(char::is_whitespace);
    }
}

fn wrap(words: &[Word], width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in words {
        if column > 0 && column + 1 + word.width > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&word.printed);
        column += word.width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Format;

    fn view(width: usize, color: bool) -> View {
        View { format: Format::Table, color, width }
    }

    fn segment(change: Change, text: &str) -> Segment {
        Segment { change, text: text.into(), tokens: text.split_whitespace().count() }
    }

    #[test]
    fn differences_are_marked_without_colour_and_painted_with_it() {
        let segments = [
            segment(Change::Same, "the "),
            segment(Change::Removed, "old grey "),
            segment(Change::Added, "new "),
            segment(Change::Same, "cat"),
        ];
        assert_eq!(flow(&segments, &view(80, false)), "the [-old grey-] {+new+} cat");
        let painted = flow(&segments, &view(80, true));
        assert!(
            !painted.contains("[-") && painted.contains("\u{1b}[1m\u{1b}[32mnew\u{1b}[0m cat"),
            "{painted:?}"
        );
    }

    #[test]
    fn pieces_of_one_word_stay_together_and_lines_wrap_at_spaces() {
        let segments = [
            segment(Change::Same, "a col"),
            segment(Change::Added, "ou"),
            segment(Change::Same, "r is here"),
        ];
        assert_eq!(flow(&segments, &view(12, false)), "a col{+ou+}r\nis here");
    }

    #[test]
    fn a_long_unchanged_passage_is_cut_in_the_middle() {
        let long = "word ".repeat(100);
        let shown = flow(
            &[segment(Change::Added, "x "), segment(Change::Same, &long), segment(Change::Added, "y")],
            &view(80, false),
        );
        assert!(shown.contains("… 76 words the same …"), "{shown}");
    }

    #[test]
    fn estimates_are_said_in_words_where_there_is_no_number() {
        let mut notes = Notes::default();
        assert_eq!(notes.estimate(&Estimate::Saturated { at_most: 0.25 }, 3), "at most 0.250 (saturated)");
        assert_eq!(notes.estimate(&Estimate::Undefined { why: "the sets are empty" }, 3), "none (1)");
        assert_eq!(notes.none("the sets are empty"), "none (1)");
        assert_eq!(notes.none("other"), "none (2)");
        assert_eq!(notes.estimate(&Estimate::exact(1234.4), 0), "1,234 [1,234, 1,234]");
    }
}

//! A comparison as text that fits the terminal.

use benzer_core::estimate::Estimate;
use serde_json::Number;

use super::Subjects;
use super::explain::{Explanation, Sample};
use super::flow::flow;
use super::measure::{Attempt, Comparison, Group, Input, Pair, PairEstimates};
use crate::output::{ADDED, Align, HEADING, MOVED, QUIET, REMOVED, Table, View, grouped, printable};

pub(super) fn render(comparison: &Comparison, subjects: &Subjects, view: &View) -> String {
    let mut out = legend(comparison, subjects, view);
    let mut notes = Notes::default();
    out.push('\n');
    out.push_str(&numbers(comparison, &mut notes).render(view));
    for (i, note) in notes.0.iter().enumerate() {
        out.push_str(&format!("({}) {note}\n", i + 1));
    }
    for explanation in &comparison.explanations {
        out.push_str(&explained(explanation, &subjects.elements, view));
    }
    out
}

fn legend(comparison: &Comparison, subjects: &Subjects, view: &View) -> String {
    let mut table = Table::default().column("", Align::Left).column("", Align::Left).column("", Align::Right);
    let noun = subjects.noun();
    for Input { label, name, size } in &comparison.inputs {
        let name = cut_front(&printable(name), view.width.saturating_sub(24));
        table.row([label.clone(), name, format!("{} {noun}", whole(size))]);
    }
    let mut out = table.render(view);
    out.push_str(&format!("{}, [low, high] = 95% interval\n", subjects.elements));
    for kind in &comparison.sketches {
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

fn numbers(comparison: &Comparison, notes: &mut Notes) -> Table {
    let exact = comparison.pairs.iter().any(|pair| pair.exact.is_some());
    let mut table = Table::default().column("", Align::Left);
    if exact {
        table = table.column("exact", Align::Right);
    }
    for kind in &comparison.sketches {
        table = table.column(&kind.name, Align::Left);
    }
    let mut rows = Rows { table, exact };
    for pair in &comparison.pairs {
        rows.pair(pair, notes);
    }
    for group in comparison.triples.iter().chain(&comparison.all) {
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
        let mut add = |name: String, exact: Option<String>, of: &dyn Fn(&PairEstimates) -> String| {
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
            let none = || vec!["-".to_owned(); group.estimates.len()];
            self.add("  in all".into(), Some(whole(&exact.intersection)), none());
            self.add("  in any".into(), Some(whole(&exact.union)), none());
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

/// The end of a name that is too long: files differ there.
fn cut_front(name: &str, width: usize) -> String {
    let (length, width) = (name.chars().count(), width.max(1));
    if length <= width {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(length - width + 1)).collect()
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
    let added = view.paint(ADDED, &format!("only in {b}"));
    format!("{removed} {added} {}", view.paint(MOVED, "in both, moved"))
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

#[cfg(test)]
mod tests {
    use super::*;

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

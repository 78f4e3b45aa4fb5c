//! A plan as text: the choice in words, the alternatives side by side, the curve.

use benzer_core::plan::footprint::human;
use benzer_core::plan::{Choice, Constraint, Shortfall, curve_text};
use benzer_core::sketch::{Bits, Packing};

use super::{Answer, PresetChoice};
use crate::output::{Align, HEADING, Table, View, grouped};

const HEIGHT: usize = 14;
/// A wider curve is no clearer.
const MAX_WIDTH: usize = 76;

pub(super) fn render(answer: &Answer, view: &View) -> String {
    let Answer { plan, preset } = answer;
    let goal = &plan.goal;
    let mut out = format!("{}\n", view.paint(HEADING, &format!("{} ({})", plan.chosen, plan.chosen.family)));
    let (error, at) = (plan.chosen.standard_error, plan.error_at);
    let (documents, size) = (grouped(goal.documents), goal.set_size);
    out += &format!("standard error {error:.4} at {at}; {documents} documents of {size} elements\n\n");
    let mut rows: Vec<(String, &Choice)> =
        plan.alternatives.iter().map(|choice| (name(choice, &plan.chosen), choice)).collect();
    if !plan.alternatives.contains(&plan.chosen) {
        rows.insert(0, (name(&plan.chosen, &plan.chosen), &plan.chosen));
    }
    if let Some(PresetChoice { choice, .. }) = preset {
        rows.push(("preset".to_owned(), choice));
    }
    out.push_str(&alternatives(&rows, view));
    out.push_str("* chosen; the others have as many registers as the same error takes\n");
    out.push_str(&misses(&rows));
    if let Some(preset) = preset {
        out.push_str(&about(preset));
    }
    out.push_str(&format!("\n{}", curve_text(plan, view.width.min(MAX_WIDTH), HEIGHT)));
    out
}

pub(super) fn render_shortfall(shortfall: &Shortfall, view: &View) -> String {
    let plain = |choice: &Choice| kept(choice.packing);
    let mut rows: Vec<(String, &Choice)> =
        shortfall.alternatives.iter().map(|choice| (plain(choice), choice)).collect();
    if let Some(leanest) = &shortfall.leanest {
        rows.push((format!("{} +", plain(leanest)), leanest));
    }
    let note = "+ the least memory that meets everything else\n";
    alternatives(&rows, view) + if shortfall.leanest.is_some() { note } else { "" } + &misses(&rows)
}

fn alternatives(rows: &[(String, &Choice)], view: &View) -> String {
    let mut table = Table::default().column("keep", Align::Left);
    for heading in ["registers", "bits/doc", "bands", "recall", "candidates", "RAM", "disk"] {
        table = table.column(heading, Align::Right);
    }
    for (name, choice) in rows {
        let bands = choice.banded.as_ref();
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        table.row([
            name.clone(),
            grouped(choice.registers.into()),
            grouped(choice.bits_per_document),
            or_none(bands.map(|b| format!("{} x {}", b.banding.bands(), b.banding.rows()))),
            or_none(bands.map(|b| share(b.recall))),
            or_none(bands.map(|b| rough(b.candidates.distinct))),
            human(choice.footprint.ram),
            human(choice.footprint.disk),
        ]);
    }
    table.render(view)
}

/// Which rows miss what, one line for each kind of miss.
fn misses(rows: &[(String, &Choice)]) -> String {
    let words = [
        (Constraint::Bands, "no bands, they only filter pairs found otherwise"),
        (Constraint::Recall, "recall not reached"),
        (Constraint::KeyBits, "keys too short for so many documents"),
        (Constraint::Error, "error not reached"),
        (Constraint::Memory, "too much memory"),
    ];
    let mut out = String::new();
    for (constraint, miss) in words {
        let names: Vec<&str> = rows
            .iter()
            .filter(|(_, choice)| choice.unmet.contains(&constraint))
            .map(|(name, _)| name.as_str())
            .collect();
        if !names.is_empty() {
            out.push_str(&format!("{miss}: {}\n", names.join(", ")));
        }
    }
    out
}

fn about(PresetChoice { settings, .. }: &PresetChoice) -> String {
    let whole = settings.recall_of_whole_registers();
    format!(
        "preset {}: shingles of {} {}, {} x {}, threshold {},\n  recall {} there ({} with whole registers)\n",
        settings.name,
        settings.n,
        settings.unit.name(),
        settings.shape.bands,
        settings.shape.rows,
        settings.threshold,
        share(settings.recall()),
        share(whole),
    )
}

fn name(choice: &Choice, chosen: &Choice) -> String {
    format!("{}{}", kept(choice.packing), if choice == chosen { " *" } else { "" })
}

/// The name of a packing in `--sketch`.
fn kept(packing: Packing) -> String {
    match packing {
        Packing::Bits(Bits::FULL) => "full".into(),
        Packing::Bits(bits) => format!("b{}", bits.get()),
        Packing::Xor { samples } => format!("xor{samples}"),
        Packing::Odd { .. } => "odd".into(),
    }
}

/// A share that is not rounded up to certainty.
fn share(value: f64) -> String {
    if value > 0.9995 && value < 1.0 { "> 0.999".into() } else { format!("{value:.3}") }
}

/// A number of which only the size matters.
fn rough(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{value:.1e}"),
        _ if value >= 10.0 => grouped(value.round() as u64),
        _ if value >= 0.01 => format!("{value:.2}"),
        _ => "< 0.01".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_rough_as_they_deserve() {
        let shown = [0.0, 0.5, 12.4, 123_456.0, 3.21e9].map(rough);
        assert_eq!(shown, ["< 0.01", "0.50", "12", "123,456", "3.2e9"]);
        assert_eq!([0.9848, 0.99997, 1.0].map(share), ["0.985", "> 0.999", "1.000"]);
    }
}

//! The recall curve of a plan as a picture: [`svg`] for documents and pages, [`curve_text`] for a terminal.
//!
//! Both show the share of pairs that are found against their similarity, with the threshold and the recall there. The picture also
//! has the curves of the alternatives that can be banded.

use std::fmt::Write;

use super::{Banded, Choice, Plan};
use crate::sketch::Packing;

/// The drawing area of the picture, in pixels: left, top, width, height.
const AREA: [f64; 4] = [64.0, 64.0, 520.0, 320.0];
const SIZE: [f64; 2] = [800.0, 450.0];
const COLOURS: [&str; 6] = ["#8a8f98", "#b07aa1", "#59a14f", "#edc948", "#f28e2b", "#e15759"];
const CHOSEN: &str = "#1f5fbf";

/// A self-contained picture of the curves.
pub fn svg(plan: &Plan) -> String {
    let [width, height] = SIZE;
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="12" fill="#333" role="img">
<title>Recall by similarity</title>
<rect width="{width}" height="{height}" fill="#fdfdfd"/>
"##
    );
    heading(&mut out, plan);
    axes(&mut out);
    legend(&mut out, plan);
    marks(&mut out, plan);
    out.push_str("</svg>\n");
    out
}

/// Writes a line; a text takes any.
macro_rules! line {
    ($out:expr, $($text:tt)*) => { _ = writeln!($out, $($text)*) };
}

fn heading(out: &mut String, plan: &Plan) {
    let (x, Plan { chosen, goal, .. }) = (AREA[0], plan);
    line!(out, r#"<text x="{x}" y="26" font-size="17" font-weight="600">Which pairs are found</text>"#);
    let about = format!("{chosen} · {} documents of {} elements", goal.documents, goal.set_size);
    line!(out, r##"<text x="{x}" y="45" fill="#666">{about}</text>"##);
}

fn axes(out: &mut String) {
    let [left, top, width, height] = AREA;
    let [right, bottom] = [left + width, top + height];
    for i in 0..=5 {
        let share = f64::from(i) / 5.0;
        let [x, y] = place(share, share);
        let label = if i == 0 { "0".to_owned() } else { format!("{share:.1}") };
        let grid = format!("M{x:.1} {top}V{bottom:.1}M{left} {y:.1}H{right:.1}");
        line!(out, r##"<path d="{grid}" stroke="#e6e8eb" fill="none"/>"##);
        line!(out, r#"<text x="{x:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#, bottom + 18.0);
        line!(out, r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"#, left - 8.0, y + 4.0);
    }
    let (x, y, middle) = (left + width / 2.0, bottom + 40.0, top + height / 2.0);
    line!(out, r##"<path d="M{left} {top}V{bottom:.1}H{right:.1}" stroke="#555" fill="none"/>"##);
    line!(out, r#"<text x="{x}" y="{y:.1}" text-anchor="middle">Jaccard similarity</text>"#);
    let turned = format!(r#"text-anchor="middle" transform="rotate(-90 18 {middle})""#);
    line!(out, r#"<text x="18" y="{middle}" {turned}>share of pairs found</text>"#);
}

/// The curves of the alternatives, then that of the choice over them, each with its line in the legend.
fn legend(out: &mut String, plan: &Plan) {
    let x = AREA[0] + AREA[2] + 24.0;
    let others = plan.alternatives.iter().zip(COLOURS).filter(|(choice, _)| **choice != plan.chosen);
    let mut y = AREA[1] + 8.0;
    let mut entry = |out: &mut String, choice: &Choice, colour: &str, thickness: f64| {
        let Some(banded) = &choice.banded else { return };
        curve(out, banded, colour, thickness);
        line!(out, r#"<path d="M{x} {y}h22" stroke="{colour}" stroke-width="{thickness}" fill="none"/>"#);
        line!(out, r#"<text x="{:.1}" y="{:.1}">{}</text>"#, x + 30.0, y + 4.0, label(choice, banded));
        y += 20.0;
    };
    for (choice, colour) in others {
        entry(out, choice, colour, 1.25);
    }
    entry(out, &plan.chosen, CHOSEN, 3.0);
}

fn label(choice: &Choice, banded: &Banded) -> String {
    let kept = if choice.packing == Packing::FULL { "whole".to_owned() } else { choice.packing.to_string() };
    format!("{kept}, {} x {}", banded.banding.bands(), banded.banding.rows())
}

fn curve(out: &mut String, banded: &Banded, colour: &str, thickness: f64) {
    let mut path = String::new();
    for i in 0..=200 {
        let jaccard = f64::from(i) / 200.0;
        let [x, y] = place(jaccard, banded.banding.probability(jaccard));
        let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
    }
    let pen = format!(r#"stroke="{colour}" stroke-width="{thickness}" stroke-linejoin="round""#);
    line!(out, r#"<path d="{path}" {pen} fill="none"/>"#);
}

/// The threshold, and the recall of the choice at it.
fn marks(out: &mut String, plan: &Plan) {
    let [left, top, _, height] = AREA;
    let Some(banded) = &plan.chosen.banded else { return };
    let (threshold, recall) = (plan.goal.threshold, banded.recall);
    let ([x, y], bottom) = (place(threshold, recall), top + height);
    let cross = format!("M{x:.1} {top}V{bottom:.1}M{left} {y:.1}H{x:.1}");
    line!(out, r##"<path d="{cross}" stroke="#c0392b" stroke-dasharray="4 4" fill="none"/>"##);
    let paper = r##"stroke="#fdfdfd""##;
    line!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="5" fill="{CHOSEN}" {paper} stroke-width="2"/>"#);
    let text = format!("recall {} at {threshold}", percent(recall));
    // Next to the threshold at the bottom, on the side where no curve is.
    let (x, anchor) = if threshold < 0.65 { (x + 10.0, "start") } else { (x - 10.0, "end") };
    let style =
        format!(r##"fill="#c0392b" font-weight="600" paint-order="stroke" {paper} stroke-width="4""##);
    line!(out, r#"<text x="{x:.1}" y="{:.1}" text-anchor="{anchor}" {style}>{text}</text>"#, bottom - 14.0);
}

fn place(jaccard: f64, share: f64) -> [f64; 2] {
    let [left, top, width, height] = AREA;
    [left + width * jaccard, top + height * (1.0 - share)]
}

/// A share in percent, without rounding up to certainty.
fn percent(share: f64) -> String {
    if share > 0.9995 && share < 1.0 {
        return "> 99.9%".to_owned();
    }
    format!("{:.1}%", 100.0 * share)
}

/// The curve of the choice in `width` columns and `height` lines of a terminal, drawn with braille dots, with its axes. At least 24 x 6.
///
/// The dotted column is the threshold.
pub fn curve_text(plan: &Plan, width: usize, height: usize) -> String {
    const MARGIN: usize = 6;
    let Some(banded) = &plan.chosen.banded else { return String::new() };
    let (columns, lines) = (width.max(24) - MARGIN, height.max(6) - 3);
    let mut dots = Dots::new(columns, lines);
    dots.curve(|jaccard| banded.banding.probability(jaccard));
    dots.column(plan.goal.threshold);
    let mut out = String::new();
    for (i, row) in dots.rows().enumerate() {
        let share = 1.0 - i as f64 / (lines - 1).max(1) as f64;
        let label =
            if i % 2 == 0 || i + 1 == lines { format!("{:>4.0}%", 100.0 * share) } else { " ".repeat(5) };
        line!(out, "{label}\u{2524}{row}");
    }
    line!(out, "{}\u{2514}{}", " ".repeat(MARGIN - 1), "\u{2500}".repeat(columns));
    let (margin, threshold) = (" ".repeat(MARGIN), plan.goal.threshold);
    line!(out, "{margin}{}", ticks(columns));
    let found = format!("{} of pairs of similarity {threshold}", percent(banded.recall));
    line!(out, "{margin}{found} are found, half of those of {:.2}", banded.half);
    out
}

/// The labels 0 to 1 under the axis, as many as fit.
fn ticks(columns: usize) -> String {
    let steps = if columns >= 40 { 10 } else { 5 };
    let mut line = vec![' '; columns];
    for i in 0..=steps {
        let label = if i == 0 { "0".to_owned() } else { format!("{:.1}", i as f64 / steps as f64) };
        let at = ((columns - 1) * i / steps).saturating_sub(label.len() / 2).min(columns - label.len());
        line.splice(at..at + label.len(), label.chars());
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// A canvas of braille cells: two dots wide, four high.
struct Dots {
    columns: usize,
    cells: Vec<u8>,
}

impl Dots {
    /// The bit of each dot of a cell, by line and column, from Unicode's numbering of braille dots.
    const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

    fn new(columns: usize, lines: usize) -> Self {
        Self { columns, cells: vec![0; columns * lines] }
    }

    fn size(&self) -> (usize, usize) {
        (2 * self.columns, 4 * (self.cells.len() / self.columns))
    }

    fn set(&mut self, x: usize, y: usize) {
        self.cells[y / 4 * self.columns + x / 2] |= Self::BITS[y % 4][x % 2];
    }

    /// Joins the points of a growing curve from 0 to 1, so that steep parts have no gaps.
    fn curve(&mut self, f: impl Fn(f64) -> f64) {
        let (width, height) = self.size();
        let y = |x: usize| {
            let share = f(x as f64 / (width - 1) as f64).clamp(0.0, 1.0);
            ((1.0 - share) * (height - 1) as f64).round() as usize
        };
        let mut before = y(0);
        for x in 0..width {
            let now = y(x);
            // Up to, but not including, the height of the dot before: that one is drawn already.
            for dot in now..before.max(now + 1) {
                self.set(x, dot);
            }
            before = now;
        }
    }

    /// A dotted column.
    fn column(&mut self, at: f64) {
        let (width, height) = self.size();
        let x = (at * (width - 1) as f64).round() as usize;
        for y in (0..height).step_by(2) {
            self.set(x, y);
        }
    }

    fn rows(&self) -> impl Iterator<Item = String> + '_ {
        let braille =
            |&cell: &u8| char::from_u32(0x2800 + u32::from(cell)).expect("the braille block is full");
        self.cells.chunks(self.columns).map(move |row| row.iter().map(braille).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Goal, plan};

    #[test]
    fn the_picture_is_whole_and_marks_threshold_and_recall() {
        let picture = svg(&plan(&Goal::default()).unwrap());
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("recall 98.6% at 0.8") && picture.contains("8 bits, 18 x 7"));
        assert_eq!(picture.matches("stroke-linejoin").count(), 6, "one curve for each width");
        assert!(!picture.contains("NaN") && !picture.contains("href"), "self-contained");
        for tag in ["text", "title"] {
            assert_eq!(
                picture.matches(&format!("<{tag}")).count(),
                picture.matches(&format!("</{tag}>")).count()
            );
        }
    }

    #[test]
    fn the_terminal_curve_has_its_size_and_climbs() {
        let plan = plan(&Goal::default()).unwrap();
        for (width, height) in [(72, 16), (24, 6), (0, 0), (200, 50)] {
            let drawn = curve_text(&plan, width, height);
            let lines: Vec<&str> = drawn.lines().collect();
            assert_eq!(lines.len(), height.max(6), "{drawn}");
            let columns = |line: &str| line.chars().count();
            assert!(lines[..lines.len() - 1].iter().all(|line| columns(line) <= width.max(24)), "{drawn}");
            assert!(lines[0].starts_with(" 100%") && drawn.contains("98.6% of pairs of similarity 0.8"));
        }
    }

    #[test]
    fn a_curve_has_a_dot_in_every_column_and_no_gap() {
        let mut dots = Dots::new(10, 5);
        dots.curve(|x| if x < 0.5 { 0.0 } else { 1.0 });
        let (width, height) = dots.size();
        let is_set = |x: usize, y: usize| dots.cells[y / 4 * 10 + x / 2] & Dots::BITS[y % 4][x % 2] != 0;
        assert!((0..width).all(|x| (0..height).any(|y| is_set(x, y))));
        assert!((0..height).all(|y| (0..width).any(|x| is_set(x, y))));
    }

    #[test]
    fn certainty_is_not_claimed_by_rounding() {
        assert_eq!([percent(0.98604), percent(0.99999), percent(1.0)], ["98.6%", "> 99.9%", "100.0%"]);
    }
}

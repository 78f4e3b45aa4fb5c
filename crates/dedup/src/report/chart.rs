//! Charts as SVG: they scale with the page, take their colours from it, and say in words what they show.

use std::fmt::Write;

use super::html::{escape, grouped};
use crate::audit::Bin;

/// The drawing area of a chart, in its own units.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 270.0;
/// Where the axes are.
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = HEIGHT - 44.0;

struct Figure<'a> {
    /// Tells it from others of the page.
    id: &'a str,
    title: &'a str,
    description: &'a str,
    height: f64,
    caption: &'a str,
}

impl Figure<'_> {
    fn html(&self, drawing: &str) -> String {
        let Self { id, title, description, height, caption } = self;
        format!(
            "<figure>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>\n{drawing}</svg>\n<figcaption>{caption}</figcaption>\n</figure>\n",
            escape(title),
            escape(description)
        )
    }
}

/// A round number that is at least a third of another one.
fn step(max: f64) -> f64 {
    let power = 10f64.powf((max / 3.0).max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|x| x * power).find(|step| *step * 3.0 >= max).unwrap_or(max)
}

/// Lines at round numbers of the vertical axis, from zero to `most`.
fn grid(out: &mut String, max: f64, step: f64, label: impl Fn(f64) -> String) {
    let mut value = 0.0;
    while value <= max * (1.0 + 1e-9) {
        let y = BOTTOM - value / max * (BOTTOM - TOP);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            label(value)
        );
        value += step;
    }
}

/// Labels of similarities below the horizontal axis.
fn similarities(out: &mut String, from: f64, x: impl Fn(f64) -> f64, what: &str) {
    let step = if 1.0 - from > 0.5 {
        0.2
    } else if 1.0 - from > 0.25 {
        0.1
    } else {
        0.05
    };
    let mut n = (from / step - 1e-9).ceil();
    while n * step <= 1.0 + 1e-9 {
        let value = n * step;
        let _ = writeln!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(value),
            BOTTOM + 18.0,
            (value * 100.0).round() / 100.0
        );
        n += 1.0;
    }
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{what}</text>",
        (LEFT + RIGHT) / 2.0,
        HEIGHT - 8.0
    );
}

/// Bars over the similarity. `bins` are (from, to, number), without gaps; the last one ends at 1, and `equal` more are exactly 1.
pub(super) fn histogram(bins: &[(f64, f64, u64)], equal: u64, threshold: f64, caption: &str) -> String {
    let max = bins.iter().map(|bin| bin.2).chain([equal, 1]).max().unwrap_or(1) as f64;
    let from = bins.first().map_or(0.0, |bin| bin.0);
    // The bar of the equal ones stands apart, at the right.
    let right = RIGHT - 34.0;
    let x = |value: f64| LEFT + (value - from) / (1.0 - from).max(1e-9) * (right - LEFT);
    let step = step(max);
    let top = (max / step).ceil() * step;
    let height = |n: u64| n as f64 / top * (BOTTOM - TOP);
    let mut out = String::new();
    grid(&mut out, top, step, short);
    let mut bar = |class: &str, (from, to): (f64, f64), n: u64, label: &str| {
        let h = if n == 0 { 0.0 } else { height(n).max(1.5) };
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{h:.1}\"><title>{label}: {}</title></rect>",
            BOTTOM - h,
            (to - from - 1.0).max(0.5),
            grouped(n)
        );
    };
    for &(low, high, n) in bins {
        let label = format!("{} to {}", round(low), round(high));
        bar(if high <= threshold + 1e-9 { "below" } else { "removed" }, (x(low), x(high)), n, &label);
    }
    bar("equal", (right + 8.0, RIGHT), equal, "1");
    let _ =
        writeln!(out, "<line class=\"base\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>");
    similarities(
        &mut out,
        from,
        |value| if value >= 1.0 - 1e-9 { (right + 8.0 + RIGHT) / 2.0 } else { x(value) },
        "similarity to the kept document",
    );
    let all: u64 = bins.iter().map(|bin| bin.2).sum::<u64>() + equal;
    let description = format!(
        "Histogram of the similarity of {} removed documents to the kept ones, from {} to 1; {} have exactly the same shingles.",
        grouped(all),
        round(from),
        grouped(equal)
    );
    Figure {
        id: "similarities",
        title: "Similarities of removed documents",
        description: &description,
        height: HEIGHT,
        caption,
    }
    .html(&out)
}

/// Horizontal bars with their numbers.
pub(super) fn sizes(rows: &[(String, u64)], caption: &str) -> String {
    let max = rows.iter().map(|row| row.1).max().unwrap_or(1).max(1) as f64;
    let (left, right, row_height) = (132.0, RIGHT - 62.0, 24.0);
    let mut out = String::new();
    for (i, (label, n)) in rows.iter().enumerate() {
        let y = 10.0 + row_height * i as f64;
        let width = if *n == 0 { 0.0 } else { (*n as f64 / max * (right - left)).max(2.0) };
        let _ = writeln!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text><rect class=\"kept\" x=\"{left}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"16\"><title>{label}: {}</title></rect><text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            y + 13.0,
            grouped(*n),
            left + width + 6.0,
            y + 13.0,
            grouped(*n)
        );
    }
    let described: Vec<String> = rows.iter().map(|(label, n)| format!("{label}: {}", grouped(*n))).collect();
    let height = 20.0 + row_height * rows.len() as f64;
    Figure { id: "sizes", title: "Sizes of clusters", description: &described.join("; "), height, caption }
        .html(&out)
}

/// The recall that the bands give at each similarity, the threshold, and what was measured.
pub(super) fn recall(expected: impl Fn(f64) -> f64, threshold: f64, bins: &[Bin], caption: &str) -> String {
    let from = (((threshold - 0.35) * 10.0).floor() / 10.0).max(0.0);
    let x = |value: f64| LEFT + (value - from) / (1.0 - from) * (RIGHT - LEFT);
    let y = |share: f64| BOTTOM - share * (BOTTOM - TOP);
    let mut out = String::new();
    let at = x(threshold);
    let _ = writeln!(
        out,
        "<rect class=\"wanted\" x=\"{at:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        RIGHT - at,
        BOTTOM - TOP
    );
    grid(&mut out, 1.0, 0.25, |share| format!("{:.0}%", 100.0 * share));
    let points: Vec<String> = (0..=120)
        .map(|i| from + (1.0 - from) * f64::from(i) / 120.0)
        .map(|value| format!("{:.1},{:.1}", x(value), y(expected(value))))
        .collect();
    let _ = writeln!(out, "<polyline class=\"curve\" points=\"{}\"/>", points.join(" "));
    let anchor = if at > (LEFT + RIGHT) / 2.0 { ("end", at - 5.0) } else { ("start", at + 5.0) };
    let _ = writeln!(
        out,
        "<line class=\"threshold\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/><text class=\"note\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">threshold {}</text>",
        anchor.1,
        TOP - 8.0,
        anchor.0,
        round(threshold)
    );
    for bin in bins {
        measured(&mut out, bin, x((bin.from + bin.to) / 2.0), y);
    }
    let _ =
        writeln!(out, "<line class=\"base\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>");
    similarities(&mut out, from, x, "similarity of two documents");
    let description = format!(
        "Share of pairs that are found, by their similarity: {:.1}% at the threshold {}, and what was measured on this run.",
        100.0 * expected(threshold),
        round(threshold)
    );
    Figure { id: "recall", title: "Recall by similarity", description: &description, height: HEIGHT, caption }
        .html(&out)
}

/// What was measured of a bin, with its interval, at a place of the horizontal axis.
fn measured(out: &mut String, bin: &Bin, middle: f64, y: impl Fn(f64) -> f64) {
    let Some(share) = bin.met_share else { return };
    let label = format!(
        "measured from {} to {}: {:.1}% of {} pairs, interval {:.1}% to {:.1}%",
        round(bin.from),
        round(bin.to),
        100.0 * share.value,
        grouped(bin.pairs),
        100.0 * share.low,
        100.0 * share.high
    );
    let _ = writeln!(
        out,
        "<g class=\"measured\"><title>{label}</title><path d=\"M{middle:.1} {:.1}V{:.1}M{:.1} {:.1}h8M{:.1} {:.1}h8\"/><circle cx=\"{middle:.1}\" cy=\"{:.1}\" r=\"4\"/></g>",
        y(share.low),
        y(share.high),
        middle - 4.0,
        y(share.low),
        middle - 4.0,
        y(share.high),
        y(share.value)
    );
}

/// A similarity without noise in its last digits.
pub(super) fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A number for an axis.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", round(value / 1e6)),
        value if value >= 1e4 => format!("{}k", round(value / 1e3)),
        value => grouped(value as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_numbers() {
        for (max, expected) in [(1.0, 0.5), (3.0, 1.0), (7.0, 5.0), (100.0, 50.0), (3277.0, 2000.0)] {
            assert_eq!(step(max), expected, "{max}");
        }
        assert_eq!([5.0, 2000.0, 20_000.0, 2.5e6].map(short), ["5", "2,000", "20k", "2.5M"]);
    }
}

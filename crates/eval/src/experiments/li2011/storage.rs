//! 004, Fig. 2 and Table 1: how much storage b-bit samples save at equal precision.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::storage;

use super::words::{WORD_PAIRS, WordPair};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_storage",
    source: "004, Fig. 2, Table 1, Lemma 1",
    title: "Storage against 64-bit samples",
    claim: "One bit needs 21.3 times less storage than 64 bits at R = 0.5, up to 64 times less; two bits are better than one for R < 0.4; six word pairs save 6.2 to 40.8 times.",
    criterion: "Formulas against formulas: Table 1 recomputed from its printed inputs equals a 60-digit computation to 1e-5; (12) equals Lemma 1 to 1e-9 over a grid of r, b and R; 64/3 at R = 1/2 and the crossovers 1/3, 5/21, 17/105 to 1e-6 and 1e-9. Which printed values are more than their rounding (0.05) away is stated.",
    run,
};

/// The ratios of Table 1 recomputed with 60 digits.
const RECOMPUTED: [f64; 6] = [30.985320, 40.842142, 26.663473, 24.729904, 6.711786, 6.207439];

const DENSITIES: [f64; 4] = [1e-10, 0.1, 0.5, 0.9];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (mut pairs, mut curves) = (context.table("table1")?, context.table("")?);
    let off = printed(&mut pairs, &mut checks)?;
    let limit = limits(&mut checks)?;
    let (mut charts, mut at_half) = (Vec::new(), f64::MAX);
    for r in DENSITIES {
        charts.push(chart(r, &mut curves, &mut checks)?);
        at_half = at_half.min(ratio(r, 1, 0.5)?);
    }
    let verdict = format!(
        "One bit saves {at_half:.1} times at R = 0.5 in the worst of the densities tried. Of the six printed ratios {} are off by more than their rounding: {}. \
         For sparse sets two bits beat one only below R = {:.3} (0.4 in the paper), and the limit of one bit at R = 1 is {limit:.0}, not 64.",
        off.len(),
        off.join(", "),
        storage::crossover(1),
    );
    let claim = Claim::of(&[
        at_half >= 21.3,
        limit >= 64.0,
        (storage::crossover(1) - 0.4).abs() < 0.05,
        off.is_empty(),
    ]);
    Ok(Outcome { tables: vec![pairs, curves], charts, checks, claim, verdict })
}

/// Table 1; which of its ratios are off by more than their rounding.
fn printed(table: &mut Table, checks: &mut Checks) -> Result<Vec<String>> {
    let mut off = Vec::new();
    for (pair, expected) in WORD_PAIRS.iter().zip(RECOMPUTED) {
        let WordPair { name, densities, jaccard, printed } = *pair;
        let ratio = storage::ratio_64_to_1(jaccard, densities)?;
        let [r1, r2] = densities;
        table.push(row![
            "pair": name, "r1": r1, "r2": r2, "R": jaccard, "printed": printed, "corrected": ratio,
        ])?;
        checks.close(name, ratio, expected, 1e-5);
        if (printed - ratio).abs() > 0.05 {
            off.push(format!("{name} {ratio:.2} instead of {printed}"));
        }
    }
    Ok(off)
}

/// Values of sparse sets that are known; what one bit saves as R goes to 1.
fn limits(checks: &mut Checks) -> Result<f64> {
    checks.close("sparse, R = 1/2", storage::ratio_64_to_1(0.5, [1e-12; 2])?, 64.0 / 3.0, 1e-6);
    let limit = storage::ratio_equal_density([64, 1], 1e-12, 1.0);
    checks.close("sparse, R = 1: 32, not the 64 of (14)", limit, 32.0, 1e-9);
    for (b, crossover) in [(1, 1.0 / 3.0), (2, 5.0 / 21.0), (3, 17.0 / 105.0)] {
        let what = format_args!("{b} and {} bits are equal", b + 1);
        checks.close(what, storage::crossover(b), crossover, 1e-9);
    }
    Ok(limit)
}

/// The storage of 64 bits over that of `b`, for sets of density `r`.
fn ratio(r: f64, b: u32, jaccard: f64) -> Result<f64> {
    let of =
        |bits: u32| -> Result<f64> { Ok(storage::factor(jaccard, bits, Collision::dense(bits, [r, r])?)) };
    Ok(of(64)? / of(b)?)
}

fn chart(r: f64, table: &mut Table, checks: &mut Checks) -> Result<Chart> {
    let title = format!("B(64) / B(b), r1 = r2 = {r}");
    let mut chart = Chart::new(title, Axis::linear("R"), Axis::linear("storage ratio"));
    for b in 1..=4u32 {
        let mut points = Vec::new();
        for step in 1..100 {
            let jaccard = f64::from(step) / 100.0;
            let ratio = ratio(r, b, jaccard)?;
            points.push((jaccard, ratio));
            let lemma = storage::ratio_equal_density([64, b], r, jaccard);
            let what = format_args!("Lemma 1, r = {r}, b = {b}, R = {jaccard}");
            checks.close(what, lemma, ratio, 1e-9 * ratio);
            if step % 10 == 0 {
                table.push(row!["r": r, "b": b, "R": jaccard, "ratio": ratio])?;
            }
        }
        chart.push(Series::line(format!("b = {b}"), points).colour(b as usize - 1));
    }
    Ok(chart)
}

//! 000, Fig. 6: how much storage b-bit samples save for three-way estimates, and where the headline does not hold.

use benzer_core::estimate::storage;
use benzer_core::estimate::three_way::ThreeWayBits;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_three_way_storage",
    source: "000, Fig. 6",
    title: "Storage of three-way estimates",
    claim: "b-bit samples need normally 10 to 25 times less storage than 64-bit samples, if the three-way resemblance is at least 0.02.",
    criterion: "Formulas against formulas: reference ratios to 0.005, their printed digits: 24.00 at T = 3R, R = 0.5, b = 2; 19.2 at R = 0.25; 18.70 at T = 4R, R = 0.375; 13.58 at T = 6R, R = 0.25, b = 3; 10.38 at T = 10R, R = 0.15, b = 4; 8.27 at T = 20R, R = 0.075, b = 6; 6.04 at T = 50R, R = 0.03, b = 6. Where the headline holds is then read off the best b of 2, 3, 4, 6 at each R of at least 0.02.",
    run,
};

const BITS: [u32; 4] = [2, 3, 4, 6];
/// T over R, R, bits, and the ratio.
const KNOWN: [(f64, f64, u32, f64); 7] = [
    (3.0, 0.5, 2, 24.0),
    (3.0, 0.25, 2, 19.2),
    (4.0, 0.375, 2, 18.70),
    (6.0, 0.25, 3, 13.58),
    (10.0, 0.15, 4, 10.38),
    (20.0, 0.075, 6, 8.27),
    (50.0, 0.03, 6, 6.04),
];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    for (alpha, jaccard, b, expected) in KNOWN {
        let what = format_args!("T = {alpha} R, R = {jaccard}, b = {b}");
        checks.close(what, ratio(alpha, jaccard, b)?, expected, 0.0051);
    }
    let mut table = context.table("")?;
    let (mut charts, mut sentences, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for alpha in [3.0, 4.0, 6.0, 10.0, 20.0, 50.0] {
        let curves = measure(alpha, &mut table)?;
        let best = (0..curves[0].len())
            .filter(|&i| curves[0][i].0 >= 0.02)
            .map(|i| curves.iter().map(|curve| curve[i].1).fold(0.0, f64::max));
        let [low, high] = range(best.filter(|ratio| *ratio > 0.0));
        let verdict = match (low >= 10.0, high >= 10.0) {
            (true, _) => "holds",
            (_, true) => "holds for some R",
            _ => "does not hold for any R",
        };
        parts.push(low >= 10.0);
        sentences.push(format!("T = {alpha} R: {low:.1} to {high:.1} times, {verdict}"));
        let title = format!("B(64) / B(b), T = {alpha} R");
        let mut chart = Chart::new(title, Axis::linear("R"), Axis::linear("storage ratio"));
        for (colour, (b, curve)) in BITS.into_iter().zip(curves).enumerate() {
            chart.push(Series::line(format!("b = {b}"), curve).colour(colour));
        }
        charts.push(chart);
    }
    let verdict = format!(
        "The headline of at least 10 times with the best b depends on how much more similar pairs are than the triple. For R from 0.02 on: {}.",
        sentences.join("; ")
    );
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::of(&parts), verdict })
}

/// The storage of 64 bits over that of `b`, where the pair similarities add to `alpha` times the three-way one.
fn ratio(alpha: f64, jaccard: f64, b: u32) -> Result<f64> {
    Ok(storage::three_way_ratio(jaccard, alpha * jaccard, ThreeWayBits::new(b)?))
}

fn measure(alpha: f64, table: &mut Table) -> Result<[Curve; BITS.len()]> {
    let mut curves = BITS.map(|_| Curve::new());
    for (b, curve) in BITS.into_iter().zip(&mut curves) {
        for step in 1..50 {
            let jaccard = 3.0 / alpha * f64::from(step) / 50.0;
            let ratio = ratio(alpha, jaccard, b)?;
            curve.push((jaccard, ratio));
            if step % 7 == 0 {
                table.push(row!["T_over_R": alpha, "b": b, "R": jaccard, "ratio": ratio])?;
            }
        }
    }
    Ok(curves)
}

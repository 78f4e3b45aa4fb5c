//! 000, Fig. 6: how much storage b-bit samples save for three-way estimates, and where the headline does not hold.

use benzer_core::estimate::storage;
use benzer_core::estimate::three_way::ThreeWayBits;

use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_three_way_storage",
    source: "000, Fig. 6",
    title: "Storage of three-way estimates",
    claim: "b-bit samples need normally 10 to 25 times less storage than 64-bit samples, if the three-way resemblance is at least 0.02.",
    criterion: "Formulas against formulas: reference ratios to 0.005, their printed digits: 24.00 at T = 3R, R = 0.5, b = 2; 19.2 at R = 0.25; 18.70 at T = 4R, R = 0.375; 13.58 at T = 6R, R = 0.25, b = 3; 10.38 at T = 10R, R = 0.15, b = 4; 8.27 at T = 20R, R = 0.075, b = 6; 6.04 at T = 50R, R = 0.03, b = 6. Where the headline holds is then read off the best b of 2, 3, 4, 6 at each R of at least 0.02.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let ratio = |alpha: f64, jaccard: f64, b: u32| -> Result<f64> {
        Ok(storage::three_way_ratio(jaccard, alpha * jaccard, ThreeWayBits::new(b)?))
    };
    for (alpha, jaccard, b, expected) in [
        (3.0, 0.5, 2, 24.0),
        (3.0, 0.25, 2, 19.2),
        (4.0, 0.375, 2, 18.70),
        (6.0, 0.25, 3, 13.58),
        (10.0, 0.15, 4, 10.38),
        (20.0, 0.075, 6, 8.27),
        (50.0, 0.03, 6, 6.04),
    ] {
        checks.close(
            format_args!("T = {alpha} R, R = {jaccard}, b = {b}"),
            ratio(alpha, jaccard, b)?,
            expected,
            0.0051,
        );
    }
    let mut table = context.table("", &["T_over_R", "b", "R", "ratio"])?;
    let (mut charts, mut lines, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for alpha in [3.0, 4.0, 6.0, 10.0, 20.0, 50.0] {
        let mut chart = Chart::new(
            format!("B(64) / B(b), T = {alpha} R"),
            Axis::linear("R"),
            Axis::linear("storage ratio"),
        );
        let mut best = [0.0f64; 50];
        for (colour, b) in [2, 3, 4, 6].into_iter().enumerate() {
            let mut points = Vec::new();
            for step in 1..50 {
                let jaccard = 3.0 / alpha * f64::from(step) / 50.0;
                let value = ratio(alpha, jaccard, b)?;
                points.push((jaccard, value));
                best[step as usize] = best[step as usize].max(if jaccard >= 0.02 { value } else { 0.0 });
                if step % 7 == 0 {
                    table.push(row![alpha, b, jaccard, value])?;
                }
            }
            chart.push(Series::line(format!("b = {b}"), points).colour(colour));
        }
        let of = best.iter().copied().filter(|ratio| *ratio > 0.0);
        let [low, high] =
            of.fold([f64::MAX, 0.0], |[low, high], ratio| [f64::min(low, ratio), f64::max(high, ratio)]);
        let verdict = match (low >= 10.0, high >= 10.0) {
            (true, _) => "holds",
            (_, true) => "holds for some R",
            _ => "does not hold for any R",
        };
        parts.push(low >= 10.0);
        lines.push(format!("T = {alpha} R: {low:.1} to {high:.1} times, {verdict}"));
        charts.push(chart);
    }
    let verdict = format!(
        "The headline of at least 10 times with the best b depends on how much more similar pairs are than the triple. For R from 0.02 on: {}.",
        lines.join("; ")
    );
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::of(&parts), verdict })
}

//! Figs. 5 to 8: how much more storage sampling and projection need than one-bit samples, by formulas.

use benzer_core::estimate::hamming::{self, Pair};
use benzer_core::estimate::size;

use crate::prelude::*;

const UNIVERSE: f64 = 1e9;

/// Ratios over a grid of sizes and intersections: of sampling (Fig. 5), of projection with the best beta (7) and with one beta for all (8).
pub(super) fn charts(table: &mut Table, checks: &mut Checks) -> Result<Vec<Chart>> {
    let mut charts = Vec::new();
    for r1 in [1e-4, 0.1, 0.5, 0.9] {
        let title = format!("Storage against one bit, r1 = {r1}");
        let mut chart = Chart::new(title, Axis::linear("s / r2"), Axis::log("ratio"));
        for (colour, share) in [0.1, 0.5, 0.9].into_iter().enumerate() {
            let (mut curves, r2) = ([(); 3].map(|()| Curve::new()), share * r1);
            for step in (0..50).filter(|step| r1 + r2 - f64::from(*step) / 50.0 * r2 <= 1.0) {
                let part = f64::from(step) / 50.0;
                let ratios = ratios(r1, share, part, checks)?;
                curves.iter_mut().zip(ratios).for_each(|(curve, ratio)| curve.push((part, ratio)));
                for (figure, ratio) in [5, 7, 8].into_iter().zip(ratios).filter(|_| step % 10 == 0) {
                    table.push(row![
                        "figure": figure, "r1": r1, "r2_over_r1": share, "s_over_r2": part, "ratio": ratio,
                    ])?;
                }
            }
            let [sampling, projection, one_beta] = curves;
            let name = format!("projection, best beta, r2 = {share} r1");
            chart.push(Series::line(format!("sampling, r2 = {share} r1"), sampling).colour(colour));
            chart.push(Series::dashed(name, projection).colour(colour));
            let name = if colour == 0 { "projection, beta of H = 1e-4 D" } else { "" };
            chart.push(Series::points(name, one_beta).colour(colour));
        }
        charts.push(chart);
    }
    Ok(charts)
}

/// The ratios of the three figures for densities `r1` and `share * r1`, where `part` of the smaller set is common.
fn ratios(r1: f64, share: f64, part: f64, checks: &mut Checks) -> Result<[f64; 3]> {
    let r2 = share * r1;
    let sizes = [r1 * UNIVERSE, r2 * UNIVERSE];
    let jaccard = size::jaccard_of_intersection(part * r2 * UNIVERSE, sizes);
    let pair = Pair { jaccard, sizes, universe: UNIVERSE };
    let fixed = hamming::best_beta(1e-4 * UNIVERSE);
    let one_beta = hamming::projection_variance(pair.distance(), fixed) / pair.variance(1)?;
    let sampling = pair.sampling_ratio(1)?;
    if r1 < 1e-3 {
        let limit = hamming::sampling_ratio_sparse(jaccard, 1);
        let what = format_args!("(21) at s / r2 = {part}, r2 / r1 = {share}");
        checks.close(what, sampling / limit, 1.0, 1e-3);
    }
    Ok([sampling, hamming::projection_ratio(&pair, 1)?, one_beta])
}

/// Fig. 6: the beta with the least variance, and that it is.
pub(super) fn best_beta(checks: &mut Checks) -> Chart {
    let mut points = Vec::new();
    for exponent in 1..=24 {
        let distance = 2f64.powi(exponent);
        let beta = hamming::best_beta(distance);
        points.push((distance, beta));
        let probability = hamming::projection_probability(distance, beta);
        checks.close(format_args!("E at H = {distance}"), probability, 0.274_618_174, 1e-6);
        let least = hamming::projection_variance(distance, beta);
        for factor in [0.99, 1.01] {
            let beside = hamming::projection_variance(distance, (beta * factor).min(0.999_999));
            checks.holds(format_args!("beta is best at H = {distance}"), beside >= least);
        }
        let what = format_args!("variance / H^2 at H = {distance}");
        checks.close(what, least / (distance * distance), 6.176_554_609, 1e-6);
    }
    Chart::new("The best beta (Fig. 6)", Axis::log("Hamming distance H"), Axis::log("beta"))
        .with(Series::line("", points))
}

//! 004, Figs. 5 to 9: b-bit samples against random sampling of coordinates and random projection modulo 2; sign projections as a third rival.
//!
//! The rivals estimate the Hamming distance (sampling, projection) or the angle (signs) of two sets as binary vectors. Sign projections are
//! simulated exactly: the projections of the common and of the own parts of two sets are independent normals.

use std::f64::consts::PI;

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::hamming::{self, Pair};
use benzer_core::estimate::size;

use super::li2011_storage::WORD_PAIRS;
use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Context, Errors, Experiment, Outcome, Result, Series, Table, exact, universe,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_hamming",
    source: "004, Figs. 5-9, (16)-(25)",
    title: "Against sampling, projection modulo 2, and signs",
    claim: "At equal storage b-bit samples are 10 to 30 times better than random sampling; random projection modulo 2 keeps up only with the best beta for the true distance, which one beta cannot be for all pairs; unless similarity is very low, they also beat sign projections.",
    criterion: "Mean square errors of all four methods on UNITED-STATES (H/D = 0.0316): within 4 standard errors of the exact expectation, standard error at most 2%. The best beta equals numeric minimisation to 1e-6, with E = 0.2746; the sparse limit of (20) to 1%. Sign projections have more variance than one-bit samples at R = 0.2 to 0.95, and less at 0.1 and 0.99.",
    run,
};

const UNIVERSE: u64 = 1 << 14;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut ratios = context.table("ratios", &["figure", "r1", "r2_over_r1", "s_over_r2", "ratio"])?;
    let mut charts = ratio_charts(&mut ratios, &mut checks)?;
    charts.push(best_beta(&mut checks));
    let mut signs = context.table("signs", &["R", "var_signs", "var_1_bit", "ratio"])?;
    charts.push(sign_chart(&mut signs)?);
    let ratio = |j: f64| sign_variance(j) / Collision::sparse(1).variance(1.0).at(j);
    for (jaccard, is_worse) in
        [(0.1, false), (0.2, true), (0.5, true), (0.7, true), (0.95, true), (0.99, false)]
    {
        checks.holds(
            format_args!("signs at R = {jaccard}: {}", ratio(jaccard)),
            (ratio(jaccard) > 1.0) == is_worse,
        );
    }
    checks.close("signs at R = 0.7", ratio(0.7), 2.0173, 1e-3);
    let mut table = context.table("", &["method", "k", "runs", "mse", "mse_se", "expected", "formula"])?;
    charts.push(simulate(context, &mut table, &mut checks)?);
    let verdict = "Confirmed, with one exception: sampling needs 8 (R = 0) to 32 times (R = 1) the storage of one-bit samples on sparse sets. Projection modulo 2 is good at its own distance and \
        explodes away from it. One-bit sign projections have up to twice the variance (R = 0.7), but less of it below R = 0.15 and again above R = 0.97, where an angle tells more than a match.";
    Ok(Outcome { tables: vec![table, ratios, signs], charts, checks, verdict: verdict.to_owned() })
}

/// Figs. 5, 7 and 8: ratios over a grid of sizes and intersections.
fn ratio_charts(table: &mut Table, checks: &mut Checks) -> Result<Vec<Chart>> {
    let universe = 1e9;
    let fixed = hamming::best_beta(1e-4 * universe);
    let mut charts = Vec::new();
    for r1 in [1e-4, 0.1, 0.5, 0.9] {
        let axes = || (Axis::linear("s / r2"), Axis::log("ratio"));
        let (x, y) = axes();
        let mut chart = Chart::new(format!("Storage against one bit, r1 = {r1}"), x, y);
        for (colour, share) in [0.1, 0.5, 0.9].into_iter().enumerate() {
            let r2 = share * r1;
            let mut series = [Vec::new(), Vec::new(), Vec::new()];
            for step in 0..50 {
                let part = f64::from(step) / 50.0;
                let s = part * r2;
                if r1 + r2 - s > 1.0 {
                    continue;
                }
                let sizes = [r1 * universe, r2 * universe];
                let jaccard = size::jaccard_of_intersection(s * universe, sizes);
                let pair = Pair { jaccard, sizes, universe };
                let away = hamming::projection_variance(pair.distance(), fixed) / pair.variance(1)?;
                let values = [pair.sampling_ratio(1)?, hamming::projection_ratio(&pair, 1)?, away];
                for ((series, value), figure) in series.iter_mut().zip(values).zip([5, 7, 8]) {
                    series.push((part, value));
                    if step % 10 == 0 {
                        table.push(row![figure, r1, share, part, value])?;
                    }
                }
                if r1 < 1e-3 {
                    let limit = hamming::sampling_ratio_sparse(jaccard, 1);
                    checks.close(
                        format_args!("(21) at s / r2 = {part}, r2 / r1 = {share}"),
                        values[0] / limit,
                        1.0,
                        0.01,
                    );
                }
            }
            let [sampling, projection, away] = series;
            chart.push(Series::line(format!("sampling, r2 = {share} r1"), sampling).colour(colour));
            chart.push(
                Series::dashed(format!("projection, best beta, r2 = {share} r1"), projection).colour(colour),
            );
            chart.push(
                Series::points(if colour == 0 { "projection, beta of H = 1e-4 D" } else { "" }, away)
                    .colour(colour),
            );
        }
        charts.push(chart);
    }
    Ok(charts)
}

/// Fig. 6: the beta with the least variance, and that it is.
fn best_beta(checks: &mut Checks) -> Chart {
    let mut points = Vec::new();
    for exponent in 1..=24 {
        let distance = 2f64.powi(exponent);
        let beta = hamming::best_beta(distance);
        points.push((distance, beta));
        checks.close(
            format_args!("E at H = {distance}"),
            hamming::projection_probability(distance, beta),
            0.274_618_174,
            1e-6,
        );
        let least = hamming::projection_variance(distance, beta);
        for factor in [0.99, 1.01] {
            let beside = hamming::projection_variance(distance, (beta * factor).min(0.999_999));
            checks.holds(format_args!("beta is best at H = {distance}"), beside >= least);
        }
        checks.close(
            format_args!("variance / H^2 at H = {distance}"),
            least / (distance * distance),
            6.176_554_609,
            1e-6,
        );
    }
    Chart::new("The best beta (Fig. 6)", Axis::log("Hamming distance H"), Axis::log("beta"))
        .with(Series::line("", points))
}

/// Variance of the similarity from one sign projection of two sparse sets of equal size, by the delta method.
fn sign_variance(jaccard: f64) -> f64 {
    let cosine = 2.0 * jaccard / (1.0 + jaccard);
    let p = 1.0 - cosine.acos() / PI;
    // d cos / d p, then d R / d cos with R = c / (2 - c).
    let slope = PI * (1.0 - cosine * cosine).sqrt() * 2.0 / ((2.0 - cosine) * (2.0 - cosine));
    p * (1.0 - p) * slope * slope
}

fn sign_chart(table: &mut Table) -> Result<Chart> {
    let mut points = Vec::new();
    for step in 1..100 {
        let jaccard = f64::from(step) / 100.0;
        let one_bit = Collision::sparse(1).variance(1.0).at(jaccard);
        let ratio = sign_variance(jaccard) / one_bit;
        points.push((jaccard, ratio));
        if step % 5 == 0 {
            table.push(row![jaccard, sign_variance(jaccard), one_bit, ratio])?;
        }
    }
    let even = Series::dashed("equal", vec![(0.0, 1.0), (1.0, 1.0)]).colour(4);
    Ok(Chart::new(
        "Variance of sign projections over one-bit samples, sparse",
        Axis::linear("R"),
        Axis::log("ratio"),
    )
    .with(Series::line("ratio", points))
    .with(even))
}

/// Fig. 9: measured errors of the distance, as a share of the universe.
fn simulate(context: &Context<'_>, table: &mut Table, checks: &mut Checks) -> Result<Chart> {
    let runs = context.size(20_000, 30_000);
    let word = WORD_PAIRS[3];
    let universe = universe::pair(word.densities, word.jaccard, UNIVERSE);
    let total = UNIVERSE as f64;
    let sizes = [universe.size(1), universe.size(2)];
    let jaccard = universe.similarity(3);
    let distance = size::difference_at(jaccard, sizes);
    let pair = Pair { jaccard, sizes, universe: total };
    let line = Collision::dense(1, universe.densities())?;
    let cosine = universe.size(3) / (sizes[0] * sizes[1]).sqrt();
    let betas = [0.0316, 0.1, 0.5].map(|share| hamming::best_beta(share * total));
    let mut chart = Chart::new(
        "UNITED-STATES, H/D = 0.0316 (Fig. 9)",
        Axis::log("sample size k"),
        Axis::log("mean square error of H/D"),
    );
    let names = [
        "one bit",
        "sampling",
        "projection, H* = 0.0316 D",
        "projection, H* = 0.1 D",
        "projection, H* = 0.5 D",
        "signs",
    ];
    // From the share of successes to the distance. A projection that is saturated counts as the distance of a share of 0.49.
    let estimate = |method: usize, share: f64| -> f64 {
        match method {
            0 => size::difference_at(line.jaccard(share), sizes) / total,
            1 => share,
            2..=4 => hamming::projection_raw(share.min(0.49), betas[method - 2]) / total,
            _ => {
                (sizes[0] + sizes[1] - 2.0 * (PI * (1.0 - share)).cos() * (sizes[0] * sizes[1]).sqrt())
                    / total
            }
        }
    };
    let chance = |method: usize| match method {
        0 => line.probability(jaccard),
        1 => distance / total,
        2..=4 => hamming::projection_probability(distance, betas[method - 2]),
        _ => 1.0 - cosine.acos() / PI,
    };
    let formula = |method: usize| match method {
        0 => pair.variance(1).unwrap_or(f64::NAN),
        1 => pair.sampling_variance(),
        2..=4 => hamming::projection_variance(distance, betas[method - 2]),
        _ => {
            let p = chance(5);
            let slope = 2.0 * PI * (1.0 - cosine * cosine).sqrt() * (sizes[0] * sizes[1]).sqrt();
            p * (1.0 - p) * slope * slope
        }
    };
    for (method, name) in names.into_iter().enumerate() {
        context.step(name);
        let (mut measured, mut theory) = (Vec::new(), Vec::new());
        let samples: &[usize] = if context.is_quick() { &[100, 400] } else { &[50, 200, 500] };
        for (number, &k) in samples.iter().enumerate() {
            let mut errors = Errors::default();
            for run in 0..runs {
                let stream = (method * 8 + number) as u64;
                let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
                let hits =
                    (0..k).filter(|_| hit(method, &universe, [distance, total], &betas, &mut random)).count();
                errors.push(estimate(method, hits as f64 / k as f64) - distance / total);
            }
            let expected = exact::mean(k, chance(method), |hits| {
                (estimate(method, hits as f64 / k as f64) - distance / total).powi(2)
            });
            let mse = errors.mse();
            table.push(row![
                name,
                k,
                runs,
                mse.value,
                mse.error,
                expected,
                formula(method) / (total * total * k as f64)
            ])?;
            checks.agrees(format_args!("{name}, k = {k}"), mse, expected);
            measured.push((k as f64, mse.value));
            theory.push((k as f64, expected));
        }
        chart.push(Series::points(name, measured).colour(method));
        chart.push(Series::line("", theory).colour(method));
    }
    Ok(chart)
}

/// One sample of a method: does it count?
fn hit(
    method: usize,
    universe: &universe::Universe<2>,
    [distance, total]: [f64; 2],
    betas: &[f64; 3],
    random: &mut Random,
) -> bool {
    match method {
        0 => {
            let [x, y] = universe.minima(random);
            (x ^ y) & 1 == 0
        }
        1 => random.unit() * total < distance,
        2..=4 => {
            // The ones of a random row among the coordinates that differ, met by geometric leaps.
            let chance = (1.0 - 0.5 * betas[method - 2]).ln();
            let (mut place, mut is_odd) = (0.0, false);
            loop {
                place += ((1.0 - random.unit()).ln() / chance).floor() + 1.0;
                if place > distance {
                    return is_odd;
                }
                is_odd = !is_odd;
            }
        }
        _ => {
            let [common, first, second] =
                [universe.size(3), universe.size(1) - universe.size(3), universe.size(2) - universe.size(3)]
                    .map(|n| n.sqrt() * random.normal());
            (common + first >= 0.0) == (common + second >= 0.0)
        }
    }
}

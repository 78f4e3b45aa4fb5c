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
    Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, Table, exact, universe,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_hamming",
    source: "004, Figs. 5-9, (16)-(25)",
    title: "Against sampling, projection modulo 2, and signs",
    claim: "At equal storage b-bit samples are 10 to 30 times better than random sampling; random projection modulo 2 keeps up only with the best beta for the true distance, which one beta cannot be for all pairs; unless similarity is very low, they also beat sign projections.",
    criterion: "Mean square errors of all four methods on UNITED-STATES (H/D = 0.0316): within 4 standard errors of the exact expectation, standard error at most 2%. The best beta has less variance than its neighbours 1% away, with E = 0.274618 and variance 6.176555 H^2 to 1e-6; at r = 1e-4, (20) equals its sparse limit (21) to 1e-3; the variance of sign projections equals a binomial sum to 1e-3. Which is better where is then read off the variances.",
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
    // The variance by the delta method against a binomial sum with so many samples that curvature does not matter.
    for jaccard in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let (k, cosine) = (200_000, 2.0 * jaccard / (1.0 + jaccard));
        let summed = exact::mean(k, 1.0 - f64::acos(cosine) / PI, |hits| {
            let c = (PI * (1.0 - hits as f64 / k as f64)).cos();
            (c / (2.0 - c) - jaccard).powi(2)
        });
        checks.close(
            format_args!("variance of signs at R = {jaccard}"),
            k as f64 * summed / sign_variance(jaccard),
            1.0,
            1e-3,
        );
    }
    let mut table = context.table("", &["method", "k", "runs", "mse", "mse_se", "expected", "formula"])?;
    charts.push(simulate(context, &mut table, &mut checks)?);
    let (claim, verdict) = verdict(&ratios, ratio);
    Ok(Outcome { tables: vec![table, ratios, signs], charts, checks, claim, verdict })
}

/// What the ratios of Figs. 5, 7 and 8, and of signs to one bit, say of the claim.
fn verdict(ratios: &Table, signs: impl Fn(f64) -> f64) -> (Claim, String) {
    let number = |row: &[String], i: usize| row[i].parse::<f64>().unwrap_or(f64::NAN);
    let range = |figure: f64, is_sparse: bool| {
        let rows = ratios
            .rows()
            .iter()
            .filter(|row| number(row, 0) == figure && (number(row, 1) < 1e-3) == is_sparse);
        let ratios: Vec<f64> = rows.map(|row| number(row, 4)).collect();
        let [low, high] = ratios
            .iter()
            .filter(|ratio| ratio.is_finite())
            .fold([f64::MAX, 0.0], |[l, h], x| [f64::min(l, *x), f64::max(h, *x)]);
        // A ratio that no number can hold is none in the table.
        match ratios.iter().filter(|ratio| !ratio.is_finite()).count() {
            0 => format!("{} to {}", rounded(low), rounded(high)),
            n if n == ratios.len() => "more than 1e300".to_owned(),
            _ => format!("{} to more than 1e300", rounded(low)),
        }
    };
    let grid: Vec<(f64, f64)> = (1..1000).map(|i| f64::from(i) / 1000.0).map(|j| (j, signs(j))).collect();
    let most =
        grid.iter().copied().fold((0.0, 0.0), |best, point| if point.1 > best.1 { point } else { best });
    let changes: Vec<String> = grid
        .windows(2)
        .filter(|w| (w[0].1 > 1.0) != (w[1].1 > 1.0))
        .map(|w| format!("{:.3}", w[1].0))
        .collect();
    let all = |figure: f64, is: &dyn Fn(f64) -> bool| {
        let mut rows = ratios.rows().iter().filter(|row| number(row, 0) == figure);
        rows.all(|row| is(number(row, 4)))
    };
    // A ratio that no number can hold is not a number in the table.
    let claim = Claim::of(&[
        all(5.0, &|ratio| (10.0..=30.0).contains(&ratio)),
        all(7.0, &|ratio| ratio < 2.0),
        !all(8.0, &|ratio| ratio < 10.0),
        signs(0.001) <= 1.0 && changes.len() == 1,
    ]);
    let first = if signs(0.001) > 1.0 { "more" } else { "less" };
    let verdict = format!(
        "Sampling needs {} times the storage of one-bit samples on sparse sets (r1 = 0.0001; the limits are {:.0} at R = 0 and {:.0} at R = 1) and {} times on dense ones, where the paper says 10 to 30. \
         Projection modulo 2 with the best beta for each pair needs {} times on sparse sets; with the beta of H = 1e-4 D for all, {} there and {} on dense ones. \
         One-bit sign projections on sparse sets have {first} variance than one-bit samples at R near 0, and the order turns at R = {}; at most they have {:.2} times as much (R = {:.2}): the claim holds between the turns only.",
        range(5.0, true),
        hamming::sampling_ratio_sparse(0.0, 1),
        hamming::sampling_ratio_sparse(1.0, 1),
        range(5.0, false),
        range(7.0, true),
        range(8.0, true),
        range(8.0, false),
        changes.join(" and "),
        most.1,
        most.0
    );
    (claim, verdict)
}

/// Readable at any size.
fn rounded(value: f64) -> String {
    match value {
        v if v >= 1e4 => format!("{v:.1e}"),
        v if v >= 10.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
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
                        1e-3,
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
    let runs = context.size(18_000, 30_000);
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

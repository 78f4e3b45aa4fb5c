//! 000, Figs. 3 to 5: bias and mean square error of the simple and of the precise three-way estimator; the iteration beside the closed form.

use benzer_core::estimate::three_way::{self, Agreement, Rates, ThreeWayBits};
use benzer_core::estimate::three_way_dense::{self, Theorem};

use super::li2010_three_way_probability::{shares, three_words};
use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Errors, Experiment, Outcome, Result, Series, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_three_way_mse",
    source: "000, Figs. 3-5, (8), (9)",
    title: "Three-way estimates: simple and precise",
    claim: "The simple estimator is biased on dense data and its bias vanishes as D grows; from D = 2^20 on its error is the variance (9). The precise estimator is unbiased also on dense data; a few iterations suffice.",
    criterion: "The mean of the simple estimate agrees with (8) at the probabilities of Theorem 1, and the mean square error with its exact value, to 4 standard errors of at most 2%. The precise estimate has bias below 0.004 (it is clamped to what the pair intersections allow) and mean square error of 0.85 (clamping lowers it) to 1.05 times the delta method's. The iteration needs the steps that its slope predicts.",
    run,
};

const K: usize = 500;
const BITS: [u32; 3] = [2, 3, 4];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table(
        "",
        &[
            "log2_D",
            "b",
            "k",
            "bias_simple",
            "bias_limit",
            "mse_simple",
            "mse_expected",
            "var_9",
            "bias_precise",
            "mse_precise",
            "var_precise",
        ],
    )?;
    let mut iteration =
        context.table("iteration", &["log2_D", "b", "slope", "bias_after_5_steps", "steps_to_1e-6"])?;
    let mut chart =
        Chart::new("Mean square error, k = 500", Axis::linear("log2 D"), Axis::log("mean square error"));
    let mut biases =
        Chart::new("Bias of the simple estimator (8)", Axis::linear("log2 D"), Axis::linear("bias"));
    let mut series: [[Vec<(f64, f64)>; 5]; 3] = Default::default();
    for exponent in [16u32, 18, 20, 22] {
        context.step(format_args!("D = 2^{exponent}"));
        let measured = measure(context, exponent)?;
        for ((b, errors), series) in BITS.into_iter().zip(measured).zip(&mut series) {
            let point = compare(b, exponent, errors, &mut table, &mut checks)?;
            series
                .iter_mut()
                .zip(point)
                .for_each(|(series, value)| series.push((f64::from(exponent), value)));
            iterate(b, exponent, &mut iteration, &mut checks)?;
        }
    }
    for (colour, (b, [simple, precise, nine, bias, limit])) in BITS.into_iter().zip(series).enumerate() {
        chart.push(Series::points(format!("simple, b = {b}"), simple).colour(colour));
        chart.push(Series::line(format!("precise, b = {b}"), precise).colour(colour));
        chart.push(Series::dashed(if b == 2 { "variance (9)" } else { "" }, nine).colour(colour));
        biases.push(Series::points(format!("b = {b}"), bias).colour(colour));
        biases.push(Series::line("", limit).colour(colour));
    }
    let verdict = "Confirmed: the bias of (8) is -0.08 at D = 2^16 and b = 2 and vanishes from 2^20 on; the precise estimator has no bias beyond that of its clamping, below 0.004, at any density. \
        No iteration is needed: the equation is affine. For these words, five steps of the paper's iteration leave a bias of up to -0.008, and 1e-6 takes 14 to 42 of them; near R = 0.9 it takes hundreds.";
    Ok(Outcome {
        tables: vec![table, iteration],
        charts: vec![biases, chart],
        checks,
        verdict: verdict.to_owned(),
    })
}

/// Errors of the simple and of the precise estimate for each width, from the same permutations.
fn measure(context: &Context<'_>, exponent: u32) -> Result<[[Errors; 2]; 3]> {
    let runs = context.size(5_500, 30_000);
    let universe = three_words(1 << exponent);
    let densities = universe.densities();
    let truth = universe.similarity(7);
    let mut errors = [[Errors::default(); 2]; 3];
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(u64::from(exponent)), run as u64));
        let mut agreements = [Agreement { all: 0, only: [0; 3], none: 0 }; 3];
        for _ in 0..K {
            let minima = universe.minima(&mut random);
            BITS.into_iter().zip(&mut agreements).for_each(|(b, agreement)| count(agreement, minima, b));
        }
        for ((b, agreement), errors) in BITS.into_iter().zip(agreements).zip(&mut errors) {
            let (rates, bits) = (agreement.rates()?, ThreeWayBits::new(b)?);
            errors[0].push(three_way::raw(rates, bits) - truth);
            errors[1].push(three_way_dense::raw(rates, bits, densities)?.0 - truth);
        }
    }
    Ok(errors)
}

/// Adds one register to the pattern of agreement of its lowest `b` bits.
fn count(agreement: &mut Agreement, [x, y, z]: [u32; 3], b: u32) {
    let mask = (1u32 << b) - 1;
    match [(x ^ y) & mask == 0, (x ^ z) & mask == 0, (y ^ z) & mask == 0] {
        [true, true, _] => agreement.all += 1,
        [true, ..] => agreement.only[0] += 1,
        [_, true, _] => agreement.only[1] += 1,
        [.., true] => agreement.only[2] += 1,
        _ => agreement.none += 1,
    }
}

/// Measured against expected: mean square errors (simple, precise), variance (9), bias, its limit.
fn compare(
    b: u32,
    exponent: u32,
    [simple, precise]: [Errors; 2],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<[f64; 5]> {
    let bits = ThreeWayBits::new(b)?;
    let universe = three_words(1 << exponent);
    let (densities, pairs, common) = shares(&universe);
    let truth = universe.similarity(7);
    let rates = rates(densities, pairs, common, b);
    let limit = three_way::raw(rates, bits);
    let k = K as f64;
    let [p12, p13, p23] = rates.pairs.map(|p| p - rates.all);
    let one = p12 + p13 + p23;
    // (8) is a mean over registers of three values, so its variance is exact from their probabilities.
    let n = f64::from(1u32 << b);
    let values =
        [(1.0, rates.all), (-1.0 / (n - 1.0), one), (2.0 / ((n - 1.0) * (n - 2.0)), 1.0 - rates.all - one)];
    let variance: f64 = values.iter().map(|(v, p)| p * (v - limit) * (v - limit)).sum::<f64>() / k;
    let expected = variance + (limit - truth) * (limit - truth);
    let sum: f64 = [3, 5, 6].map(|m| universe.similarity(m)).iter().sum();
    let nine = three_way::variance(truth, sum, bits) / k;
    let delta = three_way_dense::variance(rates, bits, densities)? / k;
    let (bias, mse) = (simple.bias(), simple.mse());
    table.push(row![
        exponent,
        b,
        K,
        bias.value,
        limit - truth,
        mse.value,
        expected,
        nine,
        precise.bias().value,
        precise.mse().value,
        delta
    ])?;
    let what = format!("b = {b}, D = 2^{exponent}");
    checks.agrees_on(format_args!("{what}: bias of (8)"), bias, limit - truth, truth);
    checks.agrees(format_args!("{what}: mse of (8)"), mse, expected);
    checks.holds(
        format_args!("{what}: precise bias {}", precise.bias().value),
        precise.bias().value.abs() < 4e-3,
    );
    let (ratio, error) = (precise.mse().value / delta, precise.mse().error / delta);
    // Clamping to what is possible can only lower the error.
    checks.holds(
        format_args!("{what}: precise mse over the delta method: {ratio}"),
        ratio >= 0.85 - 4.0 * error && ratio <= 1.05 + 4.0 * error,
    );
    if exponent >= 20 {
        checks.close(format_args!("{what}: variance (9) is good"), expected / nine, 1.0, 0.12);
    }
    Ok([mse.value, precise.mse().value, nine, bias.value, limit - truth])
}

/// The exact probabilities of agreement.
fn rates(densities: [f64; 3], pairs: [f64; 3], common: f64, b: u32) -> Rates {
    let all = Theorem::new(densities, pairs, b).probability(common);
    let of = |i: usize, j: usize, s: f64| {
        let line = benzer_core::estimate::collision::Collision::dense(b, [densities[i], densities[j]])
            .expect("densities of sets");
        line.probability(s / (densities[i] + densities[j] - s))
    };
    Rates { all, pairs: [of(0, 1, pairs[0]), of(0, 2, pairs[1]), of(1, 2, pairs[2])] }
}

/// The paper's iteration `s <- P u - Z` from (8), at the exact probabilities.
fn iterate(b: u32, exponent: u32, table: &mut Table, checks: &mut Checks) -> Result<()> {
    let universe = three_words(1 << exponent);
    let (densities, pairs, common) = shares(&universe);
    let theorem = Theorem::new(densities, pairs, b);
    let p = theorem.probability(common);
    let start = three_way::raw(rates(densities, pairs, common, b), ThreeWayBits::new(b)?);
    let jaccard = |s: f64| s / theorem.union(s);
    let mut s = start * theorem.u0 / (1.0 - start);
    let (mut after_five, mut steps) = (f64::NAN, 0u32);
    let slope = theorem.iteration_slope(p);
    let distance = (s - common).abs();
    while (s - common).abs() > 1e-6 * theorem.union(common) && steps < 100_000 {
        s = p * theorem.union(s) - theorem.z(s);
        steps += 1;
        if steps == 5 {
            after_five = jaccard(s) - universe.similarity(7);
        }
    }
    let predicted = (1e-6 * theorem.union(common) / distance).ln() / slope.ln();
    table.push(row![exponent, b, slope, if after_five.is_nan() { 0.0 } else { after_five }, steps])?;
    checks.close(format_args!("steps, b = {b}, D = 2^{exponent}"), f64::from(steps), predicted.max(0.0), 1.0);
    let closed = theorem.jaccard(p);
    checks.close(
        format_args!("closed form, b = {b}, D = 2^{exponent}"),
        closed,
        universe.similarity(7),
        1e-9,
    );
    Ok(())
}

//! 000, Figs. 3 to 5: bias and mean square error of the simple and of the precise three-way estimator; the iteration beside the closed form.

use benzer_core::estimate::three_way::{self, Agreement, Rates, ThreeWayBits};
use benzer_core::estimate::three_way_dense::{self, Theorem};

use super::li2010_three_way_probability::{shares, three_words};
use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Mean, Outcome, Result, Series, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_three_way_mse",
    source: "000, Figs. 3-5, (8), (9)",
    title: "Three-way estimates: simple and precise",
    claim: "The simple estimator is biased on dense data and its bias vanishes as D grows; from D = 2^20 on its error is the variance (9). The precise estimator is unbiased also on dense data; a few iterations suffice.",
    criterion: "The mean of the simple estimate agrees with (8) at the probabilities of Theorem 1, and the mean square error with its exact value, to 4 standard errors of at most 2%. The precise estimate, which is clamped to what the pair intersections allow, has the bias and mean square error of an independent simulation that draws the five counts from Theorem 1, to 4 standard errors of both, of at most 2%. The iteration needs the steps that its slope predicts, to 1; the closed form at the exact probabilities gives R to 1e-9.",
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
            "bias_precise_simulated",
            "mse_precise",
            "mse_precise_simulated",
            "var_precise",
        ],
    )?;
    let mut iteration =
        context.table("iteration", &["log2_D", "b", "slope", "bias_after_5_steps", "steps_to_1e-6"])?;
    let mut chart =
        Chart::new("Mean square error, k = 500", Axis::linear("log2 D"), Axis::log("mean square error"));
    let mut biases =
        Chart::new("Bias of the simple estimator (8)", Axis::linear("log2 D"), Axis::linear("bias"));
    let mut series: [[Vec<(f64, f64)>; 7]; 3] = Default::default();
    let (mut after_five, mut steps) = (0.0f64, [u32::MAX, 0]);
    let exponents: &[u32] = if context.is_quick() { &[16, 20] } else { &[16, 18, 20, 22] };
    for &exponent in exponents {
        context.step(format_args!("D = 2^{exponent}"));
        let measured = measure(context, exponent)?;
        for ((b, errors), series) in BITS.into_iter().zip(measured).zip(&mut series) {
            let drawn = simulate(context, b, exponent)?;
            let point = compare(b, exponent, errors, drawn, (&mut table, &mut checks))?;
            series
                .iter_mut()
                .zip(point)
                .for_each(|(series, value)| series.push((f64::from(exponent), value)));
            let (left, n) = iterate(b, exponent, &mut iteration, &mut checks)?;
            after_five = if left.abs() > after_five.abs() { left } else { after_five };
            steps = [steps[0].min(n), steps[1].max(n)];
        }
    }
    let (claim, verdict) = verdict(&series, after_five, steps);
    for (colour, (b, [simple, precise, nine, bias, limit, ..])) in BITS.into_iter().zip(series).enumerate() {
        chart.push(Series::points(format!("simple, b = {b}"), simple).colour(colour));
        chart.push(Series::line(format!("precise, b = {b}"), precise).colour(colour));
        chart.push(Series::dashed(if b == 2 { "variance (9)" } else { "" }, nine).colour(colour));
        biases.push(Series::points(format!("b = {b}"), bias).colour(colour));
        biases.push(Series::line("", limit).colour(colour));
    }
    Ok(Outcome { tables: vec![table, iteration], charts: vec![biases, chart], checks, claim, verdict })
}

/// What the points by log2 D (mean square errors, (9), bias of (8) and its limit, bias of the precise estimate, its variance by the delta method) say.
fn verdict(series: &[[Vec<(f64, f64)>; 7]; 3], after_five: f64, steps: [u32; 2]) -> (Claim, String) {
    let at = |b: usize, of: usize, exponent: f64| {
        series[b][of].iter().find(|point| point.0 == exponent).map_or(f64::NAN, |point| point.1)
    };
    let every = |of: usize| series.iter().flat_map(move |series| series[of].iter().map(|point| point.1));
    let precise = every(5).map(f64::abs).fold(0.0, f64::max);
    let exponents: Vec<f64> = series[0][0].iter().map(|point| point.0).collect();
    let list = |of: &dyn Fn(f64) -> String| {
        exponents
            .iter()
            .map(|&exponent| format!("{} at 2^{exponent}", of(exponent)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let over = every(1).zip(every(6)).map(|(mse, delta)| mse / delta);
    let [low, high] = over.fold([f64::MAX, 0.0], |[l, h], x| [f64::min(l, x), f64::max(h, x)]);
    // Sparse, as ESTIMATORS 7.3 has it: the slope of the iteration is 1 - (1-q)(1-2q)(1-R).
    let slope = |jaccard: f64| 1.0 - 0.75 * 0.5 * (1.0 - jaccard);
    let falls = exponents.windows(2).all(|w| at(0, 4, w[1]).abs() < at(0, 4, w[0]).abs());
    let large = exponents.iter().filter(|&&exponent| exponent >= 20.0);
    let claim = Claim::of(&[
        falls,
        large.into_iter().all(|&exponent| at(0, 0, exponent) / at(0, 2, exponent) < 1.1),
        precise < 0.005,
        steps[1] <= 5,
    ]);
    let verdict = format!(
        "By D, the bias of (8) with two bits is {}; its mean square error over variance (9) is {}. \
         The precise estimator has a bias of at most {precise:.4} at any density, and {low:.2} to {high:.2} times the variance of the delta method. \
         No iteration is needed: the equation is affine. For these words, five steps of the paper's iteration leave up to {after_five:.4}, and 1e-6 takes {} to {} of them; \
         at R = 0.9 the slope of {:.2} (sparse, two bits) makes that {:.0}: a few do not suffice.",
        list(&|exponent| format!("{:.4}", at(0, 4, exponent))),
        list(&|exponent| format!("{:.2}", at(0, 0, exponent) / at(0, 2, exponent))),
        steps[0],
        steps[1],
        slope(0.9),
        1e-6f64.ln() / slope(0.9).ln()
    );
    (claim, verdict)
}

/// Errors of the precise estimate from counts that are drawn from the probabilities of Theorem 1, without any permutation.
fn simulate(context: &Context<'_>, b: u32, exponent: u32) -> Result<Errors> {
    let universe = three_words(1 << exponent);
    let (densities, pairs, common) = shares(&universe);
    let (truth, bits) = (universe.similarity(7), ThreeWayBits::new(b)?);
    let rates = rates(densities, pairs, common, b);
    let [p12, p13, p23] = rates.pairs.map(|p| p - rates.all);
    let mut random = Random::new(context.seed(u64::from(1000 + 10 * exponent + b)));
    let mut errors = Errors::default();
    for _ in 0..16_000 {
        let [all, x, y, z, none] =
            random.multinomial(K, [rates.all, p12, p13, p23, 1.0 - rates.all - p12 - p13 - p23]);
        let agreement = Agreement { all, only: [x, y, z], none };
        errors.push(three_way_dense::raw(agreement.rates()?, bits, densities)?.0 - truth);
    }
    Ok(errors)
}

/// Errors of the simple and of the precise estimate for each width, from the same permutations.
fn measure(context: &Context<'_>, exponent: u32) -> Result<[[Errors; 2]; 3]> {
    let runs = context.size(13_000, 13_000);
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

/// Measured against expected: mean square errors (simple, precise), variance (9), bias, its limit, bias of the precise estimate, its variance.
fn compare(
    b: u32,
    exponent: u32,
    [simple, precise]: [Errors; 2],
    drawn: Errors,
    (table, checks): (&mut Table, &mut Checks),
) -> Result<[f64; 7]> {
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
        drawn.bias().value,
        precise.mse().value,
        drawn.mse().value,
        delta
    ])?;
    let what = format!("b = {b}, D = 2^{exponent}");
    checks.agrees_on(format_args!("{what}: bias of (8)"), bias, limit - truth, truth);
    checks.agrees(format_args!("{what}: mse of (8)"), mse, expected);
    // The difference of two simulations has the errors of both.
    let both = |x: Mean, y: Mean| Mean { value: x.value, error: x.error.hypot(y.error) };
    checks.agrees_on(
        format_args!("{what}: precise bias"),
        both(precise.bias(), drawn.bias()),
        drawn.bias().value,
        drawn.rms(),
    );
    checks.agrees(format_args!("{what}: precise mse"), both(precise.mse(), drawn.mse()), drawn.mse().value);
    Ok([mse.value, precise.mse().value, nine, bias.value, limit - truth, precise.bias().value, delta])
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
fn iterate(b: u32, exponent: u32, table: &mut Table, checks: &mut Checks) -> Result<(f64, u32)> {
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
    let after_five = if after_five.is_nan() { 0.0 } else { after_five };
    table.push(row![exponent, b, slope, after_five, steps])?;
    checks.close(format_args!("steps, b = {b}, D = 2^{exponent}"), f64::from(steps), predicted.max(0.0), 1.0);
    let closed = theorem.jaccard(p);
    checks.close(
        format_args!("closed form, b = {b}, D = 2^{exponent}"),
        closed,
        universe.similarity(7),
        1e-9,
    );
    Ok((after_five, steps))
}

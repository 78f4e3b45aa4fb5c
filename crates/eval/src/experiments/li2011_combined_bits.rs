//! 004, Fig. 10: two one-bit samples combined by exclusive or, "b = 1/2".

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::xor;

use super::li2011_storage::WORD_PAIRS;
use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, exact, universe,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_combined_bits",
    source: "004, Fig. 10, (26)-(29)",
    title: "Two samples in one bit",
    claim: "Combining two bits by XOR halves the variance as R goes to 1 and is no gain below R = 0.5774; the estimator is biased at small k, where its variance formula departs from the measurement.",
    criterion: "Mean square error within 4 standard errors of the exact expectation (the sum over the binomial distribution, which has the departure at small k in it), standard error at most 2%; the ratio (29) is 2 at R = 1 and 1 at R = 0.57735 to 1e-4.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let runs = context.size(26_000, 26_000);
    let samples: &[usize] = if context.is_quick() { &[10, 50, 100] } else { &[10, 20, 50, 100, 200, 500] };
    let most = samples[samples.len() - 1];
    let mut checks = Checks::default();
    let sparse = Collision::sparse(1);
    let gain = |j: f64| sparse.variance(1.0).at(j) / xor::variance_half(j, sparse);
    checks.close("gain near R = 1", gain(1.0 - 1e-9), 2.0, 1e-4);
    checks.close("gain at R = 1 / sqrt 3", gain(1.0 / 3f64.sqrt()), 1.0, 1e-4);
    let mut table = context
        .table("", &["pair", "k", "runs", "bias", "mse", "mse_se", "expected", "formula_28", "mse_1_bit"])?;
    let (mut charts, mut shares, mut furthest, mut biased) =
        (Vec::new(), Vec::new(), (1.0, String::new()), 0.0f64);
    for (number, pair) in [WORD_PAIRS[0], WORD_PAIRS[3]].into_iter().enumerate() {
        context.step(pair.name);
        let universe = universe::pair(pair.densities, pair.jaccard, 1 << 16);
        let jaccard = universe.similarity(3);
        let line = Collision::dense(1, universe.densities())?;
        let mut errors = vec![Errors::default(); samples.len()];
        for run in 0..runs {
            let mut random = Random::new(benzer_core::hash::split(context.seed(number as u64), run as u64));
            let (mut equal, mut next) = (0, 0);
            for done in 1..=most {
                let [x1, y1] = universe.minima(&mut random);
                let [x2, y2] = universe.minima(&mut random);
                equal += usize::from((x1 ^ x2 ^ y1 ^ y2) & 1 == 0);
                if done == samples[next] {
                    errors[next].push(xor::raw_half(equal as f64 / done as f64, line) - jaccard);
                    next += 1;
                }
            }
        }
        let agree = xor::agreement(line.probability(jaccard), 2);
        let mut series = [Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for (&k, errors) in samples.iter().zip(&errors) {
            let n = k as f64;
            let expected =
                exact::mean(k, agree, |equal| (xor::raw_half(equal as f64 / n, line) - jaccard).powi(2));
            let formula = xor::variance_half(jaccard, line) / n;
            let one_bit = line.variance(1.0).at(jaccard) / n;
            let mse = errors.mse();
            table.push(row![
                pair.name,
                k,
                runs,
                errors.bias().value,
                mse.value,
                mse.error,
                expected,
                formula,
                one_bit
            ])?;
            checks.agrees(format_args!("{}, k = {k}", pair.name), mse, expected);
            if k == samples[0] {
                biased = biased.max(errors.bias().value.abs() / errors.bias().error);
            }
            if formula / expected < furthest.0 {
                furthest = (formula / expected, format!("{} and k = {k}", pair.name));
            }
            if k == most {
                let share = expected / one_bit;
                shares.push(format!("{share:.2} for {} (R = {jaccard:.3})", pair.name));
            }
            let values = [mse.value, expected, formula, one_bit, jaccard * (1.0 - jaccard) / n];
            series.iter_mut().zip(values).for_each(|(series, value)| series.push((n, value)));
        }
        let [measured, expected, formula, one_bit, full] = series;
        charts.push(
            Chart::new(
                format!("{}, R = {}", pair.name, pair.jaccard),
                Axis::log("stored bits k"),
                Axis::log("mean square error"),
            )
            .with(Series::points("b = 1/2, measured", measured))
            .with(Series::line("b = 1/2, exact", expected))
            .with(Series::dashed("b = 1/2, formula (28)", formula))
            .with(Series::line("b = 1", one_bit).colour(1))
            .with(Series::line("M (64 bits)", full).colour(2)),
        );
    }
    let verdict = format!(
        "On sets made with the densities and similarities of two word pairs: at k = {most} the combined bit has this share of the error of one bit: {}. At small k formula (28) departs from the measurement, most for {}: it gives {:.0}% of the exact error; \
         the sum over the binomial distribution agrees for every k, to {:.1} standard errors. At k = {} the bias is up to {biased:.0} standard errors from 0.",
        shares.join(", "),
        furthest.1,
        100.0 * furthest.0,
        checks.furthest(),
        samples[0]
    );
    // What is said of R = 1 and 0.5774 is in the checks.
    let claim = Claim::of(&[checks.all_hold(), biased > 4.0, furthest.0 < 0.9]);
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

//! 004, Fig. 3: the mean square error of the b-bit estimator for six word pairs, against its variance formula.
//!
//! The sets are made anew with the printed densities and resemblance, in a universe of 2^16; each run permutes it `k` times.

use benzer_core::estimate::collision::Collision;

use super::li2011_storage::WORD_PAIRS;
use crate::random::Random;
use crate::table::row;
use crate::universe;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_word_pairs",
    source: "004, Fig. 3, (9), (11)",
    title: "Errors of b-bit samples for six word pairs",
    claim: "The estimator is unbiased and its variance is that of (11): measured mean square errors and theory cannot be told apart.",
    criterion: "For six pairs, b = 1, 2, 3 and 64, and every k: mean square error within 4 standard errors of (11), standard error at most 2%; the bias is within 4 standard errors of 0.",
    run,
};

const UNIVERSE: u64 = 1 << 16;
const BITS: [u32; 4] = [1, 2, 3, 64];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let runs = context.size(13_000, 15_000);
    let samples: &[usize] = if context.is_quick() { &[10, 50] } else { &[10, 20, 50, 100, 200, 500] };
    let most = samples[samples.len() - 1];
    let mut checks = Checks::default();
    let mut table =
        context.table("", &["pair", "R", "b", "k", "runs", "bias", "bias_se", "mse", "mse_se", "theory"])?;
    let (mut charts, mut extremes) = (Vec::new(), [f64::MAX, 0.0]);
    for (number, pair) in WORD_PAIRS.iter().enumerate() {
        context.step(pair.name);
        let universe = universe::pair(pair.densities, pair.jaccard, UNIVERSE);
        let jaccard = universe.similarity(3);
        let lines = BITS.map(|b| Collision::dense(b, universe.densities()));
        let mut errors = vec![[Errors::default(); BITS.len()]; samples.len()];
        for run in 0..runs {
            let mut random = Random::new(benzer_core::hash::split(context.seed(number as u64), run as u64));
            let (mut equal, mut next) = ([0usize; BITS.len()], 0);
            for done in 1..=most {
                let [x, y] = universe.minima(&mut random);
                for (equal, b) in equal.iter_mut().zip(BITS) {
                    *equal += usize::from(u64::from(x ^ y) & (u64::MAX >> (64 - b)) == 0);
                }
                if done == samples[next] {
                    for (i, line) in lines.iter().enumerate() {
                        let line = line.as_ref().map_err(Clone::clone)?;
                        errors[next][i].push(line.jaccard(equal[i] as f64 / done as f64) - jaccard);
                    }
                    next += 1;
                }
            }
        }
        let mut chart = Chart::new(
            format!("{}, R = {}", pair.name, pair.jaccard),
            Axis::log("sample size k"),
            Axis::log("mean square error"),
        );
        for (i, &b) in BITS.iter().enumerate() {
            let line = Collision::dense(b, universe.densities())?;
            let (mut measured, mut theory) = (Vec::new(), Vec::new());
            for (&k, errors) in samples.iter().zip(&errors) {
                let (bias, mse) = (errors[i].bias(), errors[i].mse());
                let expected = line.variance(1.0).at(jaccard) / k as f64;
                table.push(row![
                    pair.name, jaccard, b, k, runs, bias.value, bias.error, mse.value, mse.error, expected
                ])?;
                let what = format!("{}, b = {b}, k = {k}", pair.name);
                checks.agrees(format_args!("{what}: mse"), mse, expected);
                checks.agrees_on(format_args!("{what}: bias"), bias, 0.0, expected.sqrt());
                let ratio = mse.value / expected;
                extremes = [f64::min(extremes[0], ratio), f64::max(extremes[1], ratio)];
                measured.push((k as f64, mse.value));
                theory.push((k as f64, expected));
            }
            let name = if b == 64 { "M (64 bits)".to_owned() } else { format!("b = {b}") };
            chart.push(Series::points(name, measured).colour(i));
            chart.push(Series::line("", theory).colour(i));
        }
        charts.push(chart);
    }
    let verdict = format!(
        "On sets made with the densities and similarities of the six pairs, b = 1, 2, 3, 64 and k = {samples:?}, the furthest of all biases and mean square errors is {:.1} standard errors from 0 and (11); \
         mean square errors are {:.3} to {:.3} times (11) (points: measured, lines: (11)).",
        checks.furthest(),
        extremes[0],
        extremes[1]
    );
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

//! 004, Fig. 3: the mean square error of the b-bit estimator for six word pairs, against its variance formula.
//!
//! The sets are made anew with the printed densities and resemblance, in a universe of 2^16; each run permutes it `k` times.

use benzer_core::estimate::collision::Collision;

use super::words::{WORD_PAIRS, WordPair, bits_name};
use crate::measure::registers::Sampling;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
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
    let samples = context.points(&[10, 50], &[10, 20, 50, 100, 200, 500]);
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    for (stream, pair) in (0..).zip(&WORD_PAIRS) {
        context.step(pair.name);
        measure(context, stream, pair, samples, &mut table, &mut checks)?;
    }
    let charts = WORD_PAIRS.iter().map(|pair| chart(pair, &table)).collect();
    let [low, high] = range(table.all().iter().map(|row| row["mse"] / row["theory"]));
    let verdict = format!(
        "On sets made with the densities and similarities of the six pairs, b = 1, 2, 3, 64 and k = {samples:?}, the furthest of all biases and mean square errors is {:.1} standard errors from 0 and (11); \
         mean square errors are {low:.3} to {high:.3} times (11) (points: measured, lines: (11)).",
        checks.furthest,
    );
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

fn measure(
    context: &Context<'_>,
    stream: u64,
    pair: &WordPair,
    samples: &[usize],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<()> {
    let universe = pair.universe(UNIVERSE);
    let jaccard = universe.similarity(3);
    let lines = BITS.iter().map(|&b| Collision::dense(b, universe.densities()));
    let lines = lines.collect::<benzer_core::Result<Vec<_>>>()?;
    let draw = |random: &mut Random| {
        let [x, y] = universe.minima(random);
        BITS.map(|b| u64::from(x ^ y) & (u64::MAX >> (64 - b)) == 0)
    };
    let sampling = Sampling { stream, runs: context.size(13_000, 15_000), samples };
    let errors = sampling.errors(context, draw, |i, share| lines[i].jaccard(share) - jaccard);
    for (i, (b, line)) in BITS.into_iter().zip(lines).enumerate() {
        for (&k, errors) in samples.iter().zip(&errors) {
            let (bias, mse) = (errors[i].bias(), errors[i].mse());
            let theory = line.variance(1.0).at(jaccard) / k as f64;
            table.push(row![
                "pair": pair.name, "R": jaccard, "b": b, "k": k, "runs": sampling.runs,
                "bias": bias.value, "bias_se": bias.error, "mse": mse.value, "mse_se": mse.error,
                "theory": theory,
            ])?;
            let what = format!("{}, b = {b}, k = {k}", pair.name);
            checks.agrees(format_args!("{what}: mse"), mse, theory);
            checks.agrees_on(format_args!("{what}: bias"), bias, 0.0, theory.sqrt());
        }
    }
    Ok(())
}

fn chart(pair: &WordPair, table: &Table) -> Chart {
    let title = format!("{}, R = {}", pair.name, pair.jaccard);
    let mut chart = Chart::new(title, Axis::log("sample size k"), Axis::log("mean square error"));
    let rows = table.all().only("pair", pair.name);
    for (colour, b) in BITS.into_iter().enumerate() {
        chart.compare(bits_name(b), colour, rows.only("b", b).curves("k", ["mse", "theory"]));
    }
    chart
}

//! 003, "Accuracy": Odd Sketches against b-bit samples at 512 bits, with both choices of k; and where XOR of m bits is better.
//!
//! The mean square error of an Odd Sketch is exact: registers that differ are binomial, and given their number the differing bits follow a Markov chain.

use benzer_core::estimate::{odd, two_way, xor};
use benzer_core::sketch::{Bits, Packing, SketchSpec, count};

use crate::data::plant;
use crate::measure::sketches::{self, INDEPENDENT};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_accuracy",
    source: "003, Accuracy",
    title: "Odd Sketches at 512 bits",
    claim: "On sparse synthetic sets and 512 bits, the Odd Sketch is more accurate than b-bit samples for high similarities, with k = n / (4 (1 - J)) and with k = n; from J = 0.75 on.",
    criterion: "Mean square errors of real sketches (odd with both k, one bit, XOR of m bits): within 4 standard errors of the exact expectation (Markov chain, (11), binomial sum), standard error at most 2%. A saturated Odd Sketch counts as the estimate 0. Where one beats the other is then read off the exact errors.",
    run,
};

const N: u32 = 512;
const KINDS: [&str; 4] = ["odd, k tuned", "odd, k = n", "one bit", "xor"];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let similarities = context.points(&[0.6, 0.85], &[0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98]);
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    for (stream, &target) in (0..).zip(similarities) {
        context.step(format_args!("J = {target}"));
        table.push(measure(context, stream, target, &mut checks)?)?;
    }
    let (claim, verdict) = verdict(&table.all())?;
    let charts = vec![chart(&table.all())];
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

fn measure(context: &Context<'_>, stream: u64, target: f64, checks: &mut Checks) -> Result<Row> {
    let elements = if target > 0.97 { 200 } else { 60 };
    let common = plant::common(elements, target);
    let jaccard = plant::jaccard(elements, common);
    let k_odd = odd::best_registers(N as usize, target)? as u32;
    let m = xor::best_samples(jaccard)?.max(2);
    let theory = [
        exact_odd(jaccard, k_odd as usize),
        exact_odd(jaccard, N as usize),
        two_way::variance(jaccard, 1, f64::from(N)),
        exact_xor(jaccard, m),
    ];
    let mut errors = [Errors::default(); 4];
    let mut saturated = 0.0;
    // Until all four errors are known to 2%.
    for run in 0..30_000 {
        let mut random = context.random(stream, run);
        let sets = plant::pair(elements, common, &mut random);
        let mut ones = |k: u32, packing: Packing| -> Result<f64> {
            let spec = SketchSpec { packing, seed: random.next(), ..SketchSpec::full(INDEPENDENT, k) };
            let [a, b] = sketches::of_pair(&spec, sets.each_ref())?;
            Ok(f64::from(count::mismatches(a.words(), b.words(), Bits::ALL[0])))
        };
        let n = f64::from(N);
        let tuned = ones(k_odd, Packing::Odd { bits: N })?;
        saturated += f64::from(u8::from(odd::elements(tuned, n).is_none()));
        let estimates = [
            estimate_odd(tuned, k_odd as usize),
            estimate_odd(ones(N, Packing::Odd { bits: N })?, N as usize),
            two_way::raw(1.0 - ones(N, Packing::bits(1)?)? / n, 1),
            xor::raw(1.0 - ones(N * m, Packing::Xor { samples: m })? / n, m),
        ];
        errors.iter_mut().zip(estimates).for_each(|(errors, estimate)| errors.push(estimate - jaccard));
        let is_known = |(errors, theory): (&Errors, f64)| is_precise(errors.mse(), theory);
        if run >= 1_000 && run % 100 == 0 && errors.iter().zip(theory).all(is_known) {
            break;
        }
    }
    let (runs, mse) = (errors[0].n(), errors.map(|errors| errors.mse()));
    for ((kind, mse), theory) in KINDS.into_iter().zip(mse).zip(theory) {
        checks.agrees(format_args!("J = {target}: {kind}"), mse, theory);
    }
    Ok(row![
        "J": jaccard, "runs": runs, "k_odd": k_odd, "mse_odd": mse[0].value, "mse_odd_se": mse[0].error,
        "exact_odd": theory[0], "formula_odd": odd::variance(jaccard, f64::from(N), f64::from(k_odd)),
        "saturated": saturated / runs, "mse_odd_k_n": mse[1].value, "exact_odd_k_n": theory[1],
        "mse_1_bit": mse[2].value, "formula_1_bit": theory[2], "m_xor": m, "mse_xor": mse[3].value,
        "exact_xor": theory[3], "xor_samples_over_odd": f64::from(N * m) / f64::from(k_odd),
    ])
}

fn chart(rows: &Rows<'_>) -> Chart {
    let (title, y) = ("Mean square error at 512 bits", Axis::log("mean square error"));
    let mut chart = Chart::new(title, Axis::linear("J"), y);
    chart.compare("odd, k = n / (4 (1-J))", 0, rows.curves("J", ["mse_odd", "exact_odd"]));
    chart.compare("odd, k = n", 1, rows.curves("J", ["mse_odd_k_n", "exact_odd_k_n"]));
    let [one_bit] = rows.curves("J", ["formula_1_bit"]);
    chart.push(Series::line("one bit, k = n (11)", one_bit).colour(2));
    chart.compare("xor of the best m", 3, rows.curves("J", ["mse_xor", "exact_xor"]));
    chart
}

fn verdict(rows: &Rows<'_>) -> Result<(Claim, String)> {
    let one_bit = |j: f64| two_way::variance(j, 1, f64::from(N));
    let tuned = crossing(|j| Ok(exact_odd(j, odd::best_registers(N as usize, j)?) - one_bit(j)))?;
    let equal = crossing(|j| Ok(exact_odd(j, N as usize) - one_bit(j)))?;
    let gain = |row: &Row| format!("{:.1} at {:.2}", row["formula_1_bit"] / row["exact_odd"], row["J"]);
    let gains: Vec<String> = rows.iter().filter(|row| row["J"] >= 0.75).map(gain).collect();
    let better = rows.iter().filter(|row| row["exact_xor"] < row["exact_odd"]).count();
    let [low, high] = range(rows.column("xor_samples_over_odd"));
    let is_better = |row: &Row| row["exact_odd"].max(row["exact_odd_k_n"]) < row["formula_1_bit"];
    let claim = Claim::of(&[
        rows.iter().filter(|row| row["J"] >= 0.8).all(is_better),
        tuned <= 0.75 && equal <= 0.75,
    ]);
    let verdict = format!(
        "With tuned k the Odd Sketch passes one-bit samples at J = {tuned:.3} and with k = n at {equal:.3}, where the slides say 0.75; \
         one bit has this many times its error with tuned k: {}. Not in the slides: XOR of the best number of one-bit samples has less error at equal storage for {better} of {} similarities tried, \
         with {low:.1} to {high:.1} times as many samples.",
        gains.join(", "),
        rows.iter().len(),
    );
    Ok((claim, verdict))
}

/// Where a difference that is positive for low similarities becomes negative, between 0.6 and 0.9.
fn crossing(difference: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let [mut low, mut high] = [0.6, 0.9];
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if difference(middle)? > 0.0 { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}

/// The exact mean square error of an Odd Sketch of `k` registers.
fn exact_odd(jaccard: f64, k: usize) -> f64 {
    let chances = exact::odd::distribution(N as usize, k, jaccard);
    chances.iter().enumerate().map(|(z, p)| p * (estimate_odd(z as f64, k) - jaccard).powi(2)).sum()
}

/// A saturated sketch says nothing; the worst answer stands for it.
fn estimate_odd(z: f64, k: usize) -> f64 {
    odd::elements(z, f64::from(N)).map(|m| odd::jaccard_of_elements(m, k as f64)).unwrap_or_default()
}

fn exact_xor(jaccard: f64, m: u32) -> f64 {
    let agree = xor::agreement(0.5 + 0.5 * jaccard, m);
    exact::mean(N as usize, agree, |equal| (xor::raw(equal as f64 / f64::from(N), m) - jaccard).powi(2))
}

//! 003, "Accuracy": Odd Sketches against b-bit samples at 512 bits, with both choices of k; and where XOR of m bits is better.
//!
//! The mean square error of an Odd Sketch is exact: registers that differ are binomial, and given their number the differing bits follow a Markov chain.

use benzer_core::estimate::{odd, two_way, xor};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, Sketch, SketchSpec, count};

use crate::check::is_precise;
use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, exact, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_accuracy",
    source: "003, Accuracy",
    title: "Odd Sketches at 512 bits",
    claim: "On sparse synthetic sets and 512 bits, the Odd Sketch is more accurate than b-bit samples for high similarities, with k = n / (4 (1 - J)) and with k = n; from J = 0.75 on.",
    criterion: "Mean square errors of real sketches (odd with both k, one bit, XOR of m bits): within 4 standard errors of the exact expectation (Markov chain, (11), binomial sum), standard error at most 2%. A saturated Odd Sketch counts as the estimate 0. Where one beats the other is then read off the exact errors.",
    run,
};

const N: u32 = 512;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let similarities: &[f64] =
        if context.is_quick() { &[0.6, 0.85] } else { &[0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98] };
    let mut checks = Checks::default();
    let columns = [
        "J",
        "runs",
        "k_odd",
        "mse_odd",
        "mse_odd_se",
        "exact_odd",
        "formula_odd",
        "saturated",
        "mse_odd_k_n",
        "exact_odd_k_n",
        "mse_1_bit",
        "formula_1_bit",
        "m_xor",
        "mse_xor",
        "exact_xor",
        "xor_samples_over_odd",
    ];
    let mut table = context.table("", &columns)?;
    let mut series: [Vec<(f64, f64)>; 7] = Default::default();
    let mut points = Vec::new();
    for (number, &target) in similarities.iter().enumerate() {
        context.step(format_args!("J = {target}"));
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
        let measured = measure(context, number as u64, [elements, common], [k_odd, m], theory)?;
        let mse = measured.errors.map(|errors| errors.mse());
        table.push(row![
            jaccard,
            measured.runs,
            k_odd,
            mse[0].value,
            mse[0].error,
            theory[0],
            odd::variance(jaccard, f64::from(N), f64::from(k_odd)),
            measured.saturated,
            mse[1].value,
            theory[1],
            mse[2].value,
            theory[2],
            m,
            mse[3].value,
            theory[3],
            f64::from(N * m) / f64::from(k_odd)
        ])?;
        let kinds = ["odd, k tuned", "odd, k = n", "one bit", "xor"];
        for ((kind, mse), theory) in kinds.into_iter().zip(mse).zip(theory) {
            checks.agrees(format_args!("J = {target}: {kind}"), mse, theory);
        }
        let values = [mse[0].value, theory[0], mse[1].value, theory[1], theory[2], mse[3].value, theory[3]];
        series.iter_mut().zip(values).for_each(|(s, v)| s.push((jaccard, v)));
        points.push((jaccard, theory, f64::from(N * m) / f64::from(k_odd)));
    }
    let [tuned, tuned_exact, equal_k, equal_exact, one_bit, combined, combined_exact] = series;
    let chart =
        Chart::new("Mean square error at 512 bits", Axis::linear("J"), Axis::log("mean square error"))
            .with(Series::points("odd, k = n / (4 (1-J))", tuned))
            .with(Series::line("", tuned_exact))
            .with(Series::points("odd, k = n", equal_k).colour(1))
            .with(Series::line("", equal_exact).colour(1))
            .with(Series::line("one bit, k = n (11)", one_bit).colour(2))
            .with(Series::points("xor of the best m", combined).colour(3))
            .with(Series::line("", combined_exact).colour(3));
    let (claim, verdict) = verdict(&points)?;
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, claim, verdict })
}

/// What the exact errors (odd tuned, odd k = n, one bit, xor) and the samples of xor over those of odd say of the claim.
fn verdict(points: &[(f64, [f64; 4], f64)]) -> Result<(Claim, String)> {
    let one_bit = |j: f64| two_way::variance(j, 1, f64::from(N));
    let tuned = crossing(|j| Ok(exact_odd(j, odd::best_registers(N as usize, j)?) - one_bit(j)))?;
    let equal = crossing(|j| Ok(exact_odd(j, N as usize) - one_bit(j)))?;
    let gains: Vec<String> = points
        .iter()
        .filter(|(j, ..)| *j >= 0.75)
        .map(|(j, mse, _)| format!("{:.1} at {j:.2}", mse[2] / mse[0]))
        .collect();
    let better = points.iter().filter(|(_, mse, _)| mse[3] < mse[0]).count();
    let samples = points.iter().map(|(.., ratio)| *ratio);
    let range = samples.fold([f64::MAX, 0.0], |[low, high], x| [f64::min(low, x), f64::max(high, x)]);
    let high = points.iter().filter(|(j, ..)| *j >= 0.8);
    let claim = Claim::of(&[
        high.into_iter().all(|(_, mse, _)| mse[0] < mse[2] && mse[1] < mse[2]),
        tuned <= 0.75 && equal <= 0.75,
    ]);
    let verdict = format!(
        "With tuned k the Odd Sketch passes one-bit samples at J = {tuned:.3} and with k = n at {equal:.3}, where the slides say 0.75; \
         one bit has this many times its error with tuned k: {}. Not in the slides: XOR of the best number of one-bit samples has less error at equal storage for {better} of {} similarities tried, \
         with {:.1} to {:.1} times as many samples.",
        gains.join(", "),
        points.len(),
        range[0],
        range[1]
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

struct Measured {
    /// Odd with tuned k, odd with k = n, one bit with k = n, xor.
    errors: [Errors; 4],
    saturated: f64,
    runs: usize,
}

/// Runs until all four errors are known to 2%.
fn measure(
    context: &Context<'_>,
    stream: u64,
    [elements, common]: [usize; 2],
    [k_odd, m]: [u32; 2],
    theory: [f64; 4],
) -> Result<Measured> {
    let jaccard = plant::jaccard(elements, common);
    let mut measured = Measured { errors: [Errors::default(); 4], saturated: 0.0, runs: 0 };
    let family = Family::Permutations(Scheme::Native);
    for run in 0..30_000 {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run));
        let sets = plant::pair([elements; 2], common, &mut random);
        let mut ones = |k: u32, packing: Packing| -> Result<f64> {
            let sketcher =
                SketchSpec { packing, seed: random.next(), ..SketchSpec::full(family, k) }.sketcher()?;
            let [a, b]: [Sketch; 2] = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
            Ok(f64::from(count::mismatches(a.words(), b.words(), Bits::ALL[0])))
        };
        let n = f64::from(N);
        let tuned = ones(k_odd, Packing::Odd { bits: N })?;
        measured.saturated += f64::from(u8::from(odd::elements(tuned, n).is_none()));
        let estimates = [
            estimate_odd(tuned, k_odd as usize),
            estimate_odd(ones(N, Packing::Odd { bits: N })?, N as usize),
            two_way::raw(1.0 - ones(N, Packing::bits(1)?)? / n, 1),
            xor::raw(1.0 - ones(N * m, Packing::Xor { samples: m })? / n, m),
        ];
        for (errors, estimate) in measured.errors.iter_mut().zip(estimates) {
            errors.push(estimate - jaccard);
        }
        measured.runs += 1;
        let is_known = |(errors, theory): (&Errors, f64)| is_precise(errors.mse(), theory);
        if run >= 1_000 && run % 100 == 0 && measured.errors.iter().zip(theory).all(is_known) {
            break;
        }
    }
    measured.saturated /= measured.runs as f64;
    Ok(measured)
}

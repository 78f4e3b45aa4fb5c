//! 003, "Accuracy": Odd Sketches against b-bit samples at 512 bits, with both choices of k; and where XOR of m bits is better.

use benzer_core::estimate::{odd, two_way, xor};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, Sketch, SketchSpec, count};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Errors, Experiment, Mean, Outcome, Result, Series, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_accuracy",
    source: "003, Accuracy",
    title: "Odd Sketches at 512 bits",
    claim: "On sparse synthetic sets and 512 bits, the Odd Sketch is more accurate than b-bit samples for high similarities, with k = n / (4 (1 - J)) and with k = n; from J = 0.75 on.",
    criterion: "The mean square error of real sketches agrees with an independent simulation of balls in bins to 4 standard errors of at most 2%; one-bit samples with (11), XOR with the exact binomial sum. Odd is better than one bit at J >= 0.8 and worse at J <= 0.7 with tuned k; XOR of m bits is better than odd at equal storage for every J.",
    run,
};

const N: u32 = 512;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let similarities: &[f64] =
        if context.is_quick() { &[0.6, 0.85] } else { &[0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98] };
    let mut checks = Checks::default();
    let columns = [
        "J",
        "k_odd",
        "mse_odd",
        "mse_odd_se",
        "mse_odd_simulated",
        "formula_odd",
        "saturated",
        "mse_odd_k_n",
        "mse_1_bit",
        "formula_1_bit",
        "m_xor",
        "mse_xor",
        "exact_xor",
    ];
    let mut table = context.table("", &columns)?;
    let mut series: [Vec<(f64, f64)>; 5] = Default::default();
    for (number, &target) in similarities.iter().enumerate() {
        context.step(format_args!("J = {target}"));
        let elements = if target > 0.97 { 200 } else { 60 };
        let common = plant::common(elements, target);
        let jaccard = plant::jaccard(elements, common);
        let k_odd = odd::best_registers(N as usize, target)? as u32;
        let m = xor::best_samples(jaccard)?.max(2);
        let measured = measure(context, number as u64, [elements, common], [k_odd, m])?;
        let simulated = simulate(context, number as u64, jaccard, k_odd);
        let formula = odd::variance(jaccard, f64::from(N), f64::from(k_odd));
        let one_bit = two_way::variance(jaccard, 1, f64::from(N));
        let agree = xor::agreement(0.5 + 0.5 * jaccard, m);
        let exact_xor = crate::exact::mean(N as usize, agree, |equal| {
            (xor::raw(equal as f64 / f64::from(N), m) - jaccard).powi(2)
        });
        let [tuned, equal_k, bit, combined] = measured.errors.map(|errors| errors.mse());
        table.push(row![
            jaccard,
            k_odd,
            tuned.value,
            tuned.error,
            simulated.value,
            formula,
            measured.saturated,
            equal_k.value,
            bit.value,
            one_bit,
            m,
            combined.value,
            exact_xor
        ])?;
        // The difference of two simulations has both of their errors.
        let both = Mean { value: tuned.value, error: tuned.error.hypot(simulated.error) };
        checks.agrees(format_args!("J = {target}: odd against balls in bins"), both, simulated.value);
        checks.agrees(format_args!("J = {target}: one bit"), bit, one_bit);
        checks.agrees(format_args!("J = {target}: xor of {m}"), combined, exact_xor);
        checks.holds(
            format_args!("J = {target}: odd against one bit"),
            if target >= 0.8 { tuned.value < one_bit } else { target > 0.7 || tuned.value > one_bit },
        );
        checks.holds(format_args!("J = {target}: xor against odd"), combined.value < tuned.value);
        series
            .iter_mut()
            .zip([tuned.value, formula, equal_k.value, one_bit, combined.value])
            .for_each(|(s, v)| s.push((jaccard, v)));
    }
    let [tuned, formula, equal_k, one_bit, combined] = series;
    let chart =
        Chart::new("Mean square error at 512 bits", Axis::linear("J"), Axis::log("mean square error"))
            .with(Series::points("odd, k = n / (4 (1-J))", tuned))
            .with(Series::line("formula", formula))
            .with(Series::points("odd, k = n", equal_k).colour(1))
            .with(Series::line("one bit, k = n (11)", one_bit).colour(2))
            .with(Series::points("xor of the best m", combined).colour(3));
    let verdict = "Confirmed: with tuned k the Odd Sketch passes one-bit samples at J = 0.76 and has 4.5 times less error at 0.95. Not in the slides: XOR of m one-bit samples has less error at the same storage for every J, but needs 3.2 times as many samples.";
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, verdict: verdict.to_owned() })
}

struct Measured {
    /// Odd with tuned k, odd with k = n, one bit with k = n, xor.
    errors: [Errors; 4],
    saturated: f64,
}

fn measure(
    context: &Context<'_>,
    stream: u64,
    [elements, common]: [usize; 2],
    [k_odd, m]: [u32; 2],
) -> Result<Measured> {
    let runs = 9_000;
    let jaccard = plant::jaccard(elements, common);
    let mut errors = [Errors::default(); 4];
    let mut n_saturated = 0;
    let family = Family::Permutations(Scheme::Native);
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let sets = plant::pair([elements; 2], common, &mut random);
        let mut sketches = |k: u32, packing: Packing| -> Result<[Sketch; 2]> {
            let sketcher =
                SketchSpec { packing, seed: random.next(), ..SketchSpec::full(family, k) }.sketcher()?;
            Ok([sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?])
        };
        let ones = |[a, b]: &[Sketch; 2]| f64::from(count::mismatches(a.words(), b.words(), Bits::ALL[0]));
        let n = f64::from(N);
        for (place, k) in [(0, k_odd), (1, N)] {
            let z = ones(&sketches(k, Packing::Odd { bits: N })?);
            // A saturated sketch says nothing; the worst answer stands for it.
            let estimate = odd::elements(z, n).map(|m| odd::jaccard_of_elements(m, f64::from(k)));
            n_saturated += u32::from(place == 0 && estimate.is_none());
            errors[place].push(estimate.unwrap_or_default() - jaccard);
        }
        let equal = n - ones(&sketches(N, Packing::bits(1)?)?);
        errors[2].push(two_way::raw(equal / n, 1) - jaccard);
        let equal = n - ones(&sketches(N * m, Packing::Xor { samples: m })?);
        errors[3].push(xor::raw(equal / n, m) - jaccard);
    }
    Ok(Measured { errors, saturated: f64::from(n_saturated) / runs as f64 })
}

/// Balls into bins, without a sketch: twice as many as registers that differ.
fn simulate(context: &Context<'_>, stream: u64, jaccard: f64, k: u32) -> Mean {
    let runs = context.size(60_000, 60_000);
    let mut errors = Errors::default();
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(500 + stream), run as u64));
        let mut bins = [false; N as usize];
        for _ in 0..k {
            if random.unit() >= jaccard {
                for _ in 0..2 {
                    let bin = random.below(u64::from(N)) as usize;
                    bins[bin] = !bins[bin];
                }
            }
        }
        let z = bins.iter().filter(|bin| **bin).count() as f64;
        let estimate = odd::elements(z, f64::from(N)).map(|m| odd::jaccard_of_elements(m, f64::from(k)));
        errors.push(estimate.unwrap_or_default() - jaccard);
    }
    errors.mse()
}

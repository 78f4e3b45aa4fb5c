//! 003, "Estimate a set's size", "Quality of estimation": the number of ones of an Odd Sketch, in mean, variance and concentration.

use benzer_core::Features;
use benzer_core::estimate::odd;
use benzer_core::sketch::{Family, Packing, SketchSpec};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Mean, Moments, Outcome, Result, Series, exact};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_ones",
    source: "003, size estimation, concentration and variance",
    title: "Ones of an Odd Sketch",
    claim: "The number of ones Z has the mean of a two-state Markov chain, close to that of a Poisson model; its variance is at most the n p (1-p) of the Poisson model; Pr(|Z/n - p| >= e) <= 2e sqrt(m) exp(-2 n e^2).",
    criterion: "Mean and variance of Z of real sketches of 512 bits: within 4 standard errors of the Markov chain, standard error at most 2%; the measured variance is below the Poisson one by more than 4 standard errors at m = n/2. The share of deviations of at least e is within 4 standard errors of the exact tail of the chain wherever that can be known to 2%; the exact tail is never above the bound.",
    run,
};

const N: u32 = 512;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let runs = context.size(14_000, 30_000);
    let mut checks = Checks::default();
    let mut table = context.table(
        "",
        &[
            "m",
            "n",
            "runs",
            "mean",
            "mean_markov",
            "mean_poisson",
            "variance",
            "variance_se",
            "variance_markov",
            "variance_poisson",
        ],
    )?;
    let mut bound = context.table("concentration", &["m", "epsilon", "measured", "exact", "bound"])?;
    let n = f64::from(N);
    let (mut looseness, mut overstated) = (Vec::new(), 0.0);
    let mut series = [Vec::new(), Vec::new(), Vec::new()];
    let mut tails = Chart::new(
        "Pr(|Z/n - p| >= epsilon)",
        Axis::linear("epsilon"),
        Axis::log("probability").from_to(1e-4, 40.0),
    );
    for (colour, m) in [16usize, 64, 128, 256, 512, 1024].into_iter().enumerate() {
        context.step(format_args!("m = {m}"));
        let mut ones = Vec::with_capacity(runs);
        for run in 0..runs {
            let mut random = Random::new(benzer_core::hash::split(context.seed(m as u64), run as u64));
            let spec = SketchSpec {
                packing: Packing::bits(1)?,
                seed: random.next(),
                ..SketchSpec::full(Family::Odd, N)
            };
            let sketch = spec.sketcher()?.sketch(&Features::set((0..m).map(|_| random.next())))?;
            ones.push(f64::from(sketch.words().iter().map(|word| word.count_ones()).sum::<u32>()));
        }
        let (size, mean) = (m as f64, n * odd::probability(m as f64, n));
        let (markov, poisson) = (odd::variance_of_ones(size, n), odd::variance_of_ones_poisson(size, n));
        let measured = ones.iter().copied().collect::<Moments>().mean();
        let spread = ones.iter().map(|z| (z - mean) * (z - mean)).collect::<Moments>().mean();
        table.push(row![
            m,
            N,
            runs,
            measured.value,
            mean,
            n * odd::probability_poisson(size, n),
            spread.value,
            spread.error,
            markov,
            poisson
        ])?;
        checks.agrees(format_args!("mean, m = {m}"), measured, mean);
        checks.agrees(format_args!("variance, m = {m}"), spread, markov);
        if m == 256 {
            overstated = poisson / markov - 1.0;
            checks.holds(
                format_args!("the Poisson variance {poisson} is too large"),
                spread.value + 4.0 * spread.error < poisson,
            );
        }
        series.iter_mut().zip([spread.value, markov, poisson]).for_each(|(s, v)| s.push((size, v)));
        let p = odd::probability_poisson(size, n);
        let chances = exact::odd::after(N as usize, m);
        let (mut empirical, mut bounds) = (Vec::new(), Vec::new());
        for step in 1..=12 {
            let epsilon = 0.01 * f64::from(step);
            let is_off = |z: f64| (z / n - p).abs() >= epsilon;
            let share = ones.iter().filter(|z| is_off(**z)).count() as f64 / runs as f64;
            let limit = 2.0 * std::f64::consts::E * size.sqrt() * (-2.0 * n * epsilon * epsilon).exp();
            let tail: f64 =
                chances.iter().enumerate().filter(|(z, _)| is_off(*z as f64)).map(|(_, p)| p).sum();
            bound.push(row![m, epsilon, share, tail, limit])?;
            checks.holds(format_args!("m = {m}, epsilon = {epsilon}: {tail} <= {limit}"), tail <= limit);
            let error = (tail * (1.0 - tail) / runs as f64).sqrt();
            if error <= 0.02 * tail {
                checks.agrees(
                    format_args!("m = {m}, deviations of {epsilon}"),
                    Mean { value: share, error },
                    tail,
                );
            }
            // A bound of 1 or more says nothing.
            if limit < 1.0 && tail > 0.0 {
                looseness.push(limit / tail);
            }
            empirical.push((epsilon, share));
            bounds.push((epsilon, limit));
        }
        if m >= 256 {
            tails.push(Series::points(format!("m = {m}, measured"), empirical).colour(colour));
            tails.push(Series::dashed("bound", bounds).colour(colour));
        }
    }
    let [measured, markov, poisson] = series;
    let chart = Chart::new("Variance of the ones, n = 512", Axis::log("elements m"), Axis::linear("Var Z"))
        .with(Series::points("measured", measured))
        .with(Series::line("Markov chain (exact)", markov))
        .with(Series::dashed("Poisson", poisson).colour(1));
    let tightest = looseness.iter().copied().fold(f64::MAX, f64::min);
    let verdict = format!(
        "With 512 bits: the Markov chain agrees in mean, variance and tails, to {:.1} standard errors. The Poisson variance is an upper bound that overstates by {:.0}% at m = n/2. \
         The concentration bound holds; it is below 1 in {} of {} cases, and there at least {tightest:.0} times the true probability.",
        checks.furthest(),
        100.0 * overstated,
        looseness.len(),
        bound.rows().len()
    );
    Ok(Outcome {
        tables: vec![table, bound],
        charts: vec![chart, tails],
        claim: Claim::of(&[checks.all_hold()]),
        checks,
        verdict,
    })
}

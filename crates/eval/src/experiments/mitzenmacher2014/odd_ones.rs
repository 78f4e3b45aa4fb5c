//! 003, "Estimate a set's size", "Quality of estimation": the number of ones of an Odd Sketch, in mean, variance and concentration.

use benzer_core::Features;
use benzer_core::estimate::odd;
use benzer_core::sketch::{Family, Packing, SketchSpec};

use crate::check::MAX_SHARE;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_ones",
    source: "003, size estimation, concentration and variance",
    title: "Ones of an Odd Sketch",
    claim: "The number of ones Z has the mean of a two-state Markov chain, close to that of a Poisson model; its variance is at most the n p (1-p) of the Poisson model; Pr(|Z/n - p| >= e) <= 2e sqrt(m) exp(-2 n e^2).",
    criterion: "Mean and variance of Z of real sketches of 512 bits: within 4 standard errors of the Markov chain, standard error at most 2%; the measured variance is below the Poisson one by more than 4 standard errors at m = n/2. The share of deviations of at least e is within 4 standard errors of the exact tail of the chain wherever that can be known to 2%; the exact tail is never above the bound.",
    run,
};

const N: u32 = 512;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (mut table, mut bound) = (context.table("")?, context.table("concentration")?);
    for m in [16, 64, 128, 256, 512, 1024] {
        context.step(format_args!("m = {m}"));
        let ones = measure(context, m)?;
        table.push(compare(m, &ones, &mut checks))?;
        tails(m, &ones, &mut bound, &mut checks)?;
    }
    let (rows, tails) = (table.all(), bound.all());
    // A bound of 1 or more says nothing.
    let below_one = tails.filter(|row| row["bound"] < 1.0 && row["exact"] > 0.0);
    let looseness = below_one.iter().map(|row| row["bound"] / row["exact"]);
    let half = rows.only("m", 256);
    let overstated =
        half.iter().map(|row| row["variance_poisson"] / row["variance_markov"] - 1.0).sum::<f64>();
    let verdict = format!(
        "With 512 bits: the Markov chain agrees in mean, variance and tails, to {:.1} standard errors. The Poisson variance is an upper bound that overstates by {:.0}% at m = n/2. \
         The concentration bound holds; it is below 1 in {} of {} cases, and there at least {:.0} times the true probability.",
        checks.furthest,
        100.0 * overstated,
        looseness.len(),
        tails.iter().len(),
        looseness.fold(f64::MAX, f64::min)
    );
    let (claim, charts) = (Claim::of(&[checks.all_hold()]), vec![variances(&rows), deviations(&tails)]);
    Ok(Outcome { tables: vec![table, bound], charts, claim, checks, verdict })
}

fn measure(context: &Context<'_>, m: usize) -> Result<Vec<f64>> {
    let ones = |run: usize| {
        let mut random = context.random(m as u64, run);
        let (packing, seed) = (Packing::bits(1)?, random.next());
        let sketcher = SketchSpec { packing, seed, ..SketchSpec::full(Family::Odd, N) }.sketcher()?;
        let sketch = sketcher.sketch(&Features::set((0..m).map(|_| random.next())))?;
        Ok(f64::from(sketch.words().iter().map(|word| word.count_ones()).sum::<u32>()))
    };
    (0..context.size(14_000, 30_000)).map(ones).collect()
}

fn compare(m: usize, ones: &[f64], checks: &mut Checks) -> Row {
    let (size, n) = (m as f64, f64::from(N));
    let mean = n * odd::probability(size, n);
    let (markov, poisson) = (odd::variance_of_ones(size, n), odd::variance_of_ones_poisson(size, n));
    let measured = ones.iter().copied().collect::<Moments>().mean();
    let spread = ones.iter().map(|z| (z - mean) * (z - mean)).collect::<Moments>().mean();
    checks.agrees(format_args!("mean, m = {m}"), measured, mean);
    checks.agrees(format_args!("variance, m = {m}"), spread, markov);
    if 2 * m == N as usize {
        let is_below = spread.value + 4.0 * spread.error < poisson;
        checks.holds(format_args!("the Poisson variance {poisson} is too large"), is_below);
    }
    row![
        "m": m, "n": N, "runs": ones.len(), "mean": measured.value, "mean_markov": mean,
        "mean_poisson": n * odd::probability_poisson(size, n), "variance": spread.value,
        "variance_se": spread.error, "variance_markov": markov, "variance_poisson": poisson,
    ]
}

/// How often the share of ones is at least epsilon from its mean.
fn tails(m: usize, ones: &[f64], table: &mut Table, checks: &mut Checks) -> Result<()> {
    let (size, n) = (m as f64, f64::from(N));
    let (p, chances) = (odd::probability_poisson(size, n), exact::odd::after(N as usize, m));
    for step in 1..=12 {
        let epsilon = 0.01 * f64::from(step);
        let is_off = |z: f64| (z / n - p).abs() >= epsilon;
        let share = ones.iter().filter(|z| is_off(**z)).count() as f64 / ones.len() as f64;
        let limit = 2.0 * std::f64::consts::E * size.sqrt() * (-2.0 * n * epsilon * epsilon).exp();
        let tail: f64 = chances.iter().enumerate().filter(|(z, _)| is_off(*z as f64)).map(|(_, p)| p).sum();
        table.push(row!["m": m, "epsilon": epsilon, "measured": share, "exact": tail, "bound": limit])?;
        checks.holds(format_args!("m = {m}, epsilon = {epsilon}: {tail} <= {limit}"), tail <= limit);
        let error = (tail * (1.0 - tail) / ones.len() as f64).sqrt();
        if error <= MAX_SHARE * tail {
            let share = Mean { value: share, error };
            checks.agrees(format_args!("m = {m}, deviations of {epsilon}"), share, tail);
        }
    }
    Ok(())
}

fn variances(rows: &Rows<'_>) -> Chart {
    let [measured, markov, poisson] = rows.curves("m", ["variance", "variance_markov", "variance_poisson"]);
    Chart::new("Variance of the ones, n = 512", Axis::log("elements m"), Axis::linear("Var Z"))
        .with(Series::points("measured", measured))
        .with(Series::line("Markov chain (exact)", markov))
        .with(Series::dashed("Poisson", poisson).colour(1))
}

fn deviations(rows: &Rows<'_>) -> Chart {
    let y = Axis::log("probability").between(1e-4, 40.0);
    let mut chart = Chart::new("Pr(|Z/n - p| >= epsilon)", Axis::linear("epsilon"), y);
    for (colour, m) in [(3, 256), (4, 512), (5, 1024)] {
        let [measured, bound] = rows.only("m", m).curves("epsilon", ["measured", "bound"]);
        chart.push(Series::points(format!("m = {m}, measured"), measured).colour(colour));
        chart.push(Series::dashed("bound", bound).colour(colour));
    }
    chart
}

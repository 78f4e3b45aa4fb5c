//! 003, "Estimate a set's size", "Quality of estimation": the number of ones of an Odd Sketch, in mean, variance and concentration.

use benzer_core::Features;
use benzer_core::estimate::odd;
use benzer_core::sketch::{Family, Packing, SketchSpec};

use crate::chart::Curves;
use crate::check::LARGEST_ERROR;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Mean, Moments, Outcome, Result, Series, exact};

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
    let mut points = Vec::new();
    for m in [16, 64, 128, 256, 512, 1024] {
        context.step(format_args!("m = {m}"));
        let point = measure(context, m)?;
        table.push(point.row())?;
        point.compare(&mut checks);
        for tail in &point.tails {
            bound.push(row![
                "m": m, "epsilon": tail.epsilon, "measured": tail.measured, "exact": tail.exact,
                "bound": tail.bound,
            ])?;
            tail.compare(m, point.runs, &mut checks);
        }
        points.push(point);
    }
    let overstated = points.iter().find(|point| point.is_half()).map_or(0.0, |p| p.poisson / p.markov - 1.0);
    let tails = || points.iter().flat_map(|point| &point.tails);
    // A bound of 1 or more says nothing.
    let looseness: Vec<f64> =
        tails().filter(|t| t.bound < 1.0 && t.exact > 0.0).map(|t| t.bound / t.exact).collect();
    let verdict = format!(
        "With 512 bits: the Markov chain agrees in mean, variance and tails, to {:.1} standard errors. The Poisson variance is an upper bound that overstates by {:.0}% at m = n/2. \
         The concentration bound holds; it is below 1 in {} of {} cases, and there at least {:.0} times the true probability.",
        checks.furthest(),
        100.0 * overstated,
        looseness.len(),
        tails().count(),
        looseness.iter().copied().fold(f64::MAX, f64::min)
    );
    let (claim, charts) = (Claim::of(&[checks.all_hold()]), vec![variances(&points), deviations(&points)]);
    Ok(Outcome { tables: vec![table, bound], charts, claim, checks, verdict })
}

/// The ones of sketches of `m` elements.
struct Point {
    m: usize,
    runs: usize,
    mean: Mean,
    variance: Mean,
    /// The variance by the Markov chain, and by the Poisson model.
    markov: f64,
    poisson: f64,
    tails: Vec<Tail>,
}

/// How often the share of ones is at least `epsilon` from its mean.
struct Tail {
    epsilon: f64,
    measured: f64,
    exact: f64,
    bound: f64,
}

fn measure(context: &Context<'_>, m: usize) -> Result<Point> {
    let runs = context.size(14_000, 30_000);
    let mut ones = Vec::with_capacity(runs);
    for run in 0..runs {
        let mut random = context.random(m as u64, run);
        let (packing, seed) = (Packing::bits(1)?, random.next());
        let sketcher = SketchSpec { packing, seed, ..SketchSpec::full(Family::Odd, N) }.sketcher()?;
        let sketch = sketcher.sketch(&Features::set((0..m).map(|_| random.next())))?;
        ones.push(f64::from(sketch.words().iter().map(|word| word.count_ones()).sum::<u32>()));
    }
    let (size, n) = (m as f64, f64::from(N));
    let mean = n * odd::probability(size, n);
    Ok(Point {
        m,
        runs,
        mean: ones.iter().copied().collect::<Moments>().mean(),
        variance: ones.iter().map(|z| (z - mean) * (z - mean)).collect::<Moments>().mean(),
        markov: odd::variance_of_ones(size, n),
        poisson: odd::variance_of_ones_poisson(size, n),
        tails: tails(m, &ones),
    })
}

fn tails(m: usize, ones: &[f64]) -> Vec<Tail> {
    let (size, n) = (m as f64, f64::from(N));
    let (p, chances) = (odd::probability_poisson(size, n), exact::odd::after(N as usize, m));
    let tail = |step: u32| {
        let epsilon = 0.01 * f64::from(step);
        let is_off = |z: f64| (z / n - p).abs() >= epsilon;
        Tail {
            epsilon,
            measured: ones.iter().filter(|z| is_off(**z)).count() as f64 / ones.len() as f64,
            exact: chances.iter().enumerate().filter(|(z, _)| is_off(*z as f64)).map(|(_, p)| p).sum(),
            bound: 2.0 * std::f64::consts::E * size.sqrt() * (-2.0 * n * epsilon * epsilon).exp(),
        }
    };
    (1..=12).map(tail).collect()
}

impl Point {
    /// With half as many elements as bits.
    fn is_half(&self) -> bool {
        2 * self.m == N as usize
    }

    fn row(&self) -> Row {
        let (size, n) = (self.m as f64, f64::from(N));
        row![
            "m": self.m, "n": N, "runs": self.runs, "mean": self.mean.value,
            "mean_markov": n * odd::probability(size, n), "mean_poisson": n * odd::probability_poisson(size, n),
            "variance": self.variance.value, "variance_se": self.variance.error,
            "variance_markov": self.markov, "variance_poisson": self.poisson,
        ]
    }

    fn compare(&self, checks: &mut Checks) {
        let (m, n) = (self.m, f64::from(N));
        checks.agrees(format_args!("mean, m = {m}"), self.mean, n * odd::probability(m as f64, n));
        checks.agrees(format_args!("variance, m = {m}"), self.variance, self.markov);
        if self.is_half() {
            let is_below = self.variance.value + 4.0 * self.variance.error < self.poisson;
            checks.holds(format_args!("the Poisson variance {} is too large", self.poisson), is_below);
        }
    }
}

impl Tail {
    fn compare(&self, m: usize, runs: usize, checks: &mut Checks) {
        let Self { epsilon, measured, exact, bound } = *self;
        checks.holds(format_args!("m = {m}, epsilon = {epsilon}: {exact} <= {bound}"), exact <= bound);
        let error = (exact * (1.0 - exact) / runs as f64).sqrt();
        if error <= LARGEST_ERROR * exact {
            let measured = Mean { value: measured, error };
            checks.agrees(format_args!("m = {m}, deviations of {epsilon}"), measured, exact);
        }
    }
}

fn variances(points: &[Point]) -> Chart {
    let mut curves = Curves::default();
    points.iter().for_each(|p| curves.push(p.m as f64, [p.variance.value, p.markov, p.poisson]));
    let [measured, markov, poisson] = curves.0;
    Chart::new("Variance of the ones, n = 512", Axis::log("elements m"), Axis::linear("Var Z"))
        .with(Series::points("measured", measured))
        .with(Series::line("Markov chain (exact)", markov))
        .with(Series::dashed("Poisson", poisson).colour(1))
}

fn deviations(points: &[Point]) -> Chart {
    let y = Axis::log("probability").from_to(1e-4, 40.0);
    let mut chart = Chart::new("Pr(|Z/n - p| >= epsilon)", Axis::linear("epsilon"), y);
    for (colour, point) in points.iter().enumerate().filter(|(_, point)| point.m >= 256) {
        let mut curves = Curves::default();
        point.tails.iter().for_each(|tail| curves.push(tail.epsilon, [tail.measured, tail.bound]));
        let [measured, bound] = curves.0;
        chart.push(Series::points(format!("m = {}, measured", point.m), measured).colour(colour));
        chart.push(Series::dashed("bound", bound).colour(colour));
    }
    chart
}

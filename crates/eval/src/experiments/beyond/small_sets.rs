//! Beyond the papers: one-pass families on small sets. Registers that depend on each other change the variance; by how much?

use benzer_core::estimate::{Registers, Scheme as Filling};
use benzer_core::sketch::{Family, SketchSpec};

use crate::chart::Curves;
use crate::data::plant;
use crate::measure::sketches::{self, FAST, INDEPENDENT};
use crate::moments::range;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Mean, Outcome, Result};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_small_sets",
    source: "beyond the papers; one-pass sketches",
    title: "One-pass families on small sets",
    claim: "One pass over the elements fills all registers: with half the variance of k permutations for small sets (fast similarity sketching), or up to half more (one permutation, densified).",
    criterion: "For sets of 10 to 1,000 elements and three similarities, k = 128: the variance divided by J(1-J)/k is within 4 standard errors of the factor that estimates are given, standard error at most 2%; no bias.",
    run,
};

const K: u32 = 128;

const FAMILIES: [Family; 3] = [INDEPENDENT, FAST, Family::OnePermutation];
/// Elements of each set.
const SIZES: [usize; 4] = [10, 50, 100, 1000];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let mut points = Vec::new();
    for (number, family) in FAMILIES.into_iter().enumerate() {
        for n in SIZES {
            for target in [0.2, 0.5, 0.9] {
                context.step(format_args!("{family}, n = {n}, J = {target}"));
                let stream = (number * 10_000 + n) as u64 * 10 + (target * 10.0) as u64;
                let point = measure(context, stream, family, n, target)?;
                table.push(point.row())?;
                point.compare(&mut checks);
                points.push(point);
            }
        }
    }
    let range = |family: Family, n: usize| {
        let of = points.iter().filter(|p| p.family == family && p.n == n);
        let [low, high] = range(of.map(|p| p.ratio().value));
        format!("{low:.2} to {high:.2} for {n}")
    };
    let list = |family: Family| SIZES.map(|n| range(family, n)).join(", ");
    let verdict = format!(
        "Variance over that of {K} permutations, on planted sets, by elements of each set: `fast` {}; one permutation {}. The factors that error bars use agree, to {:.1} standard errors.",
        list(FAST),
        list(Family::OnePermutation),
        checks.furthest()
    );
    let is_below = |family: Family, most: f64| {
        points.iter().filter(|p| p.family == family && p.n <= 100).all(|p| p.ratio().value < most)
    };
    let claim = Claim::of(&[is_below(FAST, 0.6), is_below(Family::OnePermutation, 1.5)]);
    Ok(Outcome { tables: vec![table], charts: vec![chart(&points)], checks, claim, verdict })
}

/// Errors of one family for two sets of `n` elements.
struct Point {
    family: Family,
    n: usize,
    target: f64,
    jaccard: f64,
    errors: Errors,
    /// Of the variance, as estimates are given it.
    factor: f64,
}

fn measure(context: &Context<'_>, stream: u64, family: Family, n: usize, target: f64) -> Result<Point> {
    let common = plant::common(n, target);
    let jaccard = plant::jaccard(n, common);
    let mut errors = Errors::default();
    for run in 0..context.size(8_000, 10_000) {
        let mut random = context.random(stream, run);
        let sets = plant::pair(n, common, &mut random);
        let spec = SketchSpec { seed: random.next(), ..SketchSpec::full(family, K) };
        let [a, b] = sketches::of_pair(&spec, sets.each_ref())?;
        let equal = a.words().iter().zip(b.words()).take(K as usize).filter(|(x, y)| x == y).count();
        errors.push(equal as f64 / f64::from(K) - jaccard);
    }
    let registers = Registers { k: K as usize, scheme: Filling::from(family) };
    let factor = registers.factor(Some((2 * n - common) as f64));
    Ok(Point { family, n, target, jaccard, errors, factor })
}

impl Point {
    /// The variance over that of independent registers.
    fn ratio(&self) -> Mean {
        let unit = self.jaccard * (1.0 - self.jaccard) / f64::from(K);
        let Mean { value, error } = self.errors.mse();
        Mean { value: value / unit, error: error / unit }
    }

    fn row(&self) -> Row {
        let (bias, ratio) = (self.errors.bias(), self.ratio());
        row![
            "family": self.family.to_string(), "n": self.n, "J": self.jaccard, "k": K,
            "runs": self.errors.n(), "bias": bias.value, "variance_ratio": ratio.value, "se": ratio.error,
            "factor": self.factor,
        ]
    }

    fn compare(&self, checks: &mut Checks) {
        let what = format!("{}, n = {}, J = {}", self.family, self.n, self.target);
        checks.agrees(&what, self.ratio(), self.factor);
        checks.agrees_on(format_args!("{what}: bias"), self.errors.bias(), 0.0, self.errors.rms());
    }
}

fn chart(points: &[Point]) -> Chart {
    let (x, y) = (Axis::log("elements of each set"), Axis::linear("ratio"));
    let mut chart = Chart::new("Variance over J (1-J) / k, J near 0.5", x, y);
    for (colour, family) in FAMILIES.into_iter().enumerate() {
        let mut curves = Curves::default();
        for p in points.iter().filter(|p| p.family == family && p.target == 0.5) {
            curves.push(p.n as f64, [p.ratio().value, p.factor]);
        }
        chart.compare(family.to_string(), colour, curves);
    }
    chart
}

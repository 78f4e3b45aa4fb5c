//! 004, section 7.3: maximum likelihood with known set sizes, and containment.
//!
//! Each register has one of three outcomes (equal, less, greater), so the exact mean square error is a sum over the trinomial distribution.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::mle::{self, Order};
use benzer_core::estimate::size;

use crate::data::universe;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_known_sizes",
    source: "004, section 7.3",
    title: "Known set sizes and containment",
    claim: "With known sizes, the maximum likelihood estimate (said to be the root of a cubic) is systematically better, most of all for pairs of low resemblance and high containment.",
    criterion: "Mean square errors of similarity and of containment: within 4 standard errors of the exact trinomial expectation, standard error at most 2%. The asymptotic gain at f2/f1 = 0.1, containment 0.9 is 7.687 to 1e-3. Dense 2-bit samples of true permutations at r = (0.6, 0.035): estimator (9) has the variance (11), and maximum likelihood the mean square error of an independent simulation that draws the 16 cells from their probabilities; 4 standard errors, at most 2%.",
    run,
};

const K: usize = 200;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (mut table, mut dense) = (context.table("")?, context.table("dense")?);
    checks.close("gain at 0.1, 0.9", gain(0.1, 0.9), 7.687, 1e-3);
    checks.close("no gain for equal sizes", gain(1.0, 0.7), 1.0, 1e-9);
    let (x, y) = (Axis::linear("containment a / f2"), Axis::log("variance ratio"));
    let mut chart = Chart::new("Gain of maximum likelihood, k = 200", x, y);
    for (colour, ratio) in [0.05, 0.2, 0.5, 0.8].into_iter().enumerate() {
        context.step(format_args!("f2 / f1 = {ratio}"));
        for containment in [0.1, 0.5, 0.8, 0.95] {
            let stream = (colour * 10) as u64 + (containment * 10.0) as u64;
            measure(context, stream, &Case::new(ratio, containment), &mut table, &mut checks)?;
        }
        let [gains] = table.all().only("f2_over_f1", ratio).curves("containment", ["gain"]);
        let theory = hundredths(1..=98, |containment| gain(ratio, containment));
        chart.compare(format!("f2 = {ratio} f1"), colour, [gains, theory]);
    }
    let dense_gain = dense_gain(context, &mut dense, &mut checks)?;
    let (claim, verdict) = verdict(&table.all(), dense_gain)?;
    Ok(Outcome { tables: vec![table, dense], charts: vec![chart], checks, claim, verdict })
}

fn verdict(rows: &Rows<'_>, dense_gain: f64) -> Result<(Claim, String)> {
    let by_gain = |x: &&Row, y: &&Row| x["gain"].total_cmp(&y["gain"]);
    let best = rows.iter().max_by(by_gain).expect("some rows");
    let worst = rows.iter().min_by(by_gain).expect("some rows");
    let of_containment = |row: &Row| Case::new(row["f2_over_f1"], row["containment"]).gained_containment();
    let better = rows.column("gain").filter(|gain| *gain > 1.0).count();
    let sparse = mle::Dense::new(2, [1e-9, 1e-10])?;
    let nothing = Collision::dense(2, [1e-9, 1e-10])?.variance(1.0).at(0.05) * sparse.information(0.05);
    let verdict = format!(
        "With k = {K} maximum likelihood is better in {better} of {} cases: the mean square error of similarity is {:.2} (f2/f1 = {}, containment {}) to {:.2} times less (f2/f1 = {}, containment {}), that of containment {:.2} and {:.2} times less there; for large k and f2/f1 = 0.1, containment 0.9 it is {:.2} times. \
         The equation is a quadratic with a closed form, not a cubic. The 2^b x 2^b table of dense two-bit samples gains {dense_gain:.2} times; at r = 1e-9, as with 64-bit hashes, it gains {nothing:.4} times: nothing.",
        rows.iter().len(),
        worst["gain"],
        worst["f2_over_f1"],
        worst["containment"],
        best["gain"],
        best["f2_over_f1"],
        best["containment"],
        of_containment(worst),
        of_containment(best),
        gain(0.1, 0.9)
    );
    let is_expected = best["f2_over_f1"] == 0.05 && best["containment"] == 0.95;
    // A quadratic has no cubic to be the root of.
    Ok((Claim::of(&[better == rows.iter().len(), is_expected, false]), verdict))
}

/// The gain for many registers, by the smaller size over the larger one and the containment.
fn gain(ratio: f64, containment: f64) -> f64 {
    let sizes = [1.0, ratio];
    mle::gain(size::jaccard_of_intersection(containment * ratio, sizes), sizes)
}

struct Case {
    ratio: f64,
    containment: f64,
    sizes: [f64; 2],
    common: f64,
    jaccard: f64,
}

impl Case {
    fn new(ratio: f64, containment: f64) -> Self {
        let sizes = [4000.0, (4000.0 * ratio).round()];
        let common = (containment * sizes[1]).round();
        let jaccard = size::jaccard_of_intersection(common, sizes);
        Self { ratio, containment, sizes, common, jaccard }
    }

    /// The probabilities that a register is equal, and that it is less.
    fn chances(&self) -> [f64; 2] {
        let [f1, f2] = self.sizes;
        [self.jaccard, (f1 - self.common) / (f1 + f2 - self.common)]
    }

    /// How far maximum likelihood is off, in similarity and in containment.
    fn off(&self, equal: usize, less: usize) -> [f64; 2] {
        let estimate = mle::raw(Order { equal, less, greater: K - equal - less }, self.sizes);
        [estimate - self.jaccard, self.containment_off(estimate)]
    }

    fn containment_off(&self, estimate: f64) -> f64 {
        size::containment_at(estimate, self.sizes)[1] - self.common / self.sizes[1]
    }

    fn exact(&self) -> [f64; 2] {
        trinomial(self.chances(), |equal, less| self.off(equal, less).map(|e| e * e))
    }

    /// How many times less the error of containment is than that by the share of equal registers.
    fn gained_containment(&self) -> f64 {
        let plain =
            exact::mean(K, self.jaccard, |equal| self.containment_off(equal as f64 / K as f64).powi(2));
        plain / self.exact()[1]
    }
}

fn measure(
    context: &Context<'_>,
    stream: u64,
    case: &Case,
    table: &mut Table,
    checks: &mut Checks,
) -> Result<()> {
    let Case { ratio, containment, jaccard, .. } = *case;
    let runs = context.size(18_000, 20_000);
    let (mut plain, mut likely, mut contained) = (Errors::default(), Errors::default(), Errors::default());
    let chances = case.chances();
    for run in 0..runs {
        let mut random = context.random(stream, run);
        let (mut equal, mut less) = (0, 0);
        for _ in 0..K {
            let u = random.unit();
            equal += usize::from(u < chances[0]);
            less += usize::from(u >= chances[0] && u < chances[0] + chances[1]);
        }
        let [error, of_containment] = case.off(equal, less);
        plain.push(equal as f64 / K as f64 - jaccard);
        likely.push(error);
        contained.push(of_containment);
    }
    let [exact, exact_containment] = case.exact();
    let variance = jaccard * (1.0 - jaccard) / K as f64;
    let [plain, likely, contained] = [plain, likely, contained].map(|errors| errors.mse());
    let what = format!("f2/f1 = {ratio}, containment {containment}");
    checks.agrees(format_args!("{what}: similarity"), likely, exact);
    checks.agrees(format_args!("{what}: containment"), contained, exact_containment);
    checks.agrees(format_args!("{what}: equal share"), plain, variance);
    table.push(row![
        "f2_over_f1": ratio, "containment": containment, "R": jaccard, "k": K, "runs": runs,
        "mse_equal_share": plain.value, "mse_mle": likely.value, "mse_mle_se": likely.error,
        "mse_mle_exact": exact, "gain": variance / exact, "gain_asymptotic": gain(ratio, containment),
        "containment_mse": contained.value, "containment_exact": exact_containment,
    ])
}

/// The mean of a function of two of three counts.
fn trinomial([p, q]: [f64; 2], f: impl Fn(usize, usize) -> [f64; 2]) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for (equal, weight) in exact::binomial(K, p).into_iter().enumerate().filter(|(_, w)| *w > 1e-16) {
        let others = exact::binomial(K - equal, q / (1.0 - p));
        for (less, also) in others.into_iter().enumerate().filter(|(_, w)| *w > 1e-16) {
            let values = f(equal, less);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * also * value);
        }
    }
    sum
}

/// Dense two-bit samples: the table of value pairs against its diagonal.
fn dense_gain(context: &Context<'_>, table: &mut Table, checks: &mut Checks) -> Result<f64> {
    let (runs, k, b) = (context.size(9_000, 14_000), 500, 2);
    let universe = universe::pair([0.6, 0.035], 0.5 * 0.035 / (0.635 - 0.0175), 1 << 14);
    let densities = universe.densities();
    let jaccard = universe.similarity(3);
    let (line, model) = (Collision::dense(b, densities)?, mle::Dense::new(b, densities)?);
    let mut errors = [Errors::default(); 3];
    let cells = model.cells(jaccard);
    let chances: [f64; 16] = std::array::from_fn(|cell| cells[cell]);
    for run in 0..runs {
        let mut random = context.random(900, run);
        let pairs: Vec<(u32, u32)> =
            (0..k).map(|_| universe.minima(&mut random)).map(|[x, y]| (x & 3, y & 3)).collect();
        let equal = pairs.iter().filter(|(x, y)| x == y).count();
        let of_cells = (0u32..).zip(random.multinomial(k, chances));
        let drawn: Vec<(u32, u32)> =
            of_cells.flat_map(|(cell, n)| std::iter::repeat_n((cell >> 2, cell & 3), n)).collect();
        let estimates = [line.jaccard(equal as f64 / k as f64), model.raw(&pairs)?, model.raw(&drawn)?];
        errors.iter_mut().zip(estimates).for_each(|(errors, estimate)| errors.push(estimate - jaccard));
    }
    let [diagonal, whole, drawn] = errors.map(|errors| errors.mse());
    let (gained, variance) = (diagonal.value / whole.value, line.variance(1.0).at(jaccard));
    table.push(row![
        "b": b, "r1": densities[0], "r2": densities[1], "R": jaccard, "k": k, "runs": runs,
        "mse_9": diagonal.value, "mse_mle": whole.value, "mse_mle_simulated": drawn.value,
        "gain": gained, "gain_asymptotic": variance * model.information(jaccard),
    ])?;
    checks.agrees("dense two-bit samples: (9)", diagonal, variance / k as f64);
    let both = whole.with_error_of(drawn);
    checks.agrees("dense two-bit samples: maximum likelihood", both, drawn.value);
    Ok(gained)
}

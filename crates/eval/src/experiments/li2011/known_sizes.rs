//! 004, section 7.3: maximum likelihood with known set sizes, and containment.
//!
//! Each register has one of three outcomes (equal, less, greater), so the exact mean square error is a sum over the trinomial distribution.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::mle::{self, Order};
use benzer_core::estimate::size;

use crate::chart::{Curves, hundredths};
use crate::data::universe;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Curve, Errors, Experiment, Outcome, Result, Table};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "li2011_known_sizes",
    source: "004, section 7.3",
    title: "Known set sizes and containment",
    claim: "With known sizes, the maximum likelihood estimate (said to be the root of a cubic) is systematically better, most of all for pairs of low resemblance and high containment.",
    criterion: "Mean square errors of similarity and of containment: within 4 standard errors of the exact trinomial expectation, standard error at most 2%. The asymptotic gain at f2/f1 = 0.1, containment 0.9 is 7.687 to 1e-3. Dense 2-bit samples of true permutations at r = (0.6, 0.035): estimator (9) has the variance (11), and maximum likelihood the mean square error of an independent simulation that draws the 16 cells from their probabilities; 4 standard errors, at most 2%.",
    run,
};

const K: usize = 200;

/// A pair of sizes and containment.
#[derive(Clone, Copy)]
struct Case {
    /// The smaller size over the larger one.
    ratio: f64,
    containment: f64,
}

/// Mean square errors of one case.
struct Point {
    case: Case,
    jaccard: f64,
    /// Of the share of equal registers, of maximum likelihood, and of the containment from that.
    errors: [Errors; 3],
    /// What is expected of them.
    exact: [f64; 3],
    /// What is expected of the containment from the share of equal registers.
    plain_containment: f64,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (mut table, mut dense) = (context.table("")?, context.table("dense")?);
    let known = Case { ratio: 0.1, containment: 0.9 };
    checks.close("gain at 0.1, 0.9", known.gain(), 7.687, 1e-3);
    checks.close("no gain for equal sizes", Case { ratio: 1.0, containment: 0.7 }.gain(), 1.0, 1e-9);
    let mut points = Vec::new();
    let title = "Gain of maximum likelihood, k = 200";
    let mut chart = Chart::new(title, Axis::linear("containment a / f2"), Axis::log("variance ratio"));
    for (colour, ratio) in [0.05, 0.2, 0.5, 0.8].into_iter().enumerate() {
        context.step(format_args!("f2 / f1 = {ratio}"));
        let mut curve = Curve::new();
        for containment in [0.1, 0.5, 0.8, 0.95] {
            let stream = (colour * 10) as u64 + (containment * 10.0) as u64;
            let point = measure(context, Case { ratio, containment }, stream);
            point.compare(&mut checks);
            table.push(point.row())?;
            curve.push((containment, point.gained()));
            points.push(point);
        }
        let theory = hundredths(1..=98, |containment| Case { ratio, containment }.gain());
        chart.compare(format!("f2 = {ratio} f1"), colour, Curves([curve, theory]));
    }
    let dense_gain = dense_gain(context, &mut dense, &mut checks)?;
    let (claim, verdict) = verdict(&points, dense_gain, known.gain())?;
    Ok(Outcome { tables: vec![table, dense], charts: vec![chart], checks, claim, verdict })
}

fn verdict(points: &[Point], dense_gain: f64, known_gain: f64) -> Result<(Claim, String)> {
    let by_gain = |x: &&Point, y: &&Point| x.gained().total_cmp(&y.gained());
    let best = points.iter().max_by(by_gain).expect("some points");
    let worst = points.iter().min_by(by_gain).expect("some points");
    let better = points.iter().filter(|point| point.gained() > 1.0).count();
    let sparse = mle::Dense::new(2, [1e-9, 1e-10])?;
    let nothing = Collision::dense(2, [1e-9, 1e-10])?.variance(1.0).at(0.05) * sparse.information(0.05);
    let verdict = format!(
        "With k = {K} maximum likelihood is better in {better} of {} cases: the mean square error of similarity is {:.2} (f2/f1 = {}, containment {}) to {:.2} times less (f2/f1 = {}, containment {}), that of containment {:.2} and {:.2} times less there; for large k and f2/f1 = 0.1, containment 0.9 it is {known_gain:.2} times. \
         The equation is a quadratic with a closed form, not a cubic. The 2^b x 2^b table of dense two-bit samples gains {dense_gain:.2} times; at r = 1e-9, as with 64-bit hashes, it gains {nothing:.4} times: nothing.",
        points.len(),
        worst.gained(),
        worst.case.ratio,
        worst.case.containment,
        best.gained(),
        best.case.ratio,
        best.case.containment,
        worst.gained_containment(),
        best.gained_containment(),
    );
    // A quadratic has no cubic to be the root of.
    let is_expected = (best.case.ratio, best.case.containment) == (0.05, 0.95);
    Ok((Claim::of(&[better == points.len(), is_expected, false]), verdict))
}

impl Case {
    /// The gain for many registers.
    fn gain(self) -> f64 {
        let sizes = [1.0, self.ratio];
        mle::gain(size::jaccard_of_intersection(self.containment * self.ratio, sizes), sizes)
    }
}

fn measure(context: &Context<'_>, case: Case, stream: u64) -> Point {
    let sizes = [4000.0, (4000.0 * case.ratio).round()];
    let common = (case.containment * sizes[1]).round();
    let jaccard = size::jaccard_of_intersection(common, sizes);
    let chances = [jaccard, (sizes[0] - common) / (sizes[0] + sizes[1] - common)];
    let truth = common / sizes[1];
    let off = |equal: usize, less: usize| {
        let estimate = mle::raw(Order { equal, less, greater: K - equal - less }, sizes);
        [estimate - jaccard, size::containment_at(estimate, sizes)[1] - truth]
    };
    let mut errors = [Errors::default(); 3];
    for run in 0..context.size(18_000, 20_000) {
        let mut random = context.random(stream, run);
        let (mut equal, mut less) = (0, 0);
        for _ in 0..K {
            let u = random.unit();
            equal += usize::from(u < chances[0]);
            less += usize::from(u >= chances[0] && u < chances[0] + chances[1]);
        }
        let [likely, contained] = off(equal, less);
        let plain = equal as f64 / K as f64 - jaccard;
        errors.iter_mut().zip([plain, likely, contained]).for_each(|(errors, error)| errors.push(error));
    }
    let [likely, contained] = trinomial(chances, |equal, less| off(equal, less).map(|e| e * e));
    let plain_containment = crate::exact::mean(K, jaccard, |equal| {
        (size::containment_at(equal as f64 / K as f64, sizes)[1] - truth).powi(2)
    });
    let exact = [jaccard * (1.0 - jaccard) / K as f64, likely, contained];
    Point { case, jaccard, errors, exact, plain_containment }
}

impl Point {
    /// How many times less the exact error of similarity is.
    fn gained(&self) -> f64 {
        self.exact[0] / self.exact[1]
    }

    fn gained_containment(&self) -> f64 {
        self.plain_containment / self.exact[2]
    }

    fn compare(&self, checks: &mut Checks) {
        let Case { ratio, containment } = self.case;
        let names = ["equal share", "similarity", "containment"];
        for i in [1, 2, 0] {
            let what = format_args!("f2/f1 = {ratio}, containment {containment}: {}", names[i]);
            checks.agrees(what, self.errors[i].mse(), self.exact[i]);
        }
    }

    fn row(&self) -> Row {
        let [plain, likely, contained] = self.errors.map(|errors| errors.mse());
        row![
            "f2_over_f1": self.case.ratio, "containment": self.case.containment, "R": self.jaccard, "k": K,
            "runs": self.errors[0].n(), "mse_equal_share": plain.value, "mse_mle": likely.value,
            "mse_mle_se": likely.error, "mse_mle_exact": self.exact[1], "gain": self.gained(),
            "gain_asymptotic": self.case.gain(), "containment_mse": contained.value,
            "containment_exact": self.exact[2],
        ]
    }
}

/// The mean of a function of two of three counts.
fn trinomial([p, q]: [f64; 2], f: impl Fn(usize, usize) -> [f64; 2]) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for (equal, weight) in crate::exact::binomial(K, p).into_iter().enumerate().filter(|(_, w)| *w > 1e-16) {
        let others = crate::exact::binomial(K - equal, q / (1.0 - p));
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

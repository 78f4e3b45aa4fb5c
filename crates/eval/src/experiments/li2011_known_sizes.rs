//! 004, section 7.3: maximum likelihood with known set sizes, and containment.
//!
//! Each register has one of three outcomes (equal, less, greater), so the exact mean square error is a sum over the trinomial distribution.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::mle::{self, Order};
use benzer_core::estimate::size;

use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Errors, Experiment, Mean, Outcome, Result, Series, Table, universe,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
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
    let columns = [
        "f2_over_f1",
        "containment",
        "R",
        "k",
        "runs",
        "mse_equal_share",
        "mse_mle",
        "mse_mle_se",
        "mse_mle_exact",
        "gain",
        "gain_asymptotic",
        "containment_mse",
        "containment_exact",
    ];
    let mut table = context.table("", &columns)?;
    checks.close("gain at 0.1, 0.9", gain(0.1, 0.9), 7.687, 1e-3);
    checks.close("no gain for equal sizes", gain(1.0, 0.7), 1.0, 1e-9);
    let mut gains = Vec::new();
    let mut chart = Chart::new(
        "Gain of maximum likelihood, k = 200",
        Axis::linear("containment a / f2"),
        Axis::log("variance ratio"),
    );
    for (colour, ratio) in [0.05, 0.2, 0.5, 0.8].into_iter().enumerate() {
        context.step(format_args!("f2 / f1 = {ratio}"));
        let mut points = Vec::new();
        for containment in [0.1, 0.5, 0.8, 0.95] {
            let stream = (colour * 10) as u64 + (containment * 10.0) as u64;
            let gained = point(context, [ratio, containment], stream, &mut table, &mut checks)?;
            gains.push((gained, ratio, containment));
            points.push((containment, gained[0]));
        }
        chart.push(Series::points(format!("f2 = {ratio} f1"), points).colour(colour));
        let curve = (1..99).map(|i| f64::from(i) / 100.0).map(|c| (c, gain(ratio, c))).collect();
        chart.push(Series::line("", curve).colour(colour));
    }
    let mut dense = context.table(
        "dense",
        &[
            "b",
            "r1",
            "r2",
            "R",
            "k",
            "runs",
            "mse_9",
            "mse_mle",
            "mse_mle_simulated",
            "gain",
            "gain_asymptotic",
        ],
    )?;
    let gained = dense_gain(context, &mut dense, &mut checks)?;
    let best = gains.iter().max_by(|x, y| x.0[0].total_cmp(&y.0[0])).expect("some points");
    let least = gains.iter().min_by(|x, y| x.0[0].total_cmp(&y.0[0])).expect("some points");
    let sparse = mle::Dense::new(2, [1e-9, 1e-10])?;
    let nothing = Collision::dense(2, [1e-9, 1e-10])?.variance(1.0).at(0.05) * sparse.information(0.05);
    let verdict = format!(
        "With k = {K} maximum likelihood is better in {} of {} cases: the mean square error of similarity is {:.2} (f2/f1 = {}, containment {}) to {:.2} times less (f2/f1 = {}, containment {}), that of containment {:.2} and {:.2} times less there; for large k and f2/f1 = 0.1, containment 0.9 it is {:.2} times. \
         The equation is a quadratic with a closed form, not a cubic. The 2^b x 2^b table of dense two-bit samples gains {gained:.2} times; at r = 1e-9, as with 64-bit hashes, it gains {nothing:.4} times: nothing.",
        gains.iter().filter(|(gained, ..)| gained[0] > 1.0).count(),
        gains.len(),
        least.0[0],
        least.1,
        least.2,
        best.0[0],
        best.1,
        best.2,
        least.0[1],
        best.0[1],
        gain(0.1, 0.9)
    );
    // A quadratic has no cubic to be the root of.
    let claim = Claim::of(&[
        gains.iter().all(|(gained, ..)| gained[0] > 1.0),
        (best.1, best.2) == (0.05, 0.95),
        false,
    ]);
    Ok(Outcome { tables: vec![table, dense], charts: vec![chart], checks, claim, verdict })
}

fn gain(ratio: f64, containment: f64) -> f64 {
    let sizes = [1.0, ratio];
    mle::gain(size::jaccard_of_intersection(containment * ratio, sizes), sizes)
}

/// Measures one pair of sizes and containment; the exact gains of similarity and of containment.
fn point(
    context: &Context<'_>,
    [ratio, containment]: [f64; 2],
    stream: u64,
    table: &mut Table,
    checks: &mut Checks,
) -> Result<[f64; 2]> {
    let runs = context.size(18_000, 20_000);
    let sizes = [4000.0, (4000.0 * ratio).round()];
    let common = (containment * sizes[1]).round();
    let jaccard = size::jaccard_of_intersection(common, sizes);
    let chances = [jaccard, (sizes[0] - common) / (sizes[0] + sizes[1] - common)];
    let (mut plain, mut likely, mut contained) = (Errors::default(), Errors::default(), Errors::default());
    let truth = common / sizes[1];
    let errors = |equal: usize, less: usize| {
        let estimate = mle::raw(Order { equal, less, greater: K - equal - less }, sizes);
        [estimate - jaccard, size::containment_at(estimate, sizes)[1] - truth]
    };
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let (mut equal, mut less) = (0, 0);
        for _ in 0..K {
            let u = random.unit();
            equal += usize::from(u < chances[0]);
            less += usize::from(u >= chances[0] && u < chances[0] + chances[1]);
        }
        let [error, of_containment] = errors(equal, less);
        plain.push(equal as f64 / K as f64 - jaccard);
        likely.push(error);
        contained.push(of_containment);
    }
    let [exact, exact_containment] = trinomial(chances, |equal, less| errors(equal, less).map(|e| e * e));
    let [mse, of_containment, share] = [likely.mse(), contained.mse(), plain.mse()];
    let what = format!("f2/f1 = {ratio}, containment {containment}");
    checks.agrees(format_args!("{what}: similarity"), mse, exact);
    checks.agrees(format_args!("{what}: containment"), of_containment, exact_containment);
    checks.agrees(format_args!("{what}: equal share"), share, jaccard * (1.0 - jaccard) / K as f64);
    let plain_containment = crate::exact::mean(K, jaccard, |equal| {
        (size::containment_at(equal as f64 / K as f64, sizes)[1] - truth).powi(2)
    });
    let gained = jaccard * (1.0 - jaccard) / K as f64 / exact;
    table.push(row![
        ratio,
        containment,
        jaccard,
        K,
        runs,
        share.value,
        mse.value,
        mse.error,
        exact,
        gained,
        gain(ratio, containment),
        of_containment.value,
        exact_containment
    ])?;
    Ok([gained, plain_containment / exact_containment])
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
    let (mut diagonal, mut whole, mut drawn) = (Errors::default(), Errors::default(), Errors::default());
    let cells = model.cells(jaccard);
    let chances: [f64; 16] = std::array::from_fn(|cell| cells[cell]);
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(900), run as u64));
        let pairs: Vec<(u32, u32)> =
            (0..k).map(|_| universe.minima(&mut random)).map(|[x, y]| (x & 3, y & 3)).collect();
        let equal = pairs.iter().filter(|(x, y)| x == y).count();
        diagonal.push(line.jaccard(equal as f64 / k as f64) - jaccard);
        whole.push(model.raw(&pairs)? - jaccard);
        let counts = random.multinomial(k, chances);
        let of_cells =
            (0u32..).zip(counts).flat_map(|(cell, n)| std::iter::repeat_n((cell >> 2, cell & 3), n));
        drawn.push(model.raw(&of_cells.collect::<Vec<_>>())? - jaccard);
    }
    let gained = diagonal.mse().value / whole.mse().value;
    let asymptotic = line.variance(1.0).at(jaccard) * model.information(jaccard);
    table.push(row![
        b,
        densities[0],
        densities[1],
        jaccard,
        k,
        runs,
        diagonal.mse().value,
        whole.mse().value,
        drawn.mse().value,
        gained,
        asymptotic
    ])?;
    checks.agrees("dense two-bit samples: (9)", diagonal.mse(), line.variance(1.0).at(jaccard) / k as f64);
    let (mse, reference) = (whole.mse(), drawn.mse());
    let both = Mean { value: mse.value, error: mse.error.hypot(reference.error) };
    checks.agrees("dense two-bit samples: maximum likelihood", both, reference.value);
    Ok(gained)
}

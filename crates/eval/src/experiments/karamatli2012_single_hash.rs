//! 002, Fig. 6: many hash functions against one, as published and corrected; why the single hash seemed better.
//!
//! The report makes sets with `s n` common elements of `n` each, whose similarity is `s / (2 - s)` and not `s`; and it estimates with
//! `|Z_A n Z_B| / n_h`, which for one hash tends to `|A n B| / n = s`. Two mistakes cancel for the single hash, and one is charged to the other.

use benzer_core::estimate::bottom_k;
use benzer_core::sketch::{Bits, Family, Scheme, Sketch, SketchSpec, count};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Errors, Experiment, Outcome, Result, Series, Table, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "karamatli2012_single_hash",
    source: "002, Fig. 6a-c",
    title: "One hash function or many",
    claim: "A single hash function performs better than many, which should be investigated; its error is 0 when n = n_h; the real similarity makes no difference; around 50 hashes is a good choice.",
    criterion: "With the published generator and measure: errors of many hashes agree with J(1-J)/n_h + (s-J)^2, of the single hash with the reference simulation to 0.004, and are 0 at n = n_h. Corrected: many hashes and union-k agree with their variances; the naive ratio is worse than all of them at n_h >= 50. 4 standard errors, at most 2%.",
    run,
};

/// Root mean square errors of the naive ratio at s = 0.5 as the report measures: (n, n_h, error), from 20,000 runs of another program.
const REFERENCE: [(usize, usize, f64); 8] = [
    (200, 10, 0.153),
    (200, 50, 0.061),
    (200, 100, 0.035),
    (200, 200, 0.0),
    (1000, 10, 0.155),
    (1000, 50, 0.068),
    (1000, 100, 0.047),
    (1000, 200, 0.032),
];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table(
        "",
        &[
            "generator",
            "s",
            "n",
            "n_h",
            "J",
            "runs",
            "rms_many",
            "rms_many_theory",
            "rms_naive",
            "rms_union_k",
            "rms_tau_strict",
        ],
    )?;
    let hashes: &[usize] = if context.is_quick() { &[10, 50, 200] } else { &[10, 50, 100, 200] };
    let n = context.size(200, 1000) as f64;
    let (mut charts, mut at_fifty) = (Vec::new(), [0.0; 5]);
    for is_published in [true, false] {
        let kind = if is_published { "as published" } else { "corrected" };
        let mut chart =
            Chart::new(format!("s = 0.5, n = {n}, {kind}"), Axis::log("hashes n_h"), Axis::log("RMS error"));
        let mut series: [Vec<(f64, f64)>; 5] = Default::default();
        for &n_h in hashes {
            let point = point(context, is_published, [0.5, n], n_h, &mut table, &mut checks)?;
            if n_h == 50 {
                at_fifty = point;
            }
            series.iter_mut().zip(point).for_each(|(series, value)| series.push((n_h as f64, value)));
        }
        let [many, theory, naive, union_k, tau] = series;
        chart.push(Series::points("many hashes", many));
        chart.push(Series::line("", theory));
        chart.push(Series::points("one hash, the report's ratio", naive).colour(1));
        if !is_published {
            chart.push(Series::points("one hash, union-k", union_k).colour(2));
            chart.push(Series::points("one hash, tau-strict", tau).colour(3));
        }
        charts.push(chart);
        let mut sizes = Chart::new(
            format!("By set size n, {kind}"),
            Axis::log("hashes n_h"),
            Axis::linear("RMS error of one hash"),
        );
        for (colour, n) in [200.0, 10_000.0].into_iter().enumerate().filter(|_| !context.is_quick()) {
            let mut points = Vec::new();
            for &n_h in hashes {
                let place = if is_published { 2 } else { 4 };
                points.push((
                    n_h as f64,
                    point(context, is_published, [0.5, n], n_h, &mut table, &mut checks)?[place],
                ));
            }
            sizes.push(Series::points(format!("n = {n}"), points).colour(colour));
        }
        charts.extend((!context.is_quick()).then_some(sizes));
        let mut similar = Chart::new(
            format!("By similarity s, n = {n}, n_h = 50, {kind}"),
            Axis::linear("s"),
            Axis::linear("RMS error"),
        );
        let mut both = [Vec::new(), Vec::new()];
        for s in [0.1, 0.3, 0.7, 0.9] {
            let point = point(context, is_published, [s, n], 50, &mut table, &mut checks)?;
            both[0].push((s, point[0]));
            both[1].push((s, point[if is_published { 2 } else { 4 }]));
        }
        let [many, one] = both;
        similar.push(Series::points("many hashes", many));
        similar.push(
            Series::points(
                if is_published { "one hash, the report's ratio" } else { "one hash, tau-strict" },
                one,
            )
            .colour(1),
        );
        charts.push(similar);
    }
    let [many, _, naive, _, tau] = at_fifty;
    let verdict = format!(
        "The open question answered: the single hash only seemed better. The generator makes J = s/(2-s), and the ratio |Z_A n Z_B|/n_h happens to estimate s itself, so its two mistakes cancel. \
        Corrected, the ratio is the worst ({naive:.3} against {many:.3} at J = 0.5, n_h = 50); estimated rightly (tau-strict), one hash is indeed better than many ({tau:.3}). \
        About 50 hashes leave an interval of +-{:.2}: good for ranking, not for a threshold; an error of 0.02 takes about 600.",
        1.96 * many
    );
    Ok(Outcome { tables: vec![table], charts, checks, verdict })
}

/// RMS errors: many hashes, theory, naive, union-k, tau-strict.
fn point(
    context: &Context<'_>,
    is_published: bool,
    [s, n]: [f64; 2],
    n_h: usize,
    table: &mut Table,
    checks: &mut Checks,
) -> Result<[f64; 5]> {
    context.step(format_args!("s = {s}, n = {n}, n_h = {n_h}"));
    let n = n as usize;
    let runs = context.size(5_500, if n > 5000 { 5_500 } else { 8_000 });
    let common = if is_published { (s * n as f64).round() as usize } else { plant::common(n, s) };
    let jaccard = plant::jaccard(n, common);
    let truth = if is_published { s } else { jaccard };
    let mut errors = [Errors::default(); 4];
    let stream = (n * 1000 + n_h) as u64 * 20 + (s * 10.0) as u64 * 2 + u64::from(is_published);
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let sets = plant::pair([n, n], common, &mut random);
        let mut sketches = |family: Family| -> Result<[Sketch; 2]> {
            let sketcher =
                SketchSpec { seed: random.next(), ..SketchSpec::full(family, n_h as u32) }.sketcher()?;
            Ok([sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?])
        };
        let [a, b] = sketches(Family::Permutations(Scheme::Linear))?;
        let equal = n_h as f64 - f64::from(count::mismatches(a.words(), b.words(), Bits::FULL));
        let [a, b] = sketches(Family::BottomK)?;
        let smallest = [&a, &b].map(|sketch| bottom_k::Smallest {
            hashes: sketch.words(),
            complete: n <= n_h,
            size: sketch.size(),
        });
        let share = |sample: bottom_k::Sample| sample.common as f64 / sample.kept.max(1) as f64;
        let estimates = [
            equal / n_h as f64,
            bottom_k::naive(smallest, n_h)?,
            share(bottom_k::union_sample(&smallest, n_h)?),
            share(bottom_k::sample(&smallest)?),
        ];
        errors.iter_mut().zip(estimates).for_each(|(errors, estimate)| errors.push(estimate - truth));
    }
    let [many, naive, union_k, tau] = errors;
    let k = n_h as f64;
    let theory = jaccard * (1.0 - jaccard) / k + (truth - jaccard) * (truth - jaccard);
    let kind = if is_published { "published" } else { "corrected" };
    table.push(row![
        kind,
        s,
        n,
        n_h,
        jaccard,
        runs,
        many.rms(),
        theory.sqrt(),
        naive.rms(),
        union_k.rms(),
        tau.rms()
    ])?;
    let what = format!("{kind}, s = {s}, n = {n}, n_h = {n_h}");
    checks.agrees(format_args!("{what}: many"), many.mse(), theory);
    if is_published {
        if let Some((.., expected)) =
            REFERENCE.iter().find(|(size, h, _)| s == 0.5 && (*size, *h) == (n, n_h))
        {
            checks.close(format_args!("{what}: naive"), naive.rms(), *expected, 0.004);
        }
    } else {
        let union = (2 * n - common) as f64;
        if n > n_h {
            checks.agrees(
                format_args!("{what}: union-k"),
                union_k.mse(),
                jaccard * (1.0 - jaccard) / k * (union - k) / (union - 1.0),
            );
            checks.agrees_on(format_args!("{what}: tau-strict bias"), tau.bias(), 0.0, tau.rms());
        }
        if n_h >= 50 && (0.2..0.8).contains(&s) {
            checks.holds(
                format_args!("{what}: the naive ratio is the worst"),
                naive.rms() > many.rms().max(union_k.rms()).max(tau.rms()),
            );
        }
    }
    Ok([many.rms(), theory.sqrt(), naive.rms(), union_k.rms(), tau.rms()])
}

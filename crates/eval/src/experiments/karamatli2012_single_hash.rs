//! 002, Fig. 6: many hash functions against one, as published and corrected; why the single hash seemed better.
//!
//! The report makes sets with `s n` common elements of `n` each, whose similarity is `s / (2 - s)` and not `s`; and it estimates with
//! `|Z_A n Z_B| / n_h`, which for one hash tends to `|A n B| / n = s`. Two mistakes cancel for the single hash, and one is charged to the other.
//! Errors of all estimators are known exactly, so every point of the three figures is compared.

use benzer_core::estimate::bottom_k::{self, Smallest};
use benzer_core::sketch::{Family, Scheme, Sketch, SketchSpec};

use crate::check::is_precise;
use crate::exact::bottom_k::Samples;
use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, Table, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "karamatli2012_single_hash",
    source: "002, Fig. 6a-c",
    title: "One hash function or many",
    claim: "A single hash function performs better than many, which should be investigated; its error is 0 when n = n_h; the real similarity makes no considerable difference; around 50 hashes is a good choice.",
    criterion: "For every n_h, n and s of the three figures, as published and with corrected generator: mean square errors of many hashes, of the report's ratio, of union-k and of tau-strict are within 4 standard errors of the exact expectation (the sum over all ways in which the sketches of two sets can end), standard error at most 2%. What the figures say is then read off the exact errors.",
    run,
};

/// Estimators, in the order of the columns: many hashes, the report's ratio, union-k, tau-strict.
const NAMES: [&str; 4] =
    ["many hashes", "one hash, the report's ratio", "one hash, union-k", "one hash, tau-strict"];
/// The middle of the figures: where one of n and s is varied, the other stays.
const S: f64 = 0.5;

/// Root mean square errors at one point.
struct Point {
    is_published: bool,
    s: f64,
    n: usize,
    n_h: usize,
    jaccard: f64,
    measured: [f64; 4],
    exact: [f64; 4],
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let columns = [
        "generator",
        "s",
        "n",
        "n_h",
        "J",
        "runs",
        "rms_many",
        "rms_many_exact",
        "rms_naive",
        "rms_naive_exact",
        "rms_union_k",
        "rms_union_k_exact",
        "rms_tau_strict",
        "rms_tau_strict_exact",
    ];
    let mut table = context.table("", &columns)?;
    let hashes: &[usize] = if context.is_quick() { &[10, 50, 200] } else { &[10, 25, 50, 100, 200] };
    let n = context.size(200, 1000);
    let similarities: &[f64] = if context.is_quick() { &[0.1, S, 0.9] } else { &[0.1, 0.3, S, 0.7, 0.9] };
    let sizes: &[usize] = if context.is_quick() { &[200] } else { &[200, 1000, 10_000] };
    let mut points = Vec::new();
    for is_published in [true, false] {
        for &s in similarities {
            points.extend(measure(context, (is_published, s, n), hashes, (&mut table, &mut checks))?);
        }
        for &size in sizes.iter().filter(|&&size| size != n) {
            points.extend(measure(context, (is_published, S, size), hashes, (&mut table, &mut checks))?);
        }
    }
    let charts = [true, false].iter().flat_map(|&kind| charts(&points, kind, n)).collect();
    let (claim, verdict) = verdict(&points, n);
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

/// One row of points for all `n_h`: smaller sketches are parts of the largest one.
fn measure(
    context: &Context<'_>,
    (is_published, s, n): (bool, f64, usize),
    hashes: &[usize],
    (table, checks): (&mut Table, &mut Checks),
) -> Result<Vec<Point>> {
    let kind = if is_published { "published" } else { "corrected" };
    context.step(format_args!("{kind}, s = {s}, n = {n}"));
    let common = if is_published { (s * n as f64).round() as usize } else { plant::common(n, s) };
    let jaccard = plant::jaccard(n, common);
    let truth = if is_published { s } else { jaccard };
    let exact: Vec<[f64; 4]> = hashes
        .iter()
        .map(|&n_h| {
            let one = Samples::new([n, n], common, n_h).errors(truth);
            let many = jaccard * (1.0 - jaccard) / n_h as f64 + (jaccard - truth).powi(2);
            [many, one.naive, one.union_k, one.tau_strict]
        })
        .collect();
    let stream = (n * 100) as u64 + (s * 10.0).round() as u64 * 2 + u64::from(is_published);
    let errors = simulate(context.seed(stream), [n, common], truth, hashes, &exact)?;
    let mut points = Vec::new();
    for ((&n_h, errors), exact) in hashes.iter().zip(&errors).zip(exact) {
        let (measured, roots) = (errors.map(|errors| errors.rms()), exact.map(f64::sqrt));
        table.push(row![
            kind,
            s,
            n,
            n_h,
            jaccard,
            errors[0].n(),
            measured[0],
            roots[0],
            measured[1],
            roots[1],
            measured[2],
            roots[2],
            measured[3],
            roots[3]
        ])?;
        for ((name, errors), exact) in NAMES.into_iter().zip(errors).zip(exact) {
            let what = format!("{kind}, s = {s}, n = {n}, n_h = {n_h}: {name}");
            checks.agrees(what, errors.mse(), exact);
        }
        points.push(Point { is_published, s, n, n_h, jaccard, measured, exact: roots });
    }
    Ok(points)
}

/// Runs until all errors are known to 2%.
fn simulate(
    stream: u64,
    [n, common]: [usize; 2],
    truth: f64,
    hashes: &[usize],
    exact: &[[f64; 4]],
) -> Result<Vec<[Errors; 4]>> {
    let most = hashes.iter().copied().max().unwrap_or(1);
    let mut errors = vec![[Errors::default(); 4]; hashes.len()];
    let mut sets = None;
    for run in 0..40_000 {
        let mut random = Random::new(benzer_core::hash::split(stream, run));
        if run % 25 == 0 {
            sets = Some(plant::pair([n, n], common, &mut random));
        }
        let sets = sets.as_ref().expect("made in the first run");
        let mut sketches = |family: Family| -> Result<[Sketch; 2]> {
            let sketcher =
                SketchSpec { seed: random.next(), ..SketchSpec::full(family, most as u32) }.sketcher()?;
            Ok([sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?])
        };
        let (many, one) = (sketches(Family::Permutations(Scheme::Linear))?, sketches(Family::BottomK)?);
        for (&n_h, errors) in hashes.iter().zip(&mut errors) {
            let estimates = estimates(&many, &one, n, n_h)?;
            errors.iter_mut().zip(estimates).for_each(|(errors, estimate)| errors.push(estimate - truth));
        }
        let is_known = |(errors, exact): (&[Errors; 4], &[f64; 4])| {
            errors.iter().zip(exact).all(|(errors, exact)| *exact < 1e-24 || is_precise(errors.mse(), *exact))
        };
        if run >= 1_000 && run % 100 == 0 && errors.iter().zip(exact).all(is_known) {
            break;
        }
    }
    Ok(errors)
}

fn estimates(many: &[Sketch; 2], one: &[Sketch; 2], n: usize, n_h: usize) -> Result<[f64; 4]> {
    let [a, b] = [&many[0].words()[..n_h], &many[1].words()[..n_h]];
    let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
    let smallest = [&one[0], &one[1]].map(|sketch| Smallest {
        hashes: &sketch.words()[..n_h.min(n)],
        complete: n <= n_h,
        size: sketch.size(),
    });
    let share = |sample: bottom_k::Sample| sample.common as f64 / sample.kept.max(1) as f64;
    Ok([
        equal as f64 / n_h as f64,
        bottom_k::naive(smallest, n_h)?,
        share(bottom_k::union_sample(&smallest, n_h)?),
        share(bottom_k::sample(&smallest)?),
    ])
}

/// Figs. 6a to 6c: by algorithm, by n, by s; the single hash as the report has it, or corrected with tau-strict.
fn charts(points: &[Point], is_published: bool, n: usize) -> Vec<Chart> {
    let kind = if is_published { "as published" } else { "corrected" };
    let single = if is_published { 1 } else { 3 };
    let mut charts = Vec::new();
    let chart = |title: String| Chart::new(title, Axis::log("hashes n_h"), Axis::linear("RMS error"));
    let add =
        |chart: &mut Chart, name: &str, colour: usize, estimator: usize, is: &dyn Fn(&&Point) -> bool| {
            let of = |f: fn(&Point, usize) -> f64| {
                let of = points.iter().filter(|p| p.is_published == is_published).filter(is);
                of.map(|p| (p.n_h as f64, f(p, estimator))).collect()
            };
            chart.push(Series::points(name, of(|p, i| p.measured[i])).colour(colour));
            chart.push(Series::line("", of(|p, i| p.exact[i])).colour(colour));
        };
    let mut algorithms = chart(format!("Fig. 6a, s = {S}, n = {n}, {kind}"));
    for (i, name) in NAMES.into_iter().enumerate().filter(|(i, _)| !is_published || *i < 2) {
        add(&mut algorithms, name, i, i, &|p| p.s == S && p.n == n);
    }
    charts.push(algorithms);
    let mut sizes = chart(format!("Fig. 6b, s = {S}, {}, {kind}", NAMES[single]));
    for (colour, size) in [200, 1000, 10_000].into_iter().enumerate() {
        add(&mut sizes, &format!("n = {size}"), colour, single, &|p| p.s == S && p.n == size);
    }
    charts.push(sizes);
    for estimator in [single, 0] {
        let mut similar = chart(format!("Fig. 6c, n = {n}, {}, {kind}", NAMES[estimator]));
        for (colour, s) in [0.1, 0.3, 0.5, 0.7, 0.9].into_iter().enumerate() {
            add(&mut similar, &format!("s = {s}"), colour, estimator, &|p| p.s == s && p.n == n);
        }
        charts.push(similar);
    }
    charts
}

fn verdict(points: &[Point], n: usize) -> (Claim, String) {
    let at = |is_published: bool, n_h: usize| {
        let found =
            points.iter().find(|p| p.is_published == is_published && p.s == S && p.n == n && p.n_h == n_h);
        found.expect("a point of Fig. 6a")
    };
    let (published, corrected) = (at(true, 50), at(false, 50));
    let count = |is_published: bool, is: &dyn Fn(&Point) -> bool| {
        let of: Vec<&Point> =
            points.iter().filter(|p| p.is_published == is_published && p.n > p.n_h).collect();
        format!("{} of {}", of.iter().filter(|p| is(p)).count(), of.len())
    };
    let spread = |is_published: bool, estimator: usize| {
        let of = points.iter().filter(|p| p.is_published == is_published && p.n == n && p.n_h == 50);
        let [low, high] = of
            .map(|p| p.exact[estimator])
            .fold([f64::MAX, 0.0], |[l, h], e| [f64::min(l, e), f64::max(h, e)]);
        (format!("{low:.3} to {high:.3}"), high / low)
    };
    let (as_published, as_corrected) = (spread(true, 1), spread(false, 3));
    let is_same = as_published.1 < 1.25 && as_corrected.1 < 1.25;
    let whole =
        points.iter().filter(|p| p.n == p.n_h && p.is_published).map(|p| p.measured[1]).fold(0.0, f64::max);
    let (ten, last) = (at(false, 10), at(false, 200));
    let fall = |from: &Point, to: &Point| from.exact[0] / to.exact[0];
    let needed = corrected.jaccard * (1.0 - corrected.jaccard) / (0.02 * 0.02);
    let sizes = points.iter().map(|p| p.n);
    // That about 50 hashes are a good choice is not a number.
    let is_better = points.iter().filter(|p| !p.is_published && p.n > p.n_h).all(|p| p.exact[3] < p.exact[0]);
    let claim = Claim::of(&[is_better, whole == 0.0, is_same]);
    let verdict = format!(
        "On random sets of {} to {} elements: the single hash only seemed better. The generator makes J = {:.3} for s = {S}, which many hashes are charged for ({:.3} at n_h = 50), while the ratio |Z_A n Z_B|/n_h happens to estimate s ({:.3}): \
         as published it is better in {} points. Corrected, it is worse than many hashes in {} ({:.3} against {:.3}); estimated rightly (tau-strict) one hash is better than many in {} ({:.3}). \
         At n = n_h the published error is {whole}. That s makes no considerable difference {}: by s, the error at n_h = 50 goes from {} as published and from {} corrected (tau-strict). \
         About 50 hashes: nothing is special there, the error falls as one over the root (by {:.2} from 10 to 50, by {:.2} from 50 to 200); 50 leave +-{:.2} at J = {:.2} with many hashes, +-{:.2} with tau-strict, \
         enough to rank and not for a threshold; an error of 0.02 takes {needed:.0}.",
        sizes.clone().min().unwrap_or_default(),
        sizes.max().unwrap_or_default(),
        published.jaccard,
        published.exact[0],
        published.exact[1],
        count(true, &|p| p.exact[1] < p.exact[0]),
        count(false, &|p| p.exact[1] > p.exact[0]),
        corrected.exact[1],
        corrected.exact[0],
        count(false, &|p| p.exact[3] < p.exact[0]),
        corrected.exact[3],
        if is_same { "holds" } else { "does not hold" },
        as_published.0,
        as_corrected.0,
        fall(ten, corrected),
        fall(corrected, last),
        1.96 * corrected.exact[0],
        corrected.jaccard,
        1.96 * corrected.exact[3],
    );
    (claim, verdict)
}

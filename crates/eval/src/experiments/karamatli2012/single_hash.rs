//! 002, Fig. 6: many hash functions against one, as published and corrected; why the single hash seemed better.
//!
//! The report makes sets with `s n` common elements of `n` each, whose similarity is `s / (2 - s)` and not `s`; and it estimates with
//! `|Z_A n Z_B| / n_h`, which for one hash tends to `|A n B| / n = s`. Two mistakes cancel for the single hash, and one is charged to the other.
//! Errors of all estimators are known exactly, so every point of the three figures is compared.

use std::fmt;

use benzer_core::estimate::bottom_k::{self, Smallest};
use benzer_core::sketch::{Family, Scheme, Sketch, SketchSpec};

use crate::chart::Curves;
use crate::check::is_precise;
use crate::data::plant;
use crate::exact::bottom_k::Samples;
use crate::measure::sketches::{self, share};
use crate::moments::range;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result};

pub(crate) const EXPERIMENT: Experiment = Experiment {
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

/// Two sets of `n` elements, `s n` of them in both (as published) or with similarity `s` (corrected).
#[derive(Clone, Copy)]
struct Sets {
    is_published: bool,
    s: f64,
    n: usize,
}

/// Root mean square errors at one point.
struct Point {
    sets: Sets,
    n_h: usize,
    jaccard: f64,
    runs: f64,
    measured: [f64; 4],
    exact: [f64; 4],
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let n = context.size(200, 1000);
    let similarities = context.points(&[0.1, S, 0.9], &[0.1, 0.3, S, 0.7, 0.9]);
    let sizes = context.points(&[200], &[200, 1000, 10_000]);
    let mut points = Vec::new();
    for is_published in [true, false] {
        let similar = similarities.iter().map(|&s| Sets { is_published, s, n });
        let other = sizes.iter().filter(|&&size| size != n);
        for sets in similar.chain(other.map(|&n| Sets { is_published, s: S, n })) {
            context.step(format_args!("{}, s = {}, n = {}", sets.kind(), sets.s, sets.n));
            for point in sets.measure(context, &mut checks)? {
                table.push(point.row())?;
                points.push(point);
            }
        }
    }
    let charts = [true, false].iter().flat_map(|&is_published| charts(&points, is_published, n)).collect();
    let (claim, verdict) = verdict(&points, n);
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

impl Sets {
    fn kind(&self) -> &'static str {
        if self.is_published { "published" } else { "corrected" }
    }

    fn common(&self) -> usize {
        if self.is_published {
            (self.s * self.n as f64).round() as usize
        } else {
            plant::common(self.n, self.s)
        }
    }

    fn jaccard(&self) -> f64 {
        plant::jaccard(self.n, self.common())
    }

    /// What estimates are held against: the report takes `s` for the similarity.
    fn truth(&self) -> f64 {
        if self.is_published { self.s } else { self.jaccard() }
    }

    /// Exact mean square errors.
    fn exact(&self, n_h: usize) -> [f64; 4] {
        let (jaccard, truth) = (self.jaccard(), self.truth());
        let one = Samples::new([self.n; 2], self.common(), n_h).errors(truth);
        let many = jaccard * (1.0 - jaccard) / n_h as f64 + (jaccard - truth).powi(2);
        [many, one.naive, one.union_k, one.tau_strict]
    }

    /// One row of points for all `n_h`: smaller sketches are parts of the largest one.
    fn measure(&self, context: &Context<'_>, checks: &mut Checks) -> Result<Vec<Point>> {
        let hashes = context.points(&[10, 50, 200], &[10, 25, 50, 100, 200]);
        let exact: Vec<[f64; 4]> = hashes.iter().map(|&n_h| self.exact(n_h)).collect();
        let errors = self.simulate(context, hashes, &exact)?;
        let mut points = Vec::new();
        for ((&n_h, errors), exact) in hashes.iter().zip(errors).zip(exact) {
            for ((name, errors), exact) in NAMES.into_iter().zip(&errors).zip(exact) {
                let Self { s, n, .. } = self;
                let what = format_args!("{}, s = {s}, n = {n}, n_h = {n_h}: {name}", self.kind());
                checks.agrees(what, errors.mse(), exact);
            }
            points.push(Point {
                sets: *self,
                n_h,
                jaccard: self.jaccard(),
                runs: errors[0].n(),
                measured: errors.map(|errors| errors.rms()),
                exact: exact.map(f64::sqrt),
            });
        }
        Ok(points)
    }

    /// Runs until all errors are known to 2%.
    fn simulate(
        &self,
        context: &Context<'_>,
        hashes: &[usize],
        exact: &[[f64; 4]],
    ) -> Result<Vec<[Errors; 4]>> {
        let stream =
            (self.n * 100) as u64 + (self.s * 10.0).round() as u64 * 2 + u64::from(self.is_published);
        let max = hashes.iter().copied().max().unwrap_or(1) as u32;
        let truth = self.truth();
        let mut errors = vec![[Errors::default(); 4]; hashes.len()];
        let mut sets = None;
        for run in 0..40_000 {
            let mut random = context.random(stream, run);
            if run % 25 == 0 {
                sets = Some(plant::pair(self.n, self.common(), &mut random));
            }
            let sets = sets.as_ref().expect("made in the first run").each_ref();
            let mut sketches = |family: Family| {
                sketches::of_pair(&SketchSpec { seed: random.next(), ..SketchSpec::full(family, max) }, sets)
            };
            let (many, one) = (sketches(Family::Permutations(Scheme::Linear))?, sketches(Family::BottomK)?);
            for (&n_h, errors) in hashes.iter().zip(&mut errors) {
                let estimates = estimates(&many, &one, self.n, n_h)?;
                errors.iter_mut().zip(estimates).for_each(|(errors, estimate)| errors.push(estimate - truth));
            }
            let is_known = |(errors, exact): (&[Errors; 4], &[f64; 4])| {
                errors
                    .iter()
                    .zip(exact)
                    .all(|(errors, exact)| *exact < 1e-24 || is_precise(errors.mse(), *exact))
            };
            if run >= 1_000 && run % 100 == 0 && errors.iter().zip(exact).all(is_known) {
                break;
            }
        }
        Ok(errors)
    }
}

fn estimates(many: &[Sketch; 2], one: &[Sketch; 2], n: usize, n_h: usize) -> Result<[f64; 4]> {
    let [a, b] = [&many[0].words()[..n_h], &many[1].words()[..n_h]];
    let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
    let smallest = one.each_ref().map(|sketch| Smallest {
        hashes: &sketch.words()[..n_h.min(n)],
        complete: n <= n_h,
        size: sketch.size(),
    });
    Ok([
        equal as f64 / n_h as f64,
        bottom_k::naive(smallest, n_h)?,
        share(bottom_k::union_sample(&smallest, n_h)?),
        share(bottom_k::sample(&smallest)?),
    ])
}

impl Point {
    fn row(&self) -> Row {
        let Sets { s, n, .. } = self.sets;
        let ([many, naive, union_k, tau], [many_exact, naive_exact, union_k_exact, tau_exact]) =
            (self.measured, self.exact);
        row![
            "generator": self.sets.kind(), "s": s, "n": n, "n_h": self.n_h, "J": self.jaccard,
            "runs": self.runs, "rms_many": many, "rms_many_exact": many_exact, "rms_naive": naive,
            "rms_naive_exact": naive_exact, "rms_union_k": union_k, "rms_union_k_exact": union_k_exact,
            "rms_tau_strict": tau, "rms_tau_strict_exact": tau_exact,
        ]
    }
}

/// Figs. 6a to 6c: by algorithm, by n, by s; the single hash as the report has it, or corrected with tau-strict.
fn charts(points: &[Point], is_published: bool, n: usize) -> Vec<Chart> {
    let (kind, single) = if is_published { ("as published", 1) } else { ("corrected", 3) };
    let chart = |title: String| Chart::new(title, Axis::log("hashes n_h"), Axis::linear("RMS error"));
    let add = |chart: &mut Chart, name: &str, colour: usize, estimator: usize, s: f64, n: usize| {
        let is_shown = |of: &Sets| of.is_published == is_published && of.s == s && of.n == n;
        let mut curves = Curves::default();
        for p in points.iter().filter(|p| is_shown(&p.sets)) {
            curves.push(p.n_h as f64, [p.measured[estimator], p.exact[estimator]]);
        }
        chart.compare(name, colour, curves);
    };
    let mut algorithms = chart(format!("Fig. 6a, s = {S}, n = {n}, {kind}"));
    for (i, name) in NAMES.into_iter().enumerate().filter(|(i, _)| !is_published || *i < 2) {
        add(&mut algorithms, name, i, i, S, n);
    }
    let mut sizes = chart(format!("Fig. 6b, s = {S}, {}, {kind}", NAMES[single]));
    for (colour, size) in [200, 1000, 10_000].into_iter().enumerate() {
        add(&mut sizes, &format!("n = {size}"), colour, single, S, size);
    }
    let mut charts = vec![algorithms, sizes];
    for estimator in [single, 0] {
        let mut similar = chart(format!("Fig. 6c, n = {n}, {}, {kind}", NAMES[estimator]));
        for (colour, s) in [0.1, 0.3, 0.5, 0.7, 0.9].into_iter().enumerate() {
            add(&mut similar, &format!("s = {s}"), colour, estimator, s, n);
        }
        charts.push(similar);
    }
    charts
}

/// The least and the largest exact error of an estimator by s, at 50 hashes.
struct Spread([f64; 2]);

impl Spread {
    fn new(points: &[Point], is_published: bool, n: usize, estimator: usize) -> Self {
        let of =
            points.iter().filter(|p| p.sets.is_published == is_published && p.sets.n == n && p.n_h == 50);
        Self(range(of.map(|p| p.exact[estimator])))
    }

    /// No considerable difference.
    fn is_small(&self) -> bool {
        self.0[1] / self.0[0] < 1.25
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} to {:.3}", self.0[0], self.0[1])
    }
}

fn verdict(points: &[Point], n: usize) -> (Claim, String) {
    let at = |is_published: bool, n_h: usize| {
        let of = |sets: &Sets| sets.is_published == is_published && sets.s == S && sets.n == n;
        points.iter().find(|p| of(&p.sets) && p.n_h == n_h).expect("a point of Fig. 6a")
    };
    // Where a sketch is smaller than its set.
    let judged = |is_published: bool| {
        points.iter().filter(move |p| p.sets.is_published == is_published && p.sets.n > p.n_h)
    };
    let count = |is_published: bool, is: &dyn Fn(&Point) -> bool| {
        format!("{} of {}", judged(is_published).filter(|p| is(p)).count(), judged(is_published).count())
    };
    let (published, corrected) = (at(true, 50), at(false, 50));
    let [as_published, as_corrected] =
        [(true, 1), (false, 3)].map(|(is_published, single)| Spread::new(points, is_published, n, single));
    let is_same = as_published.is_small() && as_corrected.is_small();
    let whole = points.iter().filter(|p| p.sets.n == p.n_h && p.sets.is_published);
    let whole = whole.map(|p| p.measured[1]).fold(0.0, f64::max);
    let fall = |from: &Point, to: &Point| from.exact[0] / to.exact[0];
    let sizes = || points.iter().map(|p| p.sets.n);
    // That about 50 hashes are a good choice is not a number.
    let is_better = judged(false).all(|p| p.exact[3] < p.exact[0]);
    let claim = Claim::of(&[is_better, whole == 0.0, is_same]);
    let verdict = format!(
        "On random sets of {} to {} elements: the single hash only seemed better. The generator makes J = {:.3} for s = {S}, which many hashes are charged for ({:.3} at n_h = 50), while the ratio |Z_A n Z_B|/n_h happens to estimate s ({:.3}): \
         as published it is better in {} points. Corrected, it is worse than many hashes in {} ({:.3} against {:.3}); estimated rightly (tau-strict) one hash is better than many in {} ({:.3}). \
         At n = n_h the published error is {whole}. That s makes no considerable difference {}: by s, the error at n_h = 50 goes from {as_published} as published and from {as_corrected} corrected (tau-strict). \
         About 50 hashes: nothing is special there, the error falls as one over the root (by {:.2} from 10 to 50, by {:.2} from 50 to 200); 50 leave +-{:.2} at J = {:.2} with many hashes, +-{:.2} with tau-strict, \
         enough to rank and not for a threshold; an error of 0.02 takes {:.0}.",
        sizes().min().unwrap_or_default(),
        sizes().max().unwrap_or_default(),
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
        fall(at(false, 10), corrected),
        fall(corrected, at(false, 200)),
        1.96 * corrected.exact[0],
        corrected.jaccard,
        1.96 * corrected.exact[3],
        corrected.jaccard * (1.0 - corrected.jaccard) / (0.02 * 0.02),
    );
    (claim, verdict)
}

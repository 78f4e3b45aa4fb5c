//! 000, future work: conditional random sampling (CRS, one permutation, the smallest hashes) against minwise hashing for two and three sets; why it has
//! no b-bit form.

use benzer_core::Features;
use benzer_core::estimate::bottom_k;
use benzer_core::sketch::{Bits, Family, Scheme, Sketch, SketchSpec, count};

use crate::exact::bottom_k::Samples;
use crate::plant;
use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_sampling",
    source: "000, future work; 004, section 1.3",
    title: "Conditional random sampling against minwise hashing",
    claim: "CRS needs one permutation instead of k and is more accurate than minwise hashing; a b-bit form appears to be very difficult.",
    criterion: "For two and three sets minwise hashing has variance R(1-R)/k and CRS (tau-strict) no bias; for two sets CRS has the exact mean square error (the sum over all ways in which two sketches can end), all to 4 standard errors of at most 2%. The variance of CRS is below that of minwise hashing by more than 4 standard errors at every R. Bottom-k sketches of disjoint sets, cut to b bits, share as many values as chance alone predicts, to 4 standard errors of at most 2%.",
    run,
};

const K: u32 = 128;
const SIZE: usize = 300;
/// Sets of which a sketch is a small part.
const LARGE: usize = 10_000;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let runs = context.size(6_500, 10_000);
    let (mut checks, mut ratios) = (Checks::default(), Vec::new());
    let mut table = context.table(
        "",
        &["sets", "R", "k", "runs", "var_minwise", "theory", "bias_crs", "var_crs", "var_crs_exact", "ratio"],
    )?;
    let mut chart = Chart::new("Variance at k = 128, sets of 300", Axis::linear("R"), Axis::linear("k Var"));
    for (colour, ways) in [2usize, 3].into_iter().enumerate() {
        let mut series = [Vec::new(), Vec::new(), Vec::new()];
        for (number, common) in [50usize, 125, 200, 275].into_iter().enumerate() {
            context.step(format_args!("{ways} sets, {common} common"));
            let union = ways * (SIZE - common) + common;
            let truth = common as f64 / union as f64;
            let (mut minwise, mut crs) = (Errors::default(), Errors::default());
            for run in 0..runs {
                let mut random = Random::new(benzer_core::hash::split(
                    context.seed((ways * 10 + number) as u64),
                    run as u64,
                ));
                let shared: Vec<u64> = (0..common).map(|_| random.next()).collect();
                let mut set = || {
                    let own: Vec<u64> = (common..SIZE).map(|_| random.next()).collect();
                    Features::set(shared.iter().copied().chain(own))
                };
                let sets: Vec<Features> = (0..ways).map(|_| set()).collect();
                let seed = random.next();
                let sketches = |family: Family| -> Result<Vec<Sketch>> {
                    let sketcher = SketchSpec { seed, ..SketchSpec::full(family, K) }.sketcher()?;
                    Ok(sets.iter().map(|set| sketcher.sketch(set)).collect::<benzer_core::Result<_>>()?)
                };
                let full = sketches(Family::Permutations(Scheme::Native))?;
                let words: Vec<&[u64]> = full.iter().map(Sketch::words).collect();
                minwise
                    .push(1.0 - f64::from(count::not_all_equal(&words, Bits::FULL)) / f64::from(K) - truth);
                let bottom = sketches(Family::BottomK)?;
                let smallest: Vec<_> = bottom
                    .iter()
                    .map(|s| bottom_k::Smallest { hashes: s.words(), complete: false, size: s.size() })
                    .collect();
                let sample = bottom_k::sample(&smallest)?;
                crs.push(sample.common as f64 / sample.kept.max(1) as f64 - truth);
            }
            let theory = truth * (1.0 - truth) / f64::from(K);
            let what = format!("{ways} sets, R = {truth:.3}");
            let of_crs =
                (ways == 2).then(|| Samples::new([SIZE; 2], common, K as usize).errors(truth).tau_strict);
            table.push(row![
                ways,
                truth,
                K,
                runs,
                minwise.mse().value,
                theory,
                crs.bias().value,
                crs.variance(),
                of_crs.unwrap_or(f64::NAN),
                crs.variance() / theory
            ])?;
            if let Some(exact) = of_crs {
                checks.agrees(format_args!("{what}: CRS"), crs.mse(), exact);
            }
            checks.agrees(format_args!("{what}: minwise"), minwise.mse(), theory);
            checks.agrees_on(format_args!("{what}: CRS bias"), crs.bias(), 0.0, crs.rms());
            checks.holds(
                format_args!("{what}: CRS {} is better than {theory}", crs.mse().value),
                crs.mse().value + 4.0 * crs.mse().error < theory,
            );
            ratios.push(crs.variance() / theory);
            let k = f64::from(K);
            series
                .iter_mut()
                .zip([minwise.mse().value, theory, crs.mse().value])
                .for_each(|(s, v)| s.push((truth, k * v)));
        }
        let [minwise, theory, crs] = series;
        chart.push(Series::points(format!("minwise, {ways} sets"), minwise).colour(colour));
        chart.push(Series::line("R (1-R)", theory).colour(colour));
        chart.push(Series::points(format!("CRS, {ways} sets"), crs).colour(colour + 2));
    }
    let mut cut = context.table("b_bit", &["b", "k", "shared_by_chance", "expected"])?;
    let by_chance = truncated(context, &mut cut, &mut checks)?;
    let [low, high] =
        [f64::min, f64::max].map(|pick| ratios.iter().copied().reduce(pick).unwrap_or_default());
    // Of small sets a sample holds a large part, which is what the variance gains from.
    let large = [0.1, 0.5, 0.9].map(|target| {
        let common = plant::common(LARGE, target);
        let truth = plant::jaccard(LARGE, common);
        let theory = truth * (1.0 - truth) / f64::from(K);
        Samples::new([LARGE; 2], common, K as usize).errors(truth).tau_strict / theory
    });
    let [least, most] = [f64::min, f64::max].map(|pick| large.into_iter().reduce(pick).unwrap_or_default());
    let verdict = format!(
        "At equal k = {K}, CRS has {low:.2} to {high:.2} times the variance for sets of {SIZE}, of which {K} are a large part, and by the exact sum {least:.2} to {most:.2} times for pairs of sets of {LARGE}, at one hash per element. \
         That a b-bit form is difficult is not shown, only that cutting the values gives none: cut to 8 bits, sketches of {K} hashes of disjoint sets share {by_chance:.1} values by chance."
    );
    let claim = Claim::of(&[high < 1.0, most < 1.0, false]);
    Ok(Outcome { tables: vec![table, cut], charts: vec![chart], checks, claim, verdict })
}

/// Values that two bottom-k sketches of disjoint sets share when they are cut to b bits.
fn truncated(context: &Context<'_>, table: &mut crate::Table, checks: &mut Checks) -> Result<f64> {
    let mut first = f64::NAN;
    for b in [8u32, 12, 16] {
        let mut shared = crate::Moments::default();
        for run in 0..14_000 {
            let mut random = Random::new(benzer_core::hash::split(context.seed(77 + u64::from(b)), run));
            let sketcher =
                SketchSpec { seed: random.next(), ..SketchSpec::full(Family::BottomK, K) }.sketcher()?;
            let mut values = || -> Result<std::collections::BTreeSet<u64>> {
                let sketch = sketcher.sketch(&Features::set((0..SIZE).map(|_| random.next())))?;
                Ok(sketch.words().iter().map(|hash| hash & ((1 << b) - 1)).collect())
            };
            let (x, y) = (values()?, values()?);
            shared.push(x.intersection(&y).count() as f64);
        }
        let n = f64::from(1u32 << b);
        let hit = 1.0 - (1.0 - 1.0 / n).powi(K as i32);
        let expected = n * hit * hit;
        table.push(row![b, K, shared.mean().value, expected])?;
        checks.agrees(format_args!("{b} bits shared by chance"), shared.mean(), expected);
        if b == 8 {
            first = shared.mean().value;
        }
    }
    Ok(first)
}

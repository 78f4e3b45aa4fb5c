//! 000, future work: conditional random sampling (CRS, one permutation, the smallest hashes) against minwise hashing for two and three sets; why it has
//! no b-bit form.

use std::collections::BTreeSet;

use benzer_core::Features;
use benzer_core::estimate::bottom_k::{self, Smallest};
use benzer_core::sketch::{Bits, Family, Sketch, SketchSpec, count};

use crate::data::plant;
use crate::exact::bottom_k::Samples;
use crate::measure::sketches::{self, INDEPENDENT, share};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
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
    let mut checks = Checks::default();
    let (mut table, mut cut) = (context.table("")?, context.table("b_bit")?);
    let mut chart = Chart::new("Variance at k = 128, sets of 300", Axis::linear("R"), Axis::linear("k Var"));
    for (colour, ways) in [2, 3].into_iter().enumerate() {
        let mut mse_of_crs = Curve::new();
        for (number, common) in [50, 125, 200, 275].into_iter().enumerate() {
            context.step(format_args!("{ways} sets, {common} common"));
            let truth = common as f64 / (ways * (SIZE - common) + common) as f64;
            let errors = measure(context, (ways * 10 + number) as u64, ways, common, truth)?;
            table.push(compare(ways, common, truth, errors, &mut checks))?;
            mse_of_crs.push((truth, errors[1].mse().value));
        }
        let [minwise, theory] = table.all().only("sets", ways).curves("R", ["var_minwise", "theory"]);
        let [minwise, theory, crs] = [minwise, theory, mse_of_crs]
            .map(|curve| curve.into_iter().map(|(r, variance)| (r, f64::from(K) * variance)).collect());
        chart.push(Series::points(format!("minwise, {ways} sets"), minwise).colour(colour));
        chart.push(Series::line("R (1-R)", theory).colour(colour));
        chart.push(Series::points(format!("CRS, {ways} sets"), crs).colour(colour + 2));
    }
    let by_chance = truncated(context, &mut cut, &mut checks)?;
    let [low, high] = range(table.all().column("ratio"));
    // Of small sets a sample holds a large part, which is what the variance gains from.
    let [low_large, high_large] = range([0.1, 0.5, 0.9].map(|target| {
        let common = plant::common(LARGE, target);
        let truth = plant::jaccard(LARGE, common);
        Samples::new([LARGE; 2], common, K as usize).errors(truth).tau_strict / variance(truth)
    }));
    let verdict = format!(
        "At equal k = {K}, CRS has {low:.2} to {high:.2} times the variance for sets of {SIZE}, of which {K} are a large part, and by the exact sum {low_large:.2} to {high_large:.2} times for pairs of sets of {LARGE}, at one hash per element. \
         That a b-bit form is difficult is not shown, only that cutting the values gives none: cut to 8 bits, sketches of {K} hashes of disjoint sets share {by_chance:.1} values by chance."
    );
    let claim = Claim::of(&[high < 1.0, high_large < 1.0, false]);
    Ok(Outcome { tables: vec![table, cut], charts: vec![chart], checks, claim, verdict })
}

fn variance(truth: f64) -> f64 {
    truth * (1.0 - truth) / f64::from(K)
}

fn measure(
    context: &Context<'_>,
    stream: u64,
    ways: usize,
    common: usize,
    truth: f64,
) -> Result<[Errors; 2]> {
    let (mut minwise, mut crs) = (Errors::default(), Errors::default());
    for run in 0..context.size(6_500, 10_000) {
        let mut random = context.random(stream, run);
        let sets = plant::sets(&vec![SIZE; ways], common, &mut random);
        let seed = random.next();
        let spec = |family: Family| SketchSpec { seed, ..SketchSpec::full(family, K) };
        let full = sketches::of(&spec(INDEPENDENT), &sets)?;
        let words: Vec<&[u64]> = full.iter().map(Sketch::words).collect();
        minwise.push(1.0 - f64::from(count::not_all_equal(&words, Bits::FULL)) / f64::from(K) - truth);
        let bottom = sketches::of(&spec(Family::BottomK), &sets)?;
        let smallest = bottom.iter().map(|s| Smallest { hashes: s.words(), complete: false, size: s.size() });
        crs.push(share(bottom_k::sample(&smallest.collect::<Vec<_>>())?) - truth);
    }
    Ok([minwise, crs])
}

/// A row, and what is expected of it; the mean square error of CRS is known for two sets.
fn compare(ways: usize, common: usize, truth: f64, errors: [Errors; 2], checks: &mut Checks) -> Row {
    let exact = (ways == 2).then(|| Samples::new([SIZE; 2], common, K as usize).errors(truth).tau_strict);
    let ([minwise, crs], theory) = (errors, variance(truth));
    let (what, mse) = (format!("{ways} sets, R = {truth:.3}"), crs.mse());
    if let Some(exact) = exact {
        checks.agrees(format_args!("{what}: CRS"), mse, exact);
    }
    checks.agrees(format_args!("{what}: minwise"), minwise.mse(), theory);
    checks.agrees_on(format_args!("{what}: CRS bias"), crs.bias(), 0.0, crs.rms());
    let is_better = mse.value + 4.0 * mse.error < theory;
    checks.holds(format_args!("{what}: CRS {} is better than {theory}", mse.value), is_better);
    row![
        "sets": ways, "R": truth, "k": K, "runs": crs.n(), "var_minwise": minwise.mse().value,
        "theory": theory, "bias_crs": crs.bias().value, "var_crs": crs.variance(),
        "var_crs_exact": exact.unwrap_or(f64::NAN), "ratio": crs.variance() / theory,
    ]
}

/// Values that two bottom-k sketches of disjoint sets share when they are cut to b bits: how many with 8 bits.
fn truncated(context: &Context<'_>, table: &mut Table, checks: &mut Checks) -> Result<f64> {
    let mut first = f64::NAN;
    for b in [8u32, 12, 16] {
        let mut shared = Moments::default();
        for run in 0..14_000 {
            let mut random = context.random(77 + u64::from(b), run);
            let sketcher =
                SketchSpec { seed: random.next(), ..SketchSpec::full(Family::BottomK, K) }.sketcher()?;
            let mut values = || -> Result<BTreeSet<u64>> {
                let sketch = sketcher.sketch(&Features::set((0..SIZE).map(|_| random.next())))?;
                Ok(sketch.words().iter().map(|hash| hash & ((1 << b) - 1)).collect())
            };
            let (x, y) = (values()?, values()?);
            shared.push(x.intersection(&y).count() as f64);
        }
        let n = f64::from(1u32 << b);
        let hit = 1.0 - (1.0 - 1.0 / n).powi(K as i32);
        let (shared, expected) = (shared.mean(), n * hit * hit);
        table.push(row!["b": b, "k": K, "shared_by_chance": shared.value, "expected": expected])?;
        checks.agrees(format_args!("{b} bits shared by chance"), shared, expected);
        if b == 8 {
            first = shared.value;
        }
    }
    Ok(first)
}

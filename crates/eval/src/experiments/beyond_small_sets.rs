//! Beyond the papers: one-pass families on small sets. Registers that depend on each other change the variance; by how much?

use benzer_core::estimate::{Registers, Scheme as Filling};
use benzer_core::sketch::{Bits, Family, Scheme, Sketch, SketchSpec, count, fast};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_small_sets",
    source: "beyond the papers; one-pass sketches",
    title: "One-pass families on small sets",
    claim: "One pass over the elements fills all registers: with half the variance of k permutations for small sets (fast similarity sketching), or up to half more (one permutation, densified).",
    criterion: "For sets of 10 to 1,000 elements and three similarities, k = 128: the variance divided by J(1-J)/k is within 4 standard errors of the factor that estimates are given, standard error at most 2%; no bias.",
    run,
};

const K: u32 = 128;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let runs = context.size(8_000, 10_000);
    let (mut checks, mut ratios) = (Checks::default(), Vec::new());
    let mut table =
        context.table("", &["family", "n", "J", "k", "runs", "bias", "variance_ratio", "se", "factor"])?;
    let families = [
        Family::Permutations(Scheme::Native),
        Family::Fast { rounds: fast::DEFAULT_ROUNDS },
        Family::OnePermutation,
    ];
    let mut chart = Chart::new(
        "Variance over J (1-J) / k, J near 0.5",
        Axis::log("elements of each set"),
        Axis::linear("ratio"),
    );
    for (colour, family) in families.into_iter().enumerate() {
        let (mut measured, mut theory) = (Vec::new(), Vec::new());
        for n in [10usize, 50, 100, 1000] {
            for target in [0.2, 0.5, 0.9] {
                context.step(format_args!("{family}, n = {n}, J = {target}"));
                let common = plant::common(n, target);
                let jaccard = plant::jaccard(n, common);
                let mut errors = Errors::default();
                for run in 0..runs {
                    let stream = (colour * 10_000 + n) as u64 * 10 + (target * 10.0) as u64;
                    let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
                    let sets = plant::pair([n, n], common, &mut random);
                    let sketcher =
                        SketchSpec { seed: random.next(), ..SketchSpec::full(family, K) }.sketcher()?;
                    let [a, b] = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
                    let words = |sketch: &Sketch| sketch.words()[..K as usize].to_vec();
                    let equal = K - count::mismatches(&words(&a), &words(&b), Bits::FULL);
                    errors.push(f64::from(equal) / f64::from(K) - jaccard);
                }
                let registers = Registers { k: K as usize, scheme: Filling::from(family) };
                let factor = registers.factor(Some((2 * n - common) as f64));
                let unit = jaccard * (1.0 - jaccard) / f64::from(K);
                let mse = errors.mse();
                let (ratio, se) = (mse.value / unit, mse.error / unit);
                table.push(row![
                    family.to_string(),
                    n,
                    jaccard,
                    K,
                    runs,
                    errors.bias().value,
                    ratio,
                    se,
                    factor
                ])?;
                checks.agrees(
                    format_args!("{family}, n = {n}, J = {target}"),
                    crate::Mean { value: ratio, error: se },
                    factor,
                );
                checks.agrees_on(
                    format_args!("{family}, n = {n}, J = {target}: bias"),
                    errors.bias(),
                    0.0,
                    errors.rms(),
                );
                ratios.push((family, n, ratio));
                if target == 0.5 {
                    measured.push((n as f64, ratio));
                    theory.push((n as f64, factor));
                }
            }
        }
        chart.push(Series::points(family.to_string(), measured).colour(colour));
        chart.push(Series::line("", theory).colour(colour));
    }
    let range = |family: Family, n: usize| {
        let of = ratios.iter().filter(|(f, size, _)| *f == family && *size == n).map(|(.., ratio)| *ratio);
        let [low, high] =
            of.fold([f64::MAX, 0.0], |[low, high], ratio| [f64::min(low, ratio), f64::max(high, ratio)]);
        format!("{low:.2} to {high:.2} for {n}")
    };
    let list = |family: Family| [10, 50, 100, 1000].map(|n| range(family, n)).join(", ");
    let verdict = format!(
        "Variance over that of {K} permutations, on planted sets, by elements of each set: `fast` {}; one permutation {}. The factors that error bars use agree, to {:.1} standard errors.",
        list(families[1]),
        list(families[2]),
        checks.furthest()
    );
    let of = |family: Family| ratios.iter().filter(move |(f, size, _)| *f == family && *size <= 100);
    let claim = Claim::of(&[
        of(families[1]).all(|(.., ratio)| *ratio < 0.6),
        of(families[2]).all(|(.., ratio)| *ratio < 1.5),
    ]);
    Ok(Outcome { tables: vec![table], charts: vec![chart], checks, claim, verdict })
}

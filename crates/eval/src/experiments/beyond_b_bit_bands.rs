//! Beyond the papers: bands of b-bit registers have a collision floor: unrelated documents agree by chance.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Family, Packing, Scheme, SketchSpec};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Moments, Outcome, Result, Series, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_b_bit_bands",
    source: "beyond 004, section 7.4",
    title: "Bands of b-bit registers and their floor",
    claim: "b-bit samples are a new LSH family with nearly the exponent of whole samples.",
    criterion: "For 20 bands of 5 and 10 bands of 10: the share of disjoint and of similar pairs that share a band is within 4 standard errors of the curve that bandings promise, standard error at most 2%. One bit in 20 x 5 makes 47% of unrelated pairs candidates.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("", &["bands", "rows", "b", "J", "pairs", "measured", "se", "theory"])?;
    let pairs = context.size(8_000, 60_000);
    let elements = 40;
    let mut charts = Vec::new();
    let floor = curve::probability_b_bit(0.0, Collision::sparse(1), 20, 5);
    checks.close("the floor of one bit in 20 x 5", floor, 0.47, 0.001);
    for shape in [Shape { bands: 20, rows: 5 }, Shape { bands: 10, rows: 10 }] {
        let mut chart = Chart::new(
            format!("{} bands of {}", shape.bands, shape.rows),
            Axis::linear("J"),
            Axis::log("share of candidates").from_to(1e-7, 1.3),
        );
        for (colour, b) in [1u32, 2, 4, 8].into_iter().enumerate() {
            context.step(format_args!("{} x {}, {b} bits", shape.bands, shape.rows));
            let k = (shape.bands * shape.rows) as u32;
            let spec = SketchSpec {
                packing: Packing::bits(b)?,
                ..SketchSpec::full(Family::Permutations(Scheme::Native), k)
            };
            // It knows that a key has 64 bits: of 10 rows of 8 bits, eight count.
            let banding = Banding::new(&spec, shape)?;
            let theory = |j: f64| banding.probability(j);
            let mut points = Vec::new();
            for target in [0.0, 0.5, 0.8] {
                let common = plant::common(elements, target);
                let jaccard = plant::jaccard(elements, common);
                let expected = theory(jaccard);
                // Rare events need more pairs than they are worth; the curve shows them.
                if expected * (pairs as f64) < 2_600.0 {
                    continue;
                }
                let mut shares = Moments::default();
                for pair in 0..pairs {
                    let stream = u64::from(b) * 1000 + shape.bands as u64 * 10 + (target * 10.0) as u64;
                    let mut random = Random::new(benzer_core::hash::split(context.seed(stream), pair as u64));
                    let sets = plant::pair([elements; 2], common, &mut random);
                    let sketcher = SketchSpec { seed: random.next(), ..spec.clone() }.sketcher()?;
                    let [x, y] = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
                    let met = banding.keys(x.words()).zip(banding.keys(y.words())).any(|(x, y)| x == y);
                    shares.push(f64::from(u8::from(met)));
                }
                let mut measured = shares.mean();
                // What always happens has no spread of its own; the binomial one of theory stands in.
                measured.error =
                    measured.error.max((expected * (1.0 - expected) / pairs as f64).max(0.0).sqrt());
                table.push(row![
                    shape.bands,
                    shape.rows,
                    b,
                    jaccard,
                    pairs,
                    measured.value,
                    measured.error,
                    expected
                ])?;
                checks.agrees_on(
                    format_args!("{shape:?}, b = {b}, J = {target}"),
                    measured,
                    expected,
                    expected.max(0.5),
                );
                points.push((jaccard, measured.value));
            }
            chart.push(Series::points(format!("b = {b}"), points).colour(colour));
            chart.push(
                Series::line("", (0..=100).map(|i| f64::from(i) / 100.0).map(|j| (j, theory(j))).collect())
                    .colour(colour),
            );
        }
        charts.push(chart);
    }
    let verdict = "The exponent says nothing about the floor: one bit in 20 bands of 5 makes 47% of unrelated pairs candidates, two bits 1.9%, four bits 2 in 100,000. Keep rows x b at log2(bands x documents) + 10 or more, as `plan` does.";
    Ok(Outcome { tables: vec![table], charts, checks, verdict: verdict.to_owned() })
}

//! Beyond the papers: bands of b-bit registers have a collision floor: unrelated documents agree by chance.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Family, Packing, Scheme, SketchSpec};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, Series, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_b_bit_bands",
    source: "beyond 004, section 7.4",
    title: "Bands of b-bit registers and their floor",
    claim: "b-bit samples are a new LSH family with nearly the exponent of whole samples.",
    criterion: "For 20 bands of 5 and 10 bands of 10: the share of disjoint and of similar pairs that share a band is within 4 standard errors of the curve that bandings promise, standard error at most 2%, wherever 2,600 candidates are expected (fewer cannot be known to 2%). The floor of one bit in 20 x 5 is 1 - (1 - 2^-5)^20 = 0.4700 to 1e-4.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("", &["bands", "rows", "b", "J", "pairs", "measured", "se", "theory"])?;
    let pairs = context.size(8_000, 30_000);
    let elements = 40;
    let mut charts = Vec::new();
    let floor = curve::probability_b_bit(0.0, Collision::sparse(1), 20, 5);
    checks.close("the floor of one bit in 20 x 5", floor, 0.470_051, 1e-4);
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
                checks.agrees(format_args!("{shape:?}, b = {b}, J = {target}"), measured, expected);
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
    let floors = [1, 2, 4, 8].map(|b| {
        let floor = curve::probability_b_bit(0.0, Collision::sparse(b), 20, 5);
        format!("{} with {b}", crate::table::significant(floor))
    });
    let verdict = format!(
        "The exponent is measured by li2011_rho, not here, and says nothing about the floor. Share of unrelated pairs that 20 bands of 5 make candidates, by bits of a register: {}; measured shares agree with the curves of `Banding`, to {:.1} standard errors.",
        floors.join(", "),
        checks.furthest()
    );
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict })
}

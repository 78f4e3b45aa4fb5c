//! Beyond the papers: bands of b-bit registers have a collision floor: unrelated documents agree by chance.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Packing, SketchSpec};

use crate::data::plant;
use crate::measure::sketches::{self, INDEPENDENT};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_b_bit_bands",
    source: "beyond 004, section 7.4",
    title: "Bands of b-bit registers and their floor",
    claim: "b-bit samples are a new LSH family with nearly the exponent of whole samples.",
    criterion: "For 20 bands of 5 and 10 bands of 10: the share of disjoint and of similar pairs that share a band is within 4 standard errors of the curve that bandings promise, standard error at most 2%, wherever 2,600 candidates are expected (fewer cannot be known to 2%). The floor of one bit in 20 x 5 is 1 - (1 - 2^-5)^20 = 0.4700 to 1e-4.",
    run,
};

const BITS: [u32; 4] = [1, 2, 4, 8];
/// Elements of each set.
const ELEMENTS: usize = 40;
/// Rarer candidates need more pairs than they are worth; the curve shows them.
const MIN_CANDIDATES: f64 = 2_600.0;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let n = context.size(8_000, 30_000);
    let mut charts = Vec::new();
    checks.close("the floor of one bit in 20 x 5", floor(1), 0.470_051, 1e-4);
    for shape in [Shape { bands: 20, rows: 5 }, Shape { bands: 10, rows: 10 }] {
        let Shape { bands, rows } = shape;
        let y = Axis::log("share of candidates").between(1e-7, 1.3);
        let mut chart = Chart::new(format!("{bands} bands of {rows}"), Axis::linear("J"), y);
        for (colour, b) in BITS.into_iter().enumerate() {
            context.step(format_args!("{bands} x {rows}, {b} bits"));
            let k = (bands * rows) as u32;
            let spec = SketchSpec { packing: Packing::bits(b)?, ..SketchSpec::full(INDEPENDENT, k) };
            // It knows that a key has 64 bits: of 10 rows of 8 bits, eight count.
            let banding = Banding::new(&spec, shape)?;
            for target in [0.0, 0.5, 0.8] {
                let common = plant::common(ELEMENTS, target);
                let jaccard = plant::jaccard(ELEMENTS, common);
                let expected = banding.probability(jaccard);
                if expected * (n as f64) < MIN_CANDIDATES {
                    continue;
                }
                let stream = u64::from(b) * 1000 + bands as u64 * 10 + (target * 10.0) as u64;
                let shares = measure(context, stream, n, common, &spec, &banding)?;
                let measured = shares.mean().with_error_of_share(expected, n as f64);
                table.push(row![
                    "bands": bands, "rows": rows, "b": b, "J": jaccard, "pairs": n,
                    "measured": measured.value, "se": measured.error, "theory": expected,
                ])?;
                checks.agrees(format_args!("{shape:?}, b = {b}, J = {target}"), measured, expected);
            }
            let [measured] = table.all().only("bands", bands).only("b", b).curves("J", ["measured"]);
            let theory = hundredths(0..=100, |j| banding.probability(j));
            chart.compare(format!("b = {b}"), colour, [measured, theory]);
        }
        charts.push(chart);
    }
    let verdict = format!(
        "The exponent is measured by li2011_rho, not here, and says nothing about the floor. Share of unrelated pairs that 20 bands of 5 make candidates, by bits of a register: {}; measured shares agree with the curves of `Banding`, to {:.1} standard errors.",
        BITS.map(|b| format!("{} with {b}", significant(floor(b)))).join(", "),
        checks.furthest
    );
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict })
}

/// The probability that unrelated sets share one of 20 bands of 5.
fn floor(b: u32) -> f64 {
    curve::probability_b_bit(0.0, Collision::sparse(b), 20, 5)
}

/// The share of `n` pairs that share a band.
fn measure(
    context: &Context<'_>,
    stream: u64,
    n: usize,
    common: usize,
    spec: &SketchSpec,
    banding: &Banding,
) -> Result<Moments> {
    let mut shares = Moments::default();
    for pair in 0..n {
        let mut random = context.random(stream, pair);
        let sets = plant::pair(ELEMENTS, common, &mut random);
        let spec = SketchSpec { seed: random.next(), ..spec.clone() };
        let [x, y] = sketches::of_pair(&spec, sets.each_ref())?;
        let met = banding.keys(x.words()).zip(banding.keys(y.words())).any(|(x, y)| x == y);
        shares.push(f64::from(u8::from(met)));
    }
    Ok(shares)
}

//! Beyond the papers: error against bits for all families, at equal storage and at equal time.

use std::time::Instant;

use benzer_core::estimate::{of, two_way};
use benzer_core::sketch::{Family, Packing, Scheme, SketchSpec, fast};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Errors, Experiment, Outcome, Result, Series, plant};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_frontier",
    source: "beyond the papers; what `plan` recommends from",
    title: "Error against bits, all families",
    claim: "Which sketch has the least error for its bits depends on the similarity: few bits and many registers for high ones.",
    criterion: "At J = 0.5, 0.8 and 0.95 and 512 to 4,096 bits: k permutations of b bits have the error of (11) to 4 standard errors of at most 2%; `fast` is never worse than that by more than 4 standard errors. Estimates are those that users get, clamped to what is possible.",
    run,
};

const ELEMENTS: usize = 120;

struct Kind {
    name: &'static str,
    family: Family,
    /// Registers and packing for a number of bits.
    of: fn(u32, f64) -> Option<(u32, Packing)>,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context
        .table("", &["J", "bits", "sketch", "registers", "runs", "rms", "theory", "microseconds_per_set"])?;
    let native = Family::Permutations(Scheme::Native);
    let quick = Family::Fast { rounds: fast::DEFAULT_ROUNDS };
    let kinds = [
        Kind {
            name: "permutations, 1 bit",
            family: native,
            of: |bits, _| Some((bits, Packing::bits(1).ok()?)),
        },
        Kind {
            name: "permutations, 8 bits",
            family: native,
            of: |bits, _| Some((bits / 8, Packing::bits(8).ok()?)),
        },
        Kind { name: "fast, 1 bit", family: quick, of: |bits, _| Some((bits, Packing::bits(1).ok()?)) },
        Kind { name: "fast, 8 bits", family: quick, of: |bits, _| Some((bits / 8, Packing::bits(8).ok()?)) },
        Kind { name: "fast, 64 bits", family: quick, of: |bits, _| Some((bits / 64, Packing::FULL)) },
        Kind {
            name: "one permutation, 1 bit",
            family: Family::OnePermutation,
            of: |bits, _| Some((bits, Packing::bits(1).ok()?)),
        },
        Kind {
            name: "bottom-k, 64 bits",
            family: Family::BottomK,
            of: |bits, _| Some((bits / 64, Packing::FULL)),
        },
        Kind {
            name: "fast, odd",
            family: quick,
            of: |bits, j| {
                (j > 0.7).then_some((
                    ((f64::from(bits) / (4.0 * (1.0 - j))) as u32).min(1 << 16),
                    Packing::Odd { bits },
                ))
            },
        },
        Kind {
            name: "fast, xor of 4",
            family: quick,
            of: |bits, j| (j > 0.7).then_some((bits * 4, Packing::Xor { samples: 4 })),
        },
    ];
    let mut charts = Vec::new();
    for target in [0.5, 0.8, 0.95] {
        let mut storage = Chart::new(
            format!("Error at equal storage, J = {target}"),
            Axis::log("bits"),
            Axis::log("RMS error"),
        );
        let mut time = Chart::new(
            format!("Error at equal time, J = {target}"),
            Axis::log("microseconds per set of 120"),
            Axis::log("RMS error"),
        );
        for (colour, kind) in kinds.iter().enumerate() {
            let (mut by_bits, mut by_time) = (Vec::new(), Vec::new());
            let sizes: &[u32] = if context.is_quick() { &[512, 2048] } else { &[512, 1024, 4096] };
            for &bits in sizes {
                context.step(format_args!("J = {target}, {}, {bits} bits", kind.name));
                let Some((registers, packing)) = (kind.of)(bits, target) else { continue };
                let spec = SketchSpec { packing, ..SketchSpec::full(kind.family, registers) };
                let point = measure(context, &spec, target, u64::from(bits) * 100 + colour as u64)?;
                let b = if let Packing::Bits(b) = packing { b.get() } else { 0 };
                let theory = if b > 0 && kind.family != Family::BottomK {
                    two_way::variance(point.jaccard, b, f64::from(registers))
                } else {
                    f64::NAN
                };
                let mse = point.errors.mse();
                table.push(row![
                    point.jaccard,
                    bits,
                    kind.name,
                    registers,
                    point.runs,
                    mse.value.sqrt(),
                    theory.sqrt(),
                    point.seconds * 1e6
                ])?;
                let what = format!("J = {target}, {}, {bits} bits", kind.name);
                if kind.family == native && target < 0.9 {
                    checks.agrees(&what, mse, theory);
                }
                if kind.family == quick && theory.is_finite() {
                    checks.holds(
                        format_args!("{what}: {} not above {theory}", mse.value),
                        mse.value <= theory + 4.0 * mse.error,
                    );
                }
                by_bits.push((f64::from(bits), mse.value.sqrt()));
                by_time.push((point.seconds * 1e6, mse.value.sqrt()));
            }
            storage.push(Series::points(kind.name, by_bits.clone()).colour(colour));
            storage.push(Series::line("", by_bits).colour(colour));
            time.push(Series::points(kind.name, by_time).colour(colour));
        }
        charts.push(storage);
        charts.push(time);
    }
    let verdict = "At equal storage one bit beats eight above J = 1/3, and xor and odd beat one bit above 0.8; at equal time `fast` with eight bits is ahead of everything else, because a register costs it almost nothing. That is why it is the default.";
    Ok(Outcome { tables: vec![table], charts, checks, verdict: verdict.to_owned() })
}

struct Point {
    errors: Errors,
    jaccard: f64,
    runs: usize,
    seconds: f64,
}

fn measure(context: &Context<'_>, spec: &SketchSpec, target: f64, stream: u64) -> Result<Point> {
    // Odd and xor sketches of many registers are not compared with a formula here: fewer runs will do.
    let is_bits = matches!(spec.packing, Packing::Bits(_));
    let runs = context.size(if is_bits { 5_200 } else { 400 }, if is_bits { 6_000 } else { 600 });
    let common = plant::common(ELEMENTS, target);
    let jaccard = plant::jaccard(ELEMENTS, common);
    let mut errors = Errors::default();
    let mut seconds = f64::MAX;
    for run in 0..runs {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let sets = plant::pair([ELEMENTS; 2], common, &mut random);
        let sketcher = SketchSpec { seed: random.next(), ..spec.clone() }.sketcher()?;
        let started = Instant::now();
        let sketches = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
        seconds = seconds.min(started.elapsed().as_secs_f64() / 2.0);
        if let Some(estimate) = of::jaccard(&sketches[0], &sketches[1])?.value() {
            errors.push(estimate - jaccard);
        }
    }
    Ok(Point { errors, jaccard, runs, seconds })
}

//! Beyond the papers: error against bits for all families, at equal storage and at equal time.

use std::time::Instant;

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::{Registers, Scheme as Filling, of, two_way};
use benzer_core::sketch::{Family, Packing, Scheme, SketchSpec, fast};

use crate::check::is_precise;
use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Errors, Experiment, Outcome, Result, Series, Table, exact, plant,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_frontier",
    source: "beyond the papers; what `plan` recommends from",
    title: "Error against bits, all families",
    claim: "Which sketch has the least error for its bits depends on the similarity: few bits and many registers for high ones.",
    criterion: "At J = 0.5, 0.8 and 0.95 and 512 to 4,096 bits, for the estimates that users get: the mean square error of k permutations of b bits is within 4 standard errors of the exact binomial expectation, clamping included; that of `fast` and of one permutation within 4 standard errors of (11) with their factors, where the estimate is at least 4 standard deviations from 0 and 1; standard errors at most 2%. What is best at equal storage and at equal time is read off the measured errors; times decide nothing.",
    run,
};

const ELEMENTS: usize = 120;
/// Time that a set may take, in microseconds.
const TIMES: [f64; 7] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

struct Kind {
    name: &'static str,
    family: Family,
    /// Registers and packing for a number of bits.
    of: fn(u32, f64) -> Option<(u32, Packing)>,
}

/// One kind of sketch at one size and similarity.
struct Point {
    target: f64,
    kind: &'static str,
    bits: u32,
    microseconds: f64,
    rms: f64,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context
        .table("", &["J", "bits", "sketch", "registers", "runs", "rms", "theory", "microseconds_per_set"])?;
    let sizes: &[u32] = if context.is_quick() { &[512, 2048] } else { &[512, 1024, 2048, 4096] };
    let (mut charts, mut points) = (Vec::new(), Vec::new());
    for target in [0.5, 0.8, 0.95] {
        let log = |label: &str| Axis::log(label);
        let mut storage =
            Chart::new(format!("Error at equal storage, J = {target}"), log("bits"), log("RMS error"));
        let mut time = Chart::new(
            format!("Error at equal time, J = {target}"),
            log("microseconds per set of 120"),
            log("RMS error"),
        );
        for (colour, kind) in kinds().iter().enumerate() {
            let (mut by_bits, mut by_time) = (Vec::new(), Vec::new());
            for &bits in sizes {
                context.step(format_args!("J = {target}, {}, {bits} bits", kind.name));
                let Some((registers, packing)) = (kind.of)(bits, target) else { continue };
                let spec = SketchSpec { packing, ..SketchSpec::full(kind.family, registers) };
                let stream = u64::from(bits) * 100 + colour as u64;
                let point =
                    measure(context, (kind, bits), &spec, (target, stream), (&mut table, &mut checks))?;
                by_bits.push((f64::from(bits), point.rms));
                by_time.push((point.microseconds, point.rms));
                points.push(point);
            }
            storage.push(Series::points(kind.name, by_bits.clone()).colour(colour));
            storage.push(Series::line("", by_bits).colour(colour));
            time.push(Series::points(kind.name, by_time).colour(colour));
        }
        charts.push(storage);
        charts.push(time);
    }
    let (frontier, claim, verdict) = frontier(context, &points, sizes)?;
    Ok(Outcome { tables: vec![table, frontier], charts, checks, claim, verdict })
}

fn kinds() -> [Kind; 9] {
    let native = Family::Permutations(Scheme::Native);
    let quick = Family::Fast { rounds: fast::DEFAULT_ROUNDS };
    [
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
    ]
}

/// The best at each size and within each time, as a table and in sentences.
fn frontier(context: &Context<'_>, points: &[Point], sizes: &[u32]) -> Result<(Table, Claim, String)> {
    let mut table =
        context.table("best", &["J", "equal", "limit", "best", "bits", "rms", "second", "second_rms"])?;
    let (mut sentences, mut at_most_bits) = (Vec::new(), Vec::new());
    for target in [0.5, 0.8, 0.95] {
        let mut storage = Vec::new();
        for &bits in sizes {
            let at: Vec<&Point> = points.iter().filter(|p| p.target == target && p.bits == bits).collect();
            storage.extend(best(&at, (target, "bits", f64::from(bits)), &mut table)?);
        }
        let mut time = Vec::new();
        for limit in TIMES {
            let within: Vec<&Point> =
                points.iter().filter(|p| p.target == target && p.microseconds <= limit).collect();
            time.extend(best(&within, (target, "microseconds", limit), &mut table)?);
        }
        at_most_bits.extend(storage.last().map(|(name, _)| *name));
        sentences.push(format!(
            "At J = {target}: {}; {}",
            tally("bits", &storage),
            tally("microseconds", &time)
        ));
    }
    // That it depends on the similarity, and that few bits are best for high ones.
    let is_of_few_bits = |name: &&str| ["1 bit", "xor", "odd"].iter().any(|few| name.contains(few));
    let differ = at_most_bits.windows(2).any(|names| names[0] != names[1]);
    let claim = Claim::of(&[differ, at_most_bits.iter().skip(1).all(is_of_few_bits)]);
    let verdict = format!("Least error of the sizes tried, on this machine. {}.", sentences.join(". "));
    Ok((table, claim, verdict))
}

/// The point of the least error, if there is one; its name and limit.
fn best(
    points: &[&Point],
    (target, what, limit): (f64, &str, f64),
    table: &mut Table,
) -> Result<Option<(&'static str, f64)>> {
    let mut ranked: Vec<&&Point> = points.iter().collect();
    ranked.sort_by(|x, y| x.rms.total_cmp(&y.rms));
    let Some(first) = ranked.first() else { return Ok(None) };
    let second = ranked.iter().find(|p| p.kind != first.kind);
    table.push(row![
        target,
        what,
        limit,
        first.kind,
        first.bits,
        first.rms,
        second.map_or("", |p| p.kind),
        second.map_or(f64::NAN, |p| p.rms)
    ])?;
    Ok(Some((first.kind, limit)))
}

/// Which sketch is best at which limits.
fn tally(what: &str, best: &[(&'static str, f64)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    best.iter().for_each(|(name, _)| {
        if !names.contains(name) {
            names.push(name)
        }
    });
    let of = |name: &str| {
        let limits: Vec<String> = best.iter().filter(|b| b.0 == name).map(|b| b.1.to_string()).collect();
        format!("\"{name}\" at {}", limits.join(", "))
    };
    format!("at equal {what} {}", names.into_iter().map(of).collect::<Vec<_>>().join(" and "))
}

/// Runs until the error is known to 2%, where it is compared.
fn measure(
    context: &Context<'_>,
    (kind, bits): (&Kind, u32),
    spec: &SketchSpec,
    (target, stream): (f64, u64),
    (table, checks): (&mut Table, &mut Checks),
) -> Result<Point> {
    let common = plant::common(ELEMENTS, target);
    let jaccard = plant::jaccard(ELEMENTS, common);
    let theory = expected(spec, jaccard, common)?;
    let mut errors = Errors::default();
    let (mut seconds, mut runs) = (f64::MAX, 0);
    for run in 0..if theory.is_some() { 30_000 } else { context.size(400, 2_000) } {
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let sets = plant::pair([ELEMENTS; 2], common, &mut random);
        let sketcher = SketchSpec { seed: random.next(), ..spec.clone() }.sketcher()?;
        let started = Instant::now();
        let sketches = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
        seconds = seconds.min(started.elapsed().as_secs_f64() / 2.0);
        // A saturated sketch says nothing; the worst answer stands for it.
        errors.push(of::jaccard(&sketches[0], &sketches[1])?.value().unwrap_or_default() - jaccard);
        runs += 1;
        if run >= 400 && run % 100 == 0 && theory.is_some_and(|theory| is_precise(errors.mse(), theory)) {
            break;
        }
    }
    let mse = errors.mse();
    table.push(row![
        jaccard,
        bits,
        kind.name,
        spec.registers,
        runs,
        mse.value.sqrt(),
        theory.unwrap_or(f64::NAN).sqrt(),
        seconds * 1e6
    ])?;
    if let Some(theory) = theory {
        checks.agrees(format_args!("J = {target}, {}, {bits} bits", kind.name), mse, theory);
    }
    Ok(Point { target, kind: kind.name, bits, microseconds: seconds * 1e6, rms: mse.value.sqrt() })
}

/// The expected square error, where it is known: exactly for independent registers, by the factor of the family for others that are far from the ends.
fn expected(spec: &SketchSpec, jaccard: f64, common: usize) -> Result<Option<f64>> {
    let Packing::Bits(bits) = spec.packing else { return Ok(None) };
    if spec.family == Family::BottomK {
        return Ok(None);
    }
    let (k, b) = (spec.registers as usize, bits.get());
    let registers = Registers { k, scheme: Filling::from(spec.family) };
    if registers.scheme == Filling::Independent {
        let mut sum = 0.0;
        let chances = exact::binomial(k, Collision::sparse(b).probability(jaccard));
        for (equal, p) in chances.into_iter().enumerate().filter(|(_, p)| *p > 1e-14) {
            let sizes = Some([ELEMENTS as f64; 2]);
            let estimate = two_way::jaccard(equal, b, registers, sizes)?.value().unwrap_or_default();
            sum += p * (estimate - jaccard).powi(2);
        }
        return Ok(Some(sum));
    }
    let factor = registers.factor(Some((2 * ELEMENTS - common) as f64));
    let variance = Collision::sparse(b).variance(factor).at(jaccard) / k as f64;
    let is_inside = jaccard.min(1.0 - jaccard) >= 4.0 * variance.sqrt();
    Ok(is_inside.then_some(variance))
}

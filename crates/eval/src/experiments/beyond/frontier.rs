//! Beyond the papers: error against bits for all families, at equal storage and at equal time.

use std::time::Instant;

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::{Registers, Scheme as Filling, of, two_way};
use benzer_core::sketch::{Family, Packing, SketchSpec};

use crate::data::plant;
use crate::measure::sketches::{FAST, INDEPENDENT};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "beyond_frontier",
    source: "beyond the papers; what `plan` recommends from",
    title: "Error against bits, all families",
    claim: "Which sketch has the least error for its bits depends on the similarity: few bits and many registers for high ones.",
    criterion: "At J = 0.5, 0.8 and 0.95 and 512 to 4,096 bits, for the estimates that users get: the mean square error of k permutations of b bits is within 4 standard errors of the exact binomial expectation, clamping included; that of `fast` and of one permutation within 4 standard errors of (11) with their factors, where the estimate is at least 4 standard deviations from 0 and 1; standard errors at most 2%. What is best at equal storage and at equal time is read off the measured errors; times decide nothing.",
    run,
};

const ELEMENTS: usize = 120;
const TIMES: [f64; 7] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

struct Kind {
    name: &'static str,
    family: Family,
    /// Registers and packing for a number of bits.
    of: fn(u32, f64) -> Option<(u32, Packing)>,
}

const SIMILARITIES: [f64; 3] = [0.5, 0.8, 0.95];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let (mut table, mut best) = (context.table("")?, context.table("best")?);
    let sizes = context.points(&[512, 2048], &[512, 1024, 2048, 4096]);
    for target in SIMILARITIES {
        for (number, kind) in kinds().iter().enumerate() {
            for &bits in sizes {
                context.step(format_args!("J = {target}, {}, {bits} bits", kind.name));
                let Some((registers, packing)) = (kind.of)(bits, target) else { continue };
                let spec = SketchSpec { packing, ..SketchSpec::full(kind.family, registers) };
                let measured = measure(context, u64::from(bits) * 100 + number as u64, &spec, target)?;
                let Measured { jaccard, errors, theory, microseconds } = measured;
                if let Some(theory) = theory {
                    let what = format_args!("J = {target}, {}, {bits} bits", kind.name);
                    checks.agrees(what, errors.mse(), theory);
                }
                table.push(row![
                    "J": jaccard, "bits": bits, "sketch": kind.name, "registers": registers,
                    "runs": errors.n(), "rms": errors.rms(), "theory": theory.unwrap_or(f64::NAN).sqrt(),
                    "microseconds_per_set": microseconds,
                ])?;
            }
        }
    }
    let charts = charts(&table.all());
    let (claim, verdict) = frontier(&table.all(), sizes, &mut best)?;
    Ok(Outcome { tables: vec![table, best], charts, checks, claim, verdict })
}

/// Rows of sets whose similarity is as near to this as whole numbers allow.
fn at<'a>(rows: &Rows<'a>, target: f64) -> Rows<'a> {
    rows.only("J", plant::jaccard(ELEMENTS, plant::common(ELEMENTS, target)))
}

fn kinds() -> [Kind; 9] {
    let kind = |name, family, of| Kind { name, family, of };
    [
        kind("permutations, 1 bit", INDEPENDENT, |bits, _| Some((bits, Packing::bits(1).ok()?))),
        kind("permutations, 8 bits", INDEPENDENT, |bits, _| Some((bits / 8, Packing::bits(8).ok()?))),
        kind("fast, 1 bit", FAST, |bits, _| Some((bits, Packing::bits(1).ok()?))),
        kind("fast, 8 bits", FAST, |bits, _| Some((bits / 8, Packing::bits(8).ok()?))),
        kind("fast, 64 bits", FAST, |bits, _| Some((bits / 64, Packing::FULL))),
        kind("one permutation, 1 bit", Family::OnePermutation, |bits, _| {
            Some((bits, Packing::bits(1).ok()?))
        }),
        kind("bottom-k, 64 bits", Family::BottomK, |bits, _| Some((bits / 64, Packing::FULL))),
        kind("fast, odd", FAST, |bits, j| {
            let registers = ((f64::from(bits) / (4.0 * (1.0 - j))) as u32).min(1 << 16);
            (j > 0.7).then_some((registers, Packing::Odd { bits }))
        }),
        kind("fast, xor of 4", FAST, |bits, j| (j > 0.7).then_some((bits * 4, Packing::Xor { samples: 4 }))),
    ]
}

struct Measured {
    jaccard: f64,
    errors: Errors,
    theory: Option<f64>,
    microseconds: f64,
}

/// Runs until the error is known to 2%, where it is compared.
fn measure(context: &Context<'_>, stream: u64, spec: &SketchSpec, target: f64) -> Result<Measured> {
    let common = plant::common(ELEMENTS, target);
    let jaccard = plant::jaccard(ELEMENTS, common);
    let theory = expected(spec, jaccard, common)?;
    let mut errors = Errors::default();
    let mut seconds = f64::MAX;
    for run in 0..if theory.is_some() { 30_000 } else { context.size(400, 2_000) } {
        let mut random = context.random(stream, run);
        let sets = plant::pair(ELEMENTS, common, &mut random);
        let sketcher = SketchSpec { seed: random.next(), ..spec.clone() }.sketcher()?;
        let started = Instant::now();
        let sketches = [sketcher.sketch(&sets[0])?, sketcher.sketch(&sets[1])?];
        seconds = seconds.min(started.elapsed().as_secs_f64() / 2.0);
        // A saturated sketch says nothing; the worst answer stands for it.
        errors.push(of::jaccard(&sketches[0], &sketches[1])?.value().unwrap_or_default() - jaccard);
        if run >= 400 && run % 100 == 0 && theory.is_some_and(|theory| is_precise(errors.mse(), theory)) {
            break;
        }
    }
    Ok(Measured { jaccard, errors, theory, microseconds: seconds * 1e6 })
}

fn charts(rows: &Rows<'_>) -> Vec<Chart> {
    let of = |target: f64| {
        let chart = |equal: &str, x: &str| {
            let title = format!("Error at equal {equal}, J = {target}");
            Chart::new(title, Axis::log(x), Axis::log("RMS error"))
        };
        let mut storage = chart("storage", "bits");
        let mut time = chart("time", "microseconds per set of 120");
        for (colour, kind) in kinds().into_iter().enumerate() {
            let rows = at(rows, target).only("sketch", kind.name);
            let [by_time] = rows.curves("microseconds_per_set", ["rms"]);
            storage.compare(kind.name, colour, rows.curves("bits", ["rms", "rms"]));
            time.push(Series::points(kind.name, by_time).colour(colour));
        }
        [storage, time]
    };
    SIMILARITIES.into_iter().flat_map(of).collect()
}

/// The kind with the least error that is as small as this, or as fast.
struct Best {
    kind: String,
    limit: f64,
}

/// The best at each size and within each time, as a table and in sentences.
fn frontier(rows: &Rows<'_>, sizes: &[u32], table: &mut Table) -> Result<(Claim, String)> {
    let (mut sentences, mut at_most_bits) = (Vec::new(), Vec::new());
    for target in SIMILARITIES {
        let rows = at(rows, target);
        let (mut storage, mut time) = (Vec::new(), Vec::new());
        for &bits in sizes {
            storage.extend(best(&rows.only("bits", bits), target, "bits", f64::from(bits), table)?);
        }
        for limit in TIMES {
            let within = rows.filter(|row| row["microseconds_per_set"] <= limit);
            time.extend(best(&within, target, "microseconds", limit, table)?);
        }
        let (by_bits, by_time) = (tally("bits", &storage), tally("microseconds", &time));
        sentences.push(format!("At J = {target}: {by_bits}; {by_time}"));
        at_most_bits.extend(storage.pop().map(|best| best.kind));
    }
    // That it depends on the similarity, and that few bits are best for high ones.
    let is_of_few_bits = |name: &String| ["1 bit", "xor", "odd"].iter().any(|few| name.contains(few));
    let differ = at_most_bits.windows(2).any(|names| names[0] != names[1]);
    let claim = Claim::of(&[differ, at_most_bits.iter().skip(1).all(is_of_few_bits)]);
    let verdict = format!("Least error of the sizes tried, on this machine. {}.", sentences.join(". "));
    Ok((claim, verdict))
}

fn best(rows: &Rows<'_>, target: f64, equal: &str, limit: f64, table: &mut Table) -> Result<Option<Best>> {
    let mut ranked: Vec<&Row> = rows.iter().collect();
    ranked.sort_by(|x, y| x["rms"].total_cmp(&y["rms"]));
    let Some(first) = ranked.first() else { return Ok(None) };
    let kind = first.text("sketch");
    let second = ranked.iter().find(|row| row.text("sketch") != kind);
    table.push(row![
        "J": target, "equal": equal, "limit": limit, "best": kind, "bits": first.text("bits"),
        "rms": first["rms"], "second": second.map_or("", |row| row.text("sketch")),
        "second_rms": second.map_or(f64::NAN, |row| row["rms"]),
    ])?;
    Ok(Some(Best { kind: kind.to_owned(), limit }))
}

fn tally(what: &str, all: &[Best]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for best in all {
        if !kinds.contains(&best.kind.as_str()) {
            kinds.push(&best.kind);
        }
    }
    let of = |kind: &str| {
        let limits = all.iter().filter(|best| best.kind == kind).map(|best| best.limit.to_string());
        format!("\"{kind}\" at {}", limits.collect::<Vec<_>>().join(", "))
    };
    format!("at equal {what} {}", kinds.into_iter().map(of).collect::<Vec<_>>().join(" and "))
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

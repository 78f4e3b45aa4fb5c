//! Sizes of two- and three-way intersections.
//!
//! For pairs the expected square error and the coverage of intervals are exact sums over the binomial distribution of equal registers. The size of a
//! three-way intersection is a function of five counts; its expectation is that of an independent simulation that draws the counts
//! from their probabilities and knows no sketches.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement};
use benzer_core::estimate::{Measured, Registers, Scheme};
use benzer_core::sketch::{Bits, Family, Packing, SketchSpec, count};

use super::estimates::{pair_size, triple_size};
use crate::measure::groups::intersection;
use crate::measure::sketches::{self, FAST, INDEPENDENT};
use crate::prelude::*;

const K: u32 = 256;
/// Documents in common from which on errors are seen as shares of them.
const MIN_SIZE: f64 = 20.0;

/// A way to sketch: what is said in the verdict is said of independent registers of 16 bits.
#[derive(Clone, Copy)]
struct Sketching {
    family: Family,
    b: u32,
}

impl Sketching {
    fn is_independent(self) -> bool {
        self.family == INDEPENDENT
    }

    fn stream(self, ways: usize) -> u64 {
        (ways * 100 + self.b as usize * 2 + usize::from(!self.is_independent())) as u64
    }
}

/// Two and three lists, 4 and 16 bits, both families; sentences for the verdict.
pub(super) fn measure_all(
    context: &Context<'_>,
    lists: &[Features],
    table: &mut Table,
    checks: &mut Checks,
) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    for ways in [2, 3] {
        let cases = cases(lists, ways, &mut Random::new(context.seed(10 + ways as u64)));
        for b in [4, 16] {
            context.step(format_args!("{ways} sets, {b} bits"));
            let theory =
                if ways == 2 { expected_of_pairs(&cases, b)? } else { simulated(context, &cases, b)? };
            for family in [INDEPENDENT, FAST] {
                let by = Sketching { family, b };
                let row = measure(context, lists, &cases, by, &theory, checks)?;
                if b == 16 && by.is_independent() {
                    sentences.push(sentence(&row, &cases));
                }
                table.push(row)?;
            }
        }
    }
    Ok(sentences)
}

/// Two or three lists, and what they have in common.
struct Case {
    places: Vec<usize>,
    sizes: Vec<f64>,
    common: f64,
    union: f64,
    /// Similarities of the pairs 12, 13, 23, or of the one pair.
    pairs: Vec<f64>,
}

/// Different lists drawn at random, with their exact intersections.
fn cases(lists: &[Features], ways: usize, random: &mut Random) -> Vec<Case> {
    let case = |_| {
        let places = random.places::<3>(lists.len())[..ways].to_vec();
        let sets: Vec<&Features> = places.iter().map(|&i| &lists[i]).collect();
        let of = |i: usize, j: usize| sets[i].jaccard(sets[j]).unwrap_or_default();
        Case {
            sizes: sets.iter().map(|set| set.size()).collect(),
            common: intersection(&sets).size(),
            union: Features::set(sets.iter().flat_map(|set| set.elements().iter().copied())).size(),
            pairs: if ways == 2 { vec![of(0, 1)] } else { vec![of(0, 1), of(0, 2), of(1, 2)] },
            places,
        }
    };
    (0..40).map(case).collect()
}

/// An estimated size, and whether its interval holds the true one; of three lists there is no interval.
struct Estimate {
    value: f64,
    is_covered: bool,
}

impl Case {
    /// The square error of a size as a share of the smallest list.
    fn share(&self, size: f64) -> f64 {
        ((size - self.common) / self.sizes.iter().copied().fold(f64::MAX, f64::min)).powi(2)
    }

    /// The probabilities that a register of `b` bits is equal in all, in the pairs 12, 13, 23 only, or in none.
    fn chances(&self, b: u32) -> [f64; 5] {
        let q = (-f64::from(b)).exp2();
        let equal: Vec<f64> = self.pairs.iter().map(|j| q + (1.0 - q) * j).collect();
        match equal[..] {
            [pair] => [pair, 0.0, 0.0, 0.0, 1.0 - pair],
            _ => {
                let all = three_way::probability(self.common / self.union, self.pairs.iter().sum(), b);
                let [p12, p13, p23] = [equal[0] - all, equal[1] - all, equal[2] - all];
                [all, p12, p13, p23, 1.0 - all - p12 - p13 - p23]
            }
        }
    }

    /// The size of the intersection from registers that agree; of two lists, `all` of them do or not.
    fn estimate(&self, agreement: Agreement, registers: Registers, b: u32) -> Result<Estimate> {
        match self.sizes[..] {
            [f1, f2] => {
                let Measured { value, low, high, .. } = pair_size(agreement.all, b, registers, [f1, f2])?;
                let is_covered = low - 1e-6 <= self.common && self.common <= high + 1e-6;
                Ok(Estimate { value, is_covered })
            }
            _ => {
                let sizes = [self.sizes[0], self.sizes[1], self.sizes[2]];
                Ok(Estimate { value: triple_size(agreement, b, registers, sizes)?, is_covered: true })
            }
        }
    }
}

/// Square error of the size as a share of the smallest list, and coverage, each averaged over the cases.
struct Theory {
    mse: Mean,
    covered: f64,
}

fn expected_of_pairs(cases: &[Case], b: u32) -> Result<Theory> {
    let registers = Registers::independent(K as usize);
    let [mut mse, mut covered] = [0.0; 2];
    for case in cases {
        let weights = exact::binomial(K as usize, case.chances(b)[0]);
        for (all, weight) in weights.into_iter().enumerate().filter(|(_, w)| *w > 1e-13) {
            let agreement = Agreement { all, only: [0; 3], none: K as usize - all };
            let estimate = case.estimate(agreement, registers, b)?;
            mse += weight * case.share(estimate.value);
            covered += weight * f64::from(u8::from(estimate.is_covered));
        }
    }
    let n = cases.len() as f64;
    Ok(Theory { mse: Mean { value: mse / n, error: 0.0 }, covered: covered / n })
}

fn simulated(context: &Context<'_>, cases: &[Case], b: u32) -> Result<Theory> {
    let registers = Registers::independent(K as usize);
    let mut random = Random::new(context.seed(300 + u64::from(b)));
    let mut mse = Moments::default();
    for _ in 0..1_600 {
        let mut sum = 0.0;
        for case in cases {
            let [all, p12, p13, p23, none] = random.multinomial(K as usize, case.chances(b));
            let agreement = Agreement { all, only: [p12, p13, p23], none };
            sum += case.share(case.estimate(agreement, registers, b)?.value);
        }
        mse.push(sum / cases.len() as f64);
    }
    Ok(Theory { mse: mse.mean(), covered: f64::NAN })
}

fn measure(
    context: &Context<'_>,
    lists: &[Features],
    cases: &[Case],
    by: Sketching,
    theory: &Theory,
    checks: &mut Checks,
) -> Result<Row> {
    let (Sketching { family, b }, ways) = (by, cases[0].sizes.len());
    let registers = Registers { k: K as usize, scheme: Scheme::from(family) };
    // Square error as a share of the smallest list, and coverage, averaged over the cases of each sketch; and square error of each case, in documents.
    let (mut share, mut covered) = (Moments::default(), Moments::default());
    let mut each = vec![Moments::default(); cases.len()];
    let mut places: Vec<usize> = cases.iter().flat_map(|case| case.places.iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    for sketch in 0..4_000 {
        let seed = context.seed_of(by.stream(ways), sketch);
        let spec = SketchSpec { packing: Packing::bits(b)?, seed, ..SketchSpec::full(family, K) };
        let sketches = sketches::of(&spec, places.iter().map(|&i| &lists[i]))?;
        let of = |i: usize| sketches[places.binary_search(&i).expect("a list of a case")].words();
        let [mut shares, mut n_covered] = [0.0; 2];
        for (case, each) in cases.iter().zip(&mut each) {
            let words: Vec<&[u64]> = case.places.iter().map(|&i| of(i)).collect();
            let estimate = case.estimate(agreement(&words, b)?, registers, b)?;
            each.push((estimate.value - case.common).powi(2));
            shares += case.share(estimate.value);
            n_covered += f64::from(u8::from(estimate.is_covered));
        }
        share.push(shares / cases.len() as f64);
        covered.push(n_covered / cases.len() as f64);
        if sketch >= 30 && is_precise(share.mean().with_error_of(theory.mse), theory.mse.value) {
            break;
        }
    }
    theory.compare(ways, by, [share.mean(), covered.mean()], checks);
    let mse = share.mean();
    let each = each.iter().map(|each| each.mean().value);
    let large = each.clone().zip(cases).filter(|(_, case)| case.common >= MIN_SIZE);
    let relative = large.map(|(mse, case)| mse.sqrt() / case.common).collect::<Moments>();
    let n = cases.len() as f64;
    Ok(row![
        "sets": ways, "family": family, "bits": b, "registers": K, "cases": cases.len(), "sketches": share.n(),
        "mean_size": cases.iter().map(|case| case.common).sum::<f64>() / n,
        "rms_error": (each.sum::<f64>() / n).sqrt(), "relative_error": relative.mean().value,
        "mse_share": mse.value, "mse_share_se": mse.error, "mse_share_expected": theory.mse.value,
        "covered": if ways == 2 { covered.mean().value } else { f64::NAN }, "covered_expected": theory.covered,
    ])
}

impl Theory {
    fn compare(&self, ways: usize, by: Sketching, [share, covered]: [Mean; 2], checks: &mut Checks) {
        let what = format!("{ways} sets, {}, {} bits", by.family, by.b);
        let (share, expected) = (share.with_error_of(self.mse), self.mse.value);
        if !by.is_independent() {
            let is_not_worse = share.value <= expected + 4.0 * share.error;
            checks.holds(format_args!("{what}: size {} not above {expected}", share.value), is_not_worse);
            return;
        }
        checks.agrees(format_args!("{what}: size"), share, expected);
        if ways == 2 {
            checks.agrees(format_args!("{what}: coverage"), covered, self.covered);
        }
    }
}

fn agreement(words: &[&[u64]], b: u32) -> Result<Agreement> {
    let bits = Bits::new(b)?;
    Ok(match *words {
        [x, y] => {
            let none = count::mismatches(x, y, bits) as usize;
            Agreement { all: K as usize - none, only: [0; 3], none }
        }
        [x, y, z, ..] => sketches::agreement([x, y, z], bits, K),
        _ => unreachable!("a case has two or three lists"),
    })
}

fn sentence(row: &Row, cases: &[Case]) -> String {
    let large = cases.iter().filter(|case| case.common >= MIN_SIZE).count();
    let covered = match 100.0 * row["covered"] {
        share if share.is_nan() => String::new(),
        share => format!(", and {share:.1}% of the 95% intervals hold the true size"),
    };
    format!(
        "With {K} registers of 16 bits the {}-way intersections of {} cases ({:.0} documents on average) are off by {:.1} documents, \
         or {:.0}% of the size where it is at least {MIN_SIZE} ({large} cases){covered}.",
        row["sets"],
        row["cases"],
        row["mean_size"],
        row["rms_error"],
        100.0 * row["relative_error"],
    )
}

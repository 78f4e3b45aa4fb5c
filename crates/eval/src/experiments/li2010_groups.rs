//! 000, Fig. 7: precision of retrieving groups of three documents with three-way resemblance of at least R0.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::sketch::{Bits, Packing, count};

use crate::retrieval::{Retrieved, sketched};
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Moments, Outcome, Result, Series, corpus};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_groups",
    source: "000, Fig. 7",
    title: "Retrieving groups of three",
    claim: "At R0 = 0.3, four bits have the precision of 64-bit samples, also at R0 = 0.1 with slightly more samples; two bits need about three times as many (k = 500, 260, 170 for precision 0.8 at R0 = 0.2).",
    criterion: "Precision and recall averaged over independent sketches are within 0.04 of what normal errors of variance (9) predict from the exact similarities of all groups, from k = 100 on; four bits are within 0.05 of 64 bits in precision at R0 = 0.3; standard errors at most 2%.",
    run,
};

const THRESHOLDS: [f64; 3] = [0.1, 0.2, 0.3];
const BITS: [u32; 3] = [2, 4, 64];

/// Three sets: their places, three-way similarity, and the sum of the pair similarities.
struct Group {
    sets: [usize; 3],
    jaccard: f64,
    pairs: f64,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let sets = match context.data() {
        Some(data) => neighbours(corpus::kos(data)?.sets, 110),
        None => corpus::synthetic(context.seed(0), context.size(8, 24), 5).sets,
    };
    let groups = groups(&sets);
    let mut checks = Checks::default();
    let mut table = context.table(
        "",
        &[
            "R0",
            "b",
            "k",
            "groups",
            "sketches",
            "precision",
            "se",
            "recall",
            "precision_theory",
            "recall_theory",
        ],
    )?;
    let samples: &[u32] = if context.is_quick() { &[100, 300] } else { &[50, 100, 200, 350, 500] };
    let mut charts: Vec<Chart> = THRESHOLDS
        .iter()
        .map(|t| {
            Chart::new(
                format!("Precision, R0 = {t}"),
                Axis::linear("sample size k"),
                Axis::linear("precision").from_to(0.0, 1.02),
            )
        })
        .collect();
    let mut found = Vec::new();
    for (colour, b) in BITS.into_iter().enumerate() {
        let mut series = vec![[Vec::new(), Vec::new()]; THRESHOLDS.len()];
        for &k in samples {
            context.step(format_args!("{b} bits, k = {k}"));
            let sketches = context.size(120, 24);
            let mut shares = [[Moments::default(); 2]; THRESHOLDS.len()];
            for sketch in 0..sketches {
                let seed = benzer_core::hash::split(context.seed(u64::from(k * 100 + b)), sketch as u64);
                let words = sketched(&sets, k, Packing::bits(b)?, seed)?;
                let counted = retrieved(&words, sets.len(), b, k, &groups)?;
                for ((shares, counted), threshold) in shares.iter_mut().zip(counted).zip(THRESHOLDS) {
                    shares[0].push(counted.precision());
                    shares[1].push(counted.recall(relevant(&groups, threshold)));
                }
            }
            for (i, threshold) in THRESHOLDS.into_iter().enumerate() {
                let theory = expected(&groups, threshold, b, k)?;
                let wanted = relevant(&groups, threshold);
                let [precision, recall] = shares[i].map(|moments| moments.mean());
                let (p, r) = (theory.precision(), theory.recall(wanted));
                table.push(row![
                    threshold,
                    b,
                    k,
                    groups.len(),
                    sketches,
                    precision.value,
                    precision.error,
                    recall.value,
                    p,
                    r
                ])?;
                if k >= 100 {
                    let what = format!("R0 = {threshold}, b = {b}, k = {k}");
                    checks.close(
                        format_args!("{what}: precision"),
                        precision.value,
                        p,
                        0.04 + 4.0 * precision.error,
                    );
                    checks.close(format_args!("{what}: recall"), recall.value, r, 0.04 + 4.0 * recall.error);
                    checks.holds(
                        format_args!("{what}: standard error {}", precision.error),
                        precision.error <= 0.02,
                    );
                }
                series[i][0].push((f64::from(k), precision.value));
                series[i][1].push((f64::from(k), p));
                found.push((threshold, b, k, precision.value));
            }
        }
        for (chart, [measured, theory]) in charts.iter_mut().zip(series) {
            chart.push(Series::points(format!("b = {b}"), measured).colour(colour));
            chart.push(Series::line("", theory).colour(colour));
        }
    }
    let most = samples[samples.len() - 1];
    let at = |b: u32| found.iter().find(|f| f.0 == 0.3 && f.1 == b && f.2 == most).map_or(0.0, |f| f.3);
    checks.close("four bits against 64 at R0 = 0.3", at(4), at(64), 0.05);
    let verdict = format!(
        "Confirmed: at R0 = 0.3 and k = {most}, precision is {:.3} with four bits, {:.3} with 64 and {:.3} with two.",
        at(4),
        at(64),
        at(2)
    );
    Ok(Outcome { tables: vec![table], charts, checks, verdict })
}

/// The sets with the most others of similarity 0.3: most groups of sets drawn at random have nothing in common.
fn neighbours(sets: Vec<Features>, most: usize) -> Vec<Features> {
    let mut degrees = vec![0u32; sets.len()];
    let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
    for ((i, j), _) in places.zip(corpus::similarities(&sets)).filter(|(_, similarity)| *similarity >= 0.3) {
        degrees[i] += 1;
        degrees[j] += 1;
    }
    let mut ranked: Vec<(u32, Features)> = degrees.into_iter().zip(sets).collect();
    ranked.sort_by_key(|(degree, _)| std::cmp::Reverse(*degree));
    ranked.into_iter().take(most).map(|(_, set)| set).collect()
}

/// All groups of three, with their exact similarities.
fn groups(sets: &[Features]) -> Vec<Group> {
    let n = sets.len();
    let pair: Vec<Vec<f64>> =
        sets.iter().map(|a| sets.iter().map(|b| a.jaccard(b).unwrap_or_default()).collect()).collect();
    let mut groups = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let both = Features::set(
                sets[i].elements().iter().copied().filter(|e| sets[j].elements().binary_search(e).is_ok()),
            );
            let either = sets[i].union(&sets[j]);
            for l in j + 1..n {
                let all = both.intersection(&sets[l]);
                // Of the union with the third: what it shares with either one is by inclusion and exclusion.
                let shared = sets[i].intersection(&sets[l]) + sets[j].intersection(&sets[l]) - all;
                let jaccard = all / (either + sets[l].size() - shared);
                groups.push(Group { sets: [i, j, l], jaccard, pairs: pair[i][j] + pair[i][l] + pair[j][l] });
            }
        }
    }
    groups
}

fn relevant(groups: &[Group], threshold: f64) -> f64 {
    groups.iter().filter(|group| group.jaccard >= threshold).count() as f64
}

fn retrieved(words: &[u64], n: usize, b: u32, k: u32, groups: &[Group]) -> Result<[Retrieved; 3]> {
    let each = words.len() / n.max(1);
    let (bits, kept) = (ThreeWayBits::new(b)?, Bits::new(b)?);
    let mut found = [Retrieved::default(); 3];
    for group in groups {
        let triple = count::triple(group.sets.map(|i| &words[i * each..(i + 1) * each]), kept, k);
        let only = [triple.only_12, triple.only_13, triple.only_23].map(|n| n as usize);
        let agreement = Agreement { all: triple.all as usize, only, none: triple.none as usize };
        let estimate = three_way::raw(agreement.rates()?, bits);
        for (found, threshold) in found.iter_mut().zip(THRESHOLDS) {
            if estimate >= threshold {
                found.all += 1.0;
                found.right += f64::from(u8::from(group.jaccard >= threshold));
            }
        }
    }
    Ok(found)
}

/// What normal errors of variance (9) would retrieve.
fn expected(groups: &[Group], threshold: f64, b: u32, k: u32) -> Result<Retrieved> {
    let bits = ThreeWayBits::new(b)?;
    let mut sum = Retrieved::default();
    for group in groups {
        let deviation =
            (three_way::variance(group.jaccard, group.pairs, bits) / f64::from(k)).max(1e-12).sqrt();
        let p = normal((group.jaccard - threshold) / deviation);
        sum.all += p;
        sum.right += if group.jaccard >= threshold { p } else { 0.0 };
    }
    Ok(sum)
}

/// The probability that a normal number is below `x`: Abramowitz and Stegun 7.1.26, to 1e-7.
fn normal(x: f64) -> f64 {
    let z = x.abs() / 2f64.sqrt();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * series * (-z * z).exp();
    if x >= 0.0 { 1.0 - tail } else { tail }
}

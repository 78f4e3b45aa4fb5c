//! 000, Fig. 7: precision of retrieving groups of three documents with three-way resemblance of at least R0.
//!
//! Two questions, two sets of groups. Whether sketches retrieve what theory expects is measured on the groups of some documents and their neighbours, of which so many are relevant that
//! there is something to measure. What precision that is means nothing for a collection, where hardly any group is relevant: the claim is judged by all groups of KOS, whose similarities
//! are counted (`census`), and by the exact expectation over them.
//!
//! What is retrieved is compared with the exact expectation: for each group the probability that (8) reaches R0, summed over the trinomial
//! distribution of its counts.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, Agreement, ThreeWayBits};
use benzer_core::sketch::{Bits, Packing, count};

use crate::census::Census;
use crate::check::is_precise;
use crate::exact::three_way::{ROUNDING, Reach};
use crate::retrieval::{Retrieved, sketched};
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, Series, Table, corpus,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "li2010_groups",
    source: "000, Fig. 7",
    title: "Retrieving groups of three",
    claim: "At R0 = 0.3, four bits have the precision of 64-bit samples, also at R0 = 0.1 with slightly more samples; two bits need about three times as many (k = 500, 260, 170 for precision 0.8 at R0 = 0.2).",
    criterion: "The mean numbers of groups that are retrieved and that are retrieved rightly, over independent sketches: within 4 standard errors of the exact expectation (the trinomial sum for every group), standard error at most 2%, for every R0, b and k where at least 10 right groups are expected and the sketch decides at least 1 (the sum of p (1 - p) over the groups): of rarer events no standard error can be measured. The claim is judged by the expected precisions over all groups of three documents of KOS, not over the groups that are sketched.",
    run,
};

const THRESHOLDS: [f64; 3] = [0.1, 0.2, 0.3];
const BITS: [u32; 3] = [2, 4, 64];
/// With fewer right groups there is nothing to measure to 2%.
const LEAST_RIGHT: f64 = 10.0;

/// Three sets: their places, three-way similarity, and the sum of the pair similarities.
struct Group {
    sets: [usize; 3],
    jaccard: f64,
    pairs: f64,
}

/// Expected numbers of groups, and how many of them are left to chance.
#[derive(Debug, Clone, Copy, Default)]
struct Theory {
    counts: Retrieved,
    undecided: f64,
}

impl Theory {
    fn is_compared(&self) -> bool {
        self.counts.right >= LEAST_RIGHT && self.undecided >= 1.0
    }
}

/// Sample sizes for which precisions over all groups of KOS are expected.
const SIZES: [u32; 16] = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 700, 800, 900, 1000];
/// Precisions are told apart by so much.
const SAME: f64 = 0.02;

/// Expected precision for a threshold (its number), b and k.
struct Point {
    threshold: usize,
    b: u32,
    k: u32,
    precision: f64,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let kos = context.data().map(corpus::kos).transpose()?;
    let sets = match &kos {
        Some(kos) => families(&kos.sets, 14, 5),
        None => corpus::synthetic(context.seed(0), context.size(6, 14), 5).sets,
    };
    let groups = groups(&sets);
    let mut checks = Checks::default();
    let columns = [
        "R0",
        "b",
        "k",
        "groups",
        "relevant",
        "sketches",
        "retrieved",
        "retrieved_se",
        "retrieved_expected",
        "right",
        "right_se",
        "right_expected",
        "precision",
        "precision_expected",
        "recall",
        "recall_expected",
    ];
    let mut table = context.table("", &columns)?;
    let samples: &[u32] = if context.is_quick() { &[100, 300] } else { &[50, 100, 200, 350, 500] };
    let mut charts: Vec<Chart> = THRESHOLDS
        .iter()
        .map(|t| {
            let axis = Axis::linear("precision").from_to(0.0, 1.02);
            Chart::new(format!("Precision, R0 = {t}"), Axis::linear("sample size k"), axis)
        })
        .collect();
    for (colour, b) in BITS.into_iter().enumerate() {
        let mut measured = vec![Vec::new(); THRESHOLDS.len()];
        for &k in samples {
            context.step(format_args!("{b} bits, k = {k}"));
            let theory = expected(&groups, b, k);
            let counts = measure(context, &sets, &groups, (b, k), &theory)?;
            for (i, (counts, theory)) in counts.iter().zip(&theory).enumerate() {
                let precision = record(&groups, (i, b, k), counts, theory, (&mut table, &mut checks))?;
                measured[i].push((f64::from(k), precision));
            }
        }
        for (chart, measured) in charts.iter_mut().zip(measured) {
            chart
                .push(Series::points(format!("b = {b}, groups that were sketched"), measured).colour(colour));
        }
    }
    let shares = THRESHOLDS.map(|threshold| relevant(&groups, threshold) / groups.len() as f64);
    let measured = format!(
        "Sketched were {} groups of three of {} documents that are near to each other, of which {:.0}%, {:.0}% and {:.0}% reach R0 = 0.1, 0.2 and 0.3: that says whether sketches retrieve what theory expects, and nothing about a collection.",
        groups.len(),
        sets.len(),
        100.0 * shares[0],
        100.0 * shares[1],
        100.0 * shares[2]
    );
    let Some(kos) = kos else {
        let verdict = format!("{measured} The claim was not judged: it takes all groups of KOS (--data).");
        return Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict });
    };
    let (all, points, total) = all_groups(context, &kos.sets)?;
    for (i, chart) in charts.iter_mut().enumerate() {
        for (colour, b) in BITS.into_iter().enumerate() {
            let of = points.iter().filter(|p| p.threshold == i && p.b == b);
            let line = of.map(|p| (f64::from(p.k), p.precision)).collect();
            chart.push(Series::line(format!("b = {b}, all of KOS"), line).colour(colour));
        }
    }
    let (claim, judged) = verdict(&points, &total);
    let verdict = format!("{measured} {judged}");
    Ok(Outcome { tables: vec![table, all], charts, checks, claim, verdict })
}

/// What is expected over all groups of three sets: a table, its points, and how many groups there are and reach each threshold.
fn all_groups(context: &Context<'_>, sets: &[Features]) -> Result<(Table, Vec<Point>, Vec<f64>)> {
    context.step("the similarities of all groups of three");
    let census = Census::new(sets);
    let columns = ["R0", "b", "k", "groups", "relevant", "retrieved", "right", "precision", "recall"];
    let mut table = context.table("all", &columns)?;
    let mut total = vec![census.groups()];
    total.extend(THRESHOLDS.map(|threshold| census.reaching(threshold)));
    let mut points = Vec::new();
    for b in BITS {
        for k in SIZES {
            context.step(format_args!("all groups, {b} bits, k = {k}"));
            let theory = census.expected(&mut Reach::new(b, k as usize, THRESHOLDS), THRESHOLDS);
            for (threshold, of) in theory.iter().enumerate() {
                let precision = of.precision();
                let wanted = total[threshold + 1];
                table.push(row![
                    THRESHOLDS[threshold],
                    b,
                    k,
                    total[0],
                    wanted,
                    of.all,
                    of.right,
                    precision,
                    of.recall(wanted)
                ])?;
                points.push(Point { threshold, b, k, precision });
            }
        }
    }
    Ok((table, points, total))
}

/// Sketches until every count that is compared is known to 2%: retrieved and rightly retrieved, for each threshold.
fn measure(
    context: &Context<'_>,
    sets: &[Features],
    groups: &[Group],
    (b, k): (u32, u32),
    theory: &[Theory; 3],
) -> Result<[[Moments; 2]; 3]> {
    let (least, most) = (30, context.size(1_500, 4_000));
    let mut counts = [[Moments::default(); 2]; THRESHOLDS.len()];
    for sketch in 0..most {
        let seed = benzer_core::hash::split(context.seed(u64::from(k * 100 + b)), sketch as u64);
        let words = sketched(sets, k, Packing::bits(b)?, seed)?;
        for (counts, found) in counts.iter_mut().zip(retrieved(&words, sets.len(), (b, k), groups)?) {
            counts[0].push(found.all);
            counts[1].push(found.right);
        }
        let is_known = |(counts, theory): (&[Moments; 2], &Theory)| {
            let [all, right] = counts.map(|counts| counts.mean());
            let counts = &theory.counts;
            !theory.is_compared() || (is_precise(all, counts.all) && is_precise(right, counts.right))
        };
        if sketch + 1 >= least && sketch % 10 == 9 && counts.iter().zip(theory).all(is_known) {
            break;
        }
    }
    Ok(counts)
}

/// A row and its checks; the measured precision.
fn record(
    groups: &[Group],
    (i, b, k): (usize, u32, u32),
    counts: &[Moments; 2],
    theory: &Theory,
    (table, checks): (&mut Table, &mut Checks),
) -> Result<f64> {
    let (threshold, wanted) = (THRESHOLDS[i], relevant(groups, THRESHOLDS[i]));
    let [all, right] = counts.map(|counts| counts.mean());
    let (is_compared, theory) = (theory.is_compared(), &theory.counts);
    let precision = right.value / all.value.max(1e-9);
    table.push(row![
        threshold,
        b,
        k,
        groups.len(),
        wanted,
        counts[0].n(),
        all.value,
        all.error,
        theory.all,
        right.value,
        right.error,
        theory.right,
        precision,
        theory.precision(),
        right.value / wanted.max(1.0),
        theory.recall(wanted)
    ])?;
    if is_compared {
        let what = format!("R0 = {threshold}, b = {b}, k = {k}");
        checks.agrees(format_args!("{what}: retrieved"), all, theory.all);
        checks.agrees(format_args!("{what}: rightly"), right, theory.right);
    }
    Ok(precision)
}

/// What the expected precisions over all groups say of the claim; `total` has the number of groups, and of those that reach each threshold.
fn verdict(points: &[Point], total: &[f64]) -> (Claim, String) {
    let of = |threshold: usize, b: u32| points.iter().filter(move |p| p.threshold == threshold && p.b == b);
    let apart = |threshold: usize| {
        let pairs = of(threshold, 4).zip(of(threshold, 64));
        pairs.map(|(p, full)| (full.precision - p.precision).abs()).fold(0.0, f64::max)
    };
    let needed = |threshold: usize, b: u32| {
        let curve: Vec<&Point> = of(threshold, b).collect();
        let crossing = curve.windows(2).rfind(|w| w[0].precision < 0.8 && w[1].precision >= 0.8)?;
        let part = (0.8 - crossing[0].precision) / (crossing[1].precision - crossing[0].precision);
        Some(f64::from(crossing[0].k) + part * f64::from(crossing[1].k - crossing[0].k))
    };
    let list = |threshold: usize| {
        let each = BITS.map(|b| match needed(threshold, b) {
            Some(k) => format!("{k:.0}"),
            None => match of(threshold, b).next_back() {
                Some(last) if last.precision < 0.8 => format!("more than {}", last.k),
                _ => format!("at most {}", of(threshold, b).map(|p| p.k).min().unwrap_or_default()),
            },
        });
        format!("{} at R0 = {}", each.join(", "), THRESHOLDS[threshold])
    };
    let times = |threshold: usize, b: u32| Some(needed(threshold, b)? / needed(threshold, 64)?);
    let two = [1, 2].map(|threshold| times(threshold, 2));
    let claim = Claim::of(&[
        apart(2) <= SAME,
        times(0, 4).is_some_and(|times| times <= 1.25),
        two[0].is_some_and(|times| (2.5..=3.5).contains(&times)),
    ]);
    let factor = |times: Option<f64>| times.map_or("an unknown number of".to_owned(), |t| format!("{t:.1}"));
    let verdict = format!(
        "Judged by the exact expectation over all {:.0} groups of KOS, of which {:.0}, {:.0} and {:.0} reach R0 = 0.1, 0.2 and 0.3: the precisions of 4 and 64 bits are at most {:.3} apart at R0 = 0.3 (k = {} to {}) and {:.3} at R0 = 0.1. \
         Precision 0.8 needs k (2, 4, 64 bits) of {}; {}; {} (500, 260, 170 in the paper at R0 = 0.2, on about a billion groups of NYTimes articles). Two bits need {} times the samples of 64 at R0 = 0.2 and {} at 0.3, where the paper says three.",
        total[0],
        total[1],
        total[2],
        total[3],
        apart(2),
        SIZES[0],
        SIZES[SIZES.len() - 1],
        apart(0),
        list(0),
        list(1),
        list(2),
        factor(two[0]),
        factor(two[1])
    );
    (claim, verdict)
}

/// Documents from all over the collection that have near ones, each with its nearest: most groups of documents drawn at random have nothing in common, and those
/// of one crowd have everything.
fn families(sets: &[Features], n: usize, each: usize) -> Vec<Features> {
    let mut near: Vec<Vec<(f32, usize)>> = vec![Vec::new(); sets.len()];
    let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
    for ((i, j), similarity) in places.zip(corpus::similarities(sets)).filter(|(_, s)| *s >= 0.15) {
        near[i].push((similarity, j));
        near[j].push((similarity, i));
    }
    let heads: Vec<usize> = (0..sets.len()).filter(|&i| near[i].len() >= each).collect();
    let mut chosen: Vec<usize> = Vec::new();
    for &head in heads.iter().step_by((heads.len() / n.max(1)).max(1)) {
        near[head].sort_by(|x, y| y.0.total_cmp(&x.0));
        let family = std::iter::once(head).chain(near[head].iter().map(|(_, j)| *j));
        let fresh: Vec<usize> = family.filter(|i| !chosen.contains(i)).take(each).collect();
        chosen.extend(fresh);
    }
    chosen.truncate(n * each);
    chosen.into_iter().map(|i| sets[i].clone()).collect()
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
    groups.iter().filter(|group| reaches(group.jaccard, threshold)).count() as f64
}

/// Equal to the threshold counts, whatever the rounding.
fn reaches(value: f64, threshold: f64) -> bool {
    value >= threshold - ROUNDING
}

fn retrieved(words: &[u64], n: usize, (b, k): (u32, u32), groups: &[Group]) -> Result<[Retrieved; 3]> {
    let each = words.len() / n.max(1);
    let (bits, kept) = (ThreeWayBits::new(b)?, Bits::new(b)?);
    let mut found = [Retrieved::default(); 3];
    for group in groups {
        let triple = count::triple(group.sets.map(|i| &words[i * each..(i + 1) * each]), kept, k);
        let only = [triple.only_12, triple.only_13, triple.only_23].map(|n| n as usize);
        let agreement = Agreement { all: triple.all as usize, only, none: triple.none as usize };
        let estimate = three_way::raw(agreement.rates()?, bits);
        for (found, threshold) in found.iter_mut().zip(THRESHOLDS) {
            if reaches(estimate, threshold) {
                found.all += 1.0;
                found.right += f64::from(u8::from(reaches(group.jaccard, threshold)));
            }
        }
    }
    Ok(found)
}

/// The expected numbers of groups that are retrieved, exactly.
fn expected(groups: &[Group], b: u32, k: u32) -> [Theory; 3] {
    let mut reach = Reach::new(b, k as usize, THRESHOLDS);
    let mut sum = [Theory::default(); 3];
    for group in groups {
        let chances = reach.at(group.jaccard, group.pairs);
        for ((sum, p), threshold) in sum.iter_mut().zip(chances).zip(THRESHOLDS) {
            sum.counts.all += p;
            sum.counts.right += if reaches(group.jaccard, threshold) { p } else { 0.0 };
            sum.undecided += p * (1.0 - p);
        }
    }
    sum
}

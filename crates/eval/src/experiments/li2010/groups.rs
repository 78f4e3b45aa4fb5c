//! 000, Fig. 7: precision of retrieving groups of three documents with three-way resemblance of at least R0.
//!
//! Two questions, two sets of groups. Whether sketches retrieve what theory expects is measured on the groups of some documents and their neighbours, of which so many are relevant that
//! there is something to measure. What precision that is means nothing for a collection, where hardly any group is relevant: the claim is judged by all groups of KOS, whose similarities
//! are counted (`census`), and by the exact expectation over them.
//!
//! What is retrieved is compared with the exact expectation: for each group the probability that (8) reaches R0, summed over the trinomial
//! distribution of its counts.

use benzer_core::Features;
use benzer_core::estimate::three_way::{self, ThreeWayBits};
use benzer_core::sketch::{Bits, Packing};

use crate::data::corpus;
use crate::exact::three_way::Reach;
use crate::measure::census::Census;
use crate::measure::groups::{self, Group};
use crate::measure::retrieval::{Retrieved, Runs};
use crate::measure::sketches::{self, Words};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
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
const MIN_RIGHT: f64 = 10.0;
/// Sample sizes for which precisions over all groups of KOS are expected.
const SIZES: [u32; 16] = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 700, 800, 900, 1000];
/// Precisions are told apart by so much.
const SAME: f64 = 0.02;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let kos = context.data().map(corpus::kos).transpose()?;
    let sets = match &kos {
        Some(kos) => near_documents(&kos.sets, 14, 5),
        None => corpus::synthetic(context.seed(0), context.size(6, 14), 5).sets,
    };
    let groups = groups::triples(&sets);
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    for b in BITS {
        for &k in context.points(&[100, 300], &[50, 100, 200, 350, 500]) {
            context.step(format_args!("{b} bits, k = {k}"));
            measure(context, &sets, &groups, b, k, &mut table, &mut checks)?;
        }
    }
    let mut charts = THRESHOLDS.map(|threshold| chart(threshold, &table)).to_vec();
    let measured = measured(&sets, &groups);
    let Some(kos) = kos else {
        let verdict = format!("{measured} The claim was not judged: it takes all groups of KOS (--data).");
        return Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict });
    };
    let mut all = context.table("all")?;
    let census = expect_all(context, &kos.sets, &mut all)?;
    for (threshold, chart) in THRESHOLDS.into_iter().zip(&mut charts) {
        for (colour, b) in BITS.into_iter().enumerate() {
            let [curve] = all.all().only("R0", threshold).only("b", b).curves("k", ["precision"]);
            chart.push(Series::line(format!("b = {b}, all of KOS"), curve).colour(colour));
        }
    }
    let (claim, judged) = verdict(&all.all(), &census);
    let verdict = format!("{measured} {judged}");
    Ok(Outcome { tables: vec![table, all], charts, checks, claim, verdict })
}

/// Documents from all over the collection that have near ones, each with its nearest: most groups of documents drawn at random have nothing in common, and those
/// of documents that are all near to each other have everything.
fn near_documents(sets: &[Features], n: usize, each: usize) -> Vec<Features> {
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
        let nearest = std::iter::once(head).chain(near[head].iter().map(|(_, j)| *j));
        let fresh: Vec<usize> = nearest.filter(|i| !chosen.contains(i)).take(each).collect();
        chosen.extend(fresh);
    }
    chosen.truncate(n * each);
    chosen.into_iter().map(|i| sets[i].clone()).collect()
}

/// The expected numbers of groups that are retrieved, exactly; and how many of them are left to chance.
fn expected(groups: &[Group<3>], b: u32, k: u32) -> [(Retrieved, f64); 3] {
    let mut reach = Reach::new(b, k as usize, THRESHOLDS);
    let mut sum = [(Retrieved::default(), 0.0); 3];
    for group in groups {
        let chances = reach.at(group.jaccard, group.pairs);
        for (((theory, undecided), p), threshold) in sum.iter_mut().zip(chances).zip(THRESHOLDS) {
            theory.add(p, group.reaches(threshold));
            *undecided += p * (1.0 - p);
        }
    }
    sum
}

fn measure(
    context: &Context<'_>,
    sets: &[Features],
    groups: &[Group<3>],
    b: u32,
    k: u32,
    table: &mut Table,
    checks: &mut Checks,
) -> Result<()> {
    let theory = expected(groups, b, k);
    let compared =
        theory.map(|(theory, undecided)| (theory.right >= MIN_RIGHT && undecided >= 1.0).then_some(theory));
    let runs = Runs { min: 30, step: 10, max: context.size(1_500, 4_000) };
    let counts = runs.count(compared, |sketch| {
        let seed = context.seed_of(u64::from(k * 100 + b), sketch);
        retrieved(&Words::new(sets, k, Packing::bits(b)?, seed)?, b, k, groups)
    })?;
    for (i, threshold) in THRESHOLDS.into_iter().enumerate() {
        let (counted, wanted) = (counts[i], groups::relevant(groups, threshold));
        if let Some(theory) = compared[i] {
            counted.compare(format_args!("R0 = {threshold}, b = {b}, k = {k}"), theory, checks);
        }
        let of = row![
            "R0": threshold, "b": b, "k": k, "groups": groups.len(), "relevant": wanted,
            "sketches": counted.n(),
        ];
        table.push(of.and(counted.row(theory[i].0, wanted)))?;
    }
    Ok(())
}

fn retrieved(words: &Words, b: u32, k: u32, groups: &[Group<3>]) -> Result<[Retrieved; 3]> {
    let (three_way_bits, bits) = (ThreeWayBits::new(b)?, Bits::new(b)?);
    let mut found = [Retrieved::default(); 3];
    for group in groups {
        let agreement = sketches::agreement(group.sets.map(|i| words.of(i)), bits, k);
        let estimate = three_way::raw(agreement.rates()?, three_way_bits);
        for (found, threshold) in found.iter_mut().zip(THRESHOLDS) {
            if groups::reaches(estimate, threshold) {
                found.add(1.0, group.reaches(threshold));
            }
        }
    }
    Ok(found)
}

fn chart(threshold: f64, table: &Table) -> Chart {
    let (x, y) = (Axis::linear("sample size k"), Axis::linear("precision").between(0.0, 1.02));
    let mut chart = Chart::new(format!("Precision, R0 = {threshold}"), x, y);
    for (colour, b) in BITS.into_iter().enumerate() {
        let [curve] = table.all().only("R0", threshold).only("b", b).curves("k", ["precision"]);
        chart.push(Series::points(format!("b = {b}, groups that were sketched"), curve).colour(colour));
    }
    chart
}

fn measured(sets: &[Features], groups: &[Group<3>]) -> String {
    let (n, documents) = (groups.len(), sets.len());
    let share = |threshold: f64| groups::relevant(groups, threshold) / n as f64;
    let [low, middle, high] = THRESHOLDS.map(|threshold| 100.0 * share(threshold));
    format!(
        "Sketched were {n} groups of three of {documents} documents that are near to each other, of which {low:.0}%, {middle:.0}% and {high:.0}% reach R0 = 0.1, 0.2 and 0.3: that says whether sketches retrieve what theory expects, and nothing about a collection.",
    )
}

fn expect_all(context: &Context<'_>, sets: &[Features], table: &mut Table) -> Result<Census> {
    context.step("the similarities of all groups of three");
    let census = Census::new(sets);
    for b in BITS {
        for k in SIZES {
            context.step(format_args!("all groups, {b} bits, k = {k}"));
            let theory = census.expected(&mut Reach::new(b, k as usize, THRESHOLDS), THRESHOLDS);
            for (threshold, of) in THRESHOLDS.into_iter().zip(theory) {
                let wanted = census.reaching(threshold);
                table.push(row![
                    "R0": threshold, "b": b, "k": k, "groups": census.groups(), "relevant": wanted,
                    "retrieved": of.all, "right": of.right,
                    "precision": of.precision(), "recall": of.recall(wanted),
                ])?;
            }
        }
    }
    Ok(census)
}

fn verdict(all: &Rows<'_>, census: &Census) -> (Claim, String) {
    let of = |threshold: f64, b: u32| all.only("R0", threshold).only("b", b);
    let apart = |threshold: f64| {
        let [four, full] = [4, 64].map(|b| of(threshold, b));
        let pairs = full.column("precision").zip(four.column("precision"));
        pairs.map(|(full, four)| (full - four).abs()).fold(0.0, f64::max)
    };
    let times = |threshold: f64, b: u32| Some(needed(&of(threshold, b))? / needed(&of(threshold, 64))?);
    let list = |threshold: f64| {
        let each = BITS.map(|b| match (needed(&of(threshold, b)), of(threshold, b).iter().last()) {
            (Some(k), _) => format!("{k:.0}"),
            (None, Some(last)) if last["precision"] < 0.8 => format!("more than {}", last["k"]),
            _ => format!("at most {}", SIZES[0]),
        });
        format!("{} at R0 = {threshold}", each.join(", "))
    };
    let two = [0.2, 0.3].map(|threshold| times(threshold, 2));
    let claim = Claim::of(&[
        apart(0.3) <= SAME,
        times(0.1, 4).is_some_and(|times| times <= 1.25),
        two[0].is_some_and(|times| (2.5..=3.5).contains(&times)),
    ]);
    let factor = |times: Option<f64>| times.map_or("an unknown number of".to_owned(), |t| format!("{t:.1}"));
    let [low, middle, high] = THRESHOLDS.map(|threshold| census.reaching(threshold));
    let verdict = format!(
        "Judged by the exact expectation over all {:.0} groups of KOS, of which {low:.0}, {middle:.0} and {high:.0} reach R0 = 0.1, 0.2 and 0.3: the precisions of 4 and 64 bits are at most {:.3} apart at R0 = 0.3 (k = {} to {}) and {:.3} at R0 = 0.1. \
         Precision 0.8 needs k (2, 4, 64 bits) of {}; {}; {} (500, 260, 170 in the paper at R0 = 0.2, on about a billion groups of NYTimes articles). Two bits need {} times the samples of 64 at R0 = 0.2 and {} at 0.3, where the paper says three.",
        census.groups(),
        apart(0.3),
        SIZES[0],
        SIZES[SIZES.len() - 1],
        apart(0.1),
        list(0.1),
        list(0.2),
        list(0.3),
        factor(two[0]),
        factor(two[1])
    );
    (claim, verdict)
}

/// The samples for precision 0.8, between those that were tried.
fn needed(rows: &Rows<'_>) -> Option<f64> {
    let [curve] = rows.curves("k", ["precision"]);
    let crossing = curve.windows(2).rfind(|w| w[0].1 < 0.8 && w[1].1 >= 0.8)?;
    let [(k, precision), (next_k, next)] = [crossing[0], crossing[1]];
    Some(k + (0.8 - precision) / (next - precision) * (next_k - k))
}

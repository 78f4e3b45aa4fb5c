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
use crate::measure::retrieval::{Counted, Retrieved};
use crate::measure::sketches::{self, Words};
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Outcome, Result, Series, Table};

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
    let mut points = Vec::new();
    for b in BITS {
        for &k in context.points(&[100, 300], &[50, 100, 200, 350, 500]) {
            context.step(format_args!("{b} bits, k = {k}"));
            for point in measure(context, &sets, &groups, b, k)? {
                table.push(point.row(&groups))?;
                point.compare(&mut checks);
                points.push(point);
            }
        }
    }
    let mut charts = charts(&points);
    let measured = measured(&sets, &groups);
    let Some(kos) = kos else {
        let verdict = format!("{measured} The claim was not judged: it takes all groups of KOS (--data).");
        return Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict });
    };
    let mut all = context.table("all")?;
    let precisions = Precisions::over_all(context, &kos.sets, &mut all)?;
    for (i, chart) in charts.iter_mut().enumerate() {
        for (colour, b) in BITS.into_iter().enumerate() {
            let curve = precisions.curve(i, b).iter().map(|(k, precision)| (f64::from(*k), *precision));
            chart.push(Series::line(format!("b = {b}, all of KOS"), curve.collect()).colour(colour));
        }
    }
    let (claim, judged) = precisions.verdict();
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

/// Groups that `k` samples of `b` bits retrieve at a threshold.
#[derive(Debug, Clone, Copy)]
struct Point {
    threshold: f64,
    b: u32,
    k: u32,
    counted: Counted,
    theory: Retrieved,
    /// How many groups are left to chance.
    undecided: f64,
}

/// Sketches until every count that is compared is known to 2%: retrieved and rightly retrieved, for each threshold.
fn measure(
    context: &Context<'_>,
    sets: &[Features],
    groups: &[Group<3>],
    b: u32,
    k: u32,
) -> Result<[Point; 3]> {
    let mut points = expected(groups, b, k);
    for sketch in 0..context.size(1_500, 4_000) {
        let seed = context.seed_of(u64::from(k * 100 + b), sketch);
        let words = Words::new(sets, k, Packing::bits(b)?, seed)?;
        let found = retrieved(&words, b, k, groups)?;
        points.iter_mut().zip(found).for_each(|(point, found)| point.counted.push(found));
        if sketch >= 29 && sketch % 10 == 9 && points.iter().all(Point::is_known) {
            break;
        }
    }
    Ok(points)
}

/// The expected numbers of groups that are retrieved, exactly; nothing is counted yet.
fn expected(groups: &[Group<3>], b: u32, k: u32) -> [Point; 3] {
    let mut reach = Reach::new(b, k as usize, THRESHOLDS);
    let (counted, theory) = (Counted::default(), Retrieved::default());
    let mut points = THRESHOLDS.map(|threshold| Point { threshold, b, k, counted, theory, undecided: 0.0 });
    for group in groups {
        for (point, p) in points.iter_mut().zip(reach.at(group.jaccard, group.pairs)) {
            point.theory.add(p, group.reaches(point.threshold));
            point.undecided += p * (1.0 - p);
        }
    }
    points
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

impl Point {
    fn is_compared(&self) -> bool {
        self.theory.right >= MIN_RIGHT && self.undecided >= 1.0
    }

    fn is_known(&self) -> bool {
        !self.is_compared() || self.counted.is_known(self.theory)
    }

    fn row(&self, groups: &[Group<3>]) -> Row {
        let wanted = groups::relevant(groups, self.threshold);
        let of = row![
            "R0": self.threshold, "b": self.b, "k": self.k, "groups": groups.len(), "relevant": wanted,
            "sketches": self.counted.n(),
        ];
        of.and(self.counted.row(self.theory, wanted))
    }

    fn compare(&self, checks: &mut Checks) {
        if self.is_compared() {
            let what = format!("R0 = {}, b = {}, k = {}", self.threshold, self.b, self.k);
            self.counted.compare(what, self.theory, checks);
        }
    }
}

fn charts(points: &[Point]) -> Vec<Chart> {
    let chart = |threshold: f64| {
        let axis = Axis::linear("precision").from_to(0.0, 1.02);
        let title = format!("Precision, R0 = {threshold}");
        let mut chart = Chart::new(title, Axis::linear("sample size k"), axis);
        for (colour, b) in BITS.into_iter().enumerate() {
            let of = points.iter().filter(|p| p.threshold == threshold && p.b == b);
            let curve = of.map(|p| (f64::from(p.k), p.counted.precision())).collect();
            let name = format!("b = {b}, groups that were sketched");
            chart.push(Series::points(name, curve).colour(colour));
        }
        chart
    };
    THRESHOLDS.into_iter().map(chart).collect()
}

/// What was sketched.
fn measured(sets: &[Features], groups: &[Group<3>]) -> String {
    let shares = THRESHOLDS.map(|threshold| groups::relevant(groups, threshold) / groups.len() as f64);
    format!(
        "Sketched were {} groups of three of {} documents that are near to each other, of which {:.0}%, {:.0}% and {:.0}% reach R0 = 0.1, 0.2 and 0.3: that says whether sketches retrieve what theory expects, and nothing about a collection.",
        groups.len(),
        sets.len(),
        100.0 * shares[0],
        100.0 * shares[1],
        100.0 * shares[2]
    )
}

/// Expected precisions over all groups of three of a collection.
struct Precisions {
    groups: f64,
    /// How many of them reach each threshold.
    relevant: [f64; THRESHOLDS.len()],
    /// For each threshold and each `b`: precision by `k`.
    curves: [[Vec<(u32, f64)>; BITS.len()]; THRESHOLDS.len()],
}

impl Precisions {
    fn over_all(context: &Context<'_>, sets: &[Features], table: &mut Table) -> Result<Self> {
        context.step("the similarities of all groups of three");
        let census = Census::new(sets);
        let mut all = Self {
            groups: census.groups(),
            relevant: THRESHOLDS.map(|threshold| census.reaching(threshold)),
            curves: Default::default(),
        };
        for (number, b) in BITS.into_iter().enumerate() {
            for k in SIZES {
                context.step(format_args!("all groups, {b} bits, k = {k}"));
                let theory = census.expected(&mut Reach::new(b, k as usize, THRESHOLDS), THRESHOLDS);
                for (i, of) in theory.into_iter().enumerate() {
                    let wanted = all.relevant[i];
                    table.push(row![
                        "R0": THRESHOLDS[i], "b": b, "k": k, "groups": all.groups, "relevant": wanted,
                        "retrieved": of.all, "right": of.right,
                        "precision": of.precision(), "recall": of.recall(wanted),
                    ])?;
                    all.curves[i][number].push((k, of.precision()));
                }
            }
        }
        Ok(all)
    }

    /// The precisions for threshold number `i`.
    fn curve(&self, i: usize, b: u32) -> &[(u32, f64)] {
        let number = BITS.iter().position(|of| *of == b).expect("one of the bits");
        &self.curves[i][number]
    }

    /// How far four bits and whole samples are apart.
    fn apart(&self, i: usize) -> f64 {
        let pairs = self.curve(i, 4).iter().zip(self.curve(i, 64));
        pairs.map(|(four, full)| (full.1 - four.1).abs()).fold(0.0, f64::max)
    }

    /// The samples for precision 0.8, between those that were tried.
    fn needed(&self, i: usize, b: u32) -> Option<f64> {
        let crossing = self.curve(i, b).windows(2).rfind(|w| w[0].1 < 0.8 && w[1].1 >= 0.8)?;
        let part = (0.8 - crossing[0].1) / (crossing[1].1 - crossing[0].1);
        Some(f64::from(crossing[0].0) + part * f64::from(crossing[1].0 - crossing[0].0))
    }

    /// How many times the samples of 64 bits are needed.
    fn times(&self, i: usize, b: u32) -> Option<f64> {
        Some(self.needed(i, b)? / self.needed(i, 64)?)
    }

    fn list(&self, i: usize) -> String {
        let each = BITS.map(|b| match (self.needed(i, b), self.curve(i, b)) {
            (Some(k), _) => format!("{k:.0}"),
            (None, [.., (k, precision)]) if *precision < 0.8 => format!("more than {k}"),
            (None, curve) => format!("at most {}", curve.iter().map(|(k, _)| *k).min().unwrap_or_default()),
        });
        format!("{} at R0 = {}", each.join(", "), THRESHOLDS[i])
    }

    /// What they say of the claim.
    fn verdict(&self) -> (Claim, String) {
        let two = [1, 2].map(|i| self.times(i, 2));
        let claim = Claim::of(&[
            self.apart(2) <= SAME,
            self.times(0, 4).is_some_and(|times| times <= 1.25),
            two[0].is_some_and(|times| (2.5..=3.5).contains(&times)),
        ]);
        let factor =
            |times: Option<f64>| times.map_or("an unknown number of".to_owned(), |t| format!("{t:.1}"));
        let verdict = format!(
            "Judged by the exact expectation over all {:.0} groups of KOS, of which {:.0}, {:.0} and {:.0} reach R0 = 0.1, 0.2 and 0.3: the precisions of 4 and 64 bits are at most {:.3} apart at R0 = 0.3 (k = {} to {}) and {:.3} at R0 = 0.1. \
             Precision 0.8 needs k (2, 4, 64 bits) of {}; {}; {} (500, 260, 170 in the paper at R0 = 0.2, on about a billion groups of NYTimes articles). Two bits need {} times the samples of 64 at R0 = 0.2 and {} at 0.3, where the paper says three.",
            self.groups,
            self.relevant[0],
            self.relevant[1],
            self.relevant[2],
            self.apart(2),
            SIZES[0],
            SIZES[SIZES.len() - 1],
            self.apart(0),
            self.list(0),
            self.list(1),
            self.list(2),
            factor(two[0]),
            factor(two[1])
        );
        (claim, verdict)
    }
}

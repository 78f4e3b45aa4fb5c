//! 003, association rules and duplicate detection: precision and recall of Odd Sketches and one-bit samples at J0 = 0.9.
//!
//! Both are exactly predictable: equal bits are binomial, and the differing bits of two Odd Sketches follow a Markov chain whose length is
//! twice a binomial number.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::odd;
use benzer_core::sketch::{Bits, Packing};

use crate::check::is_precise;
use crate::corpus::{self, Corpus};
use crate::retrieval::{Histogram, Retrieved, curve, curves, relevant, retrieved, sketched};
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, Series, Table, exact,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_retrieval",
    source: "003, association rules, web duplicates",
    title: "Odd Sketches for rules and duplicates",
    claim: "For item pairs of mushroom and document pairs of KOS and Enron with J > 0.9, the Odd Sketch has better precision and recall than one-bit samples of the same size.",
    criterion: "The mean numbers of pairs that are retrieved and that are retrieved rightly, over independent sketches: within 4 standard errors of the exact expectation over all pairs (binomial for one bit, binomial and Markov chain for the Odd Sketch), standard error at most 2%, for 128 to 2,048 bits. The claim is then read off the expected numbers.",
    run,
};

const J0: f64 = 0.9;

/// Expected precision, recall and F1 of both kinds at one size.
struct Point {
    data: String,
    bits: u32,
    odd: [f64; 3],
    one: [f64; 3],
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let columns = [
        "data",
        "pairs_above",
        "bits",
        "sketch",
        "k",
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
        "F1",
        "F1_expected",
    ];
    let mut table = context.table("", &columns)?;
    let (mut charts, mut points) = (Vec::new(), Vec::new());
    for corpus in data(context)? {
        let similarities = corpus::similarities(&corpus.sets);
        let wanted = relevant(&similarities, J0);
        checks.holds(format_args!("{} has 10 pairs above {J0}", corpus.name), wanted >= 10.0);
        let axes = (Axis::log("bits"), Axis::linear("F1"));
        let mut chart = Chart::new(format!("{}: {wanted} pairs with J >= {J0}", corpus.name), axes.0, axes.1);
        let mut series: [Vec<(f64, f64)>; 4] = Default::default();
        let sizes: &[u32] = if context.is_quick() { &[256, 1024] } else { &[128, 256, 512, 1024, 2048] };
        for &bits in sizes {
            let mut expected = [[0.0; 3]; 2];
            for (i, is_odd) in [true, false].into_iter().enumerate() {
                context.step(format_args!(
                    "{}, {bits} bits, {}",
                    corpus.name,
                    if is_odd { "odd" } else { "one bit" }
                ));
                let kind = Kind::new(bits, is_odd)?;
                let f1 = kind.score(context, (&corpus, &similarities), (&mut table, &mut checks))?;
                expected[i] = f1[1];
                series[2 * i].push((f64::from(bits), f1[0][2]));
                series[2 * i + 1].push((f64::from(bits), f1[1][2]));
            }
            points.push(Point { data: corpus.name.clone(), bits, odd: expected[0], one: expected[1] });
        }
        for (i, series) in series.into_iter().enumerate() {
            let name = ["Odd Sketch", "", "one bit", ""][i];
            let series = if i % 2 == 0 { Series::points(name, series) } else { Series::line(name, series) };
            chart.push(series.colour(i / 2));
        }
        charts.push(chart);
    }
    let (claim, verdict) = verdict(&points);
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

fn verdict(points: &[Point]) -> (Claim, String) {
    let better = |i: usize| points.iter().filter(|p| p.odd[i] > p.one[i]).count();
    let gain: Moments = points.iter().map(|p| p.odd[2] - p.one[2]).collect();
    let worse: Vec<String> = points
        .iter()
        .filter(|p| p.odd[2] <= p.one[2])
        .map(|p| format!("{} with {} bits ({:.3} against {:.3})", p.data, p.bits, p.odd[2], p.one[2]))
        .collect();
    let exception = match worse.len() {
        0 => "everywhere".to_owned(),
        _ => format!("but not for {}", worse.join(", ")),
    };
    let n = points.len();
    let claim =
        Claim::of(&points.iter().map(|p| p.odd[0] > p.one[0] && p.odd[1] > p.one[1]).collect::<Vec<_>>());
    let verdict = format!(
        "At equal size the Odd Sketch has the better precision in {} of {n} cases, the better recall in {} and the better F1 in {}: {exception}. \
         The difference of F1 is {:+.3} on average, from {:+.3} to {:+.3}.",
        better(0),
        better(1),
        better(2),
        gain.mean().value,
        points.iter().map(|p| p.odd[2] - p.one[2]).fold(f64::MAX, f64::min),
        points.iter().map(|p| p.odd[2] - p.one[2]).fold(f64::MIN, f64::max),
    );
    (claim, verdict)
}

fn data(context: &Context<'_>) -> Result<Vec<Corpus>> {
    let Some(data) = context.data() else {
        // Near-duplicates only, so that enough pairs lie on both sides of the threshold.
        let mut corpus = corpus::synthetic(context.seed(0), context.size(20, 60), 12);
        corpus.name = "synthetic".to_owned();
        return Ok(vec![corpus]);
    };
    let words = benzer_core::field::text::TextOptions { n: 1, ..Default::default() };
    // Every other mail: a fourth of the pairs, and enough of them alike.
    let enron: Vec<String> = corpus::enron(data)?.into_iter().step_by(2).collect();
    Ok(vec![
        Corpus { name: "mushroom items".to_owned(), sets: corpus::mushroom_items(data)? },
        corpus::kos(data)?,
        Corpus { name: "Enron-spam".to_owned(), sets: corpus::shingled(&enron, &words)? },
    ])
}

/// A sketch of so many bits.
struct Kind {
    bits: u32,
    is_odd: bool,
    k: u32,
    /// An estimate of at least J0 is a number of differing bits of at most this.
    most: u32,
}

impl Kind {
    fn new(bits: u32, is_odd: bool) -> Result<Self> {
        let n = f64::from(bits);
        let k = if is_odd { odd::best_registers(bits as usize, J0)? as u32 } else { bits };
        let most = if is_odd {
            n * odd::probability(2.0 * f64::from(k) * (1.0 - J0), n)
        } else {
            n * (1.0 - Collision::sparse(1).probability(J0))
        };
        Ok(Self { bits, is_odd, k, most: (most + 1e-9).floor() as u32 })
    }

    fn expected(&self, histogram: &Histogram) -> Retrieved {
        let k = self.k as usize;
        if !self.is_odd {
            let line = Collision::sparse(1);
            let least = k - self.most as usize;
            return histogram.expected(&curves(k, &[least], |j| line.probability(j))[0]);
        }
        let after = exact::odd::at_most(self.bits as usize, k, self.most as usize);
        histogram.expected(&curve(|j| exact::mean(k, 1.0 - j, |different| after[different])))
    }

    /// Precision, recall and F1: measured and expected.
    fn score(
        &self,
        context: &Context<'_>,
        (corpus, similarities): (&Corpus, &[f32]),
        (table, checks): (&mut Table, &mut Checks),
    ) -> Result<[[f64; 3]; 2]> {
        let theory = self.expected(&Histogram::new(similarities, J0));
        let packing = if self.is_odd { Packing::Odd { bits: self.bits } } else { Packing::bits(1)? };
        let wanted = relevant(similarities, J0);
        let mut counts = [Moments::default(); 2];
        for sketch in 0..context.size(1_000, 1_000) {
            let stream = u64::from(self.bits) * 2 + u64::from(self.is_odd);
            let seed = benzer_core::hash::split(context.seed(stream), sketch as u64);
            let words = sketched(&corpus.sets, self.k, packing, seed)?;
            let rule = [(J0, self.most)];
            let found = retrieved(&words, corpus.sets.len(), Bits::new(1)?, similarities, &rule)[0];
            counts[0].push(found.all);
            counts[1].push(found.right);
            let [all, right] = counts.map(|counts| counts.mean());
            if sketch >= 19 && is_precise(all, theory.all) && is_precise(right, theory.right) {
                break;
            }
        }
        let [all, right] = counts.map(|counts| counts.mean());
        let name = if self.is_odd { "odd" } else { "one bit" };
        let what = format!("{}, {} bits, {name}", corpus.name, self.bits);
        checks.agrees(format_args!("{what}: retrieved"), all, theory.all);
        checks.agrees(format_args!("{what}: rightly"), right, theory.right);
        let quality =
            |all: f64, right: f64| [right / all.max(1e-9), right / wanted, 2.0 * right / (all + wanted)];
        let scores = [quality(all.value, right.value), quality(theory.all, theory.right)];
        let [[p, r, f], [p0, r0, f0]] = scores;
        table.push(row![
            corpus.name.as_str(),
            wanted,
            self.bits,
            name,
            self.k,
            counts[0].n(),
            all.value,
            all.error,
            theory.all,
            right.value,
            right.error,
            theory.right,
            p,
            p0,
            r,
            r0,
            f,
            f0
        ])?;
        Ok(scores)
    }
}

//! 003, association rules and duplicate detection: precision and recall of Odd Sketches and one-bit samples at J0 = 0.9.
//!
//! Both are exactly predictable: equal bits are binomial, and the differing bits of two Odd Sketches follow a Markov chain whose length is
//! twice a binomial number.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::odd;
use benzer_core::field::text::TextOptions;
use benzer_core::sketch::{Bits, Packing};

use crate::chart::Curves;
use crate::data::corpus::{self, Corpus};
use crate::measure::retrieval::{Counted, Histogram, Pairs, Retrieved, curve, curves};
use crate::measure::sketches::Words;
use crate::table::{Row, row};
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, exact};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_retrieval",
    source: "003, association rules, web duplicates",
    title: "Odd Sketches for rules and duplicates",
    claim: "For item pairs of mushroom and document pairs of KOS and Enron with J > 0.9, the Odd Sketch has better precision and recall than one-bit samples of the same size.",
    criterion: "The mean numbers of pairs that are retrieved and that are retrieved rightly, over independent sketches: within 4 standard errors of the exact expectation over all pairs (binomial for one bit, binomial and Markov chain for the Odd Sketch), standard error at most 2%, for 128 to 2,048 bits. The claim is then read off the expected numbers.",
    run,
};

const J0: f64 = 0.9;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let (mut charts, mut points) = (Vec::new(), Vec::new());
    for corpus in collections(context)? {
        let pairs = Pairs::new(corpus, [J0]);
        let (name, [wanted]) = (&pairs.corpus.name, pairs.wanted);
        checks.holds(format_args!("{name} has 10 pairs above {J0}"), wanted >= 10.0);
        let mut of_corpus = Vec::new();
        for &bits in context.points(&[256, 1024], &[128, 256, 512, 1024, 2048]) {
            for is_odd in [true, false] {
                let kind = Kind::new(bits, is_odd)?;
                let what = format!("{name}, {bits} bits, {}", kind.name());
                context.step(&what);
                let point = kind.measure(context, &pairs)?;
                table.push(point.row())?;
                point.counted.compare(what, point.theory, &mut checks);
                of_corpus.push(point);
            }
        }
        let title = format!("{name}: {wanted} pairs with J >= {J0}");
        charts.push(chart(title, &of_corpus));
        points.extend(of_corpus);
    }
    let (claim, verdict) = verdict(&points);
    Ok(Outcome { tables: vec![table], charts, checks, claim, verdict })
}

fn collections(context: &Context<'_>) -> Result<Vec<Corpus>> {
    let Some(data) = context.data() else {
        // Near-duplicates only, so that enough pairs lie on both sides of the threshold.
        let mut corpus = corpus::synthetic(context.seed(0), context.size(20, 60), 12);
        corpus.name = "synthetic".to_owned();
        return Ok(vec![corpus]);
    };
    let words = TextOptions { n: 1, ..TextOptions::default() };
    // Every other mail: a fourth of the pairs, and enough of them alike.
    let enron: Vec<String> = corpus::enron(data)?.into_iter().step_by(2).collect();
    Ok(vec![
        Corpus { name: "mushroom items".to_owned(), sets: corpus::mushroom_items(data)? },
        corpus::kos(data)?,
        Corpus { name: "Enron-spam".to_owned(), sets: corpus::shingled(&enron, &words)? },
    ])
}

/// A sketch of so many bits.
#[derive(Clone, Copy)]
struct Kind {
    bits: u32,
    is_odd: bool,
    k: u32,
    /// An estimate of at least J0 is a number of differing bits of at most this.
    max_mismatches: u32,
}

/// What one kind of sketch retrieves of a collection.
struct Point {
    data: String,
    wanted: f64,
    kind: Kind,
    counted: Counted,
    theory: Retrieved,
}

impl Kind {
    fn new(bits: u32, is_odd: bool) -> Result<Self> {
        let n = f64::from(bits);
        let k = if is_odd { odd::best_registers(bits as usize, J0)? as u32 } else { bits };
        let differ = if is_odd {
            n * odd::probability(2.0 * f64::from(k) * (1.0 - J0), n)
        } else {
            n * (1.0 - Collision::sparse(1).probability(J0))
        };
        Ok(Self { bits, is_odd, k, max_mismatches: (differ + 1e-9).floor() as u32 })
    }

    fn name(&self) -> &'static str {
        if self.is_odd { "odd" } else { "one bit" }
    }

    fn expected(&self, histogram: &Histogram) -> Retrieved {
        let (k, max) = (self.k as usize, self.max_mismatches as usize);
        if !self.is_odd {
            let line = Collision::sparse(1);
            return histogram.expected(&curves(k, &[k - max], |j| line.probability(j))[0]);
        }
        let after = exact::odd::at_most(self.bits as usize, k, max);
        histogram.expected(&curve(|j| exact::mean(k, 1.0 - j, |different| after[different])))
    }

    fn measure(self, context: &Context<'_>, pairs: &Pairs<1>) -> Result<Point> {
        let theory = self.expected(&pairs.histograms[0]);
        let packing = if self.is_odd { Packing::Odd { bits: self.bits } } else { Packing::bits(1)? };
        let stream = u64::from(self.bits) * 2 + u64::from(self.is_odd);
        let mut counted = Counted::default();
        for sketch in 0..1_000 {
            let words = Words::new(&pairs.corpus.sets, self.k, packing, context.seed_of(stream, sketch))?;
            let [found] = pairs.retrieved(&words, Bits::new(1)?, [self.max_mismatches]);
            counted.push(found);
            if sketch >= 19 && counted.is_known(theory) {
                break;
            }
        }
        Ok(Point { data: pairs.corpus.name.clone(), wanted: pairs.wanted[0], kind: self, counted, theory })
    }
}

impl Point {
    /// Measured and expected.
    fn f1(&self) -> [f64; 2] {
        [self.counted.mean(), self.theory].map(|of| of.f1(self.wanted))
    }

    /// Expected precision, recall and F1.
    fn expected(&self) -> [f64; 3] {
        [self.theory.precision(), self.theory.recall(self.wanted), self.theory.f1(self.wanted)]
    }

    fn row(&self) -> Row {
        let [f1, f1_expected] = self.f1();
        let of = row![
            "data": self.data, "pairs_above": self.wanted, "bits": self.kind.bits, "sketch": self.kind.name(),
            "k": self.kind.k, "sketches": self.counted.n(),
        ];
        let retrieved = self.counted.row(self.theory, self.wanted);
        of.and(retrieved).and(row!["F1": f1, "F1_expected": f1_expected])
    }
}

fn chart(title: String, points: &[Point]) -> Chart {
    let mut chart = Chart::new(title, Axis::log("bits"), Axis::linear("F1"));
    for (colour, (name, is_odd)) in [("Odd Sketch", true), ("one bit", false)].into_iter().enumerate() {
        let mut curves = Curves::default();
        for point in points.iter().filter(|point| point.kind.is_odd == is_odd) {
            curves.push(f64::from(point.kind.bits), point.f1());
        }
        chart.compare(name, colour, curves);
    }
    chart
}

/// What the expected numbers of both kinds say, which come one after the other.
fn verdict(points: &[Point]) -> (Claim, String) {
    let cases: Vec<[[f64; 3]; 2]> =
        points.chunks_exact(2).map(|kinds| [kinds[0].expected(), kinds[1].expected()]).collect();
    let better = |i: usize| cases.iter().filter(|[odd, one]| odd[i] > one[i]).count();
    let gains = || cases.iter().map(|[odd, one]| odd[2] - one[2]);
    let worse: Vec<String> = points
        .chunks_exact(2)
        .zip(&cases)
        .filter(|(_, [odd, one])| odd[2] <= one[2])
        .map(|(kinds, [odd, one])| {
            let Point { data, kind, .. } = &kinds[0];
            format!("{data} with {} bits ({:.3} against {:.3})", kind.bits, odd[2], one[2])
        })
        .collect();
    let exception = match worse.len() {
        0 => "everywhere".to_owned(),
        _ => format!("but not for {}", worse.join(", ")),
    };
    let parts: Vec<bool> = cases.iter().map(|[odd, one]| odd[0] > one[0] && odd[1] > one[1]).collect();
    let verdict = format!(
        "At equal size the Odd Sketch has the better precision in {} of {} cases, the better recall in {} and the better F1 in {}: {exception}. \
         The difference of F1 is {:+.3} on average, from {:+.3} to {:+.3}.",
        better(0),
        cases.len(),
        better(1),
        better(2),
        gains().collect::<Moments>().mean().value,
        gains().fold(f64::MAX, f64::min),
        gains().fold(f64::MIN, f64::max),
    );
    (Claim::of(&parts), verdict)
}

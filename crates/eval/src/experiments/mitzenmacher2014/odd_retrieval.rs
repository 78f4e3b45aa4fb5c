//! 003, association rules and duplicate detection: precision and recall of Odd Sketches and one-bit samples at J0 = 0.9.
//!
//! Both are exactly predictable: equal bits are binomial, and the differing bits of two Odd Sketches follow a Markov chain whose length is
//! twice a binomial number.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::odd;
use benzer_core::field::text::TextOptions;
use benzer_core::sketch::{Bits, Packing};

use crate::data::corpus::{self, Corpus};
use crate::measure::retrieval::{Counted, Histogram, Pairs, Retrieved, Runs, curve, curves};
use crate::measure::sketches::Words;
use crate::prelude::*;

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
    let mut charts = Vec::new();
    for corpus in collections(context)? {
        let pairs = Pairs::new(corpus, [J0]);
        let (name, [wanted]) = (&pairs.corpus.name, pairs.wanted);
        checks.holds(format_args!("{name} has 10 pairs above {J0}"), wanted >= 10.0);
        for &bits in context.points(&[256, 1024], &[128, 256, 512, 1024, 2048]) {
            for kind in [Kind::odd(bits)?, Kind::one_bit(bits)] {
                let what = format!("{name}, {bits} bits, {}", kind.name);
                context.step(&what);
                let theory = kind.expected(&pairs.histograms[0]);
                let counted = kind.count(context, &pairs, theory)?;
                counted.compare(what, theory, &mut checks);
                let of = row![
                    "data": *name, "pairs_above": wanted, "bits": bits, "sketch": kind.name, "k": kind.k,
                    "sketches": counted.n(),
                ];
                let f1 = row!["F1": counted.mean().f1(wanted), "F1_expected": theory.f1(wanted)];
                table.push(of.and(counted.row(theory, wanted)).and(f1))?;
            }
        }
        let title = format!("{name}: {wanted} pairs with J >= {J0}");
        let mut chart = Chart::new(title, Axis::log("bits"), Axis::linear("F1"));
        let rows = table.all().only("data", name.as_str());
        for (colour, (label, kind)) in [("Odd Sketch", ODD), ("one bit", ONE_BIT)].into_iter().enumerate() {
            chart.compare(label, colour, rows.only("sketch", kind).curves("bits", ["F1", "F1_expected"]));
        }
        charts.push(chart);
    }
    let (claim, verdict) = verdict(&table.all());
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

const ODD: &str = "odd";
const ONE_BIT: &str = "one bit";

/// A sketch of so many bits.
struct Kind {
    name: &'static str,
    bits: u32,
    k: u32,
    /// An estimate of at least J0 is a number of differing bits of at most this.
    max_mismatches: u32,
}

impl Kind {
    fn odd(bits: u32) -> Result<Self> {
        let (n, k) = (f64::from(bits), odd::best_registers(bits as usize, J0)? as u32);
        let differ = n * odd::probability(2.0 * f64::from(k) * (1.0 - J0), n);
        Ok(Self { name: ODD, bits, k, max_mismatches: (differ + 1e-9).floor() as u32 })
    }

    fn one_bit(bits: u32) -> Self {
        let differ = f64::from(bits) * (1.0 - Collision::sparse(1).probability(J0));
        Self { name: ONE_BIT, bits, k: bits, max_mismatches: (differ + 1e-9).floor() as u32 }
    }

    fn expected(&self, histogram: &Histogram) -> Retrieved {
        let (k, max) = (self.k as usize, self.max_mismatches as usize);
        if self.name == ONE_BIT {
            let line = Collision::sparse(1);
            return histogram.expected(&curves(k, &[k - max], |j| line.probability(j))[0]);
        }
        let after = exact::odd::at_most(self.bits as usize, k, max);
        histogram.expected(&curve(|j| exact::mean(k, 1.0 - j, |different| after[different])))
    }

    fn count(&self, context: &Context<'_>, pairs: &Pairs<1>, theory: Retrieved) -> Result<Counted> {
        let is_odd = self.name == ODD;
        let packing = if is_odd { Packing::Odd { bits: self.bits } } else { Packing::bits(1)? };
        let stream = u64::from(self.bits) * 2 + u64::from(is_odd);
        let [counted] = Runs { min: 20, step: 1, max: 1_000 }.count([Some(theory)], |sketch| {
            let words = Words::new(&pairs.corpus.sets, self.k, packing, context.seed_of(stream, sketch))?;
            Ok(pairs.retrieved(&words, Bits::new(1)?, [self.max_mismatches]))
        })?;
        Ok(counted)
    }
}

fn verdict(rows: &Rows<'_>) -> (Claim, String) {
    let (odd, one) = (rows.only("sketch", ODD), rows.only("sketch", ONE_BIT));
    let cases: Vec<(&Row, &Row)> = odd.iter().zip(one.iter()).collect();
    let [precision, recall, f1] = ["precision_expected", "recall_expected", "F1_expected"];
    let better = |of: &str| cases.iter().filter(|(odd, one)| odd[of] > one[of]).count();
    let gains = cases.iter().map(|(odd, one)| odd[f1] - one[f1]);
    let worse = cases.iter().filter(|(odd, one)| odd[f1] <= one[f1]).map(|(odd, one)| {
        let (data, bits) = (odd.text("data"), odd.text("bits"));
        format!("{data} with {bits} bits ({:.3} against {:.3})", odd[f1], one[f1])
    });
    let worse: Vec<String> = worse.collect();
    let exception = match worse.len() {
        0 => "everywhere".to_owned(),
        _ => format!("but not for {}", worse.join(", ")),
    };
    let both = |(odd, one): &(&Row, &Row)| odd[precision] > one[precision] && odd[recall] > one[recall];
    let claim = Claim::of(&cases.iter().map(both).collect::<Vec<_>>());
    let verdict = format!(
        "At equal size the Odd Sketch has the better precision in {} of {} cases, the better recall in {} and the better F1 in {}: {exception}. \
         The difference of F1 is {:+.3} on average, from {:+.3} to {:+.3}.",
        better(precision),
        cases.len(),
        better(recall),
        better(f1),
        gains.clone().collect::<Moments>().mean().value,
        gains.clone().fold(f64::MAX, f64::min),
        gains.fold(f64::MIN, f64::max),
    );
    (claim, verdict)
}

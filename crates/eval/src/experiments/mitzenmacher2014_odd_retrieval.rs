//! 003, association rules and duplicate detection: precision and recall of Odd Sketches and one-bit samples at J0 = 0.9.

use benzer_core::estimate::collision::Collision;
use benzer_core::estimate::odd;
use benzer_core::sketch::{Bits, Packing};

use crate::corpus::{self, Corpus};
use crate::retrieval::{relevant, retrieved, sketched};
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Mean, Moments, Outcome, Result, Series, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mitzenmacher2014_odd_retrieval",
    source: "003, association rules, web duplicates",
    title: "Odd Sketches for rules and duplicates",
    claim: "For item pairs of mushroom and document pairs of KOS and Enron with J > 0.9, the Odd Sketch has better precision and recall than one-bit samples of the same size.",
    criterion: "At every size from 256 bits on, the mean F1 of the Odd Sketch over independent sketches is not below that of one-bit samples by more than 4 standard errors of the difference, and is above it on average; the standard error is at most 2%.",
    run,
};

const J0: f64 = 0.9;

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table(
        "",
        &["data", "pairs_above", "bits", "sketch", "k", "sketches", "precision", "recall", "F1", "F1_se"],
    )?;
    let (mut charts, mut gains) = (Vec::new(), Moments::default());
    for corpus in data(context)? {
        let similarities = corpus::similarities(&corpus.sets);
        let wanted = relevant(&similarities, J0);
        checks.holds(format_args!("{} has pairs above {J0}", corpus.name), wanted > 0.0);
        let mut chart = Chart::new(
            format!("{}: {wanted} pairs with J >= {J0}", corpus.name),
            Axis::log("bits"),
            Axis::linear("F1"),
        );
        let mut points = [Vec::new(), Vec::new()];
        let sizes: &[u32] = if context.is_quick() { &[256, 1024] } else { &[128, 256, 512, 1024, 2048] };
        for &bits in sizes {
            context.step(format_args!("{}, {bits} bits", corpus.name));
            let scores =
                [true, false].map(|is_odd| score(context, &corpus, &similarities, bits, is_odd, &mut table));
            let [odd, one] = scores;
            let (odd, one) = (odd?, one?);
            points[0].push((f64::from(bits), odd.value));
            points[1].push((f64::from(bits), one.value));
            if bits >= 256 {
                let error = odd.error.hypot(one.error);
                checks.holds(
                    format_args!("{}, {bits} bits: {} against {}", corpus.name, odd.value, one.value),
                    odd.value >= one.value - 4.0 * error,
                );
                checks.holds(
                    format_args!("{}, {bits} bits: standard error {error}", corpus.name),
                    error <= 0.02,
                );
                gains.push(odd.value - one.value);
            }
        }
        let [odd, one] = points;
        chart.push(Series::points("Odd Sketch", odd.clone()));
        chart.push(Series::line("", odd));
        chart.push(Series::points("one bit", one.clone()).colour(1));
        chart.push(Series::line("", one).colour(1));
        charts.push(chart);
    }
    let gain = gains.mean().value;
    checks.holds(format_args!("the mean gain {gain} is positive"), gain > 0.0);
    let verdict = format!(
        "Confirmed: at equal size the Odd Sketch has the better F1 at J0 = 0.9, by {gain:.3} on average from 256 bits on."
    );
    Ok(Outcome { tables: vec![table], charts, checks, verdict })
}

fn data(context: &Context<'_>) -> Result<Vec<Corpus>> {
    let Some(data) = context.data() else {
        // Near-duplicates only, so that enough pairs lie on both sides of the threshold.
        let mut corpus = corpus::synthetic(context.seed(0), context.size(20, 60), 12);
        corpus.name = "synthetic".to_owned();
        return Ok(vec![corpus]);
    };
    let words = benzer_core::field::text::TextOptions { n: 1, ..Default::default() };
    // Every other mail: a fourth of the pairs.
    let enron: Vec<String> = corpus::enron(data)?.into_iter().step_by(2).collect();
    Ok(vec![
        Corpus { name: "mushroom items".to_owned(), sets: corpus::mushroom_items(data)? },
        corpus::kos(data)?,
        Corpus { name: "Enron-spam".to_owned(), sets: corpus::shingled(&enron, &words)? },
    ])
}

/// The mean F1 of one kind of sketch.
fn score(
    context: &Context<'_>,
    corpus: &Corpus,
    similarities: &[f32],
    bits: u32,
    is_odd: bool,
    table: &mut Table,
) -> Result<Mean> {
    let n = f64::from(bits);
    let k = if is_odd { odd::best_registers(bits as usize, J0)? as u32 } else { bits };
    // An estimate of at least J0 is a number of differing bits of at most this.
    let most = if is_odd {
        n * odd::probability(2.0 * f64::from(k) * (1.0 - J0), n)
    } else {
        n * (1.0 - Collision::sparse(1).probability(J0))
    };
    let packing = if is_odd { Packing::Odd { bits } } else { Packing::bits(1)? };
    let wanted = relevant(similarities, J0);
    let [mut precision, mut recall, mut f1] = [Moments::default(); 3];
    let sketches = context.size(40, 26);
    for sketch in 0..sketches {
        let seed =
            benzer_core::hash::split(context.seed(u64::from(bits) * 2 + u64::from(is_odd)), sketch as u64);
        let words = sketched(&corpus.sets, k, packing, seed)?;
        let found =
            retrieved(&words, corpus.sets.len(), Bits::new(1)?, similarities, &[(J0, most.floor() as u32)])
                [0];
        let (p, r) = (found.precision(), found.recall(wanted));
        precision.push(p);
        recall.push(r);
        f1.push(2.0 * p * r / (p + r).max(1e-9));
    }
    let [p, r, f] = [precision, recall, f1].map(|moments| moments.mean());
    let name = if is_odd { "odd" } else { "one bit" };
    table.push(row![
        corpus.name.as_str(),
        wanted,
        bits,
        name,
        k,
        sketches,
        p.value,
        r.value,
        f.value,
        f.error
    ])?;
    Ok(f)
}

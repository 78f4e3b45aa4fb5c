//! 001, locality-sensitive hashing: the share of pairs that become candidates, measured on collections, against the S-curve.

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, SketchSpec};

use crate::corpus;
use crate::retrieval::sketched;
use crate::table::row;
use crate::{Axis, Chart, Checks, Context, Experiment, Moments, Outcome, Result, Series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "leskovec2014_s_curve",
    source: "001, locality-sensitive hashing; the report's search (002)",
    title: "The S-curve on documents",
    claim: "Pairs of similarity s become candidates with probability 1 - (1 - s^r)^b: a step near (1/b)^(1/r).",
    criterion: "For 20 bands of 5 and 9 of 13, whole and 8-bit registers: in every tenth of similarity with enough pairs, the share of candidates over independent sketches is within 4 standard errors of the mean of the curve over the pairs, standard error at most 2%.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context
        .table("", &["data", "bands", "rows", "b", "from", "to", "pairs", "measured", "se", "theory"])?;
    let mut charts = Vec::new();
    let sketches = context.size(150, 60);
    for corpus in corpus::documents(context, 1500)? {
        let similarities = corpus::similarities(&corpus.sets);
        for (shape, b) in [
            (Shape { bands: 20, rows: 5 }, 64u32),
            (Shape { bands: 20, rows: 5 }, 8),
            (Shape { bands: 9, rows: 13 }, 4),
        ] {
            context.step(format_args!("{}, {} x {}, {b} bits", corpus.name, shape.bands, shape.rows));
            let k = (shape.bands * shape.rows) as u32;
            let packing = Packing::bits(b)?;
            let spec = SketchSpec { packing, ..SketchSpec::full(Family::Permutations(Scheme::Native), k) };
            let width = if b == 64 { Bits::new(12)? } else { Bits::new(b)? };
            let banding = Banding::narrowed(&spec, shape, width)?;
            let line = Collision::sparse(width.get());
            let mut shares = vec![Moments::default(); 10];
            let (mut counts, mut theory) = ([0.0f64; 10], [0.0f64; 10]);
            for &similarity in &similarities {
                let bin = bin(similarity);
                counts[bin] += 1.0;
                theory[bin] += curve::probability_b_bit(f64::from(similarity), line, shape.bands, shape.rows);
            }
            for sketch in 0..sketches {
                let seed = benzer_core::hash::split(context.seed(u64::from(k * 100 + b)), sketch as u64);
                let words = sketched(&corpus.sets, k, packing, seed)?;
                let found = candidates(&words, corpus.sets.len(), &banding, &similarities);
                shares
                    .iter_mut()
                    .zip(found)
                    .zip(counts)
                    .filter(|(_, n)| *n > 0.0)
                    .for_each(|((share, found), n)| share.push(found / n));
            }
            let mut series = [Vec::new(), Vec::new()];
            for i in (0..10).filter(|&i| counts[i] >= 1.0) {
                let (from, to) = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
                let (mut measured, expected) = (shares[i].mean(), theory[i] / counts[i]);
                // What never or always happens has no spread of its own; the binomial one of theory stands in.
                measured.error = measured
                    .error
                    .max((expected * (1.0 - expected) / (counts[i] * sketches as f64)).max(0.0).sqrt());
                table.push(row![
                    corpus.name.as_str(),
                    shape.bands,
                    shape.rows,
                    b,
                    from,
                    to,
                    counts[i],
                    measured.value,
                    measured.error,
                    expected
                ])?;
                if counts[i] >= 30.0 {
                    checks.agrees_on(
                        format_args!("{}, {shape:?}, b = {b}, {from} to {to}", corpus.name),
                        measured,
                        expected,
                        1.0,
                    );
                }
                series[0].push((from + 0.05, measured.value));
                series[1].push((from + 0.05, expected));
            }
            let [measured, expected] = series;
            let whole = (0..=100)
                .map(|i| f64::from(i) / 100.0)
                .map(|j| (j, curve::probability_b_bit(j, line, shape.bands, shape.rows)))
                .collect();
            charts.push(
                Chart::new(
                    format!("{}: {} bands of {}, {b} bits", corpus.name, shape.bands, shape.rows),
                    Axis::linear("similarity"),
                    Axis::linear("share of candidates"),
                )
                .with(Series::points("measured", measured))
                .with(Series::points("expected for these pairs", expected).colour(1))
                .with(Series::line("the curve", whole).colour(2)),
            );
        }
    }
    let verdict = "Confirmed on every collection: the share of candidates is that of the curve, also for b-bit registers with their own collision probability.";
    Ok(Outcome { tables: vec![table], charts, checks, verdict: verdict.to_owned() })
}

fn bin(similarity: f32) -> usize {
    ((similarity * 10.0) as usize).min(9)
}

/// Pairs that share a key in some band, by tenth of similarity.
fn candidates(words: &[u64], n: usize, banding: &Banding, similarities: &[f32]) -> [f64; 10] {
    let each = words.len() / n.max(1);
    let keys: Vec<Vec<u64>> =
        (0..n).map(|i| banding.keys(&words[i * each..(i + 1) * each]).map(|key| key.key).collect()).collect();
    let mut found = [0.0; 10];
    let mut similarities = similarities.iter();
    for i in 0..n {
        for j in i + 1..n {
            let similarity = similarities.next().copied().unwrap_or_default();
            if keys[i].iter().zip(&keys[j]).any(|(x, y)| x == y) {
                found[bin(similarity)] += 1.0;
            }
        }
    }
    found
}

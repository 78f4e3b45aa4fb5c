//! 001, locality-sensitive hashing: the share of pairs that become candidates, measured on collections, against the S-curve.

use std::collections::HashSet;

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Bits, Family, Packing, Scheme, SketchSpec};

use crate::check::{LARGEST_ERROR, MOST_ERRORS, is_precise};
use crate::corpus::{self, Corpus};
use crate::retrieval::sketched;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Mean, Moments, Outcome, Result, Series, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "leskovec2014_s_curve",
    source: "001, locality-sensitive hashing; the report's search (002)",
    title: "The S-curve on documents",
    claim: "Pairs of similarity s become candidates with probability 1 - (1 - s^r)^b: a step near (1/b)^(1/r).",
    criterion: "For 20 bands of 5 and 9 of 13, whole and b-bit registers: in every tenth of similarity with at least 30 pairs in which at least 100 candidates are expected over all sketches, the share of candidates is within 4 standard errors of the mean of the curve over the pairs; where the curve expects at least 0.2, the standard error is at most 2%.",
    run,
};

/// Pairs that a tenth of similarity must have, and candidates that must be expected of it, to be compared.
const LEAST: [f64; 2] = [30.0, 100.0];
/// Rarer candidates are compared, but their standard error is not held to 2%.
const NOT_RARE: f64 = 0.2;
/// Bands, bits of a register, and bits of it that keys have.
const SHAPES: [(Shape, u32, u32); 3] = [
    (Shape { bands: 20, rows: 5 }, 64, 12),
    (Shape { bands: 20, rows: 5 }, 8, 8),
    (Shape { bands: 9, rows: 13 }, 4, 4),
];

#[derive(Default)]
struct Summary {
    compared: usize,
    rare: usize,
    furthest: f64,
    apart: f64,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let columns = [
        "data", "bands", "rows", "b", "key_bits", "from", "to", "pairs", "sketches", "measured", "se",
        "theory",
    ];
    let mut table = context.table("", &columns)?;
    let (mut charts, mut summary, mut names) = (Vec::new(), Summary::default(), Vec::new());
    for corpus in corpus::documents(context, 600)? {
        let similarities = corpus::similarities(&corpus.sets);
        for shape in SHAPES {
            context.step(format_args!(
                "{}, {} x {}, {} bits",
                corpus.name, shape.0.bands, shape.0.rows, shape.1
            ));
            let to = (&mut table, &mut checks, &mut summary);
            charts.push(measure(context, (&corpus, &similarities), shape, to)?);
        }
        names.push(corpus.name);
    }
    let verdict = format!(
        "On {} the share of candidates is that of the curve, for whole and b-bit registers with their own collision probability: of {} tenths compared ({} of them rarer than {NOT_RARE}) \
         the furthest is {:.1} standard errors away, and where candidates are not rare measured and expected shares are at most {:.3} apart.",
        names.join(", "),
        summary.compared,
        summary.rare,
        summary.furthest,
        summary.apart
    );
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

fn measure(
    context: &Context<'_>,
    (corpus, similarities): (&Corpus, &[f32]),
    (shape, b, key_bits): (Shape, u32, u32),
    (table, checks, summary): (&mut Table, &mut Checks, &mut Summary),
) -> Result<Chart> {
    let k = (shape.bands * shape.rows) as u32;
    let packing = Packing::bits(b)?;
    let spec = SketchSpec { packing, ..SketchSpec::full(Family::Permutations(Scheme::Native), k) };
    let banding = Banding::narrowed(&spec, shape, Bits::new(key_bits)?)?;
    let line = Collision::sparse(key_bits);
    let (mut counts, mut theory) = ([0.0f64; 10], [0.0f64; 10]);
    for &similarity in similarities {
        counts[bin(similarity)] += 1.0;
        theory[bin(similarity)] +=
            curve::probability_b_bit(f64::from(similarity), line, shape.bands, shape.rows);
    }
    let expected: [f64; 10] = std::array::from_fn(|i| theory[i] / counts[i].max(1.0));
    let mut shares = [Moments::default(); 10];
    let is_held = |i: usize| counts[i] >= LEAST[0] && expected[i] >= NOT_RARE;
    for sketch in 0..context.size(3_000, 6_000) {
        let seed = benzer_core::hash::split(context.seed(u64::from(k * 100 + b)), sketch as u64);
        let words = sketched(&corpus.sets, k, packing, seed)?;
        let found = candidates(&words, corpus.sets.len(), &banding, similarities);
        shares
            .iter_mut()
            .zip(found)
            .zip(counts)
            .for_each(|((share, found), n)| share.push(found / n.max(1.0)));
        let is_known = |i: usize| !is_held(i) || is_precise(shares[i].mean(), expected[i]);
        if sketch >= 59 && sketch % 20 == 19 && (0..10).all(is_known) {
            break;
        }
    }
    let sketches = shares[0].n();
    let mut series = [Vec::new(), Vec::new()];
    for i in (0..10).filter(|&i| counts[i] >= 1.0) {
        let (from, to) = (i as f64 / 10.0, (i + 1) as f64 / 10.0);
        let (mean, expected) = (shares[i].mean(), expected[i]);
        // What never or always happens has no spread of its own; the binomial one of theory stands in.
        let binomial = (expected * (1.0 - expected) / (counts[i] * sketches)).max(0.0).sqrt();
        let measured = Mean { value: mean.value, error: mean.error.max(binomial) };
        table.push(row![
            corpus.name.as_str(),
            shape.bands,
            shape.rows,
            b,
            key_bits,
            from,
            to,
            counts[i],
            sketches,
            measured.value,
            measured.error,
            expected
        ])?;
        if counts[i] >= LEAST[0] && theory[i] * sketches >= LEAST[1] {
            let errors = (measured.value - expected).abs() / measured.error.max(1e-300);
            let is_precise = !is_held(i) || measured.error <= LARGEST_ERROR * expected;
            checks.holds(
                format_args!(
                    "{}, {shape:?}, b = {b}, {from} to {to}: {} against {expected}, {errors:.1} standard errors of {}",
                    corpus.name, measured.value, measured.error
                ),
                errors <= MOST_ERRORS && is_precise,
            );
            summary.compared += 1;
            summary.rare += usize::from(!is_held(i));
            summary.furthest = summary.furthest.max(errors);
            if is_held(i) {
                summary.apart = summary.apart.max((measured.value - expected).abs());
            }
        }
        series[0].push((from + 0.05, measured.value));
        series[1].push((from + 0.05, expected));
    }
    let [measured, expected] = series;
    let whole = (0..=100)
        .map(|i| f64::from(i) / 100.0)
        .map(|j| (j, curve::probability_b_bit(j, line, shape.bands, shape.rows)))
        .collect();
    Ok(Chart::new(
        format!("{}: {} bands of {}, {b} bits", corpus.name, shape.bands, shape.rows),
        Axis::linear("similarity"),
        Axis::linear("share of candidates"),
    )
    .with(Series::points("measured", measured))
    .with(Series::points("expected for these pairs", expected).colour(1))
    .with(Series::line("the curve", whole).colour(2)))
}

fn bin(similarity: f32) -> usize {
    ((similarity * 10.0) as usize).min(9)
}

/// Pairs that share a key in some band, by tenth of similarity.
fn candidates(words: &[u64], n: usize, banding: &Banding, similarities: &[f32]) -> [f64; 10] {
    let each = words.len() / n.max(1);
    let mut pairs: HashSet<(u32, u32)> = HashSet::new();
    let keys: Vec<Vec<u64>> =
        (0..n).map(|i| banding.keys(&words[i * each..(i + 1) * each]).map(|key| key.key).collect()).collect();
    for band in 0..banding.bands() {
        let mut of: Vec<(u64, u32)> =
            keys.iter().enumerate().map(|(i, keys)| (keys[band], i as u32)).collect();
        of.sort_unstable();
        for bucket in of.chunk_by(|x, y| x.0 == y.0).filter(|bucket| bucket.len() > 1) {
            for (place, &(_, i)) in bucket.iter().enumerate() {
                pairs.extend(bucket[place + 1..].iter().map(|&(_, j)| (i, j)));
            }
        }
    }
    let mut found = [0.0; 10];
    for (i, j) in pairs {
        let (i, j) = (i as usize, j as usize);
        // Row by row: those before row i, then those of the row.
        let place = i * (2 * n - i - 1) / 2 + (j - i - 1);
        found[bin(similarities[place])] += 1.0;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against every pair of documents, compared band by band.
    #[test]
    fn candidates_are_the_pairs_that_share_a_key() {
        let sets = corpus::synthetic(3, 12, 4).sets;
        let similarities = corpus::similarities(&sets);
        let spec = SketchSpec::full(Family::Permutations(Scheme::Native), 40);
        let banding = Banding::narrowed(&spec, Shape { bands: 10, rows: 4 }, Bits::new(8).unwrap()).unwrap();
        let words = sketched(&sets, 40, spec.packing, spec.seed).unwrap();
        let each = words.len() / sets.len();
        let keys = |i: usize| banding.keys(&words[i * each..(i + 1) * each]).collect::<Vec<_>>();
        let mut found = [0.0; 10];
        let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
        for ((i, j), &similarity) in places.zip(&similarities) {
            if keys(i).iter().zip(keys(j)).any(|(x, y)| x.key == y.key) {
                found[bin(similarity)] += 1.0;
            }
        }
        assert_eq!(candidates(&words, sets.len(), &banding, &similarities), found);
        assert!(found.iter().sum::<f64>() > 20.0);
    }
}

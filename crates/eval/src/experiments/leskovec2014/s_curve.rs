//! 001, locality-sensitive hashing: the share of pairs that become candidates, measured on collections, against the S-curve.

use std::collections::HashSet;

use benzer_core::estimate::collision::Collision;
use benzer_core::lsh::{Banding, Shape, curve};
use benzer_core::sketch::{Bits, Packing, SketchSpec};

use crate::check::{MAX_ERRORS, MAX_SHARE};
use crate::data::corpus::{self, Corpus};
use crate::measure::sketches::{INDEPENDENT, Words};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "leskovec2014_s_curve",
    source: "001, locality-sensitive hashing; the report's search (002)",
    title: "The S-curve on documents",
    claim: "Pairs of similarity s become candidates with probability 1 - (1 - s^r)^b: a step near (1/b)^(1/r).",
    criterion: "For 20 bands of 5 and 9 of 13, whole and b-bit registers: in every tenth of similarity with at least 30 pairs in which at least 100 candidates are expected over all sketches, the share of candidates is within 4 standard errors of the mean of the curve over the pairs; where the curve expects at least 0.2, the standard error is at most 2%.",
    run,
};

/// Pairs that a tenth of similarity must have to be compared.
const MIN_PAIRS: f64 = 30.0;
/// Candidates that must be expected of it.
const MIN_CANDIDATES: f64 = 100.0;
/// Rarer candidates are compared, but their standard error is not held to 2%.
const NOT_RARE: f64 = 0.2;
/// Bands of rows, the bits of their registers, and how many of those keys have.
#[derive(Clone, Copy)]
struct Bands {
    shape: Shape,
    b: u32,
    key_bits: u32,
}

const BANDS: [Bands; 3] = [
    Bands { shape: Shape { bands: 20, rows: 5 }, b: 64, key_bits: 12 },
    Bands { shape: Shape { bands: 20, rows: 5 }, b: 8, key_bits: 8 },
    Bands { shape: Shape { bands: 9, rows: 13 }, b: 4, key_bits: 4 },
];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let (mut charts, mut names) = (Vec::new(), Vec::new());
    for corpus in corpus::documents(context, 600)? {
        let similarities = corpus::similarities(&corpus.sets);
        for bands in BANDS {
            let Bands { shape: Shape { bands: n, rows }, b, .. } = bands;
            context.step(format_args!("{}, {n} x {rows}, {b} bits", corpus.name));
            bands.measure(context, &corpus, &similarities, &mut table, &mut checks)?;
            charts.push(bands.chart(&corpus.name, &table.all()));
        }
        names.push(corpus.name);
    }
    let verdict = verdict(&names, &table.all());
    Ok(Outcome { tables: vec![table], charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

impl Bands {
    fn line(self) -> Collision {
        Collision::sparse(self.key_bits)
    }

    fn probability(self, similarity: f64) -> f64 {
        curve::probability_b_bit(similarity, self.line(), self.shape.bands, self.shape.rows)
    }

    /// Rows for the tenths of similarity: sketches until the shares that are held to 2% are known to that.
    fn measure(
        self,
        context: &Context<'_>,
        corpus: &Corpus,
        similarities: &[f32],
        table: &mut Table,
        checks: &mut Checks,
    ) -> Result<()> {
        let Self { shape, b, key_bits } = self;
        let (mut pairs, mut candidates) = ([0.0f64; 10], [0.0f64; 10]);
        for &similarity in similarities {
            pairs[bin(similarity)] += 1.0;
            candidates[bin(similarity)] += self.probability(f64::from(similarity));
        }
        let expected: [f64; 10] = std::array::from_fn(|i| candidates[i] / pairs[i].max(1.0));
        let shares = self.count(context, corpus, similarities, pairs, expected)?;
        for i in (0..10).filter(|&i| pairs[i] >= 1.0) {
            let (n, expected) = (shares[i].n(), expected[i]);
            let measured = shares[i].mean().with_error_of_share(expected, pairs[i] * n);
            let row = row![
                "data": corpus.name, "bands": shape.bands, "rows": shape.rows, "b": b, "key_bits": key_bits,
                "from": i as f64 / 10.0, "to": (i + 1) as f64 / 10.0, "pairs": pairs[i], "sketches": n,
                "measured": measured.value, "se": measured.error, "theory": expected,
            ];
            compare(&row, &format!("{}, {shape:?}, b = {b}", corpus.name), checks);
            table.push(row)?;
        }
        Ok(())
    }

    /// The shares of the pairs of each tenth that become candidates.
    fn count(
        self,
        context: &Context<'_>,
        corpus: &Corpus,
        similarities: &[f32],
        pairs: [f64; 10],
        expected: [f64; 10],
    ) -> Result<[Moments; 10]> {
        let k = (self.shape.bands * self.shape.rows) as u32;
        let (packing, stream) = (Packing::bits(self.b)?, u64::from(k * 100 + self.b));
        let spec = SketchSpec { packing, ..SketchSpec::full(INDEPENDENT, k) };
        let banding = Banding::narrowed(&spec, self.shape, Bits::new(self.key_bits)?)?;
        let mut shares = [Moments::default(); 10];
        for sketch in 0..context.size(3_000, 6_000) {
            let words = Words::new(&corpus.sets, k, packing, context.seed_of(stream, sketch))?;
            let found = found(&words, &banding, similarities);
            for ((share, found), n) in shares.iter_mut().zip(found).zip(pairs) {
                share.push(found / n.max(1.0));
            }
            let is_known =
                |i: usize| !is_held(pairs[i], expected[i]) || is_precise(shares[i].mean(), expected[i]);
            if sketch >= 59 && sketch % 20 == 19 && (0..10).all(is_known) {
                break;
            }
        }
        Ok(shares)
    }

    fn chart(self, name: &str, rows: &Rows<'_>) -> Chart {
        let Self { shape: Shape { bands, rows: n }, b, .. } = self;
        let of = rows.only("data", name).only("bands", bands).only("rows", n).only("b", b);
        let [measured, expected] = of.curves("from", ["measured", "theory"]);
        let in_the_middle = |curve: Curve| curve.into_iter().map(|(from, y)| (from + 0.05, y)).collect();
        let title = format!("{name}: {bands} bands of {n}, {b} bits");
        Chart::new(title, Axis::linear("similarity"), Axis::linear("share of candidates"))
            .with(Series::points("measured", in_the_middle(measured)))
            .with(Series::points("expected for these pairs", in_the_middle(expected)).colour(1))
            .with(Series::line("the curve", hundredths(0..=100, |j| self.probability(j))).colour(2))
    }
}

/// Whether a standard error of at most 2% is asked for.
fn is_held(pairs: f64, expected: f64) -> bool {
    pairs >= MIN_PAIRS && expected >= NOT_RARE
}

fn is_compared(row: &Row) -> bool {
    row["pairs"] >= MIN_PAIRS && row["theory"] * row["pairs"] * row["sketches"] >= MIN_CANDIDATES
}

fn apart(row: &Row) -> f64 {
    (row["measured"] - row["theory"]).abs()
}

fn errors(row: &Row) -> f64 {
    apart(row) / row["se"].max(1e-300)
}

fn compare(row: &Row, what: &str, checks: &mut Checks) {
    if is_compared(row) {
        let [from, to, value, error, expected] = ["from", "to", "measured", "se", "theory"].map(|of| row[of]);
        let errors = errors(row);
        let is_precise = !is_held(row["pairs"], expected) || error <= MAX_SHARE * expected;
        let what = format_args!(
            "{what}, {from} to {to}: {value} against {expected}, {errors:.1} standard errors of {error}"
        );
        checks.holds(what, errors <= MAX_ERRORS && is_precise);
    }
}

fn verdict(names: &[String], rows: &Rows<'_>) -> String {
    let compared = rows.filter(is_compared);
    let held = compared.filter(|row| is_held(row["pairs"], row["theory"]));
    format!(
        "On {} the share of candidates is that of the curve, for whole and b-bit registers with their own collision probability: of {} tenths compared ({} of them rarer than {NOT_RARE}) \
         the furthest is {:.1} standard errors away, and where candidates are not rare measured and expected shares are at most {:.3} apart.",
        names.join(", "),
        compared.iter().len(),
        compared.iter().len() - held.iter().len(),
        compared.iter().map(errors).fold(0.0, f64::max),
        held.iter().map(apart).fold(0.0, f64::max)
    )
}

fn bin(similarity: f32) -> usize {
    ((similarity * 10.0) as usize).min(9)
}

/// Pairs that share a key in some band, by tenth of similarity.
fn found(words: &Words, banding: &Banding, similarities: &[f32]) -> [f64; 10] {
    let n = words.len();
    let mut pairs: HashSet<(u32, u32)> = HashSet::new();
    let keys: Vec<Vec<u64>> =
        (0..n).map(|i| banding.keys(words.of(i)).map(|key| key.key).collect()).collect();
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
        let spec = SketchSpec::full(INDEPENDENT, 40);
        let banding = Banding::narrowed(&spec, Shape { bands: 10, rows: 4 }, Bits::new(8).unwrap()).unwrap();
        let words = Words::new(&sets, 40, spec.packing, spec.seed).unwrap();
        let keys = |i: usize| banding.keys(words.of(i)).collect::<Vec<_>>();
        let mut expected = [0.0; 10];
        let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
        for ((i, j), &similarity) in places.zip(&similarities) {
            if keys(i).iter().zip(keys(j)).any(|(x, y)| x.key == y.key) {
                expected[bin(similarity)] += 1.0;
            }
        }
        assert_eq!(found(&words, &banding, &similarities), expected);
        assert!(expected.iter().sum::<f64>() > 20.0);
    }
}

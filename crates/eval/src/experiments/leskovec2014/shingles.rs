//! 001, shingling: 9-shingles hashed to 4 bytes against 4-shingles; k = 5 against k = 10 by the length of documents.

use std::collections::HashSet;

use benzer_core::Features;
use benzer_core::field::text::{Bits, TextOptions, Unit};

use crate::data::corpus;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "leskovec2014_shingles",
    source: "001, compressing shingles, working assumption",
    title: "How long a shingle should be",
    claim: "Hash 9-shingles to 4 bytes rather than use 4-shingles: both take 4 bytes, but few of the 4-byte sequences occur in texts. Five characters are enough for short documents, ten are better for long ones.",
    criterion: "9-shingles hashed to 32 bits have at least 5 times the distinct values of 4-shingles, and lose the expected n^2/2^33 of n to collisions (to 4 standard deviations of a Poisson number). Unrelated documents are less similar with 9-shingles, and at k = 5 more similar the longer they are, at k = 10 less than a fifth of that.",
    run,
};

const ALIKE: &str = "mean_similarity_of_unrelated";
/// Characters of shingles of which one is claimed to be enough for short documents, the other for long ones.
const LENGTHS: [usize; 2] = [5, 10];

fn run(context: &Context<'_>) -> Result<Outcome> {
    let texts = match context.data() {
        Some(data) => corpus::reuters(data)?,
        None => corpus::letters(context.seed(0), context.size(600, 3_000)),
    };
    let mut checks = Checks::default();
    let (mut table, mut lengths) = (context.table("")?, context.table("length")?);
    for (n, bits, width) in [(4, Bits::B64, 64), (9, Bits::B32, 32), (9, Bits::B64, 64)] {
        context.step(format_args!("{n} characters, {width} bits"));
        let sets = shingled(&texts, n, bits)?;
        let distinct = sets.iter().flat_map(|set| set.elements()).collect::<HashSet<_>>().len() as f64;
        let alike = unrelated(&sets, &mut Random::new(context.seed(1)));
        table.push(row!["shingle": n, "bits": width, "distinct": distinct, ALIKE: alike])?;
    }
    compare_sizes(table.rows(), &mut checks);
    for n in LENGTHS {
        by_length(context, &texts, n, &mut lengths)?;
    }
    let ends = LENGTHS.map(|n| ends(&lengths.all().only("shingle", n)));
    compare_lengths(ends, &mut checks);
    let (x, y) = (Axis::linear("least length, characters"), Axis::log("mean similarity"));
    let mut chart = Chart::new("Similarity of unrelated documents", x, y);
    for (colour, n) in LENGTHS.into_iter().enumerate() {
        let rows = lengths.all().only("shingle", n);
        chart.compare(format!("k = {n}"), colour, rows.curves("characters_from", [ALIKE; 2]));
    }
    let (claim, verdict) = (Claim::of(&[checks.all_hold()]), verdict(table.rows(), ends));
    Ok(Outcome { tables: vec![table, lengths], charts: vec![chart], claim, checks, verdict })
}

fn shingled(texts: &[String], n: usize, bits: Bits) -> Result<Vec<Features>> {
    corpus::shingled(texts, &TextOptions { unit: Unit::Characters, n, bits, ..TextOptions::default() })
}

fn compare_sizes(rows: &[Row], checks: &mut Checks) {
    let [four, hashed, whole] = [0, 1, 2].map(|i| rows[i]["distinct"]);
    checks.holds(format_args!("distinct values: {hashed} against {four}"), hashed >= 5.0 * four);
    let (lost, expected) = (whole - hashed, whole * (whole - 1.0) / 2.0 / 2f64.powi(32));
    let is_expected = (lost - expected).abs() <= 4.0 * expected.max(1.0).sqrt();
    checks.holds(format_args!("collisions: {lost} against {expected}"), is_expected);
    let [four, nine] = [0, 1].map(|i| rows[i][ALIKE]);
    checks.holds(format_args!("unrelated: {nine} < {four}"), nine < four);
}

/// The similarity of unrelated documents by their least length, for shingles of `n` characters.
fn by_length(context: &Context<'_>, texts: &[String], n: usize, table: &mut Table) -> Result<()> {
    let sets = shingled(texts, n, Bits::B64)?;
    for (from, to) in [(0, 400), (400, 1000), (1000, 2000), (2000, usize::MAX)] {
        let is_of_length = |(text, _): &(&String, &Features)| (from..to).contains(&text.len());
        let of: Vec<Features> =
            texts.iter().zip(&sets).filter(is_of_length).map(|(_, set)| set.clone()).collect();
        if of.len() >= 20 {
            let alike = unrelated(&of, &mut Random::new(context.seed(2)));
            table.push(row!["shingle": n, "characters_from": from, "documents": of.len(), ALIKE: alike])?;
        }
    }
    Ok(())
}

/// The similarities of the shortest and of the longest documents.
fn ends(rows: &Rows<'_>) -> Option<[f64; 2]> {
    let mut alike = rows.column(ALIKE);
    let first = alike.next()?;
    Some([first, alike.last().unwrap_or(first)])
}

fn compare_lengths(ends: [Option<[f64; 2]>; 2], checks: &mut Checks) {
    let n = ends.iter().flatten().count();
    checks.holds(format_args!("documents of {n} lengths"), n == 2);
    if let [Some([short, long]), Some([_, long_ten])] = ends {
        checks.holds(format_args!("k = 5: {short} for short, {long} for long"), long > short);
        let what = format_args!("long documents: {long_ten} at k = 10 against {long} at k = 5");
        checks.holds(what, long_ten < 0.2 * long);
    }
}

fn verdict(rows: &[Row], ends: [Option<[f64; 2]>; 2]) -> String {
    let [four, hashed, whole] = [0, 1, 2].map(|i| rows[i]["distinct"]);
    let [five, ten] = ends.map(|ends| match ends {
        Some([short, long]) => format!("from {short:.4} to {long:.4}"),
        None => "from none to none".to_owned(),
    });
    format!(
        "{hashed:.0} distinct 9-shingles in 4 bytes against {four:.0} 4-shingles, with {:.0} lost to collisions; unrelated documents are {:.3} similar instead of {:.3}. \
         From the shortest to the longest documents the similarity of unrelated ones goes {five} with 5 characters, and {ten} with 10; that five are enough for short documents is not measured further.",
        whole - hashed,
        rows[1][ALIKE],
        rows[0][ALIKE],
    )
}

/// The mean similarity of pairs drawn at random.
fn unrelated(sets: &[Features], random: &mut Random) -> f64 {
    let n = sets.len() as u64;
    let draws = (0..4_000).map(|_| (random.below(n) as usize, random.below(n) as usize));
    let alike = draws.filter(|(i, j)| i != j).filter_map(|(i, j)| sets[i].jaccard(&sets[j]));
    alike.collect::<Moments>().mean().value
}

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

fn run(context: &Context<'_>) -> Result<Outcome> {
    let texts = match context.data() {
        Some(data) => corpus::reuters(data)?,
        None => corpus::letters(context.seed(0), context.size(600, 3_000)),
    };
    let mut checks = Checks::default();
    let (mut table, mut lengths) = (context.table("")?, context.table("length")?);
    let mut sizes = Vec::new();
    for (n, bits, width) in [(4, Bits::B64, 64), (9, Bits::B32, 32), (9, Bits::B64, 64)] {
        context.step(format_args!("{n} characters, {width} bits"));
        let sets = shingled(&texts, n, bits)?;
        let distinct = sets.iter().flat_map(|set| set.elements()).collect::<HashSet<_>>().len() as f64;
        let alike = unrelated(&sets, &mut Random::new(context.seed(1)));
        table.push(row![
            "shingle": n, "bits": width, "distinct": distinct, "mean_similarity_of_unrelated": alike,
        ])?;
        sizes.push(Size { distinct, alike });
    }
    let [four, hashed, whole] = &sizes[..] else { unreachable!("three sizes") };
    compare_sizes(four, hashed, whole, &mut checks);
    let curves =
        [by_length(context, &texts, 5, &mut lengths)?, by_length(context, &texts, 10, &mut lengths)?];
    compare_lengths(&curves, &mut checks);
    let verdict = verdict(four, hashed, whole, &curves);
    let (claim, charts) = (Claim::of(&[checks.all_hold()]), vec![chart(curves)]);
    Ok(Outcome { tables: vec![table, lengths], charts, claim, checks, verdict })
}

fn shingled(texts: &[String], n: usize, bits: Bits) -> Result<Vec<Features>> {
    corpus::shingled(texts, &TextOptions { unit: Unit::Characters, n, bits, ..TextOptions::default() })
}

/// Shingles of one length and width: how many distinct ones there are, and how similar unrelated documents are by them.
struct Size {
    distinct: f64,
    alike: f64,
}

fn compare_sizes(four: &Size, hashed: &Size, whole: &Size, checks: &mut Checks) {
    let what = format_args!("distinct values: {} against {}", hashed.distinct, four.distinct);
    checks.holds(what, hashed.distinct >= 5.0 * four.distinct);
    let expected = whole.distinct * (whole.distinct - 1.0) / 2.0 / 2f64.powi(32);
    let lost = whole.distinct - hashed.distinct;
    let is_expected = (lost - expected).abs() <= 4.0 * expected.max(1.0).sqrt();
    checks.holds(format_args!("collisions: {lost} against {expected}"), is_expected);
    checks.holds(format_args!("unrelated: {} < {}", hashed.alike, four.alike), hashed.alike < four.alike);
}

/// The similarity of unrelated documents by their least length, for shingles of `n` characters.
fn by_length(context: &Context<'_>, texts: &[String], n: usize, table: &mut Table) -> Result<Curve> {
    let sets = shingled(texts, n, Bits::B64)?;
    let mut curve = Curve::new();
    for (from, to) in [(0, 400), (400, 1000), (1000, 2000), (2000, usize::MAX)] {
        let is_of_length = |(text, _): &(&String, &Features)| (from..to).contains(&text.len());
        let of: Vec<Features> =
            texts.iter().zip(&sets).filter(is_of_length).map(|(_, set)| set.clone()).collect();
        if of.len() < 20 {
            continue;
        }
        let alike = unrelated(&of, &mut Random::new(context.seed(2)));
        table.push(row![
            "shingle": n, "characters_from": from, "documents": of.len(),
            "mean_similarity_of_unrelated": alike,
        ])?;
        curve.push((from as f64, alike));
    }
    Ok(curve)
}

/// The similarities of the shortest and of the longest documents.
fn ends(curve: &Curve) -> Option<[f64; 2]> {
    Some([curve.first()?.1, curve.last()?.1])
}

fn compare_lengths(curves: &[Curve; 2], checks: &mut Checks) {
    let measured: Vec<[f64; 2]> = curves.iter().filter_map(ends).collect();
    checks.holds(format_args!("documents of {} lengths", measured.len()), measured.len() == 2);
    if let [[short, long], [_, long_ten]] = measured[..] {
        checks.holds(format_args!("k = 5: {short} for short, {long} for long"), long > short);
        let what = format_args!("long documents: {long_ten} at k = 10 against {long} at k = 5");
        checks.holds(what, long_ten < 0.2 * long);
    }
}

fn chart(curves: [Curve; 2]) -> Chart {
    let mut chart = Chart::new(
        "Similarity of unrelated documents",
        Axis::linear("least length, characters"),
        Axis::log("mean similarity"),
    );
    for (colour, (n, curve)) in [5, 10].into_iter().zip(curves).enumerate() {
        chart.compare(format!("k = {n}"), colour, [curve.clone(), curve]);
    }
    chart
}

fn verdict(four: &Size, hashed: &Size, whole: &Size, curves: &[Curve; 2]) -> String {
    let of = |curve| match ends(curve) {
        Some([short, long]) => format!("from {short:.4} to {long:.4}"),
        None => "from none to none".to_owned(),
    };
    format!(
        "{:.0} distinct 9-shingles in 4 bytes against {:.0} 4-shingles, with {:.0} lost to collisions; unrelated documents are {:.3} similar instead of {:.3}. \
         From the shortest to the longest documents the similarity of unrelated ones goes {} with 5 characters, and {} with 10; that five are enough for short documents is not measured further.",
        hashed.distinct,
        four.distinct,
        whole.distinct - hashed.distinct,
        hashed.alike,
        four.alike,
        of(&curves[0]),
        of(&curves[1])
    )
}

/// The mean similarity of pairs drawn at random.
fn unrelated(sets: &[Features], random: &mut Random) -> f64 {
    let n = sets.len() as u64;
    let draws = (0..4_000).map(|_| (random.below(n) as usize, random.below(n) as usize));
    let alike = draws.filter(|(i, j)| i != j).filter_map(|(i, j)| sets[i].jaccard(&sets[j]));
    alike.collect::<Moments>().mean().value
}

//! 001, shingling: 9-shingles hashed to 4 bytes against 4-shingles; k = 5 against k = 10 by the length of documents.

use std::collections::HashSet;

use benzer_core::field::text::{Bits, TextOptions, Unit};

use crate::random::Random;
use crate::table::row;
use crate::{Axis, Chart, Checks, Claim, Context, Experiment, Moments, Outcome, Result, Series, corpus};

pub(super) const EXPERIMENT: Experiment = Experiment {
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
    let mut table = context.table("", &["shingle", "bits", "distinct", "mean_similarity_of_unrelated"])?;
    let options =
        |n: usize, bits: Bits| TextOptions { unit: Unit::Characters, n, bits, ..TextOptions::default() };
    let mut rows = Vec::new();
    for (n, bits, width) in [(4, Bits::B64, 64), (9, Bits::B32, 32), (9, Bits::B64, 64)] {
        context.step(format_args!("{n} characters, {width} bits"));
        let sets = corpus::shingled(&texts, &options(n, bits))?;
        let distinct = sets.iter().flat_map(|set| set.elements()).collect::<HashSet<_>>().len() as f64;
        let unrelated = background(&sets, &mut Random::new(context.seed(1))).mean().value;
        table.push(row![n, width, distinct, unrelated])?;
        rows.push((distinct, unrelated));
    }
    let [(four, four_alike), (hashed, nine_alike), (whole, _)] = [rows[0], rows[1], rows[2]];
    checks.holds(format_args!("distinct values: {hashed} against {four}"), hashed >= 5.0 * four);
    let expected = whole * (whole - 1.0) / 2.0 / 2f64.powi(32);
    checks.holds(
        format_args!("collisions: {} against {expected}", whole - hashed),
        (whole - hashed - expected).abs() <= 4.0 * expected.max(1.0).sqrt(),
    );
    checks.holds(format_args!("unrelated: {nine_alike} < {four_alike}"), nine_alike < four_alike);
    let mut lengths = context
        .table("length", &["shingle", "characters_from", "documents", "mean_similarity_of_unrelated"])?;
    let mut chart = Chart::new(
        "Similarity of unrelated documents",
        Axis::linear("least length, characters"),
        Axis::log("mean similarity"),
    );
    let mut ends = Vec::new();
    for (colour, n) in [5, 10].into_iter().enumerate() {
        let sets = corpus::shingled(&texts, &options(n, Bits::B64))?;
        let mut points = Vec::new();
        for (from, to) in [(0, 400), (400, 1000), (1000, 2000), (2000, usize::MAX)] {
            let of: Vec<_> = texts
                .iter()
                .zip(&sets)
                .filter(|(text, _)| (from..to).contains(&text.len()))
                .map(|(_, set)| set.clone())
                .collect();
            if of.len() < 20 {
                continue;
            }
            let alike = background(&of, &mut Random::new(context.seed(2))).mean().value;
            lengths.push(row![n, from, of.len(), alike])?;
            points.push((from as f64, alike));
        }
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            ends.push((first.1, last.1));
        }
        chart.push(Series::points(format!("k = {n}"), points.clone()).colour(colour));
        chart.push(Series::line("", points).colour(colour));
    }
    checks.holds(format_args!("documents of {} lengths", ends.len()), ends.len() == 2);
    if let [(short, long), (_, long_ten)] = ends[..] {
        checks.holds(format_args!("k = 5: {short} for short, {long} for long"), long > short);
        checks.holds(
            format_args!("long documents: {long_ten} at k = 10 against {long} at k = 5"),
            long_ten < 0.2 * long,
        );
    }
    let end = |k: usize, is_short: bool| {
        let of = ends.get(k).map(|&(short, long)| if is_short { short } else { long });
        of.map_or("none".to_owned(), |value| format!("{value:.4}"))
    };
    let verdict = format!(
        "{:.0} distinct 9-shingles in 4 bytes against {four:.0} 4-shingles, with {:.0} lost to collisions; unrelated documents are {:.3} similar instead of {:.3}. \
         From the shortest to the longest documents the similarity of unrelated ones goes from {} to {} with 5 characters, and from {} to {} with 10; that five are enough for short documents is not measured further.",
        hashed,
        whole - hashed,
        nine_alike,
        four_alike,
        end(0, true),
        end(0, false),
        end(1, true),
        end(1, false)
    );
    Ok(Outcome {
        tables: vec![table, lengths],
        charts: vec![chart],
        claim: Claim::of(&[checks.all_hold()]),
        checks,
        verdict,
    })
}

/// The similarity of pairs drawn at random.
fn background(sets: &[benzer_core::Features], random: &mut Random) -> Moments {
    let n = sets.len() as u64;
    let draws = (0..4_000).map(|_| (random.below(n) as usize, random.below(n) as usize));
    draws.filter(|(i, j)| i != j).filter_map(|(i, j)| sets[i].jaccard(&sets[j])).collect()
}

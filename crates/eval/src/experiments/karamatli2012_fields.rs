//! 002, future work: the errors of text and image fields, which the report left undone.

use benzer_core::Features;
use benzer_core::estimate::bottom_k;
use benzer_core::field::image::{ImageFeatures, ImageOptions};
use benzer_core::field::text::TextOptions;
use benzer_core::sketch::{Bits, Family, Scheme, Sketch, SketchSpec, count};

use crate::check::is_precise;
use crate::exact::bottom_k::Samples;
use crate::pictures::{self, Change};
use crate::random::Random;
use crate::table::row;
use crate::{
    Axis, Chart, Checks, Claim, Context, Errors, Experiment, Moments, Outcome, Result, Series, Table, corpus,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "karamatli2012_fields",
    source: "002, future work: other field types",
    title: "One hash function or many, on texts and pictures",
    claim: "Evaluating text fields, shingles in them, and image fields is left as future work.",
    criterion: "For pairs of texts as sets of words and of 3 words, and of pictures as contrasts of 16 x 16 cells and as visual words: the mean square errors of many hashes and of one hash (tau-strict) are within 4 standard errors of their exact expectations over the pairs (J(1-J)/n_h, and the sum over all ways in which two sketches can end), standard error at most 2%. Which is better is then read off the exact errors.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let columns = [
        "unit",
        "pairs",
        "mean_J",
        "n_h",
        "runs",
        "rms_many",
        "rms_many_exact",
        "rms_tau_strict",
        "rms_tau_strict_exact",
    ];
    let mut table = context.table("", &columns)?;
    let (mut charts, mut lines, mut worse) = (Vec::new(), Vec::new(), Vec::new());
    for (unit, sets) in fields(context)? {
        let pairs = similar(&sets);
        checks.holds(format_args!("{unit}: {} pairs", pairs.len()), pairs.len() >= 20);
        let mut chart =
            Chart::new(format!("Sets of {unit}"), Axis::log("hashes n_h"), Axis::log("RMS error"));
        let mut series = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for n_h in [10u32, 50, 200] {
            context.step(format_args!("{unit}, n_h = {n_h}"));
            let point = point(context, (unit, n_h), &sets, &pairs, (&mut table, &mut checks))?;
            if n_h == 50 {
                lines.push(format!("{unit} {:.3} and {:.3}", point[1], point[3]));
            }
            if point[3] > point[1] {
                worse.push(format!("{unit} at {n_h}"));
            }
            series.iter_mut().zip(point).for_each(|(series, value)| series.push((f64::from(n_h), value)));
        }
        let [many, many_exact, tau, tau_exact] = series;
        chart.push(Series::points("many hashes", many));
        chart.push(Series::line("", many_exact));
        chart.push(Series::points("one hash, tau-strict", tau).colour(1));
        chart.push(Series::line("", tau_exact).colour(1));
        charts.push(chart);
    }
    let verdict = format!(
        "On at most 150 pairs of each kind of set, errors are those that similarity, sizes and n_h alone expect, to {:.1} standard errors. At 50 hashes, with many and with one hash: {}. \
         One hash estimated rightly is {}.",
        checks.furthest(),
        lines.join(", "),
        if worse.is_empty() {
            "the better one everywhere".to_owned()
        } else {
            format!("better except for {}", worse.join(", "))
        }
    );
    // The report leaves it open.
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict })
}

/// The sets, by what their elements are.
fn fields(context: &Context<'_>) -> Result<Vec<(&'static str, Vec<Features>)>> {
    let (texts, photos) = match context.data() {
        Some(data) => (corpus::reuters(data)?.into_iter().step_by(9).collect(), pictures::photos(data, 50)?),
        None => {
            let texts = corpus::prose(context.seed(0), context.size(300, 1_000));
            (texts, pictures::dead_leaves(context.seed(1), context.size(20, 40)))
        }
    };
    let shingles = |n: usize| corpus::shingled(&texts, &TextOptions { n, ..TextOptions::default() });
    let mut seen = Vec::new();
    for (i, photo) in photos.iter().enumerate() {
        seen.push(photo.clone());
        for change in [Change::Resize(0.5), Change::Jpeg(50), Change::Crop(0.9), Change::Noise(10.0)] {
            seen.push(change.apply(photo, &mut Random::new(context.seed(2 + i as u64)))?);
        }
    }
    let of = |features: ImageFeatures| -> Vec<Features> {
        seen.iter().map(|picture| ImageOptions::new(features).of(picture)).collect()
    };
    Ok(vec![
        ("words", shingles(1)?),
        ("3 words", shingles(3)?),
        ("contrasts", of(ImageFeatures::Thumbnail)),
        ("visual words", of(ImageFeatures::Local)),
    ])
}

/// Up to 150 pairs that have something in common, but are not equal.
fn similar(sets: &[Features]) -> Vec<(usize, usize, f64)> {
    let similarities = corpus::similarities(sets);
    let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
    let all: Vec<_> = places
        .zip(similarities)
        .filter(|(_, similarity)| (0.2..0.95).contains(similarity))
        .map(|((i, j), _)| (i, j, sets[i].jaccard(&sets[j]).unwrap_or_default()))
        .collect();
    let step = all.len().div_ceil(150).max(1);
    all.into_iter().step_by(step).collect()
}

/// RMS errors: many hashes and tau-strict, each measured and exact.
fn point(
    context: &Context<'_>,
    (unit, n_h): (&str, u32),
    sets: &[Features],
    pairs: &[(usize, usize, f64)],
    (table, checks): (&mut Table, &mut Checks),
) -> Result<[f64; 4]> {
    let spread: Moments = pairs.iter().map(|(.., j)| j * (1.0 - j)).collect();
    let mean: Moments = pairs.iter().map(|pair| pair.2).collect();
    let theory = spread.mean().value / f64::from(n_h);
    let exact: Moments = pairs
        .iter()
        .map(|&(i, j, truth)| {
            let common = sets[i].intersection(&sets[j]) as usize;
            Samples::new([sets[i].len(), sets[j].len()], common, n_h as usize).errors(truth).tau_strict
        })
        .collect();
    let exact = exact.mean().value;
    let (mut many, mut tau) = (Errors::default(), Errors::default());
    let mut runs = 0;
    for run in 0..2_000_000 {
        let stream = 1_000 + u64::from(n_h) * 100 + unit.len() as u64;
        let mut random = Random::new(benzer_core::hash::split(context.seed(stream), run as u64));
        let (i, j, truth) = pairs[run % pairs.len()];
        let mut sketches = |family: Family| -> Result<[Sketch; 2]> {
            let sketcher = SketchSpec { seed: random.next(), ..SketchSpec::full(family, n_h) }.sketcher()?;
            Ok([sketcher.sketch(&sets[i])?, sketcher.sketch(&sets[j])?])
        };
        let [a, b] = sketches(Family::Permutations(Scheme::Native))?;
        let different = count::mismatches(a.words(), b.words(), Bits::FULL);
        many.push(1.0 - f64::from(different) / f64::from(n_h) - truth);
        let [a, b] = sketches(Family::BottomK)?;
        let smallest = [&a, &b].map(|sketch| bottom_k::Smallest {
            hashes: sketch.words(),
            complete: benzer_core::sketch::bottom_k::is_whole(sketch),
            size: sketch.size(),
        });
        let sample = bottom_k::sample(&smallest)?;
        tau.push(sample.common as f64 / sample.kept.max(1) as f64 - truth);
        runs += 1;
        // Every pair equally often, until both errors are known to 2%.
        let is_known = || is_precise(many.mse(), theory) && is_precise(tau.mse(), exact);
        if runs >= 2_000 && runs % pairs.len() == 0 && is_known() {
            break;
        }
    }
    table.push(row![
        unit,
        pairs.len(),
        mean.mean().value,
        n_h,
        runs,
        many.rms(),
        theory.sqrt(),
        tau.rms(),
        exact.sqrt()
    ])?;
    checks.agrees(format_args!("{unit}, n_h = {n_h}: many"), many.mse(), theory);
    checks.agrees(format_args!("{unit}, n_h = {n_h}: tau-strict"), tau.mse(), exact);
    Ok([many.rms(), theory.sqrt(), tau.rms(), exact.sqrt()])
}

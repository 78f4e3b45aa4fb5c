//! 002, future work: the errors of text and image fields, which the report left undone.

use benzer_core::Features;
use benzer_core::estimate::bottom_k::{self, Smallest};
use benzer_core::field::image::{ImageFeatures, ImageOptions};
use benzer_core::field::text::TextOptions;
use benzer_core::sketch::bottom_k::is_whole;
use benzer_core::sketch::{Bits, Family, SketchSpec, count};

use crate::data::corpus;
use crate::data::pictures::{self, Change};
use crate::exact::bottom_k::Samples;
use crate::measure::sketches::{self, INDEPENDENT, share};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "karamatli2012_fields",
    source: "002, future work: other field types",
    title: "One hash function or many, on texts and pictures",
    claim: "Evaluating text fields, shingles in them, and image fields is left as future work.",
    criterion: "For pairs of texts as sets of words and of 3 words, and of pictures as contrasts of 16 x 16 cells and as visual words: the mean square errors of many hashes and of one hash (tau-strict) are within 4 standard errors of their exact expectations over the pairs (J(1-J)/n_h, and the sum over all ways in which two sketches can end), standard error at most 2%. Which is better is then read off the exact errors.",
    run,
};

fn run(context: &Context<'_>) -> Result<Outcome> {
    let mut checks = Checks::default();
    let mut table = context.table("")?;
    let mut charts = Vec::new();
    for field in fields(context)? {
        let (unit, n) = (field.unit, field.pairs.len());
        checks.holds(format_args!("{unit}: {n} pairs"), n >= 20);
        for n_h in [10, 50, 200] {
            context.step(format_args!("{unit}, n_h = {n_h}"));
            table.push(field.measure(context, n_h, &mut checks)?)?;
        }
        let title = format!("Sets of {unit}");
        let mut chart = Chart::new(title, Axis::log("hashes n_h"), Axis::log("RMS error"));
        let rows = table.all().only("unit", unit);
        chart.compare("many hashes", 0, rows.curves("n_h", ["rms_many", "rms_many_exact"]));
        let tau = rows.curves("n_h", ["rms_tau_strict", "rms_tau_strict_exact"]);
        chart.compare("one hash, tau-strict", 1, tau);
        charts.push(chart);
    }
    let verdict = verdict(&table.all(), &checks);
    // The report leaves it open.
    Ok(Outcome { tables: vec![table], charts, checks, claim: Claim::Open, verdict })
}

/// Sets by what their elements are, and pairs of them that have something in common.
struct Field {
    unit: &'static str,
    sets: Vec<Features>,
    pairs: Vec<Pair>,
}

struct Pair {
    places: [usize; 2],
    jaccard: f64,
}

fn fields(context: &Context<'_>) -> Result<Vec<Field>> {
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
        Field::new("words", shingles(1)?),
        Field::new("3 words", shingles(3)?),
        Field::new("contrasts", of(ImageFeatures::Thumbnail)),
        Field::new("visual words", of(ImageFeatures::Local)),
    ])
}

impl Field {
    /// With up to 150 pairs that have something in common, but are not equal.
    fn new(unit: &'static str, sets: Vec<Features>) -> Self {
        let similarities = corpus::similarities(&sets);
        let places = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| [i, j]));
        let similar: Vec<[usize; 2]> = places
            .zip(similarities)
            .filter(|(_, similarity)| (0.2..0.95).contains(similarity))
            .map(|(places, _)| places)
            .collect();
        let step = similar.len().div_ceil(150).max(1);
        let pair = |places: [usize; 2]| {
            let [a, b] = places.map(|i| &sets[i]);
            Pair { places, jaccard: a.jaccard(b).unwrap_or_default() }
        };
        Self { unit, pairs: similar.into_iter().step_by(step).map(pair).collect(), sets }
    }

    fn of(&self, pair: &Pair) -> [&Features; 2] {
        pair.places.map(|i| &self.sets[i])
    }

    fn exact(&self, n_h: u32) -> [f64; 2] {
        let spread: Moments = self.pairs.iter().map(|pair| pair.jaccard * (1.0 - pair.jaccard)).collect();
        let tau = |pair: &Pair| {
            let [a, b] = self.of(pair);
            let samples = Samples::new([a.len(), b.len()], a.intersection(b) as usize, n_h as usize);
            samples.errors(pair.jaccard).tau_strict
        };
        let tau: Moments = self.pairs.iter().map(tau).collect();
        [spread.mean().value / f64::from(n_h), tau.mean().value]
    }

    /// Errors of many hashes and of one (tau-strict), beside what is expected of them.
    fn measure(&self, context: &Context<'_>, n_h: u32, checks: &mut Checks) -> Result<Row> {
        let exact = self.exact(n_h);
        let (mut many, mut tau) = (Errors::default(), Errors::default());
        for run in 0..2_000_000 {
            let mut random = context.random(1_000 + u64::from(n_h) * 100 + self.unit.len() as u64, run);
            let pair = &self.pairs[run % self.pairs.len()];
            let mut sketches = |family: Family| {
                let spec = SketchSpec { seed: random.next(), ..SketchSpec::full(family, n_h) };
                sketches::of_pair(&spec, self.of(pair))
            };
            let [a, b] = sketches(INDEPENDENT)?;
            let different = count::mismatches(a.words(), b.words(), Bits::FULL);
            many.push(1.0 - f64::from(different) / f64::from(n_h) - pair.jaccard);
            let smallest = sketches(Family::BottomK)?;
            let smallest = smallest.each_ref().map(|sketch| Smallest {
                hashes: sketch.words(),
                complete: is_whole(sketch),
                size: sketch.size(),
            });
            tau.push(share(bottom_k::sample(&smallest)?) - pair.jaccard);
            let runs = run + 1;
            // Every pair equally often, until both errors are known to 2%.
            let is_known = || is_precise(many.mse(), exact[0]) && is_precise(tau.mse(), exact[1]);
            if runs >= 2_000 && runs % self.pairs.len() == 0 && is_known() {
                break;
            }
        }
        checks.agrees(format_args!("{}, n_h = {n_h}: many", self.unit), many.mse(), exact[0]);
        checks.agrees(format_args!("{}, n_h = {n_h}: tau-strict", self.unit), tau.mse(), exact[1]);
        let mean: Moments = self.pairs.iter().map(|pair| pair.jaccard).collect();
        Ok(row![
            "unit": self.unit, "pairs": self.pairs.len(), "mean_J": mean.mean().value, "n_h": n_h,
            "runs": many.n(), "rms_many": many.rms(), "rms_many_exact": exact[0].sqrt(),
            "rms_tau_strict": tau.rms(), "rms_tau_strict_exact": exact[1].sqrt(),
        ])
    }
}

fn verdict(rows: &Rows<'_>, checks: &Checks) -> String {
    let [many, tau] = ["rms_many_exact", "rms_tau_strict_exact"];
    let errors = |row: &Row| format!("{} {:.3} and {:.3}", row.text("unit"), row[many], row[tau]);
    let errors: Vec<String> = rows.only("n_h", 50).iter().map(errors).collect();
    let worse = rows.filter(|row| row[tau] > row[many]);
    let worse = worse.iter().map(|row| format!("{} at {}", row.text("unit"), row["n_h"]));
    let worse: Vec<String> = worse.collect();
    format!(
        "On at most 150 pairs of each kind of set, errors are those that similarity, sizes and n_h alone expect, to {:.1} standard errors. At 50 hashes, with many and with one hash: {}. \
         One hash estimated rightly is {}.",
        checks.furthest,
        errors.join(", "),
        if worse.is_empty() {
            "the better one everywhere".to_owned()
        } else {
            format!("better except for {}", worse.join(", "))
        }
    )
}

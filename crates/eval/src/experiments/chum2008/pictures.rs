//! Pictures as sets of visual words (Chum, Philbin and Zisserman 2008): what is found again after which change, at no false match.

use std::collections::BTreeMap;
use std::path::Path;

use benzer_core::Features;
use benzer_core::field::image::local::{Local, verify};
use benzer_core::field::image::{Grey, ImageFeatures, ImageOptions, thumbnail};
use benzer_core::lsh::{Banding, Target, choose};
use benzer_core::sketch::{Sketch, Sketcher};

use crate::data::pictures::{self, Change};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "chum2008_pictures",
    source: "Chum, Philbin, Zisserman 2008; 002, the wish for SIFT",
    title: "Pictures found again after a change",
    claim: "Min-hashes of visual words find near-duplicate pictures; of grey 16 x 16 fields, which the report has, it hopes less.",
    criterion: "Of different pictures no two are taken for one by `local`, and it finds at least 95% of the pictures under each of: resize 0.25 to 2, JPEG quality 30 and more, crop to 60% and more of both sides, rotation up to 45 degrees, brightness. `thumbnail` finds at least 95% under resize, JPEG 30 and more and brightness 0.7 and 1.3, where its limit is the highest similarity of two different pictures. Of imagededup's test pictures `local` finds each changed copy by its original, and takes no two different ones for one.",
    run,
};

struct Seen {
    thumbnail: Features,
    local: Local,
    words: Features,
    sketch: Option<Sketch>,
}

/// The way to candidates that `benzer dedup --image` takes.
struct Bands {
    sketcher: Box<dyn Sketcher>,
    banding: Banding,
    threshold: f64,
}

#[derive(Default)]
struct Scores {
    thumbnail: Vec<f64>,
    inliers: Vec<f64>,
    words: Vec<f64>,
}

fn run(context: &Context<'_>) -> Result<Outcome> {
    let originals = match context.data() {
        Some(data) => pictures::photos(data, usize::MAX)?,
        None => pictures::dead_leaves(context.seed(0), context.size(20, 40)),
    };
    let bands = Bands::new()?;
    let (same, different) = measure(context, &bands, &originals)?;
    let mut checks = Checks::default();
    let limit = different.thumbnail.iter().copied().fold(0.0, f64::max);
    let (n, wrong) = (different.inliers.len(), different.inliers.iter().filter(|&&n| n > 0.0).count());
    checks.holds(format_args!("{wrong} of {n} different pairs taken for one"), wrong == 0);
    let mut tables = vec![context.table("")?];
    // The least shares that are found: what `local` and `thumbnail` are promised to find, and after other changes.
    let ([mut local, mut thumbnail], mut other) = ([1.0f64; 2], None);
    for changed in &same {
        let row = changed.row(limit);
        let (by_local, by_thumbnail) = (row["local"], row["thumbnail"]);
        match promised(&changed.change) {
            Some(is_by_thumbnail) => {
                local = local.min(by_local);
                thumbnail = if is_by_thumbnail { thumbnail.min(by_thumbnail) } else { thumbnail };
                let what = format!("{:?}", changed.change);
                checks.holds(format_args!("{what}: local finds {by_local}"), by_local >= 0.95);
                let is_found = !is_by_thumbnail || by_thumbnail >= 0.95;
                checks.holds(format_args!("{what}: thumbnail finds {by_thumbnail}"), is_found);
            }
            None => other = Some(by_local.min(other.unwrap_or(1.0))),
        }
        tables[0].push(row)?;
    }
    if let Some(data) = context.data() {
        tables.push(fixtures(context, &bands, data, &mut checks)?);
    }
    let other = other.map_or(String::new(), |share| {
        format!(" and at least {:.0}% after every other one tried", 100.0 * share)
    });
    let verdict = format!(
        "{wrong} of {n} pairs of different pictures are taken for one by `local`, and it finds at least {:.0}% of the pictures after every change that the goal names{other}; \
         two different pictures have thumbnails of similarity {limit:.2} at most, and by `thumbnail` at least {:.0}% are found after the changes that it is promised for.",
        100.0 * local,
        100.0 * thumbnail
    );
    let charts = vec![
        chart("Precision and recall, thumbnail", &same, &different, |scores| &scores.thumbnail),
        chart("Precision and recall, local", &same, &different, |scores| &scores.inliers),
    ];
    Ok(Outcome { tables, charts, claim: Claim::of(&[checks.all_hold()]), checks, verdict })
}

/// How alike pictures are after a change, and how alike different pictures are.
fn measure(context: &Context<'_>, bands: &Bands, originals: &[Grey]) -> Result<(Vec<Changed>, Scores)> {
    let seen = originals.iter().map(|picture| bands.see(picture)).collect::<Result<Vec<_>>>()?;
    let (mut same, mut different) = (Vec::new(), Scores::default());
    let is_tried = |change: &Change| !context.options.quick || promised(change).is_some();
    for (stream, change) in Change::all().into_iter().filter(is_tried).enumerate() {
        context.step(format_args!("{change:?}"));
        let mut scores = Scores::default();
        for (i, picture) in originals.iter().enumerate() {
            let mut random = Random::new(context.seed(1 + (stream * originals.len() + i) as u64));
            let changed = bands.see(&change.apply(picture, &mut random)?)?;
            for (j, original) in seen.iter().enumerate() {
                let scores = if i == j { &mut scores } else { &mut different };
                bands.compare(&changed, original, scores);
            }
        }
        same.push(Changed { change, scores });
    }
    Ok((same, different))
}

/// Pictures after a change, each beside its original.
struct Changed {
    change: Change,
    scores: Scores,
}

impl Changed {
    /// The shares of pictures that are found: by a thumbnail more similar than those of different pictures are, and by `local`.
    fn row(&self, limit: f64) -> Row {
        let Scores { thumbnail, inliers, words } = &self.scores;
        let share = |of: &[f64], above: f64| {
            of.iter().filter(|&&score| score > above).count() as f64 / of.len() as f64
        };
        let (mut words, (name, strength)) = (words.clone(), self.change.name());
        words.sort_by(f64::total_cmp);
        row![
            "change": name, "strength": strength, "pictures": words.len(),
            "thumbnail": share(thumbnail, limit), "local": share(inliers, 0.0),
            "words_5%": words[words.len() / 20], "words_median": words[words.len() / 2],
        ]
    }
}

/// The pictures of imagededup's tests: copies of one, whose names begin alike, and different ones.
fn fixtures(context: &Context<'_>, bands: &Bands, data: &Path, checks: &mut Checks) -> Result<Table> {
    let mut table = context.table("fixtures")?;
    let pictures = pictures::fixtures(data)?;
    let seen = pictures.iter().map(|(_, picture)| bands.see(picture)).collect::<Result<Vec<_>>>()?;
    for (i, (a, _)) in pictures.iter().enumerate() {
        for (j, (b, _)) in pictures.iter().enumerate().skip(i + 1) {
            let mut scores = Scores::default();
            bands.compare(&seen[i], &seen[j], &mut scores);
            let is_same = a.split('_').next() == b.split('_').next();
            let (inliers, is_found) = (scores.inliers[0], scores.inliers[0] > 0.0);
            table.push(row![
                "a": *a, "b": *b, "same": u32::from(is_same), "words": scores.words[0],
                "inliers": inliers, "thumbnail": scores.thumbnail[0],
            ])?;
            // Of two changed copies nothing is asked.
            let is_asked = !(is_same && a.contains('_') && b.contains('_'));
            checks.holds(format_args!("{a} and {b}: {inliers} inliers"), !is_asked || is_same == is_found);
        }
    }
    Ok(table)
}

/// Changes after which pictures must be found by `local`, and whether by `thumbnail` too.
fn promised(change: &Change) -> Option<bool> {
    match *change {
        Change::Resize(_) => Some(true),
        Change::Jpeg(quality) => (quality >= 30).then_some(true),
        Change::Crop(kept) => (kept >= 0.6).then_some(false),
        Change::Rotation(degrees) => (degrees <= 45.0).then_some(false),
        Change::Brightness(by) => Some((0.7..=1.3).contains(&by)),
        _ => None,
    }
}

/// A curve for each kind of change; all pairs of different pictures count against every one.
fn chart(title: &str, same: &[Changed], different: &Scores, of: fn(&Scores) -> &[f64]) -> Chart {
    let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for Changed { change, scores } in same {
        kinds.entry(change.name().0).or_default().extend(of(scores));
    }
    let share = 1.0 / same.len() as f64;
    let (x, y) = (Axis::linear("recall").between(0.0, 1.0), Axis::linear("precision").between(0.0, 1.05));
    let mut chart = Chart::new(title, x, y);
    for (number, (name, positives)) in kinds.iter().enumerate() {
        let mut limits: Vec<f64> = positives.iter().copied().filter(|&score| score > 0.0).collect();
        limits.sort_by(|a, b| b.total_cmp(a));
        limits.dedup();
        let point = |limit: &f64| {
            let above = |scores: &[f64]| scores.iter().filter(|&score| score >= limit).count() as f64;
            let (right, wrong) = (above(positives), above(of(different)) * share);
            (right / positives.len() as f64, right / (right + wrong))
        };
        chart.push(Series::line(*name, limits.iter().map(point).collect()).colour(number));
    }
    chart
}

impl Bands {
    fn new() -> Result<Self> {
        let options = ImageOptions::new(ImageFeatures::Local);
        let (defaults, spec) = (options.defaults(), options.sketch_spec());
        let target = Target { threshold: defaults.threshold, recall: defaults.recall, ..Target::default() };
        Ok(Self {
            banding: choose(&spec, &target)?,
            sketcher: spec.sketcher()?,
            threshold: defaults.threshold,
        })
    }

    fn see(&self, picture: &Grey) -> Result<Seen> {
        let local = Local::new(picture);
        let words = local.features();
        let sketch = if words.is_empty() { None } else { Some(self.sketcher.sketch(&words)?) };
        Ok(Seen { thumbnail: thumbnail::features(picture), local, words, sketch })
    }

    /// Keypoints upon each other count only where bands and words lead to the geometric check.
    fn compare(&self, a: &Seen, b: &Seen, scores: &mut Scores) {
        let words = a.words.jaccard(&b.words).unwrap_or(0.0);
        let share_key = || {
            let (Some(a), Some(b)) = (&a.sketch, &b.sketch) else { return false };
            (0..self.banding.bands())
                .any(|band| self.banding.key(a.words(), band) == self.banding.key(b.words(), band))
        };
        let is_checked = words >= self.threshold && share_key();
        let inliers =
            if is_checked { verify(&a.local, &b.local).map_or(0, |found| found.inliers.len()) } else { 0 };
        scores.thumbnail.push(a.thumbnail.jaccard(&b.thumbnail).unwrap_or(0.0));
        scores.inliers.push(inliers as f64);
        scores.words.push(words);
    }
}

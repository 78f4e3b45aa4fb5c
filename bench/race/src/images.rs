//! Benzer in the race of pictures: how alike changed photos are to the originals, and different photos to each other.
//!
//! For each transform every changed photo is compared with every original. A score of `thumbnail` is a Jaccard similarity, of `local` the number of keypoints that lie upon each other, zero where the bands
//! or the words do not lead to the check.

use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use benzer_core::Features;
use benzer_core::field::image::local::{Local, verify};
use benzer_core::field::image::{Grey, ImageFeatures, ImageOptions, Limits, decode, thumbnail};
use benzer_core::lsh::{Banding, Target, choose};
use benzer_core::sketch::Sketcher;
use clap::Args;
use serde_json::{Map, Value, json};

/// Scores of different photos that are written, the highest first.
const NEGATIVES: usize = 5_000;

/// Reads lines of (transform, folder) from standard input.
#[derive(Debug, Args)]
pub struct Options {
    /// The folder of the originals
    photos: PathBuf,
}

struct Photo {
    name: String,
    thumbnail: Features,
    local: Local,
    words: Features,
    keys: Vec<u64>,
}

struct Bands {
    sketcher: Box<dyn Sketcher>,
    banding: Banding,
    threshold: f64,
}

/// Time that was spent, in seconds, and for how many photos.
#[derive(Default)]
struct Times {
    decode: f64,
    thumbnail: f64,
    local: f64,
    check: f64,
    n: usize,
    n_checks: usize,
}

pub fn run(options: &Options) -> Result<()> {
    let bands = Bands::new()?;
    let mut times = Times::default();
    let originals = photos(&options.photos, &bands, &mut times)?;
    let (mut found, mut negatives) = (Map::new(), [Vec::new(), Vec::new()]);
    let mut similarities = Map::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (name, folder) = line.split_once('\t').context("expected a transform, a tab and a folder")?;
        let changed = photos(Path::new(folder), &bands, &mut times)?;
        let mut scores = [Vec::new(), Vec::new()];
        let mut words = Vec::new();
        for one in &changed {
            for other in &originals {
                let score = [
                    one.thumbnail.jaccard(&other.thumbnail).unwrap_or(0.0),
                    bands.inliers(one, other, &mut times),
                ];
                let same = one.name == other.name;
                let lists = if same { &mut scores } else { &mut negatives };
                lists.iter_mut().zip(score).for_each(|(list, score)| list.push(score));
                if same {
                    words.push(one.words.jaccard(&other.words).unwrap_or(0.0));
                }
            }
        }
        eprintln!("{name}");
        let [thumbnails, locals] = scores;
        found.insert(name.to_owned(), json!({"thumbnail": thumbnails, "local": locals}));
        similarities.insert(name.to_owned(), Value::from(words));
    }
    let [thumbnails, locals] = negatives.map(highest);
    let per = |seconds: f64, n: usize| 1e3 * seconds / n.max(1) as f64;
    let report = json!({
        "scores": found,
        "words": similarities,
        "negatives": {"thumbnail": thumbnails, "local": locals},
        "milliseconds": {
            "decode": per(times.decode, times.n),
            "thumbnail": per(times.thumbnail, times.n),
            "local": per(times.local, times.n),
            "check": per(times.check, times.n_checks),
        },
    });
    println!("{report}");
    Ok(())
}

fn highest(mut scores: Vec<f64>) -> Vec<f64> {
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.truncate(NEGATIVES);
    scores
}

fn photos(folder: &Path, bands: &Bands, times: &mut Times) -> Result<Vec<Photo>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    paths.sort();
    paths.iter().map(|path| Photo::new(path, bands, times)).collect()
}

impl Photo {
    fn new(path: &Path, bands: &Bands, times: &mut Times) -> Result<Self> {
        let started = Instant::now();
        let grey: Grey = decode(&fs::read(path)?, &Limits::default())?;
        let decoded = Instant::now();
        let thumbnail = thumbnail::features(&grey);
        let small = Instant::now();
        let local = Local::new(&grey);
        let words = local.features();
        times.local += small.elapsed().as_secs_f64();
        times.thumbnail += (small - decoded).as_secs_f64();
        times.decode += (decoded - started).as_secs_f64();
        times.n += 1;
        let keys = bands.keys(&words)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, thumbnail, local, words, keys })
    }
}

impl Bands {
    fn new() -> Result<Self> {
        let options = ImageOptions::new(ImageFeatures::Local);
        let (defaults, spec) = (options.defaults(), options.sketch_spec());
        let target = Target { threshold: defaults.threshold, recall: defaults.recall, ..Target::default() };
        let banding = choose(&spec, &target)?;
        Ok(Self { sketcher: spec.sketcher()?, banding, threshold: defaults.threshold })
    }

    fn keys(&self, words: &Features) -> Result<Vec<u64>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let sketch = self.sketcher.sketch(words)?;
        Ok((0..self.banding.bands()).map(|band| self.banding.key(sketch.words(), band)).collect())
    }

    /// Keypoints upon each other, if the pair gets as far as the check.
    fn inliers(&self, a: &Photo, b: &Photo, times: &mut Times) -> f64 {
        let is_candidate = a.keys.iter().zip(&b.keys).any(|(a, b)| a == b);
        if !is_candidate || a.words.jaccard(&b.words).unwrap_or(0.0) < self.threshold {
            return 0.0;
        }
        let started = Instant::now();
        let agreement = verify(&a.local, &b.local);
        times.check += started.elapsed().as_secs_f64();
        times.n_checks += 1;
        agreement.map_or(0.0, |agreement| agreement.inliers.len() as f64)
    }
}

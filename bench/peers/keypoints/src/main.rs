//! Which keypoints find changed photos again: Benzer's SIFT, the crate `lowe-sift` with and without doubling the picture, and the crate `akaze`, all before one judge.
//!
//! `peer-keypoints PHOTOS` reads lines of (transform, folder) from standard input. Every changed photo is compared with its original and with ten others; a score is the number of keypoints that lie upon each
//! other. Everybody sees the same grey pictures, brought to the same area, and may keep the same number of keypoints, those of the strongest response.

mod extractors;
mod judge;

use std::error::Error;
use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Instant;

use benzer_core::field::image::local::MAX_POINTS;
use benzer_core::field::image::{Grey, Limits, decode};
use serde_json::{Map, Value, json};

use extractors::{Extractor, Seen};

/// Other photos that a changed one is compared with.
const OTHERS: usize = 10;
/// Side of a square with as many pixels as every picture has.
const SIDE: f64 = 320.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("name the folder of the photos")?);
    let mut transforms = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (name, folder) = line.split_once('\t').ok_or("a line is a transform, a tab and a folder")?;
        transforms.push((name.to_owned(), photos(Path::new(folder))?));
    }
    let originals = photos(&folder)?;
    let mut found = Map::new();
    for extractor in Extractor::ALL {
        found.insert(extractor.name().to_owned(), run(extractor, &originals, &transforms));
    }
    println!("{}", Value::Object(found));
    Ok(())
}

fn run(extractor: Extractor, originals: &[Grey], transforms: &[(String, Vec<Grey>)]) -> Value {
    let started = Instant::now();
    let seen: Vec<Seen> = originals.iter().map(|picture| extractor.see(picture, MAX_POINTS)).collect();
    let milliseconds = started.elapsed().as_secs_f64() * 1e3 / seen.len() as f64;
    let points = seen.iter().map(|seen| seen.places.len()).sum::<usize>() as f64 / seen.len() as f64;
    let (mut scores, mut words, mut different) = (Map::new(), Map::new(), Vec::new());
    for (name, changed) in transforms {
        eprintln!("{} {name}", extractor.name());
        let changed: Vec<Seen> = changed.iter().map(|picture| extractor.see(picture, MAX_POINTS)).collect();
        let same: Vec<usize> = changed.iter().zip(&seen).map(|(a, b)| judge::inliers(a, b)).collect();
        let alike: Vec<Option<f64>> =
            changed.iter().zip(&seen).map(|(a, b)| a.words()?.jaccard(&b.words()?)).collect();
        for (i, picture) in changed.iter().enumerate() {
            let others = (1..=OTHERS).map(|step| (i + step) % seen.len()).filter(|&other| other != i);
            different.extend(others.map(|other| judge::inliers(picture, &seen[other])));
        }
        scores.insert(name.clone(), json!(same));
        words.insert(name.clone(), json!(alike));
    }
    json!({ "milliseconds": milliseconds, "points": points, "scores": scores, "words": words, "different": different })
}

/// The pictures of a folder in the order of their names, brought to size.
fn photos(folder: &Path) -> Result<Vec<Grey>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jpg"));
    paths.sort();
    let open = |path: &PathBuf| {
        let picture = decode(&fs::read(path)?, &Limits::default())?;
        let factor = SIDE / ((picture.width() * picture.height()) as f64).sqrt();
        let side = |side: usize| (side as f64 * factor).round() as usize;
        Ok(picture.resized(side(picture.width()), side(picture.height())))
    };
    paths.iter().map(open).collect()
}

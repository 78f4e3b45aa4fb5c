//! `benzer compare` of two pictures: their words, their thumbnails, and whether one lies in the other.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use benzer_core::field::image::local::{Agreement, Local, MIN_INLIERS, verify};
use benzer_core::field::image::{ImageFeatures, ImageOptions, Limits, Panel, decode, explanation, thumbnail};
use benzer_storage::Files;
use serde::Serialize;

use super::Arguments;
use crate::Usage;
use crate::output::{Align, Table, View};

/// How the files of the formats that are read begin.
const BEGINNINGS: [&[u8]; 7] =
    [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*"];

#[derive(Debug, Serialize)]
struct PictureComparison {
    a: Side,
    b: Side,
    /// Whether they are one picture, by the geometric check.
    same: bool,
    inliers: usize,
    alike: usize,
    scale: Option<f32>,
    degrees: Option<f32>,
    mirrored: Option<bool>,
    spread: Option<f32>,
    words: Similarity,
    thumbnail: Similarity,
}

#[derive(Debug, Serialize)]
struct Side {
    file: String,
    width: usize,
    height: usize,
    keypoints: usize,
}

#[derive(Debug, Serialize)]
struct Similarity {
    jaccard: Option<f64>,
    /// From where on two pictures are worth a look.
    threshold: f64,
}

struct Picture {
    bytes: Vec<u8>,
    local: Local,
    side: Side,
    thumbnail: benzer_core::Features,
}

pub(super) fn are_pictures(files: &[OsString]) -> bool {
    let Some(file) = files.first().filter(|file| Path::new(file).is_file()) else { return false };
    let mut start = [0; 12];
    let n = File::open(file).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let is_webp = start.starts_with(b"RIFF") && start[8..] == *b"WEBP";
    // Two letters also begin texts; a picture says its length in bytes after them.
    let is_bmp = |beginning: &[u8]| beginning != b"BM" || (n == 12 && start[6..10] == [0; 4]);
    is_webp || BEGINNINGS.iter().any(|known| start[..n].starts_with(known) && is_bmp(known))
}

pub(super) fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let [a, b] = arguments.files.as_slice() else {
        bail!(Usage::new("name two pictures; `benzer dedup --image` compares many"));
    };
    if arguments.set
        || !arguments.ids.is_empty()
        || !arguments.sketch.is_empty()
        || !arguments.text.is_default()
    {
        bail!(Usage::new(
            "pictures have no shingles, items or ids; leave out --set, --ids, --sketch and the options of text"
        ));
    }
    let (a, b) = (load(a)?, load(b)?);
    let agreement = verify(&a.local, &b.local);
    match &arguments.explain {
        Some(Some(path)) => explain(Path::new(path), [&a, &b], agreement.as_ref())?,
        Some(None) => {
            bail!(Usage::new("--explain of pictures needs a file for the drawing, such as points.png"))
        }
        None => {}
    }
    let report = report(a, b, agreement.as_ref());
    view.show(out, &report, || render(&report, view))
}

fn load(file: &OsString) -> anyhow::Result<Picture> {
    let name = Path::new(file).display().to_string();
    let bytes = fs::read(file).with_context(|| format!("cannot read `{name}`"))?;
    let grey = decode(&bytes, &Limits::default()).with_context(|| format!("`{name}`"))?;
    let local = Local::new(&grey);
    let keypoints = local.points().len();
    if keypoints == 0 {
        talk!("warning: `{name}` has no keypoints (it is flat or tiny): it is like nothing");
    }
    let side = Side { file: name, width: grey.width(), height: grey.height(), keypoints };
    Ok(Picture { bytes, local, side, thumbnail: thumbnail::features(&grey) })
}

fn explain(path: &Path, [a, b]: [&Picture; 2], agreement: Option<&Agreement>) -> anyhow::Result<()> {
    let [a, b] = [a, b].map(|Picture { bytes, local, .. }| Panel { bytes, local });
    let png = explanation(a, b, agreement, &Limits::default())?;
    let mut file = Files::new().create(path)?;
    file.append(&png)?;
    file.commit()?;
    Ok(())
}

fn report(a: Picture, b: Picture, agreement: Option<&Agreement>) -> PictureComparison {
    let similarity = |features: ImageFeatures, jaccard: Option<f64>| Similarity {
        jaccard,
        threshold: ImageOptions::new(features).defaults().threshold,
    };
    let words = a.local.features().jaccard(&b.local.features());
    PictureComparison {
        same: agreement.is_some(),
        inliers: agreement.map_or(0, |agreement| agreement.inliers.len()),
        alike: agreement.map_or(0, |agreement| agreement.n_alike),
        scale: agreement.map(|agreement| agreement.transform.scale() * resized(&b) / resized(&a)),
        degrees: agreement.map(|agreement| agreement.transform.degrees()),
        mirrored: agreement.map(|agreement| agreement.transform.mirrored),
        spread: agreement.map(|agreement| agreement.spread),
        words: similarity(ImageFeatures::Local, words),
        thumbnail: similarity(ImageFeatures::Thumbnail, a.thumbnail.jaccard(&b.thumbnail)),
        a: a.side,
        b: b.side,
    }
}

/// Pixels of the file for a pixel in which its keypoints lie.
fn resized(picture: &Picture) -> f32 {
    picture.side.width as f32 / picture.local.size().width as f32
}

fn render(report: &PictureComparison, view: &View) -> String {
    let mut pictures = Table::default()
        .column("", Align::Left)
        .column("picture", Align::Left)
        .column("pixels", Align::Right)
        .column("keypoints", Align::Right);
    for (label, side) in [("A", &report.a), ("B", &report.b)] {
        let pixels = format!("{} x {}", side.width, side.height);
        pictures.row([label.to_owned(), side.file.clone(), pixels, side.keypoints.to_string()]);
    }
    let mut facts = Table::default().column("", Align::Left).column("", Align::Left);
    if let (Some(scale), Some(degrees), Some(mirrored)) = (report.scale, report.degrees, report.mirrored) {
        facts.row(["the same picture".to_owned(), "yes".to_owned()]);
        facts.row([
            "points upon each other".to_owned(),
            format!("{} of {} that look alike", report.inliers, report.alike),
        ]);
        let mirror = if mirrored { ", mirrored" } else { "" };
        facts.row([
            "A in B".to_owned(),
            format!("{scale:.2} times as large, turned by {degrees:.1} degrees{mirror}"),
        ]);
    } else {
        facts.row([
            "the same picture".to_owned(),
            format!("no: fewer than {MIN_INLIERS} points lie upon each other"),
        ]);
    }
    for (name, similarity) in [("visual words", &report.words), ("thumbnail", &report.thumbnail)] {
        let value =
            similarity.jaccard.map_or("nothing to compare".to_owned(), |jaccard| format!("{jaccard:.4}"));
        facts.row([name.to_owned(), format!("{value} (similar from {} on)", similarity.threshold)]);
    }
    format!("{}\n{}", pictures.render(view), facts.render(view))
}

//! Pictures, and what happens to them: the photos of a folder or dead leaves, and every change that copies of photos go through.

use std::f64::consts::PI;
use std::fs;
use std::path::{Path, PathBuf};

use benzer_core::field::image::{Grey, Limits, decode};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};

use crate::random::Random;
use crate::{Error, Result};

/// The photos of the data set (BSDS500, val), in the order of their names. Errors: a folder or file cannot be read.
pub(crate) fn photos(data: &Path, max: usize) -> Result<Vec<Grey>> {
    let paths = jpegs(&data.join("bsds500-images").join("val"))?;
    paths.iter().take(max).map(|path| open(path)).collect()
}

/// The pictures of imagededup's tests that are whole, by name: ten different photos, and changed copies of one. Errors: a folder or file cannot be read.
pub(crate) fn fixtures(data: &Path) -> Result<Vec<(String, Grey)>> {
    let folder = data.join("imagededup-tests");
    let mut paths = jpegs(&folder.join("base_images"))?;
    paths.extend(jpegs(&folder.join("mixed_images"))?);
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut named: Vec<(String, PathBuf)> = paths.iter().map(|path| (name(path), path.clone())).collect();
    named.sort();
    named.dedup_by(|a, b| a.0 == b.0);
    named.retain(|(name, _)| !name.ends_with("corrupt"));
    named.into_iter().map(|(name, path)| Ok((name, open(&path)?))).collect()
}

fn jpegs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Error::data(folder, error.to_string()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jpg"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn open(path: &Path) -> Result<Grey> {
    let bytes = fs::read(path).map_err(|error| Error::data(path, error.to_string()))?;
    decode(&bytes, &Limits::default()).map_err(|error| Error::data(path, error.to_string()))
}

/// Pictures of discs that lie upon each other, with radii of a power law, as edges in photos have.
pub(crate) fn dead_leaves(seed: u64, n: usize) -> Vec<Grey> {
    const SIDES: (usize, usize) = (320, 240);
    let picture = |i: usize| {
        let mut random = Random::new(benzer_core::hash::split(seed, i as u64));
        let mut pixels = vec![128.0f32; SIDES.0 * SIDES.1];
        for _ in 0..900 {
            let radius = 3.0 / (0.04 + 0.96 * random.unit());
            let (x, y) = (random.unit() * SIDES.0 as f64, random.unit() * SIDES.1 as f64);
            let (base, slope) = (random.unit() * 235.0, random.unit() * 20.0 / radius);
            for (at, pixel) in pixels.iter_mut().enumerate() {
                let (dx, dy) = ((at % SIDES.0) as f64 - x, (at / SIDES.0) as f64 - y);
                if dx * dx + dy * dy < radius * radius {
                    *pixel = (base + slope * (dx + radius)) as f32;
                }
            }
        }
        Grey::new(SIDES.0, SIDES.1, pixels)
    };
    (0..n).map(picture).collect()
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// Both sides times this.
    Resize(f64),
    /// Saved with this quality of JPEG.
    Jpeg(u8),
    /// This share of both sides is kept, somewhere.
    Crop(f64),
    /// Turned by so many degrees around the middle; what leaves the frame is lost.
    Rotation(f64),
    Mirror,
    Flip,
    /// Grey values times this.
    Brightness(f64),
    /// Distances from the mean times this.
    Contrast(f64),
    /// Grey values to this power.
    Gamma(f64),
    /// Gaussian, of so many pixels.
    Blur(f64),
    /// Gaussian, of this deviation.
    Noise(f64),
    /// So many lines of letters.
    Letters(usize),
    /// A frame, this share of the shorter side.
    Border(f64),
}

impl Change {
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        all.extend([0.25, 0.5, 0.75, 1.5, 2.0].map(Self::Resize));
        all.extend([10, 20, 30, 50, 70, 90].map(Self::Jpeg));
        all.extend([0.9, 0.8, 0.7, 0.6, 0.5, 0.4].map(Self::Crop));
        all.extend([1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 135.0, 180.0].map(Self::Rotation));
        all.extend([Self::Mirror, Self::Flip]);
        all.extend([0.5, 0.7, 1.3, 1.5].map(Self::Brightness));
        all.extend([0.5, 0.7, 1.3, 1.6].map(Self::Contrast));
        all.extend([0.5, 0.7, 1.5, 2.0].map(Self::Gamma));
        all.extend([1.0, 2.0, 3.0, 4.0].map(Self::Blur));
        all.extend([5.0, 10.0, 20.0, 30.0].map(Self::Noise));
        all.extend([1, 3].map(Self::Letters));
        all.extend([0.05, 0.1, 0.2].map(Self::Border));
        all
    }

    /// What is done, and how strongly.
    pub(crate) fn name(&self) -> (&'static str, f64) {
        match *self {
            Self::Resize(by) => ("resize", by),
            Self::Jpeg(quality) => ("jpeg", f64::from(quality)),
            Self::Crop(kept) => ("crop", kept),
            Self::Rotation(degrees) => ("rotation", degrees),
            Self::Mirror => ("mirror", 1.0),
            Self::Flip => ("flip", 1.0),
            Self::Brightness(by) => ("brightness", by),
            Self::Contrast(by) => ("contrast", by),
            Self::Gamma(by) => ("gamma", by),
            Self::Blur(pixels) => ("blur", pixels),
            Self::Noise(deviation) => ("noise", deviation),
            Self::Letters(lines) => ("letters", lines as f64),
            Self::Border(share) => ("border", share),
        }
    }

    /// The changed picture, saved as JPEG and read again; quality 90 unless that is the change. Errors: what was saved cannot be read.
    pub(crate) fn apply(&self, picture: &Grey, random: &mut Random) -> Result<Grey> {
        let (width, height) = (picture.width(), picture.height());
        let part = |side: usize, share: f64| ((side as f64 * share).round() as usize).max(1);
        let toned = |of: &dyn Fn(f64) -> f64| {
            Grey::from_fn(width, height, |x, y| of(f64::from(picture.at(x, y))) as f32)
        };
        let mut quality = 90;
        let changed = match *self {
            Self::Resize(by) => picture.resized(part(width, by), part(height, by)),
            Self::Jpeg(of) => {
                quality = of;
                picture.clone()
            }
            Self::Crop(kept) => {
                let (across, down) = (part(width, kept), part(height, kept));
                let left = random.below((width - across) as u64 + 1) as usize;
                let top = random.below((height - down) as u64 + 1) as usize;
                Grey::from_fn(across, down, |x, y| picture.at(left + x, top + y))
            }
            Self::Rotation(degrees) => turned(picture, degrees * PI / 180.0),
            Self::Mirror => Grey::from_fn(width, height, |x, y| picture.at(width - 1 - x, y)),
            Self::Flip => Grey::from_fn(width, height, |x, y| picture.at(x, height - 1 - y)),
            Self::Brightness(by) => toned(&|value| value * by),
            Self::Contrast(by) => {
                let mean = picture.pixels().iter().map(|&value| f64::from(value)).sum::<f64>()
                    / picture.pixels().len() as f64;
                toned(&|value| mean + (value - mean) * by)
            }
            Self::Gamma(by) => toned(&|value| 255.0 * (value / 255.0).clamp(0.0, 1.0).powf(by)),
            Self::Blur(pixels) => blurred(picture, pixels),
            Self::Noise(deviation) => {
                let noise: Vec<f32> = picture
                    .pixels()
                    .iter()
                    .map(|value| value + (deviation * random.normal()) as f32)
                    .collect();
                Grey::new(width, height, noise)
            }
            Self::Letters(lines) => lettered(picture, lines, random),
            Self::Border(share) => {
                let frame = part(width.min(height), share);
                let inside = |at: usize, side: usize| at.checked_sub(frame).filter(|&at| at < side);
                Grey::from_fn(width + 2 * frame, height + 2 * frame, |x, y| {
                    inside(x, width).zip(inside(y, height)).map_or(255.0, |(x, y)| picture.at(x, y))
                })
            }
        };
        saved(&changed, quality)
    }
}

/// As it is after it was saved as JPEG.
fn saved(picture: &Grey, quality: u8) -> Result<Grey> {
    let bytes: Vec<u8> = picture.pixels().iter().map(|value| value.round().clamp(0.0, 255.0) as u8).collect();
    let mut file = Vec::new();
    let (width, height) = (picture.width() as u32, picture.height() as u32);
    JpegEncoder::new_with_quality(&mut file, quality)
        .write_image(&bytes, width, height, ExtendedColorType::L8)
        .expect("photos are smaller than a JPEG can be");
    Ok(decode(&file, &Limits::default())?)
}

/// Between the four neighbours; black where there is nothing.
fn turned(picture: &Grey, angle: f64) -> Grey {
    let (width, height) = (picture.width(), picture.height());
    let (middle_x, middle_y) = ((width - 1) as f64 / 2.0, (height - 1) as f64 / 2.0);
    let (sin, cos) = angle.sin_cos();
    let at = |x: f64, y: f64| -> f64 {
        let is_inside = x >= 0.0 && y >= 0.0 && x < width as f64 && y < height as f64;
        if is_inside { f64::from(picture.at(x as usize, y as usize)) } else { 0.0 }
    };
    Grey::from_fn(width, height, |x, y| {
        let (dx, dy) = (x as f64 - middle_x, y as f64 - middle_y);
        let (x, y) = (middle_x + cos * dx - sin * dy, middle_y + sin * dx + cos * dy);
        let (left, top) = (x.floor(), y.floor());
        let (right, below) = (x - left, y - top);
        let upper = at(left, top) * (1.0 - right) + at(left + 1.0, top) * right;
        let lower = at(left, top + 1.0) * (1.0 - right) + at(left + 1.0, top + 1.0) * right;
        (upper * (1.0 - below) + lower * below) as f32
    })
}

/// A Gaussian along the rows, and along the columns of that.
fn blurred(picture: &Grey, sigma: f64) -> Grey {
    let reach = (3.0 * sigma).ceil() as isize;
    let weights: Vec<f64> = (-reach..=reach).map(|d| (-0.5 * (d as f64 / sigma).powi(2)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let (width, height) = (picture.width(), picture.height());
    let near = |at: usize, by: isize, side: usize| at.saturating_add_signed(by).min(side - 1);
    let along = |of: &dyn Fn(isize) -> f32| -> f32 {
        let sum: f64 = (-reach..=reach).zip(&weights).map(|(d, weight)| weight * f64::from(of(d))).sum();
        (sum / total) as f32
    };
    let rows = Grey::from_fn(width, height, |x, y| along(&|d| picture.at(near(x, d, width), y)));
    Grey::from_fn(width, height, |x, y| along(&|d| rows.at(x, near(y, d, height))))
}

/// White letters with black edges: random ones of three by five squares, an eighth of the height.
fn lettered(picture: &Grey, lines: usize, random: &mut Random) -> Grey {
    let (width, height) = (picture.width(), picture.height());
    let square = (height / 40).max(1);
    let (mut pixels, letters) = (picture.pixels().to_vec(), width * 2 / 3 / (4 * square));
    for line in 1..=lines {
        let top = line * height / (lines + 1) - (5 * square / 2).min(line * height / (lines + 1));
        let left = random.below(width as u64 / 3) as usize;
        for letter in 0..letters {
            let shape = random.next();
            for (column, row) in (0..3).flat_map(|column| (0..5).map(move |row| (column, row))) {
                if shape >> (5 * column + row) & 1 == 0 {
                    continue;
                }
                let (x, y) = (left + (4 * letter + column) * square, top + row * square);
                for (px, py) in (0..square).flat_map(|px| (0..square).map(move |py| (x + px, y + py))) {
                    let is_edge = px == x || py == y;
                    if px < width && py < height {
                        pixels[py * width + px] = if is_edge { 0.0 } else { 255.0 };
                    }
                }
            }
        }
    }
    Grey::new(width, height, pixels)
}

#[cfg(test)]
mod tests {
    use super::{Change, dead_leaves};
    use crate::random::Random;

    #[test]
    fn changes_have_the_sizes_they_say_and_are_the_same_every_time() {
        let picture = &dead_leaves(1, 1)[0];
        for change in Change::all() {
            let [one, two] = [7, 7].map(|seed| change.apply(picture, &mut Random::new(seed)).unwrap());
            assert!(one == two, "{change:?}");
            let expected = match change {
                Change::Resize(by) => (320.0 * by, 240.0 * by),
                Change::Crop(kept) => (320.0 * kept, 240.0 * kept),
                Change::Border(share) => (320.0 + 480.0 * share, 240.0 + 480.0 * share),
                _ => (320.0, 240.0),
            };
            let expected = (expected.0.round() as usize, expected.1.round() as usize);
            assert_eq!((one.width(), one.height()), expected, "{change:?}");
            let difference = |(a, b): (&f32, &f32)| f64::from((a - b).abs());
            let changed: f64 = one.pixels().iter().zip(picture.pixels()).map(difference).sum::<f64>();
            assert!(changed / (320.0 * 240.0) > 0.2, "{change:?} changes something");
        }
    }

    #[test]
    fn a_whole_turn_and_two_mirrors_give_the_picture_back() {
        let picture = &dead_leaves(2, 1)[0];
        let mean = |other: &benzer_core::field::image::Grey| {
            let sum: f32 = other.pixels().iter().zip(picture.pixels()).map(|(a, b)| (a - b).abs()).sum();
            sum / other.pixels().len() as f32
        };
        assert!(mean(&super::turned(picture, 2.0 * std::f64::consts::PI)) < 0.01);
        let mut random = Random::new(1);
        let twice = Change::Mirror.apply(&Change::Mirror.apply(picture, &mut random).unwrap(), &mut random);
        assert!(mean(&twice.unwrap()) < 6.0, "up to compression");
    }
}

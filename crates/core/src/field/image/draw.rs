//! Pictures for people: small previews, and two pictures with the points that lie upon each other.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::local::{Agreement, Keypoint, Local, Size};
use super::{Limits, picture};
use crate::{Error, Result};

/// Quality of previews.
const QUALITY: u8 = 80;
/// Height of the pictures in an explanation, at most.
const HEIGHT: u32 = 480;
/// Width of each, at most.
const WIDTH: u32 = 900;
/// Pixels between them.
const GAP: u32 = 12;
/// Colours of the lines, in turn, so that neighbours can be told apart.
const COLOURS: [[u8; 3]; 6] =
    [[230, 60, 60], [40, 160, 80], [50, 110, 230], [230, 150, 20], [160, 70, 200], [20, 170, 180]];

/// One of the two pictures that are drawn side by side.
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    /// Its file.
    pub bytes: &'a [u8],
    /// Its keypoints.
    pub local: &'a Local,
}

/// A small JPEG of a file, upright, whose longer side is at most `side`.
///
/// # Errors
/// A file that cannot be decoded.
pub fn preview(bytes: &[u8], limits: &Limits, side: u32) -> Result<Vec<u8>> {
    let small = fitted(&picture(bytes, limits)?, side, side);
    let mut out = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut out, QUALITY);
    DynamicImage::from(small).write_with_encoder(encoder).map_err(unwritten)?;
    Ok(out)
}

/// A PNG of two files side by side, with lines between the points that lie upon each other.
///
/// # Errors
/// A file that cannot be decoded.
pub fn explanation(
    a: Panel<'_>,
    b: Panel<'_>,
    agreement: Option<&Agreement>,
    limits: &Limits,
) -> Result<Vec<u8>> {
    let left = fitted(&picture(a.bytes, limits)?, WIDTH, HEIGHT);
    let right = fitted(&picture(b.bytes, limits)?, WIDTH, HEIGHT);
    let height = left.height().max(right.height());
    let shift = left.width() + GAP;
    let mut canvas = RgbImage::from_pixel(shift + right.width(), height, Rgb([255; 3]));
    image::imageops::replace(&mut canvas, &left, 0, 0);
    image::imageops::replace(&mut canvas, &right, i64::from(shift), 0);
    let inliers = agreement.map_or(&[][..], |agreement| &agreement.inliers);
    for (number, &(i, j)) in inliers.iter().enumerate() {
        let colour = Rgb(COLOURS[number % COLOURS.len()]);
        let from = Pixel::of(&a.local.points()[i as usize], a.local.size(), &left, 0);
        let to = Pixel::of(&b.local.points()[j as usize], b.local.size(), &right, shift);
        line(&mut canvas, from, to, colour);
        ring(&mut canvas, from, colour);
        ring(&mut canvas, to, colour);
    }
    let mut out = Cursor::new(Vec::new());
    DynamicImage::from(canvas).write_to(&mut out, ImageFormat::Png).map_err(unwritten)?;
    Ok(out.into_inner())
}

fn unwritten(error: image::ImageError) -> Error {
    Error::Image(format!("cannot write the picture: {error}"))
}

/// The picture over white, no larger than a box.
fn fitted(picture: &DynamicImage, width: u32, height: u32) -> RgbImage {
    let small = match picture.width() > width || picture.height() > height {
        true => picture.resize(width, height, FilterType::Triangle),
        false => picture.clone(),
    };
    if !small.color().has_alpha() {
        return small.to_rgb8();
    }
    let over_white = |pixel: &image::Rgba<u8>| {
        let alpha = u32::from(pixel.0[3]);
        [0, 1, 2].map(|i| ((u32::from(pixel.0[i]) * alpha + 255 * (255 - alpha)) / 255) as u8)
    };
    let clear = small.to_rgba8();
    RgbImage::from_fn(clear.width(), clear.height(), |x, y| Rgb(over_white(clear.get_pixel(x, y))))
}

/// A place on the canvas.
#[derive(Clone, Copy)]
struct Pixel {
    x: f32,
    y: f32,
}

impl Pixel {
    /// Where a keypoint of a picture of some size is drawn.
    fn of(point: &Keypoint, size: Size, drawn: &RgbImage, shift: u32) -> Self {
        let x = point.x / size.width as f32 * drawn.width() as f32 + shift as f32;
        Self { x, y: point.y / size.height as f32 * drawn.height() as f32 }
    }
}

fn line(canvas: &mut RgbImage, from: Pixel, to: Pixel, colour: Rgb<u8>) {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let steps = dx.abs().max(dy.abs()).max(1.0) as u32;
    for step in 0..=steps {
        let share = step as f32 / steps as f32;
        dot(canvas, from.x + share * dx, from.y + share * dy, colour);
    }
}

fn ring(canvas: &mut RgbImage, centre: Pixel, colour: Rgb<u8>) {
    for step in 0..24 {
        let angle = step as f32 / 24.0 * std::f32::consts::TAU;
        for radius in [3.5, 4.5] {
            dot(canvas, centre.x + radius * libm::cosf(angle), centre.y + radius * libm::sinf(angle), colour);
        }
    }
}

fn dot(canvas: &mut RgbImage, x: f32, y: f32, colour: Rgb<u8>) {
    let (x, y) = (x.round(), y.round());
    if x >= 0.0 && y >= 0.0 && x < canvas.width() as f32 && y < canvas.height() as f32 {
        canvas.put_pixel(x as u32, y as u32, colour);
    }
}

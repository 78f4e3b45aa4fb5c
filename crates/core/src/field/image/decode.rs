//! From the bytes of a file to a grey picture.
//!
//! Limits come first: the size of the file before anything is looked at, the number of pixels after the header and before any pixel is
//! decoded. Orientation (EXIF) is honoured, transparent parts are white, and of moving pictures the first frame counts. Grey is the luma of
//! JPEG (BT.601), so that a grey JPEG and a coloured one agree.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader};

use super::Grey;
use crate::{Error, Result};

/// The formats that are read.
pub const FORMATS: &str = "JPEG, PNG, WebP, GIF, BMP or TIFF";

/// How large a picture may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file, at most.
    pub bytes: u64,
    /// Pixels of a picture, at most.
    pub pixels: u64,
}

impl Default for Limits {
    /// 256 MiB and 100 million pixels: every camera, and no bomb.
    fn default() -> Self {
        Self { bytes: 256 << 20, pixels: 100_000_000 }
    }
}

/// Decodes a file into grey.
///
/// # Errors
/// A file that is too large, of another format, or damaged.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Grey> {
    Ok(grey(&picture(bytes, limits)?))
}

/// Decodes a file, upright, with its colours; transparent parts are still transparent.
///
/// # Errors
/// As [`decode`].
pub fn picture(bytes: &[u8], limits: &Limits) -> Result<DynamicImage> {
    if bytes.len() as u64 > limits.bytes {
        return Err(too_large("bytes", limits.bytes, bytes.len() as u64));
    }
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let reader = reader.map_err(|error| damaged(error.to_string()))?;
    let Some(format) = reader.format().filter(ImageFormat::reading_enabled) else {
        return Err(Error::Image(format!("not a picture that can be read; expected {FORMATS}")));
    };
    if format == ImageFormat::Jpeg && !has_end_of_jpeg(bytes) {
        return Err(damaged("the file ends in the middle of the picture".to_owned()));
    }
    let mut decoder = reader.into_decoder().map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > limits.pixels {
        return Err(too_large("pixels", limits.pixels, pixels));
    }
    if pixels == 0 {
        return Err(damaged("it has no pixels".to_owned()));
    }
    let mut memory = image::Limits::no_limits();
    // Four channels of four bytes, twice: what a decoder needs at most for a picture within the limits.
    memory.max_alloc = Some(pixels * 32 + bytes.len() as u64 + (16 << 20));
    decoder.set_limits(memory).map_err(refused)?;
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(refused)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Luma over white.
pub(super) fn grey(picture: &DynamicImage) -> Grey {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let pixels = match picture {
        DynamicImage::ImageLuma8(grey) => grey.as_raw().iter().map(|&value| f32::from(value)).collect(),
        DynamicImage::ImageRgb8(rgb) => rgb.pixels().map(|pixel| luma(pixel.0)).collect(),
        other if !other.color().has_alpha() => other.to_rgb8().pixels().map(|pixel| luma(pixel.0)).collect(),
        other => other.to_rgba8().pixels().map(|pixel| over_white(pixel.0)).collect(),
    };
    Grey::new(width, height, pixels)
}

#[inline]
fn luma([red, green, blue]: [u8; 3]) -> f32 {
    let sum = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    (sum as f32) / 1000.0
}

fn over_white([red, green, blue, alpha]: [u8; 4]) -> f32 {
    let share = f32::from(alpha) / 255.0;
    255.0 + share * (luma([red, green, blue]) - 255.0)
}

/// Whether the last scan has an end. The decoder would fill up what is missing, and a half picture is another picture.
fn has_end_of_jpeg(bytes: &[u8]) -> bool {
    let last = |marker: u8| bytes.windows(2).rposition(|pair| pair == [0xff, marker]);
    match (last(0xd9), last(0xda)) {
        (Some(end), Some(scan)) => end > scan,
        (end, _) => end.is_some(),
    }
}

fn too_large(what: &str, limit: u64, got: u64) -> Error {
    Error::Image(format!("the picture has {got} {what}, and at most {limit} are allowed; make it smaller"))
}

fn damaged(why: String) -> Error {
    Error::Image(format!("the picture is damaged: {why}"))
}

fn refused(error: ImageError) -> Error {
    match error {
        ImageError::Limits(_) => {
            Error::Image("the picture needs too much memory to be decoded; make it smaller".to_owned())
        }
        ImageError::Unsupported(error) => Error::Image(format!("the picture cannot be read: {error}")),
        other => damaged(other.to_string()),
    }
}

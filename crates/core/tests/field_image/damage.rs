//! Damaged files are errors, never crashes.

use benzer_core::field::image::{Limits, decode};
use benzer_core::hash;
use image::ImageFormat;

use crate::scene::{Scene, file, jpeg, raw};

fn files() -> Vec<Vec<u8>> {
    let drawing = Scene::new(5).drawn(70, 50);
    let colour = image::DynamicImage::from(raw(&drawing)).to_rgb8();
    let formats =
        [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Tiff, ImageFormat::WebP, ImageFormat::Gif];
    let mut files: Vec<_> = formats.into_iter().map(|format| file(colour.clone(), format)).collect();
    files.push(jpeg(&drawing, 80));
    files
}

#[test]
fn files_that_end_too_early_are_errors() {
    for file in files() {
        for share in [0.0, 0.01, 0.1, 0.5, 0.9] {
            let cut = &file[..(file.len() as f64 * share) as usize];
            assert!(decode(cut, &Limits::default()).is_err(), "{:?} at {share}", &file[..4]);
        }
    }
}

#[test]
fn files_with_wrong_bytes_are_decoded_or_refused() {
    for (number, file) in files().iter().enumerate() {
        for seed in 0..150 {
            let mut wrong = file.clone();
            for value in hash::stream(hash::split(seed, number as u64)).take(1 + seed as usize % 6) {
                let place = (value >> 8) as usize % wrong.len();
                wrong[place] = value as u8;
            }
            // Whatever comes out, it comes out.
            if let Ok(grey) = decode(&wrong, &Limits { pixels: 1_000_000, ..Limits::default() }) {
                assert!(grey.pixels().iter().all(|pixel| (0.0..=255.0).contains(pixel)));
            }
        }
    }
}

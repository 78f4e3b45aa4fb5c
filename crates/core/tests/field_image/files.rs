//! Files of every format, orientation, transparency, limits.

use ::image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use benzer_core::Features;
use benzer_core::field::image::{self, Grey, Limits, decode};
use benzer_core::field::{Content, Document, Schema};
use benzer_core::lsh::{Target, choose};

use crate::scene::{Scene, file, jpeg, raw};

fn open(bytes: &[u8]) -> Grey {
    decode(bytes, &Limits::default()).unwrap()
}

fn difference(a: &Grey, b: &Grey) -> f32 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let sum: f32 = a.pixels().iter().zip(b.pixels()).map(|(a, b)| (a - b).abs()).sum();
    sum / a.pixels().len() as f32
}

#[test]
fn every_format_gives_the_same_grey_picture() {
    let drawing = Scene::new(1).drawn(90, 60);
    let colour = DynamicImage::from(raw(&drawing)).to_rgb8();
    for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Tiff, ImageFormat::WebP] {
        let decoded = open(&file(colour.clone(), format));
        assert!(difference(&decoded, &drawing) < 1e-3, "{format:?}");
    }
    assert!(difference(&open(&file(colour.clone(), ImageFormat::Gif)), &drawing) < 4.0);
    assert!(difference(&open(&jpeg(&drawing, 95)), &drawing) < 2.0);
    assert!(difference(&open(&file(raw(&drawing), ImageFormat::Png)), &drawing) < 1e-3);
}

#[test]
fn of_a_moving_picture_the_first_frame_counts() {
    let frames = [30u8, 220]
        .map(|value| ::image::Frame::new(RgbaImage::from_pixel(20, 10, Rgba([value, value, value, 255]))));
    let mut bytes = Vec::new();
    ::image::codecs::gif::GifEncoder::new(&mut bytes).encode_frames(frames).unwrap();
    assert!((open(&bytes).at(5, 5) - 30.0).abs() < 2.0);
}

#[test]
fn transparent_parts_are_white() {
    let picture = RgbaImage::from_fn(8, 8, |x, _| Rgba([0, 0, 0, if x < 4 { 0 } else { 255 }]));
    let grey = open(&file(picture, ImageFormat::Png));
    assert_eq!((grey.at(1, 1), grey.at(6, 6)), (255.0, 0.0));
}

/// A JPEG with an EXIF block that says how to turn it.
fn turned(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    let length = (exif.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &jpeg[2..]].concat()
}

#[test]
fn the_orientation_of_cameras_is_honoured() {
    let drawing = Scene::new(2).drawn(80, 50);
    let plain = jpeg(&drawing, 95);
    let upright = open(&turned(&plain, 1));
    assert!(difference(&upright, &drawing) < 2.0);
    let quarter = open(&turned(&plain, 6));
    assert_eq!((quarter.width(), quarter.height()), (50, 80));
    let back = Grey::from_fn(80, 50, |x, y| quarter.at(49 - y, x));
    assert!(difference(&back, &upright) < 1e-3);
}

#[test]
fn what_is_too_large_is_refused_by_its_header() {
    let small = file(raw(&Scene::new(3).drawn(40, 30)), ImageFormat::Bmp);
    let error = |bytes: &[u8], limits: Limits| decode(bytes, &limits).unwrap_err().to_string();
    let pixels = Limits { pixels: 1_199, ..Limits::default() };
    assert!(error(&small, pixels).contains("1200 pixels, and at most 1199"), "{}", error(&small, pixels));
    let bytes = Limits { bytes: 100, ..Limits::default() };
    assert!(error(&small, bytes).contains("bytes, and at most 100"));
    // A bomb: a few bytes that claim 60,000 x 60,000 pixels.
    let mut bomb = file(raw(&Scene::new(3).drawn(40, 30)), ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    let crc = crc(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&crc);
    let said = error(&bomb, Limits::default());
    assert!(said.contains("3600000000 pixels, and at most 100000000"), "{said}");
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[test]
fn a_field_takes_base64_and_says_what_is_wrong_with_anything_else() {
    let schema: Schema = serde_json::from_str(
        r#"{"fields": {"photo": {"kind": "image"}, "small": {"kind": "image", "features": "thumbnail"}, "title": {"kind": "text"}}}"#,
    )
    .unwrap();
    let text = image::encode(&jpeg(&Scene::new(4).drawn(200, 150), 90));
    let document = |photo: &str| {
        Document::new("1", [("photo", Content::from(photo)), ("small", Content::from(text.as_str()))])
    };
    let features = schema.features(&document(&text)).unwrap();
    assert!(features["photo"].len() > 100 && features["small"].len() > 200 && features["title"].is_empty());
    let with_head = format!("data:image/jpeg;base64,{text}");
    assert_eq!(schema.features(&document(&with_head)).unwrap(), features);
    let message = |photo: &str| schema.features(&document(photo)).unwrap_err().to_string();
    assert!(message("not base64!").starts_with("field `photo`: not a picture in base64"), "{}", message("?"));
    assert!(message("aGVsbG8=").contains("expected JPEG, PNG"), "{}", message("aGVsbG8="));
    let narrow: Schema =
        serde_json::from_str(r#"{"fields": {"photo": {"kind": "image", "pixels": 29999}}}"#).unwrap();
    let said = narrow.features(&document(&text)).unwrap_err().to_string();
    assert!(said.contains("30000 pixels, and at most 29999"), "{said}");
    let list = Document::new("1", [("photo", Content::values(["a"]))]);
    let said = schema.features(&list).unwrap_err().to_string();
    assert_eq!(said, "field `photo`: content must be a picture in base64, got a list of values");
}

#[test]
fn a_schema_of_pictures_survives_a_round_trip_and_names_its_rules() {
    let json = r#"{"fields": {"photo": {"kind": "image", "features": "thumbnail", "weight": 2}, "other": {"kind": "image"}}}"#;
    let schema: Schema = serde_json::from_str(json).unwrap();
    let again: Schema = serde_json::from_str(&serde_json::to_string(&schema).unwrap()).unwrap();
    assert_eq!(again, schema);
    assert_eq!(schema.pipeline("photo").unwrap().as_str(), "image-v1.h1/thumbnail/contrasts16/set/64");
    assert_eq!(schema.pipeline("other").unwrap().as_str(), "image-v1.h1/local/signs28/set/64");
    let wrong =
        serde_json::from_str::<Schema>(r#"{"fields": {"photo": {"kind": "image", "features": "sift"}}}"#);
    assert!(wrong.unwrap_err().to_string().contains("expected `local` or `thumbnail`"));
}

#[test]
fn the_defaults_of_every_kind_of_features_can_be_banded() {
    let json =
        r#"{"fields": {"photo": {"kind": "image", "features": "thumbnail"}, "other": {"kind": "image"}}}"#;
    let schema: Schema = serde_json::from_str(json).unwrap();
    for (name, spec) in schema.fields() {
        let (sketch, defaults) = (schema.sketch_spec(name).unwrap(), spec.kind.defaults());
        let target = Target { threshold: defaults.threshold, recall: defaults.recall, ..Target::default() };
        let banding = choose(&sketch, &target).unwrap();
        assert!(banding.probability(defaults.threshold) >= defaults.recall, "{name}");
        assert_eq!(sketch.pipeline, schema.pipeline(name).unwrap().as_str());
    }
}

/// The features of one picture, drawn from integers, never change: a new decoder, compiler or processor must give the same.
#[test]
fn features_of_a_picture_are_known() {
    let drawing =
        Grey::from_fn(160, 120, |x, y| ((x * x / 7 + y * y / 5 + (x / 9) * (y / 11) * 13) % 256) as f32);
    let sum = |features: &Features| {
        features.elements().iter().fold(0u64, |sum, element| sum.wrapping_mul(31).wrapping_add(*element))
    };
    let local = image::local::Local::new(&drawing);
    let found = (local.points().len(), sum(&local.features()), sum(&image::thumbnail::features(&drawing)));
    assert_eq!(found, (400, 13_316_474_360_864_297_214, 7_310_166_900_070_342_591));
}

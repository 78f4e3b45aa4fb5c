//! Which pictures are found again, by which features.

use benzer_core::field::image::local::{Local, MIN_INLIERS, verify};
use benzer_core::field::image::{Grey, ImageFeatures, ImageOptions, Limits, decode, thumbnail};

use crate::scene::{Scene, jpeg};

fn threshold(features: ImageFeatures) -> f64 {
    ImageOptions::new(features).defaults().threshold
}

/// A crop, a turn and a scale of a drawing: its middle is seen, `zoom` times as large, turned by so many degrees.
fn seen(scene: &Scene, (width, height): (usize, usize), zoom: f32, degrees: f32) -> Grey {
    let (sin, cos) = (libm::sinf(degrees.to_radians()), libm::cosf(degrees.to_radians()));
    scene.seen(width, height, |x, y| {
        let (dx, dy) = ((x - 0.5) / zoom, (y - 0.5) / zoom);
        (0.5 + cos * dx - sin * dy, 0.5 + sin * dx + cos * dy)
    })
}

#[test]
fn local_features_find_a_picture_after_crops_turns_sizes_and_flips() {
    for seed in 10..13 {
        let scene = Scene::new(seed);
        let whole = Local::new(&scene.drawn(360, 360));
        let cases = [
            ("smaller", seen(&scene, (120, 120), 1.0, 0.0), 1.0, 0.0, false),
            ("larger", seen(&scene, (600, 600), 1.0, 0.0), 1.0, 0.0, false),
            ("cropped to 60%", seen(&scene, (216, 216), 1.0 / 0.6, 0.0), 0.6, 0.0, false),
            ("turned", seen(&scene, (360, 360), 1.0, 33.0), 1.0, 33.0, false),
            ("upside down", seen(&scene, (360, 360), 1.0, 180.0), 1.0, 180.0, false),
            ("mirrored", scene.seen(360, 360, |x, y| (1.0 - x, y)), 1.0, 0.0, true),
        ];
        for (name, picture, scale, degrees, mirrored) in cases {
            let local = Local::new(&picture);
            let similarity = local.features().jaccard(&whole.features()).unwrap();
            assert!(similarity >= threshold(ImageFeatures::Local), "{name}: {similarity}");
            let agreement = verify(&local, &whole).unwrap_or_else(|| panic!("{name} is not found"));
            let transform = agreement.transform;
            assert!(agreement.inliers.len() >= MIN_INLIERS && agreement.inliers.len() <= agreement.n_alike);
            assert_eq!(transform.mirrored, mirrored, "{name}");
            assert!((transform.scale() / scale - 1.0).abs() < 0.03, "{name}: {}", transform.scale());
            let off = (transform.degrees() - degrees) / 360.0;
            assert!((off - off.round()).abs() * 360.0 < 2.0, "{name}: {} degrees", transform.degrees());
        }
    }
}

#[test]
fn inliers_are_pairs_of_points_that_lie_upon_each_other() {
    let scene = Scene::new(20);
    let (whole, part) = (Local::new(&scene.drawn(320, 320)), Local::new(&seen(&scene, (320, 320), 1.5, 0.0)));
    let agreement = verify(&whole, &part).unwrap();
    for &(a, b) in &agreement.inliers {
        let (a, b) = (whole.points()[a as usize], part.points()[b as usize]);
        let expected = ((a.x - 160.0) * 1.5 + 160.0, (a.y - 160.0) * 1.5 + 160.0);
        let tolerance = 4.0f32.max(b.scale) + 2.0;
        assert!((b.x - expected.0).abs() < tolerance && (b.y - expected.1).abs() < tolerance, "{a:?} {b:?}");
    }
}

#[test]
fn different_pictures_have_no_transform_and_hardly_a_word_in_common() {
    let all: Vec<Local> = (30..42).map(|seed| Local::new(&Scene::new(seed).drawn(300, 300))).collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[..i] {
            assert_eq!(verify(a, b), None);
            assert!(a.features().jaccard(&b.features()).unwrap() < threshold(ImageFeatures::Local));
        }
    }
}

#[test]
fn the_same_letters_on_different_pictures_do_not_make_them_one() {
    let stamp = Scene::new(99);
    let stamped = |seed: u64| {
        let scene = Scene::new(seed);
        let picture = Grey::from_fn(320, 320, |x, y| {
            let (u, v) = (x as f32 / 320.0, y as f32 / 320.0);
            if x < 96 && y < 64 { stamp.at(u * 2.0, v * 2.0) } else { scene.at(u, v) }
        });
        Local::new(&picture)
    };
    assert_eq!(verify(&stamped(50), &stamped(51)), None);
    assert!(verify(&stamped(50), &Local::new(&Scene::new(50).drawn(320, 320))).is_some());
}

#[test]
fn thumbnails_find_a_picture_saved_again_and_not_another_one() {
    let pictures: Vec<Grey> = (60..72).map(|seed| Scene::new(seed).drawn(240, 180)).collect();
    let limit = threshold(ImageFeatures::Thumbnail);
    for (i, picture) in pictures.iter().enumerate() {
        let features = thumbnail::features(picture);
        let like = |other: &Grey| thumbnail::features(other).jaccard(&features).unwrap();
        let compressed = decode(&jpeg(picture, 20), &Limits::default()).unwrap();
        let darker = Grey::from_fn(240, 180, |x, y| 20.0 + 0.6 * picture.at(x, y));
        for other in [&picture.resized(80, 60), &picture.resized(480, 400), &compressed, &darker] {
            assert!(like(other) >= limit, "{}", like(other));
        }
        assert!(pictures[..i].iter().all(|other| like(other) < limit));
    }
}

#[test]
fn a_flat_picture_has_no_features() {
    let flat = Grey::from_fn(100, 80, |_, _| 77.0);
    assert!(thumbnail::features(&flat).is_empty());
    assert!(Local::new(&flat).features().is_empty());
    assert_eq!(verify(&Local::new(&flat), &Local::new(&flat)), None);
}

#[test]
fn the_narrowest_pictures_are_pictures_too() {
    for (width, height) in [(1, 1), (1, 500), (5_000, 1), (3, 2)] {
        let picture = Grey::from_fn(width, height, |x, y| ((x * 37 + y * 91) % 256) as f32);
        let local = Local::new(&picture);
        assert!(local.features().len() <= 2 * local.points().len());
        assert!(thumbnail::features(&picture).len() <= 2048);
    }
}

//! The keypoints of each, in one form.

use benzer_core::Features;
use benzer_core::field::image::Grey;
use benzer_core::field::image::local::{Descriptor, Keypoint, Local, Size};

/// Least response of a keypoint of `lowe-sift`: its default, 0.03, leaves a picture of this size 85 keypoints, and fewer where it is dark.
const LEAST_CONTRAST: f32 = 0.01;

/// Who extracts.
#[derive(Debug, Clone, Copy)]
pub enum Extractor {
    Benzer,
    Lowe,
    LoweDoubled,
    Akaze,
}

/// What is around a keypoint.
pub enum Around {
    /// Histograms of gradients, compared by distance.
    Gradients(Vec<Descriptor>),
    /// Comparisons of brightness, compared by the number of bits that differ.
    Bits(Vec<[u8; 64]>),
}

/// The keypoints of a picture.
pub struct Seen {
    size: Size,
    pub places: Vec<Keypoint>,
    pub around: Around,
}

impl Seen {
    /// The visual words of Benzer, which are made of gradients.
    pub fn words(&self) -> Option<Features> {
        let Around::Gradients(descriptors) = &self.around else { return None };
        Some(Local::from_parts(self.size, self.places.clone(), descriptors.clone())?.features())
    }
}

impl Extractor {
    pub const ALL: [Self; 4] = [Self::Benzer, Self::Lowe, Self::LoweDoubled, Self::Akaze];

    pub fn name(self) -> &'static str {
        match self {
            Self::Benzer => "benzer",
            Self::Lowe => "lowe-sift",
            Self::LoweDoubled => "lowe-sift, doubled",
            Self::Akaze => "akaze",
        }
    }

    /// At most so many keypoints of a picture, those of the strongest response.
    pub fn see(self, picture: &Grey, most: usize) -> Seen {
        let size = Size { width: picture.width() as u32, height: picture.height() as u32 };
        match self {
            Self::Benzer => {
                let local = Local::new(picture);
                let around = Around::Gradients(local.descriptors().to_vec());
                Seen { size: local.size(), places: local.points().to_vec(), around }
            }
            Self::Lowe => lowe(picture, size, most, false),
            Self::LoweDoubled => lowe(picture, size, most, true),
            Self::Akaze => akaze(picture, size, most),
        }
    }
}

fn lowe(picture: &Grey, size: Size, most: usize, doubled: bool) -> Seen {
    let values = picture.pixels().iter().map(|&value| value / 255.0).collect();
    let grey =
        lowe_sift::GrayImage::new(picture.width(), picture.height(), values).expect("a picture has pixels");
    let config = lowe_sift::SiftConfig {
        double_image: doubled,
        contrast_threshold: LEAST_CONTRAST,
        ..Default::default()
    };
    let sift = lowe_sift::Sift::new(config).expect("the defaults are valid");
    let mut found = sift.detect_and_compute(&grey);
    found.sort_by(|a, b| b.keypoint.response.total_cmp(&a.keypoint.response));
    found.truncate(most);
    let place = |found: &lowe_sift::Feature| {
        let lowe_sift::Keypoint { x, y, scale, angle, .. } = found.keypoint;
        Keypoint { x, y, scale, angle }
    };
    // As Benzer and OpenCV keep them: in bytes.
    let bytes = |found: &lowe_sift::Feature| {
        found.descriptor.as_slice().map(|value| (value * 512.0).min(255.0) as u8)
    };
    let around = Around::Gradients(found.iter().map(bytes).collect());
    Seen { size, places: found.iter().map(place).collect(), around }
}

fn akaze(picture: &Grey, size: Size, most: usize) -> Seen {
    let values = picture.pixels().iter().map(|&value| value.round().clamp(0.0, 255.0) as u8).collect();
    let grey =
        image::GrayImage::from_raw(size.width, size.height, values).expect("a picture has all its pixels");
    // The dense setting: of the default one many photos have fewer than a hundred keypoints.
    let (points, bits) = akaze::Akaze::dense().extract(&image::DynamicImage::ImageLuma8(grey));
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[b].response.total_cmp(&points[a].response));
    order.truncate(most);
    let place = |&i: &usize| {
        let akaze::KeyPoint { point: (x, y), size, angle, .. } = points[i];
        Keypoint { x, y, scale: size, angle }
    };
    let around = Around::Bits(order.iter().map(|&i| *bits[i].bytes()).collect());
    Seen { size, places: order.iter().map(place).collect(), around }
}

//! Pictures that are drawn: blobs at many scales, as a function of a place, so that any move, turn and scale of it can be drawn exactly.

use benzer_core::field::image::Grey;
use benzer_core::hash;

/// A drawing without edges, about as rich as a photo.
pub struct Scene {
    blobs: Vec<Blob>,
}

struct Blob {
    x: f32,
    y: f32,
    /// Half axes and direction.
    long: f32,
    wide: f32,
    cos: f32,
    sin: f32,
    light: f32,
}

impl Scene {
    pub fn new(seed: u64) -> Self {
        let mut random = hash::stream(seed).map(|value| (value >> 40) as f32 / (1u64 << 24) as f32);
        let mut next = || random.next().expect("the stream has no end");
        let blobs = (0..500).map(|i| {
            let size = if i < 30 { 0.05 + 0.15 * next() } else { 0.006 + 0.035 * next() };
            let angle = next() * std::f32::consts::PI;
            Blob {
                x: 1.4 * next() - 0.2,
                y: 1.4 * next() - 0.2,
                long: size,
                wide: size * (0.3 + 0.7 * next()),
                cos: libm::cosf(angle),
                sin: libm::sinf(angle),
                light: 160.0 * (next() - 0.5),
            }
        });
        Self { blobs: blobs.collect() }
    }

    /// The grey value at a place; the drawing is meant for 0 to 1 both ways.
    pub fn at(&self, x: f32, y: f32) -> f32 {
        let mut value = 128.0;
        for blob in &self.blobs {
            let (dx, dy) = (x - blob.x, y - blob.y);
            let (u, v) =
                ((blob.cos * dx + blob.sin * dy) / blob.long, (blob.cos * dy - blob.sin * dx) / blob.wide);
            let distance = u * u + v * v;
            if distance < 9.0 {
                // Flat inside, with a soft edge.
                value += blob.light / (1.0 + distance * distance * distance);
            }
        }
        value.clamp(0.0, 255.0)
    }

    /// The drawing in so many pixels.
    pub fn drawn(&self, width: usize, height: usize) -> Grey {
        self.seen(width, height, |x, y| (x, y))
    }

    /// What is seen through a mapping from the picture (0 to 1 both ways) to the drawing.
    pub fn seen(&self, width: usize, height: usize, place: impl Fn(f32, f32) -> (f32, f32)) -> Grey {
        Grey::from_fn(width, height, |x, y| {
            let (u, v) = place((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32);
            self.at(u, v).round()
        })
    }
}

/// The bytes of a grey picture.
pub fn raw(picture: &Grey) -> image::GrayImage {
    let pixels = picture.pixels().iter().map(|&value| value as u8).collect();
    image::GrayImage::from_raw(picture.width() as u32, picture.height() as u32, pixels).unwrap()
}

/// A picture as a file.
pub fn file(picture: impl Into<image::DynamicImage>, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A JPEG of some quality.
pub fn jpeg(picture: &Grey, quality: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
    image::DynamicImage::from(raw(picture)).write_with_encoder(encoder).unwrap();
    bytes
}

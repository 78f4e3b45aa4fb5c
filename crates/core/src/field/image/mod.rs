//! Pictures: a file becomes a set of elements.
//!
//! ```text
//! bytes --decode, within limits--> Grey --> thumbnail: clear contrasts of 16 x 16 cells
//!                                      \--> local: visual words of keypoints, decided by a geometric check
//! ```
//!
//! [`thumbnail`] finds pictures that were saved again, resized or tinted, and costs little. [`local`] finds them after crops, turns, flips, borders and letters
//! too. Both are sets, so that sketches, bands and stores work on them as on anything else. What differs is how similar two sets of the same picture are: each has its own defaults.
//!
//! In a document a picture is the bytes of its file in base64, with or without a `data:` head ([`encode`]).
//!
//! ```
//! use benzer_core::field::image::{Grey, thumbnail};
//! let ramp = Grey::from_fn(64, 48, |x, _| x as f32);
//! let brighter = Grey::from_fn(32, 24, |x, _| 40.0 + 3.0 * x as f32);
//! assert_eq!(thumbnail::features(&ramp).jaccard(&thumbnail::features(&brighter)), Some(1.0));
//! ```

mod decode;
mod draw;
mod grey;
pub mod local;
pub mod thumbnail;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

pub use decode::{FORMATS, Limits, decode, picture};
pub use draw::{Panel, explanation, preview};
pub use grey::Grey;

use super::{Defaults, PipelineId};
use crate::sketch::{Packing, SketchSpec};
use crate::{Error, Features, Result};

/// How an `image` field is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImageOptions {
    /// Which features are taken.
    pub features: ImageFeatures,
    /// Pixels of a picture, at most; a larger one is refused before it is decoded.
    pub pixels: u64,
}

impl Default for ImageOptions {
    fn default() -> Self {
        Self::new(ImageFeatures::default())
    }
}

/// What pictures are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageFeatures {
    /// Visual words of keypoints: found after crops, turns and flips.
    #[default]
    Local,
    /// Contrasts of 16 x 16 cells: found after another compression or size.
    Thumbnail,
}

/// Pixels of a picture in a document, at most, unless the field says otherwise. Decoding takes eight times as many bytes, sixteen times where a colour has 16 bits and there is transparency.
const PIXELS: u64 = 25_000_000;

impl ImageOptions {
    /// The default options with these features.
    pub fn new(features: ImageFeatures) -> Self {
        Self { features, pixels: PIXELS }
    }

    /// Names the rules that [`features`](Self::features) follows.
    pub fn pipeline(&self) -> PipelineId {
        let (name, rules) = match self.features {
            ImageFeatures::Local => ("local", local::VERSION),
            ImageFeatures::Thumbnail => ("thumbnail", thumbnail::VERSION),
        };
        PipelineId::new("image-v1", [name, rules, "set", "64"].map(str::to_owned))
    }

    /// Registers, bands and threshold from the measured similarities (`docs/concepts/images.md`).
    ///
    /// Words of the same picture have a Jaccard similarity of 0.025 or more after a crop to 60% of both sides, of 0.1 and more after compression, and different photos 0.0002 on average: so
    /// many bands of one whole register. Contrasts of the same picture have 0.5 and more, and different photos up to 0.43.
    pub fn defaults(&self) -> Defaults {
        match self.features {
            ImageFeatures::Local => Defaults { registers: 320, bits: 64, threshold: 0.01, recall: 0.95 },
            ImageFeatures::Thumbnail => Defaults { registers: 256, bits: 16, threshold: 0.5, recall: 0.95 },
        }
    }

    /// The sketch of these features by their defaults.
    pub fn sketch_spec(&self) -> SketchSpec {
        let defaults = self.defaults();
        SketchSpec {
            registers: defaults.registers,
            packing: Packing::bits(defaults.bits).expect("a kind's own width is allowed"),
            pipeline: self.pipeline().as_str().to_owned(),
            ..SketchSpec::default()
        }
    }

    /// The features of a picture.
    pub fn of(&self, picture: &Grey) -> Features {
        match self.features {
            ImageFeatures::Local => local::Local::new(picture).features(),
            ImageFeatures::Thumbnail => thumbnail::features(picture),
        }
    }

    /// The features of a file in base64.
    ///
    /// # Errors
    /// Text that is not base64; a picture that is too large or damaged.
    pub fn features(&self, text: &str) -> Result<Features> {
        Ok(self.of(&self.decoded(text)?))
    }

    /// The picture of a file in base64.
    ///
    /// # Errors
    /// As [`features`](Self::features).
    pub fn decoded(&self, text: &str) -> Result<Grey> {
        let limits = Limits { pixels: self.pixels, ..Limits::default() };
        decode(&bytes(text, &limits)?, &limits)
    }
}

/// The bytes of a file as the content of an image field: base64.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a file from base64, with or without a `data:` head.
///
/// # Errors
/// Text that is too long, or not base64.
pub fn bytes(text: &str, limits: &Limits) -> Result<Vec<u8>> {
    let body = match text.strip_prefix("data:") {
        Some(rest) => rest.split_once(";base64,").map_or("", |(_, body)| body),
        None => text,
    };
    if body.len() as u64 / 4 * 3 > limits.bytes {
        let max = limits.bytes;
        return Err(Error::Image(format!("the picture has more than {max} bytes; make it smaller")));
    }
    STANDARD.decode(body.trim_ascii()).map_err(|error| {
        Error::Image(format!(
            "not a picture in base64 ({error}); give the bytes of a {FORMATS} file in base64"
        ))
    })
}

//! Local features: what survives a crop, a turn, another size and another compression.
//!
//! ```text
//! picture --to size--> scale space --> keypoints --> descriptors --> words (elements)
//!                                                  \--> geometric check of two pictures
//! ```
//!
//! The keypoints and descriptors are Lowe's SIFT, written from his paper in plain arithmetic of a fixed order, so that a picture has the same words on any machine. A
//! picture is first brought to about the same area, so that its size does not matter and its cost is bounded.
//!
//! A word says little; many words in common are a reason to look ([`Local::features`], Jaccard similarity from 0.01 on). The decision is [`verify`]: keypoints that look alike must lie upon each other under one
//! move, turn and scale, and at least [`MIN_INLIERS`] must. Mirrored pictures are found as well.

mod describe;
mod detect;
mod geometry;
mod gradient;
mod matching;
mod pyramid;
mod words;

pub use describe::{Descriptor, LENGTH};
pub use detect::Keypoint;
pub use geometry::{Agreement, Transform, verify};
pub(super) use words::VERSION;

use super::Grey;
use crate::Features;

/// Side of a square with as many pixels as a picture that was brought to size.
const SIDE: f32 = 320.0;
/// At most so many keypoints of a picture; those of highest contrast are taken.
pub const MAX_POINTS: usize = 400;
/// So many keypoints must lie upon each other before two pictures count as one. Of 4,950 pairs of different photos none had more than three.
pub const MIN_INLIERS: usize = 8;
/// A side is never brought below this, however long the other is.
const MIN_SIDE: usize = 8;

/// Width and height of a brought-to-size picture, in whose pixels its keypoints lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Keypoints of a picture and what is around each.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    size: Size,
    points: Vec<Keypoint>,
    descriptors: Vec<Descriptor>,
}

impl Local {
    /// The local features of a picture.
    pub fn new(picture: &Grey) -> Self {
        let factor = SIDE / libm::sqrtf((picture.width() * picture.height()) as f32);
        let to_size = |side: usize| {
            (libm::roundf(side as f32 * factor) as usize)
                .clamp(MIN_SIDE, SIDE as usize * SIDE as usize / MIN_SIDE)
        };
        let small = picture.resized(to_size(picture.width()), to_size(picture.height()));
        let octaves = pyramid::octaves(&small);
        let spots = detect::spots(&octaves, MAX_POINTS);
        let describe =
            |spot: &detect::Spot| describe::describe(&octaves[spot.octave].levels[spot.level], spot);
        Self {
            size: Size { width: small.width() as u32, height: small.height() as u32 },
            descriptors: spots.iter().map(describe).collect(),
            points: spots.iter().map(detect::Spot::keypoint).collect(),
        }
    }

    /// Local features from their parts, as they were kept; nothing if there are not as many descriptors as points.
    pub fn from_parts(size: Size, points: Vec<Keypoint>, descriptors: Vec<Descriptor>) -> Option<Self> {
        (points.len() == descriptors.len()).then_some(Self { size, points, descriptors })
    }

    /// The size of the picture that the keypoints lie in.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The keypoints, those of highest contrast first.
    pub fn points(&self) -> &[Keypoint] {
        &self.points
    }

    /// What is around each keypoint.
    pub fn descriptors(&self) -> &[Descriptor] {
        &self.descriptors
    }

    /// The visual words.
    pub fn features(&self) -> Features {
        Features::set(self.descriptors.iter().flat_map(words::elements))
    }

    /// The local features of the picture mirrored left to right.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let last = self.size.width as f32 - 1.0;
        let half = gradient::TURN / 2.0;
        let turned = |angle: f32| if angle <= half { half - angle } else { 3.0 * half - angle };
        let point = |point: &Keypoint| Keypoint { x: last - point.x, angle: turned(point.angle), ..*point };
        Self {
            size: self.size,
            points: self.points.iter().map(point).collect(),
            descriptors: self.descriptors.iter().map(describe::mirrored).collect(),
        }
    }
}

//! Thumbnails: a picture as 16 x 16 grey cells, and as elements the clear contrasts between them.
//!
//! A contrast is the difference of two cells, in standard deviations of the picture, so brightness and contrast of the whole do not matter. It becomes an
//! element if it is clearly not zero: which two cells, and which of them is brighter. Compression and noise turn over only what was unclear, and that is no element. Every cell is compared
//! with cells to its right and below at several distances, fine and coarse.
//!
//! Cheap and for pictures that were saved again, resized or tinted. A crop, a turn or a flip is another thumbnail: those are for [`local`](super::local) features.

use super::Grey;
use crate::{Features, hash};

/// Cells of a side.
pub const SIDE: usize = 16;
/// Which cells are compared: so many to the right, so many below.
const OFFSETS: [(usize, usize); 8] = [(1, 0), (0, 1), (2, 0), (0, 2), (4, 0), (0, 4), (8, 0), (0, 8)];
/// The least difference that is clear, in standard deviations.
const CLEAR: f32 = 0.25;
/// A picture whose cells differ less, in grey values, is flat: it has no contrasts at all.
const FLAT: f32 = 1.0;

/// Version of the elements, part of the pipeline id.
pub(in crate::field::image) const VERSION: &str = "contrasts16";

/// The cells of a picture, row by row: its mean grey values.
pub fn cells(picture: &Grey) -> [f32; SIDE * SIDE] {
    let small = picture.resized(SIDE, SIDE);
    small.pixels().try_into().expect("so many cells")
}

/// The clear contrasts of a picture; none if it is flat.
pub fn features(picture: &Grey) -> Features {
    let cells = cells(picture);
    let mean = cells.iter().sum::<f32>() / cells.len() as f32;
    let deviation =
        (cells.iter().map(|cell| (cell - mean) * (cell - mean)).sum::<f32>() / cells.len() as f32).sqrt();
    if deviation < FLAT {
        return Features::default();
    }
    let mut elements = Vec::with_capacity(1024);
    for y in 0..SIDE {
        for x in 0..SIDE {
            for (number, (right, below)) in OFFSETS.into_iter().enumerate() {
                if x + right >= SIDE || y + below >= SIDE {
                    continue;
                }
                let contrast = (cells[(y + below) * SIDE + x + right] - cells[y * SIDE + x]) / deviation;
                if contrast.abs() >= CLEAR {
                    let name = [x as u8, y as u8, number as u8, u8::from(contrast > 0.0)];
                    elements.push(hash::element(&name));
                }
            }
        }
    }
    Features::from_vec(elements)
}

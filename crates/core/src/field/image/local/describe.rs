//! Descriptors: the gradients around a keypoint, in its own scale and direction.
//!
//! Lowe 2004, section 6: a square of 4 x 4 cells, eight directions each, shared between neighbouring cells and directions, normalized, no value above 0.2. The
//! square is sampled four times a cell each way, which is finer than the blur of its level.

use super::super::Grey;
use super::detect::Spot;
use super::gradient::{TURN, gradient};

/// Cells of a side.
pub(super) const CELLS: usize = 4;
/// Directions of a cell.
pub(super) const DIRECTIONS: usize = 8;
/// Values of a descriptor.
pub const LENGTH: usize = CELLS * CELLS * DIRECTIONS;
/// Width of a cell, in blurs.
const CELL_WIDTH: f32 = 3.0;
/// Samples along a cell; the square has half a cell around it, from where gradients still count for its outer cells.
const SAMPLES: usize = 4;
/// No value of a normalized descriptor is larger, so that one strong edge does not decide.
const CEILING: f32 = 0.2;
/// Descriptors are kept in bytes: 512 times the normalized value.
const UNIT: f32 = 512.0;

/// The gradients around a keypoint: cell by cell from the top left, direction by direction.
pub type Descriptor = [u8; LENGTH];

/// Describes the surroundings of a spot.
pub(super) fn describe(level: &Grey, spot: &Spot) -> Descriptor {
    let cell = CELL_WIDTH * spot.blur;
    let (sin, cos) = (libm::sinf(spot.angle), libm::cosf(spot.angle));
    let side = (CELLS + 1) * SAMPLES;
    let middle = (CELLS as f32) / 2.0;
    let mut values = [0.0f32; LENGTH];
    for row in 0..side {
        let v = (row as f32 + 0.5) / SAMPLES as f32 - middle - 0.5;
        for column in 0..side {
            let u = (column as f32 + 0.5) / SAMPLES as f32 - middle - 0.5;
            let (px, py) = (spot.x + cell * (cos * u - sin * v), spot.y + cell * (sin * u + cos * v));
            let (x, y) = (px.round() as isize, py.round() as isize);
            let Some((magnitude, angle)) = gradient(level, x, y) else { continue };
            // The place of the pixel itself, which may be half a pixel beside that of the sample.
            let (dx, dy) = ((x as f32 - spot.x) / cell, (y as f32 - spot.y) / cell);
            let (u, v) = (cos * dx + sin * dy, cos * dy - sin * dx);
            let turned = (angle - spot.angle) / TURN;
            let position = BinPosition {
                row: v + middle - 0.5,
                column: u + middle - 0.5,
                direction: (turned - turned.floor()) * DIRECTIONS as f32,
            };
            position.spread(magnitude * falloff(u * u + v * v), &mut values);
        }
    }
    bytes(&mut values)
}

/// Weight by the squared distance from the middle, in cells: a Gaussian of half the side, as a rational function near it.
#[inline]
fn falloff(squared: f32) -> f32 {
    let t = squared / 16.0;
    let root = 1.0 / (1.0 + t * (1.0 + t * 0.5));
    root * root
}

/// Where a gradient falls among cells and directions.
struct BinPosition {
    row: f32,
    column: f32,
    direction: f32,
}

impl BinPosition {
    #[inline]
    fn spread(&self, weight: f32, values: &mut [f32; LENGTH]) {
        let (row, column) = (self.row.floor(), self.column.floor());
        let (row_share, column_share) = (self.row - row, self.column - column);
        let bin = self.direction.floor();
        let share = self.direction - bin;
        let (first, second) = (bin as usize % DIRECTIONS, (bin as usize + 1) % DIRECTIONS);
        for (dr, row_weight) in [(0, 1.0 - row_share), (1, row_share)] {
            let r = row as isize + dr;
            if !(0..CELLS as isize).contains(&r) {
                continue;
            }
            for (dc, column_weight) in [(0, 1.0 - column_share), (1, column_share)] {
                let c = column as isize + dc;
                if !(0..CELLS as isize).contains(&c) {
                    continue;
                }
                let weight = weight * row_weight * column_weight;
                let cell = (r as usize * CELLS + c as usize) * DIRECTIONS;
                values[cell + first] += weight * (1.0 - share);
                values[cell + second] += weight * share;
            }
        }
    }
}

fn bytes(values: &mut [f32; LENGTH]) -> Descriptor {
    normalize(values);
    values.iter_mut().for_each(|value| *value = value.min(CEILING));
    normalize(values);
    values.map(|value| (value * UNIT).min(255.0) as u8)
}

fn normalize(values: &mut [f32; LENGTH]) {
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
}

/// The descriptor of the same place in the mirrored picture: rows of cells and directions the other way round.
pub(super) fn mirrored(descriptor: &Descriptor) -> Descriptor {
    let mut other = [0; LENGTH];
    for row in 0..CELLS {
        for column in 0..CELLS {
            let from = (row * CELLS + column) * DIRECTIONS;
            let to = ((CELLS - 1 - row) * CELLS + column) * DIRECTIONS;
            for direction in 0..DIRECTIONS {
                other[to + (DIRECTIONS - direction) % DIRECTIONS] = descriptor[from + direction];
            }
        }
    }
    other
}

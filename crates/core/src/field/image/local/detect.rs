//! Keypoints: extrema of the differences in place and scale, and the direction of the gradients around each.
//!
//! Lowe 2004, sections 3.1 (extrema), 4 (place to a fraction of a pixel, no weak points), 4.1 (none along edges) and 5 (orientation).

use super::super::Grey;
use super::gradient::{TURN, gradient};
use super::pyramid::{FIRST_BLUR, Octave, STEPS};

/// Contrast of a point, of 255, at least.
const MIN_CONTRAST: f32 = 255.0 * 0.04 / STEPS as f32 * 0.5;
/// Ratio of the two curvatures, at most: more is an edge.
const MAX_EDGE: f32 = 10.0;
/// Pixels at the border of a picture that hold no points.
const BORDER: usize = 4;
/// Bins of the histogram of directions.
const BINS: usize = 36;
/// A direction whose peak is that near to the highest gives a point of its own.
const PEAK: f32 = 0.8;

/// A place, a scale and a direction at which the picture can be described.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keypoint {
    /// Column, in pixels of the picture.
    pub x: f32,
    /// Row.
    pub y: f32,
    /// Blur at which the point is found: its size.
    pub scale: f32,
    /// Direction in radians, from 0 to below two pi.
    pub angle: f32,
}

/// A keypoint in its octave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub octave: usize,
    pub level: usize,
    /// Place in pixels of the octave.
    pub x: f32,
    pub y: f32,
    /// Blur in pixels of the octave.
    pub blur: f32,
    pub angle: f32,
    contrast: f32,
}

impl Spot {
    /// The keypoint in pixels of the picture.
    pub fn keypoint(&self) -> Keypoint {
        let factor = (1u32 << self.octave) as f32;
        Keypoint { x: self.x * factor, y: self.y * factor, scale: self.blur * factor, angle: self.angle }
    }
}

/// The `max` spots of highest contrast, with their directions.
pub(super) fn spots(octaves: &[Octave], max: usize) -> Vec<Spot> {
    let mut found = Vec::new();
    for (number, octave) in octaves.iter().enumerate() {
        for level in 1..=STEPS {
            extrema(octave, number, level, &mut found);
        }
    }
    // A stable order, whatever is cut off.
    found.sort_by(|a, b| b.contrast.total_cmp(&a.contrast));
    found.truncate(max);
    let directed = |spot: Spot| {
        let level = &octaves[spot.octave].levels[spot.level];
        directions(level, &spot).into_iter().map(move |angle| Spot { angle, ..spot })
    };
    let mut spots: Vec<Spot> = found.into_iter().flat_map(directed).collect();
    spots.truncate(max);
    spots
}

fn extrema(octave: &Octave, number: usize, level: usize, found: &mut Vec<Spot>) {
    let [below, here, above] =
        [&octave.differences[level - 1], &octave.differences[level], &octave.differences[level + 1]];
    let (width, height) = (here.width(), here.height());
    for y in BORDER..height.saturating_sub(BORDER) {
        let inner = here.row(y).iter().enumerate().take(width.saturating_sub(BORDER)).skip(BORDER);
        for (x, &value) in inner {
            if value.abs() < 0.8 * MIN_CONTRAST || !is_extreme([below, here, above], x, y, value) {
                continue;
            }
            found.extend(refined(octave, number, level, x, y));
        }
    }
}

fn is_extreme(three: [&Grey; 3], x: usize, y: usize, value: f32) -> bool {
    let [below, here, above] = three;
    let rows = |grey: &Grey, test: &dyn Fn(f32) -> bool| {
        (y - 1..=y + 1).all(|y| grey.row(y)[x - 1..=x + 1].iter().all(|&other| test(other)))
    };
    if value > 0.0 {
        let test = |other: f32| value >= other;
        rows(here, &test) && rows(below, &test) && rows(above, &test)
    } else {
        let test = |other: f32| value <= other;
        rows(here, &test) && rows(below, &test) && rows(above, &test)
    }
}

/// The extremum of the parabola through the neighbours; nothing if it is weak, on an edge, or runs away.
fn refined(octave: &Octave, number: usize, level: usize, x: usize, y: usize) -> Option<Spot> {
    let (mut x, mut y, mut level) = (x, y, level);
    for _ in 0..5 {
        let cube = Cube { differences: &octave.differences, level, x, y };
        let (gradient, hessian) = (cube.gradient(), cube.hessian());
        let offset = solve(hessian, gradient.map(|g| -g))?;
        if offset.iter().all(|o| o.abs() <= 0.5) {
            let contrast = cube.value(0, 0, 0)
                + 0.5 * (gradient[0] * offset[0] + gradient[1] * offset[1] + gradient[2] * offset[2]);
            let [[xx, xy, _], [_, yy, _], _] = hessian;
            let (trace, determinant) = (xx + yy, xx * yy - xy * xy);
            let limit = (MAX_EDGE + 1.0) * (MAX_EDGE + 1.0) / MAX_EDGE;
            if contrast.abs() < MIN_CONTRAST || determinant <= 0.0 || trace * trace >= limit * determinant {
                return None;
            }
            let step = level as f32 + offset[2];
            return Some(Spot {
                octave: number,
                level,
                x: x as f32 + offset[0],
                y: y as f32 + offset[1],
                blur: FIRST_BLUR * libm::exp2f(step / STEPS as f32),
                angle: 0.0,
                contrast: contrast.abs(),
            });
        }
        let moved = |at: usize, by: f32, low: usize, high: usize| {
            let to = at as f32 + by.clamp(-2.0, 2.0).round();
            (to >= low as f32 && to < high as f32).then_some(to as usize)
        };
        let (width, height) = (octave.levels[0].width(), octave.levels[0].height());
        x = moved(x, offset[0], BORDER, width - BORDER)?;
        y = moved(y, offset[1], BORDER, height - BORDER)?;
        level = moved(level, offset[2], 1, STEPS + 1)?;
    }
    None
}

/// The neighbours of a place in three levels.
struct Cube<'a> {
    differences: &'a [Grey],
    level: usize,
    x: usize,
    y: usize,
}

impl Cube<'_> {
    fn value(&self, dx: isize, dy: isize, dlevel: isize) -> f32 {
        let moved = |at: usize, by: isize| at.wrapping_add_signed(by);
        self.differences[moved(self.level, dlevel)].at(moved(self.x, dx), moved(self.y, dy))
    }

    fn gradient(&self) -> [f32; 3] {
        [
            0.5 * (self.value(1, 0, 0) - self.value(-1, 0, 0)),
            0.5 * (self.value(0, 1, 0) - self.value(0, -1, 0)),
            0.5 * (self.value(0, 0, 1) - self.value(0, 0, -1)),
        ]
    }

    fn hessian(&self) -> [[f32; 3]; 3] {
        let centre = 2.0 * self.value(0, 0, 0);
        let xx = self.value(1, 0, 0) + self.value(-1, 0, 0) - centre;
        let yy = self.value(0, 1, 0) + self.value(0, -1, 0) - centre;
        let ss = self.value(0, 0, 1) + self.value(0, 0, -1) - centre;
        let mixed = |a: [isize; 3], b: [isize; 3]| {
            let at = |i: isize, j: isize| {
                self.value(i * a[0] + j * b[0], i * a[1] + j * b[1], i * a[2] + j * b[2])
            };
            0.25 * (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1))
        };
        let (x, y, s) = ([1, 0, 0], [0, 1, 0], [0, 0, 1]);
        let (xy, xs, ys) = (mixed(x, y), mixed(x, s), mixed(y, s));
        [[xx, xy, xs], [xy, yy, ys], [xs, ys, ss]]
    }
}

/// Solves three equations by Cramer's rule.
fn solve(a: [[f32; 3]; 3], b: [f32; 3]) -> Option<[f32; 3]> {
    let determinant = |m: [[f32; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant(a);
    if whole.abs() < 1e-9 {
        return None;
    }
    let column = |i: usize| {
        let mut replaced = a;
        (0..3).for_each(|row| replaced[row][i] = b[row]);
        determinant(replaced) / whole
    };
    Some([column(0), column(1), column(2)])
}

/// Peaks of the histogram of gradient directions around a spot.
fn directions(level: &Grey, spot: &Spot) -> Vec<f32> {
    let sigma = 1.5 * spot.blur;
    let radius = (3.0 * sigma) as isize;
    let (cx, cy) = (spot.x.round() as isize, spot.y.round() as isize);
    let falloff: Vec<f32> =
        (0..=radius).map(|i| libm::expf(-((i * i) as f32) / (2.0 * sigma * sigma))).collect();
    let mut histogram = [0.0f32; BINS];
    for dy in -radius..=radius {
        for dx in -radius..=radius {
            if let Some((magnitude, angle)) = gradient(level, cx + dx, cy + dy) {
                let weight = falloff[dx.unsigned_abs()] * falloff[dy.unsigned_abs()];
                let bin = (angle * (BINS as f32 / TURN) + 0.5) as usize % BINS;
                histogram[bin] += weight * magnitude;
            }
        }
    }
    for _ in 0..2 {
        let old = histogram;
        for bin in 0..BINS {
            let (before, after) = (old[(bin + BINS - 1) % BINS], old[(bin + 1) % BINS]);
            histogram[bin] = 0.25 * before + 0.5 * old[bin] + 0.25 * after;
        }
    }
    peaks(&histogram)
}

fn peaks(histogram: &[f32; BINS]) -> Vec<f32> {
    let highest = histogram.iter().copied().fold(0.0, f32::max);
    let peak = |bin: usize| {
        let (before, here, after) =
            (histogram[(bin + BINS - 1) % BINS], histogram[bin], histogram[(bin + 1) % BINS]);
        if here <= before || here < after || here < PEAK * highest {
            return None;
        }
        let shift = 0.5 * (before - after) / (before - 2.0 * here + after);
        let turn = (bin as f32 + shift) / BINS as f32;
        Some(TURN * (turn - turn.floor()))
    };
    (0..BINS).filter_map(peak).collect()
}

#[cfg(test)]
mod tests {
    use super::super::pyramid;
    use super::*;

    #[test]
    fn a_blob_is_found_where_it_is_and_as_large_as_it_is() {
        for size in [3.0f32, 5.0, 9.0] {
            let blob = Grey::from_fn(120, 100, |x, y| {
                let (dx, dy) = (x as f32 - 61.0, y as f32 - 47.0);
                40.0 + 180.0 * libm::expf(-(dx * dx + dy * dy) / (2.0 * size * size))
            });
            let spots = spots(&pyramid::octaves(&blob), 100);
            let best = spots[0].keypoint();
            assert!((best.x - 61.0).abs() < 0.7 && (best.y - 47.0).abs() < 0.7, "{best:?}");
            assert!((best.scale / size - 1.0).abs() < 0.25, "{size}: {best:?}");
        }
    }

    #[test]
    fn flat_pictures_and_straight_edges_have_no_points() {
        for picture in [
            Grey::from_fn(90, 90, |_, _| 70.0),
            Grey::from_fn(90, 90, |x, _| if x < 45 { 20.0 } else { 220.0 }),
        ] {
            assert!(spots(&pyramid::octaves(&picture), 100).is_empty());
        }
    }
}

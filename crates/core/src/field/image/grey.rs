//! Grey pictures, and how they are brought to another size.
//!
//! All arithmetic is plain additions and multiplications in a fixed order, so that a picture has the same bits on any machine.

/// A grey picture: rows from the top, 0 is black and 255 is white.
#[derive(Debug, Clone, PartialEq)]
pub struct Grey {
    width: usize,
    height: usize,
    pixels: Vec<f32>,
}

impl Grey {
    /// A picture of so many columns; `pixels` are its rows, one after the other.
    ///
    /// # Panics
    /// If the pixels are not `width` times `height`, or there is none.
    pub fn new(width: usize, height: usize, pixels: Vec<f32>) -> Self {
        assert!(width > 0 && height > 0 && pixels.len() == width * height, "rows of the same length");
        Self { width, height, pixels }
    }

    /// A picture from a function of column and row.
    pub fn from_fn(width: usize, height: usize, of: impl Fn(usize, usize) -> f32) -> Self {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| of(x, y));
        Self::new(width, height, pixels.collect())
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[f32] {
        &self.pixels
    }

    /// One row.
    #[inline]
    pub fn row(&self, y: usize) -> &[f32] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    /// One pixel.
    #[inline]
    pub fn at(&self, x: usize, y: usize) -> f32 {
        self.pixels[y * self.width + x]
    }

    /// The picture in another size: every new pixel is the mean of the area that it covers, or between its neighbours where it covers less than one.
    #[must_use]
    pub fn resized(&self, width: usize, height: usize) -> Self {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let columns = Taps::new(self.width, width);
        let mut narrow = vec![0.0; width * self.height];
        for (row, out) in self.pixels.chunks_exact(self.width).zip(narrow.chunks_exact_mut(width)) {
            for (x, pixel) in out.iter_mut().enumerate() {
                let (first, weights) = columns.of(x);
                *pixel = weights.iter().zip(&row[first..]).map(|(weight, value)| weight * value).sum();
            }
        }
        let rows = Taps::new(self.height, height);
        let mut pixels = vec![0.0; width * height];
        for (y, out) in pixels.chunks_exact_mut(width).enumerate() {
            let (first, weights) = rows.of(y);
            for (weight, row) in weights.iter().zip(narrow[first * width..].chunks_exact(width)) {
                out.iter_mut().zip(row).for_each(|(pixel, value)| *pixel += weight * value);
            }
        }
        Self::new(width, height, pixels)
    }
}

/// Which old pixels, with which weights, make each new one along a side.
struct Taps {
    starts: Vec<(usize, usize)>,
    weights: Vec<f32>,
}

impl Taps {
    fn new(old: usize, new: usize) -> Self {
        let mut taps = Self { starts: Vec::with_capacity(new + 1), weights: Vec::new() };
        let scale = old as f64 / new as f64;
        for i in 0..new {
            let first = if scale > 1.0 {
                taps.covered(i as f64 * scale, (i + 1) as f64 * scale, old)
            } else {
                taps.between((i as f64 + 0.5) * scale - 0.5, old)
            };
            taps.starts.push((first, 0));
            taps.starts[i].1 = taps.weights.len();
        }
        taps
    }

    /// Weights by the covered share of each pixel.
    fn covered(&mut self, from: f64, to: f64, old: usize) -> usize {
        let first = (from as usize).min(old - 1);
        for pixel in first..old {
            let share = (to.min((pixel + 1) as f64) - from.max(pixel as f64)) / (to - from);
            if share <= 0.0 && pixel > first {
                break;
            }
            self.weights.push(share as f32);
        }
        first
    }

    /// Weights by the distance from two neighbours.
    fn between(&mut self, at: f64, old: usize) -> usize {
        let at = at.clamp(0.0, (old - 1) as f64);
        let first = (at as usize).min(old.saturating_sub(2));
        let share = at - first as f64;
        self.weights.push((1.0 - share) as f32);
        if old > 1 {
            self.weights.push(share as f32);
        }
        first
    }

    fn of(&self, i: usize) -> (usize, &[f32]) {
        let start = i.checked_sub(1).map_or(0, |before| self.starts[before].1);
        let (first, end) = self.starts[i];
        (first, &self.weights[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_takes_the_mean_of_what_is_covered() {
        let picture = Grey::from_fn(6, 4, |x, y| (x * 10 + y) as f32);
        let small = picture.resized(3, 2);
        assert_eq!(small.at(0, 0), (0.0 + 10.0 + 1.0 + 11.0) / 4.0);
        let mean = |grey: &Grey| grey.pixels().iter().sum::<f32>() / grey.pixels().len() as f32;
        assert!((mean(&picture.resized(4, 3)) - mean(&picture)).abs() < 1e-3);
    }

    #[test]
    fn a_ramp_stays_a_ramp_when_it_grows() {
        let ramp = Grey::from_fn(5, 1, |x, _| x as f32);
        let large = ramp.resized(15, 1);
        assert!((large.at(7, 0) - 2.0).abs() < 1e-5 && (large.at(4, 0) - 1.0).abs() < 1e-5);
        assert_eq!(Grey::new(1, 1, vec![9.0]).resized(3, 2).pixels(), [9.0; 6]);
    }

    #[test]
    fn any_size_can_become_any_other() {
        for old in 1..9 {
            for new in 1..20 {
                let flat = Grey::from_fn(old, old, |_, _| 100.0).resized(new, new);
                assert!(flat.pixels().iter().all(|pixel| (pixel - 100.0).abs() < 1e-3), "{old} to {new}");
            }
        }
    }
}

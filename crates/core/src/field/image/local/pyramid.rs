//! The scale space: a picture under Gaussian blurs of growing width, and the differences of neighbouring ones.
//!
//! Lowe, Distinctive Image Features from Scale-Invariant Keypoints (2004), sections 3 and 3.3: each octave doubles the blur in three steps, then
//! every second pixel starts the next one.

use super::super::Grey;

/// Steps in which the blur doubles.
pub(super) const STEPS: usize = 3;
/// Blur of the first level of each octave, in its pixels.
pub(super) const FIRST_BLUR: f32 = 1.6;
/// Blur that a picture is taken to have already.
const BLUR_OF_INPUT: f32 = 0.5;
/// A smaller octave has no room for a descriptor.
const MIN_SIDE: usize = 16;

/// One octave.
#[derive(Debug)]
pub(super) struct Octave {
    /// The picture under each blur.
    pub levels: Vec<Grey>,
    /// Each level less the one before.
    pub differences: Vec<Grey>,
}

/// All octaves of a picture.
pub(super) fn octaves(picture: &Grey) -> Vec<Octave> {
    let more = |wanted: f32, has: f32| libm::sqrtf((wanted * wanted - has * has).max(0.01));
    let mut first = blurred(picture, more(FIRST_BLUR, BLUR_OF_INPUT));
    let mut octaves = Vec::new();
    while first.width().min(first.height()) >= MIN_SIDE {
        let mut levels = vec![first];
        for step in 1..STEPS + 3 {
            let level = blurred(&levels[step - 1], more(blur(step), blur(step - 1)));
            levels.push(level);
        }
        first = halved(&levels[STEPS]);
        let differences = levels.windows(2).map(|pair| difference(&pair[1], &pair[0])).collect();
        octaves.push(Octave { levels, differences });
    }
    octaves
}

/// The blur of a level.
fn blur(step: usize) -> f32 {
    FIRST_BLUR * libm::exp2f(step as f32 / STEPS as f32)
}

fn halved(picture: &Grey) -> Grey {
    let (width, height) = (picture.width() / 2, picture.height() / 2);
    if width == 0 || height == 0 {
        return Grey::new(1, 1, vec![0.0]);
    }
    Grey::from_fn(width, height, |x, y| picture.at(2 * x, 2 * y))
}

fn difference(a: &Grey, b: &Grey) -> Grey {
    let pixels = a.pixels().iter().zip(b.pixels()).map(|(a, b)| a - b);
    Grey::new(a.width(), a.height(), pixels.collect())
}

/// The picture under a Gaussian blur; beyond its edges it goes on as its last pixels.
fn blurred(picture: &Grey, sigma: f32) -> Grey {
    let kernel = kernel(sigma);
    let (radius, width, height) = (kernel.len() - 1, picture.width(), picture.height());
    let mut across = vec![0.0f32; width * height];
    let mut padded = vec![0.0f32; width + 2 * radius];
    for (y, out) in across.chunks_exact_mut(width).enumerate() {
        let row = picture.row(y);
        padded[..radius].fill(row[0]);
        padded[radius..radius + width].copy_from_slice(row);
        padded[radius + width..].fill(row[width - 1]);
        weigh(out, &padded[radius..], kernel[0]);
        for (distance, &weight) in kernel.iter().enumerate().skip(1) {
            add(out, &padded[radius - distance..], &padded[radius + distance..], weight);
        }
    }
    let mut pixels = vec![0.0f32; width * height];
    for (y, out) in pixels.chunks_exact_mut(width).enumerate() {
        let row = |y: usize| &across[y * width..(y + 1) * width];
        weigh(out, row(y), kernel[0]);
        for (distance, &weight) in kernel.iter().enumerate().skip(1) {
            add(out, row(y.saturating_sub(distance)), row((y + distance).min(height - 1)), weight);
        }
    }
    Grey::new(width, height, pixels)
}

#[inline]
fn weigh(out: &mut [f32], row: &[f32], weight: f32) {
    out.iter_mut().zip(row).for_each(|(out, value)| *out = weight * value);
}

#[inline]
fn add(out: &mut [f32], before: &[f32], after: &[f32], weight: f32) {
    for ((out, a), b) in out.iter_mut().zip(before).zip(after) {
        *out += weight * (a + b);
    }
}

/// One half of a Gaussian, from its centre on; the whole sums to one.
fn kernel(sigma: f32) -> Vec<f32> {
    let radius = (3.0 * sigma + 0.5) as usize + 1;
    let mut kernel: Vec<f32> =
        (0..=radius).map(|i| libm::expf(-((i * i) as f32) / (2.0 * sigma * sigma))).collect();
    let sum: f32 = kernel[0] + 2.0 * kernel[1..].iter().sum::<f32>();
    kernel.iter_mut().for_each(|weight| *weight /= sum);
    kernel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blur_keeps_a_flat_picture_and_spreads_a_point() {
        let flat = blurred(&Grey::from_fn(40, 30, |_, _| 80.0), 2.0);
        assert!(flat.pixels().iter().all(|pixel| (pixel - 80.0).abs() < 1e-3));
        let point = blurred(&Grey::from_fn(41, 41, |x, y| f32::from(x == 20 && y == 20)), 2.0);
        let variance: f32 = (0..41)
            .map(|x| (0..41).map(|y| point.at(x, y)).sum::<f32>() * (x as f32 - 20.0) * (x as f32 - 20.0))
            .sum();
        assert!((variance - 4.0).abs() < 0.1, "{variance}");
    }

    #[test]
    fn every_octave_has_half_the_side_and_the_same_levels() {
        let octaves = octaves(&Grey::from_fn(200, 100, |x, y| ((x * y) % 251) as f32));
        let sides: Vec<_> = octaves.iter().map(|o| (o.levels[0].width(), o.levels[0].height())).collect();
        assert_eq!(sides, [(200, 100), (100, 50), (50, 25)]);
        assert!(octaves.iter().all(|o| o.levels.len() == STEPS + 3 && o.differences.len() == STEPS + 2));
    }
}

//! Gradients of a picture, in plain arithmetic.

use super::super::Grey;

/// Two pi.
pub(super) const TURN: f32 = std::f32::consts::TAU;

/// Size and direction of the gradient at a pixel; nothing at the border.
#[inline]
pub(super) fn gradient(level: &Grey, x: isize, y: isize) -> Option<(f32, f32)> {
    let (width, height) = (level.width() as isize, level.height() as isize);
    if x < 1 || y < 1 || x >= width - 1 || y >= height - 1 {
        return None;
    }
    let (x, y) = (x as usize, y as usize);
    let dx = level.at(x + 1, y) - level.at(x - 1, y);
    let dy = level.at(x, y + 1) - level.at(x, y - 1);
    Some(((dx * dx + dy * dy).sqrt(), direction(dx, dy)))
}

/// The angle of a vector, from 0 to two pi, to 1e-5: a polynomial of our own, because the standard library's has other bits on other machines.
#[inline]
fn direction(dx: f32, dy: f32) -> f32 {
    let (ax, ay) = (dx.abs(), dy.abs());
    let (small, large) = if ax < ay { (ax, ay) } else { (ay, ax) };
    if large == 0.0 {
        return 0.0;
    }
    let z = small / large;
    let z2 = z * z;
    let odd = 0.999_866 + z2 * (-0.330_299_5 + z2 * (0.180_141 + z2 * (-0.085_133 + z2 * 0.020_835_1)));
    let eighth = z * odd;
    let quarter = if ax < ay { TURN / 4.0 - eighth } else { eighth };
    let half = if dx < 0.0 { TURN / 2.0 - quarter } else { quarter };
    if dy < 0.0 { TURN - half } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_of_a_vector_is_right_to_a_hundred_thousandth() {
        for i in 0..3600 {
            let angle = i as f32 / 3600.0 * TURN;
            let (dx, dy) = (libm::cosf(angle), libm::sinf(angle));
            let error = (direction(dx, dy) - angle).abs();
            assert!(error.min(TURN - error) < 3e-5, "{angle}: {error}");
        }
    }
}

//! Intervals with the coverage they promise.
//!
//! The textbook interval `estimate +- z * standard error` collapses where the estimated variance vanishes: all
//! registers equal gives \[1, 1\]. A *score* interval keeps every `J` that a test at 5% would not reject, with the
//! variance taken at that `J`:
//!
//! ```text
//! { J : (estimate - J)^2 <= z^2 V(J) / k }
//! ```
//!
//! - [`score`]: `V` is a quadratic, so the ends are the roots of a quadratic (Wilson's interval when `V = J (1 - J)`).
//! - [`edge`]: bisection for anything else that is accepted near the estimate and rejected far from it.
//! - [`tilted`]: the estimate is a mean of known values over observed cells, and `V` follows the frequencies as they
//!   are tilted towards the hypothesis.

/// The 97.5% quantile of the normal distribution: two sides of 2.5%.
pub const Z95: f64 = 1.959_963_984_540_054;

/// A variance function `constant + linear x + square x^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quadratic {
    /// Coefficient of 1.
    pub constant: f64,
    /// Coefficient of x.
    pub linear: f64,
    /// Coefficient of x^2.
    pub square: f64,
}

impl Quadratic {
    /// `x (1 - x)`, the variance of one independent register.
    pub const BINOMIAL: Self = Self { constant: 0.0, linear: 1.0, square: -1.0 };

    /// The function multiplied by a number.
    pub fn scaled(self, factor: f64) -> Self {
        Self { constant: self.constant * factor, linear: self.linear * factor, square: self.square * factor }
    }

    /// The function at `x`, not below zero.
    pub fn at(&self, x: f64) -> f64 {
        (self.constant + x * (self.linear + x * self.square)).max(0.0)
    }
}

/// Both ends of the score interval around `raw`, a mean of `k` registers of the given variance.
///
/// ```
/// use benzer_core::estimate::interval::{Quadratic, score};
/// let [low, high] = score(1.0, 128.0, Quadratic::BINOMIAL);
/// assert!((low - 0.97087).abs() < 1e-5 && (high - 1.0).abs() < 1e-12);
/// ```
pub fn score(raw: f64, k: f64, variance: Quadratic) -> [f64; 2] {
    let h = Z95 * Z95 / k;
    let square = 1.0 - h * variance.square;
    let half = raw + 0.5 * h * variance.linear;
    let constant = raw * raw - h * variance.constant;
    let root = (half * half - square * constant).max(0.0).sqrt();
    // A variance that grows faster than the square of the distance bounds nothing from above.
    if square <= 0.0 { [0.0, f64::MAX] } else { [(half - root) / square, (half + root) / square] }
}

/// [`score`] for a variance function that itself moves with the hypothesis: each end is solved again with the
/// variance found there.
pub(crate) fn score_moving(raw: f64, k: f64, variance: impl Fn(f64) -> Quadratic) -> [f64; 2] {
    let [low, high] = score(raw, k, variance(raw));
    [score(raw, k, variance(low))[0], score(raw, k, variance(high))[1]]
}

/// The point between `inside` and `outside` up to which `accepts` holds; `outside` itself if it is accepted.
pub fn edge(inside: f64, outside: f64, accepts: impl Fn(f64) -> bool) -> f64 {
    if accepts(outside) {
        return outside;
    }
    let (mut inside, mut outside) = (inside, outside);
    for _ in 0..42 {
        let middle = 0.5 * (inside + outside);
        if accepts(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    0.5 * (inside + outside)
}

/// A kind of register: what it adds to the mean, and how often it was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Contribution of one such register.
    pub value: f64,
    /// Number of such registers.
    pub count: f64,
}

/// Score interval for the mean of `value` over the registers.
///
/// Hypotheses are the distributions `count * exp(t value)`, the observed one tilted until its mean is the hypothesis;
/// for two cells this is Wilson's interval exactly. Cells never seen share half a register, so that a hypothesis can
/// reach them. `factor` is the variance factor of [`super::factor`]: it applies to the choice of elements,
/// `m (1 - m)`, not to the accidental collisions on top.
pub fn tilted(cells: &[Cell], factor: impl Fn(f64) -> f64) -> [f64; 2] {
    let k: f64 = cells.iter().map(|c| c.count).sum();
    let raw = cells.iter().map(|c| c.count * c.value).sum::<f64>() / k;
    let unseen = cells.iter().filter(|c| c.count <= 0.0).count() as f64;
    let weights: Vec<f64> =
        cells.iter().map(|c| if c.count > 0.0 { c.count } else { 0.5 / unseen }).collect();
    let largest = cells.iter().map(|c| c.value).fold(f64::MIN, f64::max);
    let smallest = cells.iter().map(|c| c.value).fold(f64::MAX, f64::min);
    let span = largest - smallest;
    if span <= 0.0 {
        return [raw, raw];
    }
    // `position` in (-1, 1) covers every tilt, and the ends are the extreme cells alone.
    let mean_at = |position: f64| moments(cells, &weights, position / ((1.0 - position.abs()) * span)).0;
    let accepts = |position: f64| {
        if position.abs() >= 1.0 {
            return raw == if position > 0.0 { largest } else { smallest };
        }
        let (mean, variance) = moments(cells, &weights, position / ((1.0 - position.abs()) * span));
        let m = mean.clamp(0.0, 1.0);
        let alpha = factor(m);
        let variance = (variance + (alpha - 1.0) * m * (1.0 - m)).max(alpha.min(1.0) * variance);
        (raw - mean) * (raw - mean) <= Z95 * Z95 * variance / k
    };
    let end = |outside: f64, extreme: f64| {
        let position = edge(0.0, outside, accepts);
        if position.abs() >= 1.0 { extreme } else { mean_at(position) }
    };
    [end(-1.0, smallest), end(1.0, largest)]
}

/// Mean and variance of the values under weights tilted by `t`.
fn moments(cells: &[Cell], weights: &[f64], t: f64) -> (f64, f64) {
    let top = cells.iter().map(|c| t * c.value).fold(f64::MIN, f64::max);
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for (cell, weight) in cells.iter().zip(weights) {
        let w = weight * libm::exp(t * cell.value - top);
        total += w;
        first += w * cell.value;
        second += w * cell.value * cell.value;
    }
    let mean = first / total;
    (mean, (second / total - mean * mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_interval_is_wilsons() {
        let (x, n, z2) = (0.3, 50.0, Z95 * Z95);
        let centre = (x + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let half = Z95 / (1.0 + z2 / n) * (x * (1.0 - x) / n + z2 / (4.0 * n * n)).sqrt();
        let [low, high] = score(x, n, Quadratic::BINOMIAL);
        assert!((low - (centre - half)).abs() < 1e-14 && (high - (centre + half)).abs() < 1e-14);
    }

    #[test]
    fn both_ends_solve_the_score_equation() {
        let variance = Quadratic { constant: 0.3, linear: 0.2, square: -0.5 };
        for end in score(0.4, 77.0, variance) {
            assert!(((0.4 - end).powi(2) - Z95 * Z95 * variance.at(end) / 77.0).abs() < 1e-14);
        }
    }

    #[test]
    fn tilting_two_cells_gives_wilson_too() {
        for equal in [0.0, 1.0, 20.0, 63.0, 64.0] {
            let cells = [Cell { value: 1.0, count: equal }, Cell { value: 0.0, count: 64.0 - equal }];
            let expected = score(equal / 64.0, 64.0, Quadratic::BINOMIAL);
            let got = tilted(&cells, |_| 1.0);
            for (a, b) in expected.iter().zip(got) {
                assert!((a - b).abs() < 1e-9, "{equal}: {expected:?} {got:?}");
            }
        }
    }

    #[test]
    fn the_edge_is_found_from_either_side() {
        assert!((edge(0.5, 1.0, |x| x < 0.75) - 0.75).abs() < 1e-12);
        assert!((edge(0.5, 0.0, |x| x > 0.25) - 0.25).abs() < 1e-12);
        assert_eq!(edge(0.5, 1.0, |_| true), 1.0);
    }
}

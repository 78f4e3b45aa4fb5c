//! Between similarities and sizes, for sets of known size.
//!
//! ```text
//! a12 = R/(1+R) (f1+f2)      union = (f1+f2)/(1+R)      H = (1-R)/(1+R) (f1+f2)      C_i = a12 / f_i
//! a   = R/(1-R) (f1+f2+f3-a12-a13-a23)
//! feasible:  max(0, f1+f2-D) <= a12 <= min(f1, f2)
//!            max(0, a12+a13-f1, a12+a23-f2, a13+a23-f3) <= a <= min(a12, a13, a23)
//! ```
//!
//! Functions that end in `_at` convert raw numbers; the others carry an [`Estimate`] over, with its interval.

use super::{Estimate, input};
use crate::Result;

/// The intersection of two sets at similarity `jaccard`.
pub fn intersection_at(jaccard: f64, sizes: [f64; 2]) -> f64 {
    jaccard / (1.0 + jaccard) * (sizes[0] + sizes[1])
}

/// The union of two sets at similarity `jaccard`.
pub fn union_at(jaccard: f64, sizes: [f64; 2]) -> f64 {
    (sizes[0] + sizes[1]) / (1.0 + jaccard)
}

/// The symmetric difference of two sets at similarity `jaccard`, their Hamming distance.
pub fn difference_at(jaccard: f64, sizes: [f64; 2]) -> f64 {
    (1.0 - jaccard) / (1.0 + jaccard) * (sizes[0] + sizes[1])
}

/// The share of each set that lies in the other, at similarity `jaccard`.
pub fn containment_at(jaccard: f64, sizes: [f64; 2]) -> [f64; 2] {
    sizes.map(|f| intersection_at(jaccard, sizes) / f)
}

/// The similarity of two sets with `intersection` common elements.
pub fn jaccard_of_intersection(intersection: f64, sizes: [f64; 2]) -> f64 {
    intersection / (sizes[0] + sizes[1] - intersection)
}

/// The similarity of two sets with `difference` elements in exactly one of them.
pub fn jaccard_of_difference(difference: f64, sizes: [f64; 2]) -> f64 {
    let total = sizes[0] + sizes[1];
    (total - difference) / (total + difference)
}

/// The common elements of three sets at three-way similarity `jaccard`; `pairs` are the intersections 12, 13, 23.
///
/// It is infinite at similarity 1, where all three sizes are the answer.
pub fn three_way_intersection_at(jaccard: f64, sizes: [f64; 3], pairs: [f64; 3]) -> f64 {
    jaccard / (1.0 - jaccard) * (sizes.iter().sum::<f64>() - pairs.iter().sum::<f64>())
}

/// The sizes of each two of three sets: 12, 13, 23.
pub(crate) fn pairs([f1, f2, f3]: [f64; 3]) -> [[f64; 2]; 3] {
    [[f1, f2], [f1, f3], [f2, f3]]
}

/// The similarities that sets of these sizes, if they are known, can have: from 0 to `min / max`.
pub fn jaccard_range<const N: usize>(sizes: Option<[f64; N]>) -> Result<[f64; 2]> {
    let Some(sizes) = sizes else { return Ok([0.0, 1.0]) };
    input::sizes(&sizes)?;
    let (min, max) = sizes.iter().fold((f64::MAX, 0.0f64), |(l, m), &f| (l.min(f), m.max(f)));
    Ok([0.0, min / max])
}

/// The similarities that sets filling these shares of a universe can have: two large sets must overlap.
pub fn jaccard_range_dense(densities: [f64; 2]) -> Result<[f64; 2]> {
    input::densities(&densities)?;
    let [low, high] = pair_range(densities, 1.0);
    Ok([jaccard_of_intersection(low, densities), jaccard_of_intersection(high, densities)])
}

/// The intersections that two sets of these sizes can have in a universe of that many elements.
pub fn pair_range(sizes: [f64; 2], universe: f64) -> [f64; 2] {
    let max = sizes[0].min(sizes[1]);
    // Rounding must not lift the lower end above the upper one when a set fills the universe.
    [(sizes[0] + sizes[1] - universe).max(0.0).min(max), max]
}

/// The three-way intersections that are possible with pair intersections 12, 13, 23.
pub fn triple_range(sizes: [f64; 3], pairs: [f64; 3]) -> [f64; 2] {
    let ([f1, f2, f3], [a12, a13, a23]) = (sizes, pairs);
    let low = (a12 + a13 - f1).max(a12 + a23 - f2).max(a13 + a23 - f3).max(0.0);
    [low, a12.min(a13).min(a23)]
}

/// Size of the intersection, from an estimate of the Jaccard similarity.
pub fn intersection(jaccard: &Estimate, sizes: [f64; 2]) -> Result<Estimate> {
    scaled(jaccard, sizes, 1.0)
}

/// The share of each set that lies in the other, from an estimate of the Jaccard similarity.
///
/// ```
/// use benzer_core::estimate::{Estimate, size};
/// let [first, second] = size::containment(&Estimate::exact(0.25), [400.0, 100.0])?;
/// assert!((first.value().unwrap() - 0.25).abs() < 1e-12 && (second.value().unwrap() - 1.0).abs() < 1e-12);
/// # Ok::<(), benzer_core::Error>(())
/// ```
pub fn containment(jaccard: &Estimate, sizes: [f64; 2]) -> Result<[Estimate; 2]> {
    Ok([scaled(jaccard, sizes, sizes[0])?, scaled(jaccard, sizes, sizes[1])?])
}

/// Size of the union, from an estimate of the Jaccard similarity.
pub fn union(jaccard: &Estimate, sizes: [f64; 2]) -> Result<Estimate> {
    input::sizes(&sizes)?;
    let total = sizes[0] + sizes[1];
    Ok(jaccard.map_monotone(|j| union_at(j, sizes), |j| -total / ((1.0 + j) * (1.0 + j))))
}

/// Size of the symmetric difference, the Hamming distance, from an estimate of the Jaccard similarity (16), (17).
pub fn difference(jaccard: &Estimate, sizes: [f64; 2]) -> Result<Estimate> {
    input::sizes(&sizes)?;
    let total = sizes[0] + sizes[1];
    Ok(jaccard.map_monotone(|j| difference_at(j, sizes), |j| -2.0 * total / ((1.0 + j) * (1.0 + j))))
}

/// The Jaccard similarity, from an estimate of the symmetric difference of sets of known size.
pub fn jaccard_from_difference(difference: &Estimate, sizes: [f64; 2]) -> Result<Estimate> {
    let range = jaccard_range(Some(sizes))?;
    let total = sizes[0] + sizes[1];
    let slope = |h: f64| -2.0 * total / ((total + h) * (total + h));
    let within = |h: f64| jaccard_of_difference(h, sizes).clamp(range[0], range[1]);
    Ok(match difference {
        // A difference without any bound says nothing about the similarity.
        Estimate::Saturated { .. } => Estimate::Saturated { at_most: range[1] },
        other => other.map_monotone(within, slope),
    })
}

/// The intersection divided by `unit`: its derivative in the similarity is `(f1+f2)/(1+J)^2`.
fn scaled(jaccard: &Estimate, sizes: [f64; 2], unit: f64) -> Result<Estimate> {
    input::sizes(&sizes)?;
    let total = sizes[0] + sizes[1];
    let max = sizes[0].min(sizes[1]);
    Ok(jaccard.map_monotone(
        |j| intersection_at(j, sizes).min(max) / unit,
        |j| total / ((1.0 + j) * (1.0 + j)) / unit,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_inverse_to_each_other() {
        let sizes = [700.0, 300.0];
        let j = jaccard_of_intersection(200.0, sizes);
        assert_eq!(j, 0.25);
        assert!((intersection_at(j, sizes) - 200.0).abs() < 1e-12 && union_at(j, sizes) == 800.0);
        assert!((difference_at(j, sizes) - 600.0).abs() < 1e-12);
        assert!((jaccard_of_difference(600.0, sizes) - j).abs() < 1e-15);
        let [first, _] = containment_at(j, sizes);
        assert!((jaccard_of_intersection(first * sizes[0], sizes) - j).abs() < 1e-15);
    }

    #[test]
    fn three_way_conversions_are_inverse_to_each_other() {
        let (sizes, pairs) = ([1000.0, 900.0, 600.0], [500.0, 400.0, 300.0]);
        let j = 250.0 / (2500.0 - 1200.0 + 250.0);
        assert!((three_way_intersection_at(j, sizes, pairs) - 250.0).abs() < 1e-9);
        assert_eq!(triple_range(sizes, pairs), [100.0, 300.0]);
    }

    #[test]
    fn large_sets_must_overlap() {
        let [low, high] = jaccard_range_dense([0.8, 0.6]).unwrap();
        assert!((low - 0.4).abs() < 1e-12 && (high - 0.75).abs() < 1e-12);
        assert!(jaccard_range(Some([0.0, 1.0])).is_err());
        let [low, high] = jaccard_range_dense([1.0, 0.1]).unwrap();
        assert!(low <= high && (high - 0.1).abs() < 1e-15);
    }

    #[test]
    fn derived_intervals_follow_the_similarity() {
        let jaccard = Estimate::clamped(0.25, 0.02, [0.2, 0.3], [0.0, 1.0]);
        let union = *union(&jaccard, [400.0, 100.0]).unwrap().measured().unwrap();
        assert!((union.low - 500.0 / 1.3).abs() < 1e-9 && (union.high - 500.0 / 1.2).abs() < 1e-9);
        let [_, second] = containment(&jaccard, [400.0, 100.0]).unwrap();
        let second = second.measured().unwrap();
        assert_eq!((second.value, second.high), (1.0, 1.0));
        assert!((second.standard_error - 0.02 * 500.0 / 1.5625 / 100.0).abs() < 1e-12);
    }
}

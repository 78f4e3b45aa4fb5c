//! One judge for all: nearest neighbours by Lowe's ratio, and the most keypoints that lie upon each other under one move, turn and scale.

use std::f32::consts::TAU;

use benzer_core::field::image::local::Keypoint;

use crate::extractors::{Around, Seen};

/// The nearest must be nearer than this share of the distance of the second nearest.
const RATIO: f32 = 0.8;
/// How far from its place an inlier may lie, in pixels.
const TOLERANCE: f32 = 4.0;
/// Largest ratio of an inlier's scale to that of the transform.
const SCALE_RATIO: f32 = 1.5;
/// Largest difference of an inlier's direction from that of the transform.
const ANGLE: f32 = TAU / 12.0;

/// Keypoints of two pictures that lie upon each other under the best of all transforms that one pair of them gives; points at one place count once.
pub fn inliers(a: &Seen, b: &Seen) -> usize {
    let alike = match (&a.around, &b.around) {
        (Around::Gradients(ours), Around::Gradients(theirs)) => nearest(ours, theirs, |a, b| {
            let squares = a.iter().zip(b).map(|(&a, &b)| (i32::from(a) - i32::from(b)).pow(2));
            (squares.sum::<i32>() as f32).sqrt()
        }),
        (Around::Bits(ours), Around::Bits(theirs)) => nearest(ours, theirs, |a, b| {
            let words = |bits: &[u8; 64]| -> [u64; 8] {
                std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| bits[8 * i + j])))
            };
            words(a).iter().zip(words(b)).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as f32
        }),
        _ => unreachable!("both pictures were seen by one extractor"),
    };
    let pairs: Vec<(Keypoint, Keypoint)> = alike.iter().map(|&(i, j)| (a.places[i], b.places[j])).collect();
    pairs.iter().map(|(from, to)| agreeing(&pairs, from, to)).max().unwrap_or(0)
}

/// Numbers of keypoints that look alike; no two have the same second number.
fn nearest<D>(ours: &[D], theirs: &[D], distance: impl Fn(&D, &D) -> f32) -> Vec<(usize, usize)> {
    let mut best: Vec<Option<(f32, usize)>> = vec![None; theirs.len()];
    for (i, descriptor) in ours.iter().enumerate() {
        let (mut first, mut second, mut number) = (f32::MAX, f32::MAX, 0);
        for (j, other) in theirs.iter().enumerate() {
            let distance = distance(descriptor, other);
            if distance < first {
                (second, first, number) = (first, distance, j);
            } else if distance < second {
                second = distance;
            }
        }
        if first < RATIO * second && best[number].is_none_or(|(other, _)| first < other) {
            best[number] = Some((first, i));
        }
    }
    best.iter().enumerate().filter_map(|(j, best)| best.map(|(_, i)| (i, j))).collect()
}

/// How many pairs agree with the transform that takes one keypoint to another.
fn agreeing(pairs: &[(Keypoint, Keypoint)], from: &Keypoint, to: &Keypoint) -> usize {
    let (scale, turn) = (to.scale / from.scale, to.angle - from.angle);
    let (a, b) = (scale * turn.cos(), scale * turn.sin());
    let (c, d) = (to.x - (a * from.x - b * from.y), to.y - (b * from.x + a * from.y));
    let agrees = |(p, q): &&(Keypoint, Keypoint)| {
        let (x, y) = (a * p.x - b * p.y + c, b * p.x + a * p.y + d);
        let off = (turn - (q.angle - p.angle)) / TAU;
        (x - q.x).hypot(y - q.y) <= TOLERANCE
            && (1.0 / SCALE_RATIO..=SCALE_RATIO).contains(&(scale * p.scale / q.scale))
            && (off - off.round()).abs() * TAU <= ANGLE
    };
    let near = |a: &Keypoint, b: &Keypoint| (a.x - b.x).abs() < 1.5 && (a.y - b.y).abs() < 1.5;
    let mut kept: Vec<&(Keypoint, Keypoint)> = Vec::new();
    for pair in pairs.iter().filter(agrees) {
        if !kept.iter().any(|other| near(&other.0, &pair.0) || near(&other.1, &pair.1)) {
            kept.push(pair);
        }
    }
    kept.len()
}

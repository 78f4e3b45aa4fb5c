//! The geometric check: is one picture the other, moved, turned, scaled and perhaps mirrored?
//!
//! Two keypoints that look alike say by themselves how one picture lies in the other, since each has a place, a scale and a direction. So every pair is tried as a
//! hypothesis and the others are counted that agree with it. That is RANSAC of a similarity transform (Fischler and Bolles 1981) with samples of one pair, where all samples can be tried: nothing is
//! random. The best hypothesis is then fitted to its inliers by least squares, and counted again.

use super::detect::Keypoint;
use super::gradient::TURN;
use super::matching::{Alike, alike};
use super::{Local, MIN_INLIERS};

/// How far from its place an inlier may lie, in pixels of the brought-to-size picture, for the finest points; coarser ones are less precise.
const TOLERANCE: f32 = 4.0;
/// Largest ratio of an inlier's scale to that of the transform.
const SCALE_RATIO: f32 = 1.5;
/// Largest difference of an inlier's direction from that of the transform.
const ANGLE: f32 = TURN / 12.0;

/// Inliers must span this share of what both pictures show.
const MIN_SPREAD: f32 = 0.1;
/// Points of a side of the grid that measures what both show.
const GRID: usize = 16;

/// How one picture lies in another: `x' = a x - b y + c`, `y' = b x + a y + d`, after a mirroring left to right where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Scale times cosine, scale times sine, and the move.
    pub coefficients: [f32; 4],
    /// The first picture is mirrored.
    pub mirrored: bool,
}

/// What two pictures have in common, as far as a transform explains it.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// From the first picture to the second.
    pub transform: Transform,
    /// Numbers of keypoints of the first and of the second picture that lie upon each other.
    pub inliers: Vec<(u32, u32)>,
    /// Pairs of keypoints that look alike, with or without the transform.
    pub n_alike: usize,
    /// The share of what both pictures show that the inliers span, as a box.
    pub spread: f32,
}

impl Agreement {
    /// Whether it is enough to say that the pictures are one: [`MIN_INLIERS`], and not all of them in one corner.
    fn decides(&self) -> bool {
        self.inliers.len() >= MIN_INLIERS && self.spread >= MIN_SPREAD
    }
}

impl Transform {
    fn apply(&self, x: f32, y: f32) -> (f32, f32) {
        let [a, b, c, d] = self.coefficients;
        (a * x - b * y + c, b * x + a * y + d)
    }

    /// How much larger the first picture is in the second.
    pub fn scale(&self) -> f32 {
        let [a, b, ..] = self.coefficients;
        (a * a + b * b).sqrt()
    }

    /// By which angle it is turned, in degrees.
    pub fn degrees(&self) -> f32 {
        let [a, b, ..] = self.coefficients;
        libm::atan2f(b, a).to_degrees()
    }

    /// The transform that two keypoints upon each other would have.
    fn of(from: &Keypoint, to: &Keypoint, mirrored: bool) -> Self {
        let scale = to.scale / from.scale;
        let turn = to.angle - from.angle;
        let (a, b) = (scale * libm::cosf(turn), scale * libm::sinf(turn));
        let coefficients = [a, b, to.x - (a * from.x - b * from.y), to.y - (b * from.x + a * from.y)];
        Self { coefficients, mirrored }
    }

    /// The least squares fit of pairs of points; nothing if all are one point.
    fn fitted(pairs: &[(Keypoint, Keypoint)], mirrored: bool) -> Option<Self> {
        let n = pairs.len() as f32;
        let mean = |of: &dyn Fn(&(Keypoint, Keypoint)) -> f32| pairs.iter().map(of).sum::<f32>() / n;
        let (mx, my) = (mean(&|p| p.0.x), mean(&|p| p.0.y));
        let (nx, ny) = (mean(&|p| p.1.x), mean(&|p| p.1.y));
        let (mut dot, mut cross, mut square) = (0.0, 0.0, 0.0);
        for (p, q) in pairs {
            let (x, y, u, v) = (p.x - mx, p.y - my, q.x - nx, q.y - ny);
            dot += x * u + y * v;
            cross += x * v - y * u;
            square += x * x + y * y;
        }
        (square > 1.0).then(|| {
            let (a, b) = (dot / square, cross / square);
            Self { coefficients: [a, b, nx - (a * mx - b * my), ny - (b * mx + a * my)], mirrored }
        })
    }
}

/// A transform with its scale and direction, against which many pairs are held.
struct Hypothesis {
    transform: Transform,
    scale: f32,
    turn: f32,
}

impl Hypothesis {
    fn new(transform: Transform) -> Self {
        let [a, b, ..] = transform.coefficients;
        Self { transform, scale: transform.scale(), turn: libm::atan2f(b, a) }
    }

    fn agrees(&self, from: &Keypoint, to: &Keypoint) -> bool {
        let (x, y) = self.transform.apply(from.x, from.y);
        let (dx, dy) = (x - to.x, y - to.y);
        let tolerance = TOLERANCE.max(to.scale);
        if dx * dx + dy * dy > tolerance * tolerance {
            return false;
        }
        let scale = self.scale * from.scale / to.scale;
        let turn = (self.turn - (to.angle - from.angle)) / TURN;
        let off = (turn - turn.round()).abs() * TURN;
        (1.0 / SCALE_RATIO..=SCALE_RATIO).contains(&scale) && off <= ANGLE
    }

    /// Numbers of the pairs that agree.
    fn inliers(&self, pairs: &[(Keypoint, Keypoint)]) -> Vec<usize> {
        (0..pairs.len()).filter(|&i| self.agrees(&pairs[i].0, &pairs[i].1)).collect()
    }
}

/// The best transform from one picture to another and what agrees with it, if that is at least [`MIN_INLIERS`] keypoints all over the part that both show: then they are the same picture. A stamp or a
/// line of letters that both have is not enough.
/// The mirrored picture is tried where the picture itself is not found.
pub fn verify(a: &Local, b: &Local) -> Option<Agreement> {
    let direct = agreement(a, b, false).filter(Agreement::decides);
    direct.or_else(|| agreement(a, b, true).filter(Agreement::decides))
}

fn agreement(a: &Local, b: &Local, mirror: bool) -> Option<Agreement> {
    let mirrored_a = mirror.then(|| a.mirrored());
    let seen = mirrored_a.as_ref().unwrap_or(a);
    let pairs = alike(&seen.descriptors, &b.descriptors);
    let points: Vec<(Keypoint, Keypoint)> =
        pairs.iter().map(|&Alike { a, b: other }| (seen.points[a], b.points[other])).collect();
    let mut best: Vec<usize> = Vec::new();
    let mut transform = None;
    for (from, to) in &points {
        let hypothesis = Hypothesis::new(Transform::of(from, to, mirror));
        let inliers = hypothesis.inliers(&points);
        if inliers.len() > best.len() {
            (best, transform) = (inliers, Some(hypothesis.transform));
        }
        // No other hypothesis explains more than the rest.
        if 2 * best.len() > points.len() {
            break;
        }
    }
    let mut transform = transform?;
    for _ in 0..3 {
        let chosen: Vec<_> = best.iter().map(|&i| points[i]).collect();
        let Some(fitted) = Transform::fitted(&chosen, mirror) else { break };
        let inliers = Hypothesis::new(fitted).inliers(&points);
        if inliers.len() < best.len() {
            break;
        }
        (best, transform) = (inliers, fitted);
    }
    let best = distinct(best, &points);
    let inliers = best.iter().map(|&i| (pairs[i].a as u32, pairs[i].b as u32)).collect();
    let spread = spread(&transform, a, b, best.iter().map(|&i| &points[i].0));
    Some(Agreement { transform, inliers, n_alike: pairs.len(), spread })
}

/// The box around points of the first picture, as a share of what both pictures show.
fn spread<'a>(
    transform: &Transform,
    a: &Local,
    b: &Local,
    points: impl Iterator<Item = &'a Keypoint>,
) -> f32 {
    let (width, height) = (a.size.width as f32, a.size.height as f32);
    let (columns, rows) = (b.size.width as f32, b.size.height as f32);
    let at = |i: usize, side: f32| (i as f32 + 0.5) / GRID as f32 * side;
    let shown = (0..GRID * GRID).filter(|i| {
        let (x, y) = transform.apply(at(i % GRID, width), at(i / GRID, height));
        (0.0..columns).contains(&x) && (0.0..rows).contains(&y)
    });
    let both = (shown.count().max(1) as f32) / (GRID * GRID) as f32 * width * height;
    let (mut low, mut high) = ((f32::MAX, f32::MAX), (f32::MIN, f32::MIN));
    for point in points {
        low = (low.0.min(point.x), low.1.min(point.y));
        high = (high.0.max(point.x), high.1.max(point.y));
    }
    ((high.0 - low.0).max(0.0) * (high.1 - low.1).max(0.0) / both).min(1.0)
}

/// Points at one place count once: several directions of a keypoint are no further evidence.
fn distinct(mut chosen: Vec<usize>, points: &[(Keypoint, Keypoint)]) -> Vec<usize> {
    let near = |a: &Keypoint, b: &Keypoint| (a.x - b.x).abs() < 1.5 && (a.y - b.y).abs() < 1.5;
    let mut kept: Vec<usize> = Vec::with_capacity(chosen.len());
    chosen.retain(|&i| {
        let fresh =
            !kept.iter().any(|&k| near(&points[k].0, &points[i].0) || near(&points[k].1, &points[i].1));
        if fresh {
            kept.push(i);
        }
        fresh
    });
    chosen
}

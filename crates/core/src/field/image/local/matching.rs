//! Which keypoints of two pictures look alike: nearest descriptors, where the second nearest is clearly farther (Lowe 2004, section 7.1).

use super::describe::Descriptor;
use crate::Level;

/// The nearest must be nearer than this share of the distance of the second nearest, squared.
const RATIO_SQUARED: f32 = 0.8 * 0.8;
/// Farther descriptors are never alike, whatever comes second; squared, in units of descriptors.
const MAX_DISTANCE_SQUARED: u32 = 350 * 350;

/// A keypoint of one picture and the one of the other that looks like it, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alike {
    pub a: usize,
    pub b: usize,
}

/// All that look alike. No two have the same `b`.
pub(super) fn alike(ours: &[Descriptor], theirs: &[Descriptor]) -> Vec<Alike> {
    alike_at(Level::best(), ours, theirs)
}

fn alike_at(level: Level, ours: &[Descriptor], theirs: &[Descriptor]) -> Vec<Alike> {
    #[cfg(target_arch = "x86_64")]
    if level >= Level::Avx2 {
        // SAFETY: the level says that this processor has AVX2.
        return unsafe { alike_avx2(ours, theirs) };
    }
    let _ = level;
    alike_plain(ours, theirs)
}

/// The same integers in wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn alike_avx2(ours: &[Descriptor], theirs: &[Descriptor]) -> Vec<Alike> {
    alike_plain(ours, theirs)
}

#[inline(always)]
fn alike_plain(ours: &[Descriptor], theirs: &[Descriptor]) -> Vec<Alike> {
    let mut best: Vec<Option<(u32, usize)>> = vec![None; theirs.len()];
    for (a, descriptor) in ours.iter().enumerate() {
        let Some((b, distance)) = nearest(descriptor, theirs) else { continue };
        if best[b].is_none_or(|(other, _)| distance < other) {
            best[b] = Some((distance, a));
        }
    }
    best.iter().enumerate().filter_map(|(b, best)| best.map(|(_, a)| Alike { a, b })).collect()
}

#[inline(always)]
fn nearest(descriptor: &Descriptor, all: &[Descriptor]) -> Option<(usize, u32)> {
    let (mut first, mut second, mut number) = (u32::MAX, u32::MAX, 0);
    for (i, other) in all.iter().enumerate() {
        let distance = squared_distance(descriptor, other);
        if distance < first {
            (second, first, number) = (first, distance, i);
        } else if distance < second {
            second = distance;
        }
    }
    let clear = (first as f32) < RATIO_SQUARED * second as f32;
    (first <= MAX_DISTANCE_SQUARED && clear).then_some((number, first))
}

#[inline(always)]
fn squared_distance(a: &Descriptor, b: &Descriptor) -> u32 {
    let mut sum = 0i32;
    for i in 0..a.len() {
        let difference = i32::from(i16::from(a[i]) - i16::from(b[i]));
        sum += difference * difference;
    }
    sum as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn descriptors(n: u64, seed: u64) -> Vec<Descriptor> {
        let one = |i: u64| {
            let mut values = hash::stream(hash::split(seed, i)).map(|value| (value % 90) as u8);
            std::array::from_fn(|_| values.next().expect("the stream has no end"))
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn each_finds_itself_among_others_and_strangers_find_nobody() {
        let all = descriptors(60, 1);
        let few: Vec<Descriptor> = all.iter().rev().take(20).copied().collect();
        let found = alike(&few, &all);
        assert_eq!(found.len(), 20);
        assert!(found.iter().all(|pair| few[pair.a] == all[pair.b]));
        assert!(alike(&descriptors(40, 2), &all).is_empty());
        assert!(alike(&few, &[]).is_empty() && alike(&[], &few).is_empty());
    }

    #[test]
    fn every_level_finds_the_same() {
        let (ours, mut theirs) = (descriptors(50, 3), descriptors(50, 3));
        theirs.iter_mut().flatten().step_by(3).for_each(|value| *value = value.saturating_add(9));
        let plain = alike_at(Level::Scalar, &ours, &theirs);
        assert!(plain.len() > 30);
        for level in Level::available() {
            assert_eq!(alike_at(level, &ours, &theirs), plain, "{level:?}");
        }
    }
}

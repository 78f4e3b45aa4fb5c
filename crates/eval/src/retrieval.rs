//! Which pairs sketches retrieve: counted on all pairs of a collection, and expected by theory.

use benzer_core::Features;
use benzer_core::sketch::{Bits, Family, Packing, Scheme, SketchSpec, count};

use crate::{Result, exact};

/// Pairs that were retrieved, and how many of them rightly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Retrieved {
    pub right: f64,
    pub all: f64,
}

impl Retrieved {
    pub fn precision(&self) -> f64 {
        if self.all > 0.0 { self.right / self.all } else { 1.0 }
    }

    pub fn recall(&self, relevant: f64) -> f64 {
        if relevant > 0.0 { self.right / relevant } else { 1.0 }
    }
}

/// The words of the sketches of all sets: `k` independent registers, packed.
pub(crate) fn sketched(sets: &[Features], k: u32, packing: Packing, seed: u64) -> Result<Vec<u64>> {
    let family = Family::Permutations(Scheme::Native);
    let spec = SketchSpec { packing, seed, ..SketchSpec::full(family, k) };
    let sketcher = spec.sketcher()?;
    let mut elements = Vec::new();
    let mut offsets = vec![0];
    for set in sets {
        elements.extend_from_slice(set.elements());
        offsets.push(elements.len());
    }
    let mut words = vec![0; sets.len() * spec.words()];
    sketcher.sketch_many(&elements, &offsets, &mut words)?;
    Ok(words)
}

/// For each `(threshold, most)`: pairs that differ in at most `most` places, and those of them whose similarity reaches the threshold.
pub(crate) fn retrieved(
    words: &[u64],
    n_sets: usize,
    bits: Bits,
    similarities: &[f32],
    rules: &[(f64, u32)],
) -> Vec<Retrieved> {
    let each = words.len() / n_sets.max(1);
    let mut found = vec![Retrieved::default(); rules.len()];
    let mut counts = vec![0u32; n_sets];
    let mut similarities = similarities.iter();
    for i in 0..n_sets {
        let counts = &mut counts[..n_sets - i - 1];
        let query = &words[i * each..(i + 1) * each];
        count::mismatches_many(query, &words[(i + 1) * each..], bits, counts);
        for (&mismatches, &similarity) in counts.iter().zip(similarities.by_ref()) {
            for ((threshold, most), found) in rules.iter().zip(&mut found) {
                if mismatches <= *most {
                    found.all += 1.0;
                    found.right += f64::from(u8::from(reaches(similarity, *threshold)));
                }
            }
        }
    }
    found
}

/// Similarities are kept in 32 bits: one that equals the threshold must not miss it by rounding.
pub(crate) fn reaches(similarity: f32, threshold: f64) -> bool {
    f64::from(similarity) >= threshold - 1e-6
}

/// Pairs whose similarity reaches the threshold.
pub(crate) fn relevant(similarities: &[f32], threshold: f64) -> f64 {
    similarities.iter().filter(|&&s| reaches(s, threshold)).count() as f64
}

/// Similarities of all pairs, spread over a fine grid: what depends smoothly on the similarity is summed over the grid instead of over the pairs.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    all: Vec<f64>,
    right: Vec<f64>,
}

impl Histogram {
    /// Steps from similarity 0 to 1.
    const STEPS: usize = 2000;

    /// The pairs, of which those that reach the threshold are right.
    pub fn new(similarities: &[f32], threshold: f64) -> Self {
        let mut histogram = Self { all: vec![0.0; Self::STEPS + 1], right: vec![0.0; Self::STEPS + 1] };
        for &similarity in similarities {
            let place = f64::from(similarity) * Self::STEPS as f64;
            let i = (place as usize).min(Self::STEPS - 1);
            let part = place - i as f64;
            for (place, weight) in [(i, 1.0 - part), (i + 1, part)] {
                histogram.all[place] += weight;
                histogram.right[place] += if reaches(similarity, threshold) { weight } else { 0.0 };
            }
        }
        histogram
    }

    /// What is expected if a pair is retrieved with the probability of its similarity, as [`curve`] gives it.
    pub fn expected(&self, curve: &[f64]) -> Retrieved {
        let sum = |of: &[f64]| of.iter().zip(curve).map(|(n, p)| n * p).sum();
        Retrieved { right: sum(&self.right), all: sum(&self.all) }
    }
}

/// The probability of being retrieved at every point of the grid of [`Histogram`].
pub(crate) fn curve(retrieved: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..=Histogram::STEPS).map(|i| retrieved(i as f64 / Histogram::STEPS as f64)).collect()
}

/// For each `least`: the probability that at least so many of `k` registers agree, where one does with probability `agree(similarity)`.
pub(crate) fn curves(k: usize, least: &[usize], agree: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::with_capacity(Histogram::STEPS + 1); least.len()];
    for i in 0..=Histogram::STEPS {
        let chances = exact::binomial(k, agree(i as f64 / Histogram::STEPS as f64));
        for (curve, &least) in all.iter_mut().zip(least) {
            curve.push(chances[least.min(k + 1)..].iter().sum());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_gives_the_sum_over_pairs() {
        let similarities: Vec<f32> = (0..400).map(|i| (i * i % 401) as f32 / 401.0).collect();
        let agree = |j: f64| 0.5 + 0.5 * j;
        let curves = curves(100, &[70, 85], agree);
        for (curve, (least, threshold)) in curves.iter().zip([(70, 0.4), (85, 0.7)]) {
            let got = Histogram::new(&similarities, threshold).expected(curve);
            let p = |s: &f32| exact::at_least(100, agree(f64::from(*s)), least);
            let all: f64 = similarities.iter().map(p).sum();
            let right: f64 = similarities.iter().filter(|s| reaches(**s, threshold)).map(p).sum();
            assert!(
                (got.all - all).abs() < 1e-3 && (got.right - right).abs() < 1e-3,
                "{got:?} {all} {right}"
            );
        }
    }
}

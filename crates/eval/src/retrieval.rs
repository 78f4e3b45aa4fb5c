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

/// What is expected when a register agrees with probability `agree(similarity)` and at least `least` of `k` must.
pub(crate) fn expected(
    similarities: &[f32],
    threshold: f64,
    (k, least): (usize, usize),
    agree: impl Fn(f64) -> f64,
) -> Retrieved {
    const GRID: usize = 2000;
    let curve: Vec<f64> =
        (0..=GRID).map(|i| exact::at_least(k, agree(i as f64 / GRID as f64), least)).collect();
    let mut sum = Retrieved::default();
    for &similarity in similarities {
        let place = f64::from(similarity) * GRID as f64;
        let (i, part) = ((place as usize).min(GRID - 1), place - (place as usize).min(GRID - 1) as f64);
        let p = curve[i] + part * (curve[i + 1] - curve[i]);
        sum.all += p;
        if reaches(similarity, threshold) {
            sum.right += p;
        }
    }
    sum
}

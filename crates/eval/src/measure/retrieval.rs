//! Which pairs sketches retrieve: counted on all pairs of a collection, and expected by theory.

use std::fmt::Display;

use benzer_core::sketch::{Bits, count};

use crate::check::is_precise;
use crate::data::corpus::{self, Corpus};
use crate::measure::sketches::Words;
use crate::table::{Row, row};
use crate::{Checks, Mean, Moments, Result, exact};

/// Pairs that were retrieved, and how many of them rightly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Retrieved {
    pub right: f64,
    pub all: f64,
}

impl Retrieved {
    /// Adds some that are right or not.
    #[inline]
    pub fn add(&mut self, n: f64, is_right: bool) {
        self.all += n;
        self.right += if is_right { n } else { 0.0 };
    }

    pub fn precision(&self) -> f64 {
        if self.all > 0.0 { self.right / self.all } else { 1.0 }
    }

    pub fn recall(&self, wanted: f64) -> f64 {
        if wanted > 0.0 { self.right / wanted } else { 1.0 }
    }

    /// Twice what is right over what was retrieved and what is wanted.
    pub fn f1(&self, wanted: f64) -> f64 {
        2.0 * self.right / (self.all + wanted)
    }
}

/// All pairs of a collection, and what is wanted of them at each of some thresholds.
pub(crate) struct Pairs<const N: usize> {
    pub corpus: Corpus,
    pub wanted: [f64; N],
    pub histograms: [Histogram; N],
    similarities: Vec<f32>,
    thresholds: [f64; N],
}

impl<const N: usize> Pairs<N> {
    pub fn new(corpus: Corpus, thresholds: [f64; N]) -> Self {
        let similarities = corpus::similarities(&corpus.sets);
        Self {
            wanted: thresholds.map(|t| similarities.iter().filter(|&&s| reaches(s, t)).count() as f64),
            histograms: thresholds.map(|t| Histogram::new(&similarities, t)),
            similarities,
            corpus,
            thresholds,
        }
    }

    /// Counts the pairs whose sketches differ in at most so many places, for each threshold.
    pub fn retrieved(&self, words: &Words, bits: Bits, max_mismatches: [u32; N]) -> [Retrieved; N] {
        let n = words.len();
        let mut found = [Retrieved::default(); N];
        let mut counts = vec![0u32; n];
        let mut similarities = self.similarities.iter();
        for i in 0..n {
            let counts = &mut counts[..n - i - 1];
            count::mismatches_many(words.of(i), words.after(i), bits, counts);
            for (&mismatches, &similarity) in counts.iter().zip(similarities.by_ref()) {
                for ((found, max), threshold) in found.iter_mut().zip(max_mismatches).zip(self.thresholds) {
                    if mismatches <= max {
                        found.add(1.0, reaches(similarity, threshold));
                    }
                }
            }
        }
        found
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    all: Moments,
    right: Moments,
}

impl Counted {
    pub fn push(&mut self, found: Retrieved) {
        self.all.push(found.all);
        self.right.push(found.right);
    }

    /// Both means, of all and of what is right.
    pub fn means(&self) -> [Mean; 2] {
        [self.all.mean(), self.right.mean()]
    }

    /// The share of what was retrieved that is right; 0 if nothing was.
    pub fn precision(&self) -> f64 {
        let [all, right] = self.means();
        right.value / all.value.max(1e-9)
    }

    /// The share of the `wanted` that was retrieved; 0 if there are none.
    pub fn recall(&self, wanted: f64) -> f64 {
        self.right.mean().value / wanted.max(1.0)
    }

    pub fn mean(&self) -> Retrieved {
        let [all, right] = self.means();
        Retrieved { right: right.value, all: all.value }
    }

    pub fn n(&self) -> f64 {
        self.all.n()
    }

    fn is_known(&self, theory: Retrieved) -> bool {
        is_precise(self.all.mean(), theory.all) && is_precise(self.right.mean(), theory.right)
    }

    pub fn compare(&self, what: impl Display, theory: Retrieved, checks: &mut Checks) {
        checks.agrees(format_args!("{what}: retrieved"), self.all.mean(), theory.all);
        checks.agrees(format_args!("{what}: rightly"), self.right.mean(), theory.right);
    }

    /// The cells of tables: what was retrieved, with precision and recall, of `wanted`.
    pub fn row(&self, theory: Retrieved, wanted: f64) -> Row {
        let [all, right] = self.means();
        row![
            "retrieved": all.value, "retrieved_se": all.error, "retrieved_expected": theory.all,
            "right": right.value, "right_se": right.error, "right_expected": theory.right,
            "precision": self.precision(), "precision_expected": theory.precision(),
            "recall": self.recall(wanted), "recall_expected": theory.recall(wanted),
        ]
    }
}

/// How often is counted: until all that is compared is known to 2%, which is asked every `step` sketches from `min` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    pub min: usize,
    pub step: usize,
    pub max: usize,
}

impl Runs {
    /// Counts what independent sketches retrieve; `theory` is what is expected, of what is compared.
    pub fn count<const N: usize>(
        self,
        theory: [Option<Retrieved>; N],
        mut retrieve: impl FnMut(usize) -> Result<[Retrieved; N]>,
    ) -> Result<[Counted; N]> {
        let mut counts = [Counted::default(); N];
        for sketch in 0..self.max {
            counts.iter_mut().zip(retrieve(sketch)?).for_each(|(counted, found)| counted.push(found));
            let is_known = |(counted, theory): (&Counted, Option<Retrieved>)| {
                theory.is_none_or(|theory| counted.is_known(theory))
            };
            let is_asked = sketch + 1 >= self.min && (sketch + 1) % self.step == 0;
            if is_asked && counts.iter().zip(theory).all(is_known) {
                break;
            }
        }
        Ok(counts)
    }
}

/// Similarities are kept in 32 bits: one that equals the threshold must not miss it by rounding.
fn reaches(similarity: f32, threshold: f64) -> bool {
    f64::from(similarity) >= threshold - 1e-6
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

/// For each `min`: the probability that at least so many of `k` registers agree, where one does with probability `agree(similarity)`.
pub(crate) fn curves(k: usize, min: &[usize], agree: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::with_capacity(Histogram::STEPS + 1); min.len()];
    for i in 0..=Histogram::STEPS {
        let chances = exact::binomial(k, agree(i as f64 / Histogram::STEPS as f64));
        for (curve, &min) in all.iter_mut().zip(min) {
            curve.push(chances[min.min(k + 1)..].iter().sum());
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

//! The prefilter m(T, k): how many equal registers a candidate must have.
//!
//! The number of equal registers of two documents of similarity `T` is binomial with `k` trials of probability
//! `p = C1 + (1 - C2) T` ([`Collision`]). m(T, k) is the largest m with
//!
//! ```text
//! Pr(equal registers >= m | J = T) >= 1 - 1e-3
//! ```
//!
//! so that at most one pair in a thousand at the threshold is lost, and fewer above it. Equal registers are counted over all `k`
//! registers, in bands or not.
//!
//! The tail is summed term by term from the mode, in additions, multiplications and divisions only: no approximation, and the same
//! integer on every machine, for any `k` up to 65,536. `fast` registers spread less than independent ones
//! ([`crate::estimate::factor`]), so their loss is smaller still. Registers of `one_permutation` from sets smaller than `k` spread more;
//! there the loss at the threshold can exceed 1e-3.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use crate::estimate::collision::Collision;
use crate::sketch::{Bits, MAX_REGISTERS, Packing, SketchSpec, count};
use crate::{Error, Result};

/// The share of pairs at the threshold that may be lost.
pub const LOSS: f64 = 1e-3;

/// Passes pairs that have at least so many equal registers.
///
/// ```
/// use benzer_core::{lsh::Prefilter, sketch::SketchSpec};
/// let prefilter = Prefilter::new(&SketchSpec::default(), 0.8)?;
/// assert_eq!(prefilter.min_equal(), 88);
/// # Ok::<(), benzer_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefilter {
    registers: u32,
    bits: Bits,
    #[serde(rename = "least_equal")]
    min_equal: u32,
}

impl Prefilter {
    /// The prefilter of a threshold.
    ///
    /// # Errors
    /// A threshold outside (0, 1], or a sketch whose registers are not kept one by one.
    pub fn new(spec: &SketchSpec, threshold: f64) -> Result<Self> {
        let (Packing::Bits(bits), true) = (spec.packing, spec.family.is_aligned()) else {
            let remedy =
                "it counts equal registers: keep b bits of each register of an aligned family instead";
            return Err(spec.unsupported("the prefilter", remedy));
        };
        let min_equal = min_equal(threshold, bits, spec.registers)?;
        Ok(Self { registers: spec.registers, bits, min_equal })
    }

    /// How many registers there are.
    pub const fn registers(&self) -> u32 {
        self.registers
    }

    /// How wide they are.
    pub const fn bits(&self) -> Bits {
        self.bits
    }

    /// m(T, k).
    pub const fn min_equal(&self) -> u32 {
        self.min_equal
    }

    /// True if two stored sketches of the spec have enough equal registers.
    #[inline]
    pub fn passes(&self, a: &[u64], b: &[u64]) -> bool {
        // What a family keeps behind its registers does not count.
        let words = self.bits.words(self.registers as usize);
        let (a, b) = (&a[..words.min(a.len())], &b[..words.min(b.len())]);
        count::mismatches(a, b, self.bits).saturating_add(self.min_equal) <= self.registers
    }

    /// Keeps those of `partners` whose sketch passes with that of `words`.
    pub fn retain<'a, T: Copy>(&self, words: &[u64], partners: &mut Vec<T>, sketch: impl Fn(T) -> &'a [u64]) {
        let n_words = self.bits.words(self.registers as usize);
        let max = self.registers.saturating_sub(self.min_equal);
        let (mut next, mut kept) = (0, 0);
        let places = Cell::from_mut(&mut partners[..]).as_slice_of_cells();
        let others = places.iter().map(|partner| &sketch(partner.get())[..n_words]);
        count::mismatches_each(&words[..n_words], others, self.bits, |mismatches| {
            // Written in any case: which ones pass cannot be foretold, and guessing wrong takes longer.
            places[kept].set(places[next].get());
            next += 1;
            kept += usize::from(mismatches <= max);
        });
        partners.truncate(kept);
    }
}

/// m(T, k) for `registers` registers of `bits` bits.
///
/// # Errors
/// A threshold outside (0, 1]; no registers, or too many.
pub fn min_equal(threshold: f64, bits: Bits, registers: u32) -> Result<u32> {
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(Error::parameter("threshold", "above 0 and at most 1", threshold));
    }
    if registers == 0 || registers > MAX_REGISTERS {
        return Err(Error::parameter("registers", format!("between 1 and {MAX_REGISTERS}"), registers));
    }
    let p = Collision::sparse(bits.get()).probability(threshold);
    if p >= 1.0 {
        return Ok(registers);
    }
    let terms = Terms::new(registers, p);
    let mut below = 0.0;
    for (i, term) in (terms.first..).zip(&terms.terms) {
        below += term;
        if below > LOSS * terms.total {
            return Ok(i);
        }
    }
    Ok(registers)
}

/// The share of pairs of similarity `jaccard` that have fewer than `min` equal registers: what a prefilter loses.
pub fn loss(min: u32, jaccard: f64, bits: Bits, registers: u32) -> f64 {
    let p = Collision::sparse(bits.get()).probability(jaccard);
    if p >= 1.0 {
        return if min > registers { 1.0 } else { 0.0 };
    }
    let terms = Terms::new(registers, p);
    let below = min.saturating_sub(terms.first) as usize;
    terms.terms.iter().take(below).sum::<f64>() / terms.total
}

/// Binomial probabilities relative to the largest, for the counts from `first` on that are not negligible.
struct Terms {
    first: u32,
    terms: Vec<f64>,
    total: f64,
}

impl Terms {
    /// Terms below this share of the largest change no sum.
    const NEGLIGIBLE: f64 = 1e-40;

    fn new(k: u32, p: f64) -> Self {
        let odds = p / (1.0 - p);
        let mode = ((f64::from(k) + 1.0) * p).min(f64::from(k)) as u32;
        let up = |(i, term): (u32, f64)| Some((i + 1, term * f64::from(k - i) / f64::from(i + 1) * odds));
        let down = |(i, term): (u32, f64)| Some((i - 1, term * f64::from(i) / f64::from(k - i + 1) / odds));
        let walk = |step: &dyn Fn((u32, f64)) -> Option<(u32, f64)>, last: u32| -> Vec<(u32, f64)> {
            std::iter::successors(Some((mode, 1.0)), |&at| if at.0 == last { None } else { step(at) })
                .take_while(|&(_, term)| term > Self::NEGLIGIBLE)
                .collect()
        };
        let mut all = walk(&down, 0);
        all.reverse();
        all.extend(walk(&up, k).into_iter().skip(1));
        let terms: Vec<f64> = all.iter().map(|&(_, term)| term).collect();
        Self { first: all[0].0, total: terms.iter().sum(), terms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(b: u32) -> Bits {
        Bits::new(b).unwrap()
    }

    proptest! {
        #[test]
        fn it_is_the_largest_count_that_loses_no_more(k in 1u32..3000, t in 0.001f64..1.0, which in 0usize..18) {
            let b = Bits::ALL[which];
            let m = min_equal(t, b, k).unwrap();
            prop_assert!(loss(m, t, b, k) <= LOSS && loss(m + 1, t, b, k) > LOSS, "{} {:?}", m, b);
        }

        #[test]
        fn the_tail_is_that_of_the_textbook(k in 1u32..60, m in 0u32..61, j in 0.0f64..0.999) {
            let p = Collision::sparse(4).probability(j);
            let choose = |i: u32| (0..i).map(|x| f64::from(k - x) / f64::from(x + 1)).product::<f64>();
            let term = |i: u32| choose(i) * p.powi(i as i32) * (1.0 - p).powi((k - i) as i32);
            let exact: f64 = (0..m.min(k + 1)).map(term).sum();
            prop_assert!((loss(m, j, bits(4), k) - exact).abs() < 1e-12);
        }

        #[test]
        fn a_higher_threshold_asks_for_no_fewer(k in 1u32..500, t in 0.01f64..0.9, more in 0.0f64..0.1) {
            prop_assert!(min_equal(t, bits(8), k).unwrap() <= min_equal(t + more, bits(8), k).unwrap());
        }
    }

    #[test]
    fn sixty_five_thousand_registers_are_near_the_normal_limit() {
        let p: f64 = Collision::sparse(1).probability(0.8);
        let (k, z) = (65_536.0, 3.0902);
        let normal = k * p - z * (k * p * (1.0 - p)).sqrt();
        let got = f64::from(min_equal(0.8, bits(1), 65_536).unwrap());
        assert!((got - normal).abs() < 3.0, "{got} {normal}");
    }

    #[test]
    fn the_ends_are_right_and_nonsense_is_refused() {
        assert_eq!(min_equal(1.0, bits(8), 128).unwrap(), 128);
        assert_eq!(min_equal(1e-9, bits(64), 128).unwrap(), 0);
        assert_eq!((loss(0, 0.5, bits(8), 10), loss(11, 0.5, bits(8), 10)), (0.0, 1.0));
        for t in [0.0, -0.5, 1.5, f64::NAN] {
            assert!(min_equal(t, bits(8), 128).unwrap_err().to_string().contains("`threshold`"));
        }
        assert!(min_equal(0.5, bits(8), 0).is_err() && min_equal(0.5, bits(8), 65_537).is_err());
        let odd = SketchSpec { packing: Packing::Odd { bits: 64 }, ..SketchSpec::default() };
        assert!(Prefilter::new(&odd, 0.8).is_err());
    }

    #[test]
    fn a_pair_passes_with_just_enough_equal_registers() {
        let prefilter = Prefilter::new(&SketchSpec::default(), 0.8).unwrap();
        let mut words = [0u64; 16];
        for mismatch in 0..128 {
            assert_eq!(prefilter.passes(&words, &[0; 16]), 128 - mismatch >= prefilter.min_equal());
            words[mismatch as usize / 8] |= 1 << (8 * (mismatch % 8));
        }
    }
}

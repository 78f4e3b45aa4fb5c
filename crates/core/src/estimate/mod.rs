//! From counts to similarities: every estimator as a pure function of numbers, with its error bar.
//!
//! Nothing here knows a sketch, except [`of`], which counts on two or more sketches and calls the right estimator. Any other caller counts
//! (equal registers, set bits, smaller minima, patterns) and gets an [`Estimate`]: a value with standard error and 95% interval, or a plain
//! statement that there is none. It is never NaN.
//!
//! | module | quantity | from |
//! |---|---|---|
//! | [`collision`] | probability that b-bit registers agree | b-bit minwise hashing, Theorem 1 |
//! | [`two_way`] | Jaccard similarity from equal registers | b-bit minwise hashing, (9) and (11) |
//! | [`mle`] | the same with known set sizes, full or dense b-bit | b-bit minwise hashing, section 7.3, in closed form |
//! | [`size`] | intersection, union, containment, difference | set algebra |
//! | [`hamming`] | Hamming distance and its 1-bit competitors | b-bit minwise hashing, (16) to (25) |
//! | [`xor`] | m one-bit registers in one stored bit | b-bit minwise hashing, section 5 |
//! | [`three_way`], [`three_way_dense`] | three-way similarity, simple and precise | three-way b-bit hashing, (7) to (9), Theorem 1 |
//! | [`n_way`], [`venn`] | n-way similarity, every Venn cell | generalisation of (8) |
//! | [`odd`] | parity sketches of registers and of elements | Odd Sketch |
//! | [`bottom_k`] | one hash, k smallest | conditional random sampling, tau-strict |
//! | [`storage`] | bits needed for equal precision | b-bit minwise hashing, (12) to (15) |
//! | [`factor`] | how dependent registers change the variance | one-pass sketches |
//! | [`interval`] | score intervals | Wilson (1927) |
//!
//! **Letters**, as in the papers: `k` registers, `b` bits kept of each, `N = 2^b`, `q = 2^-b`, `r = f / D` the
//! density of a set of `f` elements in a hash range of `D`. With 64-bit hashes every `r` is practically zero: that is
//! the *sparse* case, and no sizes are needed. The dense formulas are for permutations of a small universe.
//!
//! **Raw and clamped.** The numeric functions return raw values, which may leave \[0, 1\]; averaging them is unbiased. Only
//! a [`Measured`] is clamped to what is feasible.
//!
//! **Intervals** solve `(estimate - J)^2 = z^2 V(J) / k` for `J`, so the variance is taken at the hypothesis and not
//! at the estimate: they keep their 95% also near 0 and 1, where the estimated variance vanishes. An interval that
//! lies wholly outside the feasible range collapses onto its edge. The coverage is tested in `tests/coverage.rs`.

pub mod bottom_k;
pub mod collision;
pub mod factor;
pub mod hamming;
mod input;
pub mod interval;
pub mod mle;
pub mod n_way;
pub mod odd;
pub mod of;
pub mod size;
pub mod storage;
pub mod three_way;
pub mod three_way_dense;
pub mod two_way;
pub mod venn;
pub mod xor;

use serde::{Deserialize, Deserializer, Serialize};

pub use factor::{Registers, Scheme};

/// Behind an alias so that serde does not take the text for a borrow from its input.
type Reason = &'static str;

/// An estimate with its error bar, or an explicit statement that there is none. Never NaN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// A value with its error bar.
    Value(Measured),
    /// The sketch is full: all that can be said is an upper bound, at 95%.
    Saturated {
        /// The quantity is at most this.
        at_most: f64,
    },
    /// There is nothing to estimate.
    Undefined {
        /// The reason, for people.
        #[serde(deserialize_with = "reason")]
        why: Reason,
    },
}

/// A value, clamped to its feasible range, with standard error and 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The estimate.
    pub value: f64,
    /// Its standard error, by the variance formula taken at the value. It is zero at the ends of the range, where the
    /// interval is not.
    pub standard_error: f64,
    /// Lower end of the 95% interval.
    pub low: f64,
    /// Upper end of the 95% interval.
    pub high: f64,
}

pub(crate) const NOT_FINITE: Reason = "the quantity has no finite value here";
pub(crate) const ONLY_A_BOUND: Reason = "the sketch is saturated: only a lower bound exists";
pub(crate) const NO_SHARED_RANGE: Reason = "no sampled element lies below the common threshold";
const UNKNOWN: Reason = "undefined";
/// Every reason an estimate gives.
const REASONS: [Reason; 5] = [NOT_FINITE, ONLY_A_BOUND, NO_SHARED_RANGE, of::BOTH_EMPTY, of::NO_SIZES];

impl Estimate {
    /// The value, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.measured().map(|m| m.value)
    }

    /// The value with its error bar, if there is one.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Value(measured) => Some(measured),
            _ => None,
        }
    }

    /// A value known without error.
    pub fn exact(value: f64) -> Self {
        Self::clamped(value, 0.0, [value, value], [value, value])
    }

    /// A derived quantity `map(x)`, for a monotone `map` with derivative `slope`.
    ///
    /// The value and both ends are mapped, so the interval keeps its coverage; the standard error follows by the
    /// delta method.
    ///
    /// ```
    /// use benzer_core::estimate::Estimate;
    /// let distance = Estimate::exact(0.8).map_monotone(|j| 1.0 - j, |_| -1.0);
    /// assert!((distance.value().unwrap() - 0.2).abs() < 1e-12);
    /// ```
    pub fn map_monotone(&self, map: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> Self {
        match *self {
            Self::Value(m) => {
                let (one, other) = (map(m.low), map(m.high));
                let ends = [one.min(other), one.max(other)];
                Self::clamped(map(m.value), slope(m.value).abs() * m.standard_error, ends, ends)
            }
            Self::Saturated { at_most } if slope(at_most) < 0.0 => Self::Undefined { why: ONLY_A_BOUND },
            Self::Saturated { at_most } => Self::Saturated { at_most: map(at_most) },
            Self::Undefined { why } => Self::Undefined { why },
        }
    }

    /// The edge where raw numbers become an estimate: everything is clamped to `range`, and the interval holds the value.
    pub(crate) fn clamped(raw: f64, standard_error: f64, ends: [f64; 2], range: [f64; 2]) -> Self {
        let finite = [raw, standard_error, ends[0], ends[1]].iter().all(|x| x.is_finite());
        if !finite || range[0].is_nan() || range[1].is_nan() || range[0] > range[1] {
            return Self::Undefined { why: NOT_FINITE };
        }
        let clamp = |x: f64| x.clamp(range[0], range[1]);
        let value = clamp(raw);
        let (low, high) = (clamp(ends[0]).min(value), clamp(ends[1]).max(value));
        Self::Value(Measured { value, standard_error, low, high })
    }
}

/// Reads a reason back as the constant it was, since an estimate holds no heap memory.
fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reason, D::Error> {
    let text = String::deserialize(deserializer)?;
    let known = REASONS;
    Ok(known.into_iter().find(|&why| why == text).unwrap_or(UNKNOWN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use proptest::prelude::*;

    /// Densities and sizes at their extremes, and in between.
    fn share(seed: u64) -> f64 {
        match seed % 6 {
            0 => 1.0,
            1 => 1e-18,
            2 => 1.0 - 1e-12,
            _ => (hash::mix(seed) >> 11) as f64 / (1u64 << 53) as f64 + 1e-6,
        }
        .min(1.0)
    }

    fn counts<const N: usize>(seed: u64, k: usize) -> [usize; N] {
        let mut counts = [0; N];
        // Few outcomes at a time, so that empty cells and single cells are common.
        let kinds = 1 + (seed % N as u64);
        for i in 0..k {
            counts[((hash::split(seed, i as u64) % kinds + seed / 7) % N as u64) as usize] += 1;
        }
        counts
    }

    /// All estimates that some counts can make.
    fn all(seed: u64, k: usize) -> Vec<Estimate> {
        let schemes =
            [Scheme::Independent, Scheme::Fast { rounds: 3 }, Scheme::OnePermutation, Scheme::SuperMinHash];
        let scheme = schemes[(seed % 4) as usize];
        let registers = Registers { k, scheme };
        let r = [share(seed), share(seed / 3), share(seed / 5)];
        let sizes = r.map(|r| (r * 1e3).max(1.0));
        let known = seed.is_multiple_of(2).then_some([sizes[0], sizes[1]]);
        let [equal, less, greater, _] = counts::<4>(seed, k);
        let order = mle::Order { equal, less, greater: k - equal - less };
        let [all, n12, n13, n23, none] = counts::<5>(seed, k);
        let agreement = three_way::Agreement { all, only: [n12, n13, n23], none };
        let bits = three_way::ThreeWayBits::new([2, 3, 8, 16, 64][(seed % 5) as usize]).unwrap();
        let pairs: Vec<(u32, u32)> = (0..k).map(|i| ((i % 4) as u32, (i * greater % 4) as u32)).collect();
        let venn = venn::cells(&[&[0][..], &counts::<7>(seed, k)].concat(), scheme, &sizes).unwrap();
        let mut estimates = vec![
            two_way::jaccard(equal, bits.get(), registers, known).unwrap(),
            two_way::jaccard_dense(equal, k, 2, [r[0], r[1]]).unwrap(),
            mle::jaccard(order, scheme, [sizes[0], sizes[1]]).unwrap(),
            mle::Dense::new(2, [r[0], r[1]]).unwrap().jaccard(&pairs).unwrap(),
            three_way::jaccard(agreement, bits, scheme, known.map(|_| sizes)).unwrap(),
            three_way_dense::jaccard(agreement, bits, r).unwrap(),
            n_way::b_bit(&counts::<4>(seed, k), 2, scheme, None).unwrap(),
            n_way::full(equal, registers, Some(sizes[0])).unwrap(),
            xor::jaccard(equal, 1, registers, known).unwrap(),
            odd::jaccard(equal, k + 4, registers, known).unwrap(),
            odd::set_size(equal, k + 4).unwrap(),
            hamming::sampled(equal, k, 1e6).unwrap(),
            hamming::projected(equal, k, 0.01, 1e6).unwrap(),
            venn.union.unwrap(),
        ];
        estimates.extend(venn.cells.iter().flat_map(|c| [c.share, c.size.unwrap()]));
        let jaccard = estimates[0];
        estimates.push(size::union(&jaccard, [sizes[0], sizes[1]]).unwrap());
        estimates.push(size::difference(&jaccard, [sizes[0], sizes[1]]).unwrap());
        estimates.push(size::jaccard_from_difference(&estimates[10], [sizes[0], sizes[1]]).unwrap());
        estimates.extend(size::containment(&jaccard, [sizes[0], sizes[1]]).unwrap());
        estimates
    }

    proptest! {
        #[test]
        fn any_counts_give_a_finite_estimate_inside_its_interval(seed: u64, k in 1usize..80) {
            for (i, estimate) in all(seed, k).into_iter().enumerate() {
                match estimate {
                    Estimate::Value(m) => {
                        prop_assert!(m.standard_error >= 0.0 && m.standard_error.is_finite(), "{i}: {m:?}");
                        prop_assert!(0.0 <= m.low && m.low <= m.value && m.value <= m.high, "{i}: {m:?}");
                        prop_assert!(m.high.is_finite(), "{i}: {m:?}");
                    }
                    Estimate::Saturated { at_most } => prop_assert!(at_most.is_finite(), "{i}"),
                    Estimate::Undefined { why } => prop_assert!(false, "{i}: {why}"),
                }
            }
        }
    }

    #[test]
    fn a_value_outside_its_range_is_clamped_with_its_interval() {
        let estimate = Estimate::clamped(-0.2, 0.1, [-0.4, 0.05], [0.0, 1.0]);
        assert_eq!(
            estimate.measured(),
            Some(&Measured { value: 0.0, standard_error: 0.1, low: 0.0, high: 0.05 })
        );
    }

    #[test]
    fn nothing_is_ever_nan() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(Estimate::exact(bad).value(), None);
            assert_eq!(Estimate::clamped(0.5, bad, [0.0, 1.0], [0.0, 1.0]).value(), None);
        }
        let infinite = Estimate::exact(0.0).map_monotone(|x| 1.0 / x, |_| 1.0);
        assert_eq!(infinite, Estimate::Undefined { why: NOT_FINITE });
    }

    #[test]
    fn a_decreasing_map_swaps_the_ends() {
        let estimate = Estimate::clamped(0.5, 0.1, [0.3, 0.8], [0.0, 1.0]);
        let mapped = estimate.map_monotone(|x| 2.0 - 2.0 * x, |_| -2.0);
        assert_eq!(
            mapped.measured(),
            Some(&Measured { value: 1.0, standard_error: 0.2, low: 0.3999999999999999, high: 1.4 })
        );
    }

    #[test]
    fn a_bound_maps_to_a_bound_only_upwards() {
        let saturated = Estimate::Saturated { at_most: 0.5 };
        assert_eq!(saturated.map_monotone(|x| x * 10.0, |_| 10.0), Estimate::Saturated { at_most: 5.0 });
        assert_eq!(saturated.map_monotone(|x| -x, |_| -1.0), Estimate::Undefined { why: ONLY_A_BOUND });
    }

    #[test]
    fn estimates_survive_json() {
        let all = [
            Estimate::clamped(0.1 + 0.2, 0.01, [0.25, 0.35], [0.0, 1.0]),
            Estimate::Saturated { at_most: 0.75 },
            Estimate::Undefined { why: NO_SHARED_RANGE },
        ];
        for estimate in all {
            let text = serde_json::to_string(&estimate).unwrap();
            assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), estimate, "{text}");
        }
        for why in REASONS {
            let text = serde_json::to_string(&Estimate::Undefined { why }).unwrap();
            assert_eq!(
                serde_json::from_str::<Estimate>(&text).unwrap(),
                Estimate::Undefined { why },
                "{text}"
            );
        }
    }
}

//! The threshold as an exact fraction: whether J reaches it is decided in integers, so that 4 of 5 reach 0.8 on every machine.

use std::{fmt, str::FromStr};

use crate::{Error, Result};

/// Digits after the point that a threshold may have.
const DIGITS: usize = 9;

/// A similarity in (0, 1], as written in decimal.
///
/// ```
/// use benzer_core::Threshold;
/// let threshold: Threshold = "0.8".parse()?;
/// assert!(threshold.is_reached(4, 5));
/// assert!(!threshold.is_reached(799_999_999, 1_000_000_000));
/// # Ok::<(), benzer_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold {
    /// In units of 10^-9.
    billionths: u32,
}

impl Threshold {
    /// True if `intersection / union` is at least the threshold. Two empty sets reach none.
    #[inline]
    pub fn is_reached(self, intersection: u64, union: u64) -> bool {
        union > 0
            && u128::from(intersection) * 1_000_000_000 >= u128::from(self.billionths) * u128::from(union)
    }

    /// [`Threshold::is_reached`] of two sets by the elements that they share and those that they have together, counting shared ones twice.
    #[inline]
    pub fn is_reached_by(self, shared: u32, sizes: u32) -> bool {
        let billionths = u64::from(self.billionths);
        sizes > 0 && u64::from(shared) * (1_000_000_000 + billionths) >= billionths * u64::from(sizes)
    }

    /// The fewest elements of a set of some size that a similar set has: the size times the threshold, rounded up. A similar set is also
    /// at least that large.
    #[inline]
    pub fn min_overlap(self, size: u32) -> u32 {
        (u64::from(size) * u64::from(self.billionths)).div_ceil(1_000_000_000) as u32
    }

    /// The fewest elements that two sets with so many elements together must share to reach it.
    #[inline]
    pub fn min_shared(self, sizes: u64) -> u32 {
        let billionths = u128::from(self.billionths);
        (u128::from(sizes) * billionths).div_ceil(1_000_000_000 + billionths) as u32
    }

    /// The fewest elements that are in all of some sets which have so many others in their union; nothing is enough at threshold 1.
    pub fn min_common(self, others: u64) -> Option<u64> {
        let short = 1_000_000_000 - u128::from(self.billionths);
        match (others, short) {
            (0, _) => Some(0),
            (_, 0) => None,
            _ => Some((u128::from(others) * u128::from(self.billionths)).div_ceil(short) as u64),
        }
    }

    /// Seven eighths of it: what is near.
    pub fn lowered(self) -> Self {
        Self { billionths: (u64::from(self.billionths) * 7 / 8).max(1) as u32 }
    }

    /// In which bin of some billionths, counted from the threshold on, a similarity lies. The last one has 1 too.
    pub fn bin(self, intersection: u32, union: u32, width: u32) -> Option<usize> {
        let union = u64::from(union);
        let above =
            (u64::from(intersection) * 1_000_000_000).checked_sub(u64::from(self.billionths) * union)?;
        Some(((above / (u64::from(width) * union).max(1)) as usize).min(self.bins(width).count() - 1))
    }

    /// The bins: number, beginning, end.
    pub fn bins(self, width: u32) -> impl Iterator<Item = (usize, f64, f64)> {
        let value = |billionths: u32| f64::from(billionths.min(1_000_000_000)) / 1e9;
        let n = (1_000_000_000 - self.billionths).div_ceil(width).max(1);
        let from = move |i: u32| self.billionths + i * width;
        (0..n).map(move |i| (i as usize, value(from(i)), value(from(i).saturating_add(width))))
    }

    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        f64::from(self.billionths) / 1e9
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = || Error::parameter("threshold", "above 0 and at most 1, with at most 9 decimals", text);
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let given = !whole.is_empty() || !decimals.is_empty();
        if !given || decimals.len() > DIGITS || whole.len() > 3 || !is_number(whole) || !is_number(decimals) {
            return Err(refuse());
        }
        let billionths: u64 = format!("{whole}{decimals:0<DIGITS$}").parse().map_err(|_| refuse())?;
        if !(1..=1_000_000_000).contains(&billionths) {
            return Err(refuse());
        }
        Ok(Self { billionths: billionths as u32 })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_what_is_written() {
        for (text, billionths) in
            [("0.8", 800_000_000), ("1", 1_000_000_000), (".5", 500_000_000), ("0.123456789", 123_456_789)]
        {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(threshold.billionths, billionths);
            assert_eq!(threshold.to_string().parse::<Threshold>().unwrap(), threshold);
        }
        for text in ["", ".", "0", "1.1", "-0.5", "0.8x", "1e-1", "0.1234567891", "80%", "nan", "99999999999"]
        {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    #[test]
    fn equality_reaches_it_and_one_less_does_not() {
        let threshold: Threshold = "0.7".parse().unwrap();
        assert!(threshold.is_reached(7, 10) && threshold.is_reached(7_000_000, 10_000_000));
        assert!(!threshold.is_reached(6_999_999, 10_000_000) && !threshold.is_reached(0, 0));
    }

    #[test]
    fn the_min_shared_is_the_smallest_intersection_that_reaches_it() {
        for text in ["0.000000001", "0.3", "0.333333333", "0.5", "0.8", "1"] {
            let threshold: Threshold = text.parse().unwrap();
            for sizes in (2..200).chain([1_000_000_001, u64::from(u32::MAX)]) {
                let min = u64::from(threshold.min_shared(sizes));
                assert!(threshold.is_reached(min, sizes - min), "{text} of {sizes}");
                assert!(!threshold.is_reached(min - 1, sizes - min + 1), "{text} of {sizes}");
                let reaches = |shared: u64| threshold.is_reached_by(shared as u32, sizes as u32);
                assert!(reaches(min) && !reaches(min - 1) && !threshold.is_reached_by(0, 0));
            }
        }
    }

    #[test]
    fn the_min_common_reaches_it_and_one_less_does_not() {
        for text in ["0.000000001", "0.3", "0.333333333", "0.5", "0.8", "0.999999999"] {
            let threshold: Threshold = text.parse().unwrap();
            for others in 1..200 {
                let min = threshold.min_common(others).unwrap();
                assert!(threshold.is_reached(min, others + min), "{text} and {others}");
                assert!(!threshold.is_reached(min - 1, others + min - 1), "{text} and {others}");
            }
        }
        let one: Threshold = "1".parse().unwrap();
        assert_eq!((one.min_common(0), one.min_common(1)), (Some(0), None));
    }

    #[test]
    fn bins_begin_at_the_threshold_and_end_at_one() {
        let threshold: Threshold = "0.72".parse().unwrap();
        let bins: Vec<_> = threshold.bins(50_000_000).collect();
        assert_eq!((bins.len(), bins[0], bins[5]), (6, (0, 0.72, 0.77), (5, 0.97, 1.0)));
        let bin = |intersection| threshold.bin(intersection, 100, 50_000_000);
        assert_eq!(
            [71, 72, 76, 77, 96, 97, 100].map(bin),
            [None, Some(0), Some(0), Some(1), Some(4), Some(5), Some(5)]
        );
        let one: Threshold = "1".parse().unwrap();
        assert_eq!((one.bins(50_000_000).count(), one.bin(7, 7, 50_000_000)), (1, Some(0)));
        assert_eq!(one.lowered().to_string(), "0.875");
    }

    #[test]
    fn the_min_overlap_is_the_smallest_subset_that_reaches_it() {
        for text in ["0.000000001", "0.3", "0.333333333", "0.5", "0.7", "0.8", "0.999999999", "1"] {
            let threshold: Threshold = text.parse().unwrap();
            for size in (1..200).chain([1_000_000_000, u32::MAX]) {
                let min = threshold.min_overlap(size);
                assert!((1..=size).contains(&min));
                assert!(threshold.is_reached(min.into(), size.into()), "{text} of {size}");
                assert!(!threshold.is_reached(u64::from(min) - 1, size.into()), "{text} of {size}");
            }
        }
    }
}

//! One hash function, the k smallest hashes (conditional random sampling).
//!
//! - [`tau_strict`], the one to use: with `tau` the smaller of the two largest hashes (infinite for a sketch that
//!   holds its whole set), every element below `tau` is known to be in a set or not. `J = common / kept` over those
//!   is exactly unbiased, uses about `2k/(1+J)` elements, and is exact when both sets fit.
//! - [`union_k`]: the k smallest of the union. Unbiased too, but it throws away part of what it could see.
//! - [`naive`]: common hashes over k, as in the report. It tends to `|A n B| / max(|A|, |B|)`, not to the Jaccard
//!   similarity; here for the record.
//!
//! Elements are sampled without replacement, so the variance is `J(1-J)/n * (U-n)/(U-1)` for `n` elements of a union of `U`.

use super::{Estimate, NO_SHARED_RANGE, input, interval};
use crate::{Error, Result};

/// The smallest hashes of a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smallest<'a> {
    /// Ascending and distinct.
    pub hashes: &'a [u64],
    /// Whether these are all hashes of the set.
    pub complete: bool,
    /// Number of elements of the set, if known.
    pub size: Option<f64>,
}

/// What a sample of the union says: `common` of `kept` elements lie in all sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Elements in all sets.
    pub common: usize,
    /// Elements whose membership is known for all sets.
    pub kept: usize,
}

/// Common hashes over `k`: biased, for the record.
pub fn naive(sketches: [Smallest<'_>; 2], k: usize) -> Result<f64> {
    let k = input::registers(k)?;
    let common = merged(&sketches)?.filter(|&(_, members)| members == 2).count();
    Ok(common as f64 / k)
}

/// The sample of [`tau_strict`], for two sets or more.
pub fn sample(sketches: &[Smallest<'_>]) -> Result<Sample> {
    let tau = threshold(sketches);
    let below = merged(sketches)?.take_while(|&(hash, _)| tau.is_none_or(|tau| hash < tau));
    Ok(counted(below, sketches.len()))
}

/// The sample of [`union_k`]: the `k` smallest of the union, or all of it.
pub fn union_sample(sketches: &[Smallest<'_>], k: usize) -> Result<Sample> {
    input::registers(k)?;
    Ok(counted(merged(sketches)?.take(k), sketches.len()))
}

/// Jaccard similarity of two sets, or n-way similarity of more, from every element below the common threshold.
///
/// ```
/// use benzer_core::estimate::{Estimate, bottom_k::{Smallest, tau_strict}};
/// let whole = |hashes| Smallest { hashes, complete: true, size: None };
/// assert_eq!(tau_strict(&[whole(&[1, 2, 3]), whole(&[2, 3, 4])])?, Estimate::exact(0.5));
/// # Ok::<(), benzer_core::Error>(())
/// ```
pub fn tau_strict(sketches: &[Smallest<'_>]) -> Result<Estimate> {
    let sample = sample(sketches)?;
    let Some(tau) = threshold(sketches) else { return Ok(exact(sample)) };
    Ok(sampled(sample, |j| union(sketches, j).unwrap_or_else(|| extrapolated(sample.kept, tau))))
}

/// Jaccard similarity of two sets, or n-way similarity of more, from the `k` smallest hashes of the union.
pub fn union_k(sketches: &[Smallest<'_>], k: usize) -> Result<Estimate> {
    let sample = union_sample(sketches, k)?;
    let whole = sketches.iter().all(|s| s.complete);
    let last = merged(sketches)?.take(k).last().map_or(0, |(hash, _)| hash);
    let seen = merged(sketches)?.count();
    if whole && seen <= k {
        return Ok(exact(sample));
    }
    Ok(sampled(sample, |j| match union(sketches, j) {
        _ if whole => seen as f64,
        Some(union) => union,
        None => extrapolated(sample.kept, last),
    }))
}

/// Wilson's interval with the finite-population factor, each end at its own union.
fn sampled(sample: Sample, union: impl Fn(f64) -> f64) -> Estimate {
    if sample.kept == 0 {
        return Estimate::Undefined { why: NO_SHARED_RANGE };
    }
    let n = sample.kept as f64;
    let raw = sample.common as f64 / n;
    let variance = |j: f64| {
        let u = union(j.clamp(0.0, 1.0)).max(n);
        let left = if u <= 1.0 { 0.0 } else { (u - n) / (u - 1.0) };
        interval::Quadratic::BINOMIAL.scaled(left)
    };
    let ends = interval::score_moving(raw, n, variance);
    Estimate::clamped(raw, (variance(raw).at(raw) / n).sqrt(), ends, [0.0, 1.0])
}

/// The sample that hashes are, each with the number of sketches that hold it.
fn counted(hashes: impl Iterator<Item = (u64, usize)>, n_sketches: usize) -> Sample {
    hashes.fold(Sample { common: 0, kept: 0 }, |sample, (_, members)| Sample {
        common: sample.common + usize::from(members == n_sketches),
        kept: sample.kept + 1,
    })
}

fn exact(sample: Sample) -> Estimate {
    match sample.kept {
        0 => Estimate::Undefined { why: NO_SHARED_RANGE },
        n => Estimate::exact(sample.common as f64 / n as f64),
    }
}

/// The smallest of the largest hashes; `None` when every sketch holds its whole set. An incomplete sketch without
/// hashes knows nothing.
fn threshold(sketches: &[Smallest<'_>]) -> Option<u64> {
    sketches.iter().filter(|s| !s.complete).map(|s| s.hashes.last().copied().unwrap_or(0)).min()
}

/// The union of two sets of known size at similarity `j`.
fn union(sketches: &[Smallest<'_>], j: f64) -> Option<f64> {
    let [first, second] = sketches else { return None };
    let size = |s: &Smallest<'_>| if s.complete { Some(s.hashes.len() as f64) } else { s.size };
    Some((size(first)? + size(second)?) / (1.0 + j))
}

/// The union from the spacing of its hashes: `kept` of them lie below `tau`.
fn extrapolated(kept: usize, tau: u64) -> f64 {
    kept as f64 * libm::exp2(64.0) / (tau as f64).max(1.0)
}

/// The union in ascending order, each hash with the number of sketches that hold it.
fn merged<'a>(sketches: &[Smallest<'a>]) -> Result<impl Iterator<Item = (u64, usize)> + use<'a>> {
    if sketches.len() < 2 {
        return Err(Error::parameter("sketches", "at least 2", sketches.len()));
    }
    if sketches.iter().any(|s| s.hashes.windows(2).any(|w| w[0] >= w[1])) {
        return Err(Error::parameter("hashes", "ascending and distinct", "an unsorted list"));
    }
    let mut rest: Vec<&[u64]> = sketches.iter().map(|s| s.hashes).collect();
    Ok(std::iter::from_fn(move || {
        let next = rest.iter().filter_map(|r| r.first()).min().copied()?;
        let mut members = 0;
        for list in &mut rest {
            if list.first() == Some(&next) {
                *list = &list[1..];
                members += 1;
            }
        }
        Some((next, members))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(hashes: &[u64]) -> Smallest<'_> {
        Smallest { hashes, complete: false, size: None }
    }

    #[test]
    fn the_threshold_element_itself_is_not_kept() {
        let sketches = [part(&[1, 5, 9]), part(&[1, 2, 7])];
        assert_eq!(sample(&sketches).unwrap(), Sample { common: 1, kept: 3 });
        let whole = Smallest { complete: true, ..part(&[1, 5, 9]) };
        assert_eq!(sample(&[whole, part(&[1, 2, 7])]).unwrap(), Sample { common: 1, kept: 3 });
        assert_eq!(sample(&[whole, Smallest { complete: true, ..part(&[1, 2, 7]) }]).unwrap().kept, 5);
    }

    #[test]
    fn tau_strict_is_exactly_unbiased() {
        // Every order of six elements; two sets of four share two of them; k = 2.
        let (mut total, mut runs) = (0.0, 0.0);
        let mut order: Vec<u64> = (0..6).collect();
        permute(&mut order, 0, &mut |ranks| {
            let set = |members: &[usize]| {
                let mut hashes: Vec<u64> = members.iter().map(|&i| ranks[i]).collect();
                hashes.sort_unstable();
                hashes.truncate(2);
                hashes
            };
            let (a, b) = (set(&[0, 1, 2, 3]), set(&[2, 3, 4, 5]));
            // With k = 2 at least one element lies strictly below the threshold.
            let found = sample(&[part(&a), part(&b)]).unwrap();
            total += found.common as f64 / found.kept as f64;
            runs += 1.0;
        });
        assert!((total / runs - 1.0f64 / 3.0).abs() < 1e-12, "{}", total / runs);
    }

    fn permute(items: &mut Vec<u64>, from: usize, visit: &mut impl FnMut(&[u64])) {
        if from == items.len() {
            return visit(items);
        }
        for i in from..items.len() {
            items.swap(from, i);
            permute(items, from + 1, visit);
            items.swap(from, i);
        }
    }

    #[test]
    fn three_sketches_count_what_all_share() {
        let sketches = [part(&[1, 2, 3, 9]), part(&[1, 3, 4, 8]), part(&[1, 3, 5, 7])];
        assert_eq!(sample(&sketches).unwrap(), Sample { common: 2, kept: 5 });
    }

    #[test]
    fn nothing_below_the_threshold_is_undefined() {
        let estimate = tau_strict(&[part(&[5]), part(&[7])]).unwrap();
        assert_eq!(estimate, Estimate::Undefined { why: NO_SHARED_RANGE });
        let empty = Smallest { complete: true, ..part(&[]) };
        assert_eq!(tau_strict(&[empty, empty]).unwrap().value(), None);
        assert_eq!(tau_strict(&[part(&[]), part(&[7])]).unwrap().value(), None);
    }

    #[test]
    fn a_sample_of_the_whole_union_is_exact() {
        let sized = |hashes, size| Smallest { hashes, complete: false, size: Some(size) };
        let estimate = tau_strict(&[sized(&[1, 2, 3, 4], 4.0), sized(&[2, 3, 5, 6], 4.0)]).unwrap();
        assert!(estimate.measured().unwrap().standard_error > 0.0);
        let whole = |hashes| Smallest { hashes, complete: true, size: None };
        let both = [whole(&[1, 2, 3][..]), whole(&[2, 3, 4][..])];
        assert_eq!(union_k(&both, 4).unwrap(), Estimate::exact(0.5));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(tau_strict(&[part(&[1])]).is_err() && tau_strict(&[part(&[2, 1]), part(&[1])]).is_err());
        assert!(
            union_k(&[part(&[1]), part(&[1])], 0).is_err() && naive([part(&[1]), part(&[1])], 0).is_err()
        );
    }
}

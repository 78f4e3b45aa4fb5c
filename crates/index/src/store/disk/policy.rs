//! Which segments are made one, and when.
//!
//! Sizes are cut into tiers. Segments of a tier are merged so that it never has more than so many of them, with the least writing that this allows: their sizes are the terms of their sum, in units of the
//! tier, as a sum of binomial coefficients, C(a, k) + C(b, k - 1) + ... with a > b > ... ("Bigtable merge compaction", Mathieu, Staelin, Young, Yousefi). With k = 2 these are 1, 1+1, 3, 3+1, 3+2, 6. After n units
//! each record was written k/(k+1) m times on average, where C(m + k, k) = n: for ten million records in files of at least 262,144, k = 3, that is 3.3 times. When a tier has grown to the unit of the next, all
//! of it moves there in one merge.

/// How many segments a tier may have, and from which number of records on a segment belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tier {
    pub unit: usize,
    pub max: usize,
}

/// From which segment on all should be one, if there is something to do. The last one may be new.
pub(super) fn unmerged(sizes: &[usize], tiers: &[Tier]) -> Option<usize> {
    if let Some(from) = left_behind(sizes, tiers) {
        return Some(from);
    }
    let (last, before) = sizes.split_last()?;
    // What becomes one in any case: at first the new one, then all of each tier that has grown into the next.
    let (mut from, mut coming) = (before.len(), *last);
    for (i, tier) in tiers.iter().enumerate() {
        let next = tiers.get(i + 1).map_or(usize::MAX, |next| next.unit);
        let start = sizes[..from].iter().rposition(|size| *size >= next).map_or(0, |at| at + 1);
        let sum = coming + sizes[start..from].iter().sum::<usize>();
        if sum >= next {
            (from, coming) = (start, sum);
        } else {
            from = start + staying(&sizes[start..from], coming, *tier);
            break;
        }
    }
    (from < before.len()).then_some(from)
}

/// Many may have come while others were being merged: from where on all should be one because a segment lies before one of a higher tier, or a tier has too many.
fn left_behind(sizes: &[usize], tiers: &[Tier]) -> Option<usize> {
    let level = |size: usize| tiers.iter().filter(|tier| size >= tier.unit).count();
    let mut highest = 0;
    let before_higher = (0..sizes.len()).rev().filter(|&i| {
        highest = level(sizes[i]).max(highest);
        level(sizes[i]) < highest
    });
    let first = before_higher.last();
    // From here on levels only go down, so that each tier is a range.
    let whole = &sizes[..first.unwrap_or(sizes.len())];
    let mut start = 0;
    for of_tier in whole.chunk_by(|a, b| level(*a) == level(*b)) {
        let tier = level(of_tier[0]).checked_sub(1).map(|i| tiers[i]);
        if let Some((tier, (last, others))) = tier.zip(of_tier.split_last())
            && others.len() >= tier.max
        {
            return Some(start + staying(others, *last, tier));
        }
        start += of_tier.len();
    }
    first
}

/// How many of the first segments of a tier stay as they are when a new one comes.
pub(super) fn staying(sizes: &[usize], coming: usize, Tier { unit, max }: Tier) -> usize {
    let mut left = coming + sizes.iter().sum::<usize>();
    for (i, size) in sizes.iter().enumerate() {
        let may_be = max - i;
        if may_be == 1 || *size / unit < term(left / unit, may_be) {
            return i;
        }
        left -= size;
    }
    sizes.len()
}

/// The largest binomial coefficient of `k` that is not above `n`.
fn term(n: usize, k: usize) -> usize {
    // C(a, k) = C(a - 1, k) * a / (a - k), from C(k, k) on.
    let (mut term, mut a) = (if n == 0 { 0 } else { 1 }, k);
    while term > 0 {
        let next = term * (a + 1) / (a + 1 - k);
        if next > n {
            break;
        }
        (term, a) = (next, a + 1);
    }
    term
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIERS: [Tier; 3] =
        [Tier { unit: 1, max: 2 }, Tier { unit: 100, max: 2 }, Tier { unit: 1000, max: 3 }];

    /// Puts batches one after the other; segments in the end, and how often a record was written on average.
    fn filled(n: usize, batch: impl Fn(usize) -> usize) -> (Vec<usize>, f64) {
        let (mut sizes, mut written, mut all) = (Vec::new(), 0, 0);
        for i in 0..n {
            sizes.push(batch(i));
            all += batch(i);
            written += batch(i);
            while let Some(from) = unmerged(&sizes, &TIERS) {
                let merged = sizes.drain(from..).sum();
                sizes.push(merged);
                written += merged;
            }
            let max: usize = TIERS.iter().map(|tier| tier.max).sum();
            assert!(sizes.len() <= max, "{sizes:?}");
            assert!(sizes.iter().filter(|size| **size >= 1000).count() <= 3, "{sizes:?}");
        }
        (sizes, written as f64 / all as f64)
    }

    #[test]
    fn sizes_of_a_tier_are_terms_of_binomial_coefficients() {
        let tier = [Tier { unit: 1, max: 2 }];
        let mut sizes = Vec::new();
        let mut seen = Vec::new();
        for _ in 0..7 {
            sizes.push(1);
            while let Some(from) = unmerged(&sizes, &tier) {
                let merged = sizes.drain(from..).sum();
                sizes.push(merged);
            }
            seen.push(sizes.clone());
        }
        let expected: [&[usize]; 7] = [&[1], &[1, 1], &[3], &[3, 1], &[3, 2], &[6], &[6, 1]];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_came_while_others_were_merged_is_not_left() {
        let many = [&[3000][..], &[1063; 58], &[21, 14]].concat();
        for mut sizes in
            [vec![7; 37], vec![2000, 7, 7, 7, 35, 700, 7], vec![7, 2000, 7], vec![7, 7, 700], many]
        {
            let sum: usize = sizes.iter().sum();
            while let Some(from) = unmerged(&sizes, &TIERS) {
                let merged = sizes.drain(from..).sum();
                sizes.push(merged);
            }
            assert_eq!(sizes.iter().sum::<usize>(), sum);
            assert!(sizes.len() <= 7 && sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        }
    }

    #[test]
    fn few_segments_are_left_and_little_is_written_whatever_the_batches_are() {
        // One by one: three tiers. In units of the last: C(m + 3, 3) = 80 has m = 6.
        let (sizes, written) = filled(80_000, |_| 1);
        assert_eq!(sizes.iter().sum::<usize>(), 80_000);
        assert!(written < 24.0, "{written}");
        let (_, written) = filled(80, |_| 1000);
        assert!(written < 6.0, "{written}");
        filled(3000, |i| 1 + i * i % 977);
        filled(40, |i| 50_000 >> (i % 16));
    }
}

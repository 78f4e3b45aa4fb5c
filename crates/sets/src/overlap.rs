//! How many elements sorted sets share.

/// Where one set is so many times larger, its elements are looked up instead of walked.
const GALLOP: usize = 16;
/// Steps between two looks at whether enough can still come.
const STRIDE: usize = 32;

/// The number of elements in both of two sorted sets without repetitions; nothing if they are fewer than `min_shared`.
pub(crate) fn overlap(a: &[u64], b: &[u64], min_shared: u32) -> Option<u32> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let min_shared = min_shared as usize;
    let n = if large.len() / GALLOP > small.len() {
        let mut left = large;
        small.iter().filter(|&&element| is_next(&mut left, element)).count()
    } else {
        walk(small, large, min_shared)?
    };
    (n >= min_shared).then_some(n as u32)
}

/// The elements in both of two sorted sets, in order.
pub(crate) fn common(a: &[u64], b: &[u64], into: &mut Vec<u64>) {
    into.clear();
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut left = large;
    into.extend(small.iter().copied().filter(|&element| is_next(&mut left, element)));
}

/// Both sets step by step, without a branch that depends on the elements.
fn walk(a: &[u64], b: &[u64], min_shared: usize) -> Option<usize> {
    let (mut i, mut j, mut n) = (0, 0, 0);
    loop {
        // Each step passes at most one element of each set.
        let left = (a.len() - i).min(b.len() - j);
        if n + left < min_shared {
            return None;
        }
        if left == 0 {
            return Some(n);
        }
        for _ in 0..left.min(STRIDE) {
            let (x, y) = (a[i], b[j]);
            n += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
}

/// True if an element is in what is left of a sorted set, which then begins after it.
fn is_next(left: &mut &[u64], element: u64) -> bool {
    let mut step = 1;
    while step < left.len() && left[step] < element {
        step *= 2;
    }
    let place = left[..left.len().min(step + 1)].partition_point(|&other| other < element);
    let is_there = left.get(place) == Some(&element);
    *left = &left[place + usize::from(is_there)..];
    is_there
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn sets() -> impl Strategy<Value = (BTreeSet<u64>, BTreeSet<u64>)> {
        let set = |n: usize| prop::collection::btree_set(0u64..600, 0..n);
        prop_oneof![(set(200), set(200)), (set(8), set(400)), (set(400), set(3))]
    }

    proptest! {
        #[test]
        fn what_is_shared_is_the_intersection((a, b) in sets(), min_shared in 0u32..60) {
            let expected: Vec<u64> = a.intersection(&b).copied().collect();
            let (a, b): (Vec<u64>, Vec<u64>) = (a.into_iter().collect(), b.into_iter().collect());
            let n = expected.len() as u32;
            prop_assert_eq!(overlap(&a, &b, min_shared), (n >= min_shared).then_some(n));
            let mut shared = vec![7];
            common(&a, &b, &mut shared);
            prop_assert_eq!(shared, expected);
        }
    }
}

//! The shortest edit script between two sequences: Myers, "An O(ND) difference algorithm" (1986), greedy and forward.
//!
//! Time O((n + m) d), memory O(d^2) for d edits; `most_edits` bounds both.

use std::ops::Range;

/// A run of equal, removed or added items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// In both: where in the first, where in the second.
    Same(Range<usize>, Range<usize>),
    /// Only in the first.
    Removed(Range<usize>),
    /// Only in the second.
    Added(Range<usize>),
}

/// How `a` becomes `b`, or `None` if that takes more than `most_edits` removals and additions.
///
/// ```
/// use benzer_dedup::diff::{Run, runs};
/// let script = runs(&[1, 2, 3], &[1, 9, 3], 10).unwrap();
/// assert_eq!(script, [Run::Same(0..1, 0..1), Run::Removed(1..2), Run::Added(1..2), Run::Same(2..3, 2..3)]);
/// ```
pub fn runs<T: Eq>(a: &[T], b: &[T], max_edits: usize) -> Option<Vec<Run>> {
    let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (inner_a, inner_b) = (&a[prefix..], &b[prefix..]);
    let suffix = inner_a.iter().rev().zip(inner_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (n, m) = (inner_a.len() - suffix, inner_b.len() - suffix);
    let steps = trace(&inner_a[..n], &inner_b[..m], max_edits)?;
    let mut script = Script::default();
    script.same(0, 0, prefix);
    walk(&steps, n, m, prefix, &mut script);
    script.same(prefix + n, prefix + m, suffix);
    Some(script.grouped())
}

/// Joins changes with fewer equal items between them than half of `n`: they would cut a changed sentence into crumbs.
pub fn without_crumbs(runs: Vec<Run>, n: usize) -> Vec<Run> {
    let last = runs.len().saturating_sub(1);
    let is_crumb = |i: usize, length: usize| i > 0 && i < last && length < n.div_ceil(2).max(2);
    let mut joined: Vec<Run> = Vec::new();
    let (mut removed, mut added) = (0..0, 0..0);
    for (i, run) in runs.into_iter().enumerate() {
        match run {
            Run::Removed(range) => removed.end = range.end,
            Run::Added(range) => added.end = range.end,
            Run::Same(a, b) if is_crumb(i, b.len()) => (removed.end, added.end) = (a.end, b.end),
            Run::Same(a, b) => {
                push_changes(&mut joined, &removed, &added);
                (removed, added) = (a.end..a.end, b.end..b.end);
                joined.push(Run::Same(a, b));
            }
        }
    }
    push_changes(&mut joined, &removed, &added);
    joined
}

fn push_changes(runs: &mut Vec<Run>, removed: &Range<usize>, added: &Range<usize>) {
    runs.extend((!removed.is_empty()).then(|| Run::Removed(removed.clone())));
    runs.extend((!added.is_empty()).then(|| Run::Added(added.clone())));
}

/// The furthest reach on every diagonal `k`, at index `k + d`, before each number `d` of edits.
fn trace<T: Eq>(a: &[T], b: &[T], max_edits: usize) -> Option<Vec<Vec<usize>>> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let mut steps: Vec<Vec<usize>> = Vec::new();
    for d in 0..=max_edits as isize {
        let before = steps.last();
        let mut reach = Vec::with_capacity(2 * d as usize + 1);
        for k in -d..=d {
            let mut x = if (k + d) % 2 == 0 { start(before, k, d) as isize } else { 0 };
            if (k + d) % 2 == 0 {
                while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                    x += 1;
                }
            }
            reach.push(x as usize);
            if (k + d) % 2 == 0 && x >= n && x - k >= m {
                steps.push(reach);
                return Some(steps);
            }
        }
        steps.push(reach);
    }
    None
}

/// Where diagonal `k` is entered with the `d`-th edit.
fn start(before: Option<&Vec<usize>>, k: isize, d: isize) -> usize {
    let Some(before) = before else { return 0 };
    let at = |k: isize| before[(k + d - 1) as usize];
    if is_addition(before, k, d) { at(k + 1) } else { at(k - 1) + 1 }
}

fn is_addition(before: &[usize], k: isize, d: isize) -> bool {
    let at = |k: isize| before[(k + d - 1) as usize];
    k == -d || (k != d && at(k - 1) < at(k + 1))
}

/// Walks back from the end and writes the script from its end.
fn walk(steps: &[Vec<usize>], n: usize, m: usize, offset: usize, script: &mut Script) {
    let (mut x, mut y) = (n, m);
    let mut reversed = Vec::new();
    for d in (1..steps.len() as isize).rev() {
        let (k, before) = (x as isize - y as isize, &steps[d as usize - 1]);
        let addition = is_addition(before, k, d);
        let entered = start(Some(before), k, d);
        let other = (entered as isize - k) as usize;
        reversed.push((entered, other, x - entered, Some(addition)));
        (x, y) = if addition { (entered, other - 1) } else { (entered - 1, other) };
    }
    script.same(offset, offset, x);
    for (x, y, same, addition) in reversed.into_iter().rev() {
        match addition {
            Some(true) => script.added.push(offset + y - 1),
            _ => script.removed.push(offset + x - 1),
        }
        script.same(offset + x, offset + y, same);
    }
}

/// Collects edits; what is removed between two equal runs comes before what is added there.
#[derive(Default)]
struct Script {
    runs: Vec<Run>,
    removed: Vec<usize>,
    added: Vec<usize>,
}

impl Script {
    fn same(&mut self, x: usize, y: usize, length: usize) {
        if length > 0 {
            self.close();
            match self.runs.last_mut() {
                Some(Run::Same(a, b)) if a.end == x && b.end == y => {
                    (a.end, b.end) = (x + length, y + length)
                }
                _ => self.runs.push(Run::Same(x..x + length, y..y + length)),
            }
        }
    }

    fn close(&mut self) {
        if let [first, .., last] | [first @ last] = self.removed[..] {
            self.runs.push(Run::Removed(first..last + 1));
        }
        if let [first, .., last] | [first @ last] = self.added[..] {
            self.runs.push(Run::Added(first..last + 1));
        }
        self.removed.clear();
        self.added.clear();
    }

    fn grouped(mut self) -> Vec<Run> {
        self.close();
        self.runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies a script and checks that it covers both sides in order.
    fn check(a: &[u8], b: &[u8]) -> usize {
        let script = runs(a, b, 1000).unwrap();
        let (mut x, mut y, mut edits) = (0, 0, 0);
        for run in script {
            match run {
                Run::Same(i, j) => {
                    assert_eq!((i.start, j.start), (x, y));
                    assert_eq!(a[i.clone()], b[j.clone()]);
                    (x, y) = (i.end, j.end);
                }
                Run::Removed(i) => {
                    assert_eq!(i.start, x);
                    (x, edits) = (i.end, edits + i.len());
                }
                Run::Added(j) => {
                    assert_eq!(j.start, y);
                    (y, edits) = (j.end, edits + j.len());
                }
            }
        }
        assert_eq!((x, y), (a.len(), b.len()));
        edits
    }

    /// The length of the shortest script, by the table.
    fn shortest(a: &[u8], b: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut next = vec![i + 1];
            for (j, y) in b.iter().enumerate() {
                next.push(if x == y { row[j] } else { 1 + row[j + 1].min(next[j]) });
            }
            row = next;
        }
        row[b.len()]
    }

    #[test]
    fn scripts_are_right_and_as_short_as_possible() {
        let mut random = benzer_core::hash::stream(5);
        let mut sequence = |letters: u64| -> Vec<u8> {
            let length = random.next().unwrap() % 25;
            (0..length).map(|_| (random.next().unwrap() % letters) as u8).collect()
        };
        for round in 0..2000 {
            let (a, b) = (sequence(2 + round % 5), sequence(2 + round % 5));
            assert_eq!(check(&a, &b), shortest(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn too_many_edits_are_refused() {
        assert_eq!(runs(b"abc", b"xyz", 5), None);
        assert!(runs(b"abc", b"xyz", 6).is_some());
    }

    #[test]
    fn equal_and_empty_sequences_have_no_edits() {
        assert_eq!(runs::<u8>(&[], &[], 0), Some(vec![]));
        assert_eq!(runs(b"ab", b"ab", 0), Some(vec![Run::Same(0..2, 0..2)]));
    }
}

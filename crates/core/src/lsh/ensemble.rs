//! LSH Ensemble: containment through bands, for sets of very different sizes (Zhu, Nargesian, Pu and Miller, 2016).
//!
//! A set of size x that contains the share t of a query of size q has the Jaccard similarity t / (x / q + 1 - t). Sets are cut into partitions by their size, so that
//! the largest size of a partition stands for all of its sets, and each query asks each partition with the bands that suit the ratio x / q.

use super::curve::{Quadrature, Shape, of_bands};

/// The bands and rows (at most `max_rows`, `bands * rows <= k`) with the least weighted error around a containment threshold, for sets that are `ratio` times
/// the size of the query.
pub fn optimal(k: usize, max_rows: usize, threshold: f64, ratio: f64, [w_fp, w_fn]: [f64; 2]) -> Shape {
    let jaccard = |containment: f64| containment / (1.0 + ratio - containment);
    let below = Quadrature::new(0.0, threshold.min(ratio));
    let above = (ratio > threshold).then(|| Quadrature::new(threshold, ratio.min(1.0)));
    let mut best = (f64::INFINITY, Shape { bands: 1, rows: 1 });
    let mut costs = Vec::new();
    for rows in 1..=max_rows.min(k) {
        let low = below.powers_of(rows, jaccard);
        let high = above.as_ref().map(|above| (above, above.powers_of(rows, jaccard)));
        for bands in 1..=k / rows {
            let wrong = below.integral(&low, |band| of_bands(band, bands));
            let missed = high
                .as_ref()
                .map_or(0.0, |(above, high)| above.integral(high, |band| 1.0 - of_bands(band, bands)));
            costs.push((bands, rows, w_fp * wrong + w_fn * missed));
        }
    }
    // Fewer bands first, then fewer rows: of equal costs the first wins.
    costs.sort_by_key(|&(bands, rows, _)| (bands, rows));
    for (bands, rows, cost) in costs {
        if cost < best.0 {
            best = (cost, Shape { bands, rows });
        }
    }
    best.1
}

/// Cuts sets into at most `parts` intervals of sizes, both ends included, so that the expected number of false positives is the least. `sizes` are the distinct sizes in
/// increasing order, `counts` how many sets have each.
///
/// ```
/// use benzer_core::lsh::ensemble::partitions;
/// assert_eq!(partitions(&[1, 2, 100], &[5, 5, 5], 2), [(1, 2), (100, 100)]);
/// ```
pub fn partitions(sizes: &[u64], counts: &[u64], parts: usize) -> Vec<(u64, u64)> {
    let n = sizes.len();
    if n == 0 {
        return Vec::new();
    }
    if parts < 2 {
        return vec![(sizes[0], sizes[n - 1])];
    }
    if parts >= n {
        return sizes.iter().map(|&size| (size, size)).collect();
    }
    // least[p][u]: the fewest false positives with p + 1 parts of the sizes up to u; cut[p][u]: the last size before the last part.
    let sums = Sums::new(sizes, counts);
    let mut least = vec![(0..n).map(|u| sums.false_positives(0, u)).collect::<Vec<f64>>()];
    let mut cut = vec![vec![0; n]];
    for p in 1..parts {
        let mut row = (vec![f64::INFINITY; n], vec![0; n]);
        for u in p..n {
            for (before, fewest) in least[p - 1].iter().enumerate().take(u).skip(p - 1) {
                let cost = fewest + sums.false_positives(before + 1, u);
                if cost < row.0[u] {
                    (row.0[u], row.1[u]) = (cost, before);
                }
            }
        }
        least.push(row.0);
        cut.push(row.1);
    }
    let mut found = Vec::with_capacity(parts);
    let mut last = n - 1;
    for p in (1..parts).rev() {
        let before = cut[p][last];
        found.push((sizes[before + 1], sizes[last]));
        last = before;
    }
    found.push((sizes[0], sizes[last]));
    found.reverse();
    found
}

/// Sums over the smaller sizes, so that any interval costs the same.
struct Sums<'a> {
    sizes: &'a [u64],
    /// Before each size, the sets and their total size.
    before: Vec<(f64, f64)>,
}

impl<'a> Sums<'a> {
    fn new(sizes: &'a [u64], counts: &[u64]) -> Self {
        let mut before = vec![(0.0, 0.0)];
        for (&size, &count) in sizes.iter().zip(counts) {
            let (sets, total) = before[before.len() - 1];
            before.push((sets + count as f64, total + size as f64 * count as f64));
        }
        Self { sizes, before }
    }

    /// Expected false positives when `sizes[to]` stands for all sizes from `from` on.
    fn false_positives(&self, from: usize, to: usize) -> f64 {
        let (start, end) = (self.before[from], self.before[to + 1]);
        (end.0 - start.0) - (end.1 - start.1) / self.sizes[to] as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn false_positives(sizes: &[u64], counts: &[u64], from: usize, to: usize) -> f64 {
        let largest = sizes[to] as f64;
        let share = |i: usize| (largest - sizes[i] as f64) / largest * counts[i] as f64;
        (from..=to).map(share).sum()
    }

    /// The least cost of all ways to cut, by trying them.
    fn by_force(sizes: &[u64], counts: &[u64], from: usize, parts: usize) -> f64 {
        if parts == 1 {
            return false_positives(sizes, counts, from, sizes.len() - 1);
        }
        (from..sizes.len() - parts + 1)
            .map(|to| false_positives(sizes, counts, from, to) + by_force(sizes, counts, to + 1, parts - 1))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_other_cut_is_better() {
        let sizes = [3, 4, 9, 10, 11, 40, 41, 90, 200, 201];
        let counts = [5, 1, 7, 2, 2, 9, 1, 1, 4, 4];
        for parts in 2..9 {
            let found = partitions(&sizes, &counts, parts);
            assert_eq!(found.len(), parts);
            let place = |size: u64| sizes.iter().position(|&s| s == size).unwrap();
            let cost: f64 =
                found.iter().map(|&(l, u)| false_positives(&sizes, &counts, place(l), place(u))).sum();
            assert!((cost - by_force(&sizes, &counts, 0, parts)).abs() < 1e-9, "{parts}: {found:?}");
        }
        assert_eq!(partitions(&sizes, &counts, 1), [(3, 201)]);
        assert_eq!(partitions(&sizes[..2], &counts[..2], 5), [(3, 3), (4, 4)]);
        assert!(partitions(&[], &[], 3).is_empty());
    }

    #[test]
    fn a_larger_set_is_asked_with_fewer_rows() {
        let shape = |ratio| optimal(128, 8, 0.5, ratio, [0.5, 0.5]);
        assert!(shape(0.5).rows >= shape(20.0).rows);
        let Shape { bands, rows } = shape(1.0);
        assert!(bands * rows <= 128 && rows <= 8);
    }
}

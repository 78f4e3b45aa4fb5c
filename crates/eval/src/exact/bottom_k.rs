//! The exact mean square errors of estimates from the smallest `k` hashes of two sets.
//!
//! In the order of their hashes, elements of the union are drawn without replacement: common ones, and ones of either set alone. A common element lies in both
//! samples until one of the sets has shown `k` elements. So the naive count is the number `x` of common elements at that moment, when one set has
//! shown `i = k - x` elements of its own and the other `j <= i`. Drawing exactly these has the multivariate hypergeometric probability; the last of
//! the `t = x + i + j` elements is each of them equally likely, and must be one that made a set reach `k`: common or of the first set if `j < i`,
//! common if `j = i`. A set of at most `k` elements is kept whole and ends nothing. What tau-strict keeps is all before the last element.

/// Two sets of `sizes` elements with `common` in both, of which the `k` smallest hashes are kept.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    sizes: [usize; 2],
    common: usize,
    k: usize,
    /// Logarithms of factorials.
    factorials: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Exact {
    /// Of the share of `k` that lies in both samples.
    pub naive: f64,
    /// Of the share of common elements among the `k` smallest of the union.
    pub union_k: f64,
    /// Of the share of common elements below the smaller of both thresholds.
    pub tau_strict: f64,
}

impl Samples {
    pub fn new(sizes: [usize; 2], common: usize, k: usize) -> Self {
        let mut factorials = vec![0.0; sizes[0] + sizes[1] - common + 1];
        for i in 1..factorials.len() {
            factorials[i] = factorials[i - 1] + (i as f64).ln();
        }
        Self { sizes, common, k, factorials }
    }

    pub fn errors(&self, truth: f64) -> Exact {
        let k = self.k as f64;
        let union = (self.factorials.len() - 1) as f64;
        let jaccard = self.common as f64 / union;
        let bias = (jaccard - truth).powi(2);
        let mut exact = Exact { naive: 0.0, union_k: bias, tau_strict: 0.0 };
        if k < union {
            exact.union_k += jaccard * (1.0 - jaccard) / k * (union - k) / (union - 1.0);
        }
        if self.sizes.iter().all(|&n| n <= self.k) {
            return Exact { naive: (self.common as f64 / k - truth).powi(2), tau_strict: bias, ..exact };
        }
        self.walk(|p, [x, is_common, kept]| {
            exact.naive += p * (x / k - truth).powi(2);
            exact.tau_strict += p * ((x - is_common) / kept.max(1.0) - truth).powi(2);
        });
        exact
    }

    /// Every way in which the walk ends: its probability, the common elements, whether the last one is common, and how many come before it.
    fn walk(&self, mut each: impl FnMut(f64, [f64; 3])) {
        let own = self.sizes.map(|n| n - self.common);
        let ends = self.sizes.map(|n| n > self.k);
        for set in [0, 1] {
            let other = 1 - set;
            if !ends[set] {
                continue;
            }
            for x in self.k.saturating_sub(own[set])..=self.common.min(self.k) {
                let i = self.k - x;
                // The other set has not ended the walk before; that both end it at once is counted for the first.
                let max = if ends[other] { i.min(own[other]) } else { own[other] };
                for j in 0..=max {
                    let t = (x + i + j) as f64;
                    let ways =
                        self.choose(self.common, x) + self.choose(own[set], i) + self.choose(own[other], j);
                    let p = (ways - self.choose(self.factorials.len() - 1, x + i + j)).exp();
                    let [x, i_of, before] = [x as f64, i as f64, t - 1.0];
                    let is_both = ends[other] && i == j;
                    if !is_both || set == 0 {
                        each(p * x / t, [x, 1.0, before]);
                    }
                    if !is_both {
                        each(p * i_of / t, [x, 0.0, before]);
                    }
                }
            }
        }
    }

    fn choose(&self, n: usize, k: usize) -> f64 {
        self.factorials[n] - self.factorials[k] - self.factorials[n - k]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use benzer_core::estimate::bottom_k::{Smallest, naive, sample, union_sample};

    /// Over all orders of the union, with the estimators themselves.
    fn brute_force([n, other]: [usize; 2], common: usize, k: usize, truth: f64) -> Exact {
        let union = n + other - common;
        let (mut orders, mut sum) = (Vec::new(), Exact::default());
        permute(&mut (0..union as u64).collect::<Vec<_>>(), 0, &mut orders);
        for ranks in &orders {
            // The hashes of the common elements come first, then those of each set.
            let of = |own: std::ops::Range<usize>| {
                let mut hashes: Vec<u64> = ranks[..common].iter().chain(&ranks[own]).copied().collect();
                hashes.sort_unstable();
                hashes.truncate(k);
                hashes
            };
            let hashes = [of(common..n), of(n..union)];
            let [a, b] = [(&hashes[0], n), (&hashes[1], other)].map(|(hashes, n)| Smallest {
                hashes,
                complete: n <= k,
                size: Some(n as f64),
            });
            let error = |estimate: f64| (estimate - truth).powi(2) / orders.len() as f64;
            let share = |s: benzer_core::estimate::bottom_k::Sample| s.common as f64 / s.kept.max(1) as f64;
            sum.naive += error(naive([a, b], k).unwrap());
            sum.union_k += error(share(union_sample(&[a, b], k).unwrap()));
            sum.tau_strict += error(share(sample(&[a, b]).unwrap()));
        }
        sum
    }

    fn permute(ranks: &mut Vec<u64>, from: usize, all: &mut Vec<Vec<u64>>) {
        if from == ranks.len() {
            all.push(ranks.clone());
            return;
        }
        for i in from..ranks.len() {
            ranks.swap(from, i);
            permute(ranks, from + 1, all);
            ranks.swap(from, i);
        }
    }

    #[test]
    fn errors_are_those_over_all_orders() {
        for (n, common, k) in [
            ([4, 4], 2, 2),
            ([5, 5], 3, 3),
            ([4, 4], 1, 3),
            ([4, 4], 0, 2),
            ([4, 4], 3, 4),
            ([3, 3], 3, 2),
            ([5, 3], 2, 2),
            ([2, 5], 1, 3),
            ([5, 2], 2, 2),
        ] {
            let truth = 0.4;
            let (got, expected) =
                (Samples::new(n, common, k).errors(truth), brute_force(n, common, k, truth));
            for (got, expected) in [
                (got.naive, expected.naive),
                (got.union_k, expected.union_k),
                (got.tau_strict, expected.tau_strict),
            ] {
                assert!((got - expected).abs() < 1e-12, "n {n:?}, common {common}, k {k}: {got} {expected}");
            }
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (n, common, k) in
            [([200, 200], 100, 50), ([1000, 1000], 667, 200), ([50, 300], 10, 50), ([900, 80], 20, 60)]
        {
            let mut sum = 0.0;
            Samples::new(n, common, k).walk(|p, _| sum += p);
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

//! Maximum likelihood when the set sizes are known (b-bit minwise hashing, section 7.3; there a cubic, in truth a
//! quadratic).
//!
//! **Full registers.** Each register has one of three outcomes, with probabilities linear in `R` and `w_i = f_i / (f1+f2)`:
//!
//! ```text
//! Pr(z1 = z2) = R          Pr(z1 < z2) = w1 - w2 R          Pr(z1 > z2) = w2 - w1 R
//! R_mle = 2 n0 w1 w2 / (X + Y + sqrt((X-Y)^2 + 4 n1 n2 (w1 w2)^2)),    X = (n0+n1) w2^2,   Y = (n0+n2) w1^2
//! ```
//!
//! For sets of unequal size and high containment this cuts the variance many times. For equal sizes it is `n0 / k`.
//!
//! **Dense b-bit registers.** The 2^b x 2^b table of value pairs says more than its diagonal, since the low bits of
//! dense minima reveal which set came first: [`Dense`]. On 64-bit hashes there is nothing to gain.

use super::{Estimate, Scheme, collision::Collision, factor::Registers, input, interval, size, two_way};
use crate::{Error, Result};

/// How many registers of the first set are equal to, less than and greater than those of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// `z1 = z2`.
    pub equal: usize,
    /// `z1 < z2`.
    pub less: usize,
    /// `z1 > z2`.
    pub greater: usize,
}

/// The maximum likelihood estimate in closed form. Always within 0 and `min / max`.
pub fn raw(order: Order, sizes: [f64; 2]) -> f64 {
    let [w1, w2] = shares(sizes);
    let (n0, n1, n2) = (order.equal as f64, order.less as f64, order.greater as f64);
    if order.equal == 0 {
        return 0.0;
    }
    let (x, y) = ((n0 + n1) * w2 * w2, (n0 + n2) * w1 * w1);
    let root = ((x - y) * (x - y) + 4.0 * n1 * n2 * (w1 * w2) * (w1 * w2)).sqrt();
    2.0 * n0 * w1 * w2 / (x + y + root)
}

/// Fisher information of one register at similarity `jaccard`; infinite at both ends of the range.
pub fn information(jaccard: f64, sizes: [f64; 2]) -> f64 {
    let [_, less, greater] = outcomes(jaccard, sizes);
    let [w1, w2] = shares(sizes);
    1.0 / jaccard + w2 * w2 / less + w1 * w1 / greater
}

/// Variance of `equal / k` divided by the variance of the maximum likelihood estimate.
pub fn gain(jaccard: f64, sizes: [f64; 2]) -> f64 {
    jaccard * (1.0 - jaccard) * information(jaccard, sizes)
}

/// Jaccard similarity of sets of known size from full registers, with a likelihood-ratio interval.
pub fn jaccard(order: Order, scheme: Scheme, sizes: [f64; 2]) -> Result<Estimate> {
    let registers = Registers { k: order.equal + order.less + order.greater, scheme };
    let k = input::registers(registers.k)?;
    let range = size::jaccard_range(Some(sizes))?;
    let raw = raw(order, sizes).min(range[1]);
    let factor = |j: f64| registers.factor(Some(size::union_at(j, sizes)));
    let best = log_likelihood(order, sizes, raw);
    let accepts = |j: f64| {
        let deviance = 2.0 * (best - log_likelihood(order, sizes, j));
        deviance <= interval::Z95 * interval::Z95 * factor(j)
    };
    let ends = range.map(|end| interval::edge(raw, end, accepts));
    let standard_error = (factor(raw) / (k * information(raw, sizes))).sqrt();
    Ok(Estimate::clamped(raw, standard_error, ends, range))
}

fn shares(sizes: [f64; 2]) -> [f64; 2] {
    sizes.map(|f| f / (sizes[0] + sizes[1]))
}

/// Probabilities of equal, less and greater; rounding never makes them negative.
fn outcomes(jaccard: f64, sizes: [f64; 2]) -> [f64; 3] {
    let [w1, w2] = shares(sizes);
    [jaccard, (w1 - w2 * jaccard).max(0.0), (w2 - w1 * jaccard).max(0.0)]
}

fn log_likelihood(order: Order, sizes: [f64; 2], jaccard: f64) -> f64 {
    let [equal, less, greater] = outcomes(jaccard, sizes);
    let term = |n: usize, p: f64| if n == 0 { 0.0 } else { n as f64 * libm::log(p.max(1e-300)) };
    term(order.equal, equal) + term(order.less, less) + term(order.greater, greater)
}

/// The model of dense b-bit registers: value pairs of two sets that fill shares of a permuted universe.
#[derive(Debug, Clone)]
pub struct Dense {
    b: u32,
    densities: [f64; 2],
    /// `gaps[i][d]`: the gap to the next element of set `i` is `d` modulo 2^b.
    gaps: [Vec<f64>; 2],
}

impl Dense {
    /// A model for `b` up to 8 and densities above zero. With more bits, the order of full registers says as much.
    pub fn new(b: u32, densities: [f64; 2]) -> Result<Self> {
        input::densities(&densities)?;
        if !(1..=8).contains(&b) {
            return Err(Error::parameter("bits", "1 to 8 for a table of value pairs", b));
        }
        let gaps = densities.map(|r| {
            let first = residues(r, b);
            let n = first.len();
            (0..n).map(|d| first[(d + n - 1) % n]).collect()
        });
        Ok(Self { b, densities, gaps })
    }

    /// Probability of the value pair `(i, j)` for every `i` and `j`, row by row.
    pub fn cells(&self, jaccard: f64) -> Vec<f64> {
        let first = self.first(jaccard);
        let n = first.len() as u32;
        (0..n * n).map(|cell| self.cell(&first, jaccard, cell / n, cell % n)).collect()
    }

    /// The maximum likelihood estimate from the value pairs of all registers.
    pub fn raw(&self, pairs: &[(u32, u32)]) -> Result<f64> {
        let cells = self.observed(pairs)?;
        Ok(self.fit(&cells))
    }

    /// Jaccard similarity with a likelihood-ratio interval. Where the table says no more than its diagonal
    /// (`2^b (r1+r2) < 1/2`) this is estimator (9).
    pub fn jaccard(&self, pairs: &[(u32, u32)]) -> Result<Estimate> {
        let cells = self.observed(pairs)?;
        if self.is_sparse() {
            let equal = pairs.iter().filter(|(i, j)| i == j).count();
            return two_way::jaccard_dense(equal, pairs.len(), self.b, self.densities);
        }
        let range = size::jaccard_range_dense(self.densities)?;
        if range[0] >= range[1] {
            return Ok(Estimate::exact(range[1]));
        }
        let raw = self.fit(&cells).clamp(range[0], range[1]);
        let best = self.log_likelihood(&cells, raw);
        let accepts = |j: f64| 2.0 * (best - self.log_likelihood(&cells, j)) <= interval::Z95 * interval::Z95;
        let ends = range.map(|end| interval::edge(raw, end, accepts));
        // Registers that say nothing leave the whole interval open.
        let standard_error = (1.0 / self.observed_information(&cells, raw)).sqrt().min(ends[1] - ends[0]);
        Ok(Estimate::clamped(raw, standard_error, ends, range))
    }

    /// Fisher information of one register at similarity `jaccard`.
    pub fn information(&self, jaccard: f64) -> f64 {
        let n = 1u32 << self.b;
        let at = self.cells(jaccard);
        let cells: Vec<_> = (0..n * n).map(|cell| ((cell / n, cell % n), at[cell as usize])).collect();
        self.observed_information(&cells, jaccard)
    }

    /// The sum of squared scores over value pairs, by differences of their probabilities.
    fn observed_information(&self, cells: &[((u32, u32), f64)], jaccard: f64) -> f64 {
        let [low, high] = self.bracket();
        let step = 1e-5 * (high - low);
        let j = jaccard.clamp(low + step, high - step);
        let [below, at, above] = [j - step, j, j + step].map(|j| (j, self.first(j)));
        let score = |(x, y): (u32, u32)| {
            let p = |(j, first): &(f64, Vec<f64>)| self.cell(first, *j, x, y);
            (p(&above) - p(&below)) / (2.0 * step) / p(&at).max(1e-300)
        };
        cells.iter().map(|&(pair, weight)| weight * score(pair) * score(pair)).sum()
    }

    fn is_sparse(&self) -> bool {
        libm::exp2(f64::from(self.b)) * (self.densities[0] + self.densities[1]) < 0.5
    }

    /// Distinct value pairs with their counts.
    fn observed(&self, pairs: &[(u32, u32)]) -> Result<Vec<((u32, u32), f64)>> {
        input::registers(pairs.len())?;
        let limit = 1u32 << self.b;
        if let Some(bad) = pairs.iter().find(|(i, j)| *i >= limit || *j >= limit) {
            return Err(Error::parameter("register", format!("below {limit}"), format!("{bad:?}")));
        }
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable();
        Ok(sorted.chunk_by(|x, y| x == y).map(|same| (same[0], same.len() as f64)).collect())
    }

    /// The grid first, because the likelihood is smooth but not provably concave; then golden section around its best point.
    fn fit(&self, cells: &[((u32, u32), f64)]) -> f64 {
        if self.is_sparse() {
            let total: f64 = cells.iter().map(|c| c.1).sum();
            let equal: f64 = cells.iter().filter(|c| c.0.0 == c.0.1).map(|c| c.1).sum();
            let line = Collision::dense(self.b, self.densities).expect("densities were checked in `new`");
            return line.jaccard(equal / total);
        }
        const GRID: usize = 64;
        let [low, high] = self.bracket();
        let step = (high - low) / GRID as f64;
        let at = |i: usize| low + step * i as f64;
        let values: Vec<f64> = (0..=GRID).map(|i| self.log_likelihood(cells, at(i))).collect();
        let best = (0..=GRID).max_by(|&x, &y| values[x].total_cmp(&values[y])).unwrap_or(0);
        let (from, to) = (at(best.saturating_sub(1)), at((best + 1).min(GRID)));
        golden(from, to, |j| self.log_likelihood(cells, j))
    }

    fn bracket(&self) -> [f64; 2] {
        size::jaccard_range_dense(self.densities).expect("densities were checked in `new`")
    }

    fn log_likelihood(&self, cells: &[((u32, u32), f64)], jaccard: f64) -> f64 {
        let first = self.first(jaccard);
        cells
            .iter()
            .map(|&((x, y), count)| count * libm::log(self.cell(&first, jaccard, x, y).max(1e-300)))
            .sum()
    }

    /// The first hit of the union, modulo 2^b.
    fn first(&self, jaccard: f64) -> Vec<f64> {
        residues((self.densities[0] + self.densities[1]) / (1.0 + jaccard), self.b)
    }

    /// Probability of the value pair `(x, y)`.
    fn cell(&self, first: &[f64], jaccard: f64, x: u32, y: u32) -> f64 {
        let [w1, w2] = shares(self.densities);
        let (x, y, n) = (x as usize, y as usize, first.len());
        let both = if x == y { first[x] * jaccard } else { 0.0 };
        let only_first = (w1 - w2 * jaccard).max(0.0) * self.gaps[1][(y + n - x) % n];
        let only_second = (w2 - w1 * jaccard).max(0.0) * self.gaps[0][(x + n - y) % n];
        both + first[x] * only_first + first[y] * only_second
    }
}

/// `r (1-r)^i / (1 - (1-r)^N)` for every `i` below `N = 2^b`.
fn residues(r: f64, b: u32) -> Vec<f64> {
    let n = 1usize << b;
    if r >= 1.0 {
        let mut certain = vec![0.0; n];
        certain[0] = 1.0;
        return certain;
    }
    let log = libm::log1p(-r);
    let scale = r / -libm::expm1(n as f64 * log);
    (0..n).map(|i| scale * libm::exp(i as f64 * log)).collect()
}

/// The maximum of a unimodal function, to 1e-10.
fn golden(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (from, to);
    let (mut x, mut y) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut fx, mut fy) = (f(x), f(y));
    while high - low > 1e-10 {
        if fx >= fy {
            (high, y, fy) = (y, x, fx);
            x = high - RATIO * (high - low);
            fx = f(x);
        } else {
            (low, x, fx) = (x, y, fy);
            y = low + RATIO * (high - low);
            fy = f(y);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_maximises_the_likelihood() {
        for (equal, less, greater, sizes) in
            [(10, 50, 40, [1000.0, 300.0]), (3, 90, 7, [5000.0, 700.0]), (17, 3, 80, [300.0, 1000.0])]
        {
            let order = Order { equal, less, greater };
            let top = size::jaccard_range(Some(sizes)).unwrap()[1];
            let found = golden(0.0, top, |j| log_likelihood(order, sizes, j));
            assert!((found - raw(order, sizes)).abs() < 1e-6);
        }
    }

    #[test]
    fn gain_table() {
        let containments = [0.10, 0.30, 0.50, 0.80, 0.90, 0.95, 0.99];
        let table = [
            (1.00, [1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
            (0.80, [1.003, 1.011, 1.029, 1.159, 1.429, 2.016, 6.923]),
            (0.50, [1.019, 1.076, 1.185, 1.815, 2.909, 5.122, 22.89]),
            (0.20, [1.059, 1.231, 1.543, 3.201, 5.976, 11.53, 55.97]),
            (0.10, [1.082, 1.316, 1.740, 3.969, 7.687, 15.12, 74.63]),
            (0.05, [1.096, 1.369, 1.861, 4.445, 8.753, 17.37, 86.30]),
        ];
        for (ratio, row) in table {
            for (containment, expected) in containments.into_iter().zip(row) {
                let sizes = [1.0, ratio];
                let j = size::jaccard_of_intersection(containment * ratio, sizes);
                let got = gain(j, sizes);
                assert!((got / expected - 1.0).abs() < 6e-4, "{ratio} {containment}: {got} {expected}");
            }
        }
    }

    #[test]
    fn cell_tables_add_up_and_their_trace_is_the_collision_probability() {
        for (b, densities, j) in [(1, [0.5, 0.3], 0.3), (3, [0.6, 0.035], 0.02), (4, [0.2, 0.2], 0.7)] {
            let cells = Dense::new(b, densities).unwrap().cells(j);
            let n = 1usize << b;
            let trace: f64 = (0..n).map(|i| cells[i * n + i]).sum();
            let line = Collision::dense(b, densities).unwrap();
            assert!((cells.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!((trace - line.probability(j)).abs() < 1e-14);
        }
    }

    #[test]
    fn gain_over_the_diagonal_is_the_published_one() {
        let table = [
            (0.3, 0.03, 0.5, [1.032, 1.076, 1.321]),
            (0.3, 0.03, 0.9, [1.032, 1.086, 1.558]),
            (0.6, 0.035, 0.5, [1.226, 1.497, 1.973]),
            (0.57, 0.554, 0.5, [1.549, 1.743, 1.817]),
        ];
        for (r1, r2, share, row) in table {
            let j = size::jaccard_of_intersection(share * f64::min(r1, r2), [r1, r2]);
            for (b, expected) in [1, 2, 4].into_iter().zip(row) {
                let line = Collision::dense(b, [r1, r2]).unwrap();
                let got = Dense::new(b, [r1, r2]).unwrap().information(j) * line.variance(1.0).at(j);
                assert!((got / expected - 1.0).abs() < 2e-3, "{r1} {r2} {share} b {b}: {got} {expected}");
            }
        }
    }

    #[test]
    fn sparse_tables_fall_back_on_the_diagonal() {
        let pairs: Vec<(u32, u32)> =
            (0..100).map(|i| (i % 4, if i < 60 { i % 4 } else { (i + 1) % 4 })).collect();
        let model = Dense::new(2, [1e-6, 2e-6]).unwrap();
        let line = Collision::dense(2, [1e-6, 2e-6]).unwrap();
        assert_eq!(model.raw(&pairs).unwrap(), line.jaccard(0.6));
    }

    #[test]
    fn one_sided_counts_still_have_an_interval() {
        let order = Order { equal: 20, less: 80, greater: 0 };
        let measured = *jaccard(order, Scheme::Independent, [1000.0, 300.0]).unwrap().measured().unwrap();
        assert!((measured.value - 0.3).abs() < 1e-12 && measured.standard_error < 1e-6);
        assert!(measured.low < 0.3 && measured.low > 0.2 && (measured.high - 0.3).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused() {
        let none = Order { equal: 0, less: 0, greater: 0 };
        assert!(jaccard(none, Scheme::Independent, [1.0, 1.0]).is_err());
        let some = Order { equal: 1, less: 0, greater: 0 };
        assert!(jaccard(some, Scheme::Independent, [1.0, 0.0]).is_err());
        assert!(Dense::new(9, [0.5, 0.5]).is_err() && Dense::new(1, [0.0, 0.5]).is_err());
        let model = Dense::new(1, [0.5, 0.5]).unwrap();
        assert!(model.raw(&[]).is_err() && model.raw(&[(2, 0)]).is_err());
    }
}

//! How similar all groups of three sets of a collection are: counted exactly, for each group, and kept as a histogram.
//!
//! A collection of thousands has billions of groups, of which hardly any is similar. What a sketch retrieves of them depends on the three-way similarity and on the sum of the pair
//! similarities only, so cells of both, with their means, stand for the groups. Cells end where thresholds are, so which groups reach one is exact.

use std::collections::HashMap;

use benzer_core::Features;

use crate::exact::three_way::Reach;
use crate::measure::retrieval::Retrieved;

/// Cells of the similarity, from 0 to 1: thresholds are multiples of 1 / 500.
const SIMILARITIES: usize = 500;
/// Cells of what pairs add to three times the similarity, as a share of the most they can add.
const EXCESSES: usize = 50;
/// A similarity that equals the end of a cell must not miss it by rounding.
const ROUNDING: f64 = 1e-9;

/// Groups of about the same similarities: how many, and the sums of their similarities and of those of their pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    groups: u64,
    jaccard: f64,
    pairs: f64,
}

pub(crate) struct Census {
    cells: Vec<Cell>,
}

impl Census {
    /// Counts all groups of three, one by one: a minute on one core for the 6.7 billion of 3,430 documents.
    pub fn new(sets: &[Features]) -> Self {
        let mut census = Self { cells: vec![Cell::default(); (SIMILARITIES + 1) * (EXCESSES + 1)] };
        let collection = Collection::new(sets);
        let n = sets.len();
        // Of the pairs of a set with all others, for each two of the group.
        let pairs: Vec<Vec<(f64, f64)>> = (0..n).map(|i| collection.pairs(i)).collect();
        let mut common = vec![0u32; n];
        for i in 0..n {
            for j in i + 1..n {
                collection.count_common(i, j, &mut common);
                let (of_i, of_j) = (&pairs[i], &pairs[j]);
                let (both, pair) = of_i[j];
                for l in j + 1..n {
                    let ((with_i, pair_i), (with_j, pair_j)) = (of_i[l], of_j[l]);
                    let pairs = pair + pair_i + pair_j;
                    // Most have nothing in common.
                    if common[l] == 0 {
                        census.add(0, pairs, [0.0, pairs]);
                        continue;
                    }
                    let all = f64::from(std::mem::take(&mut common[l]));
                    let sizes = collection.sizes[i] + collection.sizes[j] + collection.sizes[l];
                    let jaccard = all / (sizes - both - with_i - with_j + all);
                    let excess = if jaccard < 1.0 { (pairs - 3.0 * jaccard) / (1.0 - jaccard) } else { 0.0 };
                    let row = ((jaccard + ROUNDING) * SIMILARITIES as f64) as usize;
                    census.add(row, pairs, [jaccard, excess]);
                }
            }
        }
        census
    }

    #[inline]
    fn add(&mut self, row: usize, pairs: f64, [jaccard, excess]: [f64; 2]) {
        let column = (excess.clamp(0.0, 1.0) * EXCESSES as f64) as usize;
        let cell = &mut self.cells[row * (EXCESSES + 1) + column];
        cell.groups += 1;
        cell.jaccard += jaccard;
        cell.pairs += pairs;
    }

    pub fn groups(&self) -> f64 {
        self.cells.iter().map(|cell| cell.groups as f64).sum()
    }

    /// How many of them reach a threshold, a multiple of 1 / 500.
    pub fn reaching(&self, threshold: f64) -> f64 {
        self.cells[first(threshold)..].iter().map(|cell| cell.groups as f64).sum()
    }

    /// What a sketch is expected to retrieve, and rightly, at each threshold.
    pub fn expected<const N: usize>(&self, reach: &mut Reach<N>, thresholds: [f64; N]) -> [Retrieved; N] {
        let mut sum = [Retrieved::default(); N];
        for (place, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.groups > 0) {
            let n = cell.groups as f64;
            let chances = reach.at(cell.jaccard / n, cell.pairs / n);
            for ((sum, p), threshold) in sum.iter_mut().zip(chances).zip(thresholds) {
                sum.add(n * p, place >= first(threshold));
            }
        }
        sum
    }
}

/// The first cell that reaches a threshold.
fn first(threshold: f64) -> usize {
    (threshold * SIMILARITIES as f64).round() as usize * (EXCESSES + 1)
}

/// Sets and postings of their elements, which are numbered.
struct Collection {
    sizes: Vec<f64>,
    /// For each set its elements, and where the set is in the postings of each.
    elements: Vec<Vec<(usize, usize)>>,
    postings: Vec<Vec<usize>>,
    /// Which elements a set has, a bit for each.
    has: Vec<Vec<u64>>,
}

impl Collection {
    fn new(sets: &[Features]) -> Self {
        let (mut numbers, mut postings) = (HashMap::new(), Vec::<Vec<usize>>::new());
        let mut elements = Vec::new();
        for (i, set) in sets.iter().enumerate() {
            let of = set.elements().iter().map(|element| {
                let number = *numbers.entry(*element).or_insert(postings.len());
                if number == postings.len() {
                    postings.push(Vec::new());
                }
                postings[number].push(i);
                (number, postings[number].len() - 1)
            });
            elements.push(of.collect::<Vec<_>>());
        }
        let mut has = vec![vec![0u64; postings.len().div_ceil(64)]; sets.len()];
        for (bits, elements) in has.iter_mut().zip(&elements) {
            elements.iter().for_each(|&(number, _)| bits[number / 64] |= 1 << (number % 64));
        }
        Self { sizes: sets.iter().map(Features::size).collect(), elements, postings, has }
    }

    /// With every set, how many elements there are in both, and the similarity.
    fn pairs(&self, i: usize) -> Vec<(f64, f64)> {
        let mut common = vec![0.0; self.sizes.len()];
        for &(number, _) in &self.elements[i] {
            self.postings[number].iter().for_each(|&j| common[j] += 1.0);
        }
        let jaccard = |(j, both): (usize, f64)| (both, both / (self.sizes[i] + self.sizes[j] - both));
        common.into_iter().enumerate().map(jaccard).collect()
    }

    /// Adds how many elements each set after `j` has in common with `i` and `j`.
    fn count_common(&self, i: usize, j: usize, common: &mut [u32]) {
        for &(number, place) in &self.elements[j] {
            if self.has[i][number / 64] >> (number % 64) & 1 == 1 {
                self.postings[number][place + 1..].iter().for_each(|&l| common[l] += 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn all_groups_are_counted_as_one_by_one() {
        let mut random = Random::new(3);
        let sets: Vec<Features> = (0..30)
            .map(|i| Features::set((0..40).filter(|e| random.below(4) > (e + i) % 3).collect::<Vec<u64>>()))
            .filter(|set| !set.is_empty())
            .collect();
        let census = Census::new(&sets);
        let n = sets.len();
        assert_eq!(census.groups(), (n * (n - 1) * (n - 2) / 6) as f64);
        let thresholds = [0.1, 0.2, 0.3];
        let mut reaching = [0.0; 3];
        let mut expected = [Retrieved::default(); 3];
        let mut reach = Reach::new(4, 60, thresholds);
        for i in 0..n {
            for j in i + 1..n {
                for l in j + 1..n {
                    let of = |i: usize| sets[i].elements();
                    let all = of(i).iter().filter(|e| of(j).contains(e) && of(l).contains(e)).count() as f64;
                    let union: std::collections::BTreeSet<u64> =
                        [i, j, l].iter().flat_map(|&i| of(i)).copied().collect();
                    let jaccard = all / union.len() as f64;
                    let pair = |i: usize, j: usize| sets[i].jaccard(&sets[j]).unwrap();
                    let chances = reach.at(jaccard, pair(i, j) + pair(i, l) + pair(j, l));
                    for (t, threshold) in thresholds.into_iter().enumerate() {
                        let is = f64::from(u8::from(jaccard >= threshold - ROUNDING));
                        reaching[t] += is;
                        expected[t].all += chances[t];
                        expected[t].right += is * chances[t];
                    }
                }
            }
        }
        assert!(reaching[2] > 10.0 && reaching[0] > reaching[2], "{reaching:?}");
        assert_eq!(thresholds.map(|threshold| census.reaching(threshold)), reaching);
        let got = census.expected(&mut Reach::new(4, 60, thresholds), thresholds);
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got.all - expected.all).abs() < 0.01 * expected.all, "{got:?} {expected:?}");
            assert!((got.right - expected.right).abs() < 0.01 * expected.right, "{got:?} {expected:?}");
        }
    }
}

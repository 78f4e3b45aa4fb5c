//! Cluster sizes by Zipf's law: a size of k has probability proportional to 1 / k^2, so that the r-th largest cluster is about
//! 1 / r as large as the largest one.

use crate::random::Random;

const MIN_SIZE: usize = 2;

/// The law, cut at a largest size. Weights are integers: the same draw on any machine.
#[derive(Debug)]
pub struct Zipf {
    cumulative: Vec<u64>,
}

impl Zipf {
    /// Sizes from 2 to `largest`.
    pub fn new(largest: usize) -> Self {
        let weights = (MIN_SIZE..=largest.max(MIN_SIZE)).map(|size| (1u64 << 40) / (size * size) as u64);
        let cumulative = weights
            .scan(0, |total, weight| {
                *total += weight;
                Some(*total)
            })
            .collect();
        Self { cumulative }
    }

    /// The size of one cluster.
    pub fn draw(&self, random: &mut Random) -> usize {
        let total = *self.cumulative.last().expect("at least one size") as usize;
        let target = random.below(total) as u64;
        MIN_SIZE + self.cumulative.partition_point(|&sum| sum <= target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_size_is_a_quarter_as_frequent_and_the_cut_holds() {
        let (zipf, mut random) = (Zipf::new(100), Random::new(3, 0));
        let sizes: Vec<usize> = (0..200_000).map(|_| zipf.draw(&mut random)).collect();
        let count = |size| sizes.iter().filter(|&&s| s == size).count() as f64;
        assert!((count(2) / count(4) - 4.0).abs() < 0.3, "{} {}", count(2), count(4));
        assert!(sizes.iter().all(|&size| (2..=100).contains(&size)));
    }
}

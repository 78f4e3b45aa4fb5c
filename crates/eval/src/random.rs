//! Random numbers for simulations: one seed, one stream.

use benzer_core::hash;

#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: hash::mix(seed) }
    }

    #[inline]
    pub fn next(&mut self) -> u64 {
        // SplitMix64: an odd step through all states, mixed.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash::mix(self.state)
    }

    /// A number below `n`, each equally likely.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number of at least 0 and below 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How many of `n` independent draws fall into each cell of these probabilities; what is left of 1 is the last one's.
    pub fn multinomial<const N: usize>(&mut self, n: usize, chances: [f64; N]) -> [usize; N] {
        let mut counts = [0; N];
        for _ in 0..n {
            let mut place = self.unit();
            let cell = chances.iter().position(|p| {
                place -= p;
                place < 0.0
            });
            counts[cell.unwrap_or(N - 1)] += 1;
        }
        counts
    }

    /// Different numbers below `n`.
    pub fn places<const N: usize>(&mut self, n: usize) -> [usize; N] {
        let mut places: Vec<usize> = (0..n).collect();
        for i in 0..N {
            places.swap(i, i + self.below((n - i) as u64) as usize);
        }
        std::array::from_fn(|i| places[i])
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moments;

    #[test]
    fn numbers_are_uniform_and_normal() {
        let mut random = Random::new(1);
        let uniform: Moments = (0..100_000).map(|_| random.below(10) as f64).collect();
        assert!((uniform.mean().value - 4.5).abs() < 5.0 * uniform.mean().error);
        assert!((uniform.variance() - 8.25).abs() < 0.2);
        let normal: Moments = (0..100_000).map(|_| random.normal()).collect();
        assert!(
            normal.mean().value.abs() < 5.0 * normal.mean().error && (normal.variance() - 1.0).abs() < 0.03
        );
    }
}

//! Random numbers that are the same on any machine: the core's stream of a seed, read one by one.

use benzer_core::hash;

/// A position in the stream of one seed.
#[derive(Debug, Clone)]
pub struct Random {
    seed: u64,
    position: u64,
}

impl Random {
    /// The stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { seed: hash::split(seed, stream), position: 0 }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.position += 1;
        hash::split(self.seed, self.position - 1)
    }

    /// A number in `0..n`, by the high half of a product; its bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number in `[low, high)`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A standard normal number (Box-Muller, with `libm` because the platform's logarithm may round differently).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.between(0.0, 1.0)));
        radius * libm::cos(self.between(0.0, std::f64::consts::TAU))
    }

    /// A random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_numbers_have_mean_zero_and_variance_one() {
        let mut random = Random::new(1, 0);
        let sample: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = sample.iter().sum::<f64>() / 20_000.0;
        let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::new(2, 0).shuffle(&mut items);
        assert_ne!(items[..5], [0, 1, 2, 3, 4]);
        items.sort_unstable();
        assert!(items.into_iter().eq(0..100));
    }
}

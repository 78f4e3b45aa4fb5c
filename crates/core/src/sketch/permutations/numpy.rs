//! The parameters that datasketch draws from NumPy's legacy generator: MT19937 with masked rejection.

use super::MERSENNE_61;
use crate::{Error, Result};

/// NumPy's legacy generator takes 32-bit seeds only.
pub(super) fn seed(seed: u64) -> Result<u32> {
    u32::try_from(seed).map_err(|_| Error::parameter("seed", "below 2^32 for the datasketch schemes", seed))
}

/// `(a, b)` of `legacy`: drawn alternately, `a` from 1..2^61-1 and `b` from 0..2^61-1.
pub(super) fn legacy(seed: u32, k: usize) -> Vec<(u64, u64)> {
    let mut random = Mt19937::new(seed);
    (0..k).map(|_| (1 + random.below(MERSENNE_61 - 1), random.below(MERSENNE_61))).collect()
}

/// `(a, b)` of `affine32`: all `a` first, odd, then all `b`.
pub(super) fn affine32(seed: u32, k: usize) -> Vec<(u64, u64)> {
    let mut random = Mt19937::new(seed);
    let a: Vec<u64> = (0..k).map(|_| random.below(1 << 31) * 2 + 1).collect();
    a.into_iter().map(|a| (a, random.below(1 << 32))).collect()
}

/// `(a, b)` of `affine64`: all `a` first, odd, then all `b`.
pub(super) fn affine64(seed: u32, k: usize) -> Vec<(u64, u64)> {
    let mut random = Mt19937::new(seed);
    let a: Vec<u64> = (0..k).map(|_| random.below(1 << 63) * 2 + 1).collect();
    a.into_iter().map(|a| (a, random.next64())).collect()
}

const N: usize = 624;

/// The Mersenne Twister of Matsumoto and Nishimura.
struct Mt19937 {
    state: [u32; N],
    next: usize,
}

impl Mt19937 {
    fn new(seed: u32) -> Self {
        let mut state = [seed; N];
        for i in 1..N {
            let previous = state[i - 1];
            state[i] = (previous ^ (previous >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Self { state, next: N }
    }

    fn twist(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + 397) % N] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }

    fn next32(&mut self) -> u32 {
        if self.next == N {
            self.twist();
        }
        let y = self.state[self.next];
        self.next += 1;
        let y = y ^ (y >> 11);
        let y = y ^ ((y << 7) & 0x9d2c_5680);
        let y = y ^ ((y << 15) & 0xefc6_0000);
        y ^ (y >> 18)
    }

    fn next64(&mut self) -> u64 {
        let high = u64::from(self.next32());
        high << 32 | u64::from(self.next32())
    }

    /// A uniform value below `bound`, as `RandomState.randint(0, bound)` draws it.
    fn below(&mut self, bound: u64) -> u64 {
        let largest = bound - 1;
        let mask = u64::MAX >> largest.leading_zeros();
        loop {
            let draw = if largest <= u64::from(u32::MAX) { u64::from(self.next32()) } else { self.next64() };
            if draw & mask <= largest {
                return draw & mask;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_gives_its_published_tenth_thousandth_value() {
        let mut random = Mt19937::new(5489);
        assert_eq!((0..10_000).map(|_| random.next32()).last(), Some(4_123_659_995));
    }

    #[test]
    fn a_seed_beyond_32_bits_is_refused() {
        assert!(seed(1 << 32).unwrap_err().to_string().contains("below 2^32"));
    }
}

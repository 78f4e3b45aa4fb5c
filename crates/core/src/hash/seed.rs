//! One seed, one splitting rule. Independent streams come from mixing, never from `seed + i`.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijective 64-bit mixer in which every input bit affects every output bit (the finalizer of SplitMix64).
#[inline(always)]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The seed of the independent stream number `stream` of `seed`.
///
/// `split(seed, stream) = mix(mix(seed ^ G) + mix(stream * G + 1))` with `G` the golden-ratio constant: both
/// arguments are mixed on their own, so neighbouring seeds and neighbouring streams share no structure.
#[inline]
pub const fn split(seed: u64, stream: u64) -> u64 {
    mix(mix(seed ^ GOLDEN).wrapping_add(mix(stream.wrapping_mul(GOLDEN).wrapping_add(1))))
}

/// An endless stream of independent 64-bit values: `split(seed, 0)`, `split(seed, 1)`, ...
///
/// ```
/// let first: Vec<u64> = benzer_core::hash::stream(42).take(3).collect();
/// assert_eq!(first[2], benzer_core::hash::split(42, 2));
/// ```
pub fn stream(seed: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |i| split(seed, i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn neighbouring_seeds_share_no_stream() {
        let seen: HashSet<u64> = (0..200).flat_map(|seed| stream(seed).take(200)).collect();
        assert_eq!(seen.len(), 200 * 200);
    }

    #[test]
    fn streams_are_uncorrelated_bit_by_bit() {
        let agreements: u32 = (0..2_000u64).map(|i| (!(split(1, i) ^ split(2, i))).count_ones()).sum();
        let share = f64::from(agreements) / (2_000.0 * 64.0);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }
}

//! The element hash and the seed rule: everything that turns bytes into 64-bit elements.
//!
//! Both are part of the format. [`VERSION`] names them inside every pipeline id, and
//! `testdata/hash/v1.json` holds known answers that any port must reproduce.
//!
//! **Element hash, version 1.** With `fold(a, b) = lo64(a*b) ^ hi64(a*b)` and bytes read as little-endian words:
//!
//! ```text
//! n <= 16:  a = bytes 0..8, b = bytes 8..16, both padded with zero bytes
//! n >  16:  s = K3; for i = 0, 16, ... while n - i > 16: s = fold(word(i) ^ s, word(i + 8) ^ K2)
//!           a = (first word of the last 16 bytes) ^ s, b = (second word of the last 16 bytes)
//! h = fold(a ^ K0, b ^ K1 ^ n)
//! hash = finish(h) = (h * M) ^ ((h * M) >> 32)
//! ```
//!
//! It is a multiply-fold rather than AES: any CPU computes it fast and with the same bits. Zero padding is safe because the
//! length enters the hash. It is not meant to resist an adversary who may choose the elements.
//!
//! **Shingles.** A shingle of `m` tokens combines the tokens' hashes by [`combine`]: rotate and xor, then `finish`.

mod least;

pub use least::least;

/// Version of the element hash, the shingle combination and the seed rule together.
pub const VERSION: u32 = 1;

// The first 320 bits of the fraction of pi, as five words. Neither K0 nor K1 can be met by the words of valid UTF-8, so no factor of a
// text token's product is ever zero.
const K0: u64 = 0x243f_6a88_85a3_08d3;
const K1: u64 = 0x1319_8a2e_0370_7344;
const K2: u64 = 0xa409_3822_299f_31d0;
const K3: u64 = 0x082e_fa98_ec4e_6c89;
/// The odd multiplier of [`finish`].
pub const FINISH: u64 = 0x4528_21e6_38d0_1377;
/// Bits by which [`combine`] rotates from one token to the next; odd, so up to 64 tokens get different rotations.
pub const ROTATION: u32 = 13;
/// Longest sequence that [`combine`] hashes by rotation. A shingle that repeats one token m times keeps 65 - 2^s bits of its hash, where 2^s is the
/// largest power of two that divides m: all or nearly all bits for usual m, 49 at worst below this limit, and one at m = 64.
pub const MAX_ROTATED: usize = 31;

/// Hash of an element given as bytes.
///
/// ```
/// assert_eq!(benzer_core::hash::element(b"benzer"), benzer_core::hash::element("benzer".as_bytes()));
/// assert_ne!(benzer_core::hash::element(b""), benzer_core::hash::element(b"\0"));
/// ```
#[inline]
pub fn element(bytes: &[u8]) -> u64 {
    finish(token(bytes))
}

/// [`element`] of sequences that are equally long. A long one is a chain of multiplications that wait for each other; several chains take little longer than one.
///
/// ```
/// use benzer_core::hash::{element, elements};
/// assert_eq!(elements([&[1; 40], &[2; 40]]), [element(&[1; 40]), element(&[2; 40])]);
/// ```
///
/// # Panics
/// If they are not equally long.
pub fn elements<const N: usize>(sequences: [&[u8]; N]) -> [u64; N] {
    let n = sequences.first().map_or(0, |first| first.len());
    assert!(sequences.iter().all(|bytes| bytes.len() == n), "sequences are equally long");
    if n <= 16 {
        return sequences.map(element);
    }
    let mut states = [K3; N];
    for block in 0..(n - 1) / 16 {
        for (state, bytes) in states.iter_mut().zip(sequences) {
            let block = &bytes[16 * block..16 * block + 16];
            *state = fold(word(&block[..8]) ^ *state, word(&block[8..]) ^ K2);
        }
    }
    for (state, bytes) in states.iter_mut().zip(sequences) {
        let last = &bytes[n - 16..];
        *state = finish(token_words(word(&last[..8]) ^ *state, word(&last[8..]), n as u64));
    }
    states
}

/// The hash of [`element`] before `finish`: what [`combine`] takes for each token of a shingle.
#[inline]
pub fn token(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if n <= 16 {
        let (a, b) = short_words(bytes);
        return token_words(a, b, n as u64);
    }
    let mut state = K3;
    let mut rest = bytes;
    while rest.len() > 16 {
        let (block, tail) = rest.split_at(16);
        state = fold(word(&block[..8]) ^ state, word(&block[8..]) ^ K2);
        rest = tail;
    }
    let last = &bytes[n - 16..];
    token_words(word(&last[..8]) ^ state, word(&last[8..]), n as u64)
}

/// [`token`] of at most 16 bytes already loaded into two zero-padded little-endian words.
#[inline(always)]
pub const fn token_words(a: u64, b: u64, n_bytes: u64) -> u64 {
    fold(a ^ TOKEN_KEYS[0], b ^ TOKEN_KEYS[1] ^ n_bytes)
}

/// What [`token_words`] mixes with the words.
pub(crate) const TOKEN_KEYS: [u64; 2] = [K0, K1];

/// Hash of a shingle: an ordered, non-empty sequence of token hashes.
///
/// The state is `rotl(t[0], 13 (m-1)) ^ ... ^ rotl(t[m-2], 13) ^ t[m-1]`, then `finish(state ^ m)`. More than [`MAX_ROTATED`] tokens are folded
/// one after the other instead: `s = K3; for each t: s = fold(t ^ s, K2 ^ rotl(s, 32))`, then `finish(fold(s ^ K0, K1 ^ m))`.
#[inline]
pub fn combine(tokens: &[u64]) -> u64 {
    let m = tokens.len();
    if m > MAX_ROTATED {
        return combine_long(tokens);
    }
    let state = tokens.iter().fold(0u64, |state, token| state.rotate_left(ROTATION) ^ token);
    finish(state ^ m as u64)
}

fn combine_long(tokens: &[u64]) -> u64 {
    let mut state = K3;
    for &token in tokens {
        state = fold(token ^ state, K2 ^ state.rotate_left(32));
    }
    finish(fold(state ^ K0, K1 ^ tokens.len() as u64))
}

/// The last step of [`element`] and [`combine`]: one multiplication and one shift, cheap in vector registers.
#[inline(always)]
pub const fn finish(h: u64) -> u64 {
    let h = h.wrapping_mul(FINISH);
    h ^ (h >> 32)
}

/// Low and high halves of the 128-bit product, combined by xor.
#[inline(always)]
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("the caller cuts eight bytes"))
}

#[inline(always)]
fn short_words(bytes: &[u8]) -> (u64, u64) {
    let mut padded = [0u8; 16];
    padded[..bytes.len()].copy_from_slice(bytes);
    (word(&padded[..8]), word(&padded[8..]))
}

/// The constant of the seed rule: one seed, from which independent streams come by mixing, never by `seed + i`.
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
    fn every_length_up_to_three_blocks_hashes_differently() {
        let zeros = [0u8; 64];
        let hashes: HashSet<u64> = (0..=64).map(|n| element(&zeros[..n])).collect();
        assert_eq!(hashes.len(), 65);
    }

    #[test]
    fn sequences_hash_together_as_they_do_alone() {
        let bytes: Vec<u8> = (0..400u64).map(|i| mix(i) as u8).collect();
        for n in 0..100 {
            let [a, b, c] = [&bytes[..n], &bytes[100..100 + n], &bytes[200..200 + n]];
            assert_eq!(elements([a, b, c]), [element(a), element(b), element(c)], "{n} bytes");
        }
    }

    #[test]
    fn every_single_bit_of_a_long_input_matters() {
        let base = [0x5au8; 61];
        let mut seen = HashSet::from([element(&base)]);
        for bit in 0..base.len() * 8 {
            let mut flipped = base;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(element(&flipped)), "bit {bit} does not matter");
        }
    }

    #[test]
    fn each_input_bit_flips_about_half_of_the_output_bits() {
        for n in [4usize, 8, 12, 16, 24, 40] {
            let mut flips = [0u32; 64];
            let mut trials = 0u32;
            for start in 0u64..200 {
                let base: Vec<u8> = (0..n as u64).map(|i| mix(start * 977 + i) as u8).collect();
                for bit in 0..n * 8 {
                    let mut other = base.clone();
                    other[bit / 8] ^= 1 << (bit % 8);
                    let difference = element(&base) ^ element(&other);
                    (0..64).for_each(|i| flips[i] += (difference >> i & 1) as u32);
                    trials += 1;
                }
            }
            for (i, &count) in flips.iter().enumerate() {
                let share = f64::from(count) / f64::from(trials);
                assert!((share - 0.5).abs() < 0.04, "{n} bytes, output bit {i}: {share}");
            }
        }
    }

    #[test]
    fn sequential_numbers_do_not_collide_and_fill_the_top_bits_evenly() {
        let mut seen = HashSet::new();
        let mut buckets = [0u32; 256];
        for i in 0..200_000u32 {
            let h = element(i.to_string().as_bytes());
            assert!(seen.insert(h));
            buckets[(h >> 56) as usize] += 1;
        }
        let expected = 200_000.0 / 256.0;
        let chi2: f64 = buckets.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!((150.0..380.0).contains(&chi2), "chi-square with 255 degrees of freedom: {chi2}");
    }

    #[test]
    fn shingles_depend_on_order_and_on_length() {
        let [a, b, c] = [token(b"a"), token(b"b"), token(b"c")];
        let shingles =
            [vec![a], vec![a, b], vec![b, a], vec![a, b, c], vec![c, b, a], vec![a, a], vec![a, a, a]];
        let hashes: HashSet<u64> = shingles.iter().map(|s| combine(s)).collect();
        assert_eq!(hashes.len(), shingles.len());
    }

    #[test]
    fn repetitive_shingles_of_any_length_differ() {
        for m in 1..=130 {
            let repeated: HashSet<u64> =
                (0..1_000u64).map(|i| combine(&vec![token(&i.to_le_bytes()); m])).collect();
            assert_eq!(repeated.len(), 1_000, "one token {m} times");
        }
    }

    #[test]
    fn long_shingles_notice_a_swap_at_distance_64() {
        let mut tokens: Vec<u64> = (0..100).map(|i: u64| token(&i.to_le_bytes())).collect();
        let before = combine(&tokens);
        tokens.swap(3, 67);
        assert_ne!(before, combine(&tokens));
    }

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

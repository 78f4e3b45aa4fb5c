//! Counting equal b-bit registers: xor, fold each lane's bits onto its lowest one, popcount.
//!
//! Mismatches are counted, so that padding, which is equal on both sides, does no harm. Three paths give identical counts: scalar, AVX2
//! and AVX-512 (with VPOPCNTDQ); the best one that the CPU has is chosen at run time ([`Level::best`]).

mod fold;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::Bits;
use crate::Level;
use fold::{Fold, with_width};

/// What the kernel of a level says: that of AVX-512, that of AVX2, or the plain loop.
macro_rules! kernel {
    ($level:expr, $avx512:expr, $avx2:expr, $plain:expr) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
            Level::Avx512 if $level.is_available() => unsafe { $avx512 },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 if $level.is_available() => unsafe { $avx2 },
            _ => $plain,
        }
    };
}

/// Number of registers in which two packed sketches of the same width and length differ. Extra words of the longer one are ignored.
#[inline]
pub fn mismatches(a: &[u64], b: &[u64], bits: Bits) -> u32 {
    mismatches_at(Level::best(), a, b, bits)
}

/// [`mismatches`] on a given path; one the CPU lacks falls back to the plain one.
#[inline]
pub fn mismatches_at(level: Level, a: &[u64], b: &[u64], bits: Bits) -> u32 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    kernel!(
        level,
        with_width!(bits, B => x86::mismatches_avx512::<B>(a, b)),
        with_width!(bits, B => x86::mismatches_avx2::<B>(a, b)),
        with_width!(bits, B => mismatches_words::<B>(a, b))
    )
}

#[inline(always)]
fn mismatches_words<const B: u32>(a: &[u64], b: &[u64]) -> u32 {
    let fold = const { Fold::new(B) };
    a.iter().zip(b).map(|(&x, &y)| fold.word(x ^ y).count_ones()).sum()
}

/// Mismatches of one sketch with each of many laid out one after the other, `query.len()` words each.
///
/// # Panics
/// If `rows` does not hold `out.len()` sketches of the query's length.
pub fn mismatches_many(query: &[u64], rows: &[u64], bits: Bits, out: &mut [u32]) {
    mismatches_many_at(Level::best(), query, rows, bits, out);
}

/// [`mismatches_many`] on a given path.
///
/// # Panics
/// As [`mismatches_many`].
pub fn mismatches_many_at(level: Level, query: &[u64], rows: &[u64], bits: Bits, out: &mut [u32]) {
    assert_eq!(
        rows.len(),
        query.len() * out.len(),
        "rows hold one sketch of the query's length for each count"
    );
    kernel!(
        level,
        with_width!(bits, B => x86::many_avx512::<B>(query, rows, out)),
        with_width!(bits, B => x86::many_avx2::<B>(query, rows, out)),
        with_width!(bits, B => many_words::<B>(query, rows, out))
    )
}

/// Mismatches of one sketch with each of others, wherever they are; all have the query's length. `visit` gets each count.
pub fn mismatches_each<'a>(
    query: &[u64],
    others: impl Iterator<Item = &'a [u64]>,
    bits: Bits,
    visit: impl FnMut(u32),
) {
    mismatches_each_at(Level::best(), query, others, bits, visit);
}

/// [`mismatches_each`] on a given path.
fn mismatches_each_at<'a>(
    level: Level,
    query: &[u64],
    others: impl Iterator<Item = &'a [u64]>,
    bits: Bits,
    visit: impl FnMut(u32),
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
        Level::Avx512 if level.is_available() => unsafe {
            with_width!(bits, B => x86::each_avx512::<B>(query, others, visit))
        },
        _ => others.map(|other| mismatches_at(level, query, other, bits)).for_each(visit),
    }
}

fn many_words<const B: u32>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *out = mismatches_words::<B>(query, row);
    }
}

/// How many bits a set has in common with some of many sets that lie one after the other, `query.len()` words each: those at the places `which`.
///
/// # Panics
/// If there are not as many counts as places, or no set at one of them.
pub fn common_bits(query: &[u64], rows: &[u64], which: &[u32], out: &mut [u32]) {
    common_bits_at(Level::best(), query, rows, which, out);
}

/// [`common_bits`] on a given path.
fn common_bits_at(level: Level, query: &[u64], rows: &[u64], which: &[u32], out: &mut [u32]) {
    assert_eq!(which.len(), out.len(), "a count for each place");
    kernel!(
        level,
        x86::common_avx512(query, rows, which, out),
        x86::common_avx2(query, rows, which, out),
        common_words(query, rows, which, out)
    )
}

/// The set at a place.
#[inline(always)]
fn set_at(rows: &[u64], place: u32, words: usize) -> &[u64] {
    &rows[place as usize * words..][..words]
}

#[inline(always)]
fn common_words(query: &[u64], rows: &[u64], which: &[u32], out: &mut [u32]) {
    for (&place, out) in which.iter().zip(out) {
        let row = set_at(rows, place, query.len());
        *out = query.iter().zip(row).map(|(x, y)| (x & y).count_ones()).sum();
    }
}

/// How many of `k` registers are equal in which of three sketches: the sufficient statistic of three-way estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Triple {
    /// Equal in all three.
    pub all: u32,
    /// Equal in the first and second only.
    pub only_12: u32,
    /// Equal in the first and third only.
    pub only_13: u32,
    /// Equal in the second and third only.
    pub only_23: u32,
    /// Three different values.
    pub none: u32,
}

/// Counts the patterns of three packed sketches of `k` registers each.
pub fn triple(sketches: [&[u64]; 3], bits: Bits, k: u32) -> Triple {
    triple_at(Level::best(), sketches, bits, k)
}

/// [`triple`] on a given path.
fn triple_at(level: Level, [a, b, c]: [&[u64]; 3], bits: Bits, k: u32) -> Triple {
    let n = a.len().min(b.len()).min(c.len());
    let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
    let [d12, d13, d23, any] = kernel!(
        level,
        with_width!(bits, B => x86::triple_avx512::<B>(a, b, c)),
        with_width!(bits, B => x86::triple_avx2::<B>(a, b, c)),
        with_width!(bits, B => triple_words::<B>(a, b, c))
    );
    let all = k - any;
    let (only_12, only_13, only_23) = (k - d12 - all, k - d13 - all, k - d23 - all);
    Triple { all, only_12, only_13, only_23, none: any - only_12 - only_13 - only_23 }
}

/// Mismatches 1-2, 1-3, 2-3, and positions where not all three agree.
#[inline(always)]
fn triple_words<const B: u32>(a: &[u64], b: &[u64], c: &[u64]) -> [u32; 4] {
    let fold = const { Fold::new(B) };
    let mut counts = [0; 4];
    for ((&x, &y), &z) in a.iter().zip(b).zip(c) {
        let (d12, d13, d23) = (fold.word(x ^ y), fold.word(x ^ z), fold.word(y ^ z));
        for (count, word) in counts.iter_mut().zip([d12, d13, d23, d12 | d13]) {
            *count += word.count_ones();
        }
    }
    counts
}

/// Positions (of `k`) in which any of `n` packed sketches differs from the first.
pub fn not_all_equal(sketches: &[&[u64]], bits: Bits) -> u32 {
    not_all_equal_at(Level::best(), sketches, bits)
}

/// [`not_all_equal`] on a given path.
fn not_all_equal_at(level: Level, sketches: &[&[u64]], bits: Bits) -> u32 {
    kernel!(
        level,
        with_width!(bits, B => x86::not_all_equal_avx512::<B>(sketches)),
        with_width!(bits, B => x86::not_all_equal_avx2::<B>(sketches)),
        with_width!(bits, B => not_all_equal_words::<B>(sketches))
    )
}

/// Eight words at a time: the differences of all sketches from the first are collected before they are folded once.
#[inline(always)]
fn not_all_equal_words<const B: u32>(sketches: &[&[u64]]) -> u32 {
    let fold = const { Fold::new(B) };
    let Some((first, others)) = sketches.split_first() else { return 0 };
    let mut count = 0;
    for (i, words) in first.chunks(8).enumerate() {
        let mut differences = [0u64; 8];
        for other in others {
            let other = other.get(8 * i..).unwrap_or_default();
            for ((difference, x), y) in differences.iter_mut().zip(words).zip(other) {
                *difference |= x ^ y;
            }
        }
        count += differences.iter().map(|&difference| fold.word(difference).count_ones()).sum::<u32>();
    }
    count
}

/// How many of `k` positions hold 1, 2, ..., n distinct values among `n` packed sketches: entry `d - 1` counts positions with `d` of them.
pub fn distinct_values(sketches: &[&[u64]], bits: Bits, k: u32) -> Vec<u32> {
    let mut counts = vec![0; sketches.len()];
    let mut values = Vec::with_capacity(sketches.len());
    for j in 0..k as usize {
        values.clear();
        values.extend(sketches.iter().filter_map(|words| super::packed::get(words, bits, j)));
        values.sort_unstable();
        values.dedup();
        if let Some(count) = values.len().checked_sub(1).and_then(|d| counts.get_mut(d)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::sketch::packed;
    use proptest::prelude::*;

    /// Registers that agree often, so that every count occurs.
    fn registers(k: usize, seed: u64) -> Vec<u64> {
        (0..k as u64).map(|j| mix(mix(j) ^ (mix(seed ^ j) % 3))).collect()
    }

    fn packed(k: usize, bits: Bits, seed: u64) -> Vec<u64> {
        let mut words = vec![0; bits.words(k)];
        packed::pack(&registers(k, seed), bits, &mut words);
        words
    }

    fn naive(a: &[u64], b: &[u64], bits: Bits, k: usize) -> u32 {
        (0..k).filter(|&j| packed::get(a, bits, j) != packed::get(b, bits, j)).count() as u32
    }

    proptest! {
        #[test]
        fn every_path_counts_what_a_plain_loop_counts(k in 1usize..700, width in 0usize..18, seed: u64) {
            let bits = Bits::ALL[width];
            let [a, b, c] = [seed, seed ^ 1, seed ^ 2].map(|s| packed(k, bits, s));
            let expected = naive(&a, &b, bits, k);
            let triple = triple_at(Level::Scalar, [&a, &b, &c], bits, k as u32);
            prop_assert_eq!(triple.all + triple.only_12, k as u32 - expected);
            prop_assert_eq!(triple.all + triple.only_13 + triple.only_12 + triple.only_23 + triple.none, k as u32);
            prop_assert_eq!(triple.all + triple.only_23, k as u32 - naive(&b, &c, bits, k));
            let rows: Vec<u64> = [&b[..], &c, &a].concat();
            for level in Level::available() {
                prop_assert_eq!(mismatches_at(level, &a, &b, bits), expected, "{:?}", level);
                prop_assert_eq!(triple_at(level, [&a, &b, &c], bits, k as u32), triple, "{:?}", level);
                let mut out = [7; 3];
                mismatches_many_at(level, &a, &rows, bits, &mut out);
                prop_assert_eq!(out, [expected, naive(&a, &c, bits, k), 0], "{:?}", level);
                let mut each = vec![7];
                mismatches_each_at(level, &a, [&b, &c, &a].map(|row| &row[..]).into_iter(), bits, |count| each.push(count));
                prop_assert_eq!((each[0], &each[1..]), (7, &out[..]), "{:?}", level);
            }
            for level in Level::available() {
                prop_assert_eq!(not_all_equal_at(level, &[&a, &b, &c], bits), k as u32 - triple.all, "{:?}", level);
            }
            let distinct = distinct_values(&[&a, &b, &c], bits, k as u32);
            prop_assert_eq!(distinct, [triple.all, triple.only_12 + triple.only_13 + triple.only_23, triple.none]);
            prop_assert_eq!(not_all_equal(&[&a, &b, &c], bits), k as u32 - triple.all);
        }
    }

    proptest! {
        #[test]
        fn every_path_counts_common_bits(words in prop_oneof![0usize..20, Just(8), Just(16)], n in 1usize..20, which in prop::collection::vec(any::<prop::sample::Index>(), 0..40), seed: u64) {
            let rows: Vec<u64> = crate::hash::stream(seed).take(n * words).collect();
            let query: Vec<u64> = crate::hash::stream(seed ^ 1).take(words).collect();
            let which: Vec<u32> = which.iter().map(|place| place.index(n) as u32).collect();
            let common = |place: &u32| query.iter().zip(&rows[*place as usize * words..]).map(|(x, y)| (x & y).count_ones()).sum();
            let expected: Vec<u32> = which.iter().map(common).collect();
            for level in Level::available() {
                let mut out = vec![7; which.len()];
                common_bits_at(level, &query, &rows, &which, &mut out);
                prop_assert_eq!(&out, &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn nothing_to_count_is_zero() {
        let bits = Bits::new(8).unwrap();
        assert_eq!(mismatches(&[], &[], bits), 0);
        mismatches_many(&[], &[], bits, &mut []);
        assert_eq!(not_all_equal(&[], bits), 0);
        assert!(distinct_values(&[], bits, 4).is_empty());
    }
}

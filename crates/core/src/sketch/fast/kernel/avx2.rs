//! The stages with 256-bit vectors. Only the fill is written by hand; the compiler does well on the rest.

use std::arch::x86_64::*;

use super::{Kernel, Plain};

/// 256-bit vectors.
pub(in super::super) struct Avx2;

impl Kernel for Avx2 {
    compiled! {
        "avx2" fn hash(elements: &[u64], seed: u64, hashes: &mut Vec<u64>) = Plain::hash;
        "avx2" fn rehash(hashes: &[u64], multiplier: u64, rehashed: &mut Vec<u64>) = Plain::rehash;
        "avx2" fn keep_two_rounds(first: &[u64], later: &[u64], registers: &mut [u64]) -> usize = Plain::keep_two_rounds;
        "avx2" fn lower(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) = lower_avx2;
        "avx2" fn take_empty(rounds: u16, minima: &[u32], registers: &mut [u64]) = Plain::take_empty;
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lower_avx2(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) {
    let (fours, rest) = multipliers.as_chunks::<32>();
    let (lowered, rest_minima) = minima.as_chunks_mut::<32>();
    for (m, minima) in fours.iter().zip(lowered) {
        lower_lanes_avx2::<4>(hashes, m, minima);
    }
    for (m, minima) in rest.as_chunks::<16>().0.iter().zip(rest_minima.as_chunks_mut::<16>().0) {
        lower_lanes_avx2::<2>(hashes, m, minima);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn lower_lanes_avx2<const V: usize>(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) {
    assert!(multipliers.len() == 8 * V && minima.len() == 8 * V);
    // SAFETY: the assertion says that there are V vectors of eight lanes in both.
    unsafe {
        let m: [__m256i; V] =
            std::array::from_fn(|i| _mm256_loadu_si256(multipliers.as_ptr().add(8 * i).cast()));
        let mut low: [__m256i; V] =
            std::array::from_fn(|i| _mm256_loadu_si256(minima.as_ptr().add(8 * i).cast()));
        for h in hashes {
            // The upper half, read where it stands: a broadcast from memory costs nothing extra.
            let key = _mm256_set1_epi32(std::ptr::from_ref(h).cast::<i32>().add(1).read());
            for i in 0..V {
                low[i] = _mm256_min_epu32(low[i], _mm256_mullo_epi32(key, m[i]));
            }
        }
        for (i, low) in low.into_iter().enumerate() {
            _mm256_storeu_si256(minima.as_mut_ptr().add(8 * i).cast(), low);
        }
    }
}

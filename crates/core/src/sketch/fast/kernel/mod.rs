//! The stages of the fast family on each path: plain words here, AVX2 and AVX-512 in files of their own. All give identical registers.

/// Stages of a path, each a function compiled with the features that it needs.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled {
    ($($features:literal fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? = $stage:expr;)*) => {
        $(fn $name($($argument: $type),*) $(-> $out)? {
            #[target_feature(enable = $features)]
            fn compiled($($argument: $type),*) $(-> $out)? {
                $stage($($argument),*)
            }
            // SAFETY: a path is only chosen on a CPU that has its features (`Level::best`, `Level::available`).
            unsafe { compiled($($argument),*) }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

use super::{EMPTY, LABEL, LANES};
use crate::hash::mix;

/// The stages. Buffers given as `&mut Vec` are overwritten.
pub(super) trait Kernel {
    /// `mix(x ^ seed)` of every element.
    #[inline(always)]
    fn hash(elements: &[u64], seed: u64, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.extend(elements.iter().map(|&x| mix(x ^ seed)));
    }

    /// The hashes of a later round.
    #[inline(always)]
    fn rehash(hashes: &[u64], multiplier: u64, rehashed: &mut Vec<u64>) {
        rehashed.clear();
        rehashed.extend(hashes.iter().map(|h| rehashed_word(*h, multiplier)));
    }

    /// Hashes of the first round, and of the next; there is room for as many as there are elements.
    #[inline(always)]
    fn hash_twice(elements: &[u64], seed: u64, multiplier: u64, hashes: &mut [u64], rehashed: &mut [u64]) {
        for ((&x, h), g) in elements.iter().zip(hashes).zip(rehashed) {
            *h = mix(x ^ seed);
            *g = rehashed_word(*h, multiplier);
        }
    }

    /// `k` empty bins, and as many filled ones behind them as whole vectors need.
    #[inline(always)]
    fn clear(bins: &mut Vec<u64>, k: usize) {
        bins.clear();
        bins.resize(k, EMPTY);
        bins.resize(k.next_multiple_of(LANES), 0);
    }

    /// [`Kernel::scatter`] of two rounds side by side, so that each hides the other's waiting.
    #[inline(always)]
    fn scatter_twice(first: &[u64], second: &[u64], bins: &mut [u64], later: &mut [u64]) {
        let k = bins.len();
        assert_eq!(k, later.len(), "both rounds have the same bins");
        if k.is_power_of_two() && k > 1 {
            let shift = 64 - k.trailing_zeros();
            for (&h, &g) in first.iter().zip(second) {
                // SAFETY: the top bits of a hash are below 2^bits = k.
                unsafe {
                    lower(bins, (h >> shift) as usize, h);
                    lower(later, (g >> shift) as usize, g);
                }
            }
        } else {
            let bin = |h: u64| ((u128::from(h) * k as u128) >> 64) as usize;
            for (&h, &g) in first.iter().zip(second) {
                // SAFETY: the upper half of a 64-bit hash times k is below k.
                unsafe {
                    lower(bins, bin(h), h);
                    lower(later, bin(g), g);
                }
            }
        }
    }

    /// May drop hashes that lie farther into their bin than `limit`, because they cannot lower any minimum. Plain words drop none: the test
    /// would cost as much as the minimum.
    fn drop_above(_limit: u64, _k: usize, _hashes: &mut Vec<u64>) {}

    /// The smallest hash of each bin.
    #[inline(always)]
    fn scatter(hashes: &[u64], bins: &mut [u64]) {
        let k = bins.len();
        if k.is_power_of_two() && k > 1 {
            let shift = 64 - k.trailing_zeros();
            for &h in hashes {
                // SAFETY: the top bits of a hash are below 2^bits = k.
                unsafe { lower(bins, (h >> shift) as usize, h) };
            }
        } else {
            for &h in hashes {
                // SAFETY: the upper half of a 64-bit hash times k is below k.
                unsafe { lower(bins, ((u128::from(h) * k as u128) >> 64) as usize, h) };
            }
        }
    }

    /// Writes the round's values to the registers that no earlier round filled; gives the number of registers still empty.
    fn keep_round(round: u16, bins: &[u64], registers: &mut [u64]) -> usize {
        let mut n_empty = 0;
        for (register, &bin) in registers.iter_mut().zip(bins) {
            if *register == EMPTY {
                *register = if bin == EMPTY { EMPTY } else { u64::from(round) << 48 | bin >> 16 };
                n_empty += usize::from(*register == EMPTY);
            }
        }
        n_empty
    }

    /// Writes the values of rounds 0 and 1 to all registers; gives the number of registers still empty.
    #[inline(always)]
    fn keep_two_rounds(first: &[u64], later: &[u64], registers: &mut [u64]) -> usize {
        // Selects instead of branches: which bins are empty cannot be predicted.
        let mut n_empty = 0;
        for ((register, &first), &later) in registers.iter_mut().zip(first).zip(later) {
            let second = if later == EMPTY { EMPTY } else { 1 << 48 | later >> 16 };
            *register = if first == EMPTY { second } else { first >> 16 };
            n_empty += u64::from(*register == EMPTY);
        }
        n_empty as usize
    }

    /// The multipliers of the empty registers in order, padded to whole vectors with any others, and their positions.
    #[inline(always)]
    fn select_empty(
        registers: &[u64],
        multipliers: &[u32],
        selected: &mut Vec<u32>,
        positions: &mut Vec<u32>,
    ) {
        // Writes every one to the next free place, and moves that place only for an empty register.
        selected.resize(registers.len() + LANES, 0);
        positions.resize(registers.len() + 1, 0);
        let mut n = 0;
        for (j, (&register, &multiplier)) in registers.iter().zip(multipliers).enumerate() {
            selected[n] = multiplier;
            positions[n] = j as u32;
            n += usize::from(register == EMPTY);
        }
        selected.truncate(n.next_multiple_of(LANES));
        positions.truncate(n);
    }

    /// Lowers each minimum by `(h >> 32) * multiplier` over all hashes.
    fn lower(hashes: &[u64], multipliers: &[u32], minima: &mut [u32]) {
        for h in hashes {
            let key = (h >> 32) as u32;
            for (minimum, multiplier) in minima.iter_mut().zip(multipliers) {
                *minimum = (*minimum).min(key.wrapping_mul(*multiplier));
            }
        }
    }

    /// Writes the minima to the empty registers, in order.
    fn put_back(rounds: u16, minima: &[u32], positions: &[u32], registers: &mut [u64]) {
        for (&position, &g) in positions.iter().zip(minima) {
            registers[position as usize] = filled(rounds, g);
        }
    }

    /// Writes to each empty register its minimum; there is one for every register.
    #[inline(always)]
    fn take_empty(rounds: u16, minima: &[u32], registers: &mut [u64]) {
        for (register, &g) in registers.iter_mut().zip(minima) {
            *register = if *register == EMPTY { filled(rounds, g) } else { *register };
        }
    }
}

/// Plain words.
pub(super) struct Plain;

impl Kernel for Plain {}

/// The value of a filled register.
#[inline(always)]
fn filled(rounds: u16, g: u32) -> u64 {
    let label = g.wrapping_mul(LABEL).swap_bytes() & 0xffff;
    u64::from(rounds) << 48 | u64::from(g) << 16 | u64::from(label)
}

#[inline(always)]
fn rehashed_word(h: u64, multiplier: u64) -> u64 {
    let p = h.wrapping_mul(multiplier);
    p ^ (p >> 32)
}

/// A conditional move, not a branch: which hash is smaller cannot be predicted.
///
/// # Safety
/// `bin` is below the number of bins.
#[inline(always)]
unsafe fn lower(bins: &mut [u64], bin: usize, h: u64) {
    debug_assert!(bin < bins.len());
    // SAFETY: the caller keeps the bin in range.
    let bin = unsafe { bins.get_unchecked_mut(bin) };
    *bin = (*bin).min(h);
}

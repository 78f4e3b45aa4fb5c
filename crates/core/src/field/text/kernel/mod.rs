//! The inner loops over plain text, one file per [`Level`].
//!
//! Every level does three things, and all levels do them bit for bit alike (property-tested):
//!
//! - `copy_ascii` copies text up to the first byte that is not ASCII, in lower case if asked;
//! - `edges` finds where words start and end, 64 bytes at a time; the module `edges` has the rules;
//! - `shingles` combines `n` neighbouring token hashes into an element.
//!
//! The functions of this module choose the path. A level that the CPU lacks falls back to the plain one.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod edges;
mod scalar;

use crate::hash;
use crate::sketch::count::Level;

/// How many bytes of the buffers lie behind the text, so that whole blocks can be read and written there.
pub(super) const SLACK: usize = 128;

/// The best level for text on this CPU.
pub(super) fn best() -> Level {
    supported(Level::best())
}

/// `level`, or the best one below it that the CPU has every feature for. What the kernels need is more than
/// what the level needs elsewhere: bit manipulation, and byte permutation for AVX-512.
pub(super) fn supported(level: Level) -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        if level == Level::Avx512 && avx512::is_available() {
            return level;
        }
        if level >= Level::Avx2 && avx2::is_available() {
            return Level::Avx2;
        }
    }
    let _ = level;
    Level::Scalar
}

/// Copies the longest ASCII prefix of `from` to the start of `to`, in lower case if `LOWER`, and returns its
/// length. Bytes of `to` behind the prefix may be overwritten too.
///
/// # Panics
/// If `to` is not at least [`SLACK`] longer than `from`.
#[inline]
pub(super) fn copy_ascii<const LOWER: bool>(level: Level, from: &[u8], to: &mut [u8]) -> usize {
    assert!(to.len() >= from.len() + SLACK, "the copy has room for whole blocks");
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::is_available() => {
            // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
            unsafe { avx512::copy_ascii::<LOWER>(from, to) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if avx2::is_available() => {
            // SAFETY: as above.
            unsafe { avx2::copy_ascii::<LOWER>(from, to) }
        }
        _ => scalar::copy_ascii::<LOWER>(from, to),
    }
}

/// Writes the start and the end of each word of `text[..length]` in turn to `bounds` and returns how many
/// were written. Bytes that are not ASCII must belong to letters. The slack of the text is set to zero.
///
/// # Panics
/// If the text has no [`SLACK`] behind `length`.
pub(super) fn edges(level: Level, text: &mut [u8], length: usize, bounds: &mut Vec<u32>) -> usize {
    text[length..length + SLACK].fill(0);
    let n_blocks = length / 64 + 1;
    let blocks = &text.as_chunks().0[..n_blocks];
    let room = n_blocks * 64 + SLACK;
    if bounds.len() < room {
        bounds.resize(room, 0);
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::is_available() => {
            // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
            unsafe { avx512::edges(blocks, bounds) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if avx2::is_available() => {
            // SAFETY: as above.
            unsafe { avx2::edges(blocks, bounds) }
        }
        _ => scalar::edges(blocks, bounds),
    }
}

/// Writes the elements of all full windows of `n` tokens to `out`: `hash::combine` of each, without its
/// lowest `shift` bits.
///
/// # Panics
/// If `n` is zero or longer than `hash::combine` rotates, or `out` has not one place for each window.
pub(super) fn shingles(level: Level, tokens: &[u64], n: usize, shift: u32, out: &mut [u64]) {
    assert!((1..=hash::LONGEST_ROTATED).contains(&n), "windows that combine by rotation");
    assert_eq!(out.len() + n - 1, tokens.len(), "one element for each window");
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::is_available() => {
            // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
            unsafe { avx512::shingles(tokens, n, shift, out) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if avx2::is_available() => {
            // SAFETY: as above.
            unsafe { avx2::shingles(tokens, n, shift, out) }
        }
        _ => scalar::shingles(tokens, n, shift, out),
    }
}

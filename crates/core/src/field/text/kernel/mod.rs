//! The inner loops over plain text, one file per [`Level`].
//!
//! Every level does three things, and all levels do them bit for bit alike (property-tested):
//!
//! - `copy_ascii` copies text up to the first byte that is not ASCII, in lower case if asked,
//!   `copy_pairs` goes on over characters of two bytes;
//! - `edges` finds where words start and end, 64 bytes at a time; the module `edges` has the rules;
//! - `shingles` combines `n` neighbouring token hashes into an element.
//!
//! The functions of this module choose the path.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod edges;
mod scalar;
#[cfg(test)]
mod tests;

use crate::{Level, hash, lines::Lines};

pub(super) use edges::Found;

/// How many bytes of the buffers lie behind the text, so that whole blocks can be read and written there.
pub(super) const SLACK: usize = 128;

/// A level whose every feature the CPU was seen to have. What the kernels need is more than what the level
/// needs elsewhere: bit manipulation, and compression of bytes for AVX-512.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Path(Level);

impl Path {
    /// True if [`copy_pairs`] does anything.
    #[inline]
    pub fn copies_pairs(self) -> bool {
        self.0 == Level::Avx512
    }

    /// `level`, or the best one below it that the CPU has.
    pub fn new(level: Level) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if level >= Level::Avx512 && avx512::is_available() {
                return Self(Level::Avx512);
            }
            if level >= Level::Avx2 && avx2::is_available() {
                return Self(Level::Avx2);
            }
        }
        let _ = level;
        Self(Level::Scalar)
    }
}

/// What characters of two bytes become, for table lookups in registers: for each first byte from 0xc0 to 0xdf and each low six bits of the second byte the two bytes that the
/// character becomes; both are zero if it does not become two bytes in any place.
#[derive(Debug)]
pub(super) struct Pairs {
    first: [[u8; 64]; 32],
    second: [[u8; 64]; 32],
}

impl Pairs {
    /// `becomes` tells what the character with a given number becomes.
    pub fn new(becomes: impl Fn(u32) -> Option<[u8; 2]>) -> Self {
        let mut pairs = Self { first: [[0; 64]; 32], second: [[0; 64]; 32] };
        for code in 0x80..0x800 {
            if let Some([first, second]) = becomes(code) {
                let (row, column) = (code as usize >> 6, code as usize & 0x3f);
                pairs.first[row][column] = first;
                pairs.second[row][column] = second;
            }
        }
        pairs
    }
}

/// Calls a function of the file that belongs to a path.
macro_rules! on_path {
    ($path:expr, $function:ident $(::<$constant:ident>)? ($($argument:expr),*)) => {
        match $path {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a path exists only for a level that the CPU has.
            Path(Level::Avx512) => unsafe { avx512::$function$(::<$constant>)?($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Path(Level::Avx2) => unsafe { avx2::$function$(::<$constant>)?($($argument),*) },
            _ => scalar::$function$(::<$constant>)?($($argument),*),
        }
    };
}

/// Copies the longest ASCII prefix of `from` to the start of `to`, in lower case if `LOWER`, and returns its
/// length. Bytes of `to` behind the prefix may be overwritten too.
///
/// # Panics
/// If `to` is not at least [`SLACK`] longer than `from`.
#[inline]
pub(super) fn copy_ascii<const LOWER: bool>(path: Path, from: &[u8], to: &mut [u8]) -> usize {
    assert!(to.len() >= from.len() + SLACK, "the copy has room for whole blocks");
    on_path!(path, copy_ascii::<LOWER>(from, to))
}

/// Copies a prefix of `from`, which must be UTF-8, with characters of two bytes replaced by what `pairs` says
/// and ASCII in lower case if `LOWER`, and returns its length. How far it gets is the path's choice: only
/// AVX-512 has the instructions to make this worth while, the others return 0.
///
/// # Panics
/// If `to` is not at least [`SLACK`] longer than `from`.
#[inline]
pub(super) fn copy_pairs<const LOWER: bool>(path: Path, pairs: &Pairs, from: &[u8], to: &mut [u8]) -> usize {
    assert!(to.len() >= from.len() + SLACK, "the copy has room for whole blocks");
    match path {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a path exists only for a level that the CPU has.
        Path(Level::Avx512) => unsafe { avx512::copy_pairs::<LOWER>(pairs, from, to) },
        _ => 0,
    }
}

/// Writes the start and the end of each word of `text[..length]` in turn to `bounds`. Bytes that are not ASCII must belong to letters. Bytes behind `length` are set to zero.
///
/// # Panics
/// If the text has no [`SLACK`] behind `length`.
pub(super) fn edges(path: Path, text: &mut [u8], length: usize, bounds: &mut Lines<u32>) -> Found {
    text[length..length + 64].fill(0);
    let n_blocks = length / 64 + 1;
    let blocks = &text.as_chunks().0[..n_blocks];
    let room = n_blocks * 64 + SLACK;
    if bounds.len() < room {
        *bounds = Lines::apart_from(text, 0, room.next_power_of_two());
    }
    on_path!(path, edges(blocks, bounds))
}

/// Writes the elements of all full windows of `n` tokens to `out`: `hash::combine` of each, without its
/// lowest `shift` bits.
///
/// # Panics
/// If `n` is zero or longer than `hash::combine` rotates, or `out` has not one place for each window.
pub(super) fn shingles(path: Path, tokens: &[u64], n: usize, shift: u32, out: &mut [u64]) {
    assert!((1..=hash::MAX_ROTATED).contains(&n), "windows that combine by rotation");
    assert_eq!(out.len() + n - 1, tokens.len(), "one element for each window");
    on_path!(path, shingles(tokens, n, shift, out))
}

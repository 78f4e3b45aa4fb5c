//! The keys of a stored sketch: its words are read, compared and cut to prefixes.
//!
//! Cost for widths that divide 64 (8 bits and others): two loads, three shifts and a byte swap for each band.

use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};

use super::Banding;
use crate::sketch::{Bits, packed};

/// The key of one band of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BandKey {
    /// Number of the band, from 0.
    pub band: u32,
    /// The first 64 bits of its registers, left-aligned.
    pub key: u64,
}

impl Banding {
    /// The keys of a stored sketch ([`crate::sketch::Sketch::words`]), in the order of the bands.
    ///
    /// # Panics
    /// If `words` is shorter than a sketch of the spec.
    pub fn keys<'a>(&self, words: &'a [u64]) -> impl ExactSizeIterator<Item = BandKey> + use<'a> {
        let banding = *self;
        (0..self.bands).map(move |band| BandKey { band, key: banding.key(words, band as usize) })
    }

    /// Writes the keys of a stored sketch to `out`, one for each band.
    ///
    /// # Panics
    /// As [`Banding::keys`], or if `out` does not hold one key per band.
    pub fn keys_into(&self, words: &[u64], out: &mut [u64]) {
        assert_eq!(out.len(), self.bands(), "one key for each band");
        for (band, key) in out.iter_mut().enumerate() {
            *key = self.key(words, band);
        }
    }

    /// The key of one band.
    ///
    /// # Panics
    /// As [`Banding::keys`].
    #[inline]
    pub fn key(&self, words: &[u64], band: usize) -> u64 {
        let first = band * self.rows();
        if self.is_stream() {
            let mask = u64::MAX << (64 - self.key_bits());
            return reverse_lanes(stream(words, first * self.bits.get() as usize), self.bits) & mask;
        }
        self.gathered(words, first)
    }

    /// Hands the keys of some bands to `visit`, with the band. For registers of 8 bits, the default, little is left to do for each.
    ///
    /// # Panics
    /// As [`Banding::keys`].
    #[inline]
    pub fn keys_within(&self, words: &[u64], bands: Range<usize>, mut visit: impl FnMut(usize, u64)) {
        if (self.bits.get(), self.stored.get()) != (8, 8) {
            return bands.for_each(|band| visit(band, self.key(words, band)));
        }
        if self.rows == 8 {
            return bands.clone().zip(&words[bands]).for_each(|(band, word)| visit(band, word.swap_bytes()));
        }
        let (bits, mask) = (8 * self.rows(), u64::MAX << (64 - self.key_bits()));
        bands.for_each(|band| visit(band, stream(words, band * bits).swap_bytes() & mask));
    }

    /// Writes the keys that some sketches have in one band. Of many sketches it takes least time to go through a few of them, which stay in the nearest cache, band by band.
    ///
    /// # Panics
    /// As [`Banding::keys`], or if there are not as many keys as sketches.
    pub fn keys_of(&self, band: usize, sketches: &[&[u64]], keys: &mut [u64]) {
        assert_eq!(sketches.len(), keys.len(), "one key for each sketch");
        let both = sketches.iter().zip(keys);
        if (self.bits.get(), self.stored.get()) != (8, 8) {
            return both.for_each(|(words, key)| *key = self.key(words, band));
        }
        let (at, mask) = (8 * self.rows() * band, u64::MAX << (64 - self.key_bits()));
        both.for_each(|(words, key)| *key = stream(words, at).swap_bytes() & mask);
    }

    /// True if two stored sketches have the same key in some band. For registers of 8 bits all bands are looked at: which of them is the first cannot be foretold, and guessing wrong takes longer.
    ///
    /// # Panics
    /// As [`Banding::keys`].
    #[inline]
    pub fn share_key(&self, a: &[u64], b: &[u64]) -> bool {
        if (self.bits.get(), self.stored.get()) != (8, 8) {
            return (0..self.bands()).any(|band| self.key(a, band) == self.key(b, band));
        }
        if self.rows == 8 {
            let words = a[..self.bands()].iter().zip(&b[..self.bands()]);
            return words.fold(false, |is_shared, (a, b)| is_shared | (a == b));
        }
        let (bits, beyond) = (8 * self.rows(), 64 - self.key_bits());
        let differing = |band: usize| (stream(a, band * bits) ^ stream(b, band * bits)) << beyond;
        (0..self.bands()).fold(false, |is_shared, band| is_shared | (differing(band) == 0))
    }

    /// True if the registers of the key lie in the words as one stream of bits, without gaps.
    #[inline]
    const fn is_stream(&self) -> bool {
        self.bits.get() == self.stored.get() && self.bits.get().is_power_of_two()
    }

    /// The key one register at a time, for every width: the definition.
    fn gathered(&self, words: &[u64], first: usize) -> u64 {
        let (bits, mut key, mut free) = (self.bits.get(), 0, 64);
        for register in first..first + self.rows() {
            let value =
                packed::get(words, self.stored, register).expect("a sketch of the spec") & self.bits.mask();
            if free < bits {
                return key | value >> (bits - free);
            }
            free -= bits;
            key |= value << free;
            if free == 0 {
                break;
            }
        }
        key
    }

    /// The keys whose first `rows` registers are those of `key`.
    pub fn prefix(&self, key: u64, rows: usize) -> RangeInclusive<u64> {
        let kept = (rows as u64 * u64::from(self.bits.get())).min(u64::from(self.key_bits())) as u32;
        let low = u64::MAX.checked_shr(kept).unwrap_or(0);
        (key & !low)..=(key | low)
    }

    /// True if two stored sketches agree in the first rows of some band (at least one row).
    ///
    /// # Panics
    /// As [`Banding::keys`].
    pub fn share_prefix(&self, a: &[u64], b: &[u64], rows: usize) -> bool {
        if rows >= self.rows() {
            return self.share_key(a, b);
        }
        let agree = |band| self.prefix(self.key(a, band), rows.max(1)).contains(&self.key(b, band));
        (0..self.bands()).any(agree)
    }
}

/// 64 bits of the packed stream from bit `at` on; zeros after its end.
#[inline]
fn stream(words: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let next = words.get(word + 1).copied().unwrap_or(0);
    // Two shifts, since one by 64 is not defined and must give zero.
    words[word] >> shift | next << 1 << (63 - shift)
}

/// The lanes of a word in the opposite order, so that the first register becomes the most significant.
#[inline]
fn reverse_lanes(word: u64, bits: Bits) -> u64 {
    let swap = |word: u64, by: u32, low: u64| (word >> by & low) | (word & low) << by;
    match bits.get() {
        1 => word.reverse_bits(),
        2 => swap(word.reverse_bits(), 1, 0x5555_5555_5555_5555),
        4 => swap(word.swap_bytes(), 4, 0x0f0f_0f0f_0f0f_0f0f),
        8 => word.swap_bytes(),
        16 => swap(word.rotate_left(32), 16, 0x0000_ffff_0000_ffff),
        32 => word.rotate_left(32),
        _ => word,
    }
}

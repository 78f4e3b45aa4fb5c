//! b-bit registers in 64-bit words (004, 000): lanes from the lowest bit up, none straddles a word, unused bits are zero.
//!
//! ```
//! use benzer_core::sketch::{Bits, packed};
//! let mut words = [0u64; 1];
//! packed::pack(&[0x1ff, 2, 3], Bits::new(8).unwrap(), &mut words);
//! assert_eq!(words[0], 0x0302ff);
//! ```

use super::Bits;

/// Packs the lowest bits of each register into `words`, which must be [`Bits::words`] long.
pub fn pack(registers: &[u64], bits: Bits, words: &mut [u64]) {
    match bits.get() {
        8 => pack_bytes(registers, words),
        _ => pack_labels(registers.iter().copied(), bits, words),
    }
}

fn pack_bytes(registers: &[u64], words: &mut [u64]) {
    let (chunks, rest) = registers.as_chunks::<8>();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u64::from_le_bytes(chunk.map(|register| register as u8));
    }
    if let (Some(word), false) = (words.get_mut(chunks.len()), rest.is_empty()) {
        *word = rest.iter().rev().fold(0, |word, &register| word << 8 | register & 0xff);
    }
}

/// [`pack`] of registers computed on the way.
pub fn pack_labels(labels: impl Iterator<Item = u64>, bits: Bits, words: &mut [u64]) {
    words.fill(0);
    let (b, lanes, mask) = (bits.get(), bits.lanes(), bits.mask());
    for (i, label) in labels.enumerate() {
        words[i / lanes] |= (label & mask) << (b as usize * (i % lanes));
    }
}

/// Combines each group of `samples` one-bit registers by xor into one stored bit (004, section 5).
pub fn pack_xor(labels: impl Iterator<Item = u64>, samples: usize, words: &mut [u64]) {
    words.fill(0);
    for (i, label) in labels.enumerate() {
        let bit = i / samples;
        words[bit / 64] ^= (label & 1) << (bit % 64);
    }
}

/// The stored bits of register `j`; `None` past the end of `words`.
pub fn get(words: &[u64], bits: Bits, j: usize) -> Option<u64> {
    let lanes = bits.lanes();
    words.get(j / lanes).map(|word| word >> (bits.get() as usize * (j % lanes)) & bits.mask())
}

/// Positions of the ones in the one-hot expansion of `k` registers: `i * 2^b + value`, exactly one for each register
/// (004, section on learning). The inner product of two expansions divided by k is their match rate.
pub fn one_hot(words: &[u64], bits: Bits, k: usize) -> impl Iterator<Item = u64> + '_ {
    (0..k).map_while(move |i| get(words, bits, i).map(|value| ((i as u64) << bits.get().min(63)) + value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::stream;

    #[test]
    fn every_width_and_length_comes_back() {
        for bits in Bits::ALL {
            for k in [1usize, 3, 21, 64, 65, 129] {
                let registers: Vec<u64> = stream(7).take(k).collect();
                let mut words = vec![u64::MAX; bits.words(k)];
                pack(&registers, bits, &mut words);
                for (j, register) in registers.iter().enumerate() {
                    assert_eq!(get(&words, bits, j), Some(register & bits.mask()), "{bits:?} {k} {j}");
                }
                let used = bits.get() as usize * ((k - 1) % bits.lanes() + 1);
                assert_eq!(words.last().unwrap().checked_shr(used as u32).unwrap_or(0), 0, "padding is zero");
            }
        }
    }
}

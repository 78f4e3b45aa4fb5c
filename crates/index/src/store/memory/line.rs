//! A cache line of postings.

/// Postings of a line.
pub(super) const POSTINGS: usize = 16;

/// Postings of one stretch of keys: some bits of the key, then the local number. A place without one has all bits set, so the two highest local numbers are not used.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line([u32; POSTINGS]);

/// In the last place: there were too many, and the first two places say where they are. No posting looks so, since no local number does.
const SPILLED: u32 = u32::MAX - 1;

impl Line {
    pub const EMPTY: Self = Self([u32::MAX; POSTINGS]);

    /// A line whose postings are elsewhere.
    pub fn spilled(start: u32, end: u32) -> Self {
        let mut line = Self::EMPTY;
        (line.0[0], line.0[1], line.0[POSTINGS - 1]) = (start, end, SPILLED);
        line
    }

    /// Where the postings are, if there were too many.
    #[inline]
    pub fn is_spilled(&self) -> Option<std::ops::Range<usize>> {
        (self.0[POSTINGS - 1] == SPILLED).then_some(self.0[0] as usize..self.0[1] as usize)
    }

    pub fn put(&mut self, place: usize, posting: u32) {
        self.0[place] = posting;
    }

    /// The postings of a line that is not spilled.
    pub fn postings(&self) -> &[u32] {
        let n = self.0.iter().position(|posting| *posting == u32::MAX).unwrap_or(POSTINGS);
        &self.0[..n]
    }

    /// Hands the local numbers of so many bits whose postings begin with some bits to `visit`.
    #[inline]
    pub fn find(&self, rest: u32, local_bits: u32, mut visit: impl FnMut(u32)) {
        let mut places = beginning_with(&self.0, rest, local_bits);
        while places != 0 {
            let posting = self.0[places.trailing_zeros() as usize];
            if posting != u32::MAX {
                visit(posting & (u32::MAX >> (32 - local_bits)));
            }
            places &= places - 1;
        }
    }
}

/// A bit for each posting whose first bits, without those of the local number, are `rest`.
#[cfg(target_arch = "x86_64")]
#[inline]
fn beginning_with(postings: &[u32; POSTINGS], rest: u32, local_bits: u32) -> u32 {
    // SAFETY: every processor of this architecture has these vectors.
    unsafe { in_vectors(postings, rest, local_bits) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn in_vectors(postings: &[u32; POSTINGS], rest: u32, local_bits: u32) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi32, _mm_cvtsi32_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
        _mm_set_epi32, _mm_set1_epi32, _mm_srl_epi32,
    };
    let (wanted, shift) = (_mm_set1_epi32(rest as i32), _mm_cvtsi32_si128(local_bits as i32));
    let (fours, _) = postings.as_chunks();
    let mut equal: [__m128i; 4] = [wanted; 4];
    for (equal, &[a, b, c, d]) in equal.iter_mut().zip(fours) {
        let four = _mm_set_epi32(d as i32, c as i32, b as i32, a as i32);
        *equal = _mm_cmpeq_epi32(_mm_srl_epi32(four, shift), wanted);
    }
    let [low, high] = [_mm_packs_epi32(equal[0], equal[1]), _mm_packs_epi32(equal[2], equal[3])];
    _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn beginning_with(postings: &[u32; POSTINGS], rest: u32, local_bits: u32) -> u32 {
    one_by_one(postings, rest, local_bits)
}

/// The definition of [`beginning_with`].
#[cfg(any(test, not(target_arch = "x86_64")))]
fn one_by_one(postings: &[u32; POSTINGS], rest: u32, local_bits: u32) -> u32 {
    let bit = |(i, posting): (usize, &u32)| u32::from(posting.unbounded_shr(local_bits) == rest) << i;
    postings.iter().enumerate().map(bit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_see_what_one_by_one_sees(postings in prop::array::uniform16(prop_oneof![any::<u32>(), 0u32..64, Just(u32::MAX)]), local_bits in 1u32..=32, which in 0usize..16) {
            let rest = postings[which].unbounded_shr(local_bits);
            let places = beginning_with(&postings, rest, local_bits);
            prop_assert_eq!(places, one_by_one(&postings, rest, local_bits));
            prop_assert!(places >> which & 1 == 1);
        }
    }
}

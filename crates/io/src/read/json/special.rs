//! The one hot loop: where does the plain part of a JSON string end?
//!
//! A byte is special when it is a quote, a backslash or a control character. Most keys and ids end within 16
//! bytes, so the first 16 are compared inline (SSE2 belongs to every x86-64); longer strings go to a kernel that
//! is chosen at run time. Every kernel gives the position that [`scalar`] gives.

/// The position of the first special byte at or after `at`, or `bytes.len()`.
#[inline]
pub fn find(bytes: &[u8], at: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(first) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        return match mask_16(first) {
            0 => x86::find_long(bytes, at + 16),
            mask => at + mask.trailing_zeros() as usize,
        };
    }
    scalar(bytes, at)
}

/// Bit `i` is set when byte `i` is special.
#[inline]
pub fn mask_16(bytes: &[u8; 16]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return x86::mask_16(bytes);
    #[cfg(not(target_arch = "x86_64"))]
    return scalar_mask_16(bytes);
}

/// The definition of the mask, bit by bit.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn scalar_mask_16(bytes: &[u8; 16]) -> u32 {
    bytes.iter().enumerate().map(|(i, &b)| u32::from(is_special(b)) << i).sum()
}

fn is_special(b: u8) -> bool {
    b == b'"' || b == b'\\' || b < 0x20
}

/// The definition, byte by byte.
fn scalar(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| rest.iter().position(|&b| is_special(b))).map_or(bytes.len(), |i| at + i)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Bit `i` is set when byte `i` is special.
    #[inline]
    pub(super) fn mask_16(bytes: &[u8; 16]) -> u32 {
        // SAFETY: SSE2 belongs to every x86-64, and the load takes exactly the 16 bytes of the reference.
        unsafe {
            let x = _mm_loadu_si128(bytes.as_ptr().cast());
            let control = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(0x1f)), x);
            let quote = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'"' as i8));
            let backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8(b'\\' as i8));
            _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash))) as u32
        }
    }

    /// The rest of a string that did not end in its first 16 bytes.
    #[inline(never)]
    pub(super) fn find_long(bytes: &[u8], at: usize) -> usize {
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has AVX2.
            unsafe { find_avx2(bytes, at) }
        } else {
            find_sse2(bytes, at)
        }
    }

    pub(super) fn find_sse2(bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            match mask_16(chunk) {
                0 => at += 16,
                mask => return at + mask.trailing_zeros() as usize,
            }
        }
        super::scalar(bytes, at)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn find_avx2(bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<64>()) {
            let (low, high) = (special_32(chunk, 0), special_32(chunk, 32));
            if _mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1)) == 0 {
                let low = u64::from(_mm256_movemask_epi8(low) as u32);
                let high = u64::from(_mm256_movemask_epi8(high) as u32);
                return at + (low | high << 32).trailing_zeros() as usize;
            }
            at += 64;
        }
        find_sse2(bytes, at)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn special_32(chunk: &[u8; 64], half: usize) -> __m256i {
        // SAFETY: an unaligned load of 32 of the 64 bytes, because `half` is 0 or 32.
        let x = unsafe { _mm256_loadu_si256(chunk.as_ptr().add(half).cast()) };
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(0x1f)), x);
        let quote = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(b'"' as i8));
        let backslash = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(b'\\' as i8));
        _mm256_or_si256(control, _mm256_or_si256(quote, backslash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_finds_what_the_scalar_loop_finds(
            mut bytes in prop::collection::vec(prop_oneof![0x20u8..=0xff, Just(b'x')], 0..300),
            places in prop::collection::vec((0usize..300, prop_oneof![Just(b'"'), Just(b'\\'), 0u8..0x21]), 0..3),
            at in 0usize..320,
        ) {
            bytes.iter_mut().for_each(|b| if *b == b'"' || *b == b'\\' { *b = 0x7f });
            for (place, byte) in places {
                if let Some(b) = bytes.get_mut(place) { *b = byte }
            }
            let expected = scalar(&bytes, at);
            prop_assert_eq!(find(&bytes, at), expected);
            for chunk in bytes.as_chunks::<16>().0 {
                prop_assert_eq!(mask_16(chunk), scalar_mask_16(chunk));
            }
            #[cfg(target_arch = "x86_64")]
            {
                prop_assert_eq!(x86::find_sse2(&bytes, at), expected);
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the CPU has AVX2.
                    prop_assert_eq!(unsafe { x86::find_avx2(&bytes, at) }, expected);
                }
            }
        }
    }

    #[test]
    fn every_byte_value_is_classified_alike() {
        for byte in 0..=255u8 {
            let mut bytes = [b'a'; 80];
            bytes[70] = byte;
            assert_eq!(find(&bytes, 0), scalar(&bytes, 0), "{byte:#x}");
            assert_eq!(find(&bytes, 60), scalar(&bytes, 60), "{byte:#x}");
        }
    }
}

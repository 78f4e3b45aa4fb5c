//! Escapes in vector registers: 64 bytes at a time, however many of them hold a backslash.
//!
//! An escape of one letter (`\n`, `\"`, ...) is one byte too many: its letter is translated by a table and its backslash
//! squeezed out. Everything rarer (`\u`, faults, the last bytes of a buffer) is left to the caller's plain loop, so that
//! these kernels only have to know where to stop. CPUs without them stop at once.

/// What a letter after a backslash stands for; 0 when it is `u` or nothing.
pub(super) static SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut i = 0;
    while i < pairs.len() {
        table[pairs[i] as usize] = pairs[i + 1];
        i += 2;
    }
    table
};

/// Where a scan of a string from `at` on can go without a closer look: the first closing quote, control character, or
/// backslash that does not begin an escape of one letter. May stop at any backslash before; never behind.
#[inline]
pub(super) fn skip_simple(bytes: &[u8], at: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if x86::is_available() {
        // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
        return unsafe { x86::skip_simple(bytes, at) };
    }
    super::special::find(bytes, at)
}

/// Decodes a part of a string from `at` on into `out` from `to` on; how far it read and wrote. It stops where [`skip_simple`] stops, and may stop at any backslash before.
/// Up to 64 bytes behind what it wrote may be overwritten.
#[inline]
pub(super) fn decode_simple(bytes: &[u8], at: usize, out: &mut [u8], to: usize) -> (usize, usize) {
    #[cfg(target_arch = "x86_64")]
    if x86::is_available() {
        // SAFETY: the CPU was just checked for every feature the kernel is compiled with.
        return unsafe { x86::decode_simple(bytes, at, out, to) };
    }
    let end = super::special::find(bytes, at);
    out[to..to + end - at].copy_from_slice(&bytes[at..end]);
    (end, to + end - at)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use benzer_core::Level;

    use super::SIMPLE;

    /// Every second bit, from the second on.
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;

    #[inline]
    pub(super) fn is_available() -> bool {
        Level::best() == Level::Avx512
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("popcnt")
    }

    /// 64 bytes, and what is an escape in them.
    struct Block {
        bytes: __m512i,
        /// The backslashes that begin an escape.
        begins: u64,
        /// The letters after them.
        letters: u64,
        /// What the letters stand for; 0 where that is more than a table knows.
        meanings: __m512i,
    }

    impl Block {
        /// `carried` is 1 if the first byte is the letter of an escape that began before.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
        fn new(bytes: __m512i, carried: u64) -> Self {
            let backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8));
            // In a run of backslashes every second one is a letter. Where a run begins at an even place, subtracting it
            // from the odd places carries through the run, and leaves a mark where it ends.
            let first = backslashes & !carried;
            let marks = ((first << 1) | ODD).wrapping_sub(first) ^ ODD;
            let letters = marks ^ (backslashes | carried);
            // SAFETY: the table is 128 bytes.
            let (low, high) = unsafe {
                (
                    _mm512_loadu_si512(SIMPLE.as_ptr().cast()),
                    _mm512_loadu_si512(SIMPLE.as_ptr().add(64).cast()),
                )
            };
            // The table is looked up by seven bits; bytes with the eighth are no letters of escapes.
            let ascii = !_mm512_movepi8_mask(bytes);
            let meanings = _mm512_maskz_mov_epi8(ascii, _mm512_permutex2var_epi8(low, bytes, high));
            Self { bytes, begins: marks & backslashes, letters, meanings }
        }

        /// What ends a string: quotes and control characters.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
        fn ends(&self) -> u64 {
            let quotes = _mm512_cmpeq_epi8_mask(self.bytes, _mm512_set1_epi8(b'"' as i8)) & !self.letters;
            quotes | _mm512_cmplt_epu8_mask(self.bytes, _mm512_set1_epi8(0x20))
        }

        /// The letters that the table does not know.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
        fn unknown(&self) -> u64 {
            self.letters & _mm512_testn_epi8_mask(self.meanings, self.meanings)
        }
    }

    /// The first 64 bytes of a text, zeros for those that are not `there`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn load(text: &[u8], there: u64) -> __m512i {
        assert!(u64::BITS - there.leading_zeros() <= text.len().min(64) as u32);
        // SAFETY: lanes past the end of the text are masked and not read.
        unsafe { _mm512_maskz_loadu_epi8(there, text.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    pub(super) fn skip_simple(bytes: &[u8], mut at: usize) -> usize {
        let mut carried = 0;
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<64>()) {
            let block = Block::new(load(chunk, u64::MAX), carried);
            let unknown = block.unknown();
            let stops = block.ends() | unknown;
            if stops != 0 {
                let stop = stops.trailing_zeros();
                // An unknown letter: back to its backslash.
                return at + stop as usize - usize::from(unknown >> stop & 1 == 1);
            }
            carried = block.begins >> 63;
            at += 64;
        }
        super::super::special::find(bytes, at - carried as usize)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
    pub(super) fn decode_simple(
        bytes: &[u8],
        mut at: usize,
        out: &mut [u8],
        mut to: usize,
    ) -> (usize, usize) {
        while at < bytes.len() {
            let rest = &bytes[at..];
            let there = u64::MAX >> (64 - rest.len().min(64));
            let block = Block::new(load(rest, there), 0);
            let room: &mut [u8; 64] =
                out[to..].first_chunk_mut().expect("there is room behind what is written");
            // What is not there is zero, which ends a string.
            let stops = block.ends() | block.unknown() >> 1;
            // An escape that ends in the next block is left for it.
            let left = stops | (block.begins & 1 << 63);
            let taken = if left == 0 { u64::MAX } else { !(u64::MAX << left.trailing_zeros()) };
            let decoded = _mm512_mask_mov_epi8(block.bytes, block.letters, block.meanings);
            let kept = taken & !block.begins;
            // SAFETY: `room` is 64 bytes.
            unsafe {
                _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(kept, decoded));
            }
            to += kept.count_ones() as usize;
            // Branches, not a minimum: predicted, they let the next load begin before these masks are known.
            if left == 0 {
                at += 64;
            } else {
                at += left.trailing_zeros() as usize;
                if stops != 0 {
                    break;
                }
            }
        }
        (at, to)
    }
}

#[cfg(test)]
mod tests {
    use super::super::string::{Decoded, scan, scan_wanted};
    use proptest::prelude::*;

    /// Strings with many escapes, and the content that `serde_json` finds in them.
    fn escaped() -> impl Strategy<Value = Vec<String>> {
        let part = prop_oneof![
            4 => "[a-z ]{0,40}",
            2 => "[é漢😀]{1,3}",
            4 => proptest::sample::select(vec!["\\n", "\\\\", "\\\"", "\\t", "\\/", "\\b", "\\r", "\\f"]).prop_map(str::to_owned),
            2 => Just("\\\\".repeat(33)),
            1 => proptest::sample::select(vec!["\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\u2028"]).prop_map(str::to_owned),
        ];
        prop::collection::vec(part, 0..40)
    }

    proptest! {
        #[test]
        fn strings_are_decoded_as_serde_json_does(parts in escaped(), before in "[a-z]{0,70}", damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>()))) {
            let mut line = format!("{before}\"{}\"", parts.concat()).into_bytes();
            if let Some((at, byte)) = damage {
                let at = before.len() + 1 + at.index(line.len() - before.len() - 1);
                line[at] = byte;
            }
            let start = before.len() + 1;
            line.extend_from_slice(b", 1]\n");
            let found = scan(&line, start);
            let mut wanted = Decoded::default();
            prop_assert_eq!(&scan_wanted(&line, start, &mut wanted), &found);
            // Up to the first quote that serde_json takes for the end.
            let mut stream = serde_json::Deserializer::from_slice(&line[before.len()..]).into_iter::<String>();
            match (std::str::from_utf8(&line).is_ok(), stream.next()) {
                (true, Some(Ok(expected))) => {
                    let quoted = found.expect("serde_json reads it");
                    prop_assert_eq!(quoted.end + 1, before.len() + stream.byte_offset());
                    let mut content = Decoded::new(vec![b'!'; 300]);
                    content.extend_from_slice(b"kept");
                    content.unescape(&line[quoted.start..quoted.end]).unwrap();
                    content.extend_from_slice(b"added");
                    if quoted.escaped {
                        prop_assert_eq!(wanted.bytes(), expected.as_bytes());
                    }
                    prop_assert_eq!(&content.bytes()[..4], b"kept");
                    prop_assert_eq!(&content.into_bytes()[4..], [expected.as_bytes(), b"added"].concat());
                }
                (true, _) => prop_assert!(found.is_err(), "{:?}", found),
                // UTF-8 is not checked here.
                (false, _) => {}
            }
        }
    }
}

//! Bytes into text, validated once per batch by vector code.
//!
//! `std` validates ASCII fast and everything else at 1-2 GB/s, which on a Chinese or Russian corpus would cost as
//! much as all the rest of the reader. Limit: one `unsafe` line, because `std` has no way to take another
//! validator's word; a property test compares the two.

/// What a file of text may begin with, which is no part of the text.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The same bytes as text, or the bytes back when they are not UTF-8.
pub(super) fn into_string(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if simdutf8::basic::from_utf8(&bytes).is_err() {
        return Err(bytes);
    }
    // SAFETY: the vector validator has just accepted exactly these bytes.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

/// How many bytes at the beginning are UTF-8, when not all are.
pub(super) fn first_error(bytes: &[u8]) -> Option<usize> {
    simdutf8::compat::from_utf8(bytes).err().map(|error| error.valid_up_to())
}

/// The bytes as text, or how many at the beginning are.
pub(super) fn check(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| first_error(bytes).unwrap_or(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vector_validator_agrees_with_std(
            text in "\\PC{0,90}",
            noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            let mut bytes = text.into_bytes();
            for (at, byte) in noise {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            let expected = String::from_utf8(bytes.clone());
            prop_assert_eq!(first_error(&bytes), expected.as_ref().err().map(|e| e.utf8_error().valid_up_to()));
            prop_assert_eq!(check(&bytes), expected.as_deref().map_err(|e| e.utf8_error().valid_up_to()));
            prop_assert_eq!(into_string(bytes), expected.map_err(|e| e.into_bytes()));
        }
    }
}

//! Shingles: `n` neighbouring tokens become one element.
//!
//! An element is [`hash::combine`] of the token hashes. Up to [`hash::LONGEST_ROTATED`] tokens the combination rolls, each
//! shingle costs the same few instructions whatever `n` is; longer shingles are combined one by one, at a
//! cost that grows with `n`. A text of fewer than `n` tokens is one shingle of all of them; a text of none
//! has no shingle.

use super::kernel::{self, Path};
use crate::hash;

/// Replaces `elements` by the shingles of `tokens` in order; `shift` is how many low bits of each element to
/// drop.
pub(super) fn elements(path: Path, tokens: &[u64], n: usize, shift: u32, elements: &mut Vec<u64>) {
    elements.clear();
    if tokens.is_empty() {
        return;
    }
    let n = n.min(tokens.len());
    if n > hash::LONGEST_ROTATED {
        elements.extend(tokens.windows(n).map(|window| hash::combine(window) >> shift));
        return;
    }
    elements.resize(tokens.len() - n + 1, 0);
    kernel::shingles(path, tokens, n, shift, elements);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn rolling_gives_what_combine_gives_for_any_n() {
        let tokens: Vec<u64> = hash::stream(7).take(200).collect();
        let mut found = Vec::new();
        for n in 1..=200 {
            elements(Path::new(Level::Scalar), &tokens, n, 0, &mut found);
            let expected: Vec<u64> = tokens.windows(n).map(hash::combine).collect();
            assert_eq!(found, expected, "n = {n}");
        }
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        let mut found = Vec::new();
        elements(Path::new(Level::Scalar), &[1, 2], 5, 0, &mut found);
        assert_eq!(found, [hash::combine(&[1, 2])]);
        elements(Path::new(Level::Scalar), &[], 5, 0, &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn the_short_element_is_the_upper_half() {
        let mut found = Vec::new();
        elements(Path::new(Level::Scalar), &[1, 2, 3], 2, 32, &mut found);
        assert_eq!(found, [hash::combine(&[1, 2]) >> 32, hash::combine(&[2, 3]) >> 32]);
    }
}

//! Shingles: `n` neighbouring tokens become one element.
//!
//! An element is [`hash::combine`] of the token hashes. Up to [`hash::MAX_ROTATED`] tokens the combination rolls, each
//! shingle costs the same few instructions whatever `n` is; longer shingles are combined one by one, at a
//! cost that grows with `n`. A text of fewer than `n` tokens is one shingle of all of them; a text of none
//! has no shingle.

use super::kernel::{self, Path};
use crate::hash;

/// Writes the shingles of `tokens` in order to `out[start..]` and returns where they end; `shift` is how many low bits of each
/// element to drop. `out` grows as needed and never shrinks: what lies behind the end is left over from before.
pub(super) fn write(
    path: Path,
    tokens: &[u64],
    n: usize,
    shift: u32,
    out: &mut Vec<u64>,
    start: usize,
) -> usize {
    if tokens.is_empty() {
        return start;
    }
    let n = n.min(tokens.len());
    let end = start + tokens.len() - n + 1;
    if out.len() < end {
        out.resize(end.next_multiple_of(1024), 0);
    }
    let out = &mut out[start..end];
    if n > hash::MAX_ROTATED {
        out.iter_mut()
            .zip(tokens.windows(n))
            .for_each(|(element, window)| *element = hash::combine(window) >> shift);
    } else {
        kernel::shingles(path, tokens, n, shift, out);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn elements(tokens: &[u64], n: usize, shift: u32) -> Vec<u64> {
        let mut found = vec![9; 3];
        let end = write(Path::new(Level::Scalar), tokens, n, shift, &mut found, 3);
        assert_eq!(found[..3], [9; 3], "what stands before is kept");
        found[3..end].to_vec()
    }

    #[test]
    fn rolling_gives_what_combine_gives_for_any_n() {
        let tokens: Vec<u64> = hash::stream(7).take(200).collect();
        for n in 1..=200 {
            let expected: Vec<u64> = tokens.windows(n).map(hash::combine).collect();
            assert_eq!(elements(&tokens, n, 0), expected, "n = {n}");
        }
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        assert_eq!(elements(&[1, 2], 5, 0), [hash::combine(&[1, 2])]);
        assert!(elements(&[], 5, 0).is_empty());
    }

    #[test]
    fn the_short_element_is_the_upper_half() {
        assert_eq!(elements(&[1, 2, 3], 2, 32), [hash::combine(&[1, 2]) >> 32, hash::combine(&[2, 3]) >> 32]);
    }
}

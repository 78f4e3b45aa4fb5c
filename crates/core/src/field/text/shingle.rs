//! Shingles: `n` neighbouring tokens become one element.
//!
//! An element is [`hash::combine`] of the token hashes. Up to [`ROLLING`] tokens the combination rolls, each
//! shingle costs the same few instructions whatever `n` is; longer shingles are combined one by one, at a
//! cost that grows with `n`. A text of fewer than `n` tokens is one shingle of all of them; a text of none
//! has no shingle.

use crate::hash;

/// The longest shingle that `hash::combine` hashes by rotation.
const ROLLING: usize = hash::LONGEST_ROTATED;

/// Replaces `elements` by the shingles of `tokens` in order; `shift` is how many low bits of each element to
/// drop.
pub(super) fn elements(tokens: &[u64], n: usize, shift: u32, elements: &mut Vec<u64>) {
    elements.clear();
    if tokens.is_empty() {
        return;
    }
    let n = n.min(tokens.len());
    elements.reserve(tokens.len() - n + 1);
    match n {
        5 => elements.extend(tokens.array_windows::<5>().map(|window| hash::combine(window) >> shift)),
        _ if n <= ROLLING => roll(tokens, n, shift, elements),
        _ => elements.extend(tokens.windows(n).map(|window| hash::combine(window) >> shift)),
    }
}

/// Keeps the state of `combine` from one window to the next: the oldest token leaves by the same rotation and
/// xor by which it came.
fn roll(tokens: &[u64], n: usize, shift: u32, elements: &mut Vec<u64>) {
    let (first, rest) = tokens.split_at(n - 1);
    let mut state = first.iter().fold(0u64, |state, token| state.rotate_left(hash::ROTATION) ^ token);
    let leaving = hash::ROTATION * (n as u32 - 1) % 64;
    elements.extend(rest.iter().zip(tokens).map(|(newest, oldest)| {
        let full = state.rotate_left(hash::ROTATION) ^ newest;
        state = full ^ oldest.rotate_left(leaving);
        hash::finish(full ^ n as u64) >> shift
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolling_gives_what_combine_gives_for_any_n() {
        let tokens: Vec<u64> = hash::stream(7).take(200).collect();
        let mut found = Vec::new();
        for n in 1..=200 {
            elements(&tokens, n, 0, &mut found);
            let expected: Vec<u64> = tokens.windows(n).map(hash::combine).collect();
            assert_eq!(found, expected, "n = {n}");
        }
    }

    #[test]
    fn a_short_text_is_one_shingle_and_an_empty_one_none() {
        let mut found = Vec::new();
        elements(&[1, 2], 5, 0, &mut found);
        assert_eq!(found, [hash::combine(&[1, 2])]);
        elements(&[], 5, 0, &mut found);
        assert!(found.is_empty());
    }

    #[test]
    fn the_short_element_is_the_upper_half() {
        let mut found = Vec::new();
        elements(&[1, 2, 3], 2, 32, &mut found);
        assert_eq!(found, [hash::combine(&[1, 2]) >> 32, hash::combine(&[2, 3]) >> 32]);
    }
}

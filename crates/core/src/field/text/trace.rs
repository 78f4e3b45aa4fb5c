//! Where in the original text a piece of the normalized text came from.
//!
//! The hot path does not ask and passes `()`, which compiles to nothing; explanations pass an [`Offsets`].

use std::ops::Range;

/// Learns pairs of offsets, both increasing.
pub(super) trait Trace {
    /// The normalized text from `normalized` on came from the original text from `original` on.
    fn mark(&mut self, normalized: usize, original: usize);
}

impl Trace for () {
    #[inline(always)]
    fn mark(&mut self, _: usize, _: usize) {}
}

/// Remembers the pairs.
#[derive(Debug, Default)]
pub(super) struct Offsets(Vec<(usize, usize)>);

impl Offsets {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The smallest range of the original text, in whole segments, that covers a range of the normalized one.
    pub fn original(&self, normalized: Range<usize>) -> Range<usize> {
        let after = self.0.partition_point(|&(n, _)| n <= normalized.start);
        let end = self.0.partition_point(|&(n, _)| n < normalized.end);
        self.0[after - 1].1..self.0[end].1
    }
}

impl Trace for Offsets {
    fn mark(&mut self, normalized: usize, original: usize) {
        self.0.push((normalized, original));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_to_whole_segments_and_skip_what_was_dropped() {
        let mut offsets = Offsets::default();
        // "ﬁ" (3 bytes) became "fi", a soft hyphen (2 bytes) vanished, "n" stayed.
        [(0, 0), (2, 3), (2, 5), (3, 6)].iter().for_each(|&(n, o)| offsets.mark(n, o));
        assert_eq!(offsets.original(0..2), 0..3);
        assert_eq!(offsets.original(1..3), 0..6);
        assert_eq!(offsets.original(2..3), 5..6);
    }
}

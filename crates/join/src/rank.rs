//! A document's place in keep order.

use benzer_flow::sort::Record;

/// The number of a document or set: the lower one is earlier in keep order.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rank(pub u32);

impl Rank {
    /// As the place in a list that has an entry for each rank.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All ranks below `n`, in order.
    pub fn all(n: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        (0..n).map(Self)
    }
}

impl Record for Rank {
    const BYTES: usize = u32::BYTES;

    #[inline]
    fn write(&self, to: &mut [u8]) {
        self.0.write(to);
    }

    #[inline]
    fn read(from: &[u8]) -> Self {
        Self(u32::read(from))
    }
}

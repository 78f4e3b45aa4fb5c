//! A document's place in the order of reading.

use benzer_flow::sort::Record;

/// The number of a document in the order in which documents were read.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Row(pub u32);

impl Row {
    /// As the place in a list that has an entry for each row.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn all(n: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        (0..n).map(Self)
    }
}

impl Record for Row {
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

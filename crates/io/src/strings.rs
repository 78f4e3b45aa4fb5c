//! Many byte strings in one buffer.

use benzer_core::hint::prefetch_to_write;

/// Byte strings one after the other.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Strings {
    /// All of them.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<u32>,
}

impl Strings {
    /// Appends a string. A chunk of documents whose ids take 4 GiB cannot be read in the first place.
    pub fn push(&mut self, string: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(string));
    }

    /// Appends what `write` appends.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(u32::try_from(self.bytes.len()).expect("a batch holds less than 4 GiB"));
    }

    /// Asks for the places of a string to come, if it is as long as those before.
    #[inline]
    pub fn prefetch_next(&self, ahead: usize) {
        let length = self.bytes.len() / self.ends.len().max(1);
        prefetch_to_write(&self.bytes, self.bytes.len() + ahead * length);
        prefetch_to_write(&self.ends, self.ends.len() + ahead);
    }

    /// Forgets all of them, and keeps their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The string of a number.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.bytes[start..self.ends[i] as usize]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|i| self.get(i))
    }

    /// Appends some of another.
    pub fn extend(&mut self, other: &Self, range: std::ops::Range<usize>) {
        let end_of = |i: usize| if i == 0 { 0 } else { other.ends[i - 1] };
        let (start, end, before) = (end_of(range.start), end_of(range.end), self.bytes.len());
        self.bytes.extend_from_slice(&other.bytes[start as usize..end as usize]);
        assert!(u32::try_from(self.bytes.len()).is_ok(), "a chunk holds less than 4 GiB");
        self.ends.extend(other.ends[range].iter().map(|end| end - start + before as u32));
    }

    /// Bytes of memory that they take.
    pub fn n_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

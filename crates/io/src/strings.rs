//! Many byte strings in one buffer.

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

    /// Gives back the memory for strings to come.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
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

    /// Bytes of memory that they take.
    pub fn n_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

//! Strings one after the other.
//!
//! As long as all of them are equally long, where one begins is calculated; ids often are. Otherwise the end of each is kept.

use crate::hints;

/// Strings one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    bytes: Vec<u8>,
    n: usize,
    /// The length of all of them, while there are no ends.
    width: usize,
    /// Where each ends; none at all while all are equally long.
    ends: Vec<usize>,
}

/// About how long an id is.
const ID_BYTES: usize = 16;

impl Texts {
    /// Nothing yet, with room for `n` short ones.
    pub fn with_capacity(n: usize) -> Self {
        Self { bytes: hints::with_capacity(n * ID_BYTES), ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// One of them; past the end it is empty.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        if i >= self.n {
            return &[];
        }
        match &self.ends[..] {
            [] => &self.bytes[i * self.width..(i + 1) * self.width],
            ends => &self.bytes[if i == 0 { 0 } else { ends[i - 1] }..ends[i]],
        }
    }

    /// Begins to bring one into the cache, or the place where it is, if that has to be looked up.
    #[inline]
    pub(crate) fn prefetch(&self, i: usize) {
        if self.ends.is_empty() {
            hints::prefetch(&self.bytes, i.wrapping_mul(self.width));
        } else {
            hints::prefetch(&self.ends, i.wrapping_sub(1));
            hints::prefetch(&self.ends, i);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Appends one.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        if self.n == 0 {
            self.width = bytes.len();
        }
        if self.ends.is_empty() && bytes.len() != self.width {
            self.keep_ends();
        }
        self.bytes.extend_from_slice(bytes);
        self.n += 1;
        if !self.ends.is_empty() {
            self.ends.push(self.bytes.len());
        }
    }

    /// Appends all of others.
    pub fn extend(&mut self, others: &Self) {
        if others.n == 0 {
            return;
        }
        if self.n == 0 {
            self.width = others.width;
        }
        let start = self.bytes.len();
        if !(self.ends.is_empty() && others.ends.is_empty() && self.width == others.width) {
            if self.ends.is_empty() {
                self.keep_ends();
            }
            self.ends.extend((0..others.n).map(|i| start + others.end(i)));
        }
        self.bytes.extend_from_slice(&others.bytes);
        self.n += others.n;
    }

    /// Writes down where each ends, since the next is longer or shorter.
    #[cold]
    fn keep_ends(&mut self) {
        self.ends = hints::with_capacity(self.n.max(self.bytes.capacity() / ID_BYTES));
        self.ends.extend((1..=self.n).map(|i| i * self.width));
    }

    fn end(&self, i: usize) -> usize {
        self.ends.get(i).copied().unwrap_or((i + 1) * self.width)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        (self.n, self.width) = (0, 0);
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<usize>() * self.ends.capacity()
    }
}

impl<B: AsRef<[u8]>> FromIterator<B> for Texts {
    fn from_iter<I: IntoIterator<Item = B>>(texts: I) -> Self {
        texts.into_iter().fold(Self::default(), |mut all, text| {
            all.push(text.as_ref());
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_come_back_as_they_were() {
        let texts: Texts = ["a", "", "bcd"].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), [&b"a"[..], b"", b"bcd"]);
        assert_eq!((texts.len(), texts.get(3)), (3, &b""[..]));
    }

    proptest! {
        #[test]
        fn equally_long_or_not_they_are_what_a_list_is(first in prop::collection::vec("[ab]{2}|[ab]{0,3}", 0..6), second in prop::collection::vec("[ab]{2}|[ab]{0,3}", 0..6), even in any::<bool>()) {
            let cut = |text: &String| if even { "xy".to_owned() } else { text.clone() };
            let (first, second): (Vec<String>, Vec<String>) = (first.iter().map(cut).collect(), second.iter().map(cut).collect());
            let all: Vec<&String> = first.iter().chain(&second).collect();
            let mut texts: Texts = first.iter().collect();
            texts.extend(&second.iter().collect());
            prop_assert_eq!(&texts, &all.iter().collect::<Texts>());
            prop_assert!(texts.iter().eq(all.iter().map(|text| text.as_bytes())));
            prop_assert_eq!(texts.get(all.len()), b"");
            texts.clear();
            prop_assert_eq!(&texts, &Texts::default());
        }
    }
}

//! Buffers that begin with a cache line.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// Processors tell loads from stores by the place within a page of so many bytes.
const PAGE: usize = 4096;

/// Items whose first one begins a cache line, so that whole vectors read from the start on never lie across two lines; or, by choice, lies apart from others ([`Lines::apart_from`]).
#[derive(Debug)]
pub(crate) struct Lines<T> {
    items: Vec<T>,
    start: usize,
    n: usize,
}

impl<T> Default for Lines<T> {
    fn default() -> Self {
        Self { items: Vec::new(), start: 0, n: 0 }
    }
}

impl<T: Copy> Lines<T> {
    /// `n` times the same item.
    pub fn new(item: T, n: usize) -> Self {
        let items = vec![item; n + LINE / size_of::<T>()];
        let start = items.as_ptr().align_offset(LINE);
        // An offset beyond the spare items means that there is no telling: any start is right then, only slower.
        Self { start: if start + n <= items.len() { start } else { 0 }, items, n }
    }

    /// `n` times the same item, to be written while `read` is read from its start on: they begin half a page apart. A load whose address differs by whole pages from that of a
    /// store under way waits for it, as if it were the same.
    pub fn apart_from<R>(read: &[R], item: T, n: usize) -> Self {
        let items = vec![item; n + PAGE / size_of::<T>()];
        let bytes = (read.as_ptr().addr() + PAGE / 2).wrapping_sub(items.as_ptr().addr()) % PAGE;
        Self { start: bytes / size_of::<T>(), items, n }
    }
}

impl<T> Deref for Lines<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items[self.start..self.start + self.n]
    }
}

impl<T> DerefMut for Lines<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..self.start + self.n]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_item_begins_a_line_and_all_are_there() {
        for n in [0, 1, 63, 64, 1000] {
            let mut bytes = Lines::new(7u8, n);
            let words = Lines::new(7u64, n);
            assert!(bytes.as_ptr().addr().is_multiple_of(LINE) && words.as_ptr().addr().is_multiple_of(LINE));
            assert!(bytes.len() == n && words.len() == n);
            bytes.fill(8);
            assert!(bytes.iter().all(|&b| b == 8) && words.iter().all(|&w| w == 7));
        }
        assert!(Lines::<u8>::default().is_empty());
    }

    #[test]
    fn what_is_written_lies_half_a_page_from_what_is_read() {
        for n in [0, 1, 1000, 5000] {
            let read = Lines::new(0u8, n);
            let written = Lines::apart_from(&read, 7u32, n);
            assert_eq!(written.as_ptr().addr().wrapping_sub(read.as_ptr().addr()) % PAGE, PAGE / 2);
            assert_eq!(*written, vec![7; n]);
        }
    }
}

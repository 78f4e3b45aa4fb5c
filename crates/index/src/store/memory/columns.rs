//! Keys on their way into lines.
//!
//! Records are read once for several bands: the first halves of their keys go to a column for each band, a cache line of it at a time, where the place of a key is the local number of its record. Then one
//! column after the other is put into lines. While these fit the cache, keys are placed as they come; those of more records are first put into parts by their first bits, whose lines do.

use std::ops::Range;

use crate::hints;

/// Records whose keys are written together: about a cache line. Of larger arrays the library would write all zeros that the system gives anyway.
pub(super) const BLOCK: usize = 16;

/// Keys of some bands, one for each record.
#[derive(Debug)]
pub(super) struct Columns {
    blocks: Vec<[u32; BLOCK]>,
    n: usize,
    /// Blocks from one column to the next. One is spare: columns of 2^k records would all meet in the same few places of the cache.
    stride: usize,
    /// For each band the records that have no key, in order.
    without: Vec<Vec<u32>>,
}

/// What of a key decides about its place.
#[inline]
pub(super) fn first_half(key: u64) -> u32 {
    (key >> 32) as u32
}

impl Columns {
    /// For some bands of `n` records.
    pub fn new(bands: usize, n: usize) -> Self {
        let stride = n.div_ceil(BLOCK) + 1;
        Self { blocks: hints::zeros(bands * stride), n, stride, without: vec![Vec::new(); bands] }
    }

    /// Begins again, with as many bands.
    pub fn clear(&mut self) {
        self.without.iter_mut().for_each(Vec::clear);
    }

    /// Writes the first halves of the keys of a block of records. Those that lie past the end, and those of records without a key, mean nothing.
    #[inline]
    pub fn put(&mut self, band: usize, block: usize, keys: &[u32; BLOCK]) {
        self.blocks[band * self.stride + block] = *keys;
    }

    /// A record has no key in a band. They are told in order.
    pub fn leave_out(&mut self, band: usize, local: u32) {
        self.without[band].push(local);
    }

    /// A column; what records without a key have there means nothing.
    pub fn column(&self, band: usize) -> &[u32] {
        &self.blocks[band * self.stride..(band + 1) * self.stride].as_flattened()[..self.n]
    }

    /// What is in a column, without those that have no key: the first local number of each stretch, and the keys from there on.
    pub fn stretches(&self, band: usize) -> impl Iterator<Item = (u32, &[u32])> {
        let column = self.column(band);
        let without = &self.without[band];
        let starts = std::iter::once(0).chain(without.iter().map(|local| local + 1));
        let ends = without.iter().map(|local| *local as usize).chain([self.n]);
        starts.zip(ends).map(|(start, end)| (start, &column[start as usize..end]))
    }
}

/// The keys of a band by their first bits, and in each part by local number.
#[derive(Debug, Default)]
pub(super) struct Parted {
    /// A key, then the local number.
    entries: Vec<u64>,
    /// Where each part begins, and where the last ends.
    starts: Vec<usize>,
}

impl Parted {
    /// Cuts a column by so many bits, at least one.
    pub fn cut(&mut self, columns: &Columns, band: usize, bits: u32) {
        let part = |key: u32| (key >> (32 - bits)) as usize;
        let mut next = vec![0; 1 << bits];
        columns.stretches(band).flat_map(|(_, keys)| keys).for_each(|key| next[part(*key)] += 1);
        self.starts.clear();
        self.starts.push(0);
        let mut n = 0;
        for next in &mut next {
            let start = n;
            n += *next;
            *next = start;
            self.starts.push(n);
        }
        if self.entries.len() < n {
            self.entries = hints::zeros(n);
        }
        for (first, keys) in columns.stretches(band) {
            for (key, local) in keys.iter().zip(first..) {
                let next = &mut next[part(*key)];
                self.entries[*next] = u64::from(*key) << 32 | u64::from(local);
                *next += 1;
            }
        }
    }

    /// The entries of a part: the first half of a key, and the local number.
    pub fn part(&self, part: usize) -> &[u64] {
        let Range { start, end } = self.starts[part]..self.starts[part + 1];
        &self.entries[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_have_what_columns_have(keys in prop::collection::vec(prop::option::weighted(0.9, any::<u32>()), 0..100), bits in 1u32..6) {
            let mut columns = Columns::new(2, keys.len());
            for (block, i) in keys.chunks(BLOCK).zip(0..) {
                let mut some = [0; BLOCK];
                some.iter_mut().zip(block).for_each(|(place, key)| *place = key.unwrap_or(7));
                columns.put(0, i, &[9; BLOCK]);
                columns.put(1, i, &some);
            }
            (0..).zip(&keys).filter(|(_, key)| key.is_none()).for_each(|(local, _)| columns.leave_out(1, local));
            let mut parted = Parted::default();
            parted.cut(&columns, 0, bits);
            parted.cut(&columns, 1, bits);
            let expected = |part: u32| -> Vec<u64> {
                let of_part = |key: &u32| key >> (32 - bits) == part;
                (0..).zip(&keys).filter_map(|(local, key)| key.filter(of_part).map(|key| u64::from(key) << 32 | local)).collect()
            };
            for part in 0..1 << bits {
                prop_assert_eq!(parted.part(part), expected(part as u32));
            }
        }
    }
}

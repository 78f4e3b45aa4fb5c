//! Keys of many records, to be looked up: a lookup reads one cache line.
//!
//! Keys are in order cut into as many stretches of equal width as there are lines, one for about nine keys. A posting takes four bytes: the local number, and as many bits of the key after those that name
//! its line as fit in. Keys that differ later than that are told apart by the caller, who has the sketch: with a million records there are 12 bits, and one search in 25 meets a record that
//! it does not look for; with a hundred million there are 5, and a search meets five of them. A line that a common key has made too small points to its postings elsewhere, which are sorted. Together
//! they take a little more than seven bytes for each posting.

use std::ops::RangeInclusive;

use super::columns::{Columns, Parted, first_half};
use super::line::{Line, POSTINGS};
use crate::hints;

/// Keys for each line.
const PER_LINE: usize = 9;
/// Lines that are filled together where there are more, up to 2^[`PART_BITS`] times: at least so many and at most twice as many, which a common third-level cache has room for.
const IN_CACHE: usize = 1 << 16;
/// Bits that name a part, at most.
const PART_BITS: u32 = 10;
/// Keys whose lines are on their way into the cache while one is placed.
const AHEAD: usize = 32;

/// Spilled postings of a line that are counted.
const COUNTED: usize = 512;

/// How keys are cut: the same for all bands of a directory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cut {
    lines: usize,
    /// Bits of a local number.
    local_bits: u32,
    /// Bits of a key that name the part in which it is placed.
    part_bits: u32,
}

impl Cut {
    /// For so many records.
    pub fn new(n: usize) -> Self {
        let lines = n.div_ceil(PER_LINE).max(1);
        let part_bits = (lines / IN_CACHE).max(1).ilog2().min(PART_BITS);
        // Lines belong to one part each.
        let lines = lines.next_multiple_of(1 << part_bits);
        // The highest two local numbers are kept for other uses.
        let local_bits = ((n as u64 + 1).max(3).ilog2() + 1).min(32);
        Self { lines, local_bits, part_bits }
    }

    /// The line of a key, and the bits of the key that its posting has. The first half of a key is enough: there are fewer lines than records.
    #[inline]
    fn place(&self, key: u64) -> (usize, u32) {
        let product = u64::from(first_half(key)) * self.lines as u64;
        ((product >> 32) as usize, (product as u32).unbounded_shr(self.local_bits))
    }

    /// The bits of a posting that are of the key.
    const fn high_bits(&self) -> u32 {
        u32::MAX.unbounded_shl(self.local_bits)
    }

    #[inline]
    fn rest(&self, posting: u32) -> u32 {
        posting.unbounded_shr(self.local_bits)
    }

    #[inline]
    fn local(&self, posting: u32) -> u32 {
        posting & (u32::MAX >> (32 - self.local_bits))
    }
}

/// Lines that are being filled.
struct Filling<'a> {
    cut: Cut,
    /// Which line of the band the first is.
    first: usize,
    lines: &'a mut [Line],
    counts: &'a mut [u8],
    /// Lines, counted from the first, and postings for which they have no room.
    more: Vec<(u32, u32)>,
}

impl Filling<'_> {
    /// Places keys with their local numbers; `later` are the keys without the first few. A function of its own, so that all it needs stays in registers.
    #[inline(never)]
    fn put(&mut self, entries: impl Iterator<Item = (u32, u32)>, mut later: impl Iterator<Item = u32>) {
        let (n_lines, first, high) = (self.cut.lines as u64, self.first, self.cut.high_bits());
        let (lines, more) = (&mut *self.lines, &mut self.more);
        let counts = &mut self.counts[..lines.len()];
        for (key, local) in entries {
            if let Some(key) = later.next() {
                let line = ((u64::from(key) * n_lines) >> 32) as usize - first;
                hints::prefetch(lines, line);
                hints::prefetch(counts, line);
            }
            let product = u64::from(key) * n_lines;
            let (line, posting) = ((product >> 32) as usize - first, product as u32 & high | local);
            let place = counts[line];
            if usize::from(place) < POSTINGS {
                counts[line] = place + 1;
                lines[line].put(usize::from(place), posting);
            } else {
                more.push((line as u32, posting));
            }
        }
    }
}

/// For each band (key, local number), by the first bits of the key.
#[derive(Debug, Default)]
pub(super) struct Directories {
    cut: Cut,
    /// Those of one band after the other.
    lines: Vec<Line>,
    /// Postings of lines that were too small.
    spilled: Vec<u32>,
    /// Where those of each band begin.
    spilled_of: Vec<usize>,
}

impl Directories {
    /// Nothing yet, with room for some bands.
    pub fn new(cut: Cut, bands: usize) -> Self {
        Self { cut, lines: hints::with_capacity(cut.lines * bands), ..Self::default() }
    }

    /// Appends so many bands, whose keys are in columns.
    pub fn append(&mut self, columns: &Columns, bands: usize) {
        let mut counts = vec![0; self.cut.lines >> self.cut.part_bits];
        let mut parted = Parted::default();
        for band in 0..bands {
            self.spilled_of.push(self.spilled.len());
            if self.cut.part_bits == 0 {
                self.fill(0, &mut counts, |filling| {
                    for (first, keys) in columns.stretches(band) {
                        let later = columns.column(band).get(first as usize + AHEAD..).unwrap_or_default();
                        filling.put(keys.iter().copied().zip(first..), later.iter().copied());
                    }
                });
                continue;
            }
            parted.cut(columns, band, self.cut.part_bits);
            for part in 0..1 << self.cut.part_bits {
                let entries = parted.part(part);
                self.fill(part * counts.len(), &mut counts, |filling| {
                    let later =
                        entries.get(AHEAD..).unwrap_or_default().iter().map(|entry| first_half(*entry));
                    filling.put(entries.iter().map(|entry| (first_half(*entry), *entry as u32)), later);
                });
            }
        }
    }

    /// Appends the lines of a part of a band, of which there are as many as counts.
    fn fill(&mut self, first: usize, counts: &mut [u8], put: impl FnOnce(&mut Filling<'_>)) {
        let start = self.lines.len();
        // Written from front to back they are in the cache when keys are placed at random.
        self.lines.resize(start + counts.len(), Line::EMPTY);
        counts.fill(0);
        let mut filling =
            Filling { cut: self.cut, first, lines: &mut self.lines[start..], counts, more: Vec::new() };
        put(&mut filling);
        let mut more = filling.more;
        more.sort_unstable();
        for postings in more.chunk_by(|a, b| a.0 == b.0) {
            self.spill(start + postings[0].0 as usize, postings);
        }
    }

    /// Moves the postings of a line that is too small elsewhere.
    fn spill(&mut self, line: usize, more: &[(u32, u32)]) {
        let start = self.spilled.len();
        self.spilled.extend_from_slice(self.lines[line].postings());
        self.spilled.extend(more.iter().map(|(_, posting)| *posting));
        // By the bits of the key, then by number.
        self.spilled[start..].sort_unstable();
        let band = self.spilled_of.last().copied().unwrap_or_default();
        self.lines[line] = Line::spilled((start - band) as u32, (self.spilled.len() - band) as u32);
    }

    /// True if `is` holds for a pair of local numbers whose keys may be equal, the lower number first.
    pub fn any_pair(&self, mut is: impl FnMut(u32, u32) -> bool) -> bool {
        let cut = self.cut;
        self.lines.iter().enumerate().any(|(i, line)| {
            let postings = match line.is_spilled() {
                None => line.postings(),
                Some(range) => &self.spilled_of(i / cut.lines)[range],
            };
            (1..postings.len()).any(|i| {
                let (before, b) = (&postings[..i], postings[i]);
                // Hardly any is alike: all are looked at before one is looked for.
                let is_alike = |a: &u32| (a ^ b).unbounded_shr(cut.local_bits) == 0;
                before.iter().fold(false, |any, a| any | is_alike(a))
                    && before.iter().filter(|a| is_alike(a)).any(|a| is(cut.local(*a), cut.local(b)))
            })
        })
    }

    /// The spilled postings of a band, and of those after it.
    fn spilled_of(&self, band: usize) -> &[u32] {
        &self.spilled[self.spilled_of[band]..]
    }

    /// Begins to bring what a key needs into the cache.
    #[inline]
    pub fn prefetch(&self, band: usize, key: u64) {
        hints::prefetch(&self.lines, band * self.cut.lines + self.cut.place(key).0);
    }

    /// Begins to bring the postings of a key into the cache, if they are not in its line, which is there.
    #[inline]
    pub fn prefetch_spilled(&self, band: usize, key: u64) {
        let line = &self.lines[band * self.cut.lines + self.cut.place(key).0];
        if let Some(range) = line.is_spilled() {
            let first = self.spilled_of[band] + range.start;
            let end = self.spilled_of[band] + range.end.min(range.start + COUNTED);
            (first..end).step_by(POSTINGS).for_each(|at| hints::prefetch(&self.spilled, at));
        }
    }

    /// Hands the local numbers of records that may have a key to `visit`, in order.
    #[inline]
    pub fn find(&self, band: usize, key: u64, mut visit: impl FnMut(u32)) {
        if let Some(spilled) = self.find_in_line(band, key, &mut visit) {
            spilled.iter().for_each(|posting| visit(self.local(*posting)));
        }
    }

    /// [`Directories::find`], but when the postings of a line are elsewhere it hands out nothing and returns them, which may be many.
    #[inline]
    pub fn find_in_line(&self, band: usize, key: u64, visit: impl FnMut(u32)) -> Option<&[u32]> {
        let (line, rest) = self.cut.place(key);
        let line = &self.lines[band * self.cut.lines + line];
        let Some(range) = line.is_spilled() else {
            line.find(rest, self.cut.local_bits, visit);
            return None;
        };
        Some(self.spilled(&self.spilled_of(band)[range], rest))
    }

    /// Hands the local numbers of records whose keys lie within a range to `visit`, and a few others.
    pub fn each_between(&self, band: usize, keys: &RangeInclusive<u64>, mut visit: impl FnMut(u32)) {
        let (first, last) = (self.cut.place(*keys.start()), self.cut.place(*keys.end()));
        for place in first.0..=last.0 {
            let line = &self.lines[band * self.cut.lines + place];
            let postings = match line.is_spilled() {
                None => line.postings(),
                Some(range) => &self.spilled_of(band)[range],
            };
            for posting in postings {
                let at = (place, self.cut.rest(*posting));
                if first <= at && at <= last {
                    visit(self.local(*posting));
                }
            }
        }
    }

    /// The local number of a posting.
    #[inline]
    pub fn local(&self, posting: u32) -> u32 {
        self.cut.local(posting)
    }

    /// Of the postings of a line, those that begin with some bits.
    fn spilled<'a>(&self, postings: &'a [u32], rest: u32) -> &'a [u32] {
        let first = u64::from(rest.unbounded_shl(self.cut.local_bits));
        let end = first + (1 << self.cut.local_bits);
        &postings[n_below(postings, first)..n_below(postings, end)]
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of::<Line>() * self.lines.capacity() + 4 * self.spilled.capacity()
    }
}

/// How many of sorted postings are below a limit. A few hundred are counted one after the other, which the memory foresees; halving would wait for it at every step.
fn n_below(postings: &[u32], limit: u64) -> usize {
    if postings.len() > COUNTED {
        return postings.partition_point(|posting| u64::from(*posting) < limit);
    }
    let Ok(limit) = u32::try_from(limit) else { return postings.len() };
    postings.iter().map(|posting| u32::from(*posting < limit)).sum::<u32>() as usize
}

#[cfg(test)]
mod tests {
    use super::super::columns::BLOCK;
    use super::*;
    use proptest::prelude::*;

    /// A directory of one band after another one.
    fn directory(keys: &[Option<u64>], cut: Cut) -> Directories {
        let n = keys.len();
        let mut columns = Columns::new(2, n);
        for (block, i) in keys.chunks(BLOCK).zip(0..) {
            let half = |place: usize| block.get(place).copied().flatten().map_or(0, first_half);
            columns.put(0, i, &std::array::from_fn(|place| !half(place)));
            columns.put(1, i, &std::array::from_fn(half));
        }
        for (_, local) in keys.iter().zip(0..).filter(|(key, _)| key.is_none()) {
            (0..2).for_each(|band| columns.leave_out(band, local));
        }
        let mut directories = Directories::new(cut, 2);
        directories.append(&columns, 2);
        directories
    }

    fn found(directory: &Directories, key: u64) -> Vec<u32> {
        let mut found = Vec::new();
        directory.find(1, key, |local| found.push(local));
        found
    }

    proptest! {
        #[test]
        fn every_record_with_a_key_is_found(keys in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![any::<u64>(), 0u64..4, u64::MAX - 3..=u64::MAX, (0u64..9).prop_map(|x| x << 56)]), 0..400), part_bits in 0u32..4) {
            let mut cut = Cut::new(keys.len());
            (cut.part_bits, cut.lines) = (part_bits, cut.lines.next_multiple_of(1 << part_bits));
            let directory = directory(&keys, cut);
            let mut pairs = std::collections::BTreeSet::new();
            let any = directory.any_pair(|a, b| {
                pairs.insert((a, b));
                false
            });
            prop_assert!(!any);
            for &wanted in keys.iter().flatten() {
                let mut found: Vec<usize> = found(&directory, wanted).into_iter().map(|local| local as usize).collect();
                prop_assert!(found.is_sorted());
                for pair in found.windows(2).filter(|pair| pair.iter().all(|&local| keys[local] == Some(wanted))) {
                    prop_assert!(pairs.contains(&(pair[0] as u32, pair[1] as u32)));
                }
                let expected: Vec<usize> = (0..keys.len()).filter(|&i| keys[i] == Some(wanted)).collect();
                found.retain(|&local| keys[local] == Some(wanted));
                prop_assert_eq!(found, expected);
                let range = wanted & !0xffff_ffff..=wanted | 0xff_ffff_ffff;
                let mut between = Vec::new();
                directory.each_between(1, &range, |local| between.push(local as usize));
                let is_within = |&local: &usize| keys[local].is_some_and(|key| range.contains(&key));
                between.retain(is_within);
                between.sort_unstable();
                prop_assert_eq!(between, (0..keys.len()).filter(is_within).collect::<Vec<_>>());
            }
        }
    }

    /// Every line is in the part that the first bits of its keys name.
    #[test]
    fn parts_are_cut_where_lines_are() {
        assert_eq!(Cut::new(1_179_639).part_bits, 0);
        for n in [1_179_640, 5_000_000, 700_000_001, u32::MAX as usize - 1] {
            let cut = Cut::new(n);
            let (parts, in_part) = (1 << cut.part_bits, cut.lines >> cut.part_bits);
            assert!(cut.lines.is_multiple_of(parts) && parts > 1, "{n}");
            for part in 0..parts as u64 {
                let first = part << (64 - cut.part_bits);
                let last = first | u64::MAX >> cut.part_bits;
                assert_eq!(cut.place(first).0 / in_part, part as usize);
                assert_eq!(cut.place(last).0 / in_part, part as usize);
            }
        }
    }

    #[test]
    fn few_other_records_are_found_among_many() {
        let keys: Vec<Option<u64>> = benzer_core::hash::stream(1).take(200_000).map(Some).collect();
        let directory = directory(&keys, Cut::new(keys.len()));
        assert!(!directory.spilled.is_empty());
        for (&key, local) in keys.iter().flatten().zip(0..).step_by(7) {
            let found = found(&directory, key);
            assert!(found.contains(&local) && found.len() < 4);
        }
        let wrong: usize =
            benzer_core::hash::stream(2).take(20_000).map(|key| found(&directory, key).len()).sum();
        // Nine others in a line, of which one in 2^14 has the bits that are compared.
        assert!(wrong < 40, "{wrong}");
        assert!(directory.bytes() < 2 * 8 * keys.len());
    }
}

//! Keys of many records, to be looked up: a lookup reads one cache line.
//!
//! Keys are in order cut into as many stretches of equal width as there are lines, one for about nine keys. A posting takes four bytes: the local number, and as many bits of the key after those that name
//! its line as fit in. Keys that differ later than that are told apart by the caller, who has the sketch: with a million records there are 11 bits, and one search in thirteen meets a record that
//! it does not look for; with a hundred million there are 4, and a search meets ten of them. A line that a common key has made too small points to its postings elsewhere, which are sorted. Together
//! they take a little more than seven bytes for each posting.

use std::ops::RangeInclusive;

use super::line::{Line, POSTINGS};
use super::streams::{Streams, mask};
use crate::store::hints;

/// Keys for each line.
const PER_LINE: usize = 9;
/// Lines that are filled together, about: a quarter of a common second-level cache.
const IN_CACHE: usize = 4096;
/// Bits that name a stream, at most.
const STREAM_BITS: u32 = 10;

/// Spilled postings of a line that are counted.
const COUNTED: usize = 512;

/// How keys are cut: the same for all bands of a directory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cut {
    lines: usize,
    /// Bits of a local number.
    local_bits: u32,
    /// Bits of a key that name its stream when the directory is built.
    stream_bits: u32,
}

impl Cut {
    /// For so many records.
    pub fn new(n: usize) -> Self {
        let lines = n.div_ceil(PER_LINE).max(1);
        let stream_bits = (lines / IN_CACHE).max(1).ilog2().min(STREAM_BITS);
        // Lines belong to one stream each.
        let lines = lines.next_multiple_of(1 << stream_bits);
        // The highest two local numbers are kept for other uses.
        let local_bits = ((n as u64 + 1).max(3).ilog2() + 1).min(32);
        Self { lines, local_bits, stream_bits }
    }

    /// Streams for some bands.
    pub fn streams(&self, bands: usize, n: usize) -> Streams {
        Streams::new(bands, n, self.stream_bits)
    }

    /// The line of a key, and the bits of the key that its posting has.
    #[inline]
    fn place(&self, key: u64) -> (usize, u32) {
        let product = u128::from(key & mask(self.stream_bits)) * self.lines as u128;
        let rest = ((product as u64 >> 32) as u32).unbounded_shr(self.local_bits);
        ((product >> 64) as usize, rest)
    }

    /// The line of an entry of a stream that has so many, and its posting. It is what [`Cut::place`] says of the key: lines belong to one stream each, so that the bits that name the stream do not matter,
    /// and after them there are 32.
    #[inline]
    fn place_in_stream(&self, entry: u64, lines: usize) -> (usize, u32) {
        let product = (entry >> 32) * lines as u64;
        let rest = product as u32 & u32::MAX.unbounded_shl(self.local_bits);
        ((product >> 32) as usize, rest | entry as u32)
    }

    #[inline]
    fn posting(&self, rest: u32, local: u32) -> u32 {
        rest.unbounded_shl(self.local_bits) | local
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
        Self { cut, lines: hints::with_room(cut.lines * bands), ..Self::default() }
    }

    /// Appends so many bands, whose keys are in streams.
    pub fn append(&mut self, streams: &Streams, bands: usize) {
        let mut counts = vec![0u32; self.cut.lines >> self.cut.stream_bits];
        for band in 0..bands {
            self.spilled_of.push(self.spilled.len());
            for stream in 0..1 << self.cut.stream_bits {
                self.fill(streams, (band, stream), &mut counts);
            }
        }
    }

    /// Appends the lines of a stream of a band, of which there are as many as counts.
    fn fill(&mut self, streams: &Streams, (band, stream): (usize, usize), counts: &mut [u32]) {
        let start = self.lines.len();
        self.lines.resize(start + counts.len(), Line::EMPTY);
        let (lines, cut) = (&mut self.lines[start..], self.cut);
        let mut more: Vec<(u32, u32)> = Vec::new();
        counts.fill(0);
        for entries in streams.entries(band, stream) {
            for &entry in entries {
                let (line, posting) = cut.place_in_stream(entry, counts.len());
                let place = counts[line] as usize;
                counts[line] += 1;
                match place < POSTINGS {
                    true => lines[line].put(place, posting),
                    false => more.push((line as u32, posting)),
                }
            }
        }
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

    /// Pairs of local numbers whose keys may be equal, the lower number first.
    pub fn repeated(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let cut = self.cut;
        self.lines.iter().enumerate().flat_map(move |(i, line)| {
            let postings = match line.is_spilled() {
                None => line.postings(),
                Some(range) => &self.spilled_of(i / cut.lines)[range],
            };
            let pairs = (1..postings.len())
                .flat_map(move |i| postings[..i].iter().map(move |before| (*before, postings[i])));
            let pairs = pairs.filter(move |(a, b)| cut.rest(*a) == cut.rest(*b));
            pairs.map(move |(a, b)| (cut.local(a), cut.local(b)))
        })
    }

    /// The spilled postings of a band, and of those after it.
    fn spilled_of(&self, band: usize) -> &[u32] {
        &self.spilled[self.spilled_of[band]..]
    }

    /// Begins to bring what a key needs into the cache.
    #[inline]
    pub fn touch(&self, band: usize, key: u64) {
        hints::prefetch(&self.lines, band * self.cut.lines + self.cut.place(key).0);
    }

    /// Begins to bring the postings of a key into the cache, if they are not in its line, which is there.
    #[inline]
    pub fn touch_spilled(&self, band: usize, key: u64) {
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
        let first = u64::from(self.cut.posting(rest, 0));
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
    use super::*;
    use proptest::prelude::*;

    /// A directory of one band after another one.
    fn directory(keys: &[u64], locals: impl Iterator<Item = u32>, n: usize) -> Directories {
        let cut = Cut::new(n);
        let mut streams = cut.streams(2, keys.len());
        keys.iter().zip(locals).for_each(|(key, local)| {
            streams.push(0, !key, local);
            streams.push(1, *key, local);
        });
        let mut directories = Directories::new(cut, 2);
        directories.append(&streams, 2);
        directories
    }

    fn found(directory: &Directories, key: u64) -> Vec<u32> {
        let mut found = Vec::new();
        directory.find(1, key, |local| found.push(local));
        found
    }

    proptest! {
        #[test]
        fn every_record_with_a_key_is_found(keys in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![any::<u64>(), 0u64..4, u64::MAX - 3..=u64::MAX, (0u64..9).prop_map(|x| x << 56)]), 0..400)) {
            let (present, locals): (Vec<u64>, Vec<u32>) = keys.iter().zip(0..).filter_map(|(key, local)| Some(((*key)?, local))).unzip();
            let directory = directory(&present, locals.into_iter(), keys.len());
            let pairs: std::collections::BTreeSet<(u32, u32)> = directory.repeated().collect();
            for &wanted in keys.iter().flatten() {
                let mut found: Vec<usize> = found(&directory, wanted).into_iter().map(|local| local as usize).collect();
                prop_assert!(found.is_sorted());
                for pair in found.windows(2).filter(|pair| pair.iter().all(|&local| keys[local] == Some(wanted))) {
                    prop_assert!(pairs.contains(&(pair[0] as u32, pair[1] as u32)));
                }
                let expected: Vec<usize> = (0..keys.len()).filter(|&i| keys[i] == Some(wanted)).collect();
                found.retain(|&local| keys[local] == Some(wanted));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn few_other_records_are_found_among_so_many_that_there_are_streams() {
        let keys: Vec<u64> = benzer_core::hash::stream(1).take(200_000).collect();
        let directory = directory(&keys, 0.., keys.len());
        assert!(directory.cut.stream_bits > 0 && !directory.spilled.is_empty());
        for (&key, local) in keys.iter().zip(0..).step_by(7) {
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

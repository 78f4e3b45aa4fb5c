//! Keys on their way into lines.
//!
//! Placing a million keys of a band at random would miss the cache once for each of them. So keys first go to one of a few streams by their first bits, which is written from front to back, and
//! then each stream is cut into its lines, which fit the cache. Streams grow by chunks of one common memory: nobody has to know how long they become, and a key that is in many records makes its
//! stream long and nothing else.

use crate::store::hints;

/// Entries of a chunk. Streams are written at the same pace: chunks of a whole page would send all of them to the same few places of the cache.
const CHUNK: usize = 512 + 8;

/// Entries of a stream that are on their way into the cache before one is written.
const AHEAD: usize = 16;

/// The keys of some bands, by band and by their first bits.
#[derive(Debug)]
pub(super) struct Streams {
    /// 32 bits of a key after those that name its stream, and the local number.
    entries: Vec<u64>,
    /// Entries of chunks that are in use.
    used: usize,
    /// By band and first bits.
    places: Vec<Place>,
    /// Where the chunks of each begin.
    chunks: Vec<Vec<usize>>,
    bits: u32,
}

/// Where the next entry of a stream goes, and where its chunk ends.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    next: usize,
    end: usize,
}

impl Streams {
    /// For about `n` keys of each of some bands, whose first `bits` bits name the stream.
    pub fn new(bands: usize, n: usize, bits: u32) -> Self {
        let streams = bands << bits;
        let entries = hints::zeros(bands * n + streams * CHUNK);
        let places = vec![Place::default(); streams];
        Self { entries, used: 0, places, chunks: vec![Vec::new(); streams], bits }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.used = 0;
        self.places.fill(Place::default());
        self.chunks.iter_mut().for_each(Vec::clear);
    }

    /// Appends a key.
    #[inline]
    pub fn push(&mut self, band: usize, key: u64, local: u32) {
        // In two steps: there may be no bits at all.
        let stream = band << self.bits | (key >> 1 >> (63 - self.bits)) as usize;
        if self.places[stream].next == self.places[stream].end {
            self.grow(stream);
        }
        let next = &mut self.places[stream].next;
        // There are more streams than the processor foresees.
        hints::prefetch(&self.entries, *next + AHEAD);
        self.entries[*next] = (key << self.bits) & HIGH | u64::from(local);
        *next += 1;
    }

    #[cold]
    fn grow(&mut self, stream: usize) {
        let (next, end) = (self.used, self.used + CHUNK);
        self.places[stream] = Place { next, end };
        self.chunks[stream].push(next);
        self.used = end;
        if self.entries.len() < end {
            self.entries.resize(end, 0);
        }
    }

    /// The entries of a stream of a band, in the order in which they came. The upper half of each are the 32 bits of the key after those that name the stream, the lower is the local number.
    #[inline]
    pub fn entries(&self, band: usize, stream: usize) -> impl Iterator<Item = &[u64]> {
        let stream = band << self.bits | stream;
        let Place { next, end } = self.places[stream];
        let chunks = &self.chunks[stream];
        chunks.iter().enumerate().map(move |(i, &start)| {
            let chunk_end = start + CHUNK;
            // The next chunk is elsewhere, which the processor does not foresee.
            if let Some(after) = chunks.get(i + 1) {
                (0..CHUNK).step_by(8).for_each(|at| hints::prefetch(&self.entries, after + at));
            }
            &self.entries[start..if chunk_end == end { next } else { chunk_end }]
        })
    }
}

/// Of an entry: what is of the key.
const HIGH: u64 = !(u32::MAX as u64);

/// The bits of a key that come through streams whose names have so many bits.
#[inline]
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX << (32 - bits)
}

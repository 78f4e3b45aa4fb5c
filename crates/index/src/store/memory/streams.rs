//! Keys on their way into lines.
//!
//! Placing a million keys of a band at random would miss the cache once for each of them. So keys first go to one of a few streams by their first bits, which is written from front to back, and
//! then each stream is cut into its lines, which fit the cache. Streams grow by chunks of one common memory: nobody has to know how long they become, and a key that is in many records makes its
//! stream long and nothing else.

use crate::store::hints;

/// Entries of a chunk.
const CHUNK: usize = 512;

/// The keys of some bands, by band and by their first bits.
#[derive(Debug)]
pub(super) struct Streams {
    /// 32 bits of a key after those that name its stream, and the local number.
    entries: Vec<u64>,
    /// By band and first bits.
    streams: Vec<Stream>,
    bits: u32,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    /// Where the next entry goes; at the beginning of a chunk, a new one is needed.
    next: usize,
    chunks: Vec<u32>,
}

impl Streams {
    /// For about `n` keys of each of some bands, whose first `bits` bits name the stream.
    pub fn new(bands: usize, n: usize, bits: u32) -> Self {
        let streams = bands << bits;
        let entries = hints::with_room(bands * n + streams * CHUNK);
        Self { entries, streams: vec![Stream::default(); streams], bits }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
        for stream in &mut self.streams {
            stream.next = 0;
            stream.chunks.clear();
        }
    }

    /// Appends a key.
    #[inline]
    pub fn push(&mut self, band: usize, key: u64, local: u32) {
        // In two steps: there may be no bits at all.
        let stream = band << self.bits | (key >> 1 >> (63 - self.bits)) as usize;
        let mut at = self.streams[stream].next;
        if at.is_multiple_of(CHUNK) {
            at = self.grow(stream);
        }
        self.entries[at] = (key << self.bits) & HIGH | u64::from(local);
        self.streams[stream].next = at + 1;
    }

    #[cold]
    fn grow(&mut self, stream: usize) -> usize {
        let at = self.entries.len();
        self.entries.resize(at + CHUNK, 0);
        self.streams[stream].chunks.push((at / CHUNK) as u32);
        at
    }

    /// Hands the keys of a stream of a band to `visit`, cut to those bits that [`mask`] leaves, in the order in which they came.
    #[inline]
    pub fn each(&self, band: usize, stream: usize, mut visit: impl FnMut(u64, u32)) {
        let first_bits = (stream as u64) << 1 << (63 - self.bits);
        let stream = &self.streams[band << self.bits | stream];
        let mut left = stream.len();
        for &chunk in &stream.chunks {
            let start = chunk as usize * CHUNK;
            let n = left.min(CHUNK);
            for entry in &self.entries[start..start + n] {
                visit(first_bits | (entry & HIGH) >> self.bits, *entry as u32);
            }
            left -= n;
        }
    }
}

impl Stream {
    fn len(&self) -> usize {
        match self.next % CHUNK {
            0 => self.chunks.len() * CHUNK,
            last => (self.chunks.len() - 1) * CHUNK + last,
        }
    }
}

/// Of an entry: what is of the key.
const HIGH: u64 = !(u32::MAX as u64);

/// The bits of a key that come through streams whose names have so many bits.
#[inline]
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX << (32 - bits)
}

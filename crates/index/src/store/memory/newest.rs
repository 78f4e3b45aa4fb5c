//! The newest records, which come one by one.
//!
//! A fixed number of places, written once each. Everything a reader looks at is an atomic number or written before the reader's state was made, so that it waits for nobody. Which places count
//! is part of the state: a reader passes over those that came later.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use benzer_core::hash::mix;
use benzer_core::lsh::BandKey;

use super::run::id_key;
use crate::record::{Record, Records};
use crate::settings::Layout;

/// Places.
pub(super) const PLACES: usize = 2048;
/// Slots for each posting, at least.
const SPARE: usize = 2;
/// The band under which ids are found.
const IDS: u32 = u32::MAX;

/// Bits of a slot that are the place + 1.
const PLACE_BITS: u32 = 12;
const _: () = assert!(PLACES < 1 << PLACE_BITS);

/// Records that came one by one.
#[derive(Debug)]
pub(super) struct Newest {
    /// (tag of a key, place + 1), or zero. Written before the state that counts the place is published.
    slots: Vec<AtomicU32>,
    records: Vec<OnceLock<Stored>>,
}

#[derive(Debug)]
struct Stored {
    words: Box<[u64]>,
    id: Box<[u8]>,
    document: Box<[u8]>,
    expires: u64,
}

impl Newest {
    pub fn new(layout: &Layout) -> Self {
        let slots = (SPARE * PLACES * (layout.bands() + 1)).next_power_of_two();
        Self {
            slots: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            records: (0..PLACES).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Fills a place. Only one thread writes at a time.
    pub fn add(&self, place: usize, records: &Records, i: usize, layout: &Layout) {
        let stride = layout.words();
        let words = &records.words[i * stride..(i + 1) * stride];
        let id = records.ids.get(i);
        let stored = Stored {
            words: words.into(),
            id: id.into(),
            document: records.documents.get(i).into(),
            expires: records.expires(i),
        };
        // A place is filled again only when the batch that filled it first was not published.
        if self.records[place].set(stored).is_err() {
            unreachable!("a place is filled once");
        }
        layout.keys(words, |key| self.post(key, place));
        self.post(BandKey { band: IDS, key: id_key(id) }, place);
    }

    fn post(&self, key: BandKey, place: usize) {
        let (mut slot, tag) = self.slot(key);
        while self.slots[slot].load(Relaxed) != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot].store(tag << PLACE_BITS | (place as u32 + 1), Relaxed);
    }

    /// Where a key begins, and its tag.
    #[inline]
    fn slot(&self, BandKey { band, key }: BandKey) -> (usize, u32) {
        let hash = mix(key ^ u64::from(band) << 48);
        (hash as usize & (self.slots.len() - 1), (hash >> (32 + PLACE_BITS)) as u32)
    }

    /// Hands the places below `len` that have a key to `visit`, and maybe others.
    #[inline]
    pub fn find(&self, key: BandKey, len: usize, mut visit: impl FnMut(usize)) {
        let (mut slot, tag) = self.slot(key);
        loop {
            let entry = self.slots[slot].load(Relaxed);
            if entry == 0 {
                return;
            }
            let place = (entry & ((1 << PLACE_BITS) - 1)) as usize - 1;
            if entry >> PLACE_BITS == tag && place < len {
                visit(place);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Hands the places below `len` that have an id to `visit`.
    pub fn find_id(&self, id: &[u8], key: u64, len: usize, mut visit: impl FnMut(usize)) {
        self.find(BandKey { band: IDS, key }, len, |place| {
            if self.record(place).id == id {
                visit(place);
            }
        });
    }

    /// The record at a place that the state counts.
    #[inline]
    pub fn record(&self, place: usize) -> Record<'_> {
        let stored = self.records[place].get().expect("a place is filled before it counts");
        Record { id: &stored.id, words: &stored.words, document: &stored.document, expires: stored.expires }
    }

    pub fn bytes(&self) -> usize {
        4 * self.slots.len()
    }
}

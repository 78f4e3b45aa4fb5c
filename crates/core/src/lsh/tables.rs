//! Band tables: from the keys of the bands to the entries that have them, in memory, for one entry at a time or many.
//!
//! An entry is a number from 0 on, with one 64-bit key for each band; keys are hashes, whose bits are used as they are. Per band there is a table of slots with open
//! addressing. A slot holds the lower half of a key and the newest entry that has it, so that another key is passed over without looking it up; the upper halves are kept for each entry. An entry that is not
//! the first with some key also has a row of links, to the entries before it with the same keys. An entry of b bands takes 4 b + 4 bytes, 4 b more if it has links, and its slots between 10 b and 15 b.
//!
//! ```
//! use benzer_core::hash::mix;
//! use benzer_core::lsh::Tables;
//! let mut tables = Tables::new(2);
//! let a = tables.insert(&[mix(10), mix(20)]);
//! let b = tables.insert(&[mix(10), mix(21)]);
//! let mut found = Vec::new();
//! tables.candidates(&[mix(10), mix(20)], &mut found);
//! assert_eq!(found, [a, b]);
//! tables.remove(a);
//! tables.candidates(&[mix(10), mix(20)], &mut found);
//! assert_eq!(found, [b]);
//! ```

use std::ops::Range;

mod many;

/// No entry.
const NONE: u32 = u32::MAX;
/// An empty slot.
const EMPTY: u64 = u64::MAX;
/// The part of a slot that is half of a key; the rest is an entry.
const TAG: u64 = !0 << 32;
/// Slots of an empty table.
const MIN_SLOTS: usize = 8;
/// Up to so many candidates, each is looked for among those before it; longer lists are sorted.
const SHORT: usize = 24;

/// Tables of band keys.
#[derive(Debug, Clone)]
pub struct Tables {
    bands: usize,
    /// The upper halves of the keys of each entry, band by band.
    upper: Vec<u32>,
    /// For each entry its row of links; none if it was the first of all its keys.
    rows: Vec<u32>,
    /// Rows of links: for each band the entry before it with the same key.
    links: Vec<u32>,
    /// A bit for each entry: whether a newer one has, or had, one of its keys.
    followed: Vec<u64>,
    /// For each band the slots, in one row.
    slots: Vec<u64>,
    /// Slots of one band.
    n_slots: usize,
    /// Keys in each band's slots.
    used: Vec<usize>,
    /// Numbers of removed entries, which are given again.
    free: Vec<u32>,
}

impl Tables {
    /// Empty tables for entries of so many bands.
    pub fn new(bands: usize) -> Self {
        Self {
            bands,
            upper: Vec::new(),
            rows: Vec::new(),
            links: Vec::new(),
            followed: Vec::new(),
            slots: vec![EMPTY; bands * MIN_SLOTS],
            n_slots: MIN_SLOTS,
            used: vec![0; bands],
            free: Vec::new(),
        }
    }

    /// Number of bands.
    pub fn bands(&self) -> usize {
        self.bands
    }

    /// Entries that were not removed.
    pub fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for more entries at once.
    pub fn reserve(&mut self, more: usize) {
        self.upper.reserve_exact(more * self.bands);
        self.rows.reserve_exact(more);
        let wanted = (self.len() + more) * 4 / 3 + MIN_SLOTS;
        if wanted > self.n_slots {
            self.resize(wanted);
        }
    }

    /// Adds an entry with a key for each band, and gives its number.
    ///
    /// # Panics
    /// Another number of keys than bands.
    pub fn insert(&mut self, keys: &[u64]) -> u32 {
        assert_eq!(keys.len(), self.bands, "one key for each band");
        self.make_slots(1);
        let entry = self.number(keys);
        for (band, &key) in keys.iter().enumerate() {
            self.link(band, key, entry);
        }
        entry
    }

    /// Makes sure that so many more keys of each band have slots, and that some stay empty.
    fn make_slots(&mut self, more: usize) {
        let wanted = self.used.iter().max().map_or(0, |used| used + more);
        if wanted * 5 > self.n_slots * 4 {
            self.resize((self.n_slots * 3 / 2).max(wanted * 4 / 3 + MIN_SLOTS));
        }
    }

    /// A number for an entry of some keys, which are not in slots yet.
    fn number(&mut self, keys: &[u64]) -> u32 {
        let upper = keys.iter().map(|key| (key >> 32) as u32);
        let Some(entry) = self.free.pop() else {
            let entry = self.rows.len() as u32;
            self.upper.extend(upper);
            self.rows.push(NONE);
            self.followed.resize(entry as usize / 64 + 1, 0);
            return entry;
        };
        self.followed[entry as usize / 64] &= !(1 << (entry % 64));
        if let Some(row) = self.row(entry) {
            self.links[row].fill(NONE);
        }
        let start = entry as usize * self.bands;
        self.upper[start..start + self.bands].iter_mut().zip(upper).for_each(|(old, new)| *old = new);
        entry
    }

    /// Where the links of an entry are.
    #[inline]
    fn row(&self, entry: u32) -> Option<Range<usize>> {
        let row = self.rows[entry as usize];
        (row != NONE).then(|| row as usize * self.bands..(row as usize + 1) * self.bands)
    }

    /// The entry before one with the same key in a band.
    #[inline]
    fn before(&self, entry: u32, band: usize) -> u32 {
        match self.rows[entry as usize] {
            NONE => NONE,
            row => self.links[row as usize * self.bands + band],
        }
    }

    /// Says which entry is before one in a band.
    fn set_before(&mut self, entry: u32, band: usize, before: u32) {
        if self.rows[entry as usize] == NONE {
            self.rows[entry as usize] = (self.links.len() / self.bands) as u32;
            self.links.resize(self.links.len() + self.bands, NONE);
        }
        let row = self.rows[entry as usize] as usize;
        self.links[row * self.bands + band] = before;
    }

    /// Makes an entry the newest of its key in a band.
    #[inline]
    fn link(&mut self, band: usize, key: u64, entry: u32) {
        let (slot, head) = self.find(band, key);
        match head {
            NONE => self.used[band] += 1,
            _ => {
                self.followed[head as usize / 64] |= 1 << (head % 64);
                self.set_before(entry, band, head);
            }
        }
        self.slots[slot] = tag(key) | u64::from(entry);
    }

    /// Removes an entry; its number is given to a later one.
    pub fn remove(&mut self, entry: u32) {
        for band in 0..self.bands {
            let slot = self.slot_of(entry, band);
            let (head, before) = (self.slots[slot] as u32, self.before(entry, band));
            if head != entry {
                let mut newer = head;
                while self.before(newer, band) != entry {
                    newer = self.before(newer, band);
                }
                self.set_before(newer, band, before);
            } else if before == NONE {
                self.vacate(band, slot);
                self.used[band] -= 1;
            } else {
                self.slots[slot] = self.slots[slot] & TAG | u64::from(before);
            }
        }
        self.free.push(entry);
    }

    /// The keys of an entry that is there.
    pub fn keys(&self, entry: u32) -> impl Iterator<Item = u64> + '_ {
        (0..self.bands).map(move |band| self.key_of(band, self.slots[self.slot_of(entry, band)]))
    }

    /// The keys of all entries, one entry after the other; zeros for those that were removed.
    pub fn all_keys(&self) -> Vec<u64> {
        let mut keys = vec![0; self.upper.len()];
        for band in 0..self.bands {
            let slots = &self.slots[band * self.n_slots..][..self.n_slots];
            for &slot in slots.iter().filter(|&&slot| slot != EMPTY) {
                let key = self.key_of(band, slot);
                for entry in self.chain(band, slot as u32) {
                    keys[entry as usize * self.bands + band] = key;
                }
            }
        }
        keys
    }

    /// The slot in whose chain an entry is. Its upper half says where its key begins to be looked for, or one place before.
    fn slot_of(&self, entry: u32, band: usize) -> usize {
        let upper = self.upper_of(entry, band);
        let mut place = self.home(band, u64::from(upper) << 32);
        loop {
            let slot = self.slots[place];
            if slot != EMPTY
                && self.upper_of(slot as u32, band) == upper
                && self.chain(band, slot as u32).any(|other| other == entry)
            {
                return place;
            }
            place = self.next(band, place);
        }
    }

    #[inline]
    fn upper_of(&self, entry: u32, band: usize) -> u32 {
        self.upper[entry as usize * self.bands + band]
    }

    /// The whole key of a slot that is not empty.
    #[inline]
    fn key_of(&self, band: usize, slot: u64) -> u64 {
        u64::from(self.upper_of(slot as u32, band)) << 32 | slot >> 32
    }

    /// The entries that have a key in a band, the newest first.
    pub fn of(&self, band: usize, key: u64) -> impl Iterator<Item = u32> + '_ {
        self.chain(band, self.find(band, key).1)
    }

    /// The entries that share a key with these in the first bands, as many as there are keys: each once, in order.
    pub fn candidates(&self, keys: &[u64], found: &mut Vec<u32>) {
        found.clear();
        for (band, &key) in keys.iter().enumerate() {
            self.collect(band, self.find(band, key).1, found);
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Each key of a band with the number of its entries.
    pub fn buckets(&self, band: usize) -> impl Iterator<Item = (u64, usize)> + '_ {
        let slots = &self.slots[band * self.n_slots..][..self.n_slots];
        slots
            .iter()
            .filter(|&&slot| slot != EMPTY)
            .map(move |&slot| (self.key_of(band, slot), self.chain(band, slot as u32).count()))
    }

    /// Adds the entries of a bucket; a short list holds none twice.
    #[inline]
    fn collect(&self, band: usize, head: u32, found: &mut Vec<u32>) {
        for entry in self.chain(band, head) {
            if found.len() > SHORT || !found.contains(&entry) {
                found.push(entry);
            }
        }
    }

    #[inline]
    fn chain(&self, band: usize, head: u32) -> impl Iterator<Item = u32> + '_ {
        let entry = |entry: u32| (entry != NONE).then_some(entry);
        std::iter::successors(entry(head), move |&newer| entry(self.before(newer, band)))
    }

    /// Where the search for a key begins: the upper bits of the key, as the lower ones are in the slot.
    #[inline]
    fn home(&self, band: usize, key: u64) -> usize {
        band * self.n_slots + ((u128::from(key) * self.n_slots as u128) >> 64) as usize
    }

    #[inline]
    fn holds(&self, slot: u64, band: usize, key: u64) -> bool {
        slot & TAG == tag(key) && self.upper_of(slot as u32, band) == (key >> 32) as u32
    }

    /// The slot of a key with its newest entry, or the empty one where it would be.
    #[inline]
    fn find(&self, band: usize, key: u64) -> (usize, u32) {
        let mut place = self.home(band, key);
        loop {
            let slot = self.slots[place];
            if slot == EMPTY {
                return (place, NONE);
            }
            if self.holds(slot, band, key) {
                return (place, slot as u32);
            }
            place = self.next(band, place);
        }
    }

    #[inline]
    fn next(&self, band: usize, place: usize) -> usize {
        if place + 1 == (band + 1) * self.n_slots { band * self.n_slots } else { place + 1 }
    }

    /// Empties a slot and moves up what was displaced by it.
    fn vacate(&mut self, band: usize, place: usize) {
        let from = |start: usize, end: usize| (end + self.n_slots - start) % self.n_slots;
        let (mut gap, mut place) = (place, self.next(band, place));
        let mut moved = Vec::new();
        while self.slots[place] != EMPTY {
            let slot = self.slots[place];
            let home = self.home(band, self.key_of(band, slot));
            // It may move to the gap if its home is not between the gap and itself.
            if from(home, place) >= from(gap, place) {
                moved.push((gap, slot));
                gap = place;
            }
            place = self.next(band, place);
        }
        moved.into_iter().for_each(|(place, slot)| self.slots[place] = slot);
        self.slots[gap] = EMPTY;
    }

    fn resize(&mut self, n_slots: usize) {
        let old = std::mem::take(&mut self.slots);
        let n_old = self.n_slots;
        self.slots = vec![EMPTY; self.bands * n_slots];
        self.n_slots = n_slots;
        for (band, slots) in old.chunks_exact(n_old).enumerate() {
            for &slot in slots.iter().filter(|&&slot| slot != EMPTY) {
                let (place, _) = self.find(band, self.key_of(band, slot));
                self.slots[place] = slot;
            }
        }
    }
}

/// The part of a key that is in its slot.
#[inline]
fn tag(key: u64) -> u64 {
    key << 32
}

#[cfg(test)]
mod tests;

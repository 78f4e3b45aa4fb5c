//! Band tables: from the keys of the bands to the entries that have them, in memory, for one entry at a time or many.
//!
//! An entry is a number from 0 on, with one 64-bit key for each band. Per band there is a table of slots with open addressing; a slot holds the newest entry of its
//! key, and each entry the one before it with the same key. Keys lie beside the entry, not in the slots, so an entry of b bands takes 12 b bytes and its slots
//! between 5 b and 11 b.
//!
//! ```
//! use benzer_core::lsh::Tables;
//! let mut tables = Tables::new(2);
//! let a = tables.insert(&[10, 20]);
//! let b = tables.insert(&[10, 21]);
//! let mut found = Vec::new();
//! tables.candidates(&[10, 20], &mut found);
//! assert_eq!(found, [a, b]);
//! tables.remove(a);
//! tables.candidates(&[10, 20], &mut found);
//! assert_eq!(found, [b]);
//! ```

use crate::hash::mix;

/// No entry.
const NONE: u32 = u32::MAX;
/// Slots of an empty table.
const FEWEST: usize = 8;

/// Tables of band keys.
#[derive(Debug, Clone)]
pub struct Tables {
    bands: usize,
    /// The keys of each entry, band by band.
    keys: Vec<u64>,
    /// For each entry and band the entry before it with the same key.
    before: Vec<u32>,
    /// For each band the slots, in one row.
    slots: Vec<u32>,
    /// Slots of one band, a power of two.
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
            keys: Vec::new(),
            before: Vec::new(),
            slots: vec![NONE; bands * FEWEST],
            n_slots: FEWEST,
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
        self.before.len() / self.bands.max(1) - self.free.len()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for more entries at once.
    pub fn reserve(&mut self, more: usize) {
        self.keys.reserve_exact(more * self.bands);
        self.before.reserve_exact(more * self.bands);
        let wanted = (self.len() + more) * 4 / 3 + 1;
        if wanted > self.n_slots {
            self.resize(wanted.next_power_of_two());
        }
    }

    /// Adds an entry with a key for each band, and gives its number.
    ///
    /// # Panics
    /// Another number of keys than bands.
    pub fn insert(&mut self, keys: &[u64]) -> u32 {
        assert_eq!(keys.len(), self.bands, "one key for each band");
        if self.used.iter().max().is_some_and(|used| used * 4 >= self.n_slots * 3) {
            self.resize(self.n_slots * 2);
        }
        let entry = self.free.pop().unwrap_or_else(|| {
            let entry = (self.before.len() / self.bands) as u32;
            self.keys.resize(self.keys.len() + self.bands, 0);
            self.before.resize(self.before.len() + self.bands, NONE);
            entry
        });
        let start = entry as usize * self.bands;
        self.keys[start..start + self.bands].copy_from_slice(keys);
        for (band, &key) in keys.iter().enumerate() {
            let slot = self.slot(band, key);
            let head = self.slots[slot];
            self.used[band] += usize::from(head == NONE);
            self.before[start + band] = head;
            self.slots[slot] = entry;
        }
        entry
    }

    /// Removes an entry; its number is given to a later one.
    pub fn remove(&mut self, entry: u32) {
        for band in 0..self.bands {
            let at = entry as usize * self.bands + band;
            let slot = self.slot(band, self.keys[at]);
            if self.slots[slot] != entry {
                let mut newer = self.slots[slot];
                while self.before[newer as usize * self.bands + band] != entry {
                    newer = self.before[newer as usize * self.bands + band];
                }
                self.before[newer as usize * self.bands + band] = self.before[at];
            } else if self.before[at] == NONE {
                self.vacate(band, slot);
                self.used[band] -= 1;
            } else {
                self.slots[slot] = self.before[at];
            }
        }
        self.free.push(entry);
    }

    /// The keys of an entry.
    pub fn keys(&self, entry: u32) -> &[u64] {
        &self.keys[entry as usize * self.bands..][..self.bands]
    }

    /// The entries that have a key in a band, the newest first.
    pub fn of(&self, band: usize, key: u64) -> impl Iterator<Item = u32> + '_ {
        self.chain(band, self.slots[self.slot(band, key)])
    }

    /// The entries that share a key with these in the first bands, as many as there are keys: each once, in order.
    pub fn candidates(&self, keys: &[u64], found: &mut Vec<u32>) {
        found.clear();
        // The slots first, so that the memory is asked for all of them at once.
        let mut heads = [NONE; 64];
        for (group, keys) in keys.chunks(64).enumerate() {
            for (band, (head, key)) in heads.iter_mut().zip(keys).enumerate() {
                *head = self.slots[self.first(group * 64 + band, *key)];
            }
            for (band, (&head, &key)) in heads.iter().zip(keys).enumerate() {
                let band = group * 64 + band;
                if head != NONE {
                    let first = self.keys[head as usize * self.bands + band] == key;
                    let head = if first { head } else { self.slots[self.slot(band, key)] };
                    found.extend(self.chain(band, head));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
    }

    /// Each key of a band with the number of its entries.
    pub fn buckets(&self, band: usize) -> impl Iterator<Item = (u64, usize)> + '_ {
        let slots = &self.slots[band * self.n_slots..][..self.n_slots];
        slots.iter().filter(|&&head| head != NONE).map(move |&head| {
            (self.keys[head as usize * self.bands + band], self.chain(band, head).count())
        })
    }

    fn chain(&self, band: usize, head: u32) -> impl Iterator<Item = u32> + '_ {
        let entry = |entry: u32| (entry != NONE).then_some(entry);
        std::iter::successors(entry(head), move |&newer| {
            entry(self.before[newer as usize * self.bands + band])
        })
    }

    /// Where the search for a key begins.
    #[inline]
    fn first(&self, band: usize, key: u64) -> usize {
        band * self.n_slots + (mix(key) as usize & (self.n_slots - 1))
    }

    /// The slot of a key, or the empty one where it would be.
    #[inline]
    fn slot(&self, band: usize, key: u64) -> usize {
        let start = band * self.n_slots;
        let mut slot = self.first(band, key);
        loop {
            let head = self.slots[slot];
            if head == NONE || self.keys[head as usize * self.bands + band] == key {
                return slot;
            }
            slot = start + ((slot - start + 1) & (self.n_slots - 1));
        }
    }

    /// Empties a slot and moves up what was displaced by it.
    fn vacate(&mut self, band: usize, slot: usize) {
        let (start, mask) = (band * self.n_slots, self.n_slots - 1);
        let mut gap = slot - start;
        let mut next = (gap + 1) & mask;
        loop {
            let head = self.slots[start + next];
            if head == NONE {
                break;
            }
            let key = self.keys[head as usize * self.bands + band];
            let home = self.first(band, key) - start;
            // It may move to the gap if its home is not between the gap and itself.
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(gap) & mask) {
                self.slots[start + gap] = head;
                gap = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[start + gap] = NONE;
    }

    fn resize(&mut self, n_slots: usize) {
        let old = std::mem::take(&mut self.slots);
        let n_old = self.n_slots;
        self.slots = vec![NONE; self.bands * n_slots];
        self.n_slots = n_slots;
        for (band, slots) in old.chunks_exact(n_old).enumerate() {
            for &head in slots.iter().filter(|&&head| head != NONE) {
                let slot = self.slot(band, self.keys[head as usize * self.bands + band]);
                self.slots[slot] = head;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::split;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn tables_do_what_a_map_of_sets_does(seed: u64, steps in 1usize..300, kinds in 1u64..40) {
            let bands = 1 + (seed % 3) as usize * 40;
            let mut tables = Tables::new(bands);
            let mut model: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            for step in 0..steps as u64 {
                let draw = split(seed, step);
                if draw % 4 == 0 && !model.is_empty() {
                    let entry = *model.keys().nth(draw as usize / 4 % model.len()).unwrap();
                    model.remove(&entry);
                    tables.remove(entry);
                } else {
                    let keys: Vec<u64> = (0..bands as u64).map(|band| split(draw, band) % kinds).collect();
                    let entry = tables.insert(&keys);
                    prop_assert!(model.insert(entry, keys).is_none());
                }
                prop_assert_eq!(tables.len(), model.len());
            }
            let mut found = Vec::new();
            for probe in 0..8u64 {
                let keys: Vec<u64> = (0..bands as u64).map(|band| split(probe, band) % kinds).collect();
                tables.candidates(&keys, &mut found);
                let shares = |other: &Vec<u64>| other.iter().zip(&keys).any(|(a, b)| a == b);
                let expected: Vec<u32> = model.iter().filter(|(_, k)| shares(k)).map(|(e, _)| *e).collect();
                prop_assert_eq!(&found, &expected);
                let first: BTreeSet<u32> = tables.of(0, keys[0]).collect();
                prop_assert!(first.iter().all(|e| model[e][0] == keys[0]));
            }
            let counted: usize = tables.buckets(0).map(|(_, n)| n).sum();
            prop_assert_eq!(counted, model.len());
            for (entry, keys) in &model {
                prop_assert_eq!(tables.keys(*entry), &keys[..]);
            }
        }
    }

    #[test]
    fn reserving_changes_nothing() {
        let mut tables = Tables::new(3);
        let a = tables.insert(&[1, 2, 3]);
        tables.reserve(1000);
        let b = tables.insert(&[1, 5, 6]);
        assert_eq!(tables.of(0, 1).collect::<Vec<_>>(), [b, a]);
        assert!(!tables.is_empty() && tables.bands() == 3);
    }
}

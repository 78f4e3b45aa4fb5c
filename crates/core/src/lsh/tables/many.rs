//! Many entries at once.
//!
//! One entry at a time waits for a place in memory for each of its bands. Many are taken band by band: the slots of one band lie close to each other, so that fewer page tables are walked through, and
//! what comes next is asked for while something else is looked at.

use super::{EMPTY, NONE, SHORT, TAG, Tables, tag};
use crate::hint::prefetch;

/// Entries that are taken together: so many that most pages of the slots of a band are met more than once.
const TOGETHER: usize = 16384;
/// Slots that are on their way into the cache while one is looked at.
const SLOTS_AHEAD: usize = 24;
/// Keys of entries that are on their way.
const KEYS_AHEAD: usize = 12;
/// Entries of which keys and chains are on their way.
const ENTRIES_AHEAD: usize = 6;

impl Tables {
    /// Adds many entries, whose keys follow each other, and hands their numbers to `inserted`.
    pub fn extend(&mut self, keys: &[u64], mut inserted: impl FnMut(u32)) {
        let mut entries = Vec::with_capacity(TOGETHER.min(keys.len()));
        for keys in keys.chunks(TOGETHER * self.bands.max(1)) {
            let rows = keys.chunks_exact(self.bands.max(1));
            self.make_slots(rows.len());
            entries.clear();
            entries.extend(rows.map(|keys| self.number(keys)));
            for band in 0..self.bands {
                self.link_all(band, keys, &entries);
            }
            entries.iter().for_each(|entry| inserted(*entry));
        }
    }

    /// Makes entries the newest of their keys in a band, one after the other.
    fn link_all(&mut self, band: usize, keys: &[u64], entries: &[u32]) {
        let bands = self.bands;
        let of_band = move |i: usize| keys.get(i * bands + band).copied();
        (0..SLOTS_AHEAD).filter_map(of_band).for_each(|key| self.touch_slot(band, key));
        for (i, &entry) in entries.iter().enumerate() {
            if let Some(key) = of_band(i + SLOTS_AHEAD) {
                self.touch_slot(band, key);
            }
            if let Some(key) = of_band(i + KEYS_AHEAD) {
                self.touch_key(band, key);
            }
            self.link(band, keys[i * bands + band], entry);
        }
    }

    /// The candidates of many entries, whose keys follow each other, one list after the other: each candidate once, in any order.
    pub fn candidates_of_many(&self, keys: &[u64], mut visit: impl FnMut(&[u32])) {
        let (mut heads, mut found) = (Vec::new(), Vec::new());
        for keys in keys.chunks(TOGETHER * self.bands.max(1)) {
            heads.clear();
            heads.resize(keys.len(), NONE);
            for band in 0..self.bands {
                self.heads(band, keys, &mut heads);
            }
            heads.chunks(self.bands).take(ENTRIES_AHEAD).for_each(|heads| self.touch_entries(heads));
            for (i, keys) in keys.chunks_exact(self.bands).enumerate() {
                let of = |i: usize| heads.get(i * self.bands..(i + 1) * self.bands);
                of(i + ENTRIES_AHEAD).into_iter().for_each(|heads| self.touch_entries(heads));
                of(i + ENTRIES_AHEAD / 2).into_iter().for_each(|heads| self.touch_chain(heads));
                let heads = of(i).unwrap_or_default();
                if !self.collect_equal(keys, heads, &mut found) {
                    self.collect_all(keys, heads, &mut found);
                }
                visit(&found);
            }
        }
    }

    /// The candidates where they are the same in every band, which is so for an entry and its copies; else false.
    fn collect_equal(&self, keys: &[u64], heads: &[u32], found: &mut Vec<u32>) -> bool {
        let is_all = |entries: &[u32], one: u32| entries.iter().fold(true, |is, entry| is & (*entry == one));
        let mut entry = heads.first().copied().unwrap_or(NONE);
        if entry == NONE || !is_all(heads, entry) || self.keys(entry) != keys {
            return false;
        }
        found.clear();
        while entry != NONE {
            found.push(entry);
            let before = &self.before[entry as usize * self.bands..][..self.bands];
            entry = before[0];
            if !is_all(before, entry) {
                return false;
            }
        }
        true
    }

    /// The candidates band by band.
    fn collect_all(&self, keys: &[u64], heads: &[u32], found: &mut Vec<u32>) {
        found.clear();
        for (band, (&key, &head)) in keys.iter().zip(heads).enumerate() {
            let head = match head {
                NONE => NONE,
                _ if self.keys[head as usize * self.bands + band] == key => head,
                // Half of the key was that of another one.
                _ => self.find(band, key).1,
            };
            self.collect(band, head, found);
        }
        if found.len() > SHORT {
            found.sort_unstable();
            found.dedup();
        }
    }

    /// The newest entry that has the lower half of each key in a band.
    fn heads(&self, band: usize, keys: &[u64], heads: &mut [u32]) {
        let of_band = |i: usize| keys.get(i * self.bands + band).copied();
        (0..SLOTS_AHEAD).filter_map(of_band).for_each(|key| self.touch_slot(band, key));
        for (i, (keys, heads)) in
            keys.chunks_exact(self.bands).zip(heads.chunks_exact_mut(self.bands)).enumerate()
        {
            if let Some(key) = of_band(i + SLOTS_AHEAD) {
                self.touch_slot(band, key);
            }
            heads[band] = self.head(band, keys[band]);
        }
    }

    /// The newest entry that has the lower half of a key in a band.
    #[inline]
    fn head(&self, band: usize, key: u64) -> u32 {
        let mut place = self.home(band, key);
        let mut slot = self.slots[place];
        while slot != EMPTY && slot & TAG != tag(key) {
            place = self.next(band, place);
            slot = self.slots[place];
        }
        // That of an empty slot is none.
        slot as u32
    }

    #[inline]
    fn touch_slot(&self, band: usize, key: u64) {
        prefetch(&self.slots, self.home(band, key));
    }

    /// Begins to bring the key of the entry that is likely to have this one, too.
    #[inline]
    fn touch_key(&self, band: usize, key: u64) {
        let slot = self.slots[self.home(band, key)];
        if slot & TAG == tag(key) {
            prefetch(&self.keys, slot as u32 as usize * self.bands + band);
        }
    }

    /// Begins to bring the chain of the entry before the first, which is there.
    #[inline]
    fn touch_chain(&self, heads: &[u32]) {
        let Some(&head) = heads.first().filter(|head| **head != NONE) else { return };
        let before = self.before[head as usize * self.bands] as usize;
        if before != NONE as usize {
            prefetch(&self.before, before * self.bands);
            prefetch(&self.before, (before + 1) * self.bands - 1);
        }
    }

    /// Begins to bring the keys and chains of entries, if there are any.
    #[inline]
    fn touch_entries(&self, heads: &[u32]) {
        let mut last = NONE;
        for &head in heads {
            if head == last || head == NONE {
                continue;
            }
            last = head;
            let (first, end) = (head as usize * self.bands, (head as usize + 1) * self.bands);
            (first..end).step_by(8).for_each(|at| prefetch(&self.keys, at));
            prefetch(&self.keys, end - 1);
            prefetch(&self.before, first);
            prefetch(&self.before, end - 1);
        }
    }
}

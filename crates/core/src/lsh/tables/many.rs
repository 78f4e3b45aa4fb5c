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
/// The same where one entry is looked at for each row.
const FIRST_AHEAD: usize = 12;

/// Who shares keys with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Nobody,
    Others,
    Unknown,
}

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
        (0..SLOTS_AHEAD).filter_map(of_band).for_each(|key| self.prefetch_slot(band, key));
        for (i, &entry) in entries.iter().enumerate() {
            if let Some(key) = of_band(i + SLOTS_AHEAD) {
                self.prefetch_slot(band, key);
            }
            if let Some(key) = of_band(i + KEYS_AHEAD) {
                self.prefetch_key(band, key);
            }
            self.link(band, keys[i * bands + band], entry);
        }
    }

    /// The candidates of many entries, whose keys follow each other, one list after the other: each candidate once, in any order.
    pub fn candidates_of_many(&self, keys: &[u64], mut visit: impl FnMut(&[u32])) {
        let (mut open, mut heads, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for keys in keys.chunks(TOGETHER * self.bands.max(1)) {
            self.first_heads(keys, &mut open, &mut heads);
            self.retain_open(keys, &heads, &mut open, |_, sharing| sharing != Sharing::Nobody);
            (1..self.bands).for_each(|band| self.heads(band, keys, &open, &mut heads));
            let of = |row: u32| &heads[row as usize * self.bands..][..self.bands];
            open.iter().take(ENTRIES_AHEAD).for_each(|row| self.prefetch_entries(of(*row)));
            let mut next = 0;
            for (row, keys) in (0..).zip(keys.chunks_exact(self.bands)) {
                let heads = of(row);
                if open.get(next) != Some(&row) {
                    visit(&heads[..1]);
                    continue;
                }
                let ahead = |by: usize| open.get(next + by).map(|row| of(*row));
                ahead(ENTRIES_AHEAD).into_iter().for_each(|heads| self.prefetch_entries(heads));
                ahead(ENTRIES_AHEAD / 2).into_iter().for_each(|heads| self.prefetch_chain(heads));
                next += 1;
                if !self.collect_equal(keys, heads, &mut found) {
                    self.collect_all(keys, heads, &mut found);
                }
                visit(&found);
            }
        }
    }

    /// For each of many rows of keys, whether several entries have one of its keys.
    pub fn are_shared(&self, keys: &[u64], mut visit: impl FnMut(bool)) {
        let (mut open, mut heads, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        for keys in keys.chunks(TOGETHER * self.bands.max(1)) {
            let n = keys.len() / self.bands.max(1);
            shared.clear();
            shared.resize(n, false);
            self.first_heads(keys, &mut open, &mut heads);
            self.retain_open(keys, &heads, &mut open, |row, sharing| {
                let at = row as usize * self.bands;
                // Most of what is shared is so in every band.
                let is = sharing == Sharing::Others
                    || sharing == Sharing::Unknown && self.is_shared(0, keys[at], heads[at]);
                shared[row as usize] = is;
                !is && sharing == Sharing::Unknown
            });
            (1..self.bands).for_each(|band| self.heads(band, keys, &open, &mut heads));
            for &row in &open {
                let of = row as usize * self.bands..(row as usize + 1) * self.bands;
                let (keys, heads) = (&keys[of.clone()], &heads[of]);
                let mut bands = keys.iter().zip(heads).enumerate().skip(1);
                shared[row as usize] = match self.is_entry(keys, heads) {
                    Some(entry) => self.has_links(entry),
                    None => bands.any(|(band, (key, head))| self.is_shared(band, *key, *head)),
                };
            }
            shared.iter().for_each(|is| visit(*is));
        }
    }

    /// The newest entries of the first band, for all rows.
    fn first_heads(&self, keys: &[u64], rows: &mut Vec<u32>, heads: &mut Vec<u32>) {
        rows.clear();
        rows.extend(0..(keys.len() / self.bands.max(1)) as u32);
        heads.clear();
        heads.resize(keys.len(), NONE);
        if self.bands > 0 {
            self.heads(0, keys, rows, heads);
        }
    }

    /// Retains the rows that have to be looked up in the other bands, by what the newest entries of their first band say.
    fn retain_open(
        &self,
        keys: &[u64],
        heads: &[u32],
        rows: &mut Vec<u32>,
        mut is_open: impl FnMut(u32, Sharing) -> bool,
    ) {
        let first = |row: u32| heads[row as usize * self.bands];
        let mut kept = 0;
        for i in 0..rows.len() {
            if let Some(&row) = rows.get(i + FIRST_AHEAD) {
                self.prefetch_entries(&[first(row)]);
            }
            let row = rows[i];
            let keys = &keys[row as usize * self.bands..][..self.bands];
            if is_open(row, self.sharing(keys, first(row))) {
                rows[kept] = row;
                kept += 1;
            }
        }
        rows.truncate(kept);
    }

    /// Who shares keys with a row, as far as the newest entry of its first band tells: that of the row itself, if it has one, mostly.
    fn sharing(&self, keys: &[u64], head: u32) -> Sharing {
        if head == NONE || !self.has_keys(head, keys) {
            return Sharing::Unknown;
        }
        if self.has_links(head) {
            return Sharing::Others;
        }
        let is_followed = self.followed[head as usize / 64] >> (head % 64) & 1 != 0;
        if is_followed { Sharing::Unknown } else { Sharing::Nobody }
    }

    /// Whether several entries have the key of a band, of whose lower half the newest is known.
    fn is_shared(&self, band: usize, key: u64, mut head: u32) -> bool {
        if head != NONE && self.upper_of(head, band) != (key >> 32) as u32 {
            // Half of the key was that of another one.
            head = self.find(band, key).1;
        }
        head != NONE && self.before(head, band) != NONE
    }

    /// The entry that is the newest in all bands, with the same keys.
    fn is_entry(&self, keys: &[u64], heads: &[u32]) -> Option<u32> {
        let entry = heads.first().copied().filter(|entry| *entry != NONE)?;
        (all_are(heads, entry) && self.has_keys(entry, keys)).then_some(entry)
    }

    /// Whether the upper halves of an entry's keys are those of others; the lower ones are compared where an entry is looked up.
    #[inline]
    fn has_keys(&self, entry: u32, keys: &[u64]) -> bool {
        let upper = &self.upper[entry as usize * self.bands..][..self.bands];
        upper.iter().zip(keys).fold(true, |is, (upper, key)| is & (*upper == (key >> 32) as u32))
    }

    /// Whether an entry is before one in some band.
    #[inline]
    fn has_links(&self, entry: u32) -> bool {
        self.row(entry).is_some_and(|row| !all_are(&self.links[row], NONE))
    }

    /// The candidates where they are the same in every band, which is so for an entry and its copies; else false.
    fn collect_equal(&self, keys: &[u64], heads: &[u32], found: &mut Vec<u32>) -> bool {
        let Some(entry) = self.is_entry(keys, heads) else { return false };
        let mut entry = entry;
        found.clear();
        while entry != NONE {
            found.push(entry);
            let Some(row) = self.row(entry) else { return true };
            let before = &self.links[row];
            entry = before[0];
            if !all_are(before, entry) {
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
                _ if self.upper_of(head, band) == (key >> 32) as u32 => head,
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

    /// The newest entry that has the lower half of each key in a band, for some of the rows.
    fn heads(&self, band: usize, keys: &[u64], rows: &[u32], heads: &mut [u32]) {
        let key_of = |row: u32| keys[row as usize * self.bands + band];
        rows.iter().take(SLOTS_AHEAD).for_each(|row| self.prefetch_slot(band, key_of(*row)));
        for (i, &row) in rows.iter().enumerate() {
            if let Some(&row) = rows.get(i + SLOTS_AHEAD) {
                self.prefetch_slot(band, key_of(row));
            }
            heads[row as usize * self.bands + band] = self.head(band, key_of(row));
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
    fn prefetch_slot(&self, band: usize, key: u64) {
        prefetch(&self.slots, self.home(band, key));
    }

    /// Begins to bring the key of the entry that is likely to have this one, too.
    #[inline]
    fn prefetch_key(&self, band: usize, key: u64) {
        let slot = self.slots[self.home(band, key)];
        if slot & TAG == tag(key) {
            prefetch(&self.upper, slot as u32 as usize * self.bands + band);
        }
    }

    /// Begins to bring the links of the first entry, whose row is known.
    #[inline]
    fn prefetch_chain(&self, heads: &[u32]) {
        let Some(&head) = heads.first().filter(|head| **head != NONE) else { return };
        if let Some(row) = self.row(head) {
            prefetch(&self.links, row.start);
            prefetch(&self.links, row.end - 1);
        }
    }

    /// Begins to bring the keys of entries and where their links are, if there are any.
    #[inline]
    fn prefetch_entries(&self, heads: &[u32]) {
        let mut last = NONE;
        for &head in heads {
            if head == last || head == NONE {
                continue;
            }
            last = head;
            let (first, end) = (head as usize * self.bands, (head as usize + 1) * self.bands);
            (first..end).step_by(16).for_each(|at| prefetch(&self.upper, at));
            prefetch(&self.upper, end - 1);
            prefetch(&self.rows, head as usize);
        }
    }
}

/// Looks at all of them, which is faster than to stop.
#[inline]
fn all_are(entries: &[u32], one: u32) -> bool {
    entries.iter().fold(true, |is, entry| is & (*entry == one))
}

//! What searches read of a collection, fast: memory is asked for what comes next while something else is looked at.

use benzer_core::lsh::BandKey;

use super::state::{Part, State};
use crate::error::Result;
use crate::record::DocNo;
use crate::settings::{BandRange, Layout};
use crate::store::{Postings, Visit};

/// Keys whose lines are on their way into the cache while one is looked up. More at a time are slower: the processor has room for so many.
const KEYS_AHEAD: usize = 20;
/// Records that are on their way into the cache while one is looked at.
const RECORDS_AHEAD: usize = 8;

impl State {
    /// Hands the records of some numbers to `visit`, with their places in the list.
    pub fn records(&self, numbers: &[DocNo], visit: Visit<'_>) -> Result<()> {
        if let ([part], 0) = (&self.runs[..], self.len)
            && let Some(first) = part.run.first()
        {
            return part.records(first, numbers, visit);
        }
        let prefetch = |number: &DocNo| {
            if let Some((part, local)) = self.in_run(*number) {
                self.runs[part].run.prefetch(local);
            }
        };
        let prefetch_id = |number: &DocNo| {
            if let Some((part, local)) = self.in_run(*number) {
                self.runs[part].run.prefetch_id(local);
            }
        };
        numbers.iter().take(RECORDS_AHEAD).for_each(prefetch);
        numbers.iter().take(RECORDS_AHEAD / 2).for_each(prefetch_id);
        for (i, number) in numbers.iter().enumerate() {
            numbers.get(i + RECORDS_AHEAD).into_iter().for_each(prefetch);
            numbers.get(i + RECORDS_AHEAD / 2).into_iter().for_each(prefetch_id);
            if let Some(record) = self.record(*number) {
                visit(i, record)?;
            }
        }
        Ok(())
    }

    /// Appends the numbers of records that have each key, in order, and of a few others. What many keys need is asked for before the first of them is looked up, so that the memory works on all at
    /// once.
    pub fn postings(&self, keys: &[BandKey], postings: &mut Postings) {
        let prefetch = |key: &BandKey| {
            self.runs.iter().for_each(|part| part.run.bands().prefetch(key.band as usize, key.key));
        };
        let prefetch_spilled = |key: &BandKey| {
            self.runs.iter().for_each(|part| part.run.bands().prefetch_spilled(key.band as usize, key.key));
        };
        let ahead = (KEYS_AHEAD / self.runs.len().max(1)).max(2);
        keys.iter().take(ahead).for_each(prefetch);
        keys.iter().take(ahead / 2).for_each(prefetch_spilled);
        for (i, key) in keys.iter().enumerate() {
            keys.get(i + ahead).into_iter().for_each(prefetch);
            keys.get(i + ahead / 2).into_iter().for_each(prefetch_spilled);
            self.postings_of(*key, postings);
        }
    }

    #[inline]
    fn postings_of(&self, key: BandKey, postings: &mut Postings) {
        for part in &**self.runs {
            let many = part.run.bands().find_in_line(key.band as usize, key.key, |local| {
                if part.has(local as usize) {
                    postings.push(part.run.number(local as usize));
                }
            });
            let Some(many) = many else { continue };
            let many = many.iter().map(|posting| part.run.bands().local(*posting));
            match (part.run.first(), &part.removed) {
                (Some(first), None) => postings.extend(many.map(|local| first.plus(local as usize))),
                _ => postings.extend(
                    many.filter(|local| part.has(*local as usize))
                        .map(|local| part.run.number(local as usize)),
                ),
            }
        }
        if self.len > 0 {
            self.newest.find(key, self.len, |place| {
                if !self.is_removed_newest(place) {
                    postings.push(self.first.plus(place));
                }
            });
        }
        postings.end_key();
    }

    /// Appends the numbers of records that have a key of each range, and of a few others: lines are in the order of keys.
    pub fn ranges(&self, layout: &Layout, ranges: &[BandRange], postings: &mut Postings) {
        for range in ranges {
            for part in &**self.runs {
                part.run.bands().each_between(range.band as usize, &range.keys, |local| {
                    if part.has(local as usize) {
                        postings.push(part.run.number(local as usize));
                    }
                });
            }
            let newest = (0..self.len).filter(|place| !self.is_removed_newest(*place));
            let newest = newest.filter(|place| range.has(layout, self.newest.record(*place).words));
            postings.extend(newest.map(|place| self.first.plus(place)));
            postings.end_key();
        }
    }
}

impl Part {
    /// [`State::records`] where this is the only part, with numbers from `first` on.
    fn records(&self, first: DocNo, numbers: &[DocNo], visit: Visit<'_>) -> Result<()> {
        let local = |number: &DocNo| number.0.wrapping_sub(first.0) as usize;
        let prefetch = |number: &DocNo| self.run.prefetch(local(number));
        numbers.iter().take(RECORDS_AHEAD).for_each(prefetch);
        for (i, number) in numbers.iter().enumerate() {
            numbers.get(i + RECORDS_AHEAD).into_iter().for_each(prefetch);
            let local = local(number);
            if local < self.run.len() && self.has(local) {
                visit(i, self.run.record(local))?;
            }
        }
        Ok(())
    }
}

//! Records whose keys lie side by side: lines are in the order of keys.

use super::state::State;
use crate::settings::{BandRange, Layout};
use crate::store::Postings;

impl State {
    /// Appends the numbers of records that have a key of each range, and of a few others.
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
